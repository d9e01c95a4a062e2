//! What a session's next client will be bound by, where its client is gone: the budgets that the files have now.

use std::path::Path;

use crate::config::load;
use crate::domain::event::Moment;
use crate::domain::limit_set::LimitSet;
use crate::domain::session::{Session, Status};
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::platform::processes;
use crate::report::rows::SessionRows;
use crate::store::Store;

/// Whether a session's client is gone, so that no policy is pinned for its next prompt.
pub fn is_left(session: &Session, now: Moment) -> bool {
    let boot = session.last.boot;
    let rebooted = boot != now.boot && boot != 0 && now.boot != 0;
    let has_ended = session.is_over || session.status == Status::Orphaned;
    let is_gone = || session.client.is_none_or(|client| processes::is_gone(client.pid, client.start, client.ns));
    has_ended && (rebooted || is_gone())
}

/// The user's and the project's budgets of a session.
#[derive(Clone, Debug)]
pub struct Budgets {
    user: LimitSet,
    project: LimitSet,
}

/// Gives a session whose client is gone the budgets that bind its next prompt; returns those that it had, `None` where they bind still.
pub fn bind(env: &Environment, store: &Store, session: &mut Session) -> Result<Option<Budgets>> {
    if !is_left(session, env.now()) {
        return Ok(None);
    }
    let (policy, _) = load::load(env, Path::new(&session.folder), store.is_trusted(&session.project)?);
    Ok(Some(replace(session, Budgets { user: policy.user(), project: policy.project() })))
}

/// Replaces a session's budgets; returns those that it had.
pub fn replace(session: &mut Session, new: Budgets) -> Budgets {
    Budgets {
        user: std::mem::replace(&mut session.user_limits, new.user),
        project: std::mem::replace(&mut session.project_limits, new.project),
    }
}

/// Does the same for the rows of many sessions: a budget that is in no file any more is none in reports.
pub fn bind_rows(env: &Environment, store: &Store, rows: &mut [SessionRows]) -> Result<()> {
    for rows in rows.iter_mut().filter(|rows| has_budgets(&rows.session)) {
        bind(env, store, &mut rows.session)?;
    }
    Ok(())
}

/// Whether a session has anything that the files may have dropped.
fn has_budgets(session: &Session) -> bool {
    !session.user_limits.is_empty() || !session.project_limits.is_empty()
}
