//! A cost cap holds before the next request, and what Fusebox reports is what the client bills.

use std::time::Duration;

use fusebox::install::client_versions::{self, Feature};
use fusebox::pricing::table::{EMBEDDED, SOURCE};
use serde_json::{Value, json};

use crate::lab::{Lab, Run};
use crate::script::{Script, agent, agent_of, call, child, in_background, main, say, tool, work};
use crate::version::{has, lacks, request_usd, skip, usd, version};

/// Room for three requests of 0.00584, not for four.
fn capped(grace: u64) -> Value {
    json!({"main": {"max_cost_usd": usd(0.02), "grace_turns": grace, "timeout_action": "terminate"}})
}

fn spends_on() -> Script {
    main([call([work()]).slowly(Duration::from_millis(250))]).forever()
}

fn assert_usd(run: &Run, requests: usize) {
    let wanted = requests as f64 * request_usd();
    assert!((run.usd() - wanted).abs() < 1e-9, "{} instead of {wanted}", run.usd());
}

/// Compares a session's `cost_usd` with the client's own total, to the sixth decimal.
fn assert_billed(report: &Value, run: &Run) {
    let sessions = report["sessions"].as_array().unwrap();
    let session = sessions.iter().find(|session| session["session_id"] == run.session()).unwrap();
    let ours: f64 = session["cost_usd"].as_str().unwrap().parse().unwrap();
    assert!((ours - run.usd()).abs() < 5e-7, "ours {ours}, the client's {}", run.usd());
}

fn report(lab: &Lab) -> Value {
    serde_json::from_str(&lab.must(&["report", "--json"])).unwrap()
}

fn new_usd(report: &Value) -> f64 {
    let sessions = report["sessions"].as_array().unwrap();
    sessions.iter().map(|session| session["new_cost_usd"].as_str().unwrap().parse::<f64>().unwrap()).sum()
}

/// A response of each model of the table, with a prompt that is written to the cache, read from it, or neither.
#[test]
fn every_model_costs_what_the_client_bills() {
    if version() < client_versions::version(SOURCE).unwrap() {
        return skip("the table is a later client's");
    }
    for (model, _) in &EMBEDDED {
        let answer = say("done").cached(41_017).output(7_013);
        let lab = Lab::new(json!({}), vec![main([answer])]);
        let run = lab.claude("start", &["--model", model]);
        assert!(run.usd() > 0.0, "{model}");
        let ours = new_usd(&report(&lab));
        assert!((ours - run.usd()).abs() < 5e-7, "{model}: ours {ours}, the client's {}", run.usd());
    }
}

#[test]
fn a_slow_response_is_charged_before_the_next_request() {
    let lab = Lab::new(capped(0), vec![spends_on()]);
    let run = lab.claude("start", &[]);
    assert_usd(&run, 3);
    assert_eq!(lab.run_of("main")["stop_reason"], "cost_budget_exhausted");
}

#[test]
fn a_grace_turn_is_inside_the_cap() {
    let steps = [call([work()]).slowly(Duration::from_millis(250)), call([work()]), say("REPORT: half done")];
    let lab = Lab::new(capped(1), vec![main(steps)]);
    let run = lab.claude("start", &[]);
    assert_usd(&run, 3);
    assert_eq!(run.text(), "REPORT: half done");
    assert_eq!(lab.ran().len(), 2);
}

#[test]
fn an_agent_that_spends_its_grace_on_tools_stays_inside_too() {
    let lab = Lab::new(capped(1), vec![spends_on()]);
    let run = lab.claude("start", &[]);
    assert!(run.usd() <= usd(0.02), "{}", run.usd());
}

/// Each response counts 1030 tokens: 10 in, 20 out, 1000 written to the cache.
#[test]
fn requests_and_tokens_are_bounded_before_the_next_request_too() {
    for (limit, cap) in [("max_requests", json!(3)), ("max_tokens", json!(4000))] {
        let lab =
            Lab::new(json!({"main": {limit: cap, "grace_turns": 0, "timeout_action": "terminate"}}), vec![spends_on()]);
        lab.claude("start", &[]);
        assert_eq!(lab.api.requests().len(), 3, "{limit}");
    }
}

#[test]
fn the_clients_own_flag_overshoots() {
    let lab = Lab::without_fusebox(vec![spends_on()]);
    let run = lab.claude("start", &["--max-budget-usd", &usd(0.02).to_string()]);
    assert_usd(&run, 4);
    assert_eq!(run.result["subtype"], "error_max_budget_usd");
}

