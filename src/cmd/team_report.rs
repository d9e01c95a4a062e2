//! `fusebox team report`: what a team has spent, as far as its machines have told it.

use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use crate::cmd::team_audit::{self, AuditArgs};
use crate::cmd::{query, team_place};
use crate::domain::spend::amount::Amount;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::report::csv;
use crate::store::team::ledger::By;
use crate::ui::formats::Usd;
use crate::ui::json;
use crate::ui::style::Style;
use crate::ui::table::{Align, Column, table};

/// The most days that an audit compares: machines tell the totals of their clients for so long.
const LONGEST_AUDIT: u32 = 35;

/// Arguments of `fusebox team report`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  fusebox team report
  fusebox team report --by project --days 7
  fusebox team report --by day --csv > spent.csv
  fusebox team report --audit --json           whose machines have settled less than else is shown")]
pub struct Args {
    /// What it is summed by
    #[arg(long, value_enum, default_value_t = Grouping::User)]
    by: Grouping,
    /// Of how many days
    #[arg(long, default_value_t = 30, value_parser = days)]
    days: u32,
    /// For an admin: list who has settled less than what their clients and other machines show
    #[arg(long, conflicts_with_all = ["by", "csv"])]
    audit: bool,
    /// How many per cent of what is shown may be missing
    #[arg(long, value_name = "PERCENT", default_value_t = 5, requires = "audit")]
    tolerance: u32,
    /// Print JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print CSV, for a spreadsheet
    #[arg(long)]
    csv: bool,
}

#[derive(Clone, Copy, Debug, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Grouping {
    User,
    Project,
    Model,
    Day,
}

impl Grouping {
    /// Returns how the store calls it, and the name of one in a heading.
    fn names(self) -> (By, &'static str) {
        match self {
            Grouping::User => (By::User, "USER"),
            Grouping::Project => (By::Project, "PROJECT"),
            Grouping::Model => (By::Model, "MODEL"),
            Grouping::Day => (By::Day, "DAY"),
        }
    }
}

/// What was spent, for programs.
#[derive(Debug, Serialize)]
struct Spent {
    version: u32,
    team: String,
    days: u32,
    by: Grouping,
    cost_usd: Usd,
    groups: Vec<Group>,
}

/// What was spent of one user, project, model or day.
#[derive(Debug, Serialize)]
struct Group {
    /// Empty where machines have told none.
    name: String,
    responses: u64,
    cost_usd: Usd,
}

/// Reads a number of days.
fn days(text: &str) -> std::result::Result<u32, String> {
    text.parse().ok().filter(|days| *days > 0).ok_or_else(|| "it is a number of days, 1 or more".to_owned())
}

/// Runs `fusebox team report`.
pub fn run(env: &Environment, args: &Args) -> Result<ExitCode> {
    if args.audit {
        let (days, tolerance, json) = (args.days.min(LONGEST_AUDIT), args.tolerance, args.json);
        return team_audit::run(env, AuditArgs { days, tolerance, json });
    }
    let joined = team_place::joined(env)?;
    let (by, head) = args.by.names();
    let days = args.days.min(36_500);
    let spent = team_place::ledger(&joined)?.spent(&joined.team, by, days)?;
    let group = |(name, responses, cost)| Group { name, responses, cost_usd: Usd(cost) };
    let groups: Vec<Group> = spent.into_iter().map(group).collect();
    let total: Amount = groups.iter().map(|group| group.cost_usd.0).sum();
    match (args.json, args.csv) {
        (true, _) => {
            let (team, by, cost_usd) = (joined.team, args.by, Usd(total));
            env.print_data(&json::text(&Spent { version: 1, team, days, by, cost_usd, groups }));
        }
        (_, true) => env.print_data(&as_csv(head, &groups)),
        _ => env.print(&as_text(env, head, &groups, total)),
    }
    Ok(ExitCode::SUCCESS)
}

fn as_csv(head: &str, groups: &[Group]) -> String {
    let head = [&head.to_lowercase(), "responses", "cost_usd"].map(str::to_owned);
    let row = |group: &Group| vec![group.name.clone(), group.responses.to_string(), group.cost_usd.0.exact()];
    csv::lines(head.to_vec(), groups.iter().map(row))
}

fn as_text(env: &Environment, head: &'static str, groups: &[Group], total: Amount) -> String {
    let columns = [
        Column::new(head, Align::Left, 0),
        Column::new("RESPONSES", Align::Right, 1),
        Column::new("COST", Align::Right, 0),
    ];
    let row = |group: &Group| {
        let name = if group.name.is_empty() { "-" } else { &group.name };
        (Style::Plain, vec![name.to_owned(), group.responses.to_string(), group.cost_usd.0.to_string()])
    };
    let rows: Vec<_> = groups.iter().map(row).collect();
    format!("{}{total} in all, as far as machines have told it\n", table(&columns, &rows, &query::page(env)))
}
