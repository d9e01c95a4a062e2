//! What `fusebox init` says of past runs before it writes anything.

use crate::cmd::{query, suggest};
use crate::config::policy::Policy;
use crate::platform::environment::Environment;
use crate::replay::evidence::{evidence, stopped_runs};
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
    let types = evidence(&watched, &suggest::known_runs(env, &watched));
    let text = past_table::text(policy, (&types, &stopped_runs(&blocked)), watched.len(), &query::page(env));
    if !text.is_empty() {
        env.print(&format!("{text}\n"));
    }
}
