//! What sessions share is what all of them spend: also those whose own limits do not have the cap.

use fusebox::domain::shared_limits::SharedLimits;
use fusebox::store::Store;

use crate::budgets::{Client, budget, of_project, of_user, with_repositories};

/// What one response costs, in pico-dollars.
const ONE: u64 = 5_840_000_000;
/// Five responses fit.
const CAP: u64 = 30;

/// Whose the cap is, with the folder of the other session.
const CASES: [(&str, &str); 2] = [("user", "two"), ("project", "one")];

fn capped(whose: &str) -> SharedLimits {
    if whose == "user" { of_user(budget(CAP)) } else { of_project(budget(CAP)) }
}

#[test]
fn what_sessions_without_the_cap_spend_is_counted_while_one_with_it_is_at_work() {
    for (whose, folder) in CASES {
        for other_begins in ["before", "after"] {
            let world = with_repositories();
            let start_other = || Client::start(&world, "s2", folder, SharedLimits::default());
            let early = (other_begins == "before").then(start_other);
            let mut own = Client::start(&world, "s1", "one", capped(whose));
            let mut other = early.unwrap_or_else(start_other);
            assert_eq!((own.prompt(), other.prompt()), (String::new(), String::new()));
            assert!(own.turn());
            // It has no cap: nothing stops it.
            assert!((0..3).all(|_| other.turn()), "{whose} {other_begins}");
            let case = format!("{whose}'s cap, the other began {other_begins} it");
            let store = Store::open_for(&world.path("state"), None).unwrap();
            let sum = store.shared_budgets().unwrap()[0].spent(None).day.cost.0;
            drop(store);
            assert_eq!(sum, 4 * ONE, "{case}");
            // One more fits, and then the cap is used up.
            let went_on = (0..3).take_while(|_| own.turn()).count();
            assert!(went_on <= 1, "{case}: {went_on} more");
            assert!(own.prompt().contains("no room"), "{case}");
            // The other goes on all the same, and counts.
            assert!(other.turn(), "{case}");
        }
    }
}

#[test]
fn a_session_elsewhere_does_not_count_for_a_project() {
    let world = with_repositories();
    let own = Client::start(&world, "s1", "one", capped("project"));
    let mut other = Client::start(&world, "s2", "two", SharedLimits::default());
    assert_eq!((own.prompt(), other.prompt()), (String::new(), String::new()));
    assert!((0..4).all(|_| other.turn()));
    let store = Store::open_for(&world.path("state"), None).unwrap();
    assert_eq!(store.shared_budgets().unwrap()[0].spent(None).day.cost.0, 0);
}
