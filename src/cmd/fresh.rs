//! What commands that show something read first: the sessions as they stand now, and the page to show them on.

use chrono::{DateTime, Local, NaiveDateTime, NaiveTime, TimeZone};

use crate::engine::session::Session;
use crate::error::Result;
use crate::live::catch_up::catch_up;
use crate::live::orphans;
use crate::report::page::{Colour, Page};
use crate::report::period::Since;
use crate::report::rows::{Logged, SessionRows};
use crate::store::history::Numbered;
use crate::store::{self, Store};
use crate::world::World;

/// Returns the sessions that are wanted, the oldest first, with all their rows, their transcripts read up to now.
///
/// The locks are let go after each session: hooks wait for them.
pub fn fresh_sessions(world: &World, wanted: impl Fn(&Session) -> bool) -> Result<Vec<SessionRows>> {
    let sessions = Store::open(world)?.sessions_since(i64::MIN)?;
    let mut fresh = Vec::new();
    for session in sessions.into_iter().filter(wanted) {
        let store = Store::open_for(&store::folder(world)?, Some(&session.id))?;
        catch_up(world, &store, &session.id)?;
        let Some(session) = store.session(&session.id)? else { continue };
        fresh.push(rows_of(&store, *session)?);
    }
    Ok(fresh)
}

/// Takes note of sessions whose client has died.
pub fn note_orphans(world: &World) -> Result<()> {
    let now = world.now();
    let sessions = Store::open(world)?.sessions_since(i64::MIN)?;
    for session in sessions.iter().filter(|session| orphans::is_orphaned(session, now)) {
        catch_up(world, &Store::open_for(&store::folder(world)?, Some(&session.id))?, &session.id)?;
    }
    Ok(())
}

/// Reads all rows of a session.
pub fn rows_of(store: &Store, session: Session) -> Result<SessionRows> {
    let id = session.id.clone();
    Ok(SessionRows {
        session,
        runs: store.runs_of(&id)?,
        charges: store.charges_of(&id)?,
        records: store.records_of(&id)?.into_iter().map(logged).collect(),
        calls: store.calls_of(&id)?,
    })
}

/// Returns a record as reports take it.
pub fn logged(row: Numbered) -> Logged {
    let (number, at_ms, record) = row;
    Logged { number, at_ms, record }
}

/// Returns the page that standard output is.
pub fn page(world: &World) -> Page {
    let colour = if world.colours() { Colour::On } else { Colour::Off };
    Page { width: world.width(), colour, local }
}

/// Returns the local time of a moment.
pub fn local(at_ms: i64) -> NaiveDateTime {
    DateTime::from_timestamp_millis(at_ms).unwrap_or_default().with_timezone(&Local).naive_local()
}

/// Returns the moment that a period begins at, in milliseconds since 1970.
pub fn begin_ms(world: &World, since: Since) -> i64 {
    match since {
        Since::All => i64::MIN,
        Since::Ago(ms) => world.now().wall_ms.saturating_sub(ms),
        Since::Day(day) => {
            let midnight = day.and_time(NaiveTime::MIN);
            // Where the clocks skip midnight, the day begins when they have.
            let begins = Local.from_local_datetime(&midnight).earliest();
            begins.map_or_else(|| midnight.and_utc().timestamp_millis(), |begins| begins.timestamp_millis())
        }
    }
}
