//! Sentences broken into lines that fit.

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

/// A word stays whole, however long: it may be a path or a command, to be copied.
fn lines<'a>(text: &'a str, options: Options<'a>) -> Vec<String> {
    let options = options.break_words(false).word_splitter(WordSplitter::NoHyphenation);
    textwrap::wrap(text, options).into_iter().map(|line| line.into_owned()).collect()
}
