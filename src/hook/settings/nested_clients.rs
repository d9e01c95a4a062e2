//! Clients that an agent starts read the settings files as they are, so what waits in the agent's session waits for them, too.

use crate::domain::event::{Event, EventKind};
use crate::domain::session::{Session, Status};
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::extensions::{brought_commands, live_mods};
use crate::hook::settings;
use crate::hook::settings::client_starts;
use crate::install::handlers::Registered;
use crate::messages::notices;
use crate::messages::refusals;
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::wire::bypass_detection::Guard;
use crate::wire::input::Input;
use crate::wire::messages::short;

/// Compares the settings that a client has read with those of the first session above it. Where they would do more, the session
/// is held back, and the person is told in the one above.
pub fn compare(store: &Store, session: &mut Session, now: &Registered) -> Result<()> {
    session.held_for = None;
    let above = session.outer.as_ref().map(|outer| store.session(outer)).transpose()?.flatten();
    let Some(mut above) = above else { return Ok(()) };
    let Some(harm) = settings::baseline::harm(&allowed(store, session, &above)?, now) else { return Ok(()) };
    session.notify_user(&notices::settings_held(&harm));
    if above.mark_notified(&format!("below:{harm}")) {
        let takes = takes(session, &above);
        above.notify_user(&notices::settings_held_below(&harm, takes));
        store.save_session(&above)?;
    }
    session.held_for = Some(harm);
    Ok(())
}

/// Says why the prompt or call at hand is refused for settings that wait; nothing where none do.
pub fn refusal_reason(
    env: &Environment,
    store: &Store,
    state: &mut SessionState,
    input: &Input,
    event: &Event,
    guard: &Guard,
) -> Result<Option<String>> {
    let call = match &event.kind {
        EventKind::ToolRequested(call) => Some(call),
        EventKind::Prompt { .. } | EventKind::Compacting => None,
        _ => return Ok(None),
    };
    let held = held_for(store, state)?.or_else(|| live_mods::refusal_reason(&state.session, input, event));
    let brought = || call.and_then(|call| brought_commands::refusal_reason(env, &state.session, input, call, guard));
    let held = held.or_else(brought);
    let starts = call.filter(|_| held.is_none()).map(|call| &call.nested_starts);
    let Some(starts) = starts.filter(|starts| !starts.is_empty()) else { return Ok(held) };
    let waits = settings::baseline::waiting(env, &state.session).map(refusals::client_with_waiting_change);
    Ok(waits.or_else(|| {
        let harm = starts.iter().find_map(|start| client_starts::harm(env, &state.session, guard, start));
        harm.map(refusals::client_without_limits)
    }))
}

/// Says why a session is held back for its client's settings, unless a person has taken them for the session above.
fn held_for(store: &Store, state: &mut SessionState) -> Result<Option<String>> {
    let Some(harm) = state.session.held_for.clone() else { return Ok(None) };
    let above = state.above.iter().find(|above| Some(&above.id) == state.session.outer.as_ref());
    let held = match above {
        Some(above) if !is_allowed(&state.session, &allowed(store, &state.session, above)?) => {
            let takes = takes(&state.session, above);
            Some(refusals::other_settings(short(&above.id), harm, takes))
        }
        _ => None,
    };
    if held.is_none() {
        state.session.held_for = None;
    }
    Ok(held)
}

/// Says how a person takes the settings of a client below a session.
fn takes(session: &Session, above: &Session) -> String {
    if is_reloaded_with(session, above) {
        "If that is yours, `fusebox reload` in a terminal of your own takes it".to_owned()
    } else {
        format!("If that is yours, a client that you start in `{}` yourself takes it", session.folder)
    }
}

/// Whether a reload of the session above takes the settings that a client below it has read.
fn is_reloaded_with(session: &Session, above: &Session) -> bool {
    session.folder == above.folder && above.status != Status::Completed
}

/// Returns the session above with the settings that a client below it may work with. In another folder other files count: what
/// a person's own client has worked with there is allowed, too, and nothing has to be there.
fn allowed(store: &Store, session: &Session, above: &Session) -> Result<Session> {
    let mut allowed =
        Session { handlers: above.handlers.clone(), diverted: above.diverted.clone(), ..Session::default() };
    if !is_reloaded_with(session, above) {
        let known = settings::baseline::known(store, session)?;
        let is_there = |print: &u64| session.diverted.values.contains(print);
        allowed.handlers.clone_from(&session.handlers);
        allowed.diverted.values.extend(&known);
        allowed.diverted.values.retain(is_there);
        allowed.diverted.hooks.extend(known);
    }
    Ok(allowed)
}

/// Whether what a session's client works with is what is allowed: no handler less, nothing more diverted, no variable gone.
fn is_allowed(session: &Session, allowed: &Session) -> bool {
    let (now, then) = (&session.diverted, &allowed.diverted);
    let within = |some: &[u64], all: &[u64]| some.iter().all(|print| all.contains(print));
    allowed.handlers.iter().all(|name| session.handlers.contains(name))
        && (then.off || !now.off)
        && within(&now.values, &then.values)
        && within(&then.values, &now.values)
        && within(&now.hooks, &[then.hooks.as_slice(), &then.programs].concat())
}
