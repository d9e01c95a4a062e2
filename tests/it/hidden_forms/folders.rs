//! The forms in which a command keeps the folder that it is in, or a text that names it, and goes elsewhere.

use std::fs;

use crate::hidden_forms::values::{lay_out, own};
use crate::hidden_forms::{guard, run};
use crate::world::{TestWorld, in_long_form};

/// Ways on which a shell is where the text leads it, or ends. `OK` is a folder of nobody's.
const SURE: [&str; 12] = [
    "",
    "cd OK &&",
    "cd OK;",
    "cd OK && cd - >/dev/null &&",
    "cd sub && cd .. &&",
    "cd .claude &&",
    "cd .claude;",
    "cd .claude && cd .. &&",
    "cd OK | true;",
    "cd OK &",
    "(cd OK) &&",
    "pushd OK >/dev/null | true;",
];

/// Ways on which it stays where it is, against the text.
const UNSURE: [&str; 18] = [
    "f() { cd OK; };",
    "cd /nowhere;",
    "cd /nowhere || true &&",
    "! cd /nowhere &&",
    "! cd /nowhere;",
    "! (cd /nowhere) &&",
    "[ x = y ] && cd OK;",
    "true | cd OK &&",
    "true | cd OK;",
    "true | eval cd OK &&",
    "true | { cd OK; } &&",
    "true && cd OK &",
    "{ cd /nowhere; };",
    "if cd /nowhere; then :; fi &&",
    "eval cd /nowhere;",
    "false && eval cd OK;",
    "eval 'cd OK; cd PROJECT' &&",
    "pushd +0 >/dev/null &&",
];

/// What keeps the folder that its shell is in.
const KEEP: [&str; 10] = [
    "S=$PWD",
    "S=\"${PWD}\"",
    "export S=$PWD",
    "declare S=\"$PWD\"",
    "S=$(pwd)",
    "T=x S=$PWD/y; S=${S%/y}",
    "S=${T:-$PWD}",
    "set -- $PWD && S=$1",
    "printf -v S %s $PWD",
    "for S in $PWD; do :; done",
];

/// What uses it elsewhere. Where a `cd` fails, one back to the project tells it.
const USE: [&str; 4] = [
    "cd PROJECT; rm -f $S/.claude/fusebox.json",
    "cd OK && rm -rf \"$S/.claude\"",
    "cd PROJECT && rm -f $S/fusebox.json",
    "cd OK; sh -c \"rm -f $S/.claude/fusebox.json\"",
];

/// What keeps a text in which its shell puts nothing.
const KEEP_TEXT: [&str; 8] = [
    "S='rm -f $PWD/.claude/fusebox.json'",
    "S=\"rm -f \\$PWD/.claude/fusebox.json\"",
    "export S='rm -f ${PWD}/.claude/fusebox.json'",
    "declare S='rm -f \"$PWD\"/.claude/fusebox.json'",
    "set -- 'rm -f $PWD/.claude/fusebox.json' && S=$1",
    "S=$(cat <<'Q'\nrm -f $PWD/.claude/fusebox.json\nQ\n)",
    "printf -v S %s 'rm -f $PWD/.claude/fusebox.json'",
    "S=$'rm -f $PWD/.claude/fusebox.json'",
];

/// What runs it, there or elsewhere.
const USE_TEXT: [&str; 3] = ["cd PROJECT; eval \"$S\"", "cd PROJECT && sh -c \"$S\"", "bash -c \"$S\""];

/// What goes nowhere, or not for certain, and then writes.
const OTHERS: [&str; 8] = [
    "cd OK | true; rm -f .claude/fusebox.json",
    "cd OK & rm -f .claude/fusebox.json",
    "cd OK & S=$(pwd); rm -rf $S/.claude",
    "cd OK & wait; echo {} >.claude/fusebox.json",
    "pushd OK >/dev/null | cat; rm -f .claude/fusebox.json",
    "(cd OK); rm -f .claude/fusebox.json",
    "F='rm $PWD/fusebox.json'; cd ~/.claude && eval \"$F\"",
    "X='cd .claude; echo {} >$PWD/fusebox.json'; bash -c \"$X\"",
];

/// Returns each command that is put together of a way, what keeps, and what uses; all of them in long form.
fn tried() -> Vec<String> {
    // What a failed `cd` leaves a substitution to write, text does not tell.
    let by_name: Vec<&str> = KEEP.into_iter().filter(|keep| !keep.contains("$(pwd)")).collect();
    let rows = [
        (&SURE[..], &KEEP[..], &USE[..]),
        (&UNSURE[..], &by_name[..], &USE[..1]),
        (&SURE[..], &KEEP_TEXT[..], &USE_TEXT[..]),
        (&UNSURE[..], &KEEP_TEXT[..], &USE_TEXT[..2]),
    ];
    let mut tried = Vec::new();
    for (ways, keep, used) in rows {
        for (at, way) in ways.iter().enumerate() {
            let pairs = keep.iter().flat_map(|keep| used.iter().map(move |used| (keep, used)));
            let pairs = pairs.enumerate().filter(|(number, _)| in_long_form() || (at + number) % 3 == 0);
            tried.extend(
                pairs.flat_map(|(_, (keep, used))| [";", " &&"].map(|joined| format!("{way} {keep}{joined} {used}"))),
            );
        }
    }
    tried.extend(OTHERS.map(str::to_owned));
    tried
}

#[test]
fn no_folder_that_is_kept_hides_what_is_written() {
    let world = TestWorld::new();
    let guard = guard(&world);
    let path = |place: &str| world.path(place).to_str().unwrap().to_owned();
    let (ok, project) = (path("ok"), path("project"));
    let (mut missed, mut changed) = (Vec::new(), 0);
    let tried = tried();
    for command in &tried {
        let command = command.replace("OK", &ok).replace("PROJECT", &project);
        lay_out(&world);
        world.write("ok/x", "x");
        world.write("project/sub/x", "x");
        let _none = fs::remove_file(world.path("calls"));
        let before = own(&world);
        run(&world, &command);
        if own(&world) != before {
            changed += 1;
            if guard.command(&command).is_none() {
                missed.push(command);
            }
        }
    }
    assert!(missed.is_empty(), "{} of {changed} are missed:\n{missed:#?}", missed.len());
    // In a folder of nobody's, or where nothing is, they change nothing.
    assert!(changed * 3 > tried.len(), "{changed} of {} change something", tried.len());
}
