//! Every grouping of a report: its periods, its columns, and that text, CSV and JSON say the same.

use fusebox::domain::call::{CallRecord, CallState};
use fusebox::domain::session::{Run, Session};
use fusebox::domain::spend::charge::Charge;
use insta::assert_snapshot;
use serde_json::Value;

use crate::state::{at, charge, developer, main_run, save, session};
use crate::world::TestWorld;

/// Every grouping, with the name of the list in JSON.
const GROUPINGS: [(&str, &str); 9] = [
    ("session", "sessions"),
    ("agent", "agents"),
    ("model", "models"),
    ("project", "projects"),
    ("day", "days"),
    ("week", "weeks"),
    ("month", "months"),
    ("block", "blocks"),
    ("tool", "tools"),
];

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// Responses over two weeks of November and into December, some of them minutes and some days apart.
fn with_weeks() -> TestWorld {
    let world = TestWorld::new();
    let (main, agent) = (main_run("s1", "p1"), developer("s1", "a1", "p1"));
    save(&world, |store| {
        store.save_session(&Session { last: at(12 * DAY), ..session("s1") }).unwrap();
        for run in [&main, &agent] {
            store.save_run(run).unwrap();
        }
        let moments = [0, 600, 4 * HOUR, 5 * HOUR, 6 * HOUR, 11 * HOUR, DAY, 4 * DAY, 11 * DAY, 11 * DAY + 60];
        for (number, seconds) in moments.into_iter().enumerate() {
            let run: &Run = if number % 3 == 0 { &agent } else { &main };
            let known = charge(&format!("m{number}"), run, seconds, 100 + number as u64);
            let split = Charge { output: 200 + number as u64, cache_writes: Some(1_000), ..known };
            store.save_charge(&split).unwrap();
        }
        for (number, tool) in ["Bash", "Bash", "Read", "Bash"].into_iter().enumerate() {
            let state = if number == 3 { CallState::Refused } else { CallState::Counted };
            let (run, requested) = (main.id.clone(), Some(at(DAY * number as i64)));
            let call = CallRecord { run, tool: tool.to_owned(), state, requested, ..CallRecord::default() };
            store.save_call("s1", &format!("t{number}"), &call).unwrap();
        }
    });
    world
}

