//! Numbers agree: whoever tells of a trip tells the same figures, in a message, in `status`, `explain`, `log` and `report`.

use fusebox::domain::limit::Limit;
use fusebox::wire::messages::{Ahead, ahead_of_trip};
use serde_json::{Value, json};

use crate::session_commands::fixture::{Actor, Fixture};
use crate::session_commands::next_steps::{Case, cases, commands, shell};

/// Returns the trip that holds a fixture, as the log has it for programs.
fn trip(text: &str) -> Option<Value> {
    let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut stops = records.filter(|it| ["AGENT_FAILED", "AGENT_PAUSED"].iter().any(|kind| it["event"] == *kind));
    stops.next()
}

/// Returns how people write an amount of a limit.
fn shown(limit: &str, value: &Value) -> String {
    let limit = Limit::find(limit).unwrap();
    fusebox::wire::messages::bare(limit, limit.base(value.as_f64().unwrap()).unwrap())
}

/// Returns what a text says otherwise: figures of a cap that are in no record. Bars show the moment.
fn otherwise(text: &str, (known, cap): (&[String], &str)) -> Vec<String> {
    let flat = text.lines().filter(|line| !line.contains('[') && !line.contains(" -> ")).collect::<Vec<_>>().join(" ");
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_end = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let of_cap = format!("/{cap}");
    let all = flat.match_indices(&of_cap).filter(|(at, it)| is_end(&flat[at + it.len()..]));
    let before = all.map(|(at, _)| flat[..at].rsplit([' ', '(']).next().unwrap_or_default().to_owned());
    before.filter(|figure| !known.contains(figure) && figure.parse::<f64>().is_ok()).collect()
}

/// Returns what people are shown of the client's answers. Agents are told how they stand, at every call anew.
fn shown_to_people(answers: &str) -> String {
    let answers = serde_json::Deserializer::from_str(answers).into_iter::<Value>().map(Result::unwrap);
    let shown = |it: Value| {
        ["systemMessage", "stopReason", "reason"].map(|key| it[key].as_str().unwrap_or_default().to_owned())
    };
    answers.flat_map(shown).map(|text| text + "\n").collect()
}

fn wrong(case: &Case) -> Vec<String> {
    let fixture = case.held();
    let log = shell(&fixture, "fusebox log --json");
    let Some(trip) = trip(&log) else { return vec![format!("{case:?}: no trip")] };
    let limit = trip["limit"].as_str().unwrap();
    let (used, cap) = (shown(limit, &trip["used"]), shown(limit, &trip["cap"]));
    // A warning before it and a prompt that is blocked after it are events of their own.
    let records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let known: Vec<String> = records.filter(|it| it["limit"] == limit).map(|it| shown(limit, &it["used"])).collect();
    let kind = Limit::find(limit).unwrap();
    let [of_used, of_cap, of_ahead] =
        ["used", "cap", "ahead"].map(|key| kind.base(trip[key].as_f64().unwrap_or(0.0)).unwrap());
    let requests = trip["requests_ahead"].as_u64().unwrap_or(0);
    let ahead = ahead_of_trip(kind, of_used, of_cap, Ahead { amount: of_ahead, requests });
    let places = [
        ("log", "fusebox log".to_owned()),
        ("status", "fusebox status --all".to_owned()),
        ("explain", case.explain()),
        ("report", "fusebox report".to_owned()),
    ];
    let mut wrong = Vec::new();
    let said = places.iter().map(|(place, command)| (*place, shell(&fixture, command)));
    for (place, text) in said.chain([("what is shown", shown_to_people(&fixture.answers()))]) {
        wrong.extend(
            otherwise(&text, (&known, &cap))
                .into_iter()
                .map(|figure| format!("{case:?}: {place} says {figure}/{cap}, and the trip {used}/{cap}:\n{text}")),
        );
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if place != "report" && !flat.contains(&ahead) {
            wrong.push(format!("{case:?}: {place} does not say{ahead}:\n{text}"));
        }
    }
    wrong
}

#[test]
fn whoever_tells_of_a_trip_tells_the_same_figures() {
    let wrong: Vec<String> = cases().iter().flat_map(wrong).collect();
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the grants that a text names, each once.
fn grants(text: &str) -> Vec<String> {
    let mut grants: Vec<String> = commands(text).into_iter().filter(|it| it.starts_with("fusebox grant")).collect();
    grants.sort();
    grants.dedup();
    grants
}

#[test]
fn what_is_spent_after_a_stop_is_said_to_be_of_now_and_every_offer_covers_it() {
    let mut fixture = Fixture::new();
    let rules = json!({"max_cost_usd": 0.09, "timeout_action": "terminate", "warn_at": []});
    fixture.world.write("home/.claude/fusebox.json", json!({"session": rules}).to_string());
    std::os::unix::fs::symlink(crate::world::FUSEBOX, fixture.world.path("bin/fusebox")).unwrap();
    fixture.begin();
    assert!((0..30).any(|_| !fixture.step(Actor::Main)), "nothing trips");
    let trip = trip(&shell(&fixture, "fusebox log --json")).unwrap();
    let used = shown("max_cost_usd", &trip["used"]);
    // What was under way when it was stopped, and far more than the cap.
    for _ in 0..60 {
        fixture.responds(Actor::Main);
    }
    fixture.step(Actor::Main);
    let status = shell(&fixture, "fusebox status");
    let bar = status.lines().find(|line| line.contains("[#")).unwrap();
    let figures = bar.split_whitespace().filter_map(|word| word.split_once('/'));
    let now = figures.map(|it| it.0).find(|it| it.parse::<f64>().is_ok_and(|now| now > 0.2)).expect(&status);
    let flat = status.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(&format!(" {used}/0.0900 USD")) && flat.contains(&format!("; {now} USD now")), "{status}");
    let explained = shell(&fixture, "fusebox explain");
    assert_eq!(grants(&explained), grants(&status), "{explained}\n{status}");
    let [grant] = &grants(&status)[..] else { panic!("{status}") };
    let more: f64 = grant.rsplit("=+").next().unwrap().parse().unwrap();
    let cap = 0.09 + more;
    let spent: f64 = now.parse().unwrap();
    assert!(cap > spent && cap < spent + 3.0 * 0.045, "{grant}: {spent} is spent");
    fixture.stops();
    assert!(!fixture.prompt());
    let answers = fixture.answers();
    assert!(answers.contains("of it is spent already"), "{answers}");
    assert!(shell(&fixture, grant).ends_with("[exit 0]"));
    assert!(fixture.prompt() && fixture.step(Actor::Main), "{grant}");
}
