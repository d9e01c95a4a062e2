//! What belongs to a run, a session and a layer, however the client words it.

use fusebox::install::client_versions::Feature;
use serde_json::{Value, json};

use crate::lab::Lab;
use crate::script::{agent, agent_of, bash, call, child, in_background, main, say, work};
use crate::terminal::Terminal;
use crate::version::has;

fn main_turns(turns: u64) -> Value {
    json!({"main": {"max_turns": turns, "grace_turns": 0, "timeout_action": "terminate"}})
}

#[test]
fn a_prompt_typed_while_main_works_resets_nothing() {
    let slow = call([bash("python3 -c 'import time; time.sleep(3)'; echo slow $N")]);
    let lab = Lab::new(main_turns(3), vec![main([slow, call([work()])]).forever()]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.meets("PreToolUse", 1);
    terminal.types("and be quick");
    if has(Feature::PromptsAtWork) {
        terminal.meets("UserPromptSubmit", 2);
    }
    lab.until("the end of the run", || lab.runs().iter().any(|run| run["status"] == "failed"));
    assert_eq!(lab.ran().len(), 3);
    assert_eq!(lab.run_of("main")["turns"], 3);
}

#[test]
fn a_notification_that_arrives_while_main_works_resets_nothing() {
    let child = child("CHILD-A", [say("child A done")]);
    let slow = call([bash("python3 -c 'import time; time.sleep(1)'; echo slow $N")]);
    let spawn = call([in_background(agent("CHILD-A be quick"))]);
    let lab = Lab::new(main_turns(4), vec![child, main([spawn, slow]).forever()]);
    lab.claude("start", &[]);
    if has(Feature::PromptsAtWork) {
        assert!(lab.events("UserPromptSubmit").len() >= 2, "{}", lab.story());
    }
    assert_eq!(lab.ran().len(), 3);
    assert_eq!(lab.run_of("main")["turns"], 4);
}

#[test]
fn frontmatter_beats_the_project() {
    let policy = json!({"agents": {"*": {"max_turns": 9, "grace_turns": 0}}});
    let child = child("CHILD-X", [call([work()])]).forever();
    let lab = Lab::new(policy, vec![child, main([call([agent_of("x", "CHILD-X loop")]), say("main finished")])]);
    let limits = "execution_limits:\n  max_turns: 2\n  timeout_action: terminate\n";
    lab.write(".claude/agents/x.md", &format!("---\nname: x\ndescription: loops\n{limits}---\nYou loop.\n"));
    assert_eq!(lab.claude("start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 2);
    assert_eq!(lab.run_of("x")["trips"][0]["layer"], "frontmatter");
}

#[test]
fn a_hook_registered_twice_counts_and_warns_once() {
    let policy = json!({"agents": {"*": {"max_turns": 5, "timeout_action": "terminate", "grace_turns": 0}}});
    let child = child("CHILD-A", [call([work()]), call([work()]), call([work()]), call([work()]), say("child A done")]);
    let lab = Lab::new(policy, vec![child, main([call([agent("CHILD-A work")]), say("main finished")])]);
    // Handlers of the same words run once; the project's is another, which finds the program by its name.
    lab.must(&["init", "--scope", "project"]);
    assert_eq!(lab.claude("start", &[]).text(), "main finished");
    assert_eq!(lab.run_of("general-purpose")["turns"], 4);
    let warnings = lab.must(&["log", "--json"]).matches("AGENT_WARNING").count();
    assert_eq!(warnings, 1, "{}", lab.must(&["log", "--json"]));
    let last = lab.api.requests_of("CHILD-A").pop().unwrap()["messages"].to_string();
    assert_eq!(last.matches("80 % is reached").count(), 1, "{last}");
}

#[test]
fn an_agent_sees_its_own_run_and_not_its_parents() {
    let look = bash("cd / && fusebox status --me");
    let lab = Lab::new(
        json!({"main": {"max_turns": 9}, "agents": {"general-purpose": {"max_turns": 7}}}),
        vec![
            child("CHILD-A", [call([look.clone()]), say("child A done")]),
            main([call([look]), call([agent("CHILD-A look")]), say("main finished")]),
        ],
    );
    let run = lab.claude("start", &[]);
    assert_eq!(run.text(), "main finished", "{}", lab.story());
    let read = |requests: Vec<Value>, words: &str| requests.last().is_some_and(|it| it.to_string().contains(words));
    let own = lab.run_of("general-purpose")["run_id"].as_str().unwrap().to_owned();
    assert!(read(lab.api.requests_of("CHILD-A"), &format!("general-purpose (run {own}): running")), "{}", lab.story());
    assert!(read(lab.api.requests_of("CHILD-A"), "tool calls 1/7, 6 left (max_turns)"));
    assert!(read(lab.api.requests(), "tool calls 1/9, 8 left (max_turns)"));
}
