//! What a command line meant that cannot be read: the nearest one that can. What is wrong and that are told in two lines.

use std::ops::Range;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use crate::cmd::grant_args::{NOUNS, readable};
use crate::config::problem::nearest;
use crate::domain::text::shell_word::quoted;

/// What other programs call these commands.
const OTHER_NAMES: [(&str, &str); 16] = [
    ("allow", "grant"),
    ("cancel", "stop"),
    ("continue", "resume"),
    ("cost", "report"),
    ("disable", "off"),
    ("enable", "on"),
    ("end", "stop"),
    ("install", "init"),
    ("kill", "stop"),
    ("list", "status"),
    ("ls", "status"),
    ("more", "grant"),
    ("raise", "grant"),
    ("setup", "init"),
    ("unpause", "resume"),
    ("why", "explain"),
];
/// How many words of a command line are put right.
const MOST: usize = 3;
/// A word that no option takes which does not take every word.
const NONSENSE: &str = "\u{1}";
/// How wide the answer may be.
const WIDEST: usize = 100;

/// Says in two lines what is wrong with a command line, and the nearest that is right. `words` begin with the program's name.
pub fn answer(program: &Command, words: &[String], said: &clap::Error) -> String {
    let text = said.to_string();
    let what: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    let mut what = what.join(" ");
    // What is wrong with a value says enough where both are too long.
    if what.chars().count() > WIDEST
        && let Some((before, option)) = what.split_once(" for '--")
        && let Some((_, after)) = option.split_once('\'')
    {
        what = format!("{before}{after}");
    }
    let (what, values) = what.split_once(" [possible values: ").unwrap_or((&what, ""));
    let hint = match put_right(program, words, MOST) {
        Some(words) => format!("`{}`", typed(&words)),
        None if values.is_empty() => usage(program, words, said),
        None => format!("it takes {}", values.trim_end_matches(']')),
    };
    format!("{what}\n  hint: {hint}")
}

/// Returns the command line that was meant where a word of it was taken for an id that nothing has.
pub fn without_id(program: &Command, words: &[String]) -> Option<String> {
    let ids = (2..words.len()).filter(|at| !words[*at].starts_with('-'));
    let all = ids.flat_map(|at| as_option(program, words, at));
    all.into_iter().find(|words| fault(program, words).is_none()).map(|words| typed(&words))
}

/// Writes a command line as a person types it.
fn typed(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Returns what cannot be read of a command line.
fn fault(program: &Command, words: &[String]) -> Option<clap::Error> {
    program.clone().try_get_matches_from(words).err().filter(clap::Error::use_stderr)
}

/// Puts a command line right by changing at most so many of its words.
fn put_right(program: &Command, words: &[String], most: usize) -> Option<Vec<String>> {
    let said = fault(program, words)?;
    let at = place(words, &said)?;
    let all = readings(program, words, at, &said);
    let right = all.iter().find(|words| fault(program, words).is_none()).cloned();
    right.or_else(|| all.iter().filter(|_| most > 1).find_map(|words| put_right(program, words, most - 1)))
}

/// Finds the word that cannot be read.
fn place(words: &[String], said: &clap::Error) -> Option<usize> {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidValue, ContextKind::InvalidArg];
    let wrong = kinds.into_iter().find_map(|kind| word(said, kind)).filter(|wrong| !wrong.is_empty())?;
    let is_it = |word: &String| word == wrong || word.strip_suffix(wrong).is_some_and(|option| option.ends_with('='));
    let short = |word: &String| !word.starts_with("--") && wrong.starts_with('-') && word.starts_with(wrong);
    words.iter().position(is_it).or_else(|| words.iter().position(short)).filter(|at| *at > 0)
}

fn word(said: &clap::Error, kind: ContextKind) -> Option<&str> {
    match said.get(kind) {
        Some(ContextValue::String(word)) => Some(word),
        _ => None,
    }
}

/// Returns the command that words name.
fn command_of<'a>(program: &'a Command, words: &[String]) -> &'a Command {
    words.iter().fold(program, |command, word| command.find_subcommand(word).unwrap_or(command))
}

fn longs(command: &Command) -> impl Iterator<Item = &str> {
    command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long)
}

/// Returns command lines with other words in place of some of one.
fn with(words: &[String], place: Range<usize>, new: &[&str]) -> Vec<String> {
    let new = new.iter().map(|word| (*word).to_owned());
    words[..place.start].iter().cloned().chain(new).chain(words[place.end..].iter().cloned()).collect()
}

