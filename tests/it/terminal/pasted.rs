//! A path that a person reads can be pasted behind a command, whatever folder it leads through.

use serde_json::json;

use crate::terminal::commands::CALLS;
use crate::world::TestWorld;

/// What is written for programs.
const FOR_PROGRAMS: [&str; 7] = ["metrics", "--json", "--csv", "config schema", "completions", "complete", "hook"];

/// Places that lead through a folder with a space in its name.
const PLACES: [&str; 3] = ["ho me", "pro ject", "sta te"];

/// Makes the space of each of these folders a letter, so that words can be told apart.
fn joined(text: &str) -> String {
    PLACES.iter().fold(text.to_owned(), |text, place| text.replace(place, &place.replace(' ', "\u{1}")))
}

/// Returns the words of a text that name such a folder and stand in no quotes: a shell would take them apart.
fn apart(text: &str) -> Vec<String> {
    let text = joined(text);
    let is_bare =
        |word: &&str| word.contains('\u{1}') && !word.split('\u{1}').next().unwrap().contains(['\'', '`', '"']);
    text.split([' ', '\n']).filter(is_bare).map(str::to_owned).collect()
}

/// A world whose home, project and state have a space in their names, with a session that a limit has stopped.
fn world() -> TestWorld {
    let mut world = TestWorld::new();
    for (name, place) in [("HOME", "ho me"), ("CLAUDE_CONFIG_DIR", "ho me/.claude"), ("FUSEBOX_HOME", "sta te")] {
        let path = world.path(place);
        world.set(name, path);
    }
    world.set("COLUMNS", "200");
    world.write("pro ject/README", "");
    world.write("ho me/.claude/fusebox.json", json!({"main": {"max_turns": 1}}).to_string());
    world.script("bin/claude", "echo '2.1.332 (Claude Code)'");
    world
}

#[test]
fn a_path_with_a_space_is_quoted_wherever_a_person_reads_it() {
    let world = world();
    let (mut bare, mut told) = (Vec::new(), 0);
    let mut say = |call: &str| {
        let words: Vec<&str> = call.split_whitespace().collect();
        let said = world.command(&words).folder("pro ject").run();
        let text = format!("{}{}", said.stdout, said.stderr);
        told += joined(&text).matches('\u{1}').count();
        bare.extend(apart(&text).into_iter().map(|word| format!("{call}: {}", word.replace('\u{1}', " "))));
    };
    for call in
        ["init --scope project", "init --scope local", "init --scope user", "uninstall --scope user", "uninstall"]
    {
        say(call);
    }
    for (name, calls) in CALLS {
        for call in calls.iter().map(|call| format!("{name} {}", call.replace("HOSTILE", "other"))) {
            if !FOR_PROGRAMS.iter().any(|words| call.contains(words)) {
                say(&call);
            }
        }
    }
    assert!(told > 25, "only {told} paths were told");
    assert!(bare.is_empty(), "{} of {told} paths cannot be pasted:\n{}", bare.len(), bare.join("\n"));
}
