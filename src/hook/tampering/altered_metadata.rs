//! Tells the person of metadata rows that another program has written or deleted, as an agent can. Fusebox ignores them.

use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::session::Session;
use crate::domain::stored::metadata::kind_of;
use crate::error::Result;
use crate::messages::notices;
use crate::store::Store;

/// The most metadata rows that a notice names.
const NAMED: usize = 3;
/// The longest name that is shown, in characters.
const LONGEST: usize = 120;

/// Tells the person of changed metadata rows, each once a session.
///
/// Each event looks at the rows that it has read. Where a turn begins or ends, it also looks at all kinds with few rows.
pub fn tell(store: &Store, session: &mut Session, event: &Event) -> Result<()> {
    let starts = matches!(event.kind, EventKind::SessionStart { .. });
    let turns = matches!(event.kind, EventKind::Prompt { .. } | EventKind::Stopped { .. } | EventKind::SessionEnded);
    let mut altered = store.take_altered_metadata();
    if event.agent == Agent::Main && (starts || turns) {
        let faults = store.metadata_faults()?;
        altered.extend(faults.altered);
        // A row that was written over is missing, too.
        if faults.lacks_some && altered.is_empty() {
            session.notify_user_once("facts deleted", &notices::facts_deleted());
        }
        if faults.lacks_some && starts {
            store.accept_metadata_as_it_is()?;
        }
    }
    altered.sort_unstable();
    altered.dedup();
    let named: Vec<String> = altered
        .iter()
        .filter_map(|name| describe(name))
        .filter(|name| session.mark_notified(&format!("fact:{name}")))
        .collect();
    if !named.is_empty() {
        let more = named.len().saturating_sub(NAMED);
        let mut what = named[..named.len().min(NAMED)].join(", ");
        if more > 0 {
            what += &format!(", and {more} more");
        }
        session.notify_user(&notices::facts_altered(what));
    }
    Ok(())
}

/// Describes a metadata row by its name; `None` where Fusebox knows no metadata rows of that kind.
pub fn describe(name: &str) -> Option<String> {
    let kind = kind_of(name)?;
    Some(format!("`{}` ({})", name.chars().take(LONGEST).collect::<String>(), kind.says))
}
