//! The table `budget`: what the sessions of the user, of a project or of a team share.

use rusqlite::types::ToSql;
use rusqlite::{Row, params};

use crate::domain::budget::SharedBudget;
use crate::domain::scope::Scope;
use crate::error::Result;
use crate::store::Store;
use crate::store::seal::ColumnsHash;
use crate::store::value::{Columns, column, to_json};

/// In the order in which they are written: the seal is over them in that order.
const COLUMNS: &str =
    "SELECT scope, owner, day_cost_pico_usd, week_cost_pico_usd, month_cost_pico_usd, engine FROM budget";
/// Where its JSON stands among the columns.
const ENGINE: usize = 5;
const SCOPES: [Scope; 3] = [Scope::User, Scope::Project, Scope::Team];

impl Store {
    /// Loads what the sessions of the user, or of a project, share.
    pub fn shared_budget(&self, scope: Scope, id: &str) -> Result<Option<SharedBudget>> {
        Ok(self.budgets_where("WHERE scope = ?1 AND owner = ?2", &[&scope.as_str(), &id])?.pop())
    }

    /// Whether sessions share anything: where they do not, that is asked with less work than for their budgets.
    pub fn has_budgets(&self) -> Result<bool> {
        Ok(self.prepare("SELECT 1 FROM budget LIMIT 1")?.exists([])?)
    }

    /// Loads everything that sessions share: the user's first, then the projects'. A period may be over by now.
    pub fn shared_budgets(&self) -> Result<Vec<SharedBudget>> {
        self.budgets_where("ORDER BY scope DESC, owner", &[])
    }

    fn budgets_where(&self, wanted: &str, values: &[&dyn ToSql]) -> Result<Vec<SharedBudget>> {
        let mut statement = self.prepare(&format!("{COLUMNS} {wanted}"))?;
        let mut rows = statement.query(values)?;
        let mut budgets = Vec::new();
        while let Some(row) = rows.next()? {
            budgets.push(budget_of(row)?);
        }
        Ok(budgets)
    }

    /// Saves what sessions share.
    pub fn save_shared_budget(&self, budget: &SharedBudget) -> Result<()> {
        let spent = budget.spent(None);
        let [day, week, month] = [spent.day, spent.week, spent.month].map(|spent| column(spent.cost.0));
        let (engine, scope) = (to_json("a budget", budget)?, budget.scope.as_str());
        let mut values: [&dyn ToSql; 6] = [&scope, &budget.id, &day, &week, &month, &""];
        let engine = ColumnsHash::of_values(&values, ENGINE)?.put(engine, false);
        values[ENGINE] = &engine;
        let replace = "REPLACE INTO budget (scope, owner, day_cost_pico_usd, week_cost_pico_usd, month_cost_pico_usd, engine) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.prepare(replace)?.execute(&values[..])?;
        Ok(())
    }

    /// Deletes what the sessions of the user, or of a project, shared.
    pub fn delete_shared_budget(&self, budget: &SharedBudget) -> Result<()> {
        let delete = "DELETE FROM budget WHERE scope = ?1 AND owner = ?2";
        self.conn.execute(delete, params![budget.scope.as_str(), budget.id])?;
        Ok(())
    }
}

fn budget_of(row: &Row) -> Result<SharedBudget> {
    let mut columns = Columns::of(row);
    let scope = columns.one_of("a budget", &SCOPES, Scope::as_str)?;
    let id: String = columns.read()?;
    let budget = SharedBudget { scope, id, ..Columns::from(row, ENGINE).json("a budget")? };
    let is_altered = ColumnsHash::of_row(row, ENGINE + 1, ENGINE)?.is_broken(row.get_ref(ENGINE)?.as_bytes()?);
    // Its sums are counted anew from what sessions were charged.
    Ok(if is_altered { SharedBudget::new(scope, &budget.id) } else { budget })
}
