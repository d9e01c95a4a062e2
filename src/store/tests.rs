//! What is saved is read as it was.

mod any;
mod lookups;
mod policies;

pub(super) use lookups::scans_no_large_table;

use proptest::arbitrary::any;
use proptest::option;

use crate::domain::action::Action;
use crate::domain::billing::Billing;
use crate::domain::budget::{Period, SharedBudget};
use crate::domain::call::{CallRecord, CallState, Ended};
use crate::domain::layer::Layer;
use crate::domain::limit_set::{LimitRule, LimitSet};
use crate::domain::moment::Moment;
use crate::domain::record::{Record, RecordKind};
use crate::domain::scope::Scope;
use crate::domain::session::{Counters, Run, Session};
use crate::domain::spend::amount::Amount;
use crate::domain::spend::charge::{Charge, DaySum};
use crate::domain::spend::meters::Spend;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::limits;
use crate::platform::file_info;
use crate::store::prune::{Extent, ROWS_AT_ONCE};
use crate::store::response::Whose;
use crate::store::tests::any::{moment, run, session, spend, text, try_some};
use crate::store::{Store, WAL_LIMIT, WAL_LIMIT_IN_CROWD};

fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_for(folder.path(), None).unwrap();
    (folder, store)
}

#[test]
fn a_session_is_read_as_it_was_saved_first_and_again() {
    let (_folder, store) = store();
    try_some((session(), session()), |(first, second)| {
        store.conn.execute("DELETE FROM session", []).unwrap();
        store.save_session(&first).unwrap();
        let read = store.session("s1").unwrap().unwrap();
        let listed = Some(first.listing());
        assert_eq!(*read, Session { listed, ..first.clone() });
        // Neither ever changes.
        let second = Session { project: first.project, started: first.started, ..second };
        store.save_session(&Session { listed, ..second.clone() }).unwrap();
        let listed = Some(second.listing());
        assert_eq!(*store.session("s1").unwrap().unwrap(), Session { listed, ..second });
    });
}

#[test]
fn a_run_is_read_as_it_was_saved_first_and_again() {
    let (_folder, store) = store();
    try_some((run(), run()), |(first, second)| {
        store.conn.execute("DELETE FROM run", []).unwrap();
        store.save_run(&first).unwrap();
        let read = store.run("s1", "r1").unwrap().unwrap();
        assert_eq!(Run { listed: None, ..read.clone() }, first);
        store.save_run(&Run { listed: read.listed, ..second.clone() }).unwrap();
        let read = store.run("s1", "r1").unwrap().unwrap();
        assert_eq!(Run { listed: None, ..read }, second);
        if let Some(task) = &second.task {
            assert_eq!(store.runs_of_task(task).unwrap().len(), 1);
        }
        if let Some(name) = &second.name {
            assert_eq!(store.run_named("s1", name).unwrap().as_deref(), Some("r1"));
        }
    });
}

#[test]
fn a_call_and_a_response_are_read_as_they_were_saved() {
    let (_folder, store) = store();
    try_some((text(), option::of(moment()), 0..4_usize), |(tool, requested, state)| {
        let answers = [("PreToolUse".to_owned(), tool.clone())].into();
        let state = CallState::ALL[state];
        let call = CallRecord {
            run: "r1".to_owned(),
            tool,
            state,
            requested,
            ended: Ended::Well,
            answers,
            is_sealed: true,
            ..CallRecord::default()
        };
        store.save_call("s1", "t1", &call).unwrap();
        assert_eq!(store.call("s1", "t1").unwrap(), Some(call));
    });
    try_some((text(), spend(), spend(), any::<i64>(), any::<bool>()), |(model, spend, covered, at_ms, inherited)| {
        let [message, session, run] = ["m1", "s1", "r1"].map(str::to_owned);
        let charge =
            Charge { message, session, run, model, spend, covered, at_ms, inherited, output: 5, ..Charge::default() };
        store.save_charge(&charge).unwrap();
        assert_eq!(store.charge("m1", "s1").unwrap(), Some(charge));
    });
}

#[test]
fn numbers_beyond_a_column_saturate() -> Result<()> {
    let (_folder, store) = store();
    let spent = Spend { requests: u64::MAX, tokens: u64::MAX, cache_reads: u64::MAX, cost: Amount(u64::MAX) };
    let counters = Counters { turns: u64::MAX, spent, duration_ms: u64::MAX, ..Counters::default() };
    let session = Session { id: "s1".to_owned(), counters, client_cost: Some(u64::MAX), ..Session::default() };
    store.save_session(&session)?;
    let read = store.session("s1")?.unwrap();
    let most = i64::MAX as u64;
    assert_eq!((read.counters.turns, read.counters.spent.cost, read.client_cost), (most, Amount(most), Some(most)));
    let sum = DaySum { day: "2026-11-20".to_owned(), project: "/p".to_owned(), model: "m".to_owned(), spend: spent };
    store.add_sum(&sum)?;
    store.add_sum(&sum)?;
    assert_eq!(store.sums()?[0].spend.tokens, most);
    Ok(())
}

