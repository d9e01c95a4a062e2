//! What is old goes: small steps, each inside a transaction of the caller's. [`crate::upkeep::prune`] takes them one by one.

use rusqlite::{OptionalExtension, params};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::domain::charge::{Charge, DaySum};
use crate::domain::event::Moment;
use crate::domain::meters::Spend;
use crate::domain::session::{Process, Pruned, Session, TranscriptPosition};
use crate::error::Result;
use crate::store::Store;
use crate::store::entries::{self, Body};

/// How many entries a step looks at. All of them written anew make a transaction of some milliseconds.
const STEP: usize = 128;

const PAGE: &str = "SELECT id, name, body FROM entry WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
/// Another entry may stand behind one only because it found the place taken, and is looked for from there.
const REMOVE: &str = "DELETE FROM entry WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM entry WHERE id = ?1 + 1)";
const EMPTY: &str = "UPDATE entry SET name = '', body = '' WHERE id = ?1";
/// Records have numbers, not hashes: none is pushed along by another.
const REMOVE_RECORD: &str = "DELETE FROM entry WHERE id = ?1";

/// What of a session says whether it may be pruned, and what it holds on to.
#[derive(Clone, Debug, Deserialize)]
pub struct PrunableSession {
    /// Its id.
    #[serde(skip)]
    pub id: String,
    /// The last event.
    pub last: Moment,
    /// The project.
    #[serde(default)]
    pub project: String,
    /// Name of the pinned policy.
    #[serde(default)]
    pub policy: String,
    /// The session whose agent started this one's client.
    #[serde(default)]
    pub outer: Option<String>,
    /// Those between that session and this one.
    #[serde(default)]
    pub between: Vec<String>,
    /// The client's process.
    #[serde(default)]
    pub client: Option<Process>,
    /// How far the main transcript has been read.
    #[serde(rename = "tail", default)]
    pub position: TranscriptPosition,
    /// What was pruned of it.
    #[serde(default)]
    pub pruned: Option<Pruned>,
}

/// How much of a session goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Its calls and responses: it may be resumed, and keeps its counters, orders and grants.
    Detail,
    /// All of it.
    Whole,
}

/// What a step removed, and where the next one goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneStep {
    /// Responses.
    pub responses: u64,
    /// Calls.
    pub calls: u64,
    /// Runs.
    pub runs: u64,
    /// Whether the session itself went.
    pub session: bool,
    /// The last entry that was looked at, where there may be more.
    pub next: Option<i64>,
}

/// Some of the entries of a family: where each stands, the rest of its name, its body.
#[derive(Debug, Default)]
pub struct Rows {
    /// The entries.
    pub rows: Vec<(i64, String, Body)>,
    /// The last entry that was looked at, where there may be more.
    pub next: Option<i64>,
}

impl Store {
    /// Returns the entries after one whose names begin with `prefix`, as many as a step takes.
    pub fn some_below(&self, prefix: &str, after: Option<i64>) -> Result<Rows> {
        let Rows { rows, next } = self.some_of_family(prefix, after)?;
        let named = |(id, name, body): (i64, String, Body)| Some((id, name.strip_prefix(prefix)?.to_owned(), body));
        Ok(Rows { rows: rows.into_iter().filter_map(named).collect(), next })
    }

