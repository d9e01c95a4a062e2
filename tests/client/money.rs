//! Budgets of models, of single requests, and of all sessions together.

use std::thread;
use std::time::Duration;

use fusebox::install::client_versions::Feature;
use fusebox::store::Store;
use serde_json::{Value, json};

use crate::lab::{Lab, Run};
use crate::script::{Step, agent, by_model, call, child, main, say, work};
use crate::terminal::Terminal;
use crate::version::{lacks, request_usd, usd};

/// A response of the model that agents are given here costs half of main's.
const SONNET: &str = "sonnet";

fn money() -> Value {
    json!({"grace_turns": 0, "timeout_action": "terminate"})
}

fn with(mut limits: Value, more: &Value) -> Value {
    limits.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    limits
}

/// Lets a subagent of each model spend on under `limits`; returns how many requests the costly and the cheap one made.
fn spenders(limits: &Value) -> (Lab, [usize; 2]) {
    let policy = json!({"agents": {"*": with(money(), limits)}});
    let costly = child("COSTLY", [call([work()])]).forever();
    let mut cheap: Vec<_> = (0..7).map(|_| call([work()])).collect();
    cheap.push(say("cheap done"));
    let both = call([by_model("opus", agent("COSTLY work")), by_model(SONNET, agent("CHEAP work"))]);
    let lab = Lab::new(policy, vec![costly, child("CHEAP", cheap), main([both, say("main finished")])]);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    let models = ["COSTLY", "CHEAP"].map(|mark| lab.api.requests_of(mark)[0]["model"].to_string());
    assert!(models[0].contains("opus") && models[1].contains("sonnet"), "{models:?}");
    let made = ["COSTLY", "CHEAP"].map(|mark| lab.api.requests_of(mark).len());
    (lab, made)
}

#[test]
fn planning_models_have_a_budget_of_their_own() {
    let (lab, made) = spenders(&json!({"max_planning_cost_usd": usd(0.02), "max_turns": null}));
    assert_eq!(made[0], 3);
    assert_eq!(made[1], 8);
    let told = lab.api.told("MAIN");
    assert!(told.contains("planning cost budget exhausted"), "{told}");
    assert!(told.contains("cheap done"), "{told}");
    assert_eq!(lab.logged("AGENT_FAILED").len(), 1);
}

