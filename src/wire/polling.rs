//! How the input of a call shows that it waits: to look again and again, and see the same, is no repetition at full speed.

use crate::byte_search;
use crate::domain::event::Wait;
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{self, Part, Word, base};

/// The programs that only wait, in seconds.
const SLEEPERS: [&str; 3] = ["sleep", "gsleep", "Start-Sleep"];
/// The programs that only look on.
const WATCHERS: [&str; 6] = ["watch", "wait", "tail", "inotifywait", "wait-for-it", "wait-on"];
/// Subcommands and options by which others look on.
const WATCHING: [&str; 6] = ["watch", "wait", "--watch", "--wait", "--follow", "--wait-for"];
/// Words that begin a loop of a shell.
const LOOPS: [&str; 3] = ["until", "while", "for"];
/// What options are called by which a command limits its own waiting.
const LIMITS: [&str; 2] = ["time", "wait"];
/// Short options that do, by program.
const SHORT_LIMITS: [(&str, &[&str]); 7] = [
    ("curl", &["-m"]),
    ("nc", &["-w"]),
    ("ncat", &["-w"]),
    ("ping", &["-w", "-c"]),
    ("flock", &["-w"]),
    ("wget", &["-T"]),
    ("pg_isready", &["-t"]),
];
/// Programs that do nothing beside a `sleep`.
const IDLE: [&str; 4] = ["true", ":", "echo", "printf"];
/// Parts of words without which no command waits: most have none, and are not read any further.
const SIGNS: [&[u8]; 12] = [
    b"leep",
    b"atch",
    b"wait",
    b"--follow",
    b"tail",
    b"ime",
    b"curl",
    b"nc",
    b"ping",
    b"flock",
    b"wget",
    b"pg_isready",
];
/// How deep texts are followed that a shell runs for another, and how many bytes of them are read.
const DEEPEST: usize = 4;
const MOST_READ: usize = 1024 * 1024;

/// Whether a text may be that of a command that waits.
pub fn may_wait(text: &str) -> bool {
    SIGNS.iter().any(|sign| byte_search::find(sign, text.as_bytes()).is_some())
}

/// Returns how a tool waits that is known by its name alone: `mcp__browser__wait_for`.
pub fn of_name(tool: &str) -> Wait {
    let name = tool.rsplit("__").next().unwrap_or(tool);
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let waits = tool == "ScheduleWakeup" || words.into_iter().any(|word| ["wait", "sleep"].contains(&word));
    if waits { Wait::Named } else { Wait::No }
}

/// Returns how a shell command waits; each `sleep` counts once, whatever loop it stands in.
pub fn of_shell(command: &str) -> Wait {
    let mut found = Found::default();
    found.look(command, 0);
    match found {
        Found { slept_s, retries: true, .. } if slept_s > 0.0 => Wait::Retries,
        Found { slept_s, works: false, .. } if slept_s > 0.0 => Wait::Rests((slept_s * 1000.0) as u64),
        Found { slept_s, .. } if slept_s > 0.0 => Wait::Sleeps((slept_s * 1000.0) as u64),
        Found { watches: true, .. } => Wait::Watches,
        Found { limits, .. } if limits != [0; 4] => Wait::Limited(limits),
        _ => Wait::No,
    }
}

/// What is found of waiting in a command.
#[derive(Default)]
struct Found {
    slept_s: f64,
    retries: bool,
    watches: bool,
    /// Whether anything runs that is no sleep.
    works: bool,
    /// The time limits that it gives itself, in milliseconds; 0 is none.
    limits: [u32; 4],
    /// How many bytes of texts were read.
    read: usize,
}

