//! Which program a simple command runs in the end: `env A=1 nice timeout 5 make` runs make, `sh -c 'make'` runs a text.

use std::borrow::Cow;

use crate::wire::shell::invocation::options::{bundles, inline_value, is_command_option, shortens, values_after};
use crate::wire::shell::invocation::runners::{FOLDERS, ROWS, Row, Runs};
use crate::wire::shell::invocation::typed::{OFTEN, TIMES};
use crate::wire::shell::{Simple, Word, assignment, program_name, substituted, written};

/// The most programs that are taken off a command.
const DEEPEST: usize = 16;

/// The most programs that one command runs beside each other.
const MOST: usize = 64;

/// The program whose options may stand behind the one that it runs.
const DAEMON_STARTER: &str = "start-stop-daemon";

/// How files are named that stand for what a program reads.
const STREAMS: [&str; 3] = ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"];

/// The programs whose operands assign variables before the program that they run.
const ASSIGNED: [&str; 6] = ["env", "sudo", "doas", "cross-env", "dotenv", "env-cmd"];

/// How the dynamic loader's names begin, which runs the program that it is given.
const LOADERS: [&str; 3] = ["ld-linux", "ld-musl", "ld.so"];

/// How a text names the shell that it is in, or the user's.
const NAMES_OF_SHELLS: [&str; 9] =
    ["$BASH", "${BASH}", "$SHELL", "${SHELL}", "$0", "${0}", "/proc/self/exe", "/proc/$$/exe", "/proc/$BASHPID/exe"];

/// The row of each program whose name has a version or a system in it.
const LOADER: &str = "ld.so";

/// A program that runs, and what it is given.
#[derive(Debug, Default)]
pub struct Invocation<'a> {
    /// The program as it is written: a name or a path; empty where only a text runs.
    pub program: &'a str,
    /// Its name.
    name: &'a str,
    /// Its arguments.
    pub args: &'a [Word<'a>],
    /// The names of the variables that are set or removed for it, with the new values.
    pub variables: Vec<(&'a str, Option<&'a str>)>,
    /// Whether it gets an environment with these variables alone.
    pub is_cleared: bool,
    /// The programs that were taken off, with their arguments up to the next.
    pub runners: Vec<(&'a str, &'a [Word<'a>])>,
    /// Texts that a shell runs for it.
    pub scripts: Vec<Cow<'a, str>>,
    /// The parameters of the text behind a shell's `-c`, its name first.
    pub parameters: &'a [Word<'a>],
    /// Whether it is a shell that runs what comes through a pipe.
    pub reads_commands: bool,
    /// Whether more programs run each other, or more of them are run, than are read.
    pub is_too_deep: bool,
}

impl<'a> Invocation<'a> {
    /// Returns the program's name without its folders, and without the ending that Windows leaves out.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// Takes a program for the one that runs, until it is taken off.
    fn set_program(&mut self, program: &'a str, args: &'a [Word<'a>]) {
        (self.program, self.name, self.args) = (program, program_name(program), args);
    }

    /// Returns what a simple command runs; each `-exec` of a `find` is one more.
    pub fn of(simple: &'a Simple<'a>) -> Vec<Invocation<'a>> {
        let set = simple.assignments.iter().filter_map(|word| assignment(&word.text));
        let variables = set.map(|(name, value)| (name, Some(value))).collect();
        let mut found = Vec::new();
        let mut open = vec![(Invocation { variables, ..Invocation::default() }, &simple.words[..])];
        while let Some((mut at, words)) = open.pop() {
            if found.len() == MOST {
                at.is_too_deep = true;
                found.push(at);
                break;
            }
            let mut rest = words;
            let mut taken_off = 0;
            while taken_off < DEEPEST {
                let Some((program, args)) = rest.split_first() else { break };
                at.set_program(&program.text, args);
                if at.name() == "git" {
                    at.scripts.extend(git::scripts(args));
                }
                let Some(row) = row(at.program, args) else { break };
                if row.2 == Runs::Exec {
                    let by = |how| Invocation { runners: vec![(at.program, how)], ..Invocation::default() };
                    open.extend(executed(args).take(MOST + 1).map(|(how, words)| (by(how), words)));
                    break;
                }
                rest = at.take_off(row, args, simple);
                let taken = &args[..args.len() - rest.len()];
                at.runners.push((at.program, taken));
                at.set_program("", &[]);
                taken_off += 1;
            }
            at.is_too_deep |= taken_off == DEEPEST;
            found.push(at);
        }
        found
    }

