//! How many agents there are, how many at once and how deep: counted by what really ran.

use std::thread;

use fusebox::install::client_versions::Feature;
use serde_json::{Value, json};

use crate::lab::{Lab, Run};
use crate::script::{
    Step, Tool, agent, agent_of, bash, call, child, in_background, load_send_message, main, named, say,
    send_message_to, tool, work,
};
use crate::version::has;

/// Says `here`, and waits until so many have: nobody gets past it unless they are at work at the same time.
fn meeting(here: &str, many: usize) -> Tool {
    bash(&format!(
        "mkdir -p met; touch met/{here}; until [ $(ls met | wc -l) -ge {many} ]; do sleep 0.1; done; echo met"
    ))
}

/// Waits for a file that another agent makes.
fn waiting(file: &str) -> Tool {
    bash(&format!("until [ -e {file} ]; do sleep 0.1; done; echo seen"))
}

fn crowd(prompt: &str) -> Step {
    call((1..=8).map(|number| in_background(agent(&format!("{prompt}-{number} work")))))
}

/// Compares with what the client itself counted of the agents that it started: all, how deep, by agents.
fn assert_started(run: &Run, wanted: [usize; 3]) {
    if has(Feature::AgentCounts) {
        let stats = &run.result["subagent_stats"];
        let counted = ["spawned", "max_depth", "spawned_by_subagents"].map(|count| stats[count].clone());
        assert_eq!(counted, wanted.map(|count| json!(count)));
    }
}

#[test]
fn eight_agents_that_spawn_eight_each_are_five_at_once_and_one_deep() {
    let policy = json!({"session": {"max_parallel_subagents": 5, "max_delegation_depth": 1}});
    let spawner = child("CHILD", [crowd("GRAND"), call([meeting("$N", 5)]), say("child done")]).each();
    let lab = Lab::new(
        policy,
        vec![
            child("GRAND", [call([work()])]).forever(),
            spawner,
            main([crowd("CHILD"), say("main waits"), crowd("CHILD-AGAIN"), say("main waits")]).forever(),
        ],
    );
    let run = lab.claude("MAIN start", &[]);
    assert_eq!(lab.api.most_at_once("CHILD"), 5, "{}", lab.story());
    assert!(lab.api.requests_of("GRAND").is_empty());
    let began = lab.events("SubagentStart").len();
    // The slots of those that had ended were free again.
    assert!(began > 5, "{began}");
    assert_started(&run, [began, 1, 0]);
    let runs = lab.runs();
    let of_agents: Vec<&Value> = runs.iter().filter(|run| run["depth"] != 0).collect();
    assert_eq!(of_agents.len(), began);
    assert!(of_agents.iter().all(|run| run["depth"] == 1 && run["status"] == "completed"), "{of_agents:#?}");
    let read = lab.api.told("CHILD");
    assert_eq!(read.matches("Execution limit exceeded: [max_delegation_depth]").count(), 8, "{read}");
    let second = lab.api.requests_of("MAIN")[1]["messages"].to_string();
    assert_eq!(
        second.matches("subagents at once of the whole session 5/5 (max_parallel_subagents").count(),
        3,
        "{second}"
    );
}

#[test]
fn in_one_message_no_more_start_than_have_room() {
    let worker = child("CHILD", [call([meeting("$N", 2)]), say("child done")]).each();
    let three = call(["CHILD-1", "CHILD-2", "CHILD-3"].map(agent));
    let main = main([three, call([agent("CHILD-4")]), say("main finished")]);
    let lab = Lab::new(json!({"session": {"max_parallel_subagents": 2}}), vec![worker, main]);
    let run = lab.claude("MAIN start", &[]);
    assert_eq!(run.text(), "main finished");
    assert_eq!(lab.api.most_at_once("CHILD"), 2);
    assert_started(&run, [3, 1, 0]);
    let told = lab.api.told("MAIN");
    assert_eq!(told.matches("parallel subagent limit reached").count(), 1, "{told}");
}

#[test]
fn a_session_starts_so_many_agents_and_a_start_that_fails_is_none() {
    let worker = child("CHILD", [call([work()]), say("child done")]).each();
    let main = main([
        call([agent_of("no-such-type", "CHILD-0")]),
        call(["CHILD-1", "CHILD-2", "CHILD-3"].map(agent)),
        call([agent("CHILD-4")]),
        call([work()]),
        say("main finished"),
    ]);
    let policy = json!({"session": {"max_subagents": 2, "max_parallel_subagents": 2}});
    let lab = Lab::new(policy, vec![worker, main]);
    let run = lab.claude("MAIN start", &[]);
    assert_eq!(run.text(), "main finished");
    assert_eq!((lab.events("SubagentStart").len(), lab.ran().len()), (2, 3));
    assert_started(&run, [2, 1, 0]);
    let told = lab.api.told("MAIN");
    assert!(told.contains("subagents of the whole session 2/2 (max_subagents"), "{told}");
    assert!(told.contains("This agent can do the work itself"), "{told}");
    assert_eq!(lab.run_of("main")["status"], "completed");
}

