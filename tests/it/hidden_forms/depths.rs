//! Ways to put one thing into another, as often as one likes: what is deeper than is read is refused, where it names the client.

use std::fs;

use crate::hidden_forms::{guard, run};
use crate::world::TestWorld;

/// A client that leaves out hooks.
const BARE: &str = "claude --bare -p X";

/// How often each way is gone: around every bound that a reader of shells may have.
const DEPTHS: [usize; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 17, 39, 41, 60];

/// What opens and what closes a way, with what stands in the middle and what comes behind: `§` is the client's start.
const WAYS: &[(&str, &str, &str, &str)] = &[
    ("( ", "§", " )", ""),
    ("echo $(", "§ >&2", ")", ""),
    ("echo \"$(", "§ >&2", ")\"", ""),
    ("cat <(", "§ >&2", ")", ""),
    ("{ ", "§", "; }", ""),
    ("if true; then ", "§", "; fi", ""),
    ("echo ${a:-", "x", "}", "; §"),
    ("[[ ", "x", " ]]", "; §"),
    ("echo $((1+", "1", "))", "; §"),
    ("echo ${a[", "0", "]}", "; §"),
    ("b=(", "x", ")", "; §"),
    ("$(echo ", "claude", ")", " --bare -p X"),
    ("$(printf %s ", "claude", ")", " --bare -p X"),
    ("${x:-", "claude", "}", " --bare -p X"),
    ("\"${x:-", "claude", "}\"", " --bare -p X"),
    ("eval ", "§", "", ""),
    ("eval ", "'echo § | sh'", "", ""),
    ("command eval ", "'echo \"§\" | xargs env'", "", ""),
];

/// Texts that are made for a depth.
const MADE: &[fn(usize) -> String] = &[
    |depth| format!("echo {}x{}; {BARE}", "${a:-".repeat(depth), "}".repeat(depth)),
    |depth| format!("[[ {}1 -eq 1{} ]]; {BARE}", "( ".repeat(depth), " )".repeat(depth)),
    |depth| format!("echo $(({}1{})); {BARE}", "$((".repeat(depth), "))".repeat(depth)),
    |depth| format!("echo {}0{}; {BARE}", "${a[".repeat(depth), "]}".repeat(depth)),
    |depth| {
        let functions: String = (1..=depth).map(|at| format!("f{at}() {{ f{} \"$@\"; }}; ", at - 1)).collect();
        format!("f0() {{ \"$@\"; }}; {functions}f{depth} {BARE}")
    },
    |depth| {
        let aliases: String = (1..=depth).map(|at| format!("alias a{at}='a{}'\n", at - 1)).collect();
        format!("shopt -s expand_aliases\nalias a0=claude\n{aliases}a{depth} --bare -p X")
    },
    |depth| format!("set -- {} claude; shift {depth}; \"$@\" --bare -p X", "x ".repeat(depth)),
    |depth| format!("set -- {} claude --bare; {}\"$@\" -p X", "x ".repeat(depth), "shift; ".repeat(depth)),
    |depth| format!("set -- {} claude --bare; \"${{@:{}}}\" -p X", "x ".repeat(depth), depth + 1),
    |depth| format!("f() {{ {}\"$@\"; }}; f {} {BARE}", "shift; ".repeat(depth), "x ".repeat(depth)),
    |depth| format!("${{x:-claude{}}} --bare -p X", " ".repeat(depth * 40)),
];

fn put(depth: usize, (opens, inner, closes, behind): (&str, &str, &str, &str)) -> String {
    let text = format!("{}{inner}{}{behind}", opens.repeat(depth), closes.repeat(depth));
    text.replace('§', BARE)
}

#[test]
fn no_depth_hides_a_client_without_hooks() {
    let world = TestWorld::new();
    world.script("bin/claude", &format!("echo \"$*\" >>{}", world.path("calls").display()));
    let guard = guard(&world);
    let calls = world.path("calls");
    let (mut missed, mut started, mut tried) = (Vec::new(), 0, 0);
    for depth in DEPTHS {
        let made = MADE.iter().map(|made| made(depth));
        for command in WAYS.iter().map(|way| put(depth, *way)).chain(made) {
            tried += 1;
            let _before = fs::remove_file(&calls);
            run(&world, &command);
            let is_bare = fs::read_to_string(&calls).is_ok_and(|calls| calls.contains("--bare"));
            started += usize::from(is_bare);
            if is_bare && guard.command(&command).is_none() {
                missed.push(format!("{depth}: {command}"));
            }
        }
    }
    assert!(started > tried / 2, "{started} of {tried} start a client");
    assert!(missed.is_empty(), "{} of {started} are missed:\n{}", missed.len(), missed.join("\n"));
}
