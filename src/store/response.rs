//! The table `response`: what sessions were charged, one row for each response of a model.

use rusqlite::types::ToSql;
use rusqlite::{Row, params};

use crate::domain::spend::charge::Charge;
use crate::domain::spend::meters::Spend;
use crate::error::Result;
use crate::store::Store;
use crate::store::seal::ColumnsHash;
use crate::store::value::{Columns, column, to_json};

/// In the order in which they are written: the seal is over them in that order.
const COLUMNS: &str = "SELECT session_id, id, run_id, model, at_ms, requests, tokens, cache_read_tokens, cost_pico_usd, \
     is_inherited, engine FROM response";
/// Where its JSON stands among those.
const ENGINE: usize = 10;

/// Whose responses are wanted.
#[derive(Clone, Copy, Debug)]
pub enum Whose<'a> {
    /// All sessions'.
    All,
    /// Those of a project's sessions, and of one session that may not be saved yet.
    Project {
        /// The project.
        project: &'a str,
        /// The session.
        and: &'a str,
    },
}

/// The responses of a session that are as they were written.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoundCharges {
    /// What they spent.
    pub spent: Spend,
    /// How many they are.
    pub count: usize,
    /// How many others there were.
    pub altered: usize,
}

impl Store {
    /// Loads a response of a session.
    pub fn charge(&self, message: &str, session: &str) -> Result<Option<Charge>> {
        let mut statement = self.prepare(&format!("{COLUMNS} WHERE session_id = ?1 AND id = ?2"))?;
        let mut rows = statement.query(params![session, message])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let is_altered = is_altered(row)?;
        Ok(Some(Charge { is_altered, ..charge_of(row)? }))
    }

    /// Whether another session was charged for a response that was given at a moment: a transcript that is copied under another name
    /// repeats both.
    pub fn is_charged_elsewhere(&self, message: &str, session: &str, at_ms: i64) -> Result<bool> {
        let other = "SELECT 1 FROM response WHERE at_ms = ?1 AND id = ?2 AND session_id <> ?3";
        Ok(self.prepare(other)?.exists(params![at_ms, message, session])?)
    }

    /// Loads the responses of a session, the oldest first.
    pub fn charges_of(&self, session: &str) -> Result<Vec<Charge>> {
        let mut charges = Vec::new();
        self.each_charge("WHERE session_id = ?1 ORDER BY at_ms, id", &[&session], |charge| charges.push(charge))?;
        Ok(charges)
    }

    /// Gives to `take` every response since `since_ms`, the oldest first, but for those that another session was billed for.
    pub fn each_charge_since(&self, since_ms: i64, whose: Whose, take: impl FnMut(Charge)) -> Result<()> {
        match whose {
            Whose::All => self.each_charge("WHERE at_ms >= ?1 AND NOT is_inherited ORDER BY at_ms", &[&since_ms], take),
            Whose::Project { project, and } => {
                let of_project = "WHERE at_ms >= ?1 AND NOT is_inherited AND (session_id = ?2 OR \
                     (SELECT project FROM session WHERE session.id = session_id) = ?3) ORDER BY at_ms";
                self.each_charge(of_project, &[&since_ms, &and, &project], take)
            }
        }
    }

    fn each_charge(&self, wanted: &str, values: &[&dyn ToSql], mut take: impl FnMut(Charge)) -> Result<()> {
        let mut statement = self.prepare(&format!("{COLUMNS} {wanted}"))?;
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            take(charge_of(row)?);
        }
        Ok(())
    }

    /// Saves a response.
    pub fn save_charge(&self, charge: &Charge) -> Result<()> {
        let Charge { session, message, run, model, at_ms, spend, inherited, .. } = charge;
        let replace = "REPLACE INTO response (session_id, id, run_id, model, at_ms, requests, tokens, cache_read_tokens, \
             cost_pico_usd, is_inherited, engine, output_tokens, cache_creation_tokens) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
        let [requests, tokens, cache_reads, cost] =
            [spend.requests, spend.tokens, spend.cache_reads, spend.cost.0].map(column);
        let (output, cache_writes) = (column(charge.output), charge.cache_writes.map(column));
        let mut values: [&dyn ToSql; ENGINE + 3] = [
            session,
            message,
            run,
            model,
            at_ms,
            &requests,
            &tokens,
            &cache_reads,
            &cost,
            inherited,
            &"",
            &output,
            &cache_writes,
        ];
        let engine = ColumnsHash::of_values(&values[..=ENGINE], ENGINE)?.put(to_json("a response", charge)?, false);
        values[ENGINE] = &engine;
        self.prepare(replace)?.execute(&values[..])?;
        Ok(())
    }

    /// Loads some of the responses of a session.
    pub fn some_charges(&self, session: &str, most: u64) -> Result<Vec<Charge>> {
        let mut charges = Vec::new();
        self.each_charge("WHERE session_id = ?1 LIMIT ?2", &[&session, &column(most)], |charge| charges.push(charge))?;
        Ok(charges)
    }

    /// Returns the ids of sessions that have responses since `since_ms` and no row.
    pub fn sessions_without_row(&self, since_ms: i64) -> Result<Vec<String>> {
        let without = "SELECT DISTINCT session_id FROM response WHERE at_ms >= ?1 \
             AND NOT EXISTS (SELECT 1 FROM session WHERE session.id = session_id)";
        let mut statement = self.prepare(without)?;
        let ids = statement.query_map(params![since_ms], |row| row.get(0))?;
        Ok(ids.collect::<rusqlite::Result<_>>()?)
    }

    /// Sums the responses of a session that are as they were written, and deletes the others.
    pub fn sum_sound_charges(&self, session: &str) -> Result<SoundCharges> {
        let mut found = SoundCharges::default();
        let mut altered: Vec<String> = Vec::new();
        let mut statement = self.prepare(&format!("{COLUMNS} WHERE session_id = ?1"))?;
        let mut rows = statement.query(params![session])?;
        while let Some(row) = rows.next()? {
            if is_altered(row)? {
                altered.push(row.get(1)?);
                continue;
            }
            found.spent += Columns::from(row, 5).spend()?;
            found.count += 1;
        }
        for message in &altered {
            let delete = "DELETE FROM response WHERE session_id = ?1 AND id = ?2";
            self.prepare(delete)?.execute(params![session, message])?;
        }
        found.altered = altered.len();
        Ok(found)
    }

    /// Deletes a response.
    pub fn delete_charge(&self, charge: &Charge) -> Result<()> {
        let delete = "DELETE FROM response WHERE session_id = ?1 AND id = ?2";
        self.prepare(delete)?.execute(params![charge.session, charge.message])?;
        Ok(())
    }
}

/// Whether another program has changed the row of a response.
fn is_altered(row: &Row) -> Result<bool> {
    Ok(ColumnsHash::of_row(row, ENGINE, ENGINE)?.is_broken(row.get_ref(ENGINE)?.as_bytes()?))
}

fn charge_of(row: &Row) -> Result<Charge> {
    let mut charge: Charge = Columns::from(row, ENGINE).json("a response")?;
    let mut columns = Columns::of(row);
    charge.session = columns.read()?;
    charge.message = columns.read()?;
    charge.run = columns.read()?;
    charge.model = columns.read()?;
    charge.at_ms = columns.read()?;
    charge.spend = columns.spend()?;
    charge.inherited = columns.count()? != 0;
    Ok(charge)
}
