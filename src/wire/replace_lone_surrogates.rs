//! Repairs JSON as JavaScript may write it and UTF-8 cannot hold it.

use crate::byte_search;

/// Replaces lone surrogates by U+FFFD: JavaScript can hold and write them, UTF-8 cannot, and the client runs such a call.
pub fn replace_lone_surrogates(mut json: Vec<u8>) -> Vec<u8> {
    let unit = |json: &[u8], at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while let Some(found) = json.get(at..).and_then(|rest| byte_search::first(b'\\', rest)) {
        at += found;
        at += match (unit(&json, at), unit(&json, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                json[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_mended_and_nothing_else() {
        for (json, replaced) in [
            (r#""plain \n \\u""#, r#""plain \n \\u""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""a\ud800b""#, r#""a\ufffdb""#),
            (r#""\udc00\ud800""#, r#""\ufffd\ufffd""#),
            (r#""\ud800\u0041""#, r#""\ufffd\u0041""#),
            (r#""cut \ud8"#, r#""cut \ud8"#),
        ] {
            assert_eq!(String::from_utf8(replace_lone_surrogates(json.as_bytes().to_vec())).unwrap(), replaced);
        }
    }
}
