//! Sentences broken into lines that fit.

use textwrap::core::Word;
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

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

/// Sets what is to be done into lines no wider than `width`: `fusebox ..., then claude ...`. Where that takes more than one, each of
/// its commands has a line of its own, unbroken and bare: of one in backticks a shell would run what it writes.
pub fn steps(steps: &str, width: usize, indent: &str) -> String {
    if display_width(steps) + indent.len() <= width {
        return format!("{indent}{steps}\n");
    }
    let (mut text, first) = (String::new(), steps.strip_prefix("then "));
    for (at, step) in first.unwrap_or(steps).split(", then ").enumerate() {
        if at > 0 || first.is_some() {
            text += &format!("{indent}then\n");
        }
        let (command, rest) = step.split_at(step.find(". ").filter(|_| is_command(step)).unwrap_or(step.len()));
        for part in [command, rest.trim_start_matches(". ")].into_iter().filter(|part| !part.is_empty()) {
            text += &if is_command(part) { format!("{indent}{part}\n") } else { sentence(part, width, indent) };
        }
    }
    text
}

/// Whether a line is a command.
fn is_command(line: &str) -> bool {
    ["fusebox ", "claude ", "cd "].iter().any(|name| line.starts_with(name))
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
        // What is typed next stands indented, perhaps in bold.
        let next = line.trim_start_matches("\x1b[1m").strip_prefix("  ").unwrap_or_default();
        if display_width(line.trim_end_matches('\n')) <= width || is_command(next.trim_start()) {
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
    let options = options.word_separator(WordSeparator::Custom(|line| Box::new(words(line).map(Word::from))));
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}

/// Returns the words of a line, each with the spaces behind it. What stands in backticks is in one word: half a command is another.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let end = word_end(rest);
        let end = rest[end..].find(|c| c != ' ').map_or(rest.len(), |spaces| end + spaces);
        let (word, after) = rest.split_at(end);
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

/// Returns where the first word of a text ends.
fn word_end(text: &str) -> usize {
    let mut end = 0;
    while let Some(at) = text[end..].find([' ', '`']).map(|at| end + at) {
        if text[at..].starts_with(' ') {
            return at;
        }
        end = closing(text, at).unwrap_or(at) + 1;
    }
    text.len()
}

/// Returns the backtick that closes what another one opens; `None` where it opens nothing, as one in a name from outside.
fn closing(text: &str, open: usize) -> Option<usize> {
    let inner = &text[open + 1..];
    let close = inner.find('`')?;
    let is_apart = inner.starts_with(' ') || inner[..close].ends_with(' ');
    (!is_apart).then_some(open + 1 + close)
}

#[cfg(test)]
mod tests {
    use super::{fitting, parts, steps};

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
    fn commands_of_steps_stay_whole() {
        for (text, set) in [
            ("fusebox a b", "  fusebox a b\n"),
            ("fusebox grant a b=+1", "  fusebox grant a b=+1\n"),
            ("fusebox a, then cd /a && claude b", "  fusebox a\n  then\n  cd /a && claude b\n"),
            ("then claude a 'b, c d'", "  then\n  claude a 'b, c d'\n"),
            ("claude a. It passes by itself", "  claude a\n  It passes by\n    itself\n"),
            ("It passes, by itself", "  It passes, by\n    itself\n"),
        ] {
            assert_eq!(steps(text, 16, "  "), set);
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
            ("type `a b c d e f`, then wait\n", "type\n  `a b c d e f`,\n  then wait\n"),
            ("(`ab cd`) (`ef gh`) `i`\n", "(`ab cd`)\n  (`ef gh`)\n  `i`\n"),
            ("a ` and b `cd ef g`\n", "a ` and b\n  `cd ef g`\n"),
            ("one` two three `cd ef g`\n", "one` two\n  three\n  `cd ef g`\n"),
            ("one `two three `cd ef g`\n", "one `two\n  three\n  `cd ef g`\n"),
            (
                "\x1b[1m  fusebox grant a b\n  claude a b c d\x1b[0m\n",
                "\x1b[1m  fusebox grant a b\n  claude a b c d\x1b[0m\n",
            ),
            ("\x1b[1ma\x1b[0m \x1b[31mheading\x1b[0m\n", "\x1b[1ma\x1b[0m \x1b[31mheading\x1b[0m\n"),
        ] {
            assert_eq!(fitting(text, 12), broken);
        }
    }
}
