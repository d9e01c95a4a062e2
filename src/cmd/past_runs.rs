//! What `fusebox init` says of past runs before it writes anything.

use crate::cmd::{query, suggest};
use crate::config::policy::Policy;
use crate::platform::environment::Environment;
use crate::replay::evidence::{KnownRuns, evidence, stopped_runs};
use crate::replay::past::play_newest;
use crate::replay::past_table;

/// For how long transcripts are read.
const TIME_MS: u64 = 1_500;

/// Prints what past runs used beside the limits in force. Nothing where there are none.
pub fn show(env: &Environment, policy: &Policy) {
    let (mut watched, mut blocked) = (Vec::new(), Vec::new());
    play_newest(env, policy, TIME_MS, |one, other| {
        watched.push(one);
        blocked.push(other);
    });
    let known = suggest::known_runs(env, &watched).unwrap_or_else(|cause| {
        env.print(&format!("note: what transcripts do not tell of past runs is left out: {cause}\n"));
        KnownRuns::new()
    });
    let types = evidence(&watched, &known);
    let text = past_table::text(policy, &types, &stopped_runs(&blocked), watched.len(), &query::page(env));
    if !text.is_empty() {
        env.print(&format!("{text}\n"));
    }
}
