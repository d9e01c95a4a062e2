//! `request_increase`: a person in the terminal decides, once for each dialog.

use serde_json::{Value, json};

use crate::lab::Lab;
use crate::script::{Step, bash, call, main, say, work};
use crate::terminal::Terminal;

const DIALOG: &str = "Do you want to proceed?";

/// Two calls, and two more for each Yes.
fn policy() -> Value {
    json!({"main": {"max_turns": 2, "timeout_action": "request_increase", "increase": 2}})
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
    terminal.presses("Enter");
    terminal.meets("Stop", 1);
    assert_eq!((lab.ran().len(), dialogs(&lab), grants(&lab)), (4, 1, 1));
}

#[test]
fn yes_grants_once_also_when_the_call_then_fails() {
    let fails = call([bash("echo it fails; false")]);
    let lab = lab([call([work()]), call([work()]), fails, call([work()]), say("main finished")]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.sees(DIALOG);
    terminal.presses("Enter");
    terminal.meets("Stop", 1);
    assert_eq!((lab.ran().len(), dialogs(&lab), grants(&lab)), (4, 1, 1));
}

#[test]
fn three_parallel_calls_show_one_dialog() {
    let three = call([work(), work(), work()]);
    let lab = lab([call([work()]), call([work()]), three, call([work()]), say("main finished")]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.sees(DIALOG);
    terminal.presses("Enter");
    terminal.meets("Stop", 1);
    assert_eq!((lab.ran().len(), dialogs(&lab), grants(&lab)), (4, 1, 1));
}

fn assert_grants_nothing(key: &str) {
    let lab = lab([call([work()]), call([work()]), call([work()]), say("the next prompt was heard")]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.sees(DIALOG);
    terminal.presses(key);
    terminal.sees("Interrupted");
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

#[test]
fn where_nobody_can_answer_it_terminates() {
    let lab = Lab::new(policy(), vec![main([call([work()])]).forever()]);
    let run = lab.claude("start", &[]);
    assert_eq!(run.code, Some(0));
    assert_eq!((lab.ran().len(), grants(&lab)), (2, 0));
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("failed"), &json!("turn_limit_reached")));
}