#[test]
fn execution_models_have_a_budget_of_their_own() {
    let policy = json!({"agents": {"*": with(money(), &json!({"max_execution_cost_usd": usd(0.02)}))}});
    let costly = child("COSTLY", [call([work()])]).forever();
    let cheap = child("CHEAP", [call([work()]), call([work()]), call([work()]), call([work()]), say("cheap done")]);
    let both = call([by_model("opus", agent("COSTLY work")), by_model(SONNET, agent("CHEAP work"))]);
    let lab = Lab::new(policy, vec![costly, cheap, main([both, say("main finished")])]);
    // Which models plan is the user's to say.
    lab.write_home(".claude/fusebox.json", r#"{"roles": {"planning": ["*sonnet*"]}}"#);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    assert_eq!(["COSTLY", "CHEAP"].map(|mark| lab.api.requests_of(mark).len()), [3, 5]);
    let told = lab.api.told("MAIN");
    assert!(told.contains("execution cost budget exhausted") && told.contains("cheap done"), "{told}");
}

#[test]
fn a_model_has_a_budget_beside_the_others() {
    let (lab, made) =
        spenders(&json!({"models": {"*sonnet*": {"max_cost_usd": 0.01}, "*opus*": {"max_tokens": 5200}}}));
    // Each response counts 1030 tokens.
    assert_eq!(made, [5, 3]);
    let told = lab.api.told("MAIN");
    assert!(told.contains("on models like `*sonnet*`"), "{told}");
    assert!(told.contains("[models.*opus*.max_tokens]"), "{told}");
    let reasons: Vec<Value> = lab.logged("AGENT_FAILED").iter().map(|record| record["stop_reason"].clone()).collect();
    assert_eq!(reasons.len(), 2, "{reasons:?}");
}

/// Lets main make a response of the given size between others; nothing runs after it.
fn one_large(limits: &Value, large: fn(Step) -> Step) -> Lab {
    // The client is late with its transcript where everything comes at once.
    let steps = [call([work()]), large(call([work()])), call([work()]).slowly(Duration::from_millis(100))];
    let lab = Lab::new(json!({"main": with(money(), limits)}), vec![main(steps).forever()]);
    assert_eq!(lab.claude("MAIN start", &[]).code, Some(0));
    let run = lab.run_of("main");
    assert_eq!((&run["status"], &run["stop_reason"]), (&json!("failed"), &json!("token_budget_exhausted")));
    // Its own call is refused where the transcript has it in time.
    assert!((1..=2).contains(&lab.ran().len()), "{}", lab.story());
    assert!(lab.api.requests().len() <= 3);
    lab
}

#[test]
fn a_completion_that_is_too_long_ends_the_run_at_once() {
    let lab = one_large(&json!({"max_tokens_per_turn": 500}), |step| step.output(501));
    let record = &lab.logged("AGENT_FAILED")[0];
    assert_eq!(record["limit"], "max_tokens_per_turn");
    assert!(record["error"].to_string().contains("max_tokens_per_turn"), "{record}");
}

#[test]
fn a_prompt_that_is_too_long_ends_the_run_at_once() {
    let lab = one_large(&json!({"max_context_tokens": 90_000}), |step| step.cached(90_000));
    assert_eq!(lab.logged("AGENT_FAILED")[0]["limit"], "max_context_tokens");
}

#[test]
fn a_completion_and_a_prompt_just_inside_pass() {
    let steps = [call([work()]).output(500).cached(88_990), say("main finished")];
    let limits = json!({"max_tokens_per_turn": 500, "max_context_tokens": 90_000});
    let lab = Lab::new(json!({"main": with(money(), &limits)}), vec![main(steps)]);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "main finished");
    assert_eq!(lab.run_of("main")["status"], "completed");
}

/// A lab with two repositories and a budget for ten requests.
fn with_budget(scope: &str, limit: &str, steps: impl IntoIterator<Item = Step>) -> Lab {
    let lab = Lab::without_fusebox(vec![main(steps).forever()]);
    let budget = json!({limit: 10.0 * request_usd() + 0.001, "timeout_action": "terminate"});
    let policy = json!({scope: budget, "session": {"grace_turns": 0}});
    lab.write_home(".claude/fusebox.json", &policy.to_string());
    lab.must(&["init", "--scope", "user"]);
    lab
}

fn spent(lab: &Lab) -> f64 {
    let report: Value = serde_json::from_str(&lab.must(&["report", "--by", "day", "--json"])).unwrap();
    let days = report["days"].as_array().unwrap();
    days.iter().map(|day| day["cost_usd"].as_str().unwrap().parse::<f64>().unwrap()).sum()
}

#[test]
fn a_users_day_is_shared_by_three_sessions_in_two_repositories() {
    let lab = with_budget("user", "max_cost_usd_per_day", [call([work()])]);
    lab.api.wait_for(3);
    let runs: Vec<Run> = thread::scope(|scope| {
        let here = [(); 2].map(|()| scope.spawn(|| lab.claude("MAIN start", &[])));
        let there = scope.spawn(|| lab.claude_in_the_other("MAIN start"));
        here.into_iter().chain([there]).map(|client| client.join().unwrap()).collect()
    });
    let made = lab.api.requests().len();
    // What each of the others may still have in flight is held back, so the last slots may stay unused.
    assert!((8..=10).contains(&made), "{made} requests");
    let total: f64 = runs.iter().map(Run::usd).sum();
    assert!((total - made as f64 * request_usd()).abs() < 1e-9, "{total}");
    assert!((spent(&lab) - total).abs() < 5e-7, "{} instead of {total}", spent(&lab));
    let stopped: Vec<Value> = lab.runs().iter().map(|run| run["status"].clone()).collect();
    assert_eq!(stopped, [(); 3].map(|()| json!("failed")));

    for fourth in [lab.claude("MAIN start", &[]), lab.claude_in_the_other("MAIN start")] {
        assert!(fourth.text().contains("user budget has no room"), "{}", fourth.text());
        assert!(fourth.text().contains("max_cost_usd_per_day"), "{}", fourth.text());
        assert!(fourth.text().contains(" until 20"), "it says when: {}", fourth.text());
    }
    assert_eq!(lab.api.requests().len(), made);
}

