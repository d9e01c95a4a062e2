//! Every command that Fusebox names is one: whatever it prints in a test, what stands in backticks can be given as it stands.

use clap::CommandFactory;
use clap::error::ErrorKind;
use fusebox::cmd::{Cli, grant_args};

/// How a command begins that is named.
const BEGIN: &str = "`fusebox ";

/// Returns the commands that a text names and that are none.
pub fn not_commands(text: &str) -> Vec<String> {
    let named = text.match_indices(BEGIN).filter_map(|(at, _)| Some(text[at + 1..].split_once('`')?.0));
    // What a shell does with its output is no part of it, and a terminal may have broken its line.
    let alone = |command: &str| {
        let command = command.split(['>', '|', '&']).next().unwrap_or_default();
        command.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // What stands for more that is to be typed.
    let whole = |command: &str| alone(command).replace("=+N", "=+1").replace('…', "").replace("\\n", " ");
    let is_version = |command: &str| command.split(' ').nth(1).is_some_and(|word| word.starts_with(char::is_numeric));
    let is_whole =
        |command: &String| !is_version(command) && !command.contains(['\\', '[', '<']) && !command.ends_with("--");
    named.map(whole).filter(is_whole).filter(|command| !is_command(command)).collect()
}

fn is_command(command: &str) -> bool {
    let Some(words) = shlex::split(command) else { return false };
    let said = Cli::command().try_get_matches_from(&words).err();
    let is_name =
        |kind| matches!(kind, ErrorKind::MissingRequiredArgument | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    let is_read = said.is_none_or(|said| !said.use_stderr() || is_name(said.kind()));
    let is_grant = words.get(1).is_some_and(|word| word == "grant");
    let task = words.iter().position(|word| word == "--task");
    let apart = |at: usize| task.is_some_and(|task| at == task || at == task + 1);
    let granted = words.iter().enumerate().skip(2).filter(|(at, _)| !apart(*at)).map(|(_, word)| word.clone());
    is_read && (!is_grant || grant_args::read(&granted.collect::<Vec<_>>(), task.map(|_| "7")).is_ok())
}

#[test]
fn a_command_that_is_none_is_found() {
    for (text, found) in [
        ("`fusebox resume a1b2c3d4` and `fusebox grant a1 max_turns=+N`", 0),
        ("`fusebox grant user …`, `fusebox run`, `fusebox team`", 0),
        ("`fusebox completions zsh > ~/.zfunc/_fusebox`", 0),
        ("`fusebox status\r\n    --help`", 0),
        ("`fusebox grant a1 +5 max_turns=+10`", 1),
        ("`fusebox grant a1 max_turn=+10`", 1),
        ("`fusebox report by day` or `fusebox repot`", 2),
    ] {
        assert_eq!(not_commands(text).len(), found, "{text}");
    }
}
