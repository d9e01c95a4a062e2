//! How the input of a call shows that it waits: to look again and again, and see the same, is no repetition at full speed.

use crate::bytes;
use crate::engine::event::Wait;
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{self, Part};

/// The programs that only wait, in seconds.
const SLEEPERS: [&str; 3] = ["sleep", "gsleep", "Start-Sleep"];
/// The programs that only look on.
const WATCHERS: [&str; 6] = ["watch", "wait", "tail", "inotifywait", "wait-for-it", "wait-on"];
/// Subcommands and options by which others look on.
const WATCHING: [&str; 6] = ["watch", "wait", "--watch", "--wait", "--follow", "--wait-for"];
/// Words that begin a loop of a shell.
const LOOPS: [&str; 3] = ["until", "while", "for"];
/// Parts of words without which no command waits: most have none, and are not read any further.
const SIGNS: [&[u8]; 5] = [b"leep", b"atch", b"wait", b"--follow", b"tail"];
/// How deep texts are followed that a shell runs for another.
const DEEPEST: usize = 4;

/// Whether a text may be that of a command that waits.
pub fn may_wait(text: &str) -> bool {
    SIGNS.iter().any(|sign| bytes::find(sign, text.as_bytes()).is_some())
}

/// Returns how a tool waits that is known by its name alone: `mcp__browser__wait_for`.
pub fn of_name(tool: &str) -> Wait {
    let name = tool.rsplit("__").next().unwrap_or(tool);
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let waits = tool == "ScheduleWakeup" || words.into_iter().any(|word| ["wait", "sleep"].contains(&word));
    if waits { Wait::Sleeps(1_000) } else { Wait::No }
}

/// Returns how a shell command waits; each `sleep` counts once, whatever loop it stands in.
pub fn of_shell(command: &str) -> Wait {
    let mut found = Found::default();
    found.look(command, 0);
    match found {
        Found { slept_s, retries: true, .. } if slept_s > 0.0 => Wait::Retries,
        Found { slept_s, .. } if slept_s > 0.0 => Wait::Sleeps((slept_s * 1000.0) as u64),
        Found { watches: true, .. } => Wait::Watches,
        _ => Wait::No,
    }
}

/// What is found of waiting in a command.
#[derive(Default)]
struct Found {
    slept_s: f64,
    retries: bool,
    watches: bool,
}

impl Found {
    fn look(&mut self, command: &str, deep: usize) {
        let before = self.slept_s;
        let parts = shell::parts(command);
        let simple = parts.iter().filter_map(|part| match part {
            Part::Command(simple) => Some(simple),
            _ => None,
        });
        for it in simple.flat_map(Invocation::of) {
            if SLEEPERS.contains(&it.name()) {
                self.slept_s += seconds(&it);
            }
            self.watches |= watches(&it);
            for script in it.scripts.iter().filter(|_| deep < DEEPEST) {
                self.look(script, deep + 1);
            }
        }
        self.retries |= self.slept_s > before && is_loop(command);
    }
}

/// Whether a text with a `sleep` that runs has a loop.
fn is_loop(command: &str) -> bool {
    let has = |names: &[&str]| {
        command.split(|c: char| c.is_whitespace() || ";|&()\"'".contains(c)).any(|word| names.contains(&word))
    };
    has(&LOOPS) && has(&["done"])
}

fn watches(it: &Invocation) -> bool {
    let says = |text: &str| WATCHING.contains(&text);
    let follows = || it.args.iter().any(|word| ["-f", "-F", "--follow"].contains(&&*word.text));
    let name = it.name().trim_end_matches(".sh");
    let is_watcher = WATCHERS.contains(&name) && (name != "tail" || follows());
    is_watcher || it.runners.iter().any(|(runner, _)| *runner == "watch") || it.args.iter().any(|word| says(&word.text))
}

/// Returns how long one `sleep` waits. A time that is not written out counts as a second.
fn seconds(it: &Invocation) -> f64 {
    let times = it.args.iter().filter(|word| !word.text.starts_with('-'));
    let time = |text: &str| {
        let unit = match text.as_bytes().last() {
            Some(b'm') => 60.0,
            Some(b'h') => 3600.0,
            Some(b'd') => 86_400.0,
            _ => 1.0,
        };
        let number = text.trim_end_matches(['s', 'm', 'h', 'd']).parse::<f64>();
        number.ok().filter(|number| number.is_finite() && *number >= 0.0).map_or(1.0, |number| number * unit)
    };
    times.map(|word| time(&word.text)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_run_are_seen() {
        for (command, wait) in [
            ("sleep 30; gh run view 12", Wait::Sleeps(30_000)),
            ("sleep 1m 5s && curl -sf localhost", Wait::Sleeps(65_000)),
            ("sleep $N; ls", Wait::Sleeps(1_000)),
            ("sleep 0.2; ls", Wait::Sleeps(200)),
            ("timeout 60 sleep 5", Wait::Sleeps(5_000)),
            ("Start-Sleep -Seconds 5; ls", Wait::Sleeps(5_000)),
            ("sleep infinity", Wait::Sleeps(1_000)),
            ("until test -e done; do sleep 2; done", Wait::Retries),
            ("for i in 1 2 3; do curl -sf localhost && break; sleep 1; done; exit 7", Wait::Retries),
            ("timeout 60 bash -c \"until nc -z localhost 5432; do sleep 1; done\"", Wait::Retries),
            ("gh run watch 12 --exit-status", Wait::Watches),
            ("gh pr checks 3 --watch", Wait::Watches),
            ("timeout 60 tail -f log", Wait::Watches),
            ("kubectl wait --for=condition=ready pod/x", Wait::Watches),
            ("wait", Wait::Watches),
            ("git commit -m 'sleep 30'", Wait::No),
            ("grep sleep 30", Wait::No),
            ("cat <<E\nsleep 30\nE", Wait::No),
            ("tail -3 build.log", Wait::No),
            ("timeout 600 make test", Wait::No),
            ("echo 'until it is done'; make test", Wait::No),
            ("ls", Wait::No),
        ] {
            assert_eq!(of_shell(command), wait, "{command}");
            assert!(wait == Wait::No || may_wait(command), "{command}");
        }
        for (tool, wait) in [
            ("mcp__browser__wait_for", Wait::Sleeps(1_000)),
            ("mcp__ci__wait", Wait::Sleeps(1_000)),
            ("ScheduleWakeup", Wait::Sleeps(1_000)),
            ("mcp__cafe__list_waiters", Wait::No),
            ("Read", Wait::No),
        ] {
            assert_eq!(of_name(tool), wait, "{tool}");
        }
    }
}
