//! Where the functions of a hook call stand in the program: side by side, in the order of `build/order.ld`.
//!
//! The kernel maps a program in stretches of 64 KiB, each when a call first comes into it, and takes them away at its end. Spread over
//! all of the program, that takes a call more time than its own instructions.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::process::Command;

use crate::fixture::{Event, Fixture, feed};

/// Where the order is kept.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/build/order.ld");

/// What a call ran: by callgrind's own file, whose first pages are its head.
pub struct Ran(String);

impl Ran {
    /// Makes one call.
    pub fn at(fixture: &Fixture, event: Event) -> Ran {
        let (hook, out) = (fixture.hook_command(), fixture.path("callgrind"));
        let mut command: Command = fixture.command("valgrind");
        command.args([
            "--tool=callgrind",
            "--dump-instr=yes",
            "--compress-pos=no",
            "--compress-strings=no",
            "--demangle=no",
        ]);
        command.arg(format!("--callgrind-out-file={}", out.display())).arg(hook.get_program()).args(hook.get_args());
        let output = feed(&mut command, &fixture.payload(event, 2048));
        assert!(output.status.success(), "the hook failed below valgrind: {}", String::from_utf8_lossy(&output.stderr));
        Ran(fs::read_to_string(out).unwrap())
    }

    /// Returns how many stretches of 64 KiB it came into.
    pub fn stretches(&self) -> u64 {
        let places = self.0.lines().filter_map(|line| line.strip_prefix("0x")?.split(' ').next());
        let stretches: BTreeSet<u64> = places.map(|place| u64::from_str_radix(place, 16).unwrap() >> 16).collect();
        stretches.len() as u64
    }

    /// Returns the functions that it ran, as the linker knows them.
    fn functions(&self) -> BTreeSet<&str> {
        let named = self.0.lines().filter_map(|line| line.strip_prefix("fn="));
        // What callgrind cannot name, or names by itself.
        named
            .map(|name| name.split('\'').next().unwrap())
            .filter(|name| !name.starts_with("0x") && !name.contains('('))
            .collect()
    }
}

/// Writes the order anew: first what each of these calls ran, last what one alone did.
pub fn write(calls: &[Ran]) {
    let each: Vec<BTreeSet<&str>> = calls.iter().map(Ran::functions).collect();
    let all: BTreeSet<&str> = each.iter().flatten().copied().collect();
    assert!(all.len() > 500, "the binary has no names of functions: build it with `--profile profiling`");
    let row = |name: &&str| (each.iter().filter(|ran| !ran.contains(name)).count(), pattern(name));
    let rows: BTreeSet<(usize, String)> = all.iter().map(row).collect();
    let rows: String = rows.iter().map(|(_, name)| format!("*(.text.{name} .text.unlikely.{name})\n")).collect();
    let head = "/* The functions of a hook call, side by side (build.rs). Written by tests/gates/layout.rs. */";
    fs::write(FILE, format!("{head}\nSECTIONS {{ .text.hook : {{\n{rows}}} }}\nINSERT BEFORE .text;\n")).unwrap();
}

/// Returns a name as it is in every build: crates stand in it with hashes of their versions, `Cs…_`, and what was named before with
/// its place, `B…_`. A long one is known by its ends.
fn pattern(name: &str) -> String {
    const LONG: usize = 240;
    let numbered = name.rsplit_once('.').filter(|(_, end)| end.bytes().all(|byte| byte.is_ascii_digit()));
    let name = numbered.map_or(name.to_owned(), |(name, _)| format!("{name}.*"));
    let name = if name.starts_with("_R") { without(&without(&name, "Cs", 7..13), "B", 0..4) } else { name };
    match name.len() {
        ..=LONG => name,
        length => format!("{}*{}", &name[..LONG / 2], &name[length - LONG / 2..]),
    }
}

/// Replaces what stands between a mark and the next `_` where it is so long.
fn without(name: &str, mark: &str, long: Range<usize>) -> String {
    let (mut shown, mut rest) = (String::new(), name);
    while let Some(at) = rest.find(mark).map(|at| at + mark.len()) {
        shown += &rest[..at];
        rest = &rest[at..];
        let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).count();
        if long.contains(&length) && rest[length..].starts_with('_') {
            shown += "*";
            rest = &rest[length..];
        }
    }
    shown + rest
}
