//! What `fusebox watch` tells of a team's caps, and when it begins a sync.

use fusebox::domain::budget::SharedBudget;
use fusebox::domain::scope::Scope;
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::team::TeamShare;
use fusebox::domain::team_cap::CapUse;
use fusebox::store::Store;
use serde_json::json;

use crate::alerts::{begin, look, rules, world};
use crate::given::{BEGAN_MS, GivenTime};
use crate::world::TestWorld;

/// Has a sync have heard what is spent of a cap of 100 dollars.
fn hear(world: &TestWorld, scope: &str, resets: &str, usd: f64) {
    let (team, period) = ("core".to_owned(), "month".to_owned());
    let (cap, spent) = (Amount::from_usd(100.0), Amount::from_usd(usd));
    let label = if scope == "project" { "shop".to_owned() } else { String::new() };
    let used = CapUse {
        team,
        scope: scope.to_owned(),
        label,
        period,
        resets: resets.to_owned(),
        cap,
        spent,
        ..CapUse::default()
    };
    let store = Store::open_for(&world.path("state"), None).unwrap();
    store.begin().unwrap();
    let share = TeamShare { caps: vec![used], ..TeamShare::default() };
    let budget = SharedBudget { team: Some(Box::new(share)), ..SharedBudget::new(Scope::Team, "core") };
    store.save_shared_budget(&budget).unwrap();
    store.commit().unwrap();
    store.leave();
}

#[test]
fn each_level_of_a_teams_cap_is_told_once_a_period() {
    let world = world(&json!({}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    let december = "2026-12-01 00:00 +00:00";
    hear(&world, "team", december, 74.9);
    assert_eq!(rules(&look(&world, &time)), [""; 0]);
    hear(&world, "team", december, 75.0);
    let alerts = look(&world, &time);
    assert_eq!(rules(&alerts), ["team"]);
    let text = "75 % of the month's cap of team core are spent: 75.00 USD of 100.00 USD, until 2026-12-01 00:00 +00:00";
    assert_eq!(alerts[0]["text"], text);
    assert_eq!((&alerts[0]["used"], &alerts[0]["cap"]), (&json!(75.0), &json!(100.0)));
    hear(&world, "team", december, 94.0);
    assert_eq!(rules(&look(&world, &time)), [""; 0]);
    hear(&world, "team", december, 95.0);
    assert_eq!(rules(&look(&world, &time)), ["team-95"]);
    // Nor weeks later, nor once a cap was raised for a while and then reached again.
    time.pass_days(20);
    hear(&world, "team", december, 80.0);
    assert_eq!(rules(&look(&world, &time)), [""; 0]);
    // The highest level tells for those below.
    hear(&world, "team", "2027-01-01 00:00 +00:00", 99.0);
    assert_eq!(rules(&look(&world, &time)), ["team-95"]);
    hear(&world, "user", "2027-01-01 00:00 +00:00", 99.0);
    let alerts = look(&world, &time);
    assert!(alerts[0]["text"].as_str().unwrap().contains("cap of your own in team core"), "{alerts:?}");
    hear(&world, "project", "2027-01-01 00:00 +00:00", 80.0);
    let alerts = look(&world, &time);
    assert!(alerts[0]["text"].as_str().unwrap().contains("cap of project shop in team core"), "{alerts:?}");
}

#[test]
fn ones_own_file_says_at_which_part_one_is_told() {
    let rule = json!({"alerts": {"rules": {"team": {"team_percent": 50}, "team-95": null}}});
    let world = world(&rule);
    let time = GivenTime::at(&world, BEGAN_MS);
    hear(&world, "team", "then", 96.0);
    let alerts = look(&world, &time);
    assert_eq!(rules(&alerts), ["team"]);
    assert!(alerts[0]["text"].as_str().unwrap().starts_with("50 % of"), "{alerts:?}");
}

#[cfg(feature = "team")]
#[test]
fn a_watch_begins_a_sync_where_no_hook_has_and_a_team_was_joined() {
    let world = world(&json!({}));
    let mut time = GivenTime::at(&world, BEGAN_MS);
    let syncs = |time: &GivenTime<'_>| {
        look(&world, time);
        let begun = std::mem::take(&mut *time.begun.borrow_mut());
        begun.iter().filter(|words| words[1..] == ["team", "sync", "--background"]).count()
    };
    assert_eq!(syncs(&time), 0);
    world.write("state/team.json", "{}");
    assert_eq!(syncs(&time), 1);
    // The claim is one for all: another watch, or a hook, begins none so soon.
    time.pass_ms(31_000);
    assert_eq!(syncs(&time), 0);
    begin(&world, &time);
    assert_eq!(syncs(&time), 1);
    time.pass_ms(29_000);
    begin(&world, &time);
    assert_eq!(syncs(&time), 0);
    // Where nothing happens, it asks now and then how much of the caps is spent.
    time.pass_ms(31_000);
    assert_eq!(syncs(&time), 1);
    time.pass_ms(299_000);
    assert_eq!(syncs(&time), 0);
    time.pass_ms(2_000);
    assert_eq!(syncs(&time), 1);
}
