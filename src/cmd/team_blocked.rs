//! Which of a team's caps let nothing more be spent: whom they block, and who raises them.

use crate::domain::spend::amount::Amount;
use crate::domain::team_cap::CapUse;
use crate::store::team::limits::CapInForce;

/// Says of each cap under which nothing is left whom it blocks, and who raises it by which command. `whom` begins the line of one: `bob is
/// still`; where it returns `None`, nothing is said of it.
pub fn lines(caps: &[CapInForce], team: &str, contact: &str, whom: impl Fn(&CapInForce) -> Option<String>) -> String {
    let line = |cap: &CapInForce| {
        let whom = whom(cap)?;
        let told = CapUse {
            team: team.to_owned(),
            scope: cap.scope.clone(),
            label: cap.of.clone(),
            period: cap.period.clone(),
            resets: cap.resets.clone(),
            cap: cap.cap,
            spent: cap.spent,
            own: Amount::ZERO,
            committed: cap.committed,
            contact: contact.to_owned(),
        };
        Some(format!("{whom} blocked: {}; it resets at {}\n", told.used_up(cap.spent), told.anew()))
    };
    caps.iter().filter(|cap| !cap.resets.is_empty() && cap.committed >= cap.cap).filter_map(line).collect()
}