#[test]
fn a_subagents_cap_holds_and_its_parent_is_told() {
    let policy = json!({"agents": {"*": {"max_cost_usd": usd(0.02), "grace_turns": 0, "timeout_action": "terminate"}}});
    let child = child("CHILD-A", [call([work()]).slowly(Duration::from_millis(100))]).forever();
    let lab = Lab::new(policy, vec![child, main([call([agent("CHILD-A spend")]), say("main finished")])]);
    let run = lab.claude("start", &[]);
    assert_eq!(run.text(), "main finished");
    assert_eq!(lab.api.requests_of("CHILD-A").len(), 3);
    assert!(lab.api.requests().last().unwrap()["messages"].to_string().contains("max_cost_usd"));
    if has(Feature::WholeUsage) {
        assert_billed(&report(&lab), &run);
    }
}

#[test]
fn the_report_agrees_with_the_client_over_subagents_resume_and_fork() {
    let lab = Lab::new(
        json!({}),
        vec![
            child("CHILD-A", [call([work()]), say("child A done")]),
            child("CHILD-B", [call([work()]), call([work()]), say("child B done")]),
            main([
                call([agent("CHILD-A work"), in_background(agent("CHILD-B work"))]),
                say("main waits"),
                say("main was told"),
                say("resumed"),
                call([work()]),
                say("forked"),
            ]),
        ],
    );
    let first = lab.claude("start", &[]);
    let session = first.session();
    assert_billed(&report(&lab), &first);
    let resumed = lab.claude("go on", &["--resume", session]);
    assert_eq!(resumed.session(), session);
    if has(Feature::OneTotal) {
        assert_billed(&report(&lab), &resumed);
    }
    let forked = lab.claude("go another way", &["--resume", session, "--fork-session"]);
    assert_ne!(forked.session(), session);
    let report = report(&lab);
    if has(Feature::OneTotal) {
        assert_billed(&report, &forked);
    }
    let spent = lab.api.requests().len() as f64 * request_usd();
    assert!((new_usd(&report) - spent).abs() < 5e-7, "new {}, spent {spent}", new_usd(&report));
}

#[test]
fn agents_that_come_another_way_are_billed_once() {
    if lacks(Feature::Forks) {
        return;
    }
    let workflow = "export const meta = { name: 'w', description: 'd', phases: [{ title: 'one' }] };\nphase('one');\n\
                    return await parallel([() => agent('CHILD-A one'), () => agent('CHILD-A two')]);";
    let child =
        child("CHILD-A", [call([work()]), call([work()]), say("done"), say("done"), call([work()]), say("done")]);
    let main = main([
        call([tool("Workflow", json!({"script": workflow}))]),
        say("main waits"),
        call([tool("Skill", json!({"skill": "helper"}))]),
        call([agent_of("fork", "carry on")]),
        call([work()]),
        say("the fork is done"),
        say("main finished"),
    ]);
    let lab = Lab::new(json!({}), vec![child, main]);
    let skill = "---\nname: helper\ndescription: helps\ncontext: fork\n---\nCHILD-A please\n";
    lab.write(".claude/skills/helper/SKILL.md", skill);
    let run = lab.claude("start", &[]);
    assert_eq!(run.text(), "main finished");
    let report = report(&lab);
    assert_billed(&report, &run);
    let kinds = ["workflow-subagent", "workflow-subagent", "general-purpose", "fork"].map(Some);
    let mut wanted = kinds.to_vec();
    let runs = lab.runs();
    let mut found: Vec<_> = runs.iter().filter(|run| run["depth"] != 0).map(|run| run["agent_type"].as_str()).collect();
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted);
}

#[test]
fn a_cap_holds_where_a_gateway_counts_no_tokens() {
    let policy = json!({"session": {"max_cost_usd": 0.3, "grace_turns": 0, "timeout_action": "terminate"}});
    let steps = (0..20).map(|_| call([work()])).chain([say("done")]).map(|step| step.uncached(0).output(0));
    let lab = Lab::new(policy, vec![main(steps)]);
    let run = lab.claude("MAIN start", &[]);
    assert!(lab.api.requests().len() < 8, "{}", lab.story());
    assert!(lab.must(&["log"]).contains("say less than they can"), "{}", lab.story());
    assert!(lab.must(&["explain"]).contains("max_cost_usd"), "{}: {}", run.text(), lab.story());
}
