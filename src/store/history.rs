//! What reports and commands read: sessions, runs, charges, records.

use std::collections::BTreeMap;

use crate::domain::charge::{Charge, Record};
use crate::domain::session::{Run, Session, Status};
use crate::engine::session_state::{CallRecord, CallState};
use crate::error::Result;
use crate::store::Store;
use crate::store::entries::Body;

/// A record with its number and its moment in milliseconds since 1970.
pub type Numbered = (i64, i64, Record);

impl Store {
    /// Returns the sessions with an event since `since_ms`, the oldest first.
    pub fn sessions_since(&self, since_ms: i64) -> Result<Vec<Session>> {
        let mut sessions = Vec::new();
        for (listed, _) in self.below("x/session/")? {
            let (started, id) = listed.split_once('/').unwrap_or_default();
            // A session that was deleted and counted again is listed with both its beginnings.
            let is_listed = |session: &Session| started.parse() == Ok(session.started.wall_ms);
            sessions.extend(self.session(id)?.map(|it| *it).filter(|it| is_listed(it) && it.last.wall_ms >= since_ms));
        }
        Ok(sessions)
    }

    /// Returns all runs of a session, the oldest first.
    pub fn runs_of(&self, session: &str) -> Result<Vec<Run>> {
        let at_work = self.session(session)?.and_then(|session| session.at_work).map(|(_, run)| *run);
        let mut runs = self.all_named(&format!("s/{session}/a/"), |run: &mut Run, id| {
            id.clone_into(&mut run.id);
            session.clone_into(&mut run.session);
        })?;
        runs.extend(at_work);
        runs.sort_by(|a, b| (a.started.wall_ms, &a.id).cmp(&(b.started.wall_ms, &b.id)));
        Ok(runs)
    }

    /// Returns the runs of all sessions that have not ended by themselves.
    pub fn runs_at_work(&self) -> Result<Vec<Run>> {
        self.runs_where(|run| run.status != Status::Completed)
    }

    /// Returns the runs of all sessions that work on a task.
    pub fn runs_of_task(&self, task: &str) -> Result<Vec<Run>> {
        self.runs_where(|run| run.task.as_deref() == Some(task))
    }

    /// Returns the runs of all sessions with an agent type.
    pub fn runs_of_type(&self, agent_type: &str) -> Result<Vec<Run>> {
        self.runs_where(|run| run.agent_type == agent_type)
    }

    fn runs_where(&self, wanted: impl Fn(&Run) -> bool) -> Result<Vec<Run>> {
        let mut runs = Vec::new();
        for session in self.sessions_since(i64::MIN)? {
            runs.extend(self.runs_of(&session.id)?.into_iter().filter(|run| wanted(run)));
        }
        Ok(runs)
    }

    /// Returns how many tool calls were counted for each run of a session.
    pub fn calls_of(&self, session: &str) -> Result<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        let filed: Vec<(String, CallRecord)> = self.all(&format!("s/{session}/c/"))?;
        let in_flight = self.runs_of(session)?.into_iter();
        let in_flight = in_flight.flat_map(|run| run.calls.into_values().map(move |call| (run.id.clone(), call)));
        for (run, call) in filed.into_iter().chain(in_flight) {
            if call.state == CallState::Counted {
                *counts.entry(run).or_default() += 1;
            }
        }
        Ok(counts)
    }

    /// Returns the charges of a session, the oldest first.
    pub fn charges_of(&self, session: &str) -> Result<Vec<Charge>> {
        let mut charges = self.all_named(&format!("s/{session}/m/"), |charge: &mut Charge, message| {
            message.clone_into(&mut charge.message);
            session.clone_into(&mut charge.session);
        })?;
        charges.sort_by(|a, b| (a.at_ms, &a.message).cmp(&(b.at_ms, &b.message)));
        Ok(charges)
    }

    /// Returns the records since `since_ms`, the oldest first.
    pub fn records_since(&self, since_ms: i64) -> Result<Vec<Numbered>> {
        self.records(|(_, at_ms, _)| *at_ms >= since_ms)
    }

    /// Returns the records after the one with this number, the oldest first.
    pub fn records_after(&self, number: i64) -> Result<Vec<Numbered>> {
        self.records(|record| record.0 > number)
    }

    /// Returns the records of a session, the oldest first.
    pub fn records_of(&self, session: &str) -> Result<Vec<Numbered>> {
        self.records(|record| record.2.session == session)
    }

    /// Returns the record with this number.
    pub fn record(&self, number: i64) -> Result<Option<Numbered>> {
        Ok(self.records(|record| record.0 == number)?.pop())
    }

    /// Returns the ids of sessions and runs that begin with `prefix`: `(session, run or nothing)`.
    pub fn matching(&self, prefix: &str) -> Result<Vec<(String, Option<String>)>> {
        let listed =
            self.below("x/session/")?.into_iter().filter_map(|(name, _)| Some(name.split_once('/')?.1.to_owned()));
        let sessions = listed.filter(|id| id.starts_with(prefix)).map(|id| (id, None));
        let runs = self.below(&format!("x/run/{prefix}"))?.into_iter().filter_map(|(rest, _)| {
            let (run, session) = rest.split_once('/')?;
            Some((session.to_owned(), Some(format!("{prefix}{run}"))))
        });
        Ok(sessions.chain(runs).collect())
    }

    /// Returns the client processes that sessions were pinned by in a boot, with their start times.
    pub fn clients(&self, boot: u64) -> Result<Vec<(u32, u64)>> {
        let names = self.metadata_names("client:")?;
        let client = |name: &String| {
            let mut parts = name.split(':');
            let (pid, start) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let of: u64 = parts.next()?.parse().ok()?;
            (of == boot).then_some((pid, start))
        };
        Ok(names.iter().filter_map(client).collect())
    }

    /// Returns the sessions that a `fusebox run` started.
    pub fn sessions_of_launcher(&self, launcher: &str) -> Result<Vec<Session>> {
        let listed = self.below("x/session/")?.into_iter().filter(|(_, of)| of.text() == launcher);
        let sessions = listed.filter_map(|(name, _)| self.session(name.split_once('/')?.1).transpose());
        sessions.map(|session| session.map(|session| *session)).collect()
    }

    /// Reads records; one that a newer version has written in another way is passed over.
    fn records(&self, wanted: impl Fn(&Numbered) -> bool) -> Result<Vec<Numbered>> {
        let read = |(number, body): (String, Body)| {
            let (at_ms, record) = body.read(&number).ok()?;
            Some((number.parse().ok()?, at_ms, record))
        };
        Ok(self.below("x/log/")?.into_iter().filter_map(read).filter(wanted).collect())
    }
}
