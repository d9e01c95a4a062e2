//! Learns caps from the finished runs that the state has, for `adaptive`. Transcripts do not count: agents can write them.

use crate::config::learned_caps::{CapChange, LearnedCaps};
use crate::config::load;
use crate::config::policy::Policy;
use crate::config::resolve::Trust;
use crate::domain::layer::Layer;
use crate::domain::record::{Record, RecordKind};
use crate::domain::session::Run;
use crate::domain::text::rfc3339;
use crate::error::Result;
use crate::hook::policy::learned_caps;
use crate::platform::environment::Environment;
use crate::replay::evidence;
use crate::replay::suggested;
use crate::store::prune::ROWS_AT_ONCE;
use crate::store::{self, Store, log_file};

/// Learns anew where sessions are to follow it, and logs each cap that has changed; `rest` is called while nothing is locked.
pub fn learn(env: &Environment, rest: impl FnMut()) -> Result<()> {
    let folder = store::folder(env)?;
    // No repository's file lies here: the key is its owner's.
    let (policy, _) = load::load(env, &folder, Trust::Untrusted);
    if !policy.adaptive() {
        // Sessions that are to follow it again one day begin without what is old by then.
        return learned_caps::forget(&Store::open(env)?);
    }
    if learned_caps::known(&Store::open(env)?)?.is_none() {
        return Ok(());
    }
    let learned = caps_of(&policy, &runs(env, rest)?);
    let store = Store::open(env)?;
    store.begin()?;
    let before = learned_caps::known(&store)?.unwrap_or_default();
    let now = env.now();
    let records: Vec<Record> = learned.changes(&before).iter().map(|change| record(change, now.wall_ms)).collect();
    if !records.is_empty() {
        learned_caps::keep(&store, &learned)?;
    }
    for record in &records {
        store.save_record(record, now)?;
    }
    store.commit()?;
    drop(store);
    log_file::append(log_file::LogPlace { of_session: "", state: &folder }, &records);
    Ok(())
}

/// Returns all runs of sessions whose rows are as Fusebox has written them.
fn runs(env: &Environment, mut rest: impl FnMut()) -> Result<Vec<Run>> {
    let (mut runs, mut next) = (Vec::new(), Some(0));
    while let Some(after) = next {
        let store = Store::open(env)?;
        let (sessions, last) = store.some_sessions(after, ROWS_AT_ONCE)?;
        for session in sessions.iter().filter(|session| !session.is_altered) {
            runs.extend(store.runs_of(&session.id)?);
        }
        drop(store);
        rest();
        next = last;
    }
    Ok(runs)
}

/// Returns what is suggested for each agent type.
fn caps_of(policy: &Policy, runs: &[Run]) -> LearnedCaps {
    let mut learned = LearnedCaps::default();
    for (name, runs) in evidence::of_state(runs) {
        for suggested in suggested::agent(policy, &name, &runs).limits.iter().filter_map(|limit| limit.suggested) {
            learned.set(&name, suggested.limit, suggested.value);
        }
    }
    learned
}

fn record(change: &CapChange<'_>, wall_ms: i64) -> Record {
    let CapChange { agent_type, limit, before, now } = *change;
    let shown = |cap: Option<u64>| cap.map_or("none".to_owned(), |cap| limit.show(cap));
    Record {
        error: format!("{agent_type} {limit}: finished runs suggest {}, before {}", shown(now), shown(before)),
        event: Some(RecordKind::LimitAdapted),
        agent_type: agent_type.to_owned(),
        limit: limit.key.to_owned(),
        layer: Layer::Adaptive.as_str().to_owned(),
        cap: now.map(|cap| limit.configured(cap)),
        at: rfc3339::format(wall_ms),
        ..Record::default()
    }
}
