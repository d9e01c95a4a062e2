//! The ending of Fusebox's processes: of hooks by their name or by limits of the client's, of the watch by the system's service manager.

use crate::wire::bypass_detection::at_hand::{Guard, PROGRAM};
use crate::wire::shell;
use crate::wire::shell::invocation::Invocation;

/// Commands that end or hold the processes that they are given by name.
const ENDERS: [&str; 6] = ["pkill", "killall", "taskkill", "Stop-Process", "spps", "start-stop-daemon"];

/// Commands that find processes by name, for a `kill` of the same text.
const FINDERS: [&str; 5] = ["pgrep", "pidof", "ps", "grep", "Get-Process"];

/// Their options with values.
const VALUED: [&str; 12] = ["-P", "-g", "-G", "-t", "-u", "-U", "-s", "-F", "-o", "-y", "--signal", "--parent"];

/// The command that gives processes limits of the system's.
pub const LIMITER: &str = "prlimit";

/// How a shell names itself, and what it has just started.
const OWN_PROCESSES: [&str; 6] = ["$$", "${$}", "$BASHPID", "${BASHPID}", "$!", "${!}"];

/// The files of the service that `fusebox watch --install` makes: of systemd, and of launchd.
pub const SERVICE_FILES: [&str; 2] = ["fusebox-watch.service", "fusebox.watch.plist"];

/// Commands that begin and end services, and what of theirs only looks.
const SERVICE_MANAGERS: [&str; 2] = ["systemctl", "launchctl"];
const LOOKS: [&str; 8] = ["status", "show", "cat", "is-active", "is-enabled", "list-units", "list-unit-files", "print"];

/// Says that an invocation ends hooks by name or keeps them from being started, or ends the watch's service.
pub(super) fn ended(guard: &Guard, it: &Invocation, kills: bool) -> Option<String> {
    service_ended(it).or_else(|| hooks_ended(guard, it, kills)).or_else(|| starved(it))
}

/// Whether a text has a word that ends a process by its number.
pub(super) fn kills(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .any(|word| matches!(word, "kill" | "tkill" | "taskkill"))
}

/// Says that an invocation gives a running process other limits of the system's: the client starts no hook where it may open no file or
/// start no process. Its own shell's, and what it has just started, are an agent's own.
fn starved(it: &Invocation) -> Option<String> {
    let mut programs = it.runners.iter().copied().chain([(it.program, it.args)]);
    let (_, args) = programs.find(|(program, _)| shell::program_name(program) == LIMITER)?;
    let words: Vec<&str> = args.iter().map(|word| &*word.text).collect();
    let pid = words.iter().enumerate().find_map(|(at, word)| match *word {
        "-p" | "--pid" => words.get(at + 1).copied(),
        word => word.strip_prefix("--pid=").or_else(|| word.strip_prefix("-p")),
    })?;
    let sets = words.iter().any(|word| word.contains('=') && !word.starts_with("--pid="));
    (sets && !OWN_PROCESSES.contains(&pid)).then(|| "limits of the system's for a process that runs".to_owned())
}

/// Says that an invocation does something to the watch's service beside looking at it.
fn service_ended(it: &Invocation) -> Option<String> {
    if !SERVICE_MANAGERS.contains(&it.name()) {
        return None;
    }
    let mut words = it.args.iter().map(|word| &*word.text);
    let verb = words.find(|word| !word.starts_with('-'))?;
    let names_watch = words.any(|word| word.contains(PROGRAM));
    (names_watch && !LOOKS.contains(&verb)).then(|| "the service of `fusebox watch`".to_owned())
}

fn hooks_ended(guard: &Guard, it: &Invocation, kills: bool) -> Option<String> {
    let is_one = |names: &[&str]| names.iter().any(|name| it.name().eq_ignore_ascii_case(name));
    let ends = is_one(&ENDERS) || kills && is_one(&FINDERS);
    if !ends {
        return None;
    }
    let mut previous = "";
    let matches_hook = it.args.iter().any(|word| {
        let is_operand = !word.text.starts_with('-') && !VALUED.contains(&previous);
        previous = &word.text;
        is_operand && is_hook(guard, &word.text)
    });
    matches_hook.then(|| "Fusebox's own processes".to_owned())
}

/// Whether a pattern is one of a hook's command line: `fusebox`, `fusebox hook`, the program's path.
fn is_hook(guard: &Guard, pattern: &str) -> bool {
    if shell::program_name(pattern).eq_ignore_ascii_case(PROGRAM) {
        return true;
    }
    let line = format!("{} hook", guard.program.as_deref().unwrap_or(PROGRAM));
    let plain = pattern.trim_start_matches(['^', '/']).trim_end_matches('$');
    let pieces = || plain.split(".*").filter(|piece| !piece.is_empty());
    let names_program = pieces().any(|piece| piece.contains(PROGRAM) || guard.is_program(piece));
    names_program && pieces().all(|piece| line.contains(piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_a_process_that_runs_are_not_changed() {
        for (command, is_refused) in [
            ("(sleep 1; n=7; prlimit --pid $PPID --nofile=$((n+2))) &", true),
            ("prlimit -p 4711 -n=16", true),
            ("sudo prlimit --pid=4711 --nproc=1:1", true),
            ("prlimit --nofile=16 --pid $CLAUDE_PID", true),
            ("prlimit --pid $PPID", false),
            ("prlimit --pid $PPID --nofile", false),
            ("prlimit --pid $$ --nofile=4096", false),
            ("prlimit --nofile=4096 make test", false),
            ("echo prlimit --pid 1 --nofile=2", false),
        ] {
            let refused = Guard::default().command(command);
            assert_eq!(refused.is_some(), is_refused, "{command}: {refused:?}");
        }
    }
}
