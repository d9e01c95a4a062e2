//! A client that an agent starts is charged to the agent's session and bound by it.

use serde_json::{Value, json};

use crate::lab::{Lab, claude};
use crate::script::{Script, Tool, bash, call, child, main, say, work};

/// Starts a client below an agent, which has left out what says so.
fn client(prompt: &str) -> Tool {
    bash(&format!("env -u CLAUDECODE {} -p '{prompt}' --dangerously-skip-permissions", claude().display()))
}

fn lab(session: Value, nested: Script) -> Lab {
    let mut session = session;
    session["grace_turns"] = json!(0);
    session["timeout_action"] = json!("terminate");
    let steps = [call([work()]), call([client("NESTED-1 loop")]), call([work()]), say("never heard")];
    Lab::new(json!({"session": session}), vec![nested, main(steps)])
}

#[test]
fn its_calls_count_for_the_session_that_it_comes_from() {
    let lab = lab(json!({"max_turns": 5}), child("NESTED-1", [call([work()])]).forever());
    let run = lab.claude("MAIN start", &[]);
    assert!(lab.api.requests_of("NESTED-1").len() >= 3, "the nested client ran: {}", lab.story());
    // The call that started it is one of the five.
    let steps = lab.ran().iter().filter(|command| command.starts_with("echo step")).count();
    assert_eq!(steps, 4);
    assert_eq!(lab.api.requests_of("MAIN").len(), 2, "and the session that it comes from is over");
    let status = lab.status();
    let sessions = status["sessions"].as_array().unwrap();
    let outer = sessions.iter().find(|session| session["session_id"] == run.session()).unwrap();
    assert_eq!((&outer["status"], sessions.len()), (&json!("failed"), 2));
    let again = lab.claude("go on", &["--resume", run.session()]);
    assert!(again.text().contains("tool calls of the whole session 5/5 (max_turns"), "{}", again.text());
}

#[test]
fn its_money_is_the_sessions_that_it_comes_from() {
    let lab = lab(json!({"max_cost_usd": 0.03}), child("NESTED-1", [call([work()])]).forever());
    lab.claude("MAIN start", &[]);
    // Two requests of the session's own and three of the nested one fit into 0.03.
    assert_eq!(lab.api.requests().len(), 5);
    assert_eq!(lab.api.requests_of("NESTED-1").len(), 3);
}

#[test]
fn its_agents_are_of_the_session_too_and_its_prompts_are_kept_back_when_that_is_over() {
    let nested = child("NESTED", [call([work()])]).forever();
    let twice = format!("{}; {}", client("NESTED-1").input["command"], client("NESTED-2").input["command"]);
    let twice = bash(&twice.replace('"', ""));
    let policy = json!({"session": {"max_turns": 3, "grace_turns": 0, "timeout_action": "terminate"}});
    let lab = Lab::new(policy, vec![nested, main([call([twice]), say("never heard")])]);
    lab.claude("MAIN start", &[]);
    assert!(lab.api.requests_of("NESTED-2").is_empty(), "{}", lab.story());
    assert_eq!(lab.events("SessionStart").len(), 3, "both nested clients began: {}", lab.story());
    let steps = lab.ran().iter().filter(|command| command.starts_with("echo step")).count();
    assert_eq!(steps, 2);
}

#[test]
fn a_client_that_a_person_starts_is_nobodys() {
    let policy = json!({"session": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"}});
    let lab = Lab::new(policy, vec![main([call([work()])]).forever()]);
    lab.claude("MAIN start", &[]);
    lab.claude("MAIN start", &[]);
    assert_eq!(lab.ran().len(), 4);
}
