//! What a session's next client will be bound by, where its client is gone: the budgets that the files have now.

use std::path::Path;

use crate::config::load;
use crate::domain::moment::Moment;
use crate::domain::session::{Session, Status};
use crate::domain::shared_limits::SharedLimits;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::report::rows::SessionRows;
use crate::report::take_up;
use crate::store::Store;

/// Whether a session's client is gone, so that no policy is pinned for its next prompt.
pub fn client_is_gone(session: &Session, now: Moment) -> bool {
    let boot = session.last.boot;
    let rebooted = boot != now.boot && boot != 0 && now.boot != 0;
    let has_ended = session.is_over || session.status == Status::Orphaned;
    let is_gone = || session.client.is_none_or(|client| processes::is_gone(client.pid, client.start, client.ns));
    has_ended && (rebooted || is_gone())
}

/// Whether a client has a session, as far as that is known.
pub fn has_client(session: &Session) -> bool {
    let is_gone = session.client.is_some_and(|client| processes::is_gone(client.pid, client.start, client.ns));
    !is_gone && !take_up::needs_client(session)
}

/// Returns the command that takes a session up, typed in the folder `here`; `None` where its client is there.
pub fn again(session: &Session, here: &str) -> Option<String> {
    (!has_client(session)).then(|| take_up::typed_in(&session.folder, &take_up::command(session), here))
}

/// Gives a session whose client is gone the budgets that bind its next prompt; returns those that it had, `None` where they bind still.
pub fn bind(env: &Environment, store: &Store, session: &mut Session) -> Result<Option<SharedLimits>> {
    if !client_is_gone(session, env.now()) {
        return Ok(None);
    }
    let budgets = in_files(env, store, session)?;
    Ok(Some(replace(session, budgets)))
}

/// Replaces a session's budgets; returns those that it had.
pub fn replace(session: &mut Session, new: SharedLimits) -> SharedLimits {
    std::mem::replace(&mut session.shared_limits, new)
}

/// Binds the rows of many sessions to the budgets of their next prompts: a budget that is in no file any more is none in reports.
pub fn bind_rows(env: &Environment, store: &Store, rows: &mut [SessionRows]) -> Result<()> {
    let now = env.now();
    // Many sessions have worked in one folder.
    let mut known: Vec<((String, String), SharedLimits)> = Vec::new();
    for rows in rows.iter_mut().filter(|rows| may_differ(&rows.session, now)) {
        let place = (rows.session.folder.clone(), rows.session.project.clone());
        let budgets = match known.iter().find(|(of, _)| *of == place) {
            Some((_, budgets)) => budgets.clone(),
            None => {
                let budgets = in_files(env, store, &rows.session)?;
                known.push((place, budgets.clone()));
                budgets
            }
        };
        replace(&mut rows.session, budgets);
    }
    Ok(())
}

/// Whether the files may have other budgets than a session: its client is gone, and it has some.
pub fn may_differ(session: &Session, now: Moment) -> bool {
    !session.shared_limits.is_empty() && client_is_gone(session, now)
}

/// Returns the budgets that the files have for a session's next client.
fn in_files(env: &Environment, store: &Store, session: &Session) -> Result<SharedLimits> {
    let (policy, _) = load::load(env, Path::new(&session.folder), store.is_trusted(&session.project)?);
    Ok(SharedLimits { user: policy.user(), project: policy.project() })
}
