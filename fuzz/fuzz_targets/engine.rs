//! A session of any lines, each what stands on a hook's standard input or a row of the transcript: counters only grow, each call and each
//! response counts once, and the same lines are answered the same.

#![no_main]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::LazyLock;

use fusebox::config::layers::LAYER_FILES;
use fusebox::config::policy::Policy;
use fusebox::config::read;
use fusebox::config::resolve::Trust;
use fusebox::domain::event::{Event, EventKind};
use fusebox::domain::ingested::Ingested;
use fusebox::domain::moment::Moment;
use fusebox::domain::session::{Counters, Session, TranscriptPosition};
use fusebox::engine::apply_event::apply_event;
use fusebox::engine::charging::credible;
use fusebox::engine::orders;
use fusebox::engine::outcome::outcome;
use fusebox::engine::session_state::SessionState;
use fusebox::pricing::table::Table;
use fusebox::transcript::charges::Memory;
use fusebox::transcript::ingest::TranscriptIngest;
use fusebox::wire::bypass_detection::Guard;
use fusebox::wire::completion::mark;
use fusebox::wire::events::EventName;
use fusebox::wire::input::{self, Input};
use fusebox::wire::output::{self, Case};
use fusebox::wire::read_event;
use fusebox::wire::tool_input::ToolInput;
use libfuzzer_sys::fuzz_target;

/// Limits that are soon reached, over the session and over runs, with every action.
const POLICY: &str = include_str!("../policy.json");

static PINNED: LazyLock<Policy> = LazyLock::new(|| {
    let docs = read::text(&LAYER_FILES[1], "fusebox.json", POLICY).map(|reading| reading.document);
    Policy::of(docs.into_iter().collect(), Vec::new(), Trust::Untrusted).0
});

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let answers = play(&path, bytes);
    assert_eq!(play(&path, bytes), answers, "played twice");
});

/// Plays a session from its start; returns its answers.
fn play(path: &Path, bytes: &[u8]) -> Vec<String> {
    let mut transcript = File::create(path).unwrap();
    let table = Table::embedded();
    let mut ingest = TranscriptIngest::new(Memory::default(), &table);
    let mut state = SessionState::new(Session {
        id: "s".to_owned(),
        limits: PINNED.session(),
        position: TranscriptPosition { path: path.display().to_string(), offset: 0, ..TranscriptPosition::default() },
        ..Session::default()
    });
    let mut named = BTreeMap::new();
    let (mut told_apart, mut prompt) = (true, None);
    let mut answers = Vec::new();
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        let Ok(input) = input::parse(line) else {
            transcript.write_all(&[line, b"\n"].concat()).unwrap();
            continue;
        };
        let ms = number as u64 * 1_000;
        let at = Moment { wall_ms: 1_795_168_800_000 + ms as i64, mono_ms: ms, boot: 1, slept_ms: 0 };
        let event = read_event::event(&input, at, true, &Guard::default());
        told_apart &= *prompt.get_or_insert_with(|| event.prompt_id.clone()) == event.prompt_id;
        for call in calls_of(&event) {
            told_apart &= !call.is_empty();
            told_apart &= *named.entry(call).or_insert_with(|| event.agent.clone()) == event.agent;
        }
        let before = (state.session.counters, runs(&state));
        answers.push(take(&mut state, &mut ingest, &input, event));
        only_grew(&before.0, &state.session.counters);
        for (run, counters) in &before.1 {
            only_grew(counters, &state.run(run).unwrap().counters);
        }
        // One that is doubted counts only when it is estimated.
        let believed = ingest.charges.all().filter(|charge| !credible::is_doubted(charge));
        let ids: BTreeSet<&str> = believed.map(|charge| charge.message.as_str()).collect();
        let unwritten = state.session.missing_usage.sum.requests
            + state.runs().map(|run| run.missing_usage.sum.requests).sum::<u64>();
        assert_eq!(state.session.counters.spent.requests, ids.len() as u64 + unwritten, "each response counts once");
        // A call without an id or with another agent's is one more, and so may be one whose prompt has changed.
        assert!(!told_apart || state.session.counters.turns <= named.len() as u64, "each call counts once");
    }
    fs::remove_file(path).unwrap();
    answers
}

fn runs(state: &SessionState) -> Vec<(String, Counters)> {
    state.runs().map(|run| (run.id.clone(), run.counters)).collect()
}

/// Working time may shrink: the wait for a dialog is known only when its call has ended.
fn only_grew(before: &Counters, after: &Counters) {
    let numbers = |counters: &Counters| {
        let spent = counters.spent;
        [counters.turns, spent.requests, spent.tokens, spent.cache_reads, spent.cost.0]
    };
    let (before, after) = (numbers(before), numbers(after));
    assert!(before.iter().zip(&after).all(|(before, after)| before <= after), "{before:?} {after:?}");
}

/// Takes one event into the state, as the hook does; returns the answer.
fn take(state: &mut SessionState, ingest: &mut TranscriptIngest<Memory>, input: &Input, mut event: Event) -> String {
    let stop = state.explicit_stop(&event.agent);
    mark(&mut event, input.tool_response, stop);
    ingest.main(state, None).unwrap();
    let found = Ingested { charges: std::mem::take(&mut ingest.found), ..Ingested::default() };
    let (run, verdict) = apply_event(state, &event, &found, &*PINNED);
    if let Some(halted) = state.effects.halted.clone() {
        orders::cascade(state, &halted);
    }
    let name = EventName::parse(&input.hook_event_name);
    let outcome = outcome(state, &run, &event, &verdict);
    let tool_input = input.tool_input.as_ref().map(ToolInput::json);
    let case = Case { name, event: &event, outcome: &outcome, tool_input };
    let text = output::answer(&case, &verdict).text();
    assert!(
        text.is_empty() || serde_json::from_str::<serde_json::Value>(&text).is_ok_and(|it| it.is_object()),
        "{text}"
    );
    state.next_event();
    text
}

fn calls_of(event: &Event) -> Vec<String> {
    match &event.kind {
        EventKind::ToolRequested(call) | EventKind::ToolEnded(call, _) => vec![call.id.clone()],
        EventKind::BatchEnded(calls) => calls.iter().map(|call| call.id.clone()).collect(),
        _ => Vec::new(),
    }
}
