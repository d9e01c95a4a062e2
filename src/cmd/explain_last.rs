//! The last that a limit has done, for `fusebox explain` without an id.

use crate::cmd::config::project_folder;
use crate::cmd::query;
use crate::cmd::target::Target;
use crate::domain::record::{Record, RecordKind, Warning};
use crate::domain::scope::Scope;
use crate::domain::session::{Session, Status};
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::report::log_lines;
use crate::report::rows::project;
use crate::store::Store;
use crate::store::event::Numbered;
use crate::ui::terminal::plain;
use crate::wire::messages::short;

/// What is to be explained.
pub struct Found {
    /// Its run or session.
    pub target: Target,
    /// The number of the record that is meant.
    pub trip: Option<i64>,
    /// What is said of the last that a limit did, where nothing was named.
    pub is_last: Option<String>,
}

impl Found {
    /// Returns the run or session that a record is about.
    pub fn of_record(store: &Store, number: i64, record: Record) -> Result<Found> {
        let is_of_session = log_lines::is_persons(&record) && record.scope == Scope::Session.as_str();
        let target = match store.run(&record.session, &record.run)?.filter(|_| !is_of_session) {
            Some(run) => Target::Run { session: run.session, run: run.id },
            None => Target::Session(record.session),
        };
        Ok(Found { target, trip: Some(number), is_last: None })
    }
}

/// Finds the last that a limit has done, and says when that was: it may be an earlier job's.
pub fn find(env: &Environment, store: &Store) -> Result<Option<Found>> {
    let Some((mut found, at_ms)) = last(store)? else { return Ok(None) };
    let here = env.project_of(&project_folder(env)).to_string_lossy().into_owned();
    let own = store.session(found.target.session())?;
    let later = store.sessions_since(at_ms)?.into_iter().rfind(|it| it.project == here && it.started.wall_ms > at_ms);
    let whose = match (later, own) {
        (Some(later), Some(own)) if later.id != own.id => {
            format!(", before session {} began, the newest of this project", short(&later.id))
        }
        (_, Some(own)) if own.project != here => format!(", in {}", plain(project(&own.project))),
        _ => String::new(),
    };
    let when = query::zone(env).minute(at_ms);
    found.is_last = found.is_last.map(|words| format!("{words} It was at {when}{whose}."));
    Ok(Some(found))
}

/// Finds a trip, a dialog that granted nothing, or a prompt that was not sent since; and when that was.
fn last(store: &Store) -> Result<Option<(Found, i64)>> {
    let trip = store.latest_trip()?;
    let since_ms = trip.as_ref().map_or(i64::MIN, |(_, at_ms, _)| *at_ms);
    let asks = |session: &Session| {
        session.status != Status::Orphaned && session.pending_prompts.iter().any(|ask| !ask.granted)
    };
    let mut asked = Vec::new();
    for session in store.open_sessions()?.into_iter().filter(asks) {
        let records = store.records_of(&session.id)?.into_iter();
        asked.extend(records.filter(|row| row.2.event == Some(RecordKind::IncreaseAsked) && row.1 >= since_ms));
    }
    if let Some((number, at_ms, record)) = asked.into_iter().max_by_key(|row: &Numbered| row.0) {
        let words = format!("#{number} is the last one: a dialog that nobody has answered yet.");
        return Ok(Some((Found { is_last: Some(words), ..Found::of_record(store, number, record)? }, at_ms)));
    }
    let blocks = |session: &Session| {
        let is_limit = session.prompt_block.as_ref().is_some_and(|finding| finding.limit().is_some());
        is_limit && session.order.is_none() && session.last.wall_ms > since_ms
    };
    let blocked = store.open_sessions()?.into_iter().filter(blocks).max_by_key(|session| session.last.wall_ms);
    if let Some(Session { id, main: Some(run), last, .. }) = blocked {
        let words = format!("The last is a prompt of session {} that was blocked.", short(&id));
        let found = Found { target: Target::Run { session: id, run }, trip: None, is_last: Some(words) };
        return Ok(Some((found, last.wall_ms)));
    }
    let Some((number, at_ms, record)) = trip else { return Ok(None) };
    let words = match record.event {
        _ if record.warning() == Some(Warning::KeptBack) => {
            format!(
                "The last is a prompt of session {} that was blocked. It is trip #{number}.",
                short(&record.session)
            )
        }
        Some(RecordKind::IncreaseAsked) => format!("#{number} is the last one: a dialog that asked for more."),
        Some(RecordKind::IncreaseDeclined) => format!("#{number} is the last one: a dialog that granted nothing."),
        _ if log_lines::is_persons(&record) => format!("#{number} is the last one, given by a person."),
        _ => format!("Trip #{number} is the last one."),
    };
    Ok(Some((Found { is_last: Some(words), ..Found::of_record(store, number, record)? }, at_ms)))
}
