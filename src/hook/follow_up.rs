//! What is left to do once the answer is given.

use crate::engine::session_state::SessionState;
use crate::hook::background;
use crate::hook::background::job::BackgroundJob;
use crate::hook::background::{prune_due, team_sync};
use crate::hook::save::Saved;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::store::{Store, log_file};

/// What the log says where a lock file did not come.
const LOCKED: &str = "the lock of the state did not come in time: its holder keeps it, or the file system has no locks; SQLite's own \
    kept others out";

/// What is left to do.
pub enum FollowUp {
    /// The event was taken by another process: the database is let go.
    Leave(Box<Store>),
    /// The event was taken into the state, and other processes may have something to do.
    Finish(Box<Saved>, Vec<BackgroundJob>),
}

/// Lets the state go; then has another process begin what takes longer, writes the log, ends shell commands that outlive their run, and has the
/// state pruned.
pub fn finish(env: &Environment, follow_up: FollowUp) {
    let (Saved { store, state, folder, prunes, syncs, recounts }, jobs) = match follow_up {
        FollowUp::Leave(store) => return (*store).leave(),
        FollowUp::Finish(saved, jobs) => (*saved, jobs),
    };
    let is_unlocked = store.is_unlocked();
    store.leave();
    for job in jobs.iter().chain(&recounts.map(BackgroundJob::Recount)) {
        background::job::begin(env, &folder, job);
    }
    let mut records = state.effects.log_records.clone();
    records.extend(is_unlocked.then(|| notice(&state, LOCKED)));
    for task in &state.effects.kills {
        let ended = state.session.client.is_some_and(|client| background::tasks::end(client, task));
        if !ended {
            let what = "a background command of a stopped run was not found, and may still run";
            records.push(notice(&state, &format!("{what}: {}", task.command)));
        }
    }
    let mods = state.effects.waiting_mod.as_ref().map(|path| format!("the mod `{}`", path.display()));
    let cause = state.effects.ends_client.as_ref().map(|finding| finding.source.to_string()).or(mods);
    if let (Some(cause), Some(client)) = (cause, state.session.client)
        && !processes::ask_to_end(client.pid, client.start, client.ns)
    {
        records.push(notice(&state, &format!("the client was to be ended for {cause}, was not found, and may go on")));
    }
    if !records.is_empty() {
        log_file::append(log_file::LogPlace { of_session: &state.session.log, state: &folder }, &records);
    }
    if syncs {
        team_sync::begin(env, &folder);
    }
    if prunes {
        prune_due::begin(env, &folder);
    }
}

fn notice(state: &SessionState, what: &str) -> crate::domain::record::Record {
    log_file::notice(&state.session.id, what, state.session.last.wall_ms)
}