#[test]
fn records_are_numbered_and_no_number_comes_twice() -> Result<()> {
    let (_folder, store) = store();
    let record = |session: &str| Record {
        error: "it \"failed\"".to_owned(),
        event: Some(RecordKind::AgentFailed),
        session: session.to_owned(),
        run: "r1".to_owned(),
        limit: "max_turns".to_owned(),
        used: Some(26.0),
        ..Record::default()
    };
    for (second, session) in ["s1", "s2", "s1"].into_iter().enumerate() {
        store.save_record(&record(session), Moment { wall_ms: second as i64, ..Moment::default() })?;
    }
    assert_eq!(store.record(2)?, Some((2, 1, record("s2"))));
    let numbers = |found: Vec<(i64, i64, Record)>| found.into_iter().map(|row| row.0).collect::<Vec<_>>();
    assert_eq!(numbers(store.records_of("s1")?), [1, 3]);
    assert_eq!((numbers(store.records_since(1)?), numbers(store.records_after(2)?)), (vec![2, 3], vec![3]));
    assert_eq!(
        (store.count_old_records(9)?, store.delete_old_records(9, 1)?, store.delete_old_records(9, 9)?),
        (2, 1, 1)
    );
    store.save_record(&record("s3"), Moment::default())?;
    assert_eq!(numbers(store.records_after(0)?), [3, 4]);
    Ok(())
}

#[test]
fn each_set_of_limits_is_stored_once() -> Result<()> {
    let (_folder, store) = store();
    let rule = |cap| LimitRule {
        limit: limits::REGISTRY[0],
        cap,
        action: Action::Terminate,
        layer: Layer::User,
        increase: 1,
        models: None,
        locked: false,
        billing: Billing::default(),
        responses_alone: false,
    };
    let rules = |cap| LimitSet { limits: vec![rule(cap)], ..LimitSet::default() };
    for (number, cap) in [(1, 5), (2, 6), (3, 5), (4, 5)] {
        store.begin()?;
        store.save_run(&Run { id: format!("r{number}"), limits: rules(cap), ..Run::default() })?;
        store.commit()?;
    }
    let sets = |store: &Store| store.conn.query_row("SELECT count(*) FROM limit_set", [], |row| row.get::<_, i64>(0));
    assert_eq!(sets(&store)?, 2);
    store.conn.execute("DELETE FROM run WHERE id = 'r2'", [])?;
    store.delete_unused_policies()?;
    assert_eq!((sets(&store)?, store.run("", "r4")?.unwrap().limits), (1, rules(5)));
    Ok(())
}

#[test]
fn what_sessions_share_is_read_as_it_was_saved() -> Result<()> {
    let (_folder, store) = store();
    for (scope, owner) in [(Scope::Project, "/b"), (Scope::User, ""), (Scope::Project, "/a")] {
        let mut budget = SharedBudget::new(scope, owner);
        let spend = Spend { requests: 1, cost: Amount(7), ..Spend::default() };
        budget.periods[1] =
            Period { from_ms: 5, to_ms: 9, resets: "soon".to_owned(), spent: [("m".to_owned(), spend)].into() };
        store.save_shared_budget(&budget)?;
        assert_eq!(store.shared_budget(scope, owner)?, Some(budget));
    }
    let owners: Vec<String> = store.shared_budgets()?.into_iter().map(|budget| budget.id).collect();
    assert_eq!(owners, ["", "/a", "/b"]);
    let costs = "SELECT day_cost_pico_usd, week_cost_pico_usd FROM budget WHERE owner = '/a'";
    assert_eq!(store.conn.query_row(costs, [], |row| Ok((row.get(0)?, row.get(1)?)))?, (0, 7));
    Ok(())
}

