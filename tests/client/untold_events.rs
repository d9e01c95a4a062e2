//! Hooks of a repository that ask the model where Fusebox is told nothing: at events that it does not register for, and at a tool that
//! another's matcher is for, too.

use serde_json::{Value, json};

use crate::lab::{Lab, claude};
use crate::script::{Step, Tool, bash, call, main, say, tool};

/// How many requests the session may make, and how many hooks ask each time.
const CAP: usize = 15;
const HOOKS: usize = 3;

/// An event, a matcher, what the agent does each time, and how its client is started.
struct Way {
    event: &'static str,
    matcher: &'static str,
    works: fn(usize) -> Vec<Tool>,
    arguments: &'static [&'static str],
}

const SKIPS: &str = "--dangerously-skip-permissions";
/// A model whose client offers a list of tasks.
const TASKS: [&str; 3] = [SKIPS, "--model", "claude-sonnet-4-5"];

const WAYS: [Way; 5] = [
    Way { event: "TaskCreated", matcher: "", works: |_| vec![task()], arguments: &TASKS },
    Way {
        event: "TaskCompleted",
        matcher: "",
        works: |number| match number {
            0 => (0..20).map(|_| task()).collect(),
            _ => vec![tool("TaskUpdate", json!({"taskId": number.to_string(), "status": "completed"}))],
        },
        arguments: &TASKS,
    },
    Way {
        event: "PermissionDenied",
        matcher: "Bash",
        works: |number| vec![bash(&format!("curl http://x{number}.invalid/ > f"))],
        arguments: &["--permission-mode", "auto"],
    },
    Way {
        event: "PermissionDenied",
        matcher: "Bash",
        works: |number| vec![bash(&format!("curl http://x{number}.invalid/ > f"))],
        arguments: &["--permission-mode", "plan"],
    },
    Way {
        event: "PreToolUse",
        matcher: "Bash",
        works: |number| {
            let watched = format!("echo a{number}");
            vec![tool("Monitor", json!({"command": watched, "description": watched, "timeout_ms": 5000}))]
        },
        arguments: &[SKIPS],
    },
];

fn task() -> Tool {
    tool("TaskCreate", json!({"subject": "x", "description": "y", "activeForm": "z"}))
}

/// Hooks of type `prompt`, in a repository's settings.
fn asking(event: &str, matcher: &str) -> String {
    let hooks: Vec<Value> =
        (0..HOOKS).map(|it| json!({"type": "prompt", "prompt": format!("{it}? $ARGUMENTS")})).collect();
    json!({"hooks": {event: [{"matcher": matcher, "hooks": hooks}]}}).to_string()
}

/// Lays out a repository whose hooks ask.
fn lab(event: &str, matcher: &str, steps: Vec<Step>) -> Lab {
    let lab = Lab::without_fusebox(vec![main(steps)]);
    lab.write(".claude/settings.json", &asking(event, matcher));
    let policy = json!({"session": {"max_requests": CAP, "grace_turns": 0, "timeout_action": "terminate"}});
    lab.write(".claude/fusebox.json", &policy.to_string());
    lab.must(&["init"]);
    lab
}

#[test]
fn hooks_pass_no_cap_where_fusebox_is_told_nothing() {
    for Way { event, matcher, works, arguments } in WAYS {
        let steps = (0..20).map(|number| call(works(number))).chain([say("main finished")]).collect();
        let lab = lab(event, matcher, steps);
        lab.command(&claude()).args(["-p", "MAIN start"]).args(arguments).output().unwrap();
        let (asked, made) = (lab.api.asides().len(), lab.api.asides().len() + lab.api.requests().len());
        assert!(asked >= HOOKS, "{matcher} at {event}: {asked} hooks asked\n{}", lab.story());
        // The client may tell of a call before it has written the response that asks for it.
        assert!(made <= CAP + 1, "{matcher} at {event}: {made} requests\n{}", lab.story());
        assert_eq!(lab.status()["sessions"][0]["requests"], made, "{matcher} at {event}\n{}", lab.story());
    }
}

/// The client asks them once nothing has blocked the prompt.
#[test]
fn hooks_at_a_persons_command_pass_no_cap_and_cost_nothing_where_it_is_blocked() {
    let lab = lab("UserPromptExpansion", "", (0..6).map(|_| say("main finished")).collect());
    lab.write(".claude/skills/sk/SKILL.md", "---\nname: sk\ndescription: d\n---\nWork.\n");
    for continued in [&[][..], &["--continue"], &["--continue"], &["--continue"], &["--continue"]] {
        lab.command(&claude()).args(["-p", "/sk", SKIPS]).args(continued).output().unwrap();
    }
    let (asked, made) = (lab.api.asides().len(), lab.api.asides().len() + lab.api.requests().len());
    assert!((2 * HOOKS..5 * HOOKS).contains(&asked), "{asked} hooks asked\n{}", lab.story());
    assert!(made <= CAP, "{made} requests\n{}", lab.story());
    assert_eq!(lab.status()["sessions"][0]["requests"], made, "{}", lab.story());
}
