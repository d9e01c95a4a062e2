//! Different calls may fail in the same words: files that are missing, programs that are not there, tests that say nothing. A loop
//! that varies what means nothing is a loop all the same.

use serde_json::{Value, json};

use crate::polls::{Polls, Says};
use crate::world::in_long_form;

const COMMANDS: &str = include_str!("corpus/commands.txt");
/// Identical errors of one input, and of others, at which the agent is told; the next one ends it.
const SAME: usize = 3;
const OTHERS: usize = 9;

/// What fails in words that do not name the call.
const ERRORS: [(&str, &str); 5] = [
    ("Read", "File does not exist. Note: your current working directory is /home/you/app."),
    ("Edit", "File has not been read yet. Read it first before writing to it."),
    ("WebFetch", "Request failed with status code 404"),
    ("mcp__db__query", "connection refused"),
    ("Bash", "Exit code 1"),
];

/// Returns the input of a tool about one thing.
fn about(tool: &str, thing: &str) -> Value {
    match tool {
        "Bash" => json!({"command": thing, "description": "Look"}),
        "WebFetch" => json!({"url": format!("https://example.com/{thing}"), "prompt": "Summarize"}),
        "mcp__db__query" => json!({"table": thing}),
        _ => json!({"file_path": format!("/home/you/app/{thing}"), "old_string": "a", "new_string": "b"}),
    }
}

/// Returns after how many calls that fail with the same error a run is ended, or how many there are.
fn runs(tool: &str, error: &str, inputs: impl IntoIterator<Item = Value>) -> usize {
    let mut polls = Polls::begin();
    let mut made = 0;
    for input in inputs {
        polls.call_says(tool, input, Says::Error(error), 90);
        if polls.is_ended {
            break;
        }
        made += 1;
    }
    made
}

/// Returns the commands of the corpus, one for those that differ by no more than digits and spaces.
fn commands() -> Vec<&'static str> {
    let letters =
        |command: &str| command.chars().filter(|c| !c.is_ascii_digit() && !c.is_whitespace()).collect::<String>();
    let mut seen = std::collections::BTreeSet::new();
    COMMANDS.lines().filter(|command| !letters(command).is_empty() && seen.insert(letters(command))).collect()
}

#[test]
fn ordinary_commands_that_fail_one_after_another_are_no_loop() {
    let commands = commands();
    let step = if in_long_form() { 1 } else { 16 };
    for from in (0..commands.len() - OTHERS).step_by(step) {
        let some = &commands[from..from + OTHERS];
        let made = runs("Bash", "Exit code 1", some.iter().map(|command| about("Bash", command)));
        assert_eq!(made, OTHERS, "{some:?}");
    }
}

#[test]
fn things_that_are_missing_are_no_loop_until_there_are_many() {
    let files = [
        "src/lib.rs",
        "src/main.rs",
        "README.md",
        "Cargo.toml",
        "docs/a.md",
        "package.json",
        "tests/x.rs",
        "x.go",
        "y.go",
    ];
    let tests = (1..=OTHERS).map(|number| format!("sh -c 'exit 1' tests/t{number}.py")).collect::<Vec<_>>();
    let shell: [Vec<&str>; 1] = [tests.iter().map(String::as_str).collect()];
    for (tool, error) in ERRORS {
        let all = if tool == "Bash" { shell.to_vec() } else { vec![files.to_vec()] };
        for things in all {
            let inputs = |times: usize| things.iter().cycle().take(times * OTHERS).map(|thing| about(tool, thing));
            assert_eq!(runs(tool, error, inputs(1)), OTHERS, "{tool} {things:?}");
            assert_eq!(runs(tool, error, inputs(2)), OTHERS + 1, "{tool} {things:?}");
        }
    }
}

/// Ways to vary a call that means the same, and how many may fail before the run is told.
const VARIED: [(&str, usize); 12] = [
    ("make check", SAME),
    ("make check # §", SAME),
    ("sleep 0.§ && make check", SAME),
    ("make  check; echo §", SAME),
    ("timeout §s make check", SAME),
    ("make check -j §", SAME),
    ("make --jobs=§ check", SAME),
    ("X=§ make check", SAME),
    ("make check # try§", OTHERS),
    ("make check > /tmp/out§", OTHERS),
    ("make check; : word§word", OTHERS),
    ("cd . && make check /tmp/§/x", OTHERS),
];

#[test]
fn a_loop_that_varies_what_means_nothing_is_ended() {
    for (varied, told) in VARIED {
        let command = |number: usize| varied.replace('§', &number.to_string());
        let described = |number: usize| json!({"command": command(number), "description": format!("Try {}", "again ".repeat(number))});
        let made = runs("Bash", "Exit code 1", (1..=40).map(described));
        assert_eq!(made, told + 1, "{varied}");
    }
    // A few inputs in turn are each counted, and together.
    for inputs in 2..=12 {
        let turn = (0..60).map(|number| about("Bash", &format!("try word{}", number % inputs)));
        let made = runs("Bash", "Exit code 1", turn);
        assert!((SAME + 1..=OTHERS + 1).contains(&made), "{inputs} in turn: {made}");
    }
    // One that was varied before is counted from there on.
    let after = ["a", "b"].into_iter().chain(std::iter::repeat_n("c", 20)).map(|thing| about("Bash", thing));
    assert_eq!(runs("Bash", "Exit code 1", after), 2 + SAME + 1);
}

/// Commands that ask something, and the code that answers; `§` is the thing that is asked about.
const QUESTIONS: [(&str, u8); 8] = [
    ("sh -c 'test -f out§.txt'", 1),
    ("[ -d dir§ ]", 1),
    ("pgrep -x prog§", 1),
    ("command -v prog§", 1),
    ("which prog§", 1),
    ("git diff --quiet HEAD -- f§.txt || cmp -s f§.txt g§.txt", 1),
    ("diff -q a§ b§ >/dev/null", 1),
    ("curl -sf http://127.0.0.1:8080/page§", 22),
];

#[test]
fn answers_to_different_questions_are_no_loop_and_those_to_one_question_are() {
    for (question, code) in QUESTIONS {
        let error = format!("Exit code {code}");
        let ask = |thing: &str| about("Bash", &question.replace('§', thing));
        let things: Vec<String> = (b'a'..b'a' + 20).map(|letter| format!("x{}", char::from(letter))).collect();
        let made = runs("Bash", &error, things.iter().map(|thing| ask(thing)));
        assert_eq!(made, things.len(), "{question}");
        let made = runs("Bash", &error, (0..20).map(|_| ask("xa")));
        assert_eq!(made, SAME + 1, "{question}");
        for inputs in 2..=4 {
            let turn = (0..60).map(|number| ask(&things[number % inputs]));
            assert!(runs("Bash", &error, turn) < 60, "{question}, {inputs} in turn");
        }
    }
}
