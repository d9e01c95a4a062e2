//! How long a call waits before it looks: polling with a `sleep` sees the same again and again, and repeats nothing.

use crate::bytes;
use crate::engine::event::Prints;
use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{self, Part};

/// A call that waits so many seconds and ends well repeats nothing.
const POLLS_S: f64 = 1.0;
/// One that waits so many repeats nothing where it fails, either: "not yet" is an error of many tools.
const POLLS_FOR_LONG_S: f64 = 10.0;

/// The programs that only wait, in seconds.
const SLEEPERS: [&str; 3] = ["sleep", "gsleep", "Start-Sleep"];

/// Takes from a call's fingerprints what a wait of so many seconds makes meaningless.
pub fn without_polls(prints: Prints, waits_s: f64) -> Prints {
    Prints {
        all: if waits_s >= POLLS_S { 0 } else { prints.all },
        error: if waits_s >= POLLS_FOR_LONG_S { 0 } else { prints.error },
    }
}

/// Whether a text names a program that sleeps; most do not, and are not read any further.
pub fn may_sleep(text: &str) -> bool {
    bytes::find(b"leep", text.as_bytes()).is_some()
}

/// Returns the seconds that a shell command sleeps; each `sleep` counts once, whatever loop it stands in.
pub fn slept_s(command: &str) -> f64 {
    let parts = shell::parts(command);
    let simple = parts.iter().filter_map(|part| match part {
        Part::Command(simple) => Some(simple),
        _ => None,
    });
    simple.flat_map(Invocation::of).filter(|it| SLEEPERS.contains(&it.name())).map(|it| seconds(&it)).sum()
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
    fn sleeps_that_run_are_counted() {
        for (command, waits_s) in [
            ("sleep 30; gh run view 12", 30.0),
            ("sleep 1m 5s && curl -sf localhost", 65.0),
            ("until test -e done; do sleep 2; done", 2.0),
            ("sleep $N; ls", 1.0),
            ("sleep 0.2; ls", 0.2),
            ("timeout 60 sleep 5", 5.0),
            ("Start-Sleep -Seconds 5; ls", 5.0),
            ("git commit -m 'sleep 30'", 0.0),
            ("grep sleep 30", 0.0),
            ("cat <<E\nsleep 30\nE", 0.0),
            ("sleep infinity", 1.0),
            ("ls", 0.0),
        ] {
            assert!((slept_s(command) - waits_s).abs() < 1e-9, "{command}: {}", slept_s(command));
        }
        let prints = Prints { all: 7, error: 8 };
        for (waits_s, all, error) in [(0.5, 7, 8), (1.0, 0, 8), (10.0, 0, 0)] {
            assert_eq!(without_polls(prints, waits_s), Prints { all, error });
        }
    }
}
