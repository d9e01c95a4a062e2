//! The table `budget`: what the sessions of the user or of a project share.

use rusqlite::types::ToSql;
use rusqlite::{Row, params};

use crate::engine::policy::Scope;
use crate::engine::pool::Pool;
use crate::error::Result;
use crate::store::Store;
use crate::store::value::{Columns, column, to_json};

const SCOPES: [Scope; 2] = [Scope::User, Scope::Project];

impl Store {
    /// Loads what the sessions of the user, or of a project, share.
    pub fn pool(&self, scope: Scope, id: &str) -> Result<Option<Pool>> {
        Ok(self.pools_where("WHERE scope = ?1 AND owner = ?2", &[&scope.as_str(), &id])?.pop())
    }

    /// Loads everything that sessions share: the user's first, then the projects'. A period may be over by now.
    pub fn pools(&self) -> Result<Vec<Pool>> {
        self.pools_where("ORDER BY scope DESC, owner", &[])
    }

    fn pools_where(&self, wanted: &str, values: &[&dyn ToSql]) -> Result<Vec<Pool>> {
        let mut statement = self.prepare(&format!("SELECT scope, owner, engine FROM budget {wanted}"))?;
        let mut rows = statement.query(values)?;
        let mut pools = Vec::new();
        while let Some(row) = rows.next()? {
            pools.push(pool_of(row)?);
        }
        Ok(pools)
    }

    /// Saves what sessions share.
    pub fn save_pool(&self, pool: &Pool) -> Result<()> {
        let spent = pool.spent(None);
        let [day, week, month] = [spent.day, spent.week, spent.month].map(|spent| column(spent.cost.0));
        let values = params![pool.scope.as_str(), pool.id, day, week, month, to_json("a budget", pool)?];
        let replace = "REPLACE INTO budget (scope, owner, day_cost_pico_usd, week_cost_pico_usd, month_cost_pico_usd, engine) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.prepare(replace)?.execute(values)?;
        Ok(())
    }

    /// Deletes what the sessions of the user, or of a project, shared.
    pub fn delete_pool(&self, pool: &Pool) -> Result<()> {
        let delete = "DELETE FROM budget WHERE scope = ?1 AND owner = ?2";
        self.conn.execute(delete, params![pool.scope.as_str(), pool.id])?;
        Ok(())
    }
}

fn pool_of(row: &Row) -> Result<Pool> {
    let mut columns = Columns::of(row);
    let scope = columns.one_of("a budget", &SCOPES, Scope::as_str)?;
    let id = columns.read()?;
    Ok(Pool { scope, id, ..columns.json("a budget")? })
}
