//! Notifies the person of a session at its next event, where the event at hand is refused or there is none.

use std::path::Path;

use crate::domain::session::Session;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::store::{Store, log_file};

/// A notice that a session is told of once.
pub struct OnceNotice<'a> {
    /// What tells it from others.
    pub key: &'a str,
    /// What it says.
    pub what: &'a str,
}

/// Adds a notice to a session and to its log, once under its key. Does nothing where the state does not know the session.
pub fn once(env: &Environment, folder: &Path, id: &str, notice: OnceNotice) -> Result<()> {
    let OnceNotice { key, what } = notice;
    change(env, folder, id, &mut |session| {
        let is_new = session.mark_notified(key);
        if is_new {
            session.notify_user(what);
        }
        is_new.then(|| what.to_owned())
    })
}

/// Changes a session, and logs what the change returns. Does nothing where the state does not know the session.
pub fn change(
    env: &Environment,
    folder: &Path,
    id: &str,
    change: &mut dyn FnMut(&mut Session) -> Option<String>,
) -> Result<()> {
    let store = Store::open_for_hook(folder, id)?;
    store.begin()?;
    let mut logged = None;
    if let Some(mut session) = store.session(id)?.filter(|session| !session.is_altered) {
        let before = session.clone();
        let what = change(&mut session);
        if session != before {
            store.save_session(&session)?;
        }
        // Events write down only what they say themselves.
        let now = env.now();
        if let Some(record) = what.map(|what| log_file::notice(id, &what, now.wall_ms)) {
            store.save_record(&record, now)?;
            logged = Some((session.log, record));
        }
    }
    store.commit()?;
    store.leave();
    if let Some((of_session, record)) = logged {
        log_file::append(log_file::LogPlace { of_session: &of_session, state: folder }, &[record]);
    }
    Ok(())
}
