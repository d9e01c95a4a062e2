//! `fusebox team invite` and `members`: who takes part.

use std::process::ExitCode;

use serde::Serialize;

use crate::cmd::{query, team_place};
use crate::config::problem::nearest;
use crate::domain::spend::amount::Amount;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::store::team::admin::Member;
use crate::store::team::ledger::Ledger;
use crate::ui::formats::Usd;
use crate::ui::json;
use crate::ui::style::Style;
use crate::ui::table::{Align, Column, table};

/// What stands for what who asks may not see.
const HIDDEN: &str = "hidden";
/// Why that is.
const SEES_OWN: &str = "a member sees their own machines alone; an admin sees those of all\n";

/// Lets a login take part as `member` or `admin`; `None` takes it out.
pub fn invite(env: &Environment, login: &str, role: Option<&str>) -> Result<ExitCode> {
    let joined = team_place::joined(env)?;
    let mut ledger = team_place::ledger(&joined)?;
    if role.is_none() {
        known(&mut ledger, &joined.team, login)?;
    }
    ledger.set_member(&joined.team, login, role)?;
    let what = role.map_or_else(|| "takes part no longer".to_owned(), |role| format!("takes part as {role}"));
    env.print(&format!("{login} {what} in team {}\n", joined.team));
    let Some(role) = role.map(|role| format!("fusebox_{role}")) else { return Ok(ExitCode::SUCCESS) };
    if !ledger.has_role(login, &role)? {
        env.eprintln_safe(&format!(
            "warning: {login} lacks a right in the database; its owner runs `GRANT {role} TO {login}`"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a login that takes no part: an order about it would bind nobody.
pub fn known(ledger: &mut Ledger, team: &str, login: &str) -> Result<()> {
    let members = ledger.members(team)?;
    if members.iter().any(|member| member.login == login) {
        return Ok(());
    }
    let error = Error::failed(format!("{login} takes no part in team {team}"));
    Err(match nearest(login, members.iter().map(|member| member.login.as_str())) {
        Some(nearest) => error.hint(format!("the nearest is {nearest}")),
        None => error.hint("`fusebox team members` lists who does, `fusebox team invite LOGIN` lets one"),
    })
}

/// Who takes part, for programs.
#[derive(Debug, Serialize)]
struct Members {
    version: u32,
    team: String,
    members: Vec<ShownMember>,
}

#[derive(Debug, Serialize)]
struct ShownMember {
    login: String,
    role: String,
    /// How many of its machines were heard in 30 days; `null` where who asks may not see that.
    machines: Option<u64>,
    /// When one was heard last, in RFC 3339; `null` for never.
    heard: Option<String>,
    /// What its machines hold of the money; `null` where who asks may not see that.
    leased_usd: Option<Usd>,
    /// How the ids of these machines begin, that of the one heard last first.
    machine_ids: Vec<String>,
}

/// Lists who takes part.
pub fn list(env: &Environment, for_programs: bool) -> Result<ExitCode> {
    let joined = team_place::joined(env)?;
    let mut ledger = team_place::ledger(&joined)?;
    let members = ledger.members(&joined.team)?;
    let own = joined.login();
    let sees_all = members.iter().any(|member| member.login == own && member.role == "admin");
    let is_seen = |login: &str| sees_all || login == own;
    let leases = ledger.seen_leases(&joined.team)?;
    let leased = |login: &str| leases.iter().filter(|it| it.login == login).map(|it| it.left).sum::<Amount>();
    if for_programs {
        let row = |Member { login, role, machines, heard_at, ids, .. }| ShownMember {
            machines: is_seen(&login).then(|| machines.parse().unwrap_or(0)),
            leased_usd: is_seen(&login).then(|| Usd(leased(&login))),
            login,
            role,
            heard: Some(heard_at).filter(|heard| !heard.is_empty()),
            machine_ids: ids.split_whitespace().map(str::to_owned).collect(),
        };
        let members = members.into_iter().map(row).collect();
        env.print_data(&json::text(&Members { version: 1, team: joined.team, members }));
        return Ok(ExitCode::SUCCESS);
    }
    let columns = ["LOGIN", "ROLE", "MACHINES HEARD IN 30 DAYS", "LAST HEARD", "LEASED", "THEIR IDS"];
    let columns = columns.map(|head| Column::new(head, Align::Left, 0));
    let row = |Member { login, role, machines, heard, ids, .. }| {
        let leased = Some(leased(&login)).filter(|it| *it > Amount::ZERO).map_or("-".to_owned(), |it| it.to_string());
        let [machines, heard, leased, ids] =
            if is_seen(&login) { [machines, heard, leased, ids] } else { [HIDDEN; 4].map(str::to_owned) };
        (Style::Plain, vec![login, role, machines, heard, leased, ids])
    };
    let rows: Vec<_> = members.into_iter().map(row).collect();
    let note = if sees_all { "" } else { SEES_OWN };
    env.print(&format!("{}{note}", table(&columns, &rows, &query::page(env))));
    Ok(ExitCode::SUCCESS)
}
