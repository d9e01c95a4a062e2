//! Who sends an event. The client opens the channel that a hook reads it from, and the system says who opened it.
//!
//! Any program of the user's can start `fusebox hook` and feed it an event of any session. So once an event of a session has come
//! over its client's channel, only such events are believed of it. Where the channel tells nothing (macOS, Windows, a hook behind a
//! pipe of somebody's own) the processes above the hook are looked at.

use crate::domain::event::Event;
use crate::domain::rfc3339;
use crate::domain::session::{Process, Session};
use crate::error::{Error, ErrorKind, Result};
use crate::hook::parse::HookCall;
use crate::hook::{client_lineage, starter};
use crate::messages::notices;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::store::{Store, log_file};

/// Fails where a session is known to be told of by its client alone, and the event at hand comes from another program.
pub fn require(env: &Environment, store: &Store, session: &mut Session, call: &HookCall) -> Result<()> {
    let event = &call.event;
    let is_believed = match session.client_start.tells_over_channel {
        true => is_client(store, session, event, call.sender)?,
        false => !starter::is_foreign(env, store, session, event)?,
    };
    if is_believed {
        return Ok(());
    }
    let what = notices::foreign_events();
    if session.says_first("foreign-events") {
        session.notify_user(&what);
        let mut record = log_file::notice(&session.id, &what, event.at.wall_ms);
        record.at = rfc3339::format(event.at.wall_ms);
        store.save_record(&record, event.at)?;
        store.save_session(session)?;
        store.commit()?;
        log_file::append(log_file::LogPlace { of_session: &session.log, state: store.folder() }, &[record]);
    }
    Err(Error::failed("this event did not come from the client of its session, so it is not believed")
        .of_kind(ErrorKind::Foreign))
}

/// Whether a process is the client of a session, or may be its next one.
fn is_client(store: &Store, session: &Session, event: &Event, sender: Option<Process>) -> Result<bool> {
    let (Some(sender), Some(client)) = (sender, session.client) else { return Ok(false) };
    if sender == client || !processes::is_at_work(client.pid, client.start, client.ns) {
        return Ok(true);
    }
    // A person has the session open a second time. An agent has not: what it starts lies below a client, or is another program.
    if processes::executable(sender.pid) != processes::executable(client.pid) {
        return Ok(false);
    }
    for (pid, start) in processes::ancestors(sender.pid).into_iter().skip(1) {
        if client_lineage::known_client(store, Process { pid, start, ..sender }, event.at)?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}