#[test]
fn responses_of_a_project_are_those_of_its_sessions_and_of_the_one_at_hand() -> Result<()> {
    let (_folder, store) = store();
    for (id, project) in [("s1", "/a"), ("s2", "/b"), ("s3", "/a")] {
        store.save_session(&Session { id: id.to_owned(), project: project.to_owned(), ..Session::default() })?;
    }
    for (session, at_ms, inherited) in
        [("s1", 5, false), ("s2", 6, false), ("s3", 7, true), ("new", 8, false), ("s3", 9, false)]
    {
        let message = format!("m{at_ms}");
        store.save_charge(&Charge { message, session: session.to_owned(), at_ms, inherited, ..Charge::default() })?;
    }
    let found = |since, whose| {
        let mut found = Vec::new();
        store.each_charge_since(since, whose, |charge| found.push(charge.at_ms)).unwrap();
        found
    };
    assert_eq!(found(6, Whose::All), [6, 8, 9]);
    assert_eq!(found(0, Whose::Project { project: "/a", and: "new" }), [5, 8, 9]);
    Ok(())
}

#[test]
fn a_session_is_pruned_in_parts_and_its_responses_become_sums() -> Result<()> {
    let (_folder, store) = store();
    let mut session = Session { id: "s1".to_owned(), project: "/p".to_owned(), ..Session::default() };
    store.save_session(&session)?;
    let spend = Spend { requests: 1, tokens: 2, ..Spend::default() };
    for number in 0..ROWS_AT_ONCE {
        let (message, session) = (format!("m{number}"), "s1".to_owned());
        store.save_charge(&Charge { message, session, spend, inherited: number == 0, ..Charge::default() })?;
        store.save_call("s1", &format!("t{number}"), &CallRecord::default())?;
    }
    store.save_run(&Run { id: "r1".to_owned(), session: "s1".to_owned(), ..Run::default() })?;
    let mut parts = Vec::new();
    for _ in 0..3 {
        let deleted = store.prune_session(&mut session, Extent::Whole, |_| "2026-11-20".to_owned())?;
        parts.push([deleted.responses, deleted.calls, deleted.runs, u64::from(deleted.session)]);
    }
    assert_eq!(parts, [[ROWS_AT_ONCE, 0, 0, 0], [0, ROWS_AT_ONCE, 0, 0], [0, 0, 1, 1]]);
    assert_eq!(store.sums()?[0].spend.tokens, 2 * (ROWS_AT_ONCE - 1));
    assert!(store.session("s1")?.is_none() && store.charges_of("s1")?.is_empty() && store.count_calls("s1")? == 0);
    Ok(())
}

#[test]
fn a_state_is_saved_with_what_has_changed() -> Result<()> {
    let (_folder, store) = store();
    let mut state = SessionState::new(Session { id: "s1".to_owned(), ..Session::default() });
    state.open_run(Run { id: "r1".to_owned(), session: "s1".to_owned(), ..Run::default() });
    state.call_mut("r1", "t1").state = CallState::Counted;
    store.save(&mut state)?;
    let mut again = SessionState::new(store.session("s1")?.unwrap());
    for id in again.session.open.clone() {
        again.insert_loaded_run(store.run("s1", &id)?.unwrap());
    }
    assert!(again.run("r1").is_some() && again.changed_runs().next().is_none());
    assert_eq!(store.calls_of("s1")?, [("r1".to_owned(), 1)].into());
    // Another process has deleted the rows meanwhile.
    store.conn.execute_batch("DELETE FROM session; DELETE FROM run")?;
    again.run_mut("r1").unwrap().counters.turns = 3;
    store.save(&mut again)?;
    assert!(store.session("s1")?.is_some());
    assert_eq!(store.run("s1", "r1")?.unwrap().counters.turns, 3);
    Ok(())
}

#[test]
fn the_log_is_folded_back_later_where_others_may_wait() -> Result<()> {
    let (folder, mut store) = store();
    let length = || file_info::of(&folder.path().join("state.db-wal")).unwrap().length;
    let grow = |store: &Store, beyond: u64| -> Result<()> {
        while length() <= beyond {
            store.set_metadata("zone", &length().to_string())?;
        }
        Ok(())
    };
    grow(&store, WAL_LIMIT)?;
    store.locks.contended = true;
    store.leave();
    assert!(length() > WAL_LIMIT, "those who wait would have waited for it");
    Store::open_for(folder.path(), None)?.leave();
    assert_eq!(length(), 0);
    let mut store = Store::open_for(folder.path(), None)?;
    grow(&store, WAL_LIMIT_IN_CROWD)?;
    store.locks.contended = true;
    store.leave();
    assert_eq!(length(), 0, "it has an end in a crowd, too");
    Ok(())
}

#[test]
fn the_log_stays_where_a_hook_drops_the_state() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_for_hook(folder.path(), "s1")?;
    store.set_metadata("zone", "UTC")?;
    drop(store);
    assert!(file_info::of(&folder.path().join("state.db-wal")).is_ok_and(|log| log.length > 0));
    Ok(())
}
