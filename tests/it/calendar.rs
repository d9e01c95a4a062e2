//! Budgets and reports put each response into the same day, in every time zone.

use std::collections::HashSet;

use fusebox::calendar::Zone;
use fusebox::domain::limit::Span;
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::spend::charge::Charge;
use fusebox::domain::spend::meters::Spend;
use fusebox::domain::text::rfc3339;
use fusebox::report::group::{GroupBy, Part, group};
use fusebox::report::rows::SessionRows;
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde_json::{Value, json};

use crate::missing_usage::Story;
use crate::world::in_long_form;

const HOUR_MS: i64 = 3_600_000;

/// Returns the moments at which the clocks of a zone are set, in milliseconds since 1970.
fn changes(name: &str) -> Vec<i64> {
    // Until 2011 the clocks of St. John's went back at one minute past midnight, to the day before.
    let (from, to) = if in_long_form() { ("1972", "2038") } else { ("2009", "2028") };
    let [from, to] = [from, to].map(|year| format!("{year}-01-01T00:00:00Z").parse::<Timestamp>().unwrap());
    let zone = TimeZone::get(name).unwrap();
    zone.following(from)
        .map(|change| change.timestamp())
        .take_while(|at| *at < to)
        .map(Timestamp::as_millisecond)
        .collect()
}

/// Returns moments around a change of the clocks, in order, and around midnights beside it.
fn moments(change_ms: i64) -> Vec<i64> {
    let around = |at_ms: i64| [-1, 0, 1].map(|step| at_ms + step);
    let hours = [-49, -30, -24, -6, -2, -1, 0, 1, 2, 6, 24, 30].map(|hours| change_ms + hours * HOUR_MS);
    let minutes = [-45, -15, 15, 30, 45, 59].map(|minutes| change_ms + minutes * 60_000);
    let mut moments: Vec<i64> = hours.into_iter().chain(minutes).flat_map(around).collect();
    moments.sort_unstable();
    moments
}

/// Says where the sum of a day by the report is not what a budget of that day counts.
fn disagreements(zone: &Zone, moments: &[i64]) -> Vec<String> {
    // Each response costs a bit of its own, so that a sum says which it has.
    let cost = |at: usize| Spend { cost: Amount(1 << at), requests: 1, ..Spend::default() };
    let charge = |(at, at_ms): (usize, &i64)| Charge { at_ms: *at_ms, spend: cost(at), ..Charge::default() };
    let rows = SessionRows { charges: moments.iter().enumerate().map(charge).collect(), ..SessionRows::default() };
    let report = group(&[rows], &[], &Part { by: GroupBy::Day, since_ms: i64::MIN, until_ms: i64::MAX, zone });
    let wrong = moments.iter().filter_map(|at_ms| {
        let day = zone.day(*at_ms).to_string();
        let told = report.groups.iter().find(|group| group.name == day).map(|group| group.cost_usd.0);
        let period = zone.period(Span::Day, *at_ms);
        let counted = (0..).zip(moments).filter(|(_, at_ms)| period.covers(**at_ms)).map(|(at, _)| cost(at).cost).sum();
        let fits = period.covers(*at_ms) && period.from_ms == zone.begin_ms(zone.day(*at_ms));
        (told != Some(counted) || !fits).then(|| format!("{day} at {}", rfc3339::format(*at_ms)))
    });
    wrong.collect()
}

#[test]
fn a_report_of_days_and_a_budget_of_a_day_agree_in_every_zone() {
    let mut wrong = Vec::new();
    let mut seen = HashSet::new();
    for name in TimeZoneDatabase::bundled().available() {
        let zone = Zone::named(Some(name.as_str()));
        let changes = changes(name.as_str());
        // Many names are other names of a zone.
        if !seen.insert(changes.clone()) {
            continue;
        }
        for change_ms in changes {
            wrong.extend(disagreements(&zone, &moments(change_ms)).into_iter().map(|one| format!("{name}: {one}")));
        }
    }
    assert!(seen.len() > 80, "{} zones whose clocks are set at other moments", seen.len());
    assert!(wrong.is_empty(), "{} disagree, such as {:?}", wrong.len(), &wrong[..wrong.len().min(5)]);
}

/// Returns the zones that a configuration and a machine name, the configuration's first.
const NAMED: [(&str, &str); 4] = [
    ("Pacific/Kiritimati", "Pacific/Pago_Pago"),
    ("Pacific/Pago_Pago", "Pacific/Kiritimati"),
    ("Asia/Kathmandu", "America/St_Johns"),
    ("local", "America/St_Johns"),
];

#[test]
fn the_program_counts_and_reports_today_alike() {
    for (configured, machine) in NAMED {
        let policy = json!({"time_zone": configured, "user": {"max_cost_usd_per_day": 5}});
        let story = Story::with(&policy, |world| world.set("TZ", machine));
        let zone = Zone::named(Some(if configured == "local" { machine } else { configured }));
        let now_ms = rfc3339::parse(&story.now()).unwrap();
        let today = zone.day(now_ms);
        let moments = [zone.begin_ms(today) - 1, zone.begin_ms(today), now_ms];
        for (number, at_ms) in moments.iter().enumerate() {
            story.write_at(&[&format!("m{number}")], &rfc3339::format(*at_ms));
        }
        story.batch("t0");
        let report = story.world.run(&["report", "--by", "day", "--json", "--since", &today.to_string()]).ok();
        let report: Value = serde_json::from_str(&report).unwrap();
        let told = [&report["days"][0]["day"], &report["days"][0]["cost_usd"], &report["days"][0]["requests"]];
        let spent = story.spent_today().exact();
        assert_eq!(told, [&json!(today.to_string()), &json!(spent), &json!(2)], "{configured} on {machine}: {report}");
        assert_eq!(report["days"].as_array().unwrap().len(), 1, "{configured} on {machine}: {report}");
    }
}
