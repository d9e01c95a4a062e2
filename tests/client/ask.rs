//! `request_increase`: a person in the terminal decides, once for each dialog.

use fusebox::install::client_versions::Feature;
use serde_json::{Value, json};

use crate::lab::Lab;
use crate::script::{Step, agent, bash, call, child, main, say, work};
use crate::terminal::{DIALOG, Terminal};
use crate::version::lacks;

/// Two calls, and as many again for each Yes.
fn policy() -> Value {
    json!({"main": {"max_turns": 2, "timeout_action": "request_increase", "increase": 1}})
}

fn lab(steps: impl IntoIterator<Item = Step>) -> Lab {
    Lab::new(policy(), vec![main(steps)])
}

fn grants(lab: &Lab) -> usize {
    lab.must(&["log", "--json"]).matches("LIMIT_GRANTED").count()
}

fn dialogs(lab: &Lab) -> usize {
    lab.events("PermissionRequest").len()
}

#[test]
fn yes_goes_on_and_grants_once() {
    let lab = lab([call([work()]), call([work()]), call([work()]), call([work()]), say("main finished")]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.sees(DIALOG);
    terminal.sees("max_turns");
    terminal.answers("Enter");
    terminal.meets("Stop", 1);
    assert_eq!((lab.ran().len(), dialogs(&lab), grants(&lab)), (4, 1, 1));
}

#[test]
fn yes_grants_once_also_when_the_call_then_fails() {
    let fails = call([bash("echo it fails; false")]);
    let lab = lab([call([work()]), call([work()]), fails, call([work()]), say("main finished")]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.answers("Enter");
    terminal.meets("Stop", 1);
    assert_eq!((lab.ran().len(), dialogs(&lab), grants(&lab)), (4, 1, 1));
}

#[test]
fn three_parallel_calls_show_one_dialog() {
    let three = call([work(), work(), work()]);
    let lab = lab([call([work()]), call([work()]), three, call([work()]), say("main finished")]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.answers("Enter");
    terminal.meets("Stop", 1);
    assert_eq!((lab.ran().len(), dialogs(&lab), grants(&lab)), (4, 1, 1));
}

fn assert_grants_nothing(key: &str) {
    let lab = lab([call([work()]), call([work()]), call([work()]), say("the next prompt was heard")]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.answers(key);
    terminal.types("the next one");
    terminal.meets("Stop", 1);
    assert_eq!((lab.ran().len(), grants(&lab)), (2, 0));
}

#[test]
fn no_grants_nothing() {
    assert_grants_nothing("2");
}

#[test]
fn escape_grants_nothing() {
    assert_grants_nothing("Escape");
}

/// "No, and tell Claude what to do differently": the agent goes on in the same prompt, with what it has.
#[test]
fn no_with_words_grants_nothing_and_is_not_asked_again() {
    let lab = Lab::new(policy(), vec![main([call([work()])]).forever()]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.sees(DIALOG);
    terminal.presses_for("Down", "❯ 2. No");
    terminal.presses_for("Tab", "tell Claude what to do differently");
    terminal.types("write it down instead");
    lab.until("the end of the run", || lab.run_of("main")["status"] == "failed");
    assert_eq!((lab.ran().len(), dialogs(&lab), grants(&lab)), (2, 1, 0));
}

fn asking_subagent(key: &str) -> Lab {
    let policy = json!({"agents": {"*": {"max_turns": 2, "timeout_action": "request_increase", "increase": 1}}});
    let child = child("CHILD-A", [call([work()])]).forever();
    let main = main([call([agent("CHILD-A loop")]), say("main waits"), say("main finished")]);
    let lab = Lab::new(policy, vec![child, main]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.answers(key);
    if key == "Enter" {
        terminal.meets("PermissionRequest", 2);
        terminal.answers("2");
    }
    terminal.sees("main finished");
    drop(terminal);
    lab
}

#[test]
fn a_subagent_that_got_a_no_ends_without_asking_again() {
    if lacks(Feature::BackgroundAgents) {
        return;
    }
    let lab = asking_subagent("2");
    assert_eq!((lab.ran().len(), dialogs(&lab), grants(&lab)), (2, 1, 0));
    assert_eq!(lab.run_of("general-purpose")["status"], "failed");
}

#[test]
fn a_subagent_that_got_a_yes_asks_again_at_the_new_cap() {
    if lacks(Feature::BackgroundAgents) {
        return;
    }
    let lab = asking_subagent("Enter");
    assert_eq!((lab.ran().len(), dialogs(&lab), grants(&lab)), (4, 2, 1));
}

#[test]
fn where_nobody_can_answer_it_terminates() {
    let lab = Lab::new(policy(), vec![main([call([work()])]).forever()]);
    let run = lab.claude("start", &[]);
    assert_eq!(run.code, Some(0));
    assert_eq!((lab.ran().len(), grants(&lab)), (2, 0));
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("failed"), &json!("turn_limit_reached")));
}
