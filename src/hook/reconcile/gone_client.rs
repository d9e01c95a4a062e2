//! Whether the client of a session is gone.

use crate::domain::moment::Moment;
use crate::domain::session::{Session, Status};
use crate::platform::processes;

/// Whether a session counts as at work although its client is gone: another boot has begun, or its process is no more.
pub fn is_abandoned(session: &Session, now: Moment) -> bool {
    let boot = session.last.boot;
    let rebooted = boot != now.boot && boot != 0 && now.boot != 0;
    let at_work = session.status == Status::Running || !session.open.is_empty();
    let gone = || session.client.is_some_and(|client| processes::is_gone(client.pid, client.start, client.ns));
    at_work && (rebooted || gone())
}
