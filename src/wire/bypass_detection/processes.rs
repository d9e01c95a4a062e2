//! The ending of the hooks' processes by their name.

use crate::wire::bypass_detection::at_hand::{Guard, PROGRAM};
use crate::wire::shell;
use crate::wire::shell::invocation::Invocation;

/// Commands that end or hold the processes that they are given by name.
const ENDERS: [&str; 5] = ["pkill", "killall", "taskkill", "Stop-Process", "spps"];

/// Their options with values.
const VALUED: [&str; 12] = ["-P", "-g", "-G", "-t", "-u", "-U", "-s", "-F", "-o", "-y", "--signal", "--parent"];

/// Says that an invocation ends hooks by name.
pub(super) fn ended(guard: &Guard, it: &Invocation) -> Option<String> {
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
