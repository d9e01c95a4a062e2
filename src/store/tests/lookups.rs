//! Rows are found by what people look for, and by no scan of a large table.

use rusqlite::Connection;

use crate::domain::moment::Moment;
use crate::domain::session::{Run, Session, Status};
use crate::error::Result;
use crate::store::tests::store;

/// Tables that grow with each session.
const LARGE: [&str; 5] = ["session", "run", "tool_call", "response", "event"];
/// An index with the few rows that are wanted.
const PARTIAL: &str = "USING INDEX session_that_is_open";

/// Demands that a statement looks up what it wants in the large tables. Each statement that a test compiles is checked.
pub fn scans_no_large_table(conn: &Connection, sql: &str) {
    let mut plan = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let mut steps = plan.raw_query();
    while let Some(step) = steps.next().unwrap() {
        let step: String = step.get(3).unwrap();
        let scanned = LARGE.iter().find(|table| step.split_whitespace().take(2).eq(["SCAN", **table]));
        assert!(scanned.is_none() || step.contains(PARTIAL), "{step}: {sql}");
    }
}

#[test]
fn nothing_is_found_by_a_scan() -> Result<()> {
    let (_folder, store) = store();
    let day = 86_400_000;
    let at = |days: i64| Moment { wall_ms: days * day, ..Moment::default() };
    for (id, days, status) in [("s1", 10, Status::Running), ("s2", 20, Status::Completed), ("s3", 30, Status::Orphaned)]
    {
        let (launcher, open) = (Some("mark".to_owned()), if id == "s3" { vec![] } else { vec![format!("r-{id}")] });
        let session = Session { id: id.to_owned(), last: at(days), status, launcher, open, ..Session::default() };
        store.save_session(&session)?;
        let agent_type = "Explore".to_owned();
        store.save_run(&Run { id: format!("r-{id}"), session: id.to_owned(), agent_type, status, ..Run::default() })?;
    }
    let ids = |sessions: Vec<Session>| sessions.into_iter().map(|session| session.id).collect::<Vec<_>>();
    assert_eq!(ids(store.sessions_since(15 * day)?), ["s2", "s3"]);
    assert_eq!(ids(store.open_sessions()?), ["s1", "s3"]);
    assert_eq!(ids(store.sessions_at_work_since(10 * day)?), ["s1"]);
    assert_eq!(ids(store.sessions_at_work_since(10 * day + 1)?), [""; 0]);
    assert_eq!(ids(store.sessions_of_launcher("mark", 25 * day)?), ["s3"]);
    let (first, next) = store.some_sessions(0, 2)?;
    assert_eq!((ids(first), next), (vec!["s1".to_owned(), "s2".to_owned()], Some(2)));
    let (last, next) = store.some_sessions(2, 2)?;
    assert_eq!((ids(last), next), (vec!["s3".to_owned()], None));
    let runs = |runs: Vec<Run>| runs.into_iter().map(|run| run.id).collect::<Vec<_>>();
    assert_eq!(runs(store.runs_of("s1")?), ["r-s1"]);
    assert_eq!(runs(store.runs_of_type("Explore", 15 * day)?), ["r-s2", "r-s3"]);
    assert_eq!(runs(store.runs_at_work(20)?), ["r-s1", "r-s3"]);
    assert_eq!(runs(store.runs_at_work(19)?), ["r-s3"]);
    assert!(store.has_run("s1", "r-s1")? && !store.has_run("s1", "r-s2")?);
    Ok(())
}

#[test]
fn ids_are_found_by_their_beginnings() -> Result<()> {
    let (_folder, store) = store();
    for id in ["a1", "a1b", "b", "A1", "a%"] {
        store.save_session(&Session { id: id.to_owned(), ..Session::default() })?;
    }
    store.save_run(&Run { id: "a1c".to_owned(), session: "b".to_owned(), ..Run::default() })?;
    let [session, run] = [("a1", None), ("b", Some("a1c"))].map(|(id, run)| (id.to_owned(), run.map(str::to_owned)));
    assert_eq!(store.matching("a1")?, [session, ("a1b".to_owned(), None), run.clone()]);
    assert_eq!(store.matching("a1c")?, [run]);
    assert_eq!(store.matching("a%")?.len(), 1);
    let facts = ["client:1", "client:10", "client:2", "closed", "trust:/p"];
    facts.iter().try_for_each(|name| store.set_metadata(name, name))?;
    let some =
        |after| store.some_metadata("client:", after, 2).unwrap().into_iter().map(|fact| fact.0).collect::<Vec<_>>();
    assert_eq!(
        (some(""), some("10"), some("2")),
        (vec!["1".to_owned(), "10".to_owned()], vec!["2".to_owned()], vec![])
    );
    Ok(())
}

#[test]
fn facts_that_another_program_has_written_are_left_out_where_some_are_looked_up() -> Result<()> {
    let (_folder, store) = store();
    for name in ["client:1:5:7:0", "client:2:5:7:0"] {
        store.set_metadata(name, "3 s1")?;
    }
    let forge = "REPLACE INTO metadata (key, value, seal) VALUES (?1, '9 s9', 0)";
    for name in ["client:1:5:7:+", "client:2:5:7:0"] {
        store.conn.execute(forge, [name])?;
    }
    let found = |prefix: &str| store.some_metadata(prefix, "", 1);
    assert_eq!(found("client:1:5:7:")?, [("0".to_owned(), "3 s1".to_owned())]);
    assert_eq!(found("client:2:5:7:")?, []);
    assert_eq!(store.clients(7)?, [(1, 5)]);
    assert_eq!(store.take_altered_metadata(), ["client:1:5:7:+", "client:2:5:7:0"]);
    Ok(())
}
