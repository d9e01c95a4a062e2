//! A year of use, made small: the state stays as large as the days that it keeps, and no sum changes.

use fusebox::calendar::Zone;
use fusebox::platform::environment::Environment;
use fusebox::store::Store;
use fusebox::upkeep::prune::{PruneJob, prune};

use crate::retention::{Past, Response, ago, billed, write_one};
use crate::state::save;
use crate::world::TestWorld;

const SESSIONS_A_DAY: i64 = 2;

fn size(world: &TestWorld) -> u64 {
    Store::open_for(&world.path("state"), None).unwrap().size().unwrap()
}

#[test]
fn a_year_takes_no_more_room_than_ninety_days() {
    let world = TestWorld::new();
    let response = |number: i64| Response {
        days: 0,
        model: if number % 3 == 0 { "claude-haiku-5-5" } else { "claude-opus-5-5" },
        milli_usd: 7,
        inherited: false,
    };
    let mut at_ninety = 0;
    for left in (0..365).rev() {
        save(&world, |store| {
            for session in 0..SESSIONS_A_DAY {
                let responses = (0..40).map(response).collect();
                let past = Past { days: left, project: "/srv/shop", has_transcript: false, responses };
                write_one(&world, store, &format!("s{left:03}-{session}"), &past);
            }
        });
        let order = PruneJob { before_ms: ago(left + 90), zone: &Zone::utc() };
        if left % 5 == 0 {
            prune(&Environment::real(), &world.path("state"), order, || {}).unwrap();
        }
        if left == 365 - 95 {
            at_ninety = size(&world);
        }
    }
    let (year, store) = (size(&world), Store::open_for(&world.path("state"), None).unwrap());
    let kept = store.sessions_since(i64::MIN).unwrap().len() as i64;
    drop(store);
    assert!((90 * SESSIONS_A_DAY..=92 * SESSIONS_A_DAY).contains(&kept), "{kept} sessions");
    assert!(year < at_ninety * 6 / 5, "{year} bytes after a year, {at_ninety} after 95 days");
    let all = billed(&world);
    assert_eq!((all.requests, all.cost.usd()), (365 * 80, f64::from(365 * 80 * 7) / 1000.0));
}
