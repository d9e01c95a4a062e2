//! Sentences broken into lines that fit.

use textwrap::core::display_width;
use textwrap::{Options, WordSplitter};

/// Breaks words into lines no wider than `width`, all but the first indented, to stand behind something `indent` wide.
pub fn wrap(words: &str, width: usize, indent: usize) -> String {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    lines(&words, Options::new(width.saturating_sub(indent))).join(&format!("\n{}", " ".repeat(indent)))
}

/// Breaks a sentence into lines no wider than `width`, each after `indent`, those after the first two spaces deeper.
pub fn sentence(sentence: &str, width: usize, indent: &str) -> String {
    let deeper = format!("{indent}  ");
    lines(sentence, Options::new(width).initial_indent(indent).subsequent_indent(&deeper)).join("\n") + "\n"
}

/// Sets parts behind each other into lines no wider than `width`, each whole where it fits one, those after the first two spaces deeper.
pub fn parts(parts: &[String], width: usize, indent: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for part in parts.iter().filter(|part| !part.is_empty()) {
        let deeper = if lines.is_empty() { "" } else { "  " };
        match lines.last_mut().filter(|line| display_width(line) + 2 + display_width(part) <= width) {
            Some(line) => *line = format!("{line}  {part}"),
            None => lines.push(format!("{indent}{deeper}{part}")),
        }
    }
    fitting(&(lines.join("\n") + "\n"), width)
}

/// Breaks the lines of a text that are wider than `width`; what follows stands two spaces deeper than its line. The others stay as
/// they are.
pub fn fitting(text: &str, width: usize) -> String {
    let fit = |line: &str| {
        let words = line.trim_start();
        let indent = &line[..line.len() - words.len()];
        if display_width(line.trim_end_matches('\n')) <= width {
            line.to_owned()
        } else {
            sentence(words.trim_end(), width, indent)
        }
    };
    text.split_inclusive('\n').map(fit).collect()
}

/// A word stays whole, however long: it may be a path or a command, to be copied.
fn lines<'a>(text: &'a str, options: Options<'a>) -> Vec<String> {
    let options = options.break_words(false).word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{fitting, parts};

    #[test]
    fn parts_stay_whole_where_they_fit_a_line() {
        let three = ["main b7d1".to_owned(), "2 refused".to_owned(), String::new(), "ended by a limit".to_owned()];
        for (width, set) in [
            (40, " main b7d1  2 refused  ended by a limit\n"),
            (24, " main b7d1  2 refused\n   ended by a limit\n"),
            (16, " main b7d1\n   2 refused\n   ended by a\n     limit\n"),
        ] {
            assert_eq!(parts(&three, width, " "), set);
        }
    }

    #[test]
    fn lines_that_are_too_wide_are_broken_between_words() {
        for (text, broken) in [
            ("short\n  as  it is\n", "short\n  as  it is\n"),
            ("error: one two three\nnext\n", "error: one\n  two three\nnext\n"),
            ("  kept at its indent\n", "  kept at\n    its\n    indent\n"),
            ("/a/path/that/is/too/long\n", "/a/path/that/is/too/long\n"),
            ("a question? ", "a question? "),
            ("\x1b[1ma\x1b[0m \x1b[31mheading\x1b[0m\n", "\x1b[1ma\x1b[0m \x1b[31mheading\x1b[0m\n"),
        ] {
            assert_eq!(fitting(text, 12), broken);
        }
    }
}
