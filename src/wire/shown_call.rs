//! Reads what a person recognizes a call by. Looks at the beginning of input and result alone: both may be long.

use serde_json::value::RawValue;

use crate::domain::shown_call::ShownCall;

/// The fields of a tool's input that tell most, the most telling first.
const TELLING: [&str; 10] =
    ["command", "file_path", "notebook_path", "pattern", "url", "query", "path", "skill", "to", "description"];
/// How many bytes of an input or a result are looked at.
const LOOKED_AT: usize = 2_000;
/// How many characters of an input are shown.
const INPUT: usize = 40;
/// How many characters of a tool's name are kept: the client has none as long.
const TOOL: usize = 200;
/// How many characters of an error are shown.
const ERROR: usize = 30;
/// How the line of a shell's error begins that says the least.
const EXIT_CODE: &str = "Exit code ";

/// Reads a call of a batch that has ended. Its result tells its error, where it is one.
pub fn of(tool: &str, input: Option<&RawValue>, result: Option<&RawValue>) -> ShownCall {
    let input = begins(input.map_or("", RawValue::get), LOOKED_AT);
    let told = TELLING.iter().find_map(|field| value(input, field)).map(|text| cut(&text, INPUT));
    let tool = tool_name(tool);
    let call = told.map_or_else(|| tool.clone(), |text| format!("{tool} \"{text}\""));
    ShownCall { call, error: error(begins(result.map_or("", RawValue::get), LOOKED_AT)) }
}

/// Returns a tool's name as it is kept and shown.
pub fn tool_name(name: &str) -> String {
    if name.len() > TOOL { cut(name, TOOL) } else { name.to_owned() }
}

/// Returns the telling line of a result that is a text, as errors are.
fn error(result: &str) -> String {
    let Some(text) = result.strip_prefix('"').map(unescaped) else { return String::new() };
    let text = text.replace("<tool_use_error>", "").replace("</tool_use_error>", "");
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines().find(|line| !line.starts_with(EXIT_CODE)).or_else(|| lines().next());
    cut(line.unwrap_or_default(), ERROR)
}

/// Returns the text of a field, as far as it stands here.
fn value(json: &str, field: &str) -> Option<String> {
    let after = json.split_once(&format!("\"{field}\":"))?.1.trim_start();
    Some(unescaped(after.strip_prefix('"')?)).filter(|text| !text.trim().is_empty())
}

/// Returns a JSON string from behind its quotation mark to its end, or to the end of what is here.
fn unescaped(json: &str) -> String {
    let mut text = String::new();
    let mut rest = json;
    while let Some(at) = rest.find(['"', '\\']) {
        text.push_str(&rest[..at]);
        let mut chars = rest[at..].chars();
        match (chars.next(), chars.next()) {
            (Some('\\'), Some('n' | 'r')) => text.push('\n'),
            (Some('\\'), Some('u')) => text.push(unicode(&mut chars)),
            (Some('\\'), Some('t')) => text.push(' '),
            (Some('\\'), Some(escaped)) => text.push(escaped),
            _ => return text,
        }
        rest = chars.as_str();
    }
    text.push_str(rest);
    text
}

/// Returns the character of four hexadecimal digits; `?` for one half of a pair.
fn unicode(chars: &mut std::str::Chars) -> char {
    let digits: String = chars.by_ref().take(4).collect();
    u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or('?')
}

/// Returns a text on one line, with at most so many characters.
fn cut(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// Returns the first bytes of a text, up to a character's end.
fn begins(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tool: &str, input: &str, result: &str) -> (String, String) {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let ShownCall { call, error } = of(tool, Some(&raw(input)), Some(&raw(result)));
        (call, error)
    }

    #[test]
    fn a_tools_name_is_kept_as_long_as_the_client_has_any() {
        let (call, _) = shown(&"x".repeat(20_000), r#"{"n":1}"#, "[]");
        assert_eq!(call.chars().count(), TOOL + 1);
        assert_eq!(tool_name("mcp__own__read_file"), "mcp__own__read_file");
    }

    #[test]
    fn a_call_is_shown_by_what_tells_most_of_it() {
        for (tool, input, result, call, error) in [
            (
                "Bash",
                r#"{"description":"Runs tests","command":"make test"}"#,
                r#""Exit code 2\nmake: *** No rule to make target 'test'.  Stop.\n""#,
                "Bash \"make test\"",
                "make: *** No rule to make targ…",
            ),
            ("Bash", r#"{"command":"false"}"#, r#""Exit code 1""#, "Bash \"false\"", "Exit code 1"),
            ("Read", r#"{"file_path":"/a b"}"#, r#"{"type":"text"}"#, "Read \"/a b\"", ""),
            ("mcp__x__y", r#"{"n":1}"#, "[]", "mcp__x__y", ""),
            ("Bash", r#"{"command":""}"#, r#""""#, "Bash", ""),
            (
                "Edit",
                r#"{"file_path":"f"}"#,
                r#""<tool_use_error>String to replace not found in file.\nString: a</tool_use_error>""#,
                "Edit \"f\"",
                "String to replace not found in…",
            ),
            (
                "Bash",
                r#"{"command":"echo \"a\\u00e9\u00e9\"\n  b"}"#,
                r#""\ud800 x""#,
                "Bash \"echo \"a\\u00e9é\" b\"",
                "? x",
            ),
        ] {
            assert_eq!(shown(tool, input, result), (call.to_owned(), error.to_owned()));
        }
    }

    #[test]
    fn whatever_stands_there_little_of_it_is_shown() {
        for text in ["x".repeat(9_000), "é".repeat(9_000), "\\n".repeat(9_000), "\\".repeat(9_000)] {
            let (call, error) = shown("Bash", &format!("{{\"command\":\"{text}\"}}"), &format!("\"{text}\""));
            assert!(call.chars().count() < INPUT + 9 && error.chars().count() <= ERROR + 1, "{call} {error}");
        }
    }
}
