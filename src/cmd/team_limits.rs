//! `fusebox team limits` and `status`: the caps of a team with what is used of each, and the leases that hold something of them.

use std::process::ExitCode;

use serde::Serialize;

use crate::cmd::team_leases::LeaseShown;
use crate::cmd::team_shares::{self, SharedLimitShown};
use crate::cmd::{query, team_blocked, team_caps, team_leases, team_place};
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::store::team::limits::CapInForce;
use crate::store::team::shares::OpenShare;
use crate::ui::formats::Usd;
use crate::ui::json;
use crate::ui::style::Style;
use crate::ui::table::{Align, Column, table};

/// Every cap that who asks may see, for programs.
#[derive(Debug, Serialize)]
struct Limits {
    version: u32,
    team: String,
    limits: Vec<TeamLimit>,
    shared: Vec<SharedLimitShown>,
    /// Of an admin those of all machines, of a member their own.
    leases: Vec<LeaseShown>,
}

/// A cap that binds, or that was set and binds nobody.
#[derive(Debug, Serialize)]
struct TeamLimit {
    scope: String,
    of: String,
    set_for: String,
    period: String,
    cap_usd: Usd,
    granted_usd: Usd,
    spent_usd: Usd,
    leased_usd: Usd,
    /// In RFC 3339; empty for a cap that binds nobody.
    resets: String,
}

/// What stands in place of a login where a cap binds none: no login is so called.
const NOBODY: &str = "(nobody)";
/// What heads the shares that their machines hold.
const HELD: &str = "shares that machines hold: each renews its own with every sync";
/// What heads those that can be given up.
const LOST: &str =
    "expired shares, which count until their machine is heard, or `fusebox team write-off` gives them up";

/// Lists the caps: an admin sees all of the team, a member those that bind them.
pub fn list(env: &Environment, for_programs: bool) -> Result<ExitCode> {
    let joined = team_place::joined(env)?;
    let mut ledger = team_place::ledger(&joined)?;
    ledger.status(&joined.team)?;
    let caps = ledger.caps_in_force(&joined.team)?;
    let shared = ledger.shared_limits(&joined.team)?;
    if for_programs {
        let (limits, shared) = (caps.iter().map(limit).collect(), team_shares::for_programs(&shared));
        let leases = team_leases::for_programs(&ledger.seen_leases(&joined.team)?);
        env.print_data(&json::text(&Limits { version: 1, team: joined.team, limits, shared, leases }));
        return Ok(ExitCode::SUCCESS);
    }
    match caps.is_empty() {
        true => env.print(&format!("team {} has no cap; `fusebox team limit month=USD` sets one\n", joined.team)),
        false => env.print(&format!("team {}\n{}", joined.team, shown(env, &caps))),
    }
    env.print(&team_shares::shown(env, &shared));
    Ok(ExitCode::SUCCESS)
}

/// Shows the caps that bind who asks; to an admin, what each machine holds too.
pub fn status(env: &Environment) -> Result<ExitCode> {
    let joined = team_place::joined(env)?;
    let mut ledger = team_place::ledger(&joined).map_err(|error| error.or_hint(team_place::LAST_HEARD))?;
    let contact = ledger.status(&joined.team)?.into_iter().next().map(|cap| cap.contact).unwrap_or_default();
    let mut caps = ledger.caps_in_force(&joined.team)?;
    let login = joined.login();
    caps.retain(|cap| cap.scope != "user" || cap.who == login);
    let leases = ledger.open_leases(&joined.team)?;
    let (shared, shares) = (ledger.shared_limits(&joined.team)?, ledger.open_shares(&joined.team)?);
    let observed = team_place::observed(env);
    env.print(observed.unwrap_or_default());
    match caps.is_empty() {
        true => env.print(&format!("team {} has no cap that binds you\n", joined.team)),
        false => env.print(&format!("team {}\n{}{}", joined.team, shown(env, &caps), team_caps::when(caps.len()))),
    }
    if observed.is_none() {
        env.print(&team_blocked::here(env, &joined, &caps, &contact, &ledger.own_leases(&joined.team)?)?);
    }
    env.print(&team_shares::shown(env, &shared));
    let (lost, living): (Vec<&OpenShare>, Vec<_>) = shares.iter().partition(|it| it.is_expired);
    for (shares, head, until) in [(living, HELD, "WHERE IT IS NOT HEARD AGAIN"), (lost, LOST, "EXPIRED")] {
        if !shares.is_empty() {
            env.print(&format!("\n{head}\n{}", team_shares::shares_shown(env, &shares, until)));
        }
    }
    env.print(&team_leases::shown(env, &leases));
    Ok(ExitCode::SUCCESS)
}

fn limit(cap: &CapInForce) -> TeamLimit {
    TeamLimit {
        scope: cap.scope.clone(),
        of: cap.who.clone(),
        set_for: cap.set_for.clone(),
        period: cap.period.clone(),
        cap_usd: Usd(cap.cap),
        granted_usd: Usd(cap.granted),
        spent_usd: Usd(cap.spent),
        leased_usd: Usd(cap.committed.minus(cap.spent)),
        resets: cap.resets_at.clone(),
    }
}

fn shown(env: &Environment, caps: &[CapInForce]) -> String {
    let columns = [
        Column::new("OF", Align::Path, 0),
        Column::new("PERIOD", Align::Left, 0),
        Column::new("SPENT", Align::Right, 0),
        Column::new("CAP", Align::Right, 0),
        Column::new("SET FOR", Align::Left, 0),
        Column::new("GRANTED", Align::Right, 2),
        Column::new("LEASED", Align::Right, 3),
        Column::new("RESETS", Align::Left, 1),
    ];
    let row = |cap: &CapInForce| {
        let style = if cap.spent >= cap.cap && !cap.resets.is_empty() { Style::Red } else { Style::Plain };
        let who = match (cap.scope.as_str(), cap.who.as_str()) {
            ("user", "") => NOBODY.to_owned(),
            ("user", login) => login.to_owned(),
            (scope, label) => format!("{scope} {label}").trim_end().to_owned(),
        };
        let granted = if cap.granted.0 == 0 { "-".to_owned() } else { format!("+{}", cap.granted) };
        let (spent, of_cap) = (cap.spent.to_string(), cap.cap.to_string());
        let leased = cap.committed.minus(cap.spent).to_string();
        let resets = if cap.resets.is_empty() { "-".to_owned() } else { cap.resets.clone() };
        (style, vec![who, cap.period.clone(), spent, of_cap, cap.set_for.clone(), granted, leased, resets])
    };
    table(&columns, &caps.iter().map(row).collect::<Vec<_>>(), &query::page(env))
}