    /// Returns entries where those of a name's family stand, with their whole names; forgotten ones have none.
    fn some_of_family(&self, prefix: &str, after: Option<i64>) -> Result<Rows> {
        let (first, last) = entries::range_of(prefix);
        let from = after.map_or(first, |after| after + 1);
        let mut statement = self.conn.prepare_cached(PAGE)?;
        let found = statement
            .query_map(params![from, last, STEP as i64], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<rusqlite::Result<Vec<(i64, String, Body)>>>()?;
        let next = found.last().map(|row| row.0).filter(|_| found.len() == STEP);
        Ok(Rows { rows: found, next })
    }

    /// Returns some of the sessions after one, and where to go on.
    pub fn some_sessions(&self, after: Option<i64>) -> Result<(Vec<PrunableSession>, Option<i64>)> {
        let Rows { rows, next } = self.some_below("x/session/", after)?;
        let mut briefs = Vec::with_capacity(rows.len());
        for (_, listed, _) in rows {
            let id = listed.split_once('/').map_or("", |(_, id)| id);
            briefs.extend(
                self.get::<PrunableSession>(&format!("s/{id}"))?
                    .map(|brief| PrunableSession { id: id.to_owned(), ..brief }),
            );
        }
        Ok((briefs, next))
    }

    /// Takes a step in pruning a session: its responses become sums of their days, and go, as do its calls.
    pub fn prune_session(
        &self,
        session: &mut Session,
        extent: Extent,
        after: Option<i64>,
        day: impl Fn(i64) -> String,
    ) -> Result<PruneStep> {
        let prefix = format!("s/{}/", session.id);
        let Rows { rows, next } = self.some_of_family(&prefix, after)?;
        let mut step = PruneStep { next, ..PruneStep::default() };
        let (mut gone, mut sums) = (Vec::new(), Vec::new());
        if extent == Extent::Whole && after.is_none() {
            let runs = self.runs_of(&session.id)?;
            step.runs = runs.len() as u64;
            gone.extend(self.rows_of(runs.iter().map(|run| format!("x/run/{}/{}", run.id, session.id)))?);
        }
        let mut past = session.pruned.unwrap_or_default();
        past.until_ms = past.until_ms.max(session.last.wall_ms);
        for (id, name, body) in rows {
            match name.strip_prefix(&prefix).and_then(|rest| rest.split_once('/')) {
                // Nothing but the place of one that was forgotten.
                None if name.is_empty() => {}
                Some(("m", _)) => {
                    // One that a newer version has written in another way is left to that.
                    let Ok(charge) = body.read::<Charge>(&name) else { continue };
                    past.until_ms = past.until_ms.max(charge.at_ms);
                    past.spent += charge.spend;
                    if !charge.inherited {
                        past.billed += charge.spend;
                        sums.push(sum(&session.project, charge.model, day(charge.at_ms), charge.spend));
                    }
                    step.responses += 1;
                }
                Some(("c", _)) => step.calls += 1,
                Some(("a" | "n", _)) if extent == Extent::Whole => {}
                _ => continue,
            }
            gone.push(id);
        }
        if next.is_none() {
            past.done_ms = session.last.wall_ms;
        }
        session.pruned = Some(past);
        self.add_sums(sums)?;
        self.save_session(session)?;
        if extent == Extent::Whole && next.is_none() {
            let listed = format!("x/session/{:016}/{}", session.started.wall_ms, session.id);
            gone.extend(self.rows_of([listed, format!("s/{}", session.id)])?);
            step.session = true;
        }
        self.remove(gone)?;
        Ok(step)
    }

    /// Returns where some of the records before a moment stand, and where to go on.
    ///
    /// They stand in order: where none of a step is old, the rest are not. The newest is never old, for its number.
    pub fn old_records(&self, before_ms: i64, after: Option<i64>) -> Result<(Vec<i64>, Option<i64>)> {
        let Rows { rows, next } = self.some_below("x/log/", after)?;
        let newest = self.last_number()?;
        let is_before = |(_, number, body): &(i64, String, Body)| {
            body.read::<(i64, IgnoredAny)>(number).is_ok_and(|(at_ms, _)| at_ms < before_ms)
        };
        let old = rows.into_iter().filter(|row| is_before(row) && row.1.parse() != Ok(newest));
        let old: Vec<i64> = old.map(|(id, _, _)| id).collect();
        let next = next.filter(|_| !old.is_empty());
        Ok((old, next))
    }

    /// Takes a step in pruning the records before a moment; returns how many went, and where to go on.
    pub fn prune_records(&self, before_ms: i64, after: Option<i64>) -> Result<(u64, Option<i64>)> {
        let (old, next) = self.old_records(before_ms, after)?;
        for id in &old {
            self.conn.prepare_cached(REMOVE_RECORD)?.execute(params![id])?;
        }
        Ok((old.len() as u64, next))
    }

    /// Returns how many bytes the database holds, the log of what is to be folded back not counted.
    pub fn size(&self) -> Result<u64> {
        let number = |pragma: &str| self.conn.query_row(pragma, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned);
        Ok(number("PRAGMA page_count")? * number("PRAGMA page_size")?)
    }

    /// Removes entries. Where another stands behind one, its place stays taken.
    pub fn remove(&self, mut ids: Vec<i64>) -> Result<()> {
        ids.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        for id in ids {
            if self.conn.prepare_cached(REMOVE)?.execute(params![id])? == 0 {
                self.conn.prepare_cached(EMPTY)?.execute(params![id])?;
            }
        }
        Ok(())
    }

    /// Returns where entries stand; those that are not there are left out.
    fn rows_of(&self, names: impl IntoIterator<Item = String>) -> Result<Vec<i64>> {
        names.into_iter().filter_map(|name| self.row_of(&name).transpose()).collect()
    }

    /// Returns where an entry stands.
    fn row_of(&self, name: &str) -> Result<Option<i64>> {
        let mut statement = self.conn.prepare_cached(entries::GET)?;
        let mut id = entries::id_of(name);
        loop {
            match statement.query_row(params![id], |row| row.get::<_, String>(0)).optional()? {
                Some(found) if found == name => return Ok(Some(id)),
                Some(_) => id += 1,
                None => return Ok(None),
            }
        }
    }
}

fn sum(project: &str, model: String, day: String, spend: Spend) -> DaySum {
    DaySum { day, project: project.to_owned(), model, spend }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn an_entry_that_found_its_place_taken_is_found_when_the_other_is_gone() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_for(folder.path(), None)?;
        let mut known = HashMap::new();
        let meet = (0..100_000).map(|number| format!("s/{number}")).find_map(|name| {
            let other = known.insert(entries::id_of(&name), name.clone());
            other.map(|other| (other, name))
        });
        let (one, two) = meet.unwrap();
        store.put_text(&one, "1")?;
        store.put_text(&two, "2")?;
        store.remove(store.row_of(&one)?.into_iter().collect())?;
        assert_eq!((store.text(&one)?, store.text(&two)?), (None, Some("2".to_owned())));
        store.remove(store.row_of(&two)?.into_iter().collect())?;
        assert_eq!(store.text(&two)?, None);
        Ok(())
    }
}
