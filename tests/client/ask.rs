//! `request_increase`: a person in the terminal decides, once for each dialog.

use fusebox::install::client_versions::Feature;
use serde_json::{Value, json};

use crate::lab::Lab;
use crate::script::{Step, agent, bash, call, child, in_background, main, say, work};
use crate::terminal::{DIALOG, Terminal};
use crate::version::{lacks, usd};

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

/// Says what is told of the dialog of an agent, by each command at once: nobody has looked before.
fn assert_told(lab: &Lab, kind: &str, answer: &str) {
    let record = if answer == "Yes" { "LIMIT_GRANTED" } else { "INCREASE_DECLINED" };
    let is_told = || lab.must(&["log"]).contains(record);
    lab.until("the record of the answer", is_told);
    let asked = format!("asked for more of max_turns: {answer}");
    for printer in ["report", "status"] {
        let said = lab.must(&[printer, if printer == "status" { "--all" } else { "--since=1d" }]);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&asked), "{printer}: {said}");
    }
    let run = lab.run_of(kind)["run_id"].as_str().unwrap().to_owned();
    let said = lab.must(&["explain", &run]);
    assert!(said.contains("INCREASE_ASKED") && said.contains(record), "{said}");
}

#[test]
fn every_answer_of_the_main_agents_dialog_is_told_at_once() {
    for (key, answer) in [("2", "No"), ("Escape", "No"), ("Enter", "Yes")] {
        let lab = lab([call([work()]), call([work()]), call([work()]), say("main finished")]);
        let terminal = Terminal::open(&lab, &[]);
        terminal.types("start");
        terminal.sees(DIALOG);
        assert!(lab.must(&["status"]).contains("asked for more of max_turns: no answer seen yet"));
        terminal.answers(key);
        assert_told(&lab, "main", answer);
    }
}

#[test]
fn every_answer_of_a_subagents_dialog_is_told_at_once() {
    if lacks(Feature::BackgroundAgents) {
        return;
    }
    for (key, answer) in [("2", "No"), ("Escape", "No"), ("Enter", "Yes")] {
        let policy = json!({"agents": {"*": {"max_turns": 2, "timeout_action": "request_increase", "increase": 9}}});
        let child = child("CHILD-A", [call([work()]), call([work()]), call([work()]), say("child finished")]);
        let main = main([call([agent("CHILD-A loop")]), say("main waits"), say("main finished")]);
        let lab = Lab::new(policy, vec![child, main]);
        let terminal = Terminal::open(&lab, &[]);
        terminal.types("start");
        terminal.sees(DIALOG);
        terminal.answers(key);
        assert_told(&lab, "general-purpose", answer);
    }
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

/// Returns what stands on the screen as one line, without the frames.
fn line(terminal: &Terminal) -> String {
    terminal.screen().replace(['│', '┃'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn of_session(cap: f64) -> Value {
    json!({"session": {"max_cost_usd": usd(cap), "timeout_action": "request_increase", "increase": {"max_cost_usd": usd(10.0 * cap)}}})
}

#[test]
fn the_dialog_says_what_status_and_explain_say_while_it_is_open() {
    // The client writes a response down only once its calls are asked about.
    let lab = Lab::new(of_session(0.03), vec![main([call([work()])]).forever()]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.sees(DIALOG);
    let asked = line(&terminal);
    let figure = asked.split("cost of the session ").nth(1).and_then(|rest| rest.split(" of ").next());
    let figure = figure.unwrap_or_default().trim_start_matches("about ").to_owned();
    assert!(!figure.is_empty(), "{asked}");
    lab.until("`status` says what the dialog says", || lab.must(&["status"]).contains(&format!(" {figure}/")));
    let run = lab.run_of("main")["run_id"].as_str().unwrap().to_owned();
    let told = lab.must(&["explain", &run]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(&format!("INCREASE_ASKED: max_cost_usd {figure}/")), "{asked}\n{told}");
}

#[test]
fn two_yeses_about_one_cap_raise_it_as_far_as_each_of_them_said() {
    if lacks(Feature::BackgroundAgents) {
        return;
    }
    let child = child("CHILD-A", [call([work()])]).forever();
    let both = call([in_background(agent("CHILD-A loop"))]);
    let lab = Lab::new(of_session(0.06), vec![child, main([both, call([work()])]).forever()]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    lab.until("two dialogs at once", || lab.logged("INCREASE_ASKED").len() >= 2);
    terminal.answers("Enter");
    terminal.answers("Enter");
    lab.until("both answers", || lab.logged("LIMIT_GRANTED").len() >= 2);
    let caps: Vec<_> = lab.logged("LIMIT_GRANTED").iter().map(|record| record["cap"].to_string()).collect();
    assert_eq!((caps.len(), caps.windows(2).all(|pair| pair[0] == pair[1])), (2, true), "{}", lab.must(&["log"]));
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
