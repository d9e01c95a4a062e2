//! The help of commands, fitted to the terminal: what stands behind an example goes on below itself.

use clap::Command;

use crate::ui::wrap::wrap;

/// The widest that help is set.
const WIDEST: usize = 100;
/// The fewest characters that words behind an example have; with less room they stand below it.
const NARROWEST: usize = 24;
/// How far they are indented there.
const BELOW: usize = 6;

/// Words that are Fusebox's own, and what they mean.
pub const WORDS: [(&str, &str); 4] = [
    ("trip", "a limit was reached: it warned, refused a call, or paused or ended its agent"),
    ("layer", "whose rule it is: built in, or of a file of the user, project, local or managed settings"),
    ("held", "a call or prompt waits: for a slot of a rate, or for `fusebox resume`"),
    ("grace", "the last responses of an agent that is ended, in which it may report"),
];

/// Returns a command line whose help fits so many columns.
pub fn fitted(command: Command, width: usize) -> Command {
    fit(command, width.min(WIDEST))
}

fn fit(command: Command, width: usize) -> Command {
    let after = command.get_after_help().map(|text| format!("{text}{}", meanings(&command)));
    let after = after.map(|text| lines(&text, width));
    let command = match after {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.term_width(width).mut_subcommands(|below| fit(below, width))
}

/// Says what those of our words mean that a command's help has.
fn meanings(command: &Command) -> String {
    let arguments = command.get_arguments().filter_map(clap::Arg::get_help);
    let texts = command.get_about().into_iter().chain(command.get_after_help()).chain(arguments);
    let help: String = texts.map(|text| format!("{text} ").to_lowercase()).collect();
    let has =
        |word: &str| help.split(|c: char| !c.is_alphanumeric()).any(|it| it.strip_suffix('s').unwrap_or(it) == word);
    let rows = WORDS.iter().filter(|(word, _)| has(word)).map(|(word, says)| format!("\n  {word:<6} {says}"));
    let rows: String = rows.collect();
    if rows.is_empty() { rows } else { format!("\n\nWords:{rows}") }
}

fn lines(text: &str, width: usize) -> String {
    paragraphs(text).iter().map(|line| fit_line(line, width)).collect::<Vec<_>>().join("\n")
}

/// Joins the lines of each paragraph, which is broken anew; entries and headings stay lines of their own.
fn paragraphs(text: &str) -> Vec<String> {
    let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        match lines.last_mut().filter(|last| is_prose(last) && is_prose(line)) {
            Some(last) => *last = format!("{last} {line}"),
            None => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Breaks a line: behind two spaces stands an example or a name, and after two more what it is.
fn fit_line(line: &str, width: usize) -> String {
    let Some(entry) = line.strip_prefix("  ") else { return wrap(line, width, 0) };
    let Some((named, words)) = entry.split_once("  ") else { return line.to_owned() };
    let words = words.trim_start();
    let column = line.len() - words.len();
    match width.checked_sub(column) {
        Some(room) if room >= NARROWEST => format!("{}{}", &line[..column], wrap(words, width, column)),
        _ => format!("  {named}\n{}{}", " ".repeat(BELOW), wrap(words, width, BELOW)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_is_broken_once() {
        let text = "One two three\nfour five.\n\nExamples:\n  x y\nSix\nseven.";
        assert_eq!(lines(text, 14), "One two three\nfour five.\n\nExamples:\n  x y\nSix seven.");
    }

    #[test]
    fn what_stands_behind_an_example_goes_on_below_itself() {
        for (line, width, fits) in [
            ("A sentence of some words.", 14, "A sentence of\nsome words."),
            ("  fusebox on", 8, "  fusebox on"),
            ("  x      one two three four five six", 34, "  x      one two three four five\n         six"),
            ("  fusebox status  one two three", 24, "  fusebox status\n      one two three"),
        ] {
            assert_eq!(fit_line(line, width), fits);
        }
    }
}
