//! Numbers agree: whoever tells of a trip tells the same figures, in a message, in `status`, `explain`, `log` and `report`.

use fusebox::wire::messages::ahead_of_trip;
use serde_json::Value;

use crate::levers::next_steps::{Case, cases, shell};

/// Returns the trip that holds a scene, as the log has it for programs.
fn trip(text: &str) -> Option<Value> {
    let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut stops = records.filter(|it| ["AGENT_FAILED", "AGENT_PAUSED"].iter().any(|kind| it["event"] == *kind));
    stops.next()
}

/// Returns how people write an amount of a limit.
fn shown(limit: &str, value: &Value) -> String {
    let limit = fusebox::limits::find(limit).unwrap();
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
    let scene = case.held();
    let log = shell(&scene, "fusebox log --json");
    let Some(trip) = trip(&log) else { return vec![format!("{case:?}: no trip")] };
    let limit = trip["limit"].as_str().unwrap();
    let (used, cap) = (shown(limit, &trip["used"]), shown(limit, &trip["cap"]));
    // A warning before it and a prompt that is blocked after it are events of their own.
    let records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let known: Vec<String> = records.filter(|it| it["limit"] == limit).map(|it| shown(limit, &it["used"])).collect();
    let kind = fusebox::limits::find(limit).unwrap();
    let [of_used, of_cap, of_ahead] =
        ["used", "cap", "ahead"].map(|key| kind.base(trip[key].as_f64().unwrap_or(0.0)).unwrap());
    let ahead = ahead_of_trip(kind, of_used, of_cap, of_ahead);
    let places = [
        ("log", "fusebox log".to_owned()),
        ("status", "fusebox status --all".to_owned()),
        ("explain", case.explain()),
        ("report", "fusebox report".to_owned()),
    ];
    let mut wrong = Vec::new();
    let said = places.iter().map(|(place, command)| (*place, shell(&scene, command)));
    for (place, text) in said.chain([("what is shown", shown_to_people(&scene.answers()))]) {
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
