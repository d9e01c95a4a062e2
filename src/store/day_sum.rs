//! The table `day_sum`: what was billed on each day. It stays for good of sessions whose detail is pruned.

use rusqlite::{Row, params};

use crate::domain::spend::charge::DaySum;
use crate::error::Result;
use crate::store::Store;
use crate::store::value::{Columns, column};

const SPENT: &str = "SELECT requests, tokens, cache_read_tokens, cost_pico_usd";

impl Store {
    /// Adds to the sum of a day, a project and a model.
    pub fn add_sum(&self, sum: &DaySum) -> Result<()> {
        let DaySum { day, project, model, .. } = sum;
        let known = format!("{SPENT} FROM day_sum WHERE day = ?1 AND project = ?2 AND model = ?3");
        let mut statement = self.prepare(&known)?;
        let mut rows = statement.query(params![day, project, model])?;
        let known = rows.next()?.map(|row| Columns::of(row).spend()).transpose()?.unwrap_or_default();
        let all = known + sum.spend;
        let numbers = [all.requests, all.tokens, all.cache_reads, all.cost.0].map(column);
        let [requests, tokens, cache_reads, cost] = numbers;
        let replace = "REPLACE INTO day_sum (day, project, model, requests, tokens, cache_read_tokens, cost_pico_usd) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.prepare(replace)?.execute(params![day, project, model, requests, tokens, cache_reads, cost])?;
        Ok(())
    }

    /// Loads all sums, the oldest day's first.
    pub fn sums(&self) -> Result<Vec<DaySum>> {
        let all = format!("{SPENT}, day, project, model FROM day_sum ORDER BY day, project, model");
        let mut statement = self.prepare(&all)?;
        let mut rows = statement.query([])?;
        let mut sums = Vec::new();
        while let Some(row) = rows.next()? {
            sums.push(sum_of(row)?);
        }
        Ok(sums)
    }
}

fn sum_of(row: &Row) -> Result<DaySum> {
    let mut columns = Columns::of(row);
    let spend = columns.spend()?;
    Ok(DaySum { day: columns.read()?, project: columns.read()?, model: columns.read()?, spend })
}
