//! Tells the person of facts in the state that another program has written or deleted, as an agent can. They are not believed.

use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::session::Session;
use crate::domain::stored::metadata::kind_of;
use crate::error::Result;
use crate::messages::notices;
use crate::store::Store;

/// The most facts that a notice names.
const NAMED: usize = 3;
/// The longest name that is shown, in characters.
const LONGEST: usize = 120;

/// Tells the person once a session of each changed fact: of those that this event has read, and where a turn begins or ends of all
/// kinds that have few facts.
pub fn tell(store: &Store, session: &mut Session, event: &Event) -> Result<()> {
    let starts = matches!(event.kind, EventKind::SessionStart { .. });
    let turns = matches!(event.kind, EventKind::Prompt { .. } | EventKind::Stopped { .. } | EventKind::SessionEnded);
    let mut altered = store.take_altered_facts();
    if event.agent == Agent::Main && (starts || turns) {
        let faults = store.fact_faults()?;
        altered.extend(faults.altered);
        // A fact that was written over is missed, too.
        if faults.lacks_some && altered.is_empty() {
            session.notify_user_once("facts deleted", &notices::facts_deleted());
        }
        if faults.lacks_some && starts {
            store.take_facts_as_they_are()?;
        }
    }
    altered.sort_unstable();
    altered.dedup();
    let named: Vec<String> = altered
        .iter()
        .filter_map(|name| describe(name))
        .filter(|name| session.says_first(&format!("fact:{name}")))
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

/// Describes a fact by its name; `None` where Fusebox knows no facts of that kind.
pub fn describe(name: &str) -> Option<String> {
    let kind = kind_of(name)?;
    Some(format!("`{}` ({})", name.chars().take(LONGEST).collect::<String>(), kind.says))
}
