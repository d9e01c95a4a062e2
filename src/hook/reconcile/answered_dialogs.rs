//! Who answered dialogs, by the transcripts: some moments after a call's batch the client has written it down.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::moment::Moment;
use crate::domain::pending_prompt::{Answered, AnsweredBy, Proof, TranscriptEnd};
use crate::domain::session::{Session, Status};
use crate::domain::time_units::MINUTE_MS;
use crate::engine::dialogs;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::hook::load_on_demand::need_run;
use crate::store::Store;
use crate::transcript::{dialogs as rows, layout};

/// By then the transcript has what it will say of a call whose batch is over.
const KNOWN_AFTER_MS: u64 = 5_000;
/// Dialogs of other agents that one event looks after: those whose own agents do not come back.
const OF_OTHERS: usize = 4;
/// How long after its answer a dialog is looked after by the events of other agents.
const LEFT_AFTER_MS: u64 = MINUTE_MS.cast_unsigned();

/// Places in transcripts that one event reads from; further ones are read by the next.
const AT_ONCE: usize = 8;

/// A call whose answer is still to be shown.
struct Open {
    call: String,
    run: String,
    at: Moment,
    proof: Proof,
}

impl Open {
    /// Whether its batch is over for so long that its answer would be there.
    fn is_late(&self, state: &SessionState, now: Moment) -> bool {
        let has_ended = state.run(&self.run).is_none_or(|run| run.status != Status::Running);
        let ended = has_ended.then_some(self.at);
        self.proof.over_at.or(ended).is_some_and(|over| now.wall_since(over) >= KNOWN_AFTER_MS)
    }
}

/// Returns the transcript that tells of an agent's calls now.
fn transcript(session: &Session, agent: &Agent) -> PathBuf {
    let main = Path::new(&session.position.path);
    match agent {
        // In the background it writes another one.
        Agent::Main => {
            session.more_positions.last().map_or_else(|| main.to_path_buf(), |tail| PathBuf::from(&tail.path))
        }
        Agent::Sub { id, .. } => layout::agent_file(main, id),
    }
}

/// Notes where the transcript ends at which the dialog of an event is answered.
pub fn note(state: &mut SessionState, run: &str, event: &Event) {
    let opens = match &event.kind {
        EventKind::ToolRequested(call) => {
            state.session.pending_prompts.iter().any(|ask| ask.tool_use_id == call.id && ask.proof.after.is_none())
        }
        EventKind::PermissionRequested => event.attended,
        _ => false,
    };
    if opens {
        let end = rows::end(&transcript(&state.session, &event.agent));
        dialogs::note_transcript(state, run, event, &end);
    }
}

/// Takes every open dialog for a No whose call a person has refused, as the transcripts say: the client tells no hook of it.
pub fn decline_refused(state: &mut SessionState) {
    let open = state.session.pending_prompts.iter().filter(|ask| !ask.granted);
    let open = open.filter_map(|ask| Some((ask.proof.after.clone()?, ask.tool_use_id.clone())));
    for (after, call) in open.collect::<Vec<_>>() {
        // What cannot be read shows no answer.
        for refused in rows::refused(&after, &[&call]).unwrap_or_default() {
            dialogs::decline_call(state, &refused);
        }
    }
}

/// Finds out who answered the dialogs of the acting agent, and of agents that have been gone for a while.
pub fn answered(store: &Store, state: &mut SessionState, event: &Event) -> Result<Vec<Answered>> {
    let mut found = Vec::new();
    if matches!(event.kind, EventKind::ToolEnded(..) | EventKind::PermissionRequested) {
        return Ok(found);
    }
    let open = open(state, event);
    for run in open.values().flatten().map(|open| open.run.clone()) {
        need_run(store, state, &run)?;
    }
    for (after, open) in open.iter().take(AT_ONCE) {
        found.extend(answers(state, after, open, event.at));
    }
    Ok(found)
}

/// Returns the calls to look after, by what tells of them.
fn open(state: &SessionState, event: &Event) -> BTreeMap<TranscriptEnd, Vec<Open>> {
    let session = &state.session;
    let pending_prompts = session.pending_prompts.iter().filter(|ask| ask.granted).map(|ask| Open {
        call: ask.tool_use_id.clone(),
        run: ask.run.clone(),
        at: ask.granted_at,
        proof: ask.proof.clone(),
    });
    let waits = session.dialog_waits.iter().map(|wait| Open {
        call: wait.call.clone(),
        run: wait.run.clone(),
        at: wait.at,
        proof: wait.proof.clone(),
    });
    let is_own = |open: &Open| match &event.agent {
        Agent::Main => state.run(&open.run).is_some_and(|run| run.is_main()),
        Agent::Sub { id, .. } => open.run == *id,
    };
    let mut others = 0;
    let mut found: BTreeMap<TranscriptEnd, Vec<Open>> = BTreeMap::new();
    for open in pending_prompts.chain(waits) {
        if !is_own(&open) {
            others += usize::from(event.at.wall_since(open.at) >= LEFT_AFTER_MS);
            if others > OF_OTHERS || event.at.wall_since(open.at) < LEFT_AFTER_MS {
                continue;
            }
        }
        if let Some(after) = &open.proof.after {
            found.entry(after.clone()).or_default().push(open);
        }
    }
    found
}

/// Reads who answered calls whose dialogs one transcript tells of after some point.
fn answers(state: &SessionState, after: &TranscriptEnd, open: &[Open], now: Moment) -> Vec<Answered> {
    let calls: Vec<&str> = open.iter().map(|open| open.call.as_str()).collect();
    let nobody = |open: &Open| Answered { call: open.call.clone(), by: AnsweredBy::Nobody };
    let mut found = match rows::answers(after, &calls) {
        Ok(found) => found,
        // It was not there before, and is not there yet.
        Err(cause) if cause.kind() == ErrorKind::NotFound && after.file == 0 => Vec::new(),
        // Something else lies in the place of the transcript, so nothing says that a person has answered.
        Err(_) => return open.iter().map(nobody).collect(),
    };
    let missing = open.iter().filter(|open| found.iter().all(|known| known.call != open.call));
    let late: Vec<Answered> = missing.filter(|open| open.is_late(state, now)).map(nobody).collect();
    found.extend(late);
    found
}
