//! `fusebox complete WORDS…`: prints the words that a shell may put at the cursor. The scripts of `fusebox completions` call it.
//!
//! Scripts that hold the whole command line, as clap_complete writes them, would make the program 94 kB larger.

use std::process::ExitCode;

use clap::{Arg, Command};

use crate::error::Result;
use crate::platform::environment::Environment;

/// Arguments of `fusebox complete`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The words after `fusebox`, up to the one that is being typed, which may be empty
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// Runs `fusebox complete` for a program's command line: one candidate a line, with two spaces and what it does
/// where that is known.
pub fn run(env: &Environment, args: &Args, program: Command) -> Result<ExitCode> {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    let (typed, before) = words.split_last().map_or(("", &[][..]), |(typed, before)| (*typed, before));
    let lines = candidates(program, typed, before).into_iter().map(|(word, help)| match help.is_empty() {
        true => format!("{word}\n"),
        false => format!("{word}  {help}\n"),
    });
    env.print_data(&lines.collect::<String>());
    Ok(ExitCode::SUCCESS)
}

/// Returns the candidates for the word that is typed, after the words before it. Each has a description, which may be empty.
pub fn candidates(mut program: Command, typed: &str, before: &[&str]) -> Vec<(String, String)> {
    program.build();
    let mut command = &program;
    let mut awaited: Option<&Arg> = None;
    for word in before {
        if awaited.take().is_some() {
            continue;
        }
        match word.starts_with('-') {
            true if *word == "--" => return Vec::new(),
            true => awaited = option(command, word).filter(|arg| arg.get_action().takes_values()),
            false => command = command.find_subcommand(word).unwrap_or(command),
        }
    }
    let found = match (awaited, typed.split_once('=')) {
        (Some(arg), _) => values(arg, ""),
        (None, Some((name, _))) => {
            option(command, name).map(|arg| values(arg, &format!("{name}="))).unwrap_or_default()
        }
        (None, None) if typed.starts_with('-') => options(command),
        (None, None) => words(command),
    };
    found.into_iter().filter(|(word, _)| word.starts_with(typed)).collect()
}

/// Returns the option of a command that a word names.
fn option<'a>(command: &'a Command, word: &str) -> Option<&'a Arg> {
    let short = word.strip_prefix('-').filter(|rest| rest.chars().count() == 1).and_then(|rest| rest.chars().next());
    let long = word.strip_prefix("--");
    command.get_arguments().find(|arg| {
        arg.get_long_and_visible_aliases().into_iter().flatten().any(|name| Some(name) == long)
            || short.is_some() && arg.get_short() == short
    })
}

fn options(command: &Command) -> Vec<(String, String)> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let named = shown.filter_map(|arg| Some((format!("--{}", arg.get_long()?), first_line(arg.get_help()))));
    named.collect()
}

fn words(command: &Command) -> Vec<(String, String)> {
    let commands = command.get_subcommands().filter(|it| !it.is_hide_set());
    let commands = commands.map(|it| (it.get_name().to_owned(), first_line(it.get_about())));
    commands.chain(command.get_positionals().flat_map(|arg| values(arg, ""))).collect()
}

fn values(arg: &Arg, before: &str) -> Vec<(String, String)> {
    let shown = arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
    shown.map(|value| (format!("{before}{}", value.get_name()), first_line(value.get_help()))).collect()
}

fn first_line(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(ToString::to_string).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}
