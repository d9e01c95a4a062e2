//! Which of a team's caps let nothing more be spent: whom they block, and who raises them.

use crate::store::team::limits::CapInForce;

/// Says of each cap under which nothing is left whom it blocks, and who raises it by which command. `whom` begins the line of one: `bob is
/// still`; where it returns `None`, nothing is said of it.
pub fn lines(caps: &[CapInForce], team: &str, contact: &str, whom: impl Fn(&CapInForce) -> Option<String>) -> String {
    let line = |cap: &CapInForce| {
        let whom = whom(cap)?;
        let told = cap.told(team, contact);
        let leased = (cap.committed.minus(cap.spent), "leased");
        Some(format!("{whom} blocked: {}; it resets at {}\n", told.used_up(cap.spent, leased), told.anew()))
    };
    caps.iter().filter(|cap| !cap.resets.is_empty() && cap.committed >= cap.cap).filter_map(line).collect()
}
