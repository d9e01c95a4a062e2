//! Lines of every length, whole and cut.

use crate::transcript::cursor::read_from;

const LONG: usize = 300 * 1024;

/// An assistant row of the response `id`, with `x` before and `y` after its usage.
fn row(id: &str, x: usize, y: usize) -> String {
    let (x, y) = ("x".repeat(x), "y".repeat(y));
    let usage = r#"{"input_tokens":1,"output_tokens":1}"#;
    format!(r#"{{"x":"{x}","message":{{"id":"{id}","usage":{usage}}},"y":"{y}","type":"assistant"}}"#) + "\n"
}

/// Reads a text from `offset` and checks which responses are found, and where reading stopped.
fn check(text: &str, offset: usize, ids: &str, stop: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    crate::platform::files::write_new(&path, 0o600, text).unwrap();
    let chunk = read_from(&path, offset as u64, None).unwrap();
    let found: Vec<&str> = chunk.responses.iter().map(|response| response.id.as_str()).collect();
    assert_eq!((found.join(" ").as_str(), chunk.offset), (ids, stop as u64));
    assert_eq!(chunk.suspicious, Vec::<String>::new());
}

#[test]
fn lines_may_be_longer_than_the_buffer() {
    let (a, b) = (row("a", 0, 0), row("b", 0, 0));
    let result = format!("{{\"x\":\"{}\"}}\n", "x".repeat(LONG));
    for (text, ids) in [
        (format!("{a}{result}{b}"), "a b"),
        (format!("{result}{a}{result}"), "a"),
        (format!("{}{a}", row("c", LONG, 0)), "c a"),
        (format!("{a}{}{b}", row("c", 0, LONG)), "a c b"),
        (format!("{a}{}{b}", row("c", LONG, LONG)), "a c b"),
    ] {
        check(&text, 0, ids, text.len());
    }
}

#[test]
fn a_word_is_found_wherever_two_pieces_meet() {
    let a = row("a", 0, 0);
    for x in (0..100).map(|less| 128 * 1024 - less) {
        let text = format!("{}{a}", row("c", x, LONG));
        check(&text, 0, "c a", text.len());
    }
}

#[test]
fn a_long_line_without_an_end_is_left_for_later() {
    let (a, long) = (row("a", 0, 0), row("c", LONG, 0));
    let text = format!("{a}{long}");
    for cut in [1, 2, LONG / 2, LONG] {
        check(&text[..text.len() - cut], 0, "a", a.len());
    }
    check(&text, a.len(), "c", text.len());
}

#[test]
fn short_lines_fill_many_buffers() {
    let (a, b) = (row("a", 0, 0), row("b", 0, 0));
    let text = a.repeat(5_000) + &b;
    for first in [0, 1, 2_000, 4_999] {
        check(&text, first * a.len(), "a b", text.len());
    }
    check(&text, 5_000 * a.len(), "b", text.len());
}
