//! On a terminal no line that a command writes for people is wider than it: the shell would break it within a word. What programs
//! read stays whole.

use crate::terminal::commands::CALLS;
use crate::terminal::{send_events, write_files};
use crate::world::{FUSEBOX, TestWorld};

/// How many characters fit a line.
const WIDTHS: [usize; 2] = [80, 120];

/// What is written for programs.
const FOR_PROGRAMS: [&str; 7] = ["metrics ", "--json", "--csv", "config schema", "completions", "complete", "hook"];

/// Runs a command in a terminal that is this wide; returns its lines, without colours.
fn shown(world: &TestWorld, width: usize, words: &str) -> Vec<String> {
    let script = format!("stty cols {width} rows 40; {FUSEBOX} {words}");
    let said = world.program("script", &["-qec", &script, "/dev/null"]).run().stdout;
    said.lines().map(|line| bare(line.trim_end_matches('\r'))).collect()
}

/// Returns what is seen of a line: without its colours, and without the progress that stood there before it.
fn bare(line: &str) -> String {
    let last = line.rsplit("\u{1b}[K").next().unwrap_or_default();
    let mut parts = last.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest)).collect::<String>()
}

/// Whether a line is too wide and could have been broken: a word alone, as a path, and a command in backticks stay whole.
fn is_wide(line: &str, width: usize) -> bool {
    let is_quoted = line.trim().starts_with('`') && line.matches('`').count() == 2;
    let is_bare = ["  fusebox ", "  claude ", "  cd "].iter().any(|name| line.contains(name) && line.starts_with("  "));
    let is_command = is_quoted || is_bare && !line.trim().contains("  ");
    line.chars().count() > width && line.trim().contains(' ') && !is_command
}

/// Whether a line breaks off within a command: what is copied of it is another one.
fn breaks_command(line: &str) -> bool {
    let begun = line.rsplit_once("`fusebox ").or_else(|| line.rsplit_once("`claude "));
    begun.is_some_and(|(_, command)| !command.contains('`'))
}

#[test]
fn no_line_for_people_is_wider_than_the_terminal() {
    let mut world = TestWorld::new();
    world.set("COLUMNS", "");
    write_files(&world);
    let _ = send_events(&world);
    let (mut wide, mut broken, mut count) = (Vec::new(), Vec::new(), 0);
    for width in WIDTHS {
        for (name, calls) in CALLS {
            for call in calls.iter().map(|call| format!("{name} {}", call.replace("HOSTILE", "other"))) {
                if FOR_PROGRAMS.iter().any(|words| call.contains(words)) {
                    continue;
                }
                let lines = shown(&world, width, &call);
                count += lines.len();
                wide.extend(lines.iter().filter(|line| is_wide(line, width)).map(|line| format!("{call}: {line}")));
                broken.extend(lines.iter().filter(|line| breaks_command(line)).map(|line| format!("{call}: {line}")));
            }
        }
    }
    assert!(count > 500, "only {count} lines were written");
    assert!(wide.is_empty(), "{} lines are too wide:\n{}", wide.len(), wide.join("\n"));
    assert!(broken.is_empty(), "{} commands are broken:\n{}", broken.len(), broken.join("\n"));
}

#[test]
fn what_programs_read_stays_whole_on_a_terminal() {
    let mut world = TestWorld::with_git();
    world.set("COLUMNS", "");
    let piped = world.run(&["config", "show", "--json"]).ok();
    let longest = piped.lines().map(|line| line.chars().count()).max();
    assert!(longest > Some(40), "{piped}");
    assert_eq!(shown(&world, 40, "config show --json").join("\n"), piped.trim_end());
}
