//! Watches the client's settings and our own files while a session runs.

use std::path::Path;

use crate::domain::event::{Event, EventKind};
use crate::domain::notified::signed;
use crate::domain::session::Session;
use crate::engine::session_state::SessionState;
use crate::hook::policy;
use crate::hook::settings;
use crate::hook::settings::recheck::RecheckJob;
use crate::messages::next_step::NextStep;
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::wire::output::Answer;

/// The kinds of what is told of changes that wait: of the first, and of later ones.
const WAITS: &str = "settings";
const WAITS_BEHIND: &str = "settings behind";

/// Keeps a settings change back that would take our handlers away, and tells of edits that change nothing yet. Returns the order to
/// look again at settings that are let pass.
pub fn watch_settings(
    env: &Environment,
    store: &Store,
    state: &mut SessionState,
    event: &Event,
    answer: &mut Answer,
) -> Option<RecheckJob> {
    let folder = state.session.folder.clone();
    // A limit that ends the loop may be the last that a person hears of the session.
    let ends = answer.goes_on == Some(false);
    if state.session.diverted.let_go {
        settings::baseline::take_back_hooks(env, &mut state.session);
    }
    match event.kind {
        EventKind::ConfigChanged => {
            // Before they are compared: what changes while they are is seen, too.
            let versions = settings::recheck::versions(env, &state.session);
            let files = settings::baseline::read(env, &state.session);
            let now = settings::baseline::registered_in(env, &state.session, &files);
            state.session.diverted.asked = state.session.diverted.asked.wrapping_add(1);
            let Some(harm) = settings::baseline::harm(&state.session, &now) else {
                settings::baseline::take_hooks(&mut state.session, &now, files);
                settings::baseline::take_lesser(&mut state.session, &now);
                // Whom a person has let go has no hooks that it could lose.
                let is_held = !state.session.diverted.let_go;
                return is_held.then(|| settings::recheck::job(state, versions)).flatten();
            };
            answer.decision = Some("block");
            answer.reason = Some(hold(state, &harm));
        }
        EventKind::Prompt { .. } if answer.decision == Some("block") => {
            edits_behind_block(env, store, &state.session, answer);
        }
        EventKind::Prompt { .. } => edits(env, store, state),
        EventKind::Stopped { .. } => {
            edits(env, store, state);
            unasked(env, state);
        }
        // Who takes the session up is told at its end only what holds then, too: the next client takes edits.
        EventKind::SessionEnded => last_look(env, state, &folder),
        _ if ends => {
            edits(env, store, state);
            last_look(env, state, &folder);
        }
        _ => {}
    }
    None
}

/// Tells the person what waits, once; returns whether it was not told yet.
fn tells_first(session: &mut Session, harm: &str) -> bool {
    let is_first = session.mark_notified(&format!("{WAITS}:{harm}"));
    if is_first {
        session.notify_user(&waits(session, harm));
    }
    is_first
}

/// Says what waits: a change, or what stands in the folder that the session has moved to.
fn waits(session: &Session, harm: &str) -> String {
    match &*session.moved_to {
        "" => notices::settings_wait(harm, NextStep::Reload),
        folder => notices::settings_wait_there(folder, harm, NextStep::Reload),
    }
}

/// Tells the person what waits, once, and that what comes later waits with it; returns the reason for the client.
fn hold(state: &mut SessionState, harm: &str) -> String {
    let session = &mut state.session;
    if tells_first(session, harm) {
        return signed(&waits(session, harm));
    }
    let waits_behind = notices::settings_wait_behind(harm, NextStep::Reload);
    session.notify_user_once(&format!("{WAITS_BEHIND}:{harm}"), &waits_behind);
    signed(&waits_behind)
}

/// Tells of settings that the client did not ask about: it does not watch the file that a link in the place of its own leads to.
fn unasked(env: &Environment, state: &mut SessionState) {
    if let Some(harm) = settings::baseline::waiting(env, &state.session) {
        tells_first(&mut state.session, &harm);
    }
}

/// Forgets what was told of changes that waited: they are taken, and what comes then waits anew.
pub fn forget_told(session: &mut Session) {
    session.notified.retain(|key| ![WAITS, WAITS_BEHIND].iter().any(|kind| key.split(':').next() == Some(*kind)));
}

/// Takes what waits for a session as told to its person, whose own command made the change. Returns whether something waits.
pub fn takes_as_told(env: &Environment, session: &mut Session) -> bool {
    let Some(harm) = settings::baseline::waiting(env, session) else { return false };
    for kind in [WAITS, WAITS_BEHIND] {
        session.mark_notified(&format!("{kind}:{harm}"));
    }
    session.config_hash = policy::pin::fingerprint(env, Path::new(&session.folder));
    true
}

/// Tells of settings that wait, and of mods that the next client would load.
fn last_look(env: &Environment, state: &mut SessionState, folder: &str) {
    unasked(env, state);
    let now = policy::pin::mods(env, Path::new(folder));
    for folder in now.overfull {
        let what = notices::mods_unsearched(&folder);
        state.session.notify_user_once(&format!("overfull:{folder}"), &what);
    }
    let known = state.session.mods.clone();
    // What is new is not what this client was started with: it stays out of what the clients below may load.
    for new in now.mods.iter().filter(|path| !known.contains(path)) {
        state.session.notify_user_once(&format!("mod:{new}"), &notices::mod_found(new));
    }
}

/// Tells of an edit of the configuration, once.
fn edits(env: &Environment, store: &Store, state: &mut SessionState) {
    let session = &mut state.session;
    if let Some(print) = touched(env, session) {
        session.config_hash = print;
        if is_edited(env, store, session) {
            session.notify_user(&notices::configuration_edited(NextStep::Reload));
        }
    }
}

/// Tells of an edit in the reason of a blocked prompt: whoever is blocked may have raised the cap already.
fn edits_behind_block(env: &Environment, store: &Store, session: &Session, answer: &mut Answer) {
    if touched(env, session).is_some() && is_edited(env, store, session) {
        let (said, edited) =
            (answer.reason.take().unwrap_or_default(), notices::configuration_edited(NextStep::Reload));
        answer.reason = Some(format!("{said}\n{}", signed(&edited)));
    }
}

/// Returns the fingerprint of the files of the configuration, where it is another than the one that the session was told of last.
fn touched(env: &Environment, session: &Session) -> Option<u64> {
    let print = policy::pin::fingerprint(env, Path::new(&session.folder));
    (print != session.config_hash && session.config_hash != 0).then_some(print)
}

/// Whether files that were touched say something else by now: an agent's file without limits changes nothing.
fn is_edited(env: &Environment, store: &Store, session: &Session) -> bool {
    policy::pin::is_outdated(env, store, session).unwrap_or(true)
}
