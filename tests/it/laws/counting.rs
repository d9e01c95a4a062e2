//! Each call counts once, and each response: however often they arrive, and in whatever order.

use std::collections::BTreeMap;
use std::fs;

use fusebox::domain::action::Action;
use fusebox::domain::billing::Billing;
use fusebox::domain::call::CallState;
use fusebox::domain::event::{Agent, Call, CallOutcome, Event, EventKind};
use fusebox::domain::ingested::Ingested;
use fusebox::domain::layer::Layer;
use fusebox::domain::limit::Limit;
use fusebox::domain::limit_set::{LimitRule, LimitSet};
use fusebox::domain::moment::Moment;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::Session;
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::spend::meters::Spend;
use fusebox::engine::apply_event::apply_event;
use fusebox::engine::charging::ledger::{self, SpendChange};
use fusebox::engine::session_state::SessionState;
use fusebox::pricing::table::Table;
use fusebox::transcript::charges::Memory;
use fusebox::transcript::ingest::TranscriptIngest;
use proptest::arbitrary::any;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy};

use crate::laws::client::Policy;
use crate::laws::try_all;

fn event(number: usize, kind: EventKind) -> Event {
    let ms = number as u64;
    Event {
        session: "s".to_owned(),
        agent: Agent::Main,
        prompt_id: Some("p1".to_owned()),
        at: Moment { wall_ms: 1_795_168_800_000 + number as i64, mono_ms: ms, boot: 1, slept_ms: 0 },
        attended: true,
        kind,
    }
}

/// What happened of a call: it asked, ended, or its batch was over.
fn arrives(call: u8, how: u8) -> EventKind {
    let call = Call { id: format!("t{call}"), tool: "Bash".to_owned(), ..Call::default() };
    match how {
        0 => EventKind::ToolRequested(call),
        1 => EventKind::ToolEnded(call, CallOutcome::default()),
        2 => EventKind::ToolEnded(call, CallOutcome { failed: true, ..CallOutcome::default() }),
        _ => EventKind::BatchEnded(vec![call]),
    }
}

#[test]
fn a_call_counts_once_however_often_and_in_whatever_order_it_arrives() {
    let arrivals = vec((0_u8..6, 0_u8..4), 0..40);
    try_all("tool_use_id", 500, &arrivals, |arrivals| {
        let mut state = SessionState::new(Session { id: "s".to_owned(), ..Session::default() });
        state.above.push(Box::default());
        for (number, (call, how)) in arrivals.iter().enumerate() {
            apply_event(&mut state, &event(number, arrives(*call, *how)), &Ingested::default(), &Policy::default());
            state.next_event();
        }
        let mut distinct: Vec<u8> = arrivals.iter().map(|(call, _)| *call).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let expected = distinct.len() as u64;
        let outer = state.above.first().map_or(0, |outer| outer.counters.turns);
        let of_run = state.run("p1").map_or(0, |run| run.counters.turns);
        match [state.session.counters.turns, outer, of_run] == [expected; 3] {
            true => Ok(()),
            false => {
                Err(format!("{} of {expected} calls, outside {outer}, the run {of_run}", state.session.counters.turns))
            }
        }
    });
}

#[test]
fn a_call_that_ran_and_is_asked_about_again_counts_once() {
    for action in [Action::Terminate, Action::Pause, Action::RequestIncrease] {
        let limit = Limit::find("max_turns").unwrap();
        let rule = LimitRule {
            limit,
            cap: 1,
            action,
            layer: Layer::User,
            increase: 1,
            models: None,
            locked: false,
            billing: Billing::default(),
            responses_alone: false,
        };
        let rules = LimitSet { limits: vec![rule], ..LimitSet::default() };
        let mut state = SessionState::new(Session { id: "s".to_owned(), limits: rules, ..Session::default() });
        for (number, how) in [0, 1, 0, 1, 3].into_iter().enumerate() {
            apply_event(&mut state, &event(number, arrives(1, how)), &Ingested::default(), &Policy::default());
            state.next_event();
        }
        assert_eq!((state.session.counters.turns, state.session.limits.limits[0].cap), (1, 1), "{action:?}");
        assert_eq!(state.call("t1").unwrap().state, CallState::Counted, "{action:?}");
    }
}

#[test]
fn a_prompt_whose_id_comes_back_keeps_what_it_has_counted() {
    let mut state = SessionState::new(Session { id: "s".to_owned(), ..Session::default() });
    for (number, (prompt, call)) in [("p1", 1), ("p2", 2), ("p1", 1), ("p1", 3)].into_iter().enumerate() {
        let event = Event { prompt_id: Some(prompt.to_owned()), ..event(number, arrives(call, 1)) };
        apply_event(&mut state, &event, &Ingested::default(), &Policy::default());
        state.next_event();
    }
    assert_eq!(["p1", "p2"].map(|id| state.run(id).map(|run| run.counters.turns)), [Some(2), Some(1)]);
    assert_eq!(state.session.counters.turns, 3);
}

#[test]
fn a_call_that_ends_after_the_next_prompt_counts_once() {
    let mut state = SessionState::new(Session { id: "s".to_owned(), ..Session::default() });
    let prompt = || EventKind::Prompt { text_hash: 0, notifications: Vec::new(), by_machine: false, is_command: false };
    let happens =
        [("p1", prompt()), ("p1", arrives(1, 0)), ("p2", prompt()), ("p1", arrives(1, 1)), ("p1", arrives(1, 3))];
    for (number, (id, kind)) in happens.into_iter().enumerate() {
        let event = Event { prompt_id: Some(id.to_owned()), ..event(number, kind) };
        apply_event(&mut state, &event, &Ingested::default(), &Policy::default());
        state.next_event();
    }
    assert_eq!(state.session.counters.turns, 1);
}