/// Returns what a command line may have meant whose word at a place cannot be read, the likeliest first.
fn readings(program: &Command, words: &[String], at: usize, said: &clap::Error) -> Vec<Vec<String>> {
    let command = command_of(program, &words[..at]);
    let here = |new: &str| with(words, at..at + 1, &[new]);
    let (option, value) =
        words[at].split_once('=').filter(|(option, _)| option.starts_with('-')).unwrap_or(("", &words[at]));
    let bare = words[at].trim_start_matches('-');
    if said.kind() == ErrorKind::InvalidSubcommand {
        let names = || command.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name);
        let other = OTHER_NAMES.iter().find(|(name, _)| *name == bare).map(|(_, name)| *name);
        let begun = names().find(|name| bare.len() > 2 && name.starts_with(bare));
        let found = other.or(begun).or_else(|| nearest(bare, names()));
        return found.map(&here).into_iter().chain(as_option(program, words, at)).collect();
    }
    if said.kind() == ErrorKind::InvalidValue || said.kind() == ErrorKind::ValueValidation {
        let assigned = |new: &str| if option.is_empty() { here(new) } else { here(&format!("{option}={new}")) };
        let arguments: Vec<Vec<_>> = command.get_arguments().map(Arg::get_possible_values).collect();
        let known = arguments.iter().flatten().map(clap::builder::PossibleValue::get_name);
        let near = nearest(value, known).map(assigned);
        let limit = readable(value).map(|limit| assigned(&limit));
        return near.into_iter().chain(limit).chain(as_time(words, at, option, value, said)).collect();
    }
    let before = words[at - 1].as_str();
    let mut all = Vec::new();
    if NOUNS.contains(&bare) && at + 1 < words.len() {
        let without = with(words, at..at + 1, &[]);
        let status = with(&without, 1..2, &["status"]);
        all.extend([without, status]);
    }
    if longs(command).any(|long| long == before) {
        all.push(with(words, at - 1..at, &[&format!("--{before}")]));
    }
    if NOUNS.contains(&before) {
        all.push(with(words, at - 1..at, &[]));
    }
    all.extend(as_time(words, at - 1, "", before, said));
    all.extend(as_option(program, words, at));
    // Behind these nothing is read.
    let is_read = |long: &&str| at + 1 == words.len() || !matches!(*long, "help" | "version");
    all.extend(nearest(bare, longs(command).filter(is_read)).map(|long| here(&format!("--{long}"))));
    all
}

/// Reads a word as an option by its name or its first letter, or as the value of one that takes no other words.
fn as_option(program: &Command, words: &[String], at: usize) -> Vec<Vec<String>> {
    let command = command_of(program, &words[..at]);
    let bare = words[at].trim_start_matches('-');
    let is_letter = words[at].starts_with('-') && bare.len() == 1;
    let is_named = |long: &&str| *long == bare || is_letter && long.starts_with(bare);
    let named = longs(command).filter(is_named).map(|long| with(words, at..at + 1, &[&format!("--{long}")]));
    let valued = command.get_arguments().filter(|arg| arg.get_action().takes_values()).filter_map(Arg::get_long);
    let valued = valued.map(|long| format!("--{long}")).filter(|long| !words.contains(long));
    let valued = valued.filter(|long| fault(program, &with(words, at..at + 1, &[long, NONSENSE])).is_some());
    named.chain(valued.map(|long| with(words, at..at + 1, &[&long, bare]))).collect()
}

/// Reads a number without a unit, or with a word for it, as a time.
fn as_time(words: &[String], at: usize, option: &str, value: &str, said: &clap::Error) -> Vec<Vec<String>> {
    let rest = value.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let number = &value[..value.len() - rest.len()];
    let after = words.get(at + 1).map(String::as_str).filter(|_| rest.is_empty() && option.is_empty());
    let unit = |word: &str| word.chars().next().filter(|_| !word.starts_with("mo"));
    let is_short = word(said, ContextKind::InvalidArg).is_some_and(|option| option.contains("TIME"));
    let units = [
        (unit(rest), at + 1),
        (after.and_then(unit), at + 2),
        (Some(if is_short { 'm' } else { 'd' }).filter(|_| rest.is_empty()), at + 1),
    ];
    let assigned = if option.is_empty() { String::new() } else { format!("{option}=") };
    let units = units.into_iter().filter(|_| !number.is_empty());
    units.filter_map(|(unit, to)| Some(with(words, at..to, &[&format!("{assigned}{number}{}", unit?)]))).collect()
}

/// Says how a command is used.
fn usage(program: &Command, words: &[String], said: &clap::Error) -> String {
    let command = command_of(program, words);
    let name = command.get_bin_name().unwrap_or("fusebox");
    let text = said.to_string();
    let help = format!("`{name} --help` lists what it takes");
    match text.lines().find_map(|line| line.strip_prefix("Usage: ")) {
        Some(usage) if said.kind() == ErrorKind::MissingRequiredArgument => format!("`{usage}`; {help}"),
        _ => {
            let own = longs(command).filter(|long| !matches!(*long, "help" | "version"));
            let options: Vec<String> = own.map(|long| format!("--{long}")).collect();
            let told = format!("`{name}` takes {}; `{name} --help` says more", options.join(", "));
            if options.is_empty() || told.len() + "  hint: ".len() > WIDEST { help } else { told }
        }
    }
}
