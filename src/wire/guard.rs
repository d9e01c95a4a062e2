//! What an agent may not touch: commands that only a person may give, Fusebox's files, its state.

use std::path::Path;

use crate::wire::escape;

/// Commands that only a person may give.
pub const PERSONS_COMMANDS: [&str; 7] = ["grant", "resume", "reset", "reload", "trust", "uninstall", "prune"];

/// Files whose content decides limits.
const FILES: [&str; 3] = ["fusebox.json", "fusebox.local.json", "fusebox.pricing.json"];

/// Commands that write, move or take away what they are given; `checkout` and `restore` are git's.
const WRITERS: [&str; 24] = [
    "rm", "mv", "cp", "tee", "sed", "ln", "dd", "truncate", "touch", "install", "unlink", "chmod", "shred", "patch",
    "rsync", "curl", "wget", "checkout", "restore", "python", "python3", "perl", "ruby", "node",
];

/// The option of `fusebox init` that makes limits only watch.
const OBSERVE: &str = "--observe";

/// How the folder of the state is called.
const STATE: &str = "the folder that holds Fusebox's state";

/// Where the state and the program are, so that edits of them are seen.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// The folder of the state.
    pub state_dir: Option<String>,
    /// The path under which the client runs the program, where it names one.
    pub program: Option<String>,
}

impl Guard {
    /// Says what a file is, where an agent may not write it.
    pub fn file(&self, path: &str) -> Option<String> {
        let name = Path::new(path).file_name()?.to_str()?;
        if FILES.contains(&name) {
            return Some(format!("`{name}`, which holds the limits"));
        }
        if self.program.as_deref() == Some(path) {
            return Some(program(path));
        }
        let state = self.state_dir.as_deref()?;
        Path::new(path).starts_with(state).then(|| STATE.to_owned())
    }

    /// Says what a shell command is, where only a person may give it.
    pub fn command(&self, command: &str) -> Option<String> {
        if let Some(what) = escape::seen(command) {
            return Some(what);
        }
        let names = |state: &&str| command.contains(last_two(state)) || command.contains("FUSEBOX_HOME");
        let state = self.state_dir.as_deref().filter(names);
        if state.is_none() && !command.contains("fusebox") {
            return None;
        }
        let separators = |c: char| c.is_whitespace() || "\"';&|()`<>".contains(c);
        let mut words = command.split(separators).filter(|word| !word.is_empty());
        let writes = command.contains('>')
            || words.clone().any(|word| WRITERS.contains(&word) || escape::HOLDERS.contains(&word));
        if let Some(file) = FILES.iter().find(|file| writes && command.contains(*file)) {
            return Some(format!("`{file}`, which holds the limits"));
        }
        if state.is_some() && writes {
            return Some(STATE.to_owned());
        }
        if let Some(path) = self.program.as_deref().filter(|path| writes && command.contains(path)) {
            return Some(program(path));
        }
        while let Some(word) = words.next() {
            if word.rsplit('/').next() != Some("fusebox") {
                continue;
            }
            let verb = words.clone().find(|word| !word.starts_with('-'))?;
            if PERSONS_COMMANDS.contains(&verb) {
                return Some(format!("`fusebox {verb}`, which only a person may run"));
            }
            if verb == "init" && words.clone().any(|word| word == OBSERVE) {
                return Some(format!("`fusebox init {OBSERVE}`, which only a person may run"));
            }
        }
        None
    }
}

/// Returns the end of a path, which stands in all ways to write it: absolute, from `~`, from the folder above.
fn last_two(path: &str) -> &str {
    path.rmatch_indices('/').nth(1).map_or(path, |(at, _)| &path[at + 1..])
}

fn program(path: &str) -> String {
    format!("`{path}`, the program that holds the limits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persons_commands_are_seen_however_they_are_written() {
        let guard = Guard { state_dir: Some("/state".to_owned()), program: Some("/bin/fusebox".to_owned()) };
        for (command, seen) in [
            ("fusebox grant s1 max_turns=+5", true),
            ("/usr/bin/fusebox --json resume x", true),
            ("env -u CLAUDECODE fusebox reset", true),
            ("sh -c 'fusebox trust'", true),
            ("true && fusebox reload", true),
            ("fusebox prune --older-than 40d", true),
            ("echo '{}' > .claude/fusebox.json", true),
            ("rm -rf /state", true),
            ("rm -rf $FUSEBOX_HOME", true),
            ("flock /state/locks/all sleep 9", true),
            ("sed -i s/3/300/ fusebox.local.json", true),
            ("git checkout -- .claude/fusebox.json", true),
            ("fusebox init --scope user --observe", true),
            ("cp /bin/true /bin/fusebox", true),
            ("chmod -x '/bin/fusebox'", true),
            ("cat .claude/fusebox.json", false),
            ("fusebox init", false),
            ("/bin/fusebox status", false),
            ("cp a fusebox/b", false),
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
            ("/bin/fusebox", true),
            ("/p/bin/fusebox", false),
            ("/p/src/main.rs", false),
        ] {
            assert_eq!(guard.file(path).is_some(), seen, "{path}");
        }
    }
}
