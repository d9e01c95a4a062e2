//! The numbers of a page, compared with those of `fusebox report --json`.

use std::collections::{BTreeMap, BTreeSet};

use fusebox::calendar::Zone;
use fusebox::domain::text::rfc3339;
use serde_json::Value;

/// The rows of a table, as the browser has them.
pub fn rows<'a>(page: &'a Value, table: &str) -> &'a Vec<Value> {
    page["tables"][table].as_array().unwrap_or_else(|| {
        panic!("no table {table}: {:?}", page["tables"].as_object().map(|it| it.keys().collect::<Vec<_>>()))
    })
}

/// Returns a number that a cell has exactly, after it has seen that what it shows is that number, rounded.
pub fn exact(cell: &Value) -> String {
    let (text, exact) = (cell["text"].as_str().unwrap(), cell["exact"].as_str().unwrap());
    let shown: String = text.chars().filter(|c| *c != ',').collect();
    if let Ok(number) = shown.parse::<f64>() {
        let digits = shown.split('.').nth(1).map_or(0, str::len) as i32;
        let off = (number - exact.parse::<f64>().unwrap()).abs();
        assert!(off <= 0.5000001 * 10_f64.powi(-digits), "{text} is shown for {exact}");
    } else {
        // A duration: its parts are those of the milliseconds, but for rounding.
        let parts: Vec<&str> = text.split(' ').collect();
        let unit = |name: &str| BTreeMap::from([("s", 1000.0), ("m", 60_000.0), ("h", 3_600_000.0)])[name];
        let ms: f64 = parts.chunks(2).map(|part| part[0].parse::<f64>().unwrap() * unit(part[1])).sum();
        let last = if parts[0].contains('.') { 100.0 } else { unit(parts[parts.len() - 1]) };
        assert!((ms - exact.parse::<f64>().unwrap()).abs() <= last, "{text} is shown for {exact}");
    }
    exact.to_owned()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Compares a grouping.
pub fn same_groups(page: &Value, label: &str, json: &Value, (one, many): (&str, &str)) {
    let (groups, shown) = (json[many].as_array().unwrap(), rows(page, label));
    assert_eq!(groups.len() + 1, shown.len(), "{label}: a row for each, and the total");
    let keys = ["cost_usd", "requests", "tokens", "sessions"];
    for (group, row) in groups.iter().zip(shown) {
        let name = group[one].as_str().filter(|name| !name.is_empty()).unwrap_or("(unknown)");
        assert_eq!(row[0]["text"], name, "{label}");
        for (at, key) in keys.iter().enumerate() {
            assert_eq!(exact(&row[at + 1]), text(&group[key]), "{label} {} {key}", group[one]);
        }
    }
    for (at, key) in keys[1..3].iter().enumerate() {
        let sum: u64 = groups.iter().map(|group| group[key].as_u64().unwrap()).sum();
        assert_eq!(exact(&shown[groups.len()][at + 2]), sum.to_string(), "{label} {key}");
    }
    let sum: u64 = groups.iter().map(|group| pico(&group["cost_usd"])).sum();
    assert_eq!(pico(&exact(&shown[groups.len()][1]).into()), sum, "{label}");
}

/// Reads dollars as whole pico-dollars.
pub fn pico(usd: &Value) -> u64 {
    usd.as_str().unwrap().replace('.', "").parse().unwrap()
}

/// The runs of a report, each with its session.
pub fn runs(json: &Value) -> Vec<(&Value, &Value)> {
    let sessions = json["sessions"].as_array().unwrap().iter();
    sessions.flat_map(|session| session["runs"].as_array().unwrap().iter().map(move |run| (session, run))).collect()
}

/// Whether a run is more than a prompt that was not sent.
fn has_begun(run: &Value) -> bool {
    let did_nothing = run["turns"] == 0 && run["requests"] == 0;
    !(run["agent_type"] == "main" && run["status"] == "failed" && did_nothing)
}

/// Returns how many runs of a report are more than prompts that were not sent.
pub fn runs_begun(json: &Value) -> usize {
    runs(json).iter().filter(|(_, run)| has_begun(run)).count()
}

/// Whether a word on the page is what texts say of a status: a limit has stopped what failed; a prompt was not sent, or it may go on.
fn says_status(word: &str, status: &Value) -> bool {
    let stops = ["failed", "stopped", "paused", "completed"].iter().any(|it| status == it);
    let of_failed = status == "failed" && ["stopped", "ended by limit"].contains(&word);
    of_failed
        || status != "failed" && word == status.as_str().unwrap()
        || (stops && ["blocked", "may go on"].contains(&word))
}

/// Compares the sessions' table, in its order.
pub fn same_sessions(page: &Value, json: &Value) {
    let (sessions, shown) = (json["sessions"].as_array().unwrap(), rows(page, "Sessions"));
    assert_eq!(sessions.len(), shown.len());
    for (session, row) in sessions.iter().zip(shown) {
        let id = session["session_id"].as_str().unwrap();
        assert!(id.starts_with(row[0]["text"].as_str().unwrap()), "{id} {}", row[0]);
        assert_eq!(row[2]["text"], session["project"]);
        assert!(says_status(row[3]["text"].as_str().unwrap(), &session["status"]), "{id} {}", row[3]);
        let of_session = session["runs"].as_array().unwrap();
        let begun = of_session.iter().filter(|run| has_begun(run)).count();
        let trips: usize = of_session.iter().map(|run| run["trips"].as_array().unwrap().len()).sum();
        assert_eq!((exact(&row[4]), exact(&row[8])), (begun.to_string(), trips.to_string()), "{id}");
        for (at, key) in [(5, "turns"), (6, "requests"), (7, "tokens"), (9, "cost_usd"), (10, "new_cost_usd")] {
            assert_eq!(exact(&row[at]), text(&session[key]), "{id} {key}");
        }
    }
}

/// Compares the timelines of all sessions.
pub fn same_timelines(page: &Value, json: &Value) {
    let shown: Vec<&Value> = page["runs"].as_array().unwrap().iter().collect();
    let told = runs(json);
    assert_eq!(shown.len(), told.len());
    for (session, run) in told {
        let id = &run["run_id"];
        let row = shown.iter().find(|row| row[0] == session["session_id"] && row[1] == *id);
        let row = row.unwrap_or_else(|| panic!("{session} {id}"));
        let is_below = run["parent_run_id"].is_string();
        assert_eq!(row[2].as_u64().unwrap() > 0, is_below, "{id} is below another");
        for (at, key) in [(4, "duration_ms"), (5, "turns"), (6, "requests"), (7, "tokens"), (8, "cost_usd")] {
            assert_eq!(exact(&row[3][at]), text(&run[key]), "{id} {key}");
        }
        let status = run["stop_reason"].as_str().map(|reason| format!(": {}", reason.replace('_', " ")));
        let word = row[3][1]["text"].as_str().unwrap().strip_suffix(&status.unwrap_or_default());
        assert!(word.is_some_and(|word| says_status(word, &run["status"])), "{id}: {}", row[3][1]);
    }
}

/// Compares what is said of each agent type with its runs.
pub fn same_types(page: &Value, json: &Value) {
    let mut by_type: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
    for (_, run) in runs(json).into_iter().filter(|(_, run)| has_begun(run)) {
        by_type.entry(run["agent_type"].as_str().unwrap()).or_default().push(run);
    }
    let shown = page["types"].as_array().unwrap();
    assert_eq!(shown.len(), by_type.len());
    for (kind, of_type) in by_type {
        let kind = if kind.is_empty() { "agent" } else { kind };
        let row = shown.iter().find(|row| row[0] == kind).unwrap_or_else(|| panic!("{kind}"));
        let numbers: Vec<String> = row[1].as_array().unwrap().iter().map(exact).collect();
        let tripped = of_type.iter().filter(|run| !run["trips"].as_array().unwrap().is_empty()).count();
        assert_eq!(numbers[..2], [of_type.len().to_string(), tripped.to_string()], "{kind}");
        for (part, key) in ["turns", "duration_ms", "cost_usd"].iter().enumerate() {
            let is_money = *key == "cost_usd";
            let value = |run: &&Value| if is_money { pico(&run[key]) } else { run[key].as_u64().unwrap() };
            let mut values: Vec<u64> = of_type.iter().map(value).collect();
            values.sort_unstable();
            let rank = |percent: usize| values[(values.len() * percent).div_ceil(100) - 1];
            let told: Vec<f64> = numbers[2 + part * 4..][..4].iter().map(|it| it.parse().unwrap()).collect();
            let unit = if is_money { 1e12 } else { 1.0 };
            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64 / unit;
            assert!(
                (told[0] - mean).abs() <= 0.0500001 / if is_money { 1e11 } else { 1.0 },
                "{kind} {key}: {} for {mean}",
                told[0]
            );
            let ranks = [rank(50), rank(90), rank(100)].map(|value| value as f64 / unit);
            assert_eq!(told[1..], ranks, "{kind} {key}");
        }
    }
}

/// Compares the trips: each of them, their sums by limit and action, and the agents of each hour in the data.
pub fn same_trips(page: &Value, json: &Value) {
    let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut told: Vec<(String, String)> = Vec::new();
    for (_, run) in runs(json) {
        for trip in run["trips"].as_array().unwrap() {
            let (limit, action) = (text(&trip["limit"]), text(&trip["action"]).replace('_', " "));
            told.push((
                format!("{limit} {}", Value::Array(vec![trip["used"].clone(), trip["cap"].clone()])),
                action.clone(),
            ));
            *sums.entry((limit, action)).or_default() += 1;
        }
    }
    let list = rows(page, "Trips");
    let action = |row: &Value| text(&row[6]["text"]).replace(", observed", "");
    let figures = |row: &Value| format!("{} {}", text(&row[4]["text"]), text(&row[5]["exact"]));
    assert_eq!(told.len(), list.len());
    let mut calls_alone = 0;
    for row in list {
        let is_told = |(of, did): &(String, String)| {
            let is_same = match action(row).as_str() {
                // Of a limit that asks: nobody was there to be asked.
                "ended" => did == "request increase",
                "call refused" | "blocked" => true,
                other => did == other,
            };
            *of == figures(row) && is_same
        };
        let at = told.iter().position(is_told).unwrap_or_else(|| panic!("{row} is no trip of the report"));
        calls_alone += usize::from(told.swap_remove(at).1 != action(row));
    }
    assert!(calls_alone < list.len(), "most trips say their action");
    let matrix = rows(page, "Trips by limit and action");
    let actions: BTreeSet<String> = list.iter().map(action).collect();
    let cells: u64 = matrix[..matrix.len() - 1]
        .iter()
        .flat_map(|row| row.as_array().unwrap()[1..=actions.len()].iter())
        .map(|cell| exact(cell).parse::<u64>().unwrap())
        .sum();
    assert_eq!(cells, sums.values().sum::<u64>());
    for row in &matrix[..matrix.len() - 1] {
        let of_limit: u64 =
            sums.iter().filter(|((limit, _), _)| row[0]["text"] == *limit).map(|(_, count)| count).sum();
        assert_eq!(exact(&row[actions.len() + 1]), of_limit.to_string(), "{row}");
    }
}

/// Compares what sessions share.
pub fn same_budgets(page: &Value, json: &Value) {
    let (budgets, shown) = (json["budgets"].as_array().unwrap(), rows(page, "Budgets"));
    assert_eq!(budgets.len(), shown.len());
    for (budget, row) in budgets.iter().zip(shown) {
        let exact: Value = serde_json::from_str(row[2]["exact"].as_str().unwrap()).unwrap();
        assert_eq!((&row[1]["text"], exact), (&budget["limit"], serde_json::json!([budget["used"], budget["cap"]])));
    }
}

/// Compares how many agents hit a limit in each hour, as the chart draws it.
pub fn same_hours(page: &Value, json: &Value, zone: &Zone) {
    let mut agents: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (session, run) in runs(json).into_iter().filter(|(_, run)| has_begun(run)) {
        for trip in run["trips"].as_array().unwrap() {
            let minute = zone.minute(rfc3339::parse(trip["at"].as_str().unwrap()).unwrap());
            let hour = format!("{}:00", minute.rsplit_once(':').unwrap().0);
            agents.entry(hour).or_default().insert(format!("{} {}", session["session_id"], run["run_id"]));
        }
    }
    let shown = |key: &str| page["hours"][key].as_array().unwrap().iter().map(text).collect::<Vec<_>>();
    assert_eq!(shown("from"), agents.keys().cloned().collect::<Vec<_>>());
    assert_eq!(shown("agents"), agents.values().map(|runs| runs.len().to_string()).collect::<Vec<_>>());
}

/// Compares the limits that are drawn into the distributions with those of the runs: each with how many runs had it.
pub fn same_caps(page: &Value, json: &Value) {
    for of_type in page["caps"].as_array().unwrap() {
        for (part, key) in ["max_turns", "max_duration_ms", "max_cost_usd"].iter().enumerate() {
            let mut caps: BTreeMap<String, u64> = BTreeMap::new();
            for (_, run) in runs(json).into_iter().filter(|(_, run)| run["agent_type"] == of_type[0]) {
                let limits = run["limits"].as_array().unwrap();
                let Some(limit) = limits.iter().find(|limit| limit["limit"] == *key) else { continue };
                let cap = &limit["cap"];
                *caps.entry(if cap.is_string() { pico(cap).to_string() } else { cap.to_string() }).or_default() += 1;
            }
            let drawn = of_type[1][part].as_array().unwrap();
            assert_eq!(drawn.len(), caps.len().min(3), "{of_type} {key}");
            assert!(
                drawn.iter().all(|cap| caps.get(&text(&cap["cap"])) == cap["runs"].as_u64().as_ref()),
                "{drawn:?} {caps:?}"
            );
        }
    }
}