#[test]
fn a_slot_is_free_again_after_a_start_that_failed_or_was_refused() {
    let policy = json!({"session": {"max_parallel_subagents": 1, "max_delegation_depth": 1}});
    let worker = child("CHILD", [call([agent("GRAND-1")]), call([work()]), say("child done")]).each();
    let steps = [
        call([agent_of("no-such-type", "CHILD-0")]),
        call([agent("CHILD-1")]),
        call([agent("CHILD-2")]),
        say("main finished"),
    ];
    let lab = Lab::new(policy, vec![worker, main(steps)]);
    let run = lab.claude("MAIN start", &[]);
    assert_eq!(run.text(), "main finished");
    assert_eq!(lab.events("SubagentStart").len(), 2);
    assert_eq!(lab.ran().len(), 2);
    let told = lab.api.told("MAIN");
    assert!(!told.contains("max_parallel_subagents"), "{told}");
}

#[test]
fn a_message_that_wakes_an_agent_counts_as_a_start() {
    let first = child("CHILD-A", [say("child A done"), call([work()]), say("child A again")]);
    let second = child("CHILD-B", [call([waiting("go")]), say("child B done")]);
    let main = main([
        call([load_send_message(), named("helper", agent("CHILD-A"))]),
        call([in_background(agent("CHILD-B"))]),
        call([send_message_to("helper")]),
        say("main waits"),
        call([send_message_to("helper")]),
        say("main waits"),
        say("main finished"),
    ]);
    let lab = Lab::new(json!({"session": {"max_parallel_subagents": 1}}), vec![first, second, main]);
    let run = thread::scope(|scope| {
        let run = scope.spawn(|| lab.claude("MAIN start", &[]));
        lab.until("main's wait", || !lab.events("Stop").is_empty());
        lab.write("go", "");
        run.join().unwrap()
    });
    assert_eq!(run.text(), "main finished", "{}", lab.story());
    let told = lab.api.told("MAIN");
    assert_eq!(told.matches("parallel subagent limit reached").count(), 1, "{told}");
    assert!(told.contains("child A again"), "{told}");
    assert_eq!(lab.events("SubagentStart").len(), 3);
    assert_eq!(lab.api.most_at_once("CHILD-B"), 1);
    let woken = lab.api.requests_of("CHILD-A").len();
    assert_eq!(woken, 3);
}

/// A workflow that starts these agents one after another.
fn workflow(prompts: &[&str]) -> Tool {
    let agents: Vec<String> = prompts.iter().map(|prompt| format!("await agent('{prompt}');")).collect();
    let meta = "export const meta = { name: 'w', description: 'd', phases: [{ title: 'one' }] };\nphase('one');";
    tool("Workflow", json!({"script": format!("{meta}\n{}\nreturn 1;", agents.join("\n"))}))
}

#[test]
fn a_workflow_that_may_start_no_agent_is_refused() {
    let main = main([call([workflow(&["CHILD one"])]), say("main finished")]);
    let limits = json!({"session": {"max_delegation_depth": 0}});
    let lab = Lab::new(limits, vec![child("CHILD", [say("child done")]).each(), main]);
    assert_eq!(lab.claude("MAIN start", &[]).code, Some(0));
    assert!(lab.api.told("MAIN").contains("delegation depth limit reached"), "{}", lab.api.told("MAIN"));
    assert_eq!(lab.api.requests_of("CHILD").len(), 0);
}

/// How many agents a workflow starts its call does not tell: they are met when they are there, and get to ask, not to do.
#[test]
fn of_a_workflows_agents_those_beyond_the_cap_are_stopped_at_their_first_call() {
    let works = child("CHILD", [call([work()]), say("child done")]).each();
    let main = main([call([workflow(&["CHILD one", "CHILD two"])]), say("main waits"), say("main finished")]);
    let lab = Lab::new(json!({"session": {"max_subagents": 1}}), vec![works, main]);
    assert_eq!(lab.claude("MAIN start", &[]).code, Some(0));
    assert_eq!(lab.ran().len(), 1, "{:?}", lab.ran());
    let runs = lab.runs();
    let of_workflow = runs.iter().filter(|run| run["agent_type"] == "workflow-subagent");
    let reasons: Vec<&serde_json::Value> = of_workflow.map(|run| &run["stop_reason"]).collect();
    assert_eq!(reasons.len(), 2, "{runs:?}");
    assert_eq!(reasons.iter().filter(|reason| **reason == "subagent_limit_reached").count(), 1, "{reasons:?}");
}

#[test]
fn a_skill_in_an_agent_of_its_own_that_may_start_none_is_refused() {
    let main = main([call([tool("Skill", json!({"skill": "helper"}))]), say("main finished")]);
    let limits = json!({"session": {"max_delegation_depth": 0}});
    let lab = Lab::new(limits, vec![child("CHILD", [say("child done")]).each(), main]);
    let skill = "---\nname: helper\ndescription: helps\ncontext: fork\n---\nCHILD please\n";
    lab.write(".claude/skills/helper/SKILL.md", skill);
    assert_eq!(lab.claude("MAIN start", &[]).code, Some(0));
    assert!(lab.api.told("MAIN").contains("delegation depth limit reached"), "{}", lab.api.told("MAIN"));
    assert_eq!(lab.api.requests_of("CHILD").len(), 0);
}
