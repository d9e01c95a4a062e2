//! Which way it fails: what the client does with a call where Fusebox is missing, crashes, hangs, is misheard or has no state.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fusebox::install::client_versions::Feature;
use fusebox::wire::events::EVENTS;
use serde_json::{Value, json};

use crate::lab::{Lab, Run, copy_fusebox, fusebox};
use crate::script::{Script, agent, bash, call, child, main, say};
use crate::version::{has, lacks};

const CLOSED: &[&str] = &["--fail-closed"];
const OPEN: &[&str] = &[];

/// A lab whose Fusebox is a copy of its own, to be broken.
struct Fragile {
    lab: Lab,
    binary: PathBuf,
}

impl Fragile {
    fn new(policy: &Value, init: &[&str], scripts: Vec<Script>) -> Fragile {
        let lab = Lab::without_fusebox(scripts);
        lab.write("../bin/README", "a Fusebox to be broken");
        let binary = lab.project().parent().unwrap().join("bin/fusebox");
        copy_fusebox(&binary);
        lab.write(".claude/fusebox.json", &policy.to_string());
        let said = lab.of_person(&binary).arg("init").args(init).output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        Fragile { lab, binary }
    }

    /// One shell command, and then the end.
    fn one_call(policy: &Value, init: &[&str]) -> Fragile {
        Fragile::new(policy, init, vec![main([call([bash("echo one")]), say("done")])])
    }

    /// Leaves the handler of one event alone, with these settings.
    fn only(&self, event: &str, settings: &[(&str, Value)]) {
        let path = self.lab.project().join(".claude/settings.local.json");
        let mut file: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        file["hooks"].as_object_mut().unwrap().retain(|name, _| name == event);
        for (key, value) in settings {
            file["hooks"][event][0]["hooks"][0][key] = value.clone();
        }
        fs::write(&path, file.to_string()).unwrap();
    }

    fn starts(&self) -> Run {
        self.lab.claude("start", &[])
    }

    /// Has a person compact what was said; returns what comes of it.
    fn compacts(&self, run: &Run) -> String {
        self.lab.claude("/compact", &["--resume", run.session()]).text().to_owned()
    }

    /// All that the model was sent at last.
    fn told(&self) -> String {
        self.lab.api.requests().last().map(|request| request["messages"].to_string()).unwrap_or_default()
    }
}

/// Puts a shell script in the place of the binary; `$REAL` in it is a sound one.
fn script(binary: &Path, line: &str) {
    fs::remove_file(binary).unwrap();
    fs::write(binary, format!("#!/bin/sh\nREAL='{}'\n{line}\n", fusebox().display())).unwrap();
    fs::set_permissions(binary, fs::Permissions::from_mode(0o755)).unwrap();
}

