//! Where the charges of responses are kept while transcripts are read, and the prices that they are made with.

use std::collections::HashMap;

use crate::domain::spend::charge::Charge;
use crate::error::Result;
use crate::pricing::table::Table;

/// Where charges are kept: the database, or memory in a replay.
pub trait Charges {
    /// Finds what a session was charged for a response.
    fn find(&self, message: &str, session: &str) -> Result<Option<Charge>>;
    /// Whether another session was charged for it. `earlier_ms` is its time where it was made before the session began.
    fn elsewhere(&self, message: &str, session: &str, earlier_ms: Option<i64>) -> Result<bool>;
    /// Returns the moment before which responses that it does not know of may have been charged and pruned.
    fn closed_ms(&self) -> Result<i64>;
    /// Keeps a charge.
    fn keep(&mut self, charge: Charge) -> Result<()>;
}

/// Charges in memory.
#[derive(Debug, Default)]
pub struct Memory {
    by_id: HashMap<String, Vec<Charge>>,
}

impl Memory {
    /// Returns every charge.
    pub fn all(&self) -> impl Iterator<Item = &Charge> {
        self.by_id.values().flatten()
    }
}

impl Charges for Memory {
    fn find(&self, message: &str, session: &str) -> Result<Option<Charge>> {
        let mut of_message = self.by_id.get(message).into_iter().flatten();
        Ok(of_message.find(|charge| charge.session == session).cloned())
    }
    fn elsewhere(&self, message: &str, session: &str, _earlier_ms: Option<i64>) -> Result<bool> {
        Ok(self.by_id.get(message).into_iter().flatten().any(|charge| charge.session != session))
    }
    fn closed_ms(&self) -> Result<i64> {
        Ok(i64::MIN)
    }
    fn keep(&mut self, charge: Charge) -> Result<()> {
        let of_message = self.by_id.entry(charge.message.clone()).or_default();
        of_message.retain(|kept| kept.session != charge.session);
        of_message.push(charge);
        Ok(())
    }
}

/// The prices, or how to get them once a response has to be priced.
#[derive(Clone, Copy)]
pub enum Prices<'a> {
    /// At hand.
    Loaded(&'a Table),
    /// Loaded when first needed: most events bring no response.
    Lazily(&'a dyn Fn() -> &'a Table),
}

impl<'a> Prices<'a> {
    /// Returns them.
    pub fn table(self) -> &'a Table {
        match self {
            Prices::Loaded(table) => table,
            Prices::Lazily(load) => load(),
        }
    }
}

impl<'a> From<&'a Table> for Prices<'a> {
    fn from(table: &'a Table) -> Prices<'a> {
        Prices::Loaded(table)
    }
}