    /// Returns the folders that it is led to, one after the other; `None` where the text does not tell which.
    pub fn folders(&self) -> impl Iterator<Item = Option<&'a str>> {
        let started = self.runners.iter().flat_map(|(runner, args)| {
            let name = program_name(runner);
            // What it runs is named by an option, too.
            let named = if name == DAEMON_STARTER { self.args } else { &[] };
            let row = FOLDERS.iter().find(|row| row.0.eq_ignore_ascii_case(name));
            row.into_iter().flat_map(move |row| [*args, named].into_iter().flat_map(|args| led_to(row, args)))
        });
        started.collect::<Vec<_>>().into_iter()
    }

    /// Takes in what a program that runs another says of it; returns the words of that one.
    fn take_off(&mut self, row: &Row, args: &'a [Word<'a>], simple: &'a Simple<'a>) -> &'a [Word<'a>] {
        let (name, subcommands, runs, valued) = row;
        if let Runs::After(options) = runs {
            let at = args.iter().position(|word| options.contains(&&*word.text));
            return at.map_or(&[], |at| &args[at + 1..]);
        }
        let mut rest = match subcommands {
            [] => args,
            _ => subcommand_at(args, valued).map_or(args, |at| &args[at + 1..]),
        };
        let (mut operands, mut is_text) = (0, false);
        let (awaited, texts): (usize, &[&str]) = match runs {
            Runs::Words(operands) => (*operands, &[]),
            Runs::Text(operands, texts) => (*operands, texts),
            _ => (0, &[]),
        };
        while let Some((word, after)) = rest.split_first() {
            let text = &*word.text;
            if text == "--" {
                rest = after;
                if operands == awaited {
                    break;
                }
            } else if *runs == Runs::Shell && is_command_option(text) {
                // The text comes behind all options and their values.
                is_text = true;
                rest = after.get(text.matches(['o', 'O']).count()..).unwrap_or(&[]);
            } else if texts.iter().any(|option| shortens(text, option) || bundles(text, option)) {
                self.scripts.extend(after.first().map(|script| script_of(name, script.text.clone())));
                rest = after.get(1..).unwrap_or(&[]);
            } else if let Some(script) = texts.iter().find_map(|option| inline_value(text, option)) {
                self.scripts.push(script_of(name, Cow::Borrowed(script)));
                rest = after;
            } else if let values @ 1.. = values_after(text, valued) {
                self.note_valued(name, text, after);
                rest = after.get(values..).unwrap_or(&[]);
            } else if (text.starts_with(['-', '+']) && text != "-") || (*name == "cmd" && text.starts_with('/')) {
                self.note_option(name, text);
                rest = after;
            } else if text == "-" {
                self.is_cleared |= *name == "env";
                rest = after;
            } else if let Some((name, value)) = assignment(text).filter(|_| ASSIGNED.contains(name)) {
                self.variables.push((name, Some(value)));
                rest = after;
            } else if operands < awaited {
                operands += 1;
                rest = after;
            } else {
                break;
            }
        }
        if is_text { self.take_text(rest) } else { self.take_script(*runs, rest, simple) }
    }

    /// Takes in the text behind a shell's `-c`, and its parameters.
    fn take_text(&mut self, rest: &'a [Word<'a>]) -> &'a [Word<'a>] {
        self.scripts.extend(rest.split_first().map(|(script, given)| {
            self.parameters = given;
            parameters::filled_in(&script.text, given).map_or_else(|| script.text.clone(), Cow::Owned)
        }));
        &[]
    }

    /// Takes in the text that a program's operands or input are; returns the words of a command otherwise.
    fn take_script(&mut self, runs: Runs, rest: &'a [Word<'a>], simple: &'a Simple<'a>) -> &'a [Word<'a>] {
        match runs {
            Runs::Joined if !rest.is_empty() => {
                self.scripts.push(Cow::Owned(rest.iter().map(|word| &*word.text).collect::<Vec<_>>().join(" ")));
                &[]
            }
            Runs::First => {
                self.scripts.extend(rest.first().map(|script| script.text.clone()));
                &[]
            }
            Runs::Each => {
                self.scripts.extend(rest.iter().map(|script| script.text.clone()));
                &[]
            }
            Runs::Shell | Runs::Input => {
                // Without a file of its own a shell runs what it reads.
                let is_stream = |file: &Word| STREAMS.iter().any(|stream| file.text.starts_with(stream));
                let reads = runs == Runs::Input || rest.first().is_none_or(is_stream);
                let streams = simple.reads.iter().filter(|_| reads).chain(rest.first());
                self.scripts.extend(simple.input.iter().filter(|_| reads).cloned());
                self.scripts.extend(streams.flat_map(|word| written::streamed(&word.text)).map(Cow::Owned));
                self.reads_commands = reads && simple.input.is_empty();
                &[]
            }
            _ => rest,
        }
    }

    fn note_valued(&mut self, program: &str, option: &'a str, after: &'a [Word<'a>]) {
        if program == "env" && (shortens(option, "--unset") || (!option.starts_with("--") && option.ends_with('u'))) {
            self.variables.extend(after.first().map(|name| (&*name.text, None)));
        }
        self.note_option(program, option);
    }

    fn note_option(&mut self, program: &str, option: &'a str) {
        if program != "env" {
            return;
        }
        let is_short = !option.starts_with("--");
        self.is_cleared |= shortens(option, "--ignore-environment") || (is_short && option.contains('i'));
        let unset =
            inline_value(option, "--unset").or_else(|| option.strip_prefix("-u")).filter(|name| !name.is_empty());
        self.variables.extend(unset.map(|name| (name, None)));
        let letters = option.strip_prefix('-').map(|letters| letters.trim_start_matches(['i', 'v', '0']));
        let split = letters.and_then(|letters| letters.strip_prefix('S')).filter(|text| !text.is_empty());
        self.scripts.extend(split.map(|text| script_of(program, Cow::Borrowed(text))));
    }
}

