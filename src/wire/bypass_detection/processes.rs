//! The ending of Fusebox's processes: of hooks by their name, of the watch by the system's service manager.

use crate::wire::bypass_detection::at_hand::{Guard, PROGRAM};
use crate::wire::shell;
use crate::wire::shell::invocation::Invocation;

/// Commands that end or hold the processes that they are given by name.
const ENDERS: [&str; 5] = ["pkill", "killall", "taskkill", "Stop-Process", "spps"];

/// Their options with values.
const VALUED: [&str; 12] = ["-P", "-g", "-G", "-t", "-u", "-U", "-s", "-F", "-o", "-y", "--signal", "--parent"];

/// The files of the service that `fusebox watch --install` makes: of systemd, and of launchd.
pub const SERVICE_FILES: [&str; 2] = ["fusebox-watch.service", "fusebox.watch.plist"];

/// Commands that begin and end services, and what of theirs only looks.
const SERVICE_MANAGERS: [&str; 2] = ["systemctl", "launchctl"];
const LOOKS: [&str; 8] = ["status", "show", "cat", "is-active", "is-enabled", "list-units", "list-unit-files", "print"];

/// Says that an invocation ends hooks by name, or the watch's service.
pub(super) fn ended(guard: &Guard, it: &Invocation) -> Option<String> {
    service_ended(it).or_else(|| hooks_ended(guard, it))
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

fn hooks_ended(guard: &Guard, it: &Invocation) -> Option<String> {
    if !ENDERS.iter().any(|ender| it.name().eq_ignore_ascii_case(ender)) {
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
