//! What an agent may not touch: commands that only a person may give, Fusebox's files, its state.

use std::path::Path;

/// Commands that only a person may give.
pub const PERSONS_COMMANDS: [&str; 6] = ["grant", "resume", "reset", "reload", "trust", "uninstall"];

/// Files whose content decides limits.
const FILES: [&str; 3] = ["fusebox.json", "fusebox.local.json", "fusebox.pricing.json"];

/// Commands that write, move or take away what they are given.
const WRITERS: [&str; 16] = [
    "rm", "mv", "cp", "tee", "sed", "ln", "dd", "truncate", "touch", "install", "unlink", "chmod", "python", "python3",
    "perl", "node",
];

/// How the folder of the state is called.
const STATE: &str = "the folder that holds Fusebox's state";

/// Where the state is, so that edits of it are seen.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// The folder of the state.
    pub state_dir: Option<String>,
}

impl Guard {
    /// Says what a file is, where an agent may not write it.
    pub fn file(&self, path: &str) -> Option<String> {
        let name = Path::new(path).file_name()?.to_str()?;
        if FILES.contains(&name) {
            return Some(format!("`{name}`, which holds the limits"));
        }
        let state = self.state_dir.as_deref()?;
        Path::new(path).starts_with(state).then(|| STATE.to_owned())
    }

    /// Says what a shell command is, where only a person may give it.
    pub fn command(&self, command: &str) -> Option<String> {
        let state = self.state_dir.as_deref().filter(|state| command.contains(state));
        if state.is_none() && !command.contains("fusebox") {
            return None;
        }
        let separators = |c: char| c.is_whitespace() || "\"';&|()`<>".contains(c);
        let mut words = command.split(separators).filter(|word| !word.is_empty());
        let writes = command.contains('>') || words.clone().any(|word| WRITERS.contains(&word));
        if let Some(file) = FILES.iter().find(|file| writes && command.contains(*file)) {
            return Some(format!("`{file}`, which holds limits"));
        }
        if state.is_some() && writes {
            return Some(STATE.to_owned());
        }
        while let Some(word) = words.next() {
            if word.rsplit('/').next() != Some("fusebox") {
                continue;
            }
            let verb = words.clone().find(|word| !word.starts_with('-'))?;
            if PERSONS_COMMANDS.contains(&verb) {
                return Some(format!("`fusebox {verb}`, which only a person may run"));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persons_commands_are_seen_however_they_are_written() {
        let guard = Guard { state_dir: Some("/state".to_owned()) };
        for (command, seen) in [
            ("fusebox grant s1 max_turns=+5", true),
            ("/usr/bin/fusebox --json resume x", true),
            ("env -u CLAUDECODE fusebox reset", true),
            ("sh -c 'fusebox trust'", true),
            ("true && fusebox reload", true),
            ("echo '{}' > .claude/fusebox.json", true),
            ("rm -rf /state", true),
            ("sed -i s/3/300/ fusebox.local.json", true),
            ("cat .claude/fusebox.json", false),
            ("ls /state", false),
            ("fusebox status", false),
            ("grep -r fusebox src", false),
            ("echo grant", false),
        ] {
            assert_eq!(guard.command(command).is_some(), seen, "{command}");
        }
        for (path, seen) in [
            ("/p/.claude/fusebox.json", true),
            ("fusebox.local.json", true),
            ("/state/state.db", true),
            ("/p/src/main.rs", false),
        ] {
            assert_eq!(guard.file(path).is_some(), seen, "{path}");
        }
    }
}
