//! The session of a hook call: the known one or a new one, pinned to the policy of its client, with what its input says of it.

use std::path::Path;

use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::session::{Session, TranscriptPosition};
use crate::domain::start_source::StartSource;
use crate::error::Result;
use crate::hook::estimates::next_model;
use crate::hook::policy::pin;
use crate::hook::reconcile::{orphans, spend_before_install};
use crate::hook::settings::client_folder;
use crate::hook::tampering::altered_rows;
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::transcript::layout;
use crate::wire::input::Input;

/// Returns the session of an event, pinned where its client is new.
pub fn pinned(
    env: &Environment,
    store: &Store,
    known: Option<Box<Session>>,
    input: &Input,
    event: &Event,
) -> Result<Box<Session>> {
    let mut session = match known {
        Some(session) => orphans::mark_before(store, session, event)?,
        None => begin(env, store, input, event)?,
    };
    let is_new_client = pin::is_due(env, &session, event);
    if is_new_client {
        session.moved_to.clear();
        pin::pin(env, store, &mut session, event)?;
    }
    client_folder::follow(&mut session, input, is_new_client);
    note_models(env, &mut session, input, event);
    note_transcripts(&mut session, input);
    Ok(session)
}

/// Begins a session that the state does not know: as what is left of its altered row says, and with what it has spent before.
fn begin(env: &Environment, store: &Store, input: &Input, event: &Event) -> Result<Box<Session>> {
    let mut new = Box::new(pin::open(env, input, event));
    altered_rows::take_over(store, &mut new)?;
    spend_before_install::meet(env, store, &mut new, event);
    Ok(new)
}

/// Notes how the client has started, and with which model it asks next.
fn note_models(env: &Environment, session: &mut Session, input: &Input, event: &Event) {
    if let EventKind::SessionStart { source } = &event.kind {
        session.is_fork |= *source == StartSource::Fork;
        if event.agent == Agent::Main {
            let (model, context_tokens) = input.start();
            session.client_start.note(source, model, context_tokens);
            next_model::note_start(env, session, source);
        }
    }
    if input.model.is_some() {
        session.model.clone_from(&input.model);
    }
    next_model::note_switch(session, input);
}

/// Notes where the transcripts of its main agent are.
fn note_transcripts(session: &mut Session, input: &Input) {
    if !input.transcript_path.is_empty() && session.position.path != input.transcript_path {
        session.position =
            TranscriptPosition { path: input.transcript_path.to_string(), offset: 0, ..TranscriptPosition::default() };
        session.unread.clear();
    }
    if let Some(id) = input.backgrounded_main() {
        let path = layout::agent_file(Path::new(&session.position.path), id).to_string_lossy().into_owned();
        // One of too many is found in its folder.
        let _is_read = session.reads_on(&path);
    }
}