#[test]
fn a_repositorys_week_is_its_own() {
    let lab = with_budget("project", "max_cost_usd_per_week", [call([work()])]);
    lab.claude("MAIN start", &[]);
    assert_eq!(lab.api.requests().len(), 10);
    let second = lab.claude("MAIN start", &[]);
    assert!(second.text().contains("project budget has no room"), "{}", second.text());
    assert!(second.text().contains("max_cost_usd_per_week"), "{}", second.text());
    lab.claude_in_the_other("MAIN start");
    assert_eq!(lab.api.requests().len(), 20);
}

#[test]
fn a_users_month_ends_a_session_and_keeps_the_next_prompt_back() {
    let lab = with_budget("user", "max_cost_usd_per_month", [call([work()])]);
    lab.claude("MAIN start", &[]);
    assert_eq!(lab.api.requests().len(), 10);
    assert_eq!(lab.run_of("main")["trips"][0]["limit"], "max_cost_usd_per_month");
    let second = lab.claude_in_the_other("MAIN start");
    assert!(second.text().contains("max_cost_usd_per_month"), "{}", second.text());
    assert!(second.text().contains(" USD until 20") && second.text().contains("-01 + "), "{}", second.text());
    assert_eq!(lab.api.requests().len(), 10);
}

#[test]
fn a_person_grants_a_day_more() {
    let lab = with_budget("user", "max_cost_usd_per_day", [call([work()])]);
    let first = lab.claude("MAIN start", &[]);
    let again = lab.claude("go on", &["--resume", first.session()]);
    assert!(again.text().contains("fusebox grant user max_cost_usd_per_day=+"), "{}", again.text());
    assert_eq!(lab.api.requests().len(), 10);
    lab.must(&["grant", "user", &format!("max_cost_usd_per_day=+{}", 2.0 * request_usd())]);
    lab.claude("go on", &["--resume", first.session()]);
    assert_eq!(lab.api.requests().len(), 12);
}

#[test]
fn a_forks_history_is_charged_once() {
    let four = (0..3).map(|_| call([work()])).chain([say("first done")]);
    let lab = with_budget("user", "max_cost_usd_per_day", four.chain([say("forked once"), say("forked twice")]));
    let first = lab.claude("MAIN start", &[]);
    assert_eq!(first.text(), "first done");
    let fork = lab.claude("go another way", &["--resume", first.session(), "--fork-session"]);
    assert_eq!(fork.text(), "forked once");
    // With the history charged again, this one would not fit.
    let twice = lab.claude("and another", &["--resume", fork.session(), "--fork-session"]);
    assert_eq!(twice.text(), "forked twice");
    assert!((spent(&lab) - 6.0 * request_usd()).abs() < 5e-7, "{}", spent(&lab));
}

#[test]
fn the_model_that_a_person_chooses_is_the_one_that_is_held_for() {
    if lacks(Feature::ModelSwitches) {
        return;
    }
    let lab = Lab::new(json!({}), vec![main([say("done")]).forever()]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.sees("done");
    terminal.types("/model haiku");
    terminal.presses_for("Enter", "Set model to");
    let chosen = || {
        let store = Store::open_for(&lab.state(), None).unwrap();
        store.open_sessions().unwrap().into_iter().find_map(|session| session.client_start.model)
    };
    lab.until("the model that was chosen", || chosen().is_some_and(|model| model.contains("haiku")));
}
