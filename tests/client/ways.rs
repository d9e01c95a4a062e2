//! The ways in which work goes on without a tool call, each against a cap on requests: what the API was really asked for.

use std::time::Duration;

use fusebox::install::client_versions::Feature;
use serde_json::{Value, json};

use crate::lab::Lab;
use crate::script::{
    Tool, agent, background_bash, bash, call, child, in_background, load_send_message, main, named, say,
    send_message_to, tool, work,
};
use crate::terminal::{DIALOG, Terminal};
use crate::version::{lacks, request_usd};

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
    // Main's turn is over by then: what comes earlier is told within the turn, and begins no other.
    let answer = say("child A done").slowly(Duration::from_millis(300));
    let helper = child("CHILD-A", [answer]).forever();
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

/// Why a person's commands are commands of a terminal, and none is typed as a prompt: what an agent has the client's schedule send
/// arrives as what a person types, and a hook that grants cannot wait for the transcript, which alone tells them apart.
#[test]
fn a_command_of_a_schedule_arrives_as_one_that_is_typed() {
    if lacks(Feature::BackgroundAgents) {
        return;
    }
    let cron: Tool = tool("CronCreate", json!({"cron": "* * * * *", "prompt": "/raise 9", "recurring": false}));
    let load = tool("ToolSearch", json!({"query": "select:CronCreate", "max_results": 5}));
    let lab = Lab::new(json!({}), vec![main([call([load]), call([cron]), say("main waits")]).forever()]);
    lab.write(".claude/commands/raise.md", "---\ndescription: more\n---\nMAIN is to have $ARGUMENTS more.\n");
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("MAIN start");
    terminal.meets("Stop", 1);
    terminal.types("/raise 9");
    let prompts = || {
        let commands = lab.events("UserPromptSubmit").into_iter().filter(|event| event["prompt"] == "/raise 9");
        commands.collect::<Vec<Value>>()
    };
    lab.until_in(A_MINUTE, "the schedule's prompt", || prompts().len() >= 2);
    let told: Vec<Value> = prompts()
        .into_iter()
        .map(|mut event| {
            // Each prompt has an id of its own, made at random.
            event.as_object_mut().unwrap().remove("prompt_id");
            event
        })
        .collect();
    assert_eq!(told[0], told[1]);
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

/// A budget of the day over all sessions, for so many requests.
fn budget_of(requests: usize) -> Value {
    let day = json!({"max_cost_usd_per_day": requests as f64 * request_usd() + 0.001, "timeout_action": "terminate"});
    json!({"user": day, "session": {"grace_turns": 0}})
}

#[test]
fn a_forks_history_counts_in_its_session_and_once_over_all() {
    let steps = || vec![main([call([work()]), say("first done"), call([work()])]).forever()];
    let fork = |lab: &Lab| {
        let first = lab.claude("MAIN start", &[]);
        let begun = lab.api.requests().len();
        let fork = lab.claude("go another way", &["--resume", first.session(), "--fork-session"]);
        (begun, lab.api.requests().len() - begun, fork)
    };
    // Its session has the two requests that were copied, and room for two more.
    let lab = Lab::new(json!({"session": requests(4)}), steps());
    let (begun, more, _) = fork(&lab);
    assert_eq!((begun, more), (2, 2), "{}", lab.story());
    // Its run has none of them.
    let lab = Lab::new(json!({"main": requests(4)}), steps());
    let (begun, more, _) = fork(&lab);
    assert_eq!((begun, more), (2, 4), "{}", lab.story());
    assert_eq!(lab.logged("AGENT_FAILED").len(), 1);
    // Over all sessions each counts once.
    let lab = Lab::without_fusebox(steps());
    lab.write_home(".claude/fusebox.json", &budget_of(5).to_string());
    lab.must(&["init"]);
    let (begun, more, _) = fork(&lab);
    assert_eq!((begun, more), (2, 3), "{}", lab.story());
}

#[test]
fn a_forks_calls_are_its_own() {
    let steps = vec![main([call([work()]), call([work()]), say("first done"), call([work()])]).forever()];
    let policy = json!({"session": {"max_turns": 3, "grace_turns": 0, "timeout_action": "terminate"}});
    let lab = Lab::new(policy, steps);
    let first = lab.claude("MAIN start", &[]);
    lab.claude("go another way", &["--resume", first.session(), "--fork-session"]);
    let status = lab.status();
    let turns: Vec<&Value> = status["sessions"].as_array().unwrap().iter().map(|session| &session["turns"]).collect();
    assert!(turns.contains(&&json!(2)) && turns.contains(&&json!(3)), "{turns:?} {}", lab.story());
    assert_eq!(lab.ran().len(), 5, "{}", lab.story());
}

#[test]
fn a_cleared_conversation_is_a_new_session_under_the_same_budgets() {
    let lab = Lab::without_fusebox(vec![
        main([call([work()]), say("main rests"), call([work()]), say("main rests")]).forever(),
    ]);
    let mut policy = budget_of(4);
    policy["session"]["max_requests"] = json!(3);
    policy["session"]["timeout_action"] = json!("terminate");
    lab.write_home(".claude/fusebox.json", &policy.to_string());
    lab.must(&["init"]);
    let terminal = Terminal::open(&lab, &[]);
    let rests = |times: usize| terminal.meets("Stop", times);
    terminal.types("MAIN start");
    rests(1);
    terminal.types("/clear");
    lab.until("the new session", || lab.events("SessionStart").iter().any(|event| event["source"] == "clear"));
    terminal.types("MAIN again");
    rests(2);
    // Its session has room for another, which the day has not.
    terminal.types("and again");
    terminal.sees("user budget has no room");
    assert_eq!(lab.api.requests().len(), 4, "{}", lab.story());
}

/// A branch begins with copies of what its conversation was answered, and is counted by itself.
#[test]
fn a_branch_in_a_terminal_is_no_client_that_asks_no_hook() {
    let lab = Lab::new(json!({}), vec![main([call([work()]), say("main rests")]).forever()]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("MAIN start");
    terminal.meets("Stop", 1);
    terminal.types("/branch");
    terminal.meets("SessionEnd", 1);
    terminal.meets("SessionStart", 2);
    terminal.types("MAIN go on");
    terminal.meets("Stop", 2);
    let notices = lab.logged("NOTICE");
    assert!(!notices.iter().any(|it| it["error"].to_string().contains("without asking Fusebox")), "{notices:?}");
}

#[test]
fn agents_of_workflows_and_skills_have_their_own_requests() {
    if lacks(Feature::Forks) {
        return;
    }
    let workflow = "export const meta = { name: 'w', description: 'd', phases: [{ title: 'one' }] };\nphase('one');\n\
                    return await agent('CHILD-A loop');";
    let child = |mark| child(mark, [call([work()])]).forever();
    let main = main([
        call([tool("Workflow", json!({"script": workflow}))]),
        say("main waits"),
        call([tool("Skill", json!({"skill": "helper"}))]),
        say("main finished"),
    ]);
    let lab = Lab::new(json!({"agents": {"*": requests(3)}}), vec![child("CHILD-A"), child("CHILD-B"), main]);
    lab.write(
        ".claude/skills/helper/SKILL.md",
        "---\nname: helper\ndescription: helps\ncontext: fork\n---\nCHILD-B loop\n",
    );
    let run = lab.claude("MAIN start", &[]);
    assert_eq!(run.text(), "main finished", "{}", lab.story());
    for mark in ["CHILD-A", "CHILD-B"] {
        assert_eq!(lab.api.requests_of(mark).len(), 3, "{mark} {}", lab.story());
    }
    failed(&lab, "workflow-subagent");
    failed(&lab, "general-purpose");
}

#[test]
fn a_dialog_that_is_left_open_holds_its_agent_and_no_other() {
    let asks = json!({"max_requests": 3, "timeout_action": "request_increase"});
    let helper =
        child("CHILD-A", [call([bash("sleep 0; python3 -c 'import time; time.sleep(1)'; echo $N")])]).forever();
    let main = main([call([in_background(agent("CHILD-A loop"))]), call([work()])]).forever();
    let lab = Lab::new(json!({"main": asks, "agents": {"*": requests(4)}}), vec![helper, main]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("MAIN start");
    terminal.sees(DIALOG);
    lab.until("the agent's end", || lab.runs().iter().any(|run| run["status"] == "failed"));
    assert_eq!(lab.api.requests_of("CHILD-A").len(), 4, "{}", lab.story());
    failed(&lab, "general-purpose");
    assert_eq!(lab.api.requests_of("MAIN").len(), 3, "{}", lab.story());
    assert_eq!(lab.run_of("main")["status"], "running");
}
