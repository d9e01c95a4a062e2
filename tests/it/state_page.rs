//! `docs/state.md` is current: its schema is the program's, each column is explained, and each query runs and scans no large table.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use fusebox::domain::action::Action;
use fusebox::domain::budget::SharedBudget;
use fusebox::domain::call::{CallRecord, CallState};
use fusebox::domain::record::RecordKind;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::{Run, Session, Status};
use fusebox::domain::spend::charge::{Charge, DaySum};
use fusebox::domain::stored::metadata::METADATA_KINDS;
use fusebox::platform::environment::Environment;
use fusebox::store::schema::{FOR_PEOPLE, MIGRATIONS};
use rusqlite::types::Value;
use rusqlite::{Connection, Statement};

use crate::state::{charge, developer, ended, main_run, record, save, session, trip};
use crate::world::TestWorld;

/// Tables that grow with each session.
const LARGE: [&str; 5] = ["session", "run", "tool_call", "response", "event"];

/// What the first row of each query has in some of its columns.
const EXPECTED: [&[(&str, &str)]; 12] = [
    &[("model", "claude-opus-5-5"), ("requests", "2"), ("tokens", "6000"), ("cost_usd", "0.75")],
    &[("kind", "AGENT_FAILED"), ("limit_key", "max_turns"), ("run_id", "d1"), ("used", "25.0"), ("set_by", "project")],
    &[("id", "d1"), ("agent_type", "developer"), ("cost_usd", "0.42"), ("turns", "17"), ("requests", "4")],
    &[("id", "s1"), ("project", "/srv/shop/.git")],
    &[("project", "/srv/shop/.git"), ("cost_usd", "1.25")],
    &[("limit_key", "max_turns"), ("times", "1")],
    &[("tool", "Bash"), ("counted", "1"), ("refused", "1")],
    &[("path", "p1"), ("agent_type", "main"), ("status", "running")],
    &[("scope", "user"), ("owner", "")],
    &[("policy_id", "3"), ("sessions", "1")],
    &[("started_by", "s1"), ("id", "s2"), ("project", "/srv/shop/.git")],
    &[("model", "claude-opus-5-5"), ("input", "5000"), ("output", "1000"), ("cache_read", "25000")],
];

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/state.md")).unwrap()
}

/// Returns the blocks of SQL on the page: the schema, then the queries.
fn blocks(page: &str) -> Vec<&str> {
    let blocks = page.split("```sql\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().trim()).collect()
}

/// A world with a session of today and one below it: a main run, a developer that a limit has ended, calls, responses, a budget and a sum.
fn seeded() -> TestWorld {
    let world = TestWorld::new();
    let now = Environment::real().now();
    let main = Run { started: now, last: now, ..main_run("s1", "p1") };
    let finding = trip("max_turns", (25, 25), Action::Terminate, Scope::Run);
    let developer = ended(Run { started: now, last: now, ..developer("s1", "d1", "p1") }, &finding, Status::Failed);
    save(&world, |store| {
        store.save_session(&Session { started: now, last: now, policy: Some(3), ..session("s1") }).unwrap();
        let below = Session { started: now, last: now, policy: Some(4), outer: Some("s1".to_owned()), ..session("s2") };
        store.save_session(&Session { status: Status::Completed, ..below }).unwrap();
        store.save_run(&main).unwrap();
        store.save_run(&developer).unwrap();
        for (id, state) in [("t1", CallState::Counted), ("t2", CallState::Refused)] {
            let (run, tool) = ("d1".to_owned(), "Bash".to_owned());
            store.save_call("s1", id, &CallRecord { run, tool, state, ..CallRecord::default() }).unwrap();
        }
        for (message, milli_usd) in [("m1", 500), ("m2", 250)] {
            store.save_charge(&Charge { at_ms: now.wall_ms, ..charge(message, &developer, 0, milli_usd) }).unwrap();
        }
        store.save_record(&record(RecordKind::AgentFailed, &developer, &finding), now).unwrap();
        store.save_shared_budget(&SharedBudget::new(Scope::User, "")).unwrap();
        let spend = charge("m3", &developer, 0, 500).spend;
        let (day, model) = ("9999-12-31".to_owned(), "claude-opus-5-5".to_owned());
        store.add_sum(&DaySum { day, project: "/srv/shop/.git".to_owned(), model, spend }).unwrap();
    });
    world
}

fn open(world: &TestWorld) -> Connection {
    Connection::open(world.path("state/state.db")).unwrap()
}

fn for_the_session<'a>(database: &'a Connection, query: &str) -> Statement<'a> {
    let mut statement = database.prepare(query).unwrap();
    if let Some(at) = statement.parameter_index(":session").unwrap() {
        statement.raw_bind_parameter(at, "s1").unwrap();
    }
    statement
}