/// Plays calls, each of which costs something and may edit; returns what is counted since the last edit, by run and session.
/// After each call the end of an earlier one is told again, where `again` says which.
fn since_edit(calls: &[(bool, u8)], again: &[Option<u8>]) -> (u64, u64) {
    let limit = Limit::find("max_cost_usd_without_edits").unwrap();
    let (action, layer) = (Action::Warn, Layer::User);
    let rule = LimitRule {
        limit,
        cap: u64::MAX,
        action,
        layer,
        increase: 1,
        models: None,
        locked: false,
        billing: Billing::default(),
        responses_alone: false,
    };
    let rules = LimitSet { limits: vec![rule.clone()], ..LimitSet::default() };
    let policy = Policy { scopes: vec![(Scope::Run, rules.clone())], ..Policy::default() };
    let mut state = SessionState::new(Session { id: "s".to_owned(), limits: rules, ..Session::default() });
    let mut number = 0;
    let mut happens = |state: &mut SessionState, kind: EventKind| {
        number += 1;
        apply_event(state, &event(number, kind), &Ingested::default(), &policy);
        state.next_event();
    };
    let call = |id: usize| Call { id: format!("t{id}"), tool: "Edit".to_owned(), ..Call::default() };
    let over = |id: usize| EventKind::ToolEnded(call(id), CallOutcome { edits: calls[id].0, ..CallOutcome::default() });
    for (id, (_, cost)) in calls.iter().enumerate() {
        happens(&mut state, EventKind::ToolRequested(call(id)));
        happens(&mut state, over(id));
        let spend = Spend { requests: 1, cost: Amount(u64::from(*cost)), ..Spend::default() };
        let adds = SpendChange { model: "m", is_priced: true, at_ms: 0, spend, inherited: false, earlier: false };
        let now = state.session.last;
        ledger::add_spend(&mut state, "p1", &adds, now);
        if let Some(earlier) = again.get(id).copied().flatten() {
            happens(&mut state, over(usize::from(earlier) % (id + 1)));
        }
    }
    (state.run("p1").map_or(0, |run| run.own_counts.count(&rule)), state.session.own_counts.count(&rule))
}

#[test]
fn a_call_whose_end_is_told_again_edits_nothing_again() {
    let calls = vec((any::<bool>(), 1_u8..9), 1..12);
    let again = vec(option::of(any::<u8>()), 0..12);
    try_all("the end of a call", 500, &(calls, again), |(calls, again)| {
        let (once, more) = (since_edit(&calls, &[]), since_edit(&calls, &again));
        if once == more { Ok(()) } else { Err(format!("{more:?} instead of {once:?}")) }
    });
}

/// One row of a response: which, and its output tokens so far.
type Row = (u8, u64);

fn line(row: &Row) -> String {
    let (id, output) = row;
    let usage = format!(r#"{{"input_tokens":3,"output_tokens":{output},"cache_read_input_tokens":7}}"#);
    let message = format!(r#"{{"id":"msg_{id}","model":"claude-opus-5-5","content":[],"usage":{usage}}}"#);
    format!(r#"{{"type":"assistant","timestamp":"2026-11-20T10:00:00.000Z","message":{message}}}"#) + "\n"
}

/// Reads rows in pieces that end after so many of them; returns the session's requests and tokens.
fn charged(rows: &[Row], pieces: &[usize]) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let table = Table::embedded();
    let mut state = SessionState::new(Session { id: "s".to_owned(), ..Session::default() });
    state.session.position.path = path.display().to_string();
    let mut ingest = TranscriptIngest::new(Memory::default(), &table);
    let ends = pieces.iter().map(|end| end % (rows.len() + 1)).chain([rows.len()]);
    for (number, end) in ends.enumerate() {
        let written: String = rows[..end].iter().map(line).collect();
        if fs::metadata(&path).is_ok_and(|meta| meta.len() > written.len() as u64) {
            continue;
        }
        fs::write(&path, written).unwrap();
        ingest.main(&mut state, None).unwrap();
        let found = Ingested { charges: std::mem::take(&mut ingest.found), ..Ingested::default() };
        let kind = EventKind::Other("looks".to_owned());
        apply_event(&mut state, &event(number, kind), &found, &Policy::default());
        state.next_event();
    }
    let spent = state.session.counters.spent;
    (spent.requests, spent.tokens)
}

#[test]
fn a_response_counts_once_however_often_and_in_whatever_order_its_rows_arrive() {
    let rows = vec((0_u8..5, 1_u64..100), 1..12).prop_flat_map(|rows| (Just(rows.clone()).prop_shuffle(), Just(rows)));
    let in_pieces = (rows, vec(0_usize..12, 0..4));
    try_all("message.id", 60, &in_pieces, |((shuffled, rows), pieces)| {
        let mut largest: BTreeMap<u8, u64> = BTreeMap::new();
        for (id, output) in &rows {
            let most = largest.entry(*id).or_default();
            *most = (*most).max(*output);
        }
        // Every counter of a response only grows: 3 tokens went in, and the most that came out.
        let expected = (largest.len() as u64, largest.values().map(|output| output + 3).sum());
        let found = [charged(&rows, &pieces), charged(&shuffled, &pieces), charged(&shuffled, &[])];
        if found == [expected; 3] { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
    });
}
