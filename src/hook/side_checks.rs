//! What is looked at beside the call itself, once its verdict is worded: settings that change, a command whose time is cut, other hooks
//! that change calls, and clients that ask the model without any hook.

use crate::hook::apply::Applied;
use crate::hook::background::client_watch;
use crate::hook::background::command_watch;
use crate::hook::background::job::BackgroundJob;
use crate::hook::extensions::{called_skills, live_mods};
use crate::hook::load::Loaded;
use crate::hook::parse::HookCall;
use crate::hook::reconcile::unwatched_clients;
use crate::hook::settings;
use crate::hook::tampering::changed_calls;
use crate::platform::environment::Environment;
use crate::wire::output::Answer;

/// Notes what it sees in the state, and adds to the answer: a change of settings may have to wait. Returns what processes are to watch
/// that outlive this one.
pub fn run_side_checks(
    env: &Environment,
    loaded: &mut Loaded,
    call: &HookCall,
    applied: &Applied,
    answer: &mut Answer,
) -> Vec<BackgroundJob> {
    let Loaded { store, state, .. } = loaded;
    let (input, event, run) = (call.input, &call.event, applied.run.as_str());
    let command = command_watch::job(state, run, event, input, &applied.verdict, answer);
    let clients = client_watch::job(store.folder(), state, event, input, &applied.verdict);
    changed_calls::note(state, run, event, input, answer, &call.guard);
    let settings = settings::watch::watch_settings(env, store, state, event, answer);
    unwatched_clients::tell(store, state, event, answer);
    called_skills::typed(env, state, event, input);
    live_mods::end_client(env, state, event, answer);
    let command = command.map(|order| BackgroundJob::Command(Box::new(order)));
    let clients = clients.map(|order| BackgroundJob::Clients(Box::new(order)));
    [command, clients, settings.map(BackgroundJob::Settings)].into_iter().flatten().collect()
}
