//! `fusebox team report --audit`: whose machines have settled less than what else shows that they spent.

use std::process::ExitCode;

use serde::Serialize;

use crate::cmd::{query, team_place};
use crate::domain::spend::amount::Amount;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::store::team::audit::ShownSpend;
use crate::ui::formats::{Usd, counted};
use crate::ui::json;
use crate::ui::style::Style;
use crate::ui::table::{Align, Column, table};

/// What is missing up to this is never told: 0.10 USD. A client's last requests may be in its total alone.
const LEAST: Amount = Amount(100_000_000_000);

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct AuditArgs {
    /// Of how many days.
    pub days: u32,
    /// How many per cent of what is shown may be missing.
    pub tolerance: u32,
    /// Whether programs read it.
    pub json: bool,
}

/// What shows that more was spent than settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Reason {
    ClientTotal,
    OtherMachines,
}

#[derive(Debug, Serialize)]
struct Audit {
    version: u32,
    team: String,
    days: u32,
    tolerance_percent: u32,
    users: Vec<ShortUser>,
    without_client_total: Vec<String>,
}

/// A user who has settled less than is shown.
#[derive(Debug, Serialize)]
struct ShortUser {
    login: String,
    settled_usd: Usd,
    client_total_usd: Usd,
    other_machines_usd: Usd,
    missing_usd: Usd,
    reasons: Vec<Reason>,
}

/// Prints who has settled less than is shown.
pub fn run(env: &Environment, args: AuditArgs) -> Result<ExitCode> {
    let joined = team_place::joined(env)?;
    let shown = team_place::ledger(&joined)?.audit_spend(&joined.team, args.days)?;
    let without_total = shown.iter().filter(|it| it.client_total == Amount::ZERO && it.settled > Amount::ZERO);
    let audit = Audit {
        version: 1,
        team: joined.team,
        days: args.days,
        tolerance_percent: args.tolerance,
        users: shown.iter().filter_map(|it| short(it, args.tolerance)).collect(),
        without_client_total: without_total.map(|it| it.login.clone()).collect(),
    };
    if args.json {
        env.print_data(&json::text(&audit));
    } else {
        env.print(&text(env, &audit, shown.len()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a user where more is missing than is tolerated.
fn short(shown: &ShownSpend, tolerance: u32) -> Option<ShortUser> {
    let is_short =
        |more: Amount, of: Amount| more > LEAST && u128::from(more.0) * 100 > u128::from(of.0) * u128::from(tolerance);
    let by_client = is_short(shown.client_more, shown.client_total).then_some(Reason::ClientTotal);
    let of_others = shown.settled + shown.others_more;
    let by_others = is_short(shown.others_more, of_others).then_some(Reason::OtherMachines);
    let reasons: Vec<Reason> = by_client.into_iter().chain(by_others).collect();
    (!reasons.is_empty()).then(|| ShortUser {
        login: shown.login.clone(),
        settled_usd: Usd(shown.settled),
        client_total_usd: Usd(shown.client_total),
        other_machines_usd: Usd(shown.others_more),
        missing_usd: Usd(shown.missing()),
        reasons,
    })
}

fn text(env: &Environment, audit: &Audit, users: usize) -> String {
    let columns = [
        Column::new("USER", Align::Left, 0),
        Column::new("SETTLED", Align::Right, 0),
        Column::new("MISSING", Align::Right, 0),
        Column::new("WHY", Align::Left, 0),
    ];
    let row = |it: &ShortUser| {
        let why = |reason: &Reason| match reason {
            Reason::ClientTotal => format!("its clients say {}", it.client_total_usd.0),
            Reason::OtherMachines => format!("other machines tell {} more", it.other_machines_usd.0),
        };
        let why = it.reasons.iter().map(why).collect::<Vec<_>>().join(", ");
        (Style::Red, vec![it.login.clone(), it.settled_usd.0.to_string(), it.missing_usd.0.to_string(), why])
    };
    let rows: Vec<_> = audit.users.iter().map(row).collect();
    let list = if rows.is_empty() { String::new() } else { table(&columns, &rows, &query::page(env)) };
    let (short, of) = (audit.users.len(), counted(users as u64, "user"));
    let (days, percent) = (counted(u64::from(audit.days), "day"), audit.tolerance_percent);
    let found = format!("{short} of {of} settled less than was shown in {days}, beyond {percent} % and {LEAST}\n");
    match audit.without_client_total.as_slice() {
        [] => list + &found,
        unseen => format!("{list}{found}no client's total is known of {}\n", unseen.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_beyond_a_part_and_a_least_amount() {
        let usd = Amount::from_usd;
        let shown = |client_total: f64, client_more: f64, others_more: f64| ShownSpend {
            login: "bob".to_owned(),
            settled: usd(10.0),
            client_total: usd(client_total),
            client_more: usd(client_more),
            others_more: usd(others_more),
        };
        let cases = [
            (shown(10.0, 0.0, 0.0), vec![]),
            (shown(10.5, 0.5, 0.0), vec![]),
            (shown(11.0, 1.0, 0.0), vec![Reason::ClientTotal]),
            (shown(0.2, 0.1, 0.0), vec![]),
            (shown(0.0, 0.0, 1.0), vec![Reason::OtherMachines]),
            (shown(11.0, 1.0, 2.0), vec![Reason::ClientTotal, Reason::OtherMachines]),
        ];
        for (shown, reasons) in cases {
            assert_eq!(short(&shown, 5).map(|it| it.reasons).unwrap_or_default(), reasons, "{shown:?}");
        }
    }
}
