//! A subagent that passes its tool call limit ends, its parent learns why, and everybody else goes on.

use fusebox::install::client_versions::Feature;
use serde_json::{Value, json};

use crate::lab::Lab;
use crate::script::{Script, Step, agent, bash, call, child, in_background, main, say, tool, work};
use crate::terminal::Terminal;
use crate::version::lacks;

fn three_turns(grace: u64) -> Value {
    json!({"agents": {"*": {"max_turns": 3, "grace_turns": grace, "timeout_action": "terminate"}}})
}

fn five() -> Step {
    call([1, 2, 3, 4, 5].map(|number| bash(&format!("echo five $N {number}"))))
}

fn looping() -> Script {
    child("CHILD-A", [call([work()])]).forever()
}

fn parent() -> Script {
    main([call([agent("CHILD-A loop")]), say("main finished")])
}

/// The last request of the main agent, where it stands what it was told.
fn told(lab: &Lab) -> String {
    let requests = lab.api.requests();
    let main = requests.iter().rfind(|request| !request["messages"][0].to_string().contains("CHILD-"));
    main.unwrap()["messages"].as_array().unwrap().iter().skip(1).map(Value::to_string).collect()
}

fn assert_told(lab: &Lab) {
    let told = told(lab);
    let run = lab.run_of("general-purpose");
    assert!(told.contains("max_turns"), "the parent was told: {told}");
    let named = told.contains(run["run_id"].as_str().unwrap()) || told.contains("general-purpose");
    assert!(named, "the parent was told of which agent: {told}");
}

#[test]
fn a_looping_subagent_runs_three_tools_and_no_more() {
    let lab = Lab::new(three_turns(0), vec![looping(), parent()]);
    let run = lab.claude("start", &[]);
    assert_eq!((run.code, run.text()), (Some(0), "main finished"));
    assert_eq!(lab.ran().len(), 3);
    assert!(lab.api.requests_of("CHILD-A").len() <= 4);
    assert_told(&lab);
    let run = lab.run_of("general-purpose");
    assert_eq!((&run["status"], &run["turns"]), (&json!("failed"), &json!(3)));
    assert_eq!(run["stop_reason"], "turn_limit_reached");
}

#[test]
fn of_five_parallel_calls_three_run() {
    let lab = Lab::new(three_turns(0), vec![child("CHILD-A", [five()]).forever(), parent()]);
    assert_eq!(lab.claude("start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 3);
    assert_eq!(lab.api.requests_of("CHILD-A").len(), 1);
    assert_told(&lab);
}

#[test]
fn with_a_grace_turn_the_report_reaches_the_parent() {
    let child =
        child("CHILD-A", [call([work()]), call([work()]), call([work()]), call([work()]), say("REPORT: half done")]);
    let lab = Lab::new(three_turns(1), vec![child, parent()]);
    assert_eq!(lab.claude("start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 3);
    assert!(told(&lab).contains("REPORT: half done"));
    assert_told(&lab);
}

#[test]
fn the_report_comes_also_when_parallel_calls_were_refused_at_once() {
    let child = child("CHILD-A", [call([work()]), call([work()]), call([work()]), five(), say("REPORT: half done")]);
    let lab = Lab::new(three_turns(1), vec![child, parent()]);
    assert_eq!(lab.claude("start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 3);
    assert!(told(&lab).contains("REPORT: half done"));
    assert_told(&lab);
}

#[test]
fn grace_is_one_response_for_an_agent_that_loops_on() {
    let lab = Lab::new(three_turns(1), vec![child("CHILD-A", [five()]).forever(), parent()]);
    assert_eq!(lab.claude("start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 3);
    assert_eq!(lab.api.requests_of("CHILD-A").len(), 2);
    assert_told(&lab);
}

#[test]
fn siblings_go_on() {
    let sibling = child("CHILD-B", [call([work()]), call([work()]), call([work()]), say("sibling done")]);
    let both = call([agent("CHILD-A loop"), agent("CHILD-B work")]);
    let lab = Lab::new(three_turns(0), vec![looping(), sibling, main([both, call([work()]), say("main finished")])]);
    assert_eq!(lab.claude("start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 7);
    let told = told(&lab);
    assert!(told.contains("sibling done") && told.contains("max_turns"), "{told}");
}

#[test]
fn a_background_agents_parent_is_told_at_the_notification() {
    let spawn = call([in_background(agent("CHILD-A loop"))]);
    let lab = Lab::new(three_turns(0), vec![looping(), main([spawn, say("main waits"), say("main finished")])]);
    assert_eq!(lab.claude("start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 3);
    assert_told(&lab);
}

#[test]
fn in_a_terminal_the_parent_is_told_at_the_notification() {
    if lacks(Feature::BackgroundAgents) {
        return;
    }
    let spawn = call([agent("CHILD-A loop")]);
    let lab = Lab::new(three_turns(0), vec![looping(), main([spawn, say("main waits"), say("main finished")])]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.sees("main finished");
    terminal.meets("Stop", 2);
    assert_eq!(lab.ran().len(), 3);
    assert_told(&lab);
}

#[test]
fn calls_that_the_client_rejects_count() {
    let unknown = call([tool("NoSuchTool", json!({"which": "$N"}))]);
    let invalid = call([tool("Bash", json!({"commando": "$N"}))]);
    let child = child("CHILD-A", [call([work()]), unknown, invalid.clone(), invalid]).forever();
    let lab = Lab::new(three_turns(0), vec![child, parent()]);
    assert_eq!(lab.claude("start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 1);
    // A call that the client rejects is first heard of when its batch ends: nobody can refuse it, but it counts.
    assert_eq!(lab.api.requests_of("CHILD-A").len(), 4);
    assert_told(&lab);
    assert_eq!(lab.run_of("general-purpose")["turns"], 4);
}

#[test]
fn a_workflows_agents_are_limited_too() {
    let workflow = "export const meta = { name: 'w', description: 'd', phases: [{ title: 'one' }] };\nphase('one');\n\
                    return await agent('CHILD-A loop');";
    let spawn = call([tool("Workflow", json!({"script": workflow}))]);
    let lab = Lab::new(three_turns(0), vec![looping(), main([spawn, say("main waits"), say("main finished")])]);
    assert_eq!(lab.claude("start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 3);
    assert_eq!(lab.run_of("workflow-subagent")["status"], "failed");
}

#[test]
fn observing_blocks_nothing_and_writes_it_down() {
    let child = child("CHILD-A", [five(), call([work()]), say("child A done")]);
    let lab = Lab::new(three_turns(0), vec![child, parent()]);
    // A repository may not loosen this; the person may.
    lab.write_home(".claude/fusebox.json", r#"{"mode": "observe"}"#);
    assert_eq!(lab.claude("start", &[]).text(), "main finished");
    assert_eq!(lab.ran().len(), 6);
    assert_eq!(lab.run_of("general-purpose")["status"], "completed");
    assert!(lab.must(&["log", "--json"]).contains("max_turns"));
}
