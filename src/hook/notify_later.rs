//! Notifies the person of a session at its next event, where the event at hand is refused.

use std::path::Path;

use crate::error::Result;
use crate::platform::environment::Environment;
use crate::store::{Store, log_file};

/// Adds a notice to a session and to its log, once under a key of its own. Does nothing where the state does not know the session.
pub fn once(env: &Environment, folder: &Path, id: &str, (key, what): (&str, &str)) -> Result<()> {
    let store = Store::open_for_hook(folder, id)?;
    store.begin()?;
    if let Some(mut session) = store.session(id)?.filter(|session| !session.is_altered)
        && session.mark_notified(key)
    {
        session.notify_user(what);
        store.save_session(&session)?;
        // Events write down only what they say themselves.
        let now = env.now();
        store.save_record(&log_file::notice(id, what, now.wall_ms), now)?;
    }
    store.commit()?;
    store.leave();
    Ok(())
}