fn shown(value: Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => format!("{number:?}"),
        Value::Text(text) => text,
        Value::Blob(bytes) => format!("{bytes:?}"),
    }
}

#[test]
fn the_schema_on_the_page_is_the_programs() {
    assert_eq!(
        blocks(&page())[0],
        (MIGRATIONS.concat() + &FOR_PEOPLE.map(|row| row.2).concat()).trim(),
        "docs/state.md has another schema"
    );
}

#[test]
fn each_column_is_explained_under_its_table() {
    let (page, world) = (page(), seeded());
    let database = open(&world);
    let sql = "SELECT tables.name, columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
        WHERE tables.type = 'table'";
    let mut statement = database.prepare(sql).unwrap();
    let columns = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
    let stored: BTreeSet<(String, String)> = columns.map(Result::unwrap).collect();
    let mut explained = BTreeSet::new();
    for section in page.split("\n### ").skip(1).take_while(|section| !section.starts_with("1.")) {
        let (table, rest) = section.split_once('\n').unwrap();
        let rows = names(rest.split("\n#### ").next().unwrap());
        explained.extend(rows.map(|column| (table.to_owned(), column.to_owned())));
    }
    assert_eq!(explained, stored);
}

/// Returns what the first column of a section's tables names.
fn names(section: &str) -> impl Iterator<Item = &str> {
    section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next())
}

#[test]
fn each_key_of_metadata_is_listed() {
    let world = TestWorld::with_git();
    world.write("home/.claude/fusebox.json", r#"{ "agents": { "*": { "max_turns": 9 } }, "retention_days": 30 }"#);
    let start = r#"{"hook_event_name":"SessionStart","session_id":"s1","source":"startup"}"#;
    assert_eq!(world.hook(start).code, 0);
    assert_eq!(world.run(&["trust"]).code, 0);
    let database = open(&world);
    let mut statement = database.prepare("SELECT key FROM metadata").unwrap();
    let keys: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let page = page();
    let (_, section) = page.split_once("\n#### Keys\n").unwrap();
    let stem = |key: &str| key.split(':').next().unwrap_or_default().to_owned();
    let listed: BTreeSet<String> = names(section.split("\n## ").next().unwrap()).map(stem).collect();
    let found: BTreeSet<String> = keys.iter().map(|key| stem(key)).collect();
    assert!(found.len() >= 5 && found.is_subset(&listed), "{found:?} of {listed:?}");
    let known: BTreeSet<String> = METADATA_KINDS.iter().map(|kind| stem(kind.stem)).collect();
    assert_eq!(listed, known);
}

#[test]
fn each_query_on_the_page_finds_what_it_says() {
    let (page, world) = (page(), seeded());
    let (queries, database) = (&blocks(&page)[1..], open(&world));
    assert_eq!(queries.len(), EXPECTED.len());
    for (query, expected) in queries.iter().zip(EXPECTED) {
        let mut statement = for_the_session(&database, query);
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.raw_query();
        let row = rows.next().unwrap().unwrap_or_else(|| panic!("no row: {query}"));
        for (column, value) in expected {
            let at = columns.iter().position(|name| name == column).unwrap_or_else(|| panic!("no {column}: {query}"));
            assert_eq!(shown(row.get(at).unwrap()), *value, "{column} of {query}");
        }
    }
}

#[test]
fn no_query_on_the_page_scans_a_large_table() {
    let (page, world) = (page(), seeded());
    let database = open(&world);
    for query in &blocks(&page)[1..] {
        let mut statement = for_the_session(&database, &format!("EXPLAIN QUERY PLAN {query}"));
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next().unwrap() {
            let step: String = row.get(3).unwrap();
            assert!(LARGE.iter().all(|table| !step.starts_with(&format!("SCAN {table}"))), "{step}: {query}");
        }
    }
}
