//! Hooks that are called Fusebox's and are another program, or can become one.

use fusebox::install::handler::GUARDED_LINE;
use serde_json::{Value, json};

use crate::diversions::{Bench, FILES, Way, entry, with};
use crate::world::{FUSEBOX, TestWorld};

/// Hooks that are Fusebox's by their name alone.
const FORMS: [&str; 4] = [
    r#"{"type": "command", "command": "/tmp/OTHER/fusebox", "args": ["hook"]}"#,
    r#"{"type": "command", "command": "/tmp/OTHER/fusebox hook"}"#,
    r#"{"type": "command", "command": "command -v fusebox || OTHER; sleep 8; exec fusebox hook"}"#,
    r#"{"type": "prompt", "prompt": "Fusebox asks you to judge OTHER"}"#,
];

/// The file that `init` puts ours in, of all.
const LOCAL: usize = 2;

/// Returns each form for two programs.
pub fn pairs() -> [[Value; 2]; 4] {
    FORMS.map(|form| ["a", "b"].map(|other| serde_json::from_str(&form.replace("OTHER", other)).unwrap()))
}

/// A link to this binary, and what the PATH has, can become another program at any time.
#[test]
fn of_hooks_called_ours_those_wait_that_neither_run_this_binary_nor_were_there_at_the_start() {
    let mut bench = Bench::new();
    let link = bench.world.path("fusebox");
    std::os::unix::fs::symlink(FUSEBOX, &link).unwrap();
    let exec = |program: &str| json!({"type": "command", "command": program, "args": ["hook"]});
    let shell = |line: &str| json!({"type": "command", "command": line});
    let hooks = |hook: Value| entry(&["hooks", "ConfigChange"], [json!([{"hooks": [hook]}]), json!([])], false);
    for (hook, waits) in [
        (exec(FUSEBOX), false),
        (exec(link.to_str().unwrap()), true),
        (exec("fusebox"), true),
        (shell("fusebox hook"), true),
        (shell(GUARDED_LINE), true),
    ] {
        assert_eq!(bench.is_blocked(&hooks(hook.clone()), 0, Way::Add), waits, "{hook}");
        bench.undo(0);
        // With the same at the start, and in another file, nothing is new.
        let before = with(&bench.settings(0), &hooks(hook.clone()), 0);
        bench.world.write(FILES[0], before.to_string());
        assert!(!bench.is_blocked(&hooks(hook.clone()), 1, Way::Add), "{hook}");
        bench.undo(1);
        bench.undo(0);
    }
}

/// The hook that a change of settings asks stays in some cases: by it alone the others are judged.
#[test]
fn hooks_called_ours_take_the_place_of_none() {
    let mut wrong = Vec::new();
    let link = |world: &TestWorld| {
        let link = world.path("fusebox");
        std::os::unix::fs::symlink(FUSEBOX, &link).unwrap();
        json!({"command": link, "args": ["hook"]})
    };
    let line = |line: &'static str| move |_: &TestWorld| json!({"command": line});
    let forms: [&dyn Fn(&TestWorld) -> Value; 4] = [
        &link,
        &line("fusebox hook"),
        &line(GUARDED_LINE),
        &line("command -v fusebox >/dev/null && exit 0; exec fusebox hook"),
    ];
    for (at, form) in forms.into_iter().enumerate() {
        for kept in ["", "ConfigChange"] {
            let bench = Bench::new();
            bench.event("SessionStart");
            let mut settings = bench.settings(LOCAL);
            let new = form(&bench.world);
            for (event, groups) in settings["hooks"].as_object_mut().unwrap() {
                if event != kept {
                    let handler = groups[0]["hooks"][0].as_object_mut().unwrap();
                    handler.remove("args");
                    handler.extend(new.as_object().unwrap().clone());
                }
            }
            bench.world.write(FILES[LOCAL], settings.to_string());
            if !bench.event("ConfigChange").contains(r#""decision":"block""#) {
                wrong.push(format!("form {at}, {kept:?} as it was"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
