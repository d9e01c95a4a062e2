//! The ways in which work goes on without a tool call, each against a cap on requests: what the API was really asked for.

use std::time::Duration;

use fusebox::setup::clients::Feature;
use serde_json::{Value, json};

use crate::lab::Lab;
use crate::script::{
    Tool, agent, background_bash, call, child, in_background, load_send_message, main, named, say, send_message_to,
    tool, work,
};
use crate::terminal::Terminal;
use crate::version::lacks;

/// A prompt of the client's schedule comes at the full minute.
const A_MINUTE: Duration = Duration::from_secs(100);

fn requests(cap: u64) -> Value {
    json!({"max_requests": cap, "grace_turns": 0, "timeout_action": "terminate"})
}

fn failed(lab: &Lab, kind: &str) {
    let run = lab.run_of(kind);
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("failed"), &json!("request_limit_reached")), "{run}");
}

#[test]
fn notifications_that_are_answered_in_words_use_a_runs_requests() {
    let tasks = (1..=5).map(|number| background_bash(&format!("sleep {number}; echo task {number}")));
    let main = main([call(tasks), say("main waits")]).forever();
    let lab = Lab::new(json!({"main": requests(3)}), vec![main]);
    let run = lab.claude("MAIN start", &[]);
    assert_eq!(lab.api.requests_of("MAIN").len(), 3, "{}", lab.story());
    failed(&lab, "main");
    assert!(run.text().contains("model requests 3/3"), "the person reads why: {}", run.text());
    assert_eq!(lab.logged("AGENT_FAILED").len(), 1);
}

#[test]
fn messages_that_are_answered_in_words_use_an_agents_requests() {
    let helper = child("CHILD-A", [say("child A done")]).forever();
    let begin = call([load_send_message(), named("helper", agent("CHILD-A"))]);
    let mut steps = vec![begin];
    for _ in 0..6 {
        steps.extend([call([send_message_to("helper")]), say("main waits")]);
    }
    let lab = Lab::new(json!({"agents": {"*": requests(3)}}), vec![helper, main(steps)]);
    lab.claude("MAIN start", &[]);
    assert_eq!(lab.api.requests_of("CHILD-A").len(), 3, "{}", lab.story());
    let told = lab.api.told("MAIN");
    assert!(told.contains("has nothing left for another request: model requests 3/3"), "{told}");
    // It ended by itself each time; what was refused was main's.
    assert_eq!(lab.run_of("general-purpose")["status"], "completed");
}

#[test]
fn agents_that_have_long_ended_are_not_woken_side_by_side() {
    let crowd = [("ann", "CHILD-A"), ("bob", "CHILD-B"), ("cid", "CHILD-C")];
    let sleeps = |seconds: u32| {
        call([tool("Bash", json!({"command": format!("sleep 0; python3 -c 'import time; time.sleep({seconds})'")}))])
    };
    let scripts = crowd.map(|(_, mark)| child(mark, [say("done"), sleeps(2), say("done again")]));
    let mut steps = vec![call([load_send_message()])];
    steps.extend(crowd.iter().map(|(name, mark)| call([named(name, agent(mark))])));
    // Their transcripts are read to their ends meanwhile.
    steps.extend([sleeps(6), call([work()]), call([work()])]);
    steps.extend([call(crowd.map(|(name, _)| send_message_to(name))), say("main waits")]);
    let lab =
        Lab::new(json!({"session": {"max_parallel_subagents": 1}}), scripts.into_iter().chain([main(steps)]).collect());
    lab.claude("MAIN start", &[]);
    let woken = lab.events("SubagentStart").len() - crowd.len();
    let told = lab.api.told("MAIN");
    assert_eq!((woken, told.matches("parallel subagent limit reached").count()), (1, 2), "{}", lab.story());
}

/// Has the client's schedule send a prompt every minute; returns the requests that are made of it.
fn scheduled(prompt: &str) {
    if lacks(Feature::BackgroundAgents) {
        return;
    }
    let cron: Tool = tool("CronCreate", json!({"cron": "* * * * *", "prompt": prompt, "recurring": true}));
    let load = tool("ToolSearch", json!({"query": "select:CronCreate", "max_results": 5}));
    let lab =
        Lab::new(json!({"main": requests(3)}), vec![main([call([load]), call([cron]), say("main waits")]).forever()]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("MAIN start");
    terminal.meets("Stop", 1);
    lab.until_in(A_MINUTE, "the schedule's prompt", || lab.events("UserPromptSubmit").len() >= 2);
    terminal.sees("model requests 3/3");
    assert_eq!(lab.api.requests_of("MAIN").len(), 3, "{}", lab.story());
    failed(&lab, "main");
}

#[test]
fn a_schedules_prompts_use_the_runs_requests() {
    scheduled("say hello");
}

/// The client cuts such a prompt in its list of schedules at a stop.
#[test]
fn a_schedules_long_prompts_use_the_runs_requests() {
    scheduled(&format!("say hello {}", "and hello ".repeat(150)));
}

#[test]
fn an_autonomous_loops_prompts_use_the_runs_requests() {
    scheduled("<<autonomous-loop>>");
}

#[test]
fn an_agents_notifications_use_its_own_requests() {
    let slow = background_bash("sleep 2; echo slow");
    let helper = child("CHILD-A", [call([slow]), say("child A waits")]).forever();
    let main = main([call([in_background(agent("CHILD-A"))]), say("main waits")]).forever();
    let lab = Lab::new(json!({"agents": {"*": requests(4)}}), vec![helper, main]);
    lab.claude("MAIN start", &[]);
    assert!(lab.api.requests_of("CHILD-A").len() <= 5, "{}", lab.story());
}
