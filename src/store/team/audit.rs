//! What an admin compares: what each login has settled, and what else shows what it spent.

use crate::domain::spend::amount::Amount;
use crate::error::Result;
use crate::store::team::connection::Row;
use crate::store::team::ledger::{Ledger, number, word};

/// What one login has settled in some days, and what else shows what it spent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownSpend {
    /// The login.
    pub login: String,
    /// What its own machines have settled.
    pub settled: Amount,
    /// What its clients say that they have spent in sessions that began in these days; zero where none says so.
    pub client_total: Amount,
    /// By how much that is more, summed over its machines.
    pub client_more: Amount,
    /// What other machines have told of the same responses beyond what its own have.
    pub others_more: Amount,
}

impl ShownSpend {
    /// Returns what was settled too little, as far as it is shown.
    pub fn missing(&self) -> Amount {
        self.client_more.max(self.others_more)
    }
}

impl Ledger {
    /// Compares what each login of a team has settled in some days with what else shows what it spent.
    pub fn audit_spend(&mut self, team: &str, days: u32) -> Result<Vec<ShownSpend>> {
        let statement = "SELECT login, settled_pico_usd, client_total_pico_usd, client_more_pico_usd, \
             others_more_pico_usd FROM fusebox.audit_spend($1, $2)";
        let days = days.to_string();
        let amount = |row: &Row, at| Amount(number(row, at));
        let shown = |row: &Row| ShownSpend {
            login: word(row, 0).to_owned(),
            settled: amount(row, 1),
            client_total: amount(row, 2),
            client_more: amount(row, 3),
            others_more: amount(row, 4),
        };
        Ok(self.ask(statement, &[Some(team), Some(&days)])?.iter().map(shown).collect())
    }
}
