//! Why a text is no JSON, in words for whoever wrote it by hand.

use serde_json::Error;

/// How the parser begins what it says of a text that ends too early, and what would have to follow.
const ENDINGS: [(&str, &str); 4] = [
    ("EOF while parsing an object", "its last `}` is missing"),
    ("EOF while parsing a list", "its last `]` is missing"),
    ("EOF while parsing a string", "its last `\"` is missing"),
    ("EOF while parsing a value", "it ends where a value has to stand"),
];

/// Returns the parser's words, those for a text that ends too early made plain. The line and column follow.
pub fn words(cause: &Error) -> String {
    let said = cause.to_string();
    let ending = ENDINGS.iter().find_map(|(begins, words)| Some(format!("{words}{}", said.strip_prefix(begins)?)));
    ending.unwrap_or(said)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::words;

    #[test]
    fn what_is_missing_at_the_end_is_named() {
        for (text, said) in [
            ("{\"a\": 1", "its last `}` is missing at line 1 column 7"),
            ("{\"a\": [1", "its last `]` is missing at line 1 column 8"),
            ("{\"a\": \"open", "its last `\"` is missing at line 1 column 11"),
            ("{\"a\":", "it ends where a value has to stand at line 1 column 5"),
            ("{\"a\" 1}", "expected `:` at line 1 column 6"),
        ] {
            assert_eq!(words(&serde_json::from_str::<Value>(text).unwrap_err()), said, "{text}");
        }
    }
}
