//! Clients that a session's commands have started and of which no hook tells, as reports tell of them.

use serde::Serialize;

use crate::report::rows::SessionRows;
use crate::ui::formats::{Timestamp, by_number, counted};
use crate::ui::style::{Terminal, plain};

/// The silent clients of a session.
#[derive(Clone, Debug, Serialize)]
pub struct SilentReport {
    /// How many there were.
    pub seen: u64,
    /// How many of them are at work now.
    pub running: u64,
    /// The last of them, the latest at the end.
    pub clients: Vec<SilentClientReport>,
}

/// One silent client.
#[derive(Clone, Debug, Serialize)]
pub struct SilentClientReport {
    /// Its process id.
    pub process: u32,
    /// The folder of its configuration, as its environment names it.
    pub files: String,
    /// When it was found to be silent.
    pub at: Timestamp,
    /// Whether it is at work now.
    pub running: bool,
}

impl SilentReport {
    /// Returns the silent clients of a session; `None` where none was seen.
    pub fn of(rows: &SessionRows) -> Option<SilentReport> {
        let seen = &rows.session.silent_clients;
        let clients = seen.last.iter().map(|client| SilentClientReport {
            process: client.process.pid,
            files: client.files.clone(),
            at: Timestamp(client.at_ms),
            running: rows.silent_at_work.contains(&client.process.pid),
        });
        let clients: Vec<SilentClientReport> = clients.collect();
        let running = clients.iter().filter(|client| client.running).count() as u64;
        (seen.count > 0).then_some(SilentReport { seen: seen.count, running, clients })
    }

    /// Says how many there were, whether one is at work, and which was the last.
    pub fn sentence(&self, terminal: &Terminal) -> String {
        let at_work = self.clients.iter().rfind(|client| client.running);
        let Some(last) = at_work.or(self.clients.last()) else { return String::new() };
        let files = plain(&last.files);
        match self.running {
            0 => format!(
                "{} that it started {} not known here, so nothing here limited {}: the last seen {}, files in {files}",
                counted(self.seen, "client"),
                by_number(self.seen, "was", "were"),
                by_number(self.seen, "it", "them"),
                terminal.zone.minute(last.at.0)
            ),
            running => format!(
                "{} that it started {} at work and not known here ({} seen): process {}, files in {files}",
                counted(running, "client"),
                by_number(running, "is", "are"),
                self.seen,
                last.process
            ),
        }
    }
}

/// Counts the clients of some sessions that are as is asked for.
pub fn count<'a>(
    clients: impl Iterator<Item = &'a SilentReport>,
    is_one: impl Fn(&SilentClientReport) -> bool,
) -> String {
    clients.flat_map(|it| &it.clients).filter(|client| is_one(client)).count().to_string()
}
