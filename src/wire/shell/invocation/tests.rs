//! Which program runs in the end, by plain commands.

use crate::wire::shell::invocation::Invocation;
use crate::wire::shell::{Part, parts};

/// Writes what runs: the program with its arguments, variables before it, texts in braces.
fn told(command: &str) -> String {
    let parts = parts(command);
    let simple = parts.iter().filter_map(|part| match part {
        Part::Command(simple) => Some(simple),
        _ => None,
    });
    let runs = simple.flat_map(Invocation::of).map(|it| {
        let mut told: Vec<String> = Vec::new();
        told.extend(it.is_cleared.then(|| "[]".to_owned()));
        told.extend(it.variables.iter().map(|(name, value)| match value {
            Some(value) => format!("{name}={value}"),
            None => format!("-{name}"),
        }));
        told.extend((!it.program.is_empty()).then(|| it.program.to_owned()));
        told.extend(it.args.iter().map(|word| word.text.clone().into_owned()));
        told.extend(it.scripts.iter().map(|script| format!("{{{script}}}")));
        told.join(" ")
    });
    runs.collect::<Vec<_>>().join("; ")
}

#[test]
fn the_program_that_runs_in_the_end_is_found() {
    for (command, runs) in [
        ("A=1 make -j 2", "A=1 make -j 2"),
        ("env A=1 -u B nice -n 5 timeout -k 3 5 make A=2", "A=1 -B make A=2"),
        ("env -i A=1 x", "[] A=1 x"),
        ("env -uB -S 'a b' x", "-B x {env a b}"),
        ("/usr/bin/env python3 x", "python3 x"),
        ("sudo -u me -E A=1 x y", "A=1 x y"),
        ("nohup setsid -w x &", "x"),
        ("command -v x", "command -v x"),
        ("exec -a name x", "x"),
        ("sh -c 'a b' c", " {a b}"),
        ("bash -euo pipefail -c 'a'", " {a}"),
        ("bash -lc a", " {a}"),
        ("bash x.sh -c a", ""),
        (
            "bash -c -e -o pipefail -- 'a' b; sh -O x -co y 'c'; \"$SHELL\" -c d; $(command -v sh) -c e",
            "{a}; {c}; {d}; command -v sh; {e}",
        ),
        ("env --ig --uns=B --ch x timeout --sig K 5 a", "[] -B a"),
        ("env -vS'a b'", " {env a b}"),
        ("bash <<E\na b\nE", " {a b\n}"),
        ("bash x.sh <<E\na\nE", ""),
        ("eval a 'b c'", " {a b c}"),
        ("script -qc 'a b' /dev/null", " {a b}"),
        ("script -q /dev/null a b", "a b"),
        ("flock -w 3 file a b", "a b"),
        ("flock file -c 'a b'", " {a b}"),
        ("find . -name x -exec a {} \\; -exec b {} +", "find . -name x -exec a {} ; -exec b {} +; b {}; a {}"),
        ("xargs -n 1 -I{} a b", "a b"),
        ("npx -y a@1 b", "a@1 b"),
        ("npm exec -- a b", "a b"),
        ("npm run a", "npm run a"),
        ("tmux new -d 'a b'", " {a b}"),
        ("tmux ls", "tmux ls"),
        ("trap 'a b' EXIT", " {a b}"),
        ("uv run --with x a", "a"),
        ("ENV.EXE A=1 /c/x/SH.exe -c 'a b'", "A=1 {a b}"),
        ("cmd.exe /d //C a b", " {a b}"),
        ("Start-Process -FilePath a -ArgumentList b", "a -ArgumentList b"),
        ("powershell -NoProfile -Command 'a b'", " {a b}"),
    ] {
        assert_eq!(told(command), runs.trim(), "{command}");
    }
}