/// Returns the text that an option gives a program to run: `env` takes it for more of its own words.
fn script_of<'a>(program: &str, text: Cow<'a, str>) -> Cow<'a, str> {
    if program == "env" { Cow::Owned(format!("env {text}")) } else { text }
}

/// Finds the row of a program; nothing for one that runs no other here.
fn row(program: &str, args: &[Word]) -> Option<&'static Row> {
    let is_meant = |row: &Row| {
        let has = |option: &&str| args.iter().any(|word| word.text == *option);
        let is_named = |at: usize| row.1.contains(&&*args[at].text);
        let is_asked = row.1.is_empty() || subcommand_at(args, row.3).is_some_and(is_named);
        is_asked && !matches!(row.2, Runs::After(options) if !options.iter().any(has))
    };
    let name = match program_name(substituted(program).unwrap_or(program)) {
        _ if NAMES_OF_SHELLS.contains(&program) => "sh",
        name if LOADERS.iter().any(|loader| name.starts_with(loader)) => LOADER,
        name if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit() || b"*,-".contains(&byte)) => TIMES,
        name if name.starts_with(OFTEN) => OFTEN,
        name => name,
    };
    let row = ROWS.iter().chain(typed::ROWS).find(|row| row.0.eq_ignore_ascii_case(name) && is_meant(row))?;
    // `command -v NAME` only looks for it.
    let looks = name == "command" && args.first().is_some_and(|first| matches!(&*first.text, "-v" | "-V"));
    // So do these options of `crontab`, or they have a person edit the table.
    let shows = name == "crontab" && args.iter().any(|word| matches!(&*word.text, "-e" | "-l" | "-r"));
    (!looks && !shows).then_some(row)
}

/// Returns where a program's subcommand stands: behind its own options and their values.
fn subcommand_at(args: &[Word], valued: &[&str]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        if !word.text.starts_with('-') {
            return Some(at);
        }
        at += 1 + values_after(&word.text, valued);
    }
    None
}

/// Returns the folders that a program's options lead to.
fn led_to<'a>((_, valued, untold): &(&str, &[&str], &[&str]), args: &'a [Word<'a>]) -> Vec<Option<&'a str>> {
    let mut words = args.iter().map(|word| &*word.text).take_while(|word| *word != "--").peekable();
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let inline = valued.iter().find_map(|option| {
            let behind = || word.strip_prefix(option).filter(|_| !option.starts_with("--"));
            inline_value(word, option).or_else(behind).filter(|value| !value.is_empty() && !value.starts_with(' '))
        });
        if valued.iter().any(|option| shortens(word, option)) {
            found.push(words.peek().copied());
        } else if inline.is_some() {
            found.push(inline);
        } else if untold.contains(&word) {
            found.push(None);
        }
    }
    found
}

/// Returns the commands that a `find` runs, each with the option that says so.
pub fn executed<'a>(args: &'a [Word<'a>]) -> impl Iterator<Item = (&'a [Word<'a>], &'a [Word<'a>])> {
    let is_start = |word: &Word| matches!(&*word.text, "-exec" | "-execdir" | "-ok" | "-okdir");
    let mut rest = args;
    std::iter::from_fn(move || {
        let start = rest.iter().position(is_start)? + 1;
        let length = rest[start..].iter().position(|word| matches!(&*word.text, ";" | "+"));
        let end = length.map_or(rest.len(), |length| start + length);
        let found = (&rest[start - 1..start], &rest[start..end]);
        rest = &rest[end..];
        Some(found)
    })
}

mod git;
mod options;
pub mod parameters;
mod runners;
pub use runners::runs_any;
#[cfg(test)]
mod tests;
mod typed;