#[test]
fn sums_are_made_by_periods() {
    let world = with_weeks();
    let by = |by: &str| world.command(&["report", "--since", "all", "--by", by]).env("COLUMNS", "120").run();
    assert_snapshot!(by("day"), @r"
    DAY         SESSIONS  REQUESTS  INPUT  OUTPUT  CACHE CREATE  CACHE READ      COST
    2026-12-01         1         2   3583     417          2000       25.0k  0.22 USD
    2026-11-24         1         1   1793     207          1000       12.5k  0.11 USD
    2026-11-21         1         1   1794     206          1000       12.5k  0.11 USD
    2026-11-20         1         6  10.8k    1215          6000       75.0k  0.61 USD
    total              1        10  18.0k    2045         10.0k      125.0k  1.04 USD
    [exit 0]
    ");
    assert_snapshot!(by("week"), @r"
    WEEK        SESSIONS  REQUESTS  INPUT  OUTPUT  CACHE CREATE  CACHE READ      COST
    2026-11-30         1         2   3583     417          2000       25.0k  0.22 USD
    2026-11-23         1         1   1793     207          1000       12.5k  0.11 USD
    2026-11-16         1         7  12.6k    1421          7000       87.5k  0.72 USD
    total              1        10  18.0k    2045         10.0k      125.0k  1.04 USD
    [exit 0]
    ");
    assert_snapshot!(by("month"), @r"
    MONTH    SESSIONS  REQUESTS  INPUT  OUTPUT  CACHE CREATE  CACHE READ      COST
    2026-12         1         2   3583     417          2000       25.0k  0.22 USD
    2026-11         1         8  14.4k    1628          8000      100.0k  0.83 USD
    total           1        10  18.0k    2045         10.0k      125.0k  1.04 USD
    [exit 0]
    ");
    assert_snapshot!(by("block"), @r"
    BLOCK             SESSIONS  REQUESTS  INPUT  OUTPUT  CACHE CREATE  CACHE READ      COST
    2026-12-01 10:00         1         2   3583     417          2000       25.0k  0.22 USD
    2026-11-24 10:00         1         1   1793     207          1000       12.5k  0.11 USD
    2026-11-21 10:00         1         1   1794     206          1000       12.5k  0.11 USD
    2026-11-20 21:00         1         1   1795     205          1000       12.5k  0.10 USD
    2026-11-20 15:00         1         2   3593     407          2000       25.0k  0.21 USD
    2026-11-20 10:00         1         3   5397     603          3000       37.5k  0.30 USD
    total                    1        10  18.0k    2045         10.0k      125.0k  1.04 USD
    [exit 0]
    ");
    assert_snapshot!(by("tool"), @r"
    TOOL   SESSIONS  CALLS  REFUSED
    Bash          1      2        1
    Read          1      1        0
    total                3        1
    [exit 0]
    ");
    assert_snapshot!(world.run(&["report", "--since", "all", "--by", "month"]), @r"
    MONTH    SESSIONS  REQUESTS  INPUT  OUTPUT  CACHE CREATE  CACHE READ      COST
    2026-12         1         2   3583     417          2000       25.0k  0.22 USD
    2026-11         1         8  14.4k    1628          8000      100.0k  0.83 USD
    total           1        10  18.0k    2045         10.0k      125.0k  1.04 USD
    [exit 0]
    ");
}

#[test]
fn a_period_ends_with_the_day_that_it_names() {
    let world = with_weeks();
    let days = |since: &str, until: &str| {
        let csv = world.run(&["report", "--by", "day", "--since", since, "--until", until, "--csv"]).ok();
        csv.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(days("2026-11-20", "2026-11-20"), "2026-11-20");
    assert_eq!(days("2026-11-21", "2026-11-30"), "2026-11-24 2026-11-21");
    assert_eq!(days("all", "2026-11-19"), "");
    assert_eq!(days("all", "all"), "2026-12-01 2026-11-24 2026-11-21 2026-11-20");
    let sessions =
        |until: &str| world.run(&["report", "--since", "all", "--until", until, "--csv"]).ok().lines().count() - 1;
    assert_eq!((sessions("2026-11-19"), sessions("2026-11-20")), (0, 1));
    let tools = world.run(&["report", "--by", "tool", "--since", "all", "--until", "2026-11-20", "--csv"]).ok();
    assert_eq!(tools, "tool,calls,refused,sessions\nBash,1,0,1\n");
}

#[test]
fn csv_and_json_say_the_same() {
    let world = with_weeks();
    for (by, list) in GROUPINGS {
        let run = |form: &str| world.run(&["report", "--since", "all", "--by", by, form]).ok();
        let json: Value = serde_json::from_str(&run("--json")).unwrap();
        let csv = run("--csv");
        let heads: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let groups = json[list].as_array().unwrap();
        assert_eq!(groups.len(), rows.len(), "{by}");
        for (group, row) in groups.iter().zip(rows) {
            for (head, cell) in heads.iter().zip(row) {
                let said = match &group[head] {
                    Value::Null if *head == "client_cost_usd" => String::new(),
                    // Lists in JSON, of which CSV has the length; trips stand below their runs.
                    Value::Array(runs) => runs.len().to_string(),
                    Value::Null if *head == "trips" => "0".to_owned(),
                    Value::String(text) => text.clone(),
                    value => value.to_string(),
                };
                assert_eq!(said, cell, "{by} {head}");
            }
        }
    }
}

#[test]
fn tokens_are_split_without_a_rest() {
    let world = with_weeks();
    let json = world.run(&["report", "--since", "all", "--by", "model", "--json"]).ok();
    let json: Value = serde_json::from_str(&json).unwrap();
    let number = |name: &str| json["models"][0][name].as_u64().unwrap();
    let parts = number("input_tokens") + number("output_tokens") + number("cache_creation_tokens");
    assert_eq!((parts, number("cache_read_tokens")), (number("tokens"), number("cache_reads")));
    assert_eq!(number("cache_creation_tokens"), 10_000);
}

#[test]
fn every_column_is_explained_in_the_help() {
    let world = with_weeks();
    let help = world.command(&["report", "--help"]).env("COLUMNS", "200").run().ok();
    for billing in ["tokens", "plan"] {
        world.write("home/.claude/fusebox.json", format!("{{\"billing\": \"{billing}\"}}"));
        every_head_is_in(&help, &world);
    }
}

fn every_head_is_in(help: &str, world: &TestWorld) {
    for (by, _) in GROUPINGS {
        let text = world.command(&["report", "--since", "all", "--by", by]).env("COLUMNS", "200").run().ok();
        let heads = text.lines().next().unwrap().split("  ").map(str::trim).filter(|head| !head.is_empty());
        let of_group = by.to_uppercase();
        for head in heads.filter(|head| *head != of_group && *head != "SESSIONS") {
            assert!(help.contains(head), "{by}: {head} is not in the help");
        }
    }
}
