//! What sessions share, and what they were charged over a stretch of time.

use serde::Deserialize;

use crate::domain::budget::SharedBudget;
use crate::domain::charge::Charge;
use crate::domain::event::Moment;
use crate::domain::policy::Scope;
use crate::error::Result;
use crate::store::Store;

/// What of a session says whether its charges are wanted.
#[derive(Deserialize)]
struct SessionAge {
    #[serde(default)]
    project: String,
    last: Moment,
}

impl Store {
    /// Loads what the sessions of the user, or of a project, share.
    pub fn shared_budget(&self, scope: Scope, id: &str) -> Result<Option<SharedBudget>> {
        self.get(&name(scope, id))
    }

    /// Saves what sessions share.
    pub fn save_shared_budget(&self, budget: &SharedBudget) -> Result<()> {
        self.put(&name(budget.scope, &budget.id), budget)
    }

    /// Returns everything that sessions share: the user's first, then the projects'. A period may be over by now.
    pub fn shared_budgets(&self) -> Result<Vec<SharedBudget>> {
        let mut budgets: Vec<SharedBudget> = self.all("x/pool/")?;
        budgets.sort_by(|one, other| (other.scope, &one.id).cmp(&(one.scope, &other.id)));
        Ok(budgets)
    }

    /// Gives to `take` every charge since `since_ms`, of all sessions or of a project's, the oldest session's first.
    ///
    /// A session without an event since then has none; but for `own`, whose last event a clock set back may have dated.
    pub fn each_charge_since(
        &self,
        since_ms: i64,
        of: (Option<&str>, &str),
        mut take: impl FnMut(Charge),
    ) -> Result<()> {
        let (project, own) = of;
        for (listed, _) in self.below("x/session/")? {
            let id = listed.split_once('/').map_or("", |(_, id)| id);
            let Some(session) = self.get::<SessionAge>(&format!("s/{id}"))? else { continue };
            let is_old = session.last.wall_ms < since_ms && id != own;
            if is_old || project.is_some_and(|project| project != session.project) {
                continue;
            }
            let charges = self.charges_of(id)?;
            charges.into_iter().filter(|charge| charge.at_ms >= since_ms).for_each(&mut take);
        }
        Ok(())
    }
}

fn name(scope: Scope, id: &str) -> String {
    match id {
        "" => format!("x/pool/{}", scope.as_str()),
        id => format!("x/pool/{}:{id}", scope.as_str()),
    }
}
