//! The client's status line: it alone hears what is used of the plan's windows, so limits on those rest on it.

use crate::domain::session::Session;
use crate::install::handlers::Registered;
use crate::messages::next_step::NextStep;
use crate::messages::notices;

/// Says that settings would show another status line than the session's, where a limit rests on that.
pub fn loss(session: &Session, now: &Registered) -> Option<String> {
    let (had, has) = (session.diverted.status_line, now.status_line);
    let limit = session.shared_limits.user.on_plan().filter(|_| had != 0 && has != had)?;
    Some(format!("would take Fusebox's status line away, which `{}` hears the plan's windows by", limit.key))
}

/// Tells the person that a limit hears nothing, where Fusebox is not in the status line.
pub fn tell_where_missing(session: &mut Session, now: &Registered) {
    let limit = session.shared_limits.user.on_plan().filter(|_| now.status_line == 0 && session.outer.is_none());
    if let Some(limit) = limit {
        session.notify_user(&notices::plan_unheard(limit.key, NextStep::StatusLine));
    }
}