/// What can be wrong with the binary, and how it is made so.
type Fault = (&'static str, fn(&Path));
const FAULTS: [Fault; 5] = [
    ("missing", |binary| fs::remove_file(binary).unwrap()),
    ("cut short", |binary| File::options().write(true).open(binary).unwrap().set_len(8192).unwrap()),
    ("no memory to be had", |binary| script(binary, r#"ulimit -v 3000; exec "$REAL" "$@""#)),
    ("killed in the middle of its answer", |binary| script(binary, r#"printf '{"decision":'; kill -KILL $$"#)),
    ("stopped", |binary| script(binary, r#"kill -STOP $$; exec "$REAL" "$@""#)),
];

/// Breaks the handler of PreToolUse in each way; each time the call runs, or does not.
fn check(init: &[&str], ran: &[&str]) {
    for (fault, spoil) in FAULTS {
        let world = Fragile::one_call(&json!({}), init);
        world.only("PreToolUse", &[("timeout", json!(1))]);
        spoil(&world.binary);
        assert_eq!(world.starts().text(), "done", "{fault}");
        assert_eq!(world.lab.ran(), ran, "{fault}");
        assert_eq!(world.told().contains("onFailure"), ran.is_empty(), "{fault}: {}", world.told());
    }
}

#[test]
fn closed_whatever_is_wrong_with_the_binary_the_call_is_refused() {
    check(CLOSED, if has(Feature::OnFailure) { &[] } else { &["echo one"] });
}

#[test]
fn open_whatever_is_wrong_with_the_binary_the_call_runs() {
    check(OPEN, &["echo one"]);
}

/// Two registrations of one program are one to the client, which goes by the local one.
#[test]
fn doctor_and_init_say_of_two_registrations_what_the_client_does() {
    if lacks(Feature::OnFailure) {
        return;
    }
    for (local, user) in [(OPEN, CLOSED), (CLOSED, OPEN), (OPEN, OPEN), (CLOSED, CLOSED)] {
        let world = Fragile::one_call(&json!({}), local);
        let says = |arguments: &[&str]| {
            let out = world.lab.of_person(&world.binary).args(arguments).output().unwrap();
            String::from_utf8(out.stdout).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let init = says(&[&["init", "--scope", "user"], user].concat());
        let doctor = says(&["doctor"]);
        let (_, failing) = doctor.split_once("crashes or is late, ").unwrap_or_else(|| panic!("{doctor}"));
        let is_closed = failing.starts_with("calls and prompts are refused");
        fs::remove_file(&world.binary).unwrap();
        let is_refused = world.starts().text().contains("onFailure") && world.lab.ran().is_empty();
        assert_eq!(is_closed, is_refused, "local {local:?}, user {user:?}: {doctor}");
        let is_promised = init.contains("refuses tool calls where Fusebox does not answer");
        assert_eq!(is_promised, user == CLOSED && is_refused, "local {local:?}, user {user:?}: {init}");
        let advice = "`fusebox init --scope local --fail-closed`";
        assert_eq!(init.contains(advice) && doctor.contains(advice), user == CLOSED && !is_refused, "{init} {doctor}");
    }
}

/// What a handler that fails closed does at its event, where the binary is missing.
fn effect(event: &str) -> &'static str {
    let steps = [
        call([bash("echo one")]),
        call([bash("false")]),
        call([bash("echo '{}' >\"$HOME\"/.claude/settings.json; python3 -c 'import time; time.sleep(2)'")]),
        call([agent("CHILD-A work")]),
        say("done"),
    ];
    let child = child("CHILD-A", [call([bash("echo child")]), say("child done")]);
    let world = Fragile::new(&json!({}), CLOSED, vec![child, main(steps)]);
    world.only(event, &[("onFailure", json!("block"))]);
    fs::remove_file(&world.binary).unwrap();
    let run = world.starts();
    let (ran, requests) = (world.lab.ran().len(), world.lab.api.requests().len());
    // The lab's own hooks are in the settings that the agent emptied.
    let are_kept = !world.lab.events("Stop").is_empty();
    match (ran, requests, run.text()) {
        (0, 0, text) if text.contains("onFailure") => "the prompt is refused",
        (0, 5, "done") => "the call is refused",
        (1, 1, "") => "the loop ends",
        (4, 7, "done") if are_kept => "the settings stay in force",
        (4, 7, "done") if world.told().contains("onFailure") => "the agent is told",
        (4, 7, "done") if event == "PreCompact" && world.compacts(&run).contains("onFailure") => "nothing is compacted",
        (4, 7, "done") => "nothing",
        _ => "something else",
    }
}

#[test]
fn closed_the_client_honours_it_at_these_events() {
    if lacks(Feature::OnFailure) {
        return;
    }
    for row in &EVENTS {
        let what = effect(row.name);
        assert_ne!(what, "something else", "{}", row.name);
        assert_eq!(what != "nothing", row.can_fail_closed, "{}: {what}", row.name);
    }
}

#[test]
fn closed_an_agent_that_removes_the_binary_has_made_its_last_call() {
    if lacks(Feature::OnFailure) {
        return;
    }
    let remove = "n=$(echo gvtf | tr b-z a-y); rm -f ../bin/${n}box";
    let steps = || [call([bash(remove)]), call([bash("echo two")]), say("done")];
    let world = Fragile::new(&json!({}), CLOSED, vec![main(steps())]);
    assert_eq!(world.starts().text(), "");
    assert_eq!((world.lab.ran(), world.lab.api.requests().len()), (vec![remove.to_owned()], 1));
    assert!(world.lab.claude("again", &[]).text().contains("onFailure"), "the next prompt is refused");
    let world = Fragile::new(&json!({}), OPEN, vec![main(steps())]);
    assert_eq!((world.starts().text(), world.lab.ran().len()), ("done", 2));
}

/// The client hands over half of the event: a bug of its own, or of something between.
#[test]
fn on_error_decides_about_input_that_cannot_be_read() {
    for (policy, ran) in [(json!({"on_error": "deny"}), 0), (json!({"on_error": "allow"}), 1)] {
        let world = Fragile::one_call(&policy, OPEN);
        script(&world.binary, r#"head -c 60 | exec "$REAL" "$@""#);
        assert_eq!(world.starts().text(), "done", "{policy}");
        assert_eq!(world.lab.ran().len(), ran, "{policy}");
        assert_eq!(world.told().contains("`on_error` is `deny`"), ran == 0, "{}", world.told());
    }
}

/// An agent could cause it, so it is refused however Fusebox is registered.
#[test]
fn without_any_state_calls_and_prompts_are_refused() {
    for init in [CLOSED, OPEN] {
        let world = Fragile::one_call(&json!({"on_error": "allow"}), init);
        let state = world.lab.project().parent().unwrap().join("state");
        fs::remove_dir_all(&state).unwrap();
        fs::write(&state, "no folder").unwrap();
        assert!(world.starts().text().contains("limits cannot be checked"), "{init:?}");
        assert_eq!(world.lab.api.requests().len(), 0, "{init:?}");
        world.only("PreToolUse", &[]);
        assert_eq!((world.starts().text(), world.lab.ran().len()), ("done", 0), "{init:?}");
        assert!(world.told().contains("limits cannot be checked"), "{init:?}");
    }
}

/// Why the hook prints its answer at one place and whole: half an answer is text to the client, which decides nothing.
#[test]
fn half_an_answer_decides_nothing_even_closed_and_two_nothing_when_open() {
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
    let two = deny.repeat(2);
    for (answer, init, ran) in [
        (&deny[..40], CLOSED, 1),
        (&two, CLOSED, usize::from(!has(Feature::OnFailure))),
        (&two, OPEN, 1),
        (deny, OPEN, 0),
    ] {
        let world = Fragile::one_call(&json!({}), init);
        world.only("PreToolUse", &[]);
        script(&world.binary, &format!("printf %s '{answer}'"));
        assert_eq!(world.starts().text(), "done");
        assert_eq!(world.lab.ran().len(), ran, "{init:?} {answer}");
    }
}
