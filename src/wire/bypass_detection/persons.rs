//! Commands of Fusebox that only a person may give.

use crate::wire::bypass_detection::{PERSONS_COMMANDS, Walk};
use crate::wire::shell;
use crate::wire::shell::invocation::Invocation;

/// Options that only a person may give, each with its command: limits are only watched, written into a file, changed by keys.
const PERSONS_OPTIONS: [(&str, &str); 4] =
    [("init", "--observe"), ("init", "--judge"), ("suggest", "--write"), ("status", "--watch")];

impl Walk<'_> {
    pub(super) fn persons_command(&self, it: &Invocation) -> Option<String> {
        let program = shell::substituted(it.program).unwrap_or(it.program);
        let asks_for_help = || it.args.iter().any(|word| matches!(&*word.text, "--help" | "-h"));
        if !self.guard.is_program(program) || asks_for_help() {
            return None;
        }
        let mut words = it.args.iter().map(|word| &*word.text);
        let verb = words.find(|word| !word.starts_with('-'))?;
        if PERSONS_COMMANDS.contains(&verb) {
            return Some(format!("`fusebox {verb}`, which only a person may run"));
        }
        let (_, option) =
            PERSONS_OPTIONS.iter().find(|row| row.0 == verb && words.clone().any(|word| word == row.1))?;
        Some(format!("`fusebox {verb} {option}`, which only a person may run"))
    }
}
