//! A lease lives no longer than its day: what the first sync of the next one does.

use std::time::{Duration, Instant};

use fusebox::domain::scope::Scope;
use fusebox::store::Store;

use crate::caps::{cap, joined, until_midnight, wait_until, within_a_day};
use crate::client::Client;
use crate::postgres::Postgres;

/// For how long a lease lives before midnight, and after it.
const BEFORE: Duration = Duration::from_secs(1);
const AFTER: Duration = Duration::from_secs(600);

#[test]
fn the_first_sync_of_a_day_gives_the_leases_of_the_day_before_back_and_goes_on_with_new_ones() {
    within_a_day(gives_back_and_goes_on);
}

fn gives_back_and_goes_on() {
    let Some(server) = Postgres::start() else { return };
    let live_for = |time: Duration| {
        let set = format!("SELECT fusebox.set_team('core', NULL, {}, 0, NULL)", time.as_millis());
        server.as_login("ann", &set).unwrap();
    };
    live_for(BEFORE);
    cap(&server, 100.0);
    let machine = joined(&server, "bob", r#""on_stale":"deny""#);
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    machine.good(&["sync"]);
    let (began, midnight) =
        (Instant::now(), "UPDATE fusebox.lease SET day = day - 1, expires_at = clock_timestamp() WHERE number > 0");
    server.as_login("boss", midnight).unwrap();
    live_for(AFTER);
    let lives = AFTER.min(until_midnight());
    wait_until("a lease is over", || began.elapsed() > BEFORE);
    machine.good(&["sync"]);
    let open = "SELECT count(*), min(day) = max(day) FROM fusebox.lease WHERE number > 0 AND state = 'open'";
    assert_eq!(server.as_login("ann", open).unwrap(), "1|t");
    let budget = Store::open_for(&machine.state(), None).unwrap().shared_budget(Scope::Team, "core").unwrap();
    let share = budget.unwrap().team.unwrap();
    let lives_ms = share.until.mono_ms - share.heard.mono_ms;
    assert!(u128::from(lives_ms) > lives.as_millis() / 2, "{lives_ms}");
    assert_eq!(client.turn(), None);
}