impl Found {
    fn look(&mut self, command: &str, deep: usize) {
        self.read += command.len();
        if deep > 0 && self.read > MOST_READ {
            return;
        }
        let before = self.slept_s;
        let parts = shell::parts(command);
        let simple = parts.iter().filter_map(|part| match part {
            Part::Command(simple) => Some(simple),
            _ => None,
        });
        for it in simple.flat_map(Invocation::of) {
            if SLEEPERS.contains(&it.name()) {
                self.slept_s += seconds(&it);
            } else {
                self.works |= !it.name().is_empty() && !IDLE.contains(&it.name());
            }
            self.watches |= watches(&it);
            let free = self.limits.iter_mut().filter(|limit| **limit == 0);
            let programs = it.runners.iter().map(|(program, args)| (base(program), *args));
            let all = programs.chain([(it.name(), it.args)]).flat_map(|(program, args)| limits(program, args));
            free.zip(all).for_each(|(free, limit)| *free = limit);
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

/// Returns the times in milliseconds for which a program is told to wait at most.
fn limits<'a>(program: &str, args: &'a [Word<'a>]) -> impl Iterator<Item = u32> + 'a {
    let short = SHORT_LIMITS.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, options)| options);
    let next = args.iter().skip(1).map(|word| &*word.text).chain([""]);
    args.iter().zip(next).filter_map(move |(word, next)| {
        let (name, value) = word.text.split_once('=').unwrap_or((&word.text, next));
        let lower = name.to_ascii_lowercase();
        let is_limit = LIMITS.iter().any(|part| lower.contains(part)) || short.contains(&name);
        let is_name = name.starts_with('-') || word.text.contains('=') && name.bytes().all(|c| c.is_ascii_alphabetic());
        (is_limit && is_name).then(|| millis(value)).flatten()
    })
}

/// Reads a time with or without units: `30`, `30s`, `1m30s`, `500ms`. A large number without one is in milliseconds.
fn millis(text: &str) -> Option<u32> {
    const MOST_S: f64 = 1000.0;
    const UNITS: [(&str, f64); 4] = [("ms", 1.0), ("s", 1000.0), ("m", 60_000.0), ("h", 3_600_000.0)];
    let (mut rest, mut sum) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number = rest[..digits].parse::<f64>().ok()?;
        let unit = &rest[digits..];
        let length = unit.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(unit.len());
        sum += match &unit[..length] {
            "" if number < MOST_S => number * 1000.0,
            "" => number,
            name => number * UNITS.iter().find(|(unit, _)| *unit == name)?.1,
        };
        rest = &unit[length..];
    }
    (sum >= 1.0 && sum <= f64::from(u32::MAX)).then_some(sum as u32)
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
            ("timeout 60 sleep 5", Wait::Rests(5_000)),
            ("Start-Sleep -Seconds 5; ls", Wait::Sleeps(5_000)),
            ("sleep infinity", Wait::Rests(1_000)),
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
            ("sleep 20", Wait::Rests(20_000)),
            ("sleep 1; sleep 2; echo done", Wait::Rests(3_000)),
            ("kubectl rollout status deploy/x --timeout=30s", Wait::Limited([30_000, 0, 0, 0])),
            ("terraform apply -auto-approve -lock-timeout=1m30s", Wait::Limited([90_000, 0, 0, 0])),
            ("curl --connect-timeout 5 -m 30 localhost", Wait::Limited([5_000, 30_000, 0, 0])),
            ("ssh -o ConnectTimeout=10 host uptime", Wait::Limited([10_000, 0, 0, 0])),
            ("npx wait4x --timeout 30000", Wait::Limited([30_000, 0, 0, 0])),
            ("flock -w 30 /tmp/lock make", Wait::Limited([30_000, 0, 0, 0])),
            ("date --utc '+time=30'; runtime 5", Wait::No),
            ("timeout 600 make test", Wait::No),
            ("echo 'until it is done'; make test", Wait::No),
            ("ls", Wait::No),
        ] {
            assert_eq!(of_shell(command), wait, "{command}");
            assert!(wait == Wait::No || may_wait(command), "{command}");
        }
        for (tool, wait) in [
            ("mcp__browser__wait_for", Wait::Named),
            ("mcp__ci__wait", Wait::Named),
            ("ScheduleWakeup", Wait::Named),
            ("mcp__cafe__list_waiters", Wait::No),
            ("Read", Wait::No),
        ] {
            assert_eq!(of_name(tool), wait, "{tool}");
        }
    }
}
