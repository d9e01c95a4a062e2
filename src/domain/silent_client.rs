//! Clients that commands of a session have started, and of which no hook tells.

use serde::{Deserialize, Serialize};

use crate::domain::bounds::SILENT_CLIENTS;
use crate::domain::process::Process;

/// A client of which no hook tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SilentClient {
    /// Its process.
    pub process: Process,
    /// The folder of its configuration, as its environment names it.
    pub files: String,
    /// When it was found to be silent, in milliseconds since 1970.
    pub at_ms: i64,
}

/// The silent clients of a session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SilentClients {
    /// How many there were.
    pub count: u64,
    /// The last of them, the latest at the end.
    pub last: Vec<SilentClient>,
}

impl SilentClients {
    /// Adds a client; returns whether it is new, and one of so few that each is logged.
    pub fn add(&mut self, client: SilentClient) -> bool {
        if self.last.iter().any(|known| known.process == client.process) {
            return false;
        }
        self.count += 1;
        if self.last.len() == SILENT_CLIENTS {
            self.last.remove(0);
        }
        self.last.push(client);
        self.count <= SILENT_CLIENTS as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_counts_once_and_few_are_kept() {
        let mut clients = SilentClients::default();
        let client = |pid: u32| {
            let process = Process { pid, start: 1, ns: 1 };
            SilentClient { process, files: String::new(), at_ms: i64::from(pid) }
        };
        let most = SILENT_CLIENTS as u32;
        let logged = (0..3 * most).filter(|pid| clients.add(client(*pid))).count();
        assert_eq!((logged, clients.count, clients.last.len()), (SILENT_CLIENTS, 3 * u64::from(most), SILENT_CLIENTS));
        assert!(!clients.add(client(3 * most - 1)));
        assert_eq!((clients.count, clients.last.last().unwrap().at_ms), (3 * u64::from(most), i64::from(3 * most - 1)));
    }
}
