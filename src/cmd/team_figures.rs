//! What `fusebox team sync` says to a person: what is spent of each cap, and what this machine may spend without asking.

use crate::domain::scope::Scope;
use crate::domain::spend::amount::Amount;
use crate::domain::team_cap::CapUse;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::store::Store;

/// Returns the figures as the last sync has published them; nothing where none has.
pub fn text(env: &Environment, team: &str) -> Result<String> {
    let store = Store::open(env)?;
    let budget = store.shared_budget(Scope::Team, team)?;
    store.leave();
    let Some((budget, share)) = budget.as_ref().and_then(|budget| Some((budget, budget.team.as_deref()?))) else {
        return Ok(String::new());
    };
    let of_cap =
        |cap: &CapUse| format!("{}: {}, resets {}\n", cap.named(), cap.figures(budget.spent_of(cap)), cap.resets);
    let caps: String = share.caps.iter().map(of_cap).collect();
    let may = match (share.left, share.is_spent) {
        // Who keeps it from what it asks for is said besides.
        (Amount::ZERO, _) if !share.held_by.is_empty() => return Ok(caps),
        (Amount::ZERO, true) => "nothing is leased: the store has nothing more to give".to_owned(),
        (Amount::ZERO, false) => "nothing is leased while nothing is at work: the next prompt asks for it".to_owned(),
        _ => format!("this machine may spend {} before it asks for more", budget.left_of_team()),
    };
    Ok(format!("{caps}{may}\n"))
}
