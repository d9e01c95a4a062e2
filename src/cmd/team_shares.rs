//! `fusebox team limit agents=40` and `requests=600/1m`: limits of a whole team that are no money, and what its machines have reserved of them.

use serde::Serialize;

use crate::cmd::{query, team_write_off};
use crate::domain::share_kind::ShareKind;
use crate::domain::share_right::ShareRight;
use crate::domain::text::duration;
use crate::domain::time_units::DAY_MS;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::store::team::ledger::Ledger;
use crate::store::team::shares::{OpenShare, SharedLimit};
use crate::ui::style::Style;
use crate::ui::table::{Align, Column, table};

/// The highest limit.
const HIGHEST: u64 = 1_000_000;
/// The shortest and the longest window, in milliseconds.
const WINDOWS: std::ops::RangeInclusive<u64> = 1_000..=DAY_MS.cast_unsigned();

/// A limit that an admin sets; `None` takes it away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewLimit {
    /// What it is on.
    pub kind: ShareKind,
    /// How much, and the window in milliseconds, which is 0 for agents.
    pub limit: Option<(u64, u64)>,
}

/// A limit that the machines of a team share, for programs.
#[derive(Debug, Serialize)]
pub struct SharedLimitShown {
    kind: String,
    limit: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_ms: Option<u64>,
    reserved: u64,
    machines: u64,
}

/// Reads `agents=40`, `requests=600/1m` or `agents=none`; `None` where it is a cap of money.
pub fn limit_of(text: &str) -> Option<Result<NewLimit>> {
    let (kind, amount) = text.split_once('=')?;
    let kind = ShareKind::named(kind)?;
    let wrong = || Error::usage(format!("`{text}` is no limit: it is like agents=40, requests=600/1m or agents=none"));
    let count = |text: &str| text.parse().ok().filter(|count| *count <= HIGHEST);
    let limit = match (kind, amount) {
        (_, "none") => Some(None),
        (ShareKind::Agents, amount) => count(amount).map(|count| Some((count, 0))),
        (ShareKind::Requests, amount) => amount.split_once('/').and_then(|(amount, window)| {
            let per_ms = duration::parse(window).filter(|ms| WINDOWS.contains(ms))?;
            Some(Some((count(amount)?, per_ms)))
        }),
    };
    Some(limit.map(|limit| NewLimit { kind, limit }).ok_or_else(wrong))
}

/// Sets a limit, and says so.
pub fn set(env: &Environment, ledger: &mut Ledger, team: &str, new: NewLimit) -> Result<()> {
    ledger.set_shared_limit(team, new.kind, new.limit)?;
    let shown = match new.limit {
        None => "none".to_owned(),
        Some((cap, per_ms)) => ShareRight { kind: new.kind, cap, per_ms, ..ShareRight::default() }.named(),
    };
    env.print(&format!("{} of the whole team: {shown}\n", new.kind.as_str()));
    Ok(())
}

/// Returns limits as programs read them.
pub fn for_programs(limits: &[SharedLimit]) -> Vec<SharedLimitShown> {
    let shown = |it: &SharedLimit| SharedLimitShown {
        kind: it.kind.clone(),
        limit: it.cap,
        per_ms: Some(it.per_ms).filter(|ms| *ms > 0),
        reserved: it.reserved,
        machines: it.machines,
    };
    limits.iter().map(shown).collect()
}

/// Shows limits in a table; nothing where there is none.
pub fn shown(env: &Environment, limits: &[SharedLimit]) -> String {
    if limits.is_empty() {
        return String::new();
    }
    let columns = [
        Column::new("SHARED", Align::Left, 0),
        Column::new("RESERVED", Align::Right, 0),
        Column::new("LIMIT", Align::Right, 0),
        Column::new("IN", Align::Right, 0),
        Column::new("MACHINES", Align::Right, 1),
    ];
    let row = |it: &SharedLimit| {
        let style = if it.reserved >= it.cap { Style::Red } else { Style::Plain };
        let window = if it.per_ms > 0 { duration::write(it.per_ms) } else { "-".to_owned() };
        let (reserved, cap, machines) = (it.reserved.to_string(), it.cap.to_string(), it.machines.to_string());
        (style, vec![it.kind.clone(), reserved, cap, window, machines])
    };
    table(&columns, &limits.iter().map(row).collect::<Vec<_>>(), &query::page(env))
}

/// Shows what machines hold of the limits, in a table: `until` heads its last column.
pub fn shares_shown(env: &Environment, shares: &[&OpenShare], until: &'static str) -> String {
    let columns = [
        Column::new("MACHINE", Align::Left, 0),
        Column::new("OF", Align::Left, 0),
        Column::new("SHARED", Align::Left, 0),
        Column::new("RESERVED", Align::Right, 0),
        Column::new(until, Align::Left, 1),
    ];
    let row = |it: &&OpenShare| {
        let ends = if it.is_expired { it.until.clone() } else { team_write_off::ends(it) };
        let machine = team_write_off::short(&it.machine);
        (Style::Plain, vec![machine, it.login.clone(), it.kind.clone(), it.counted.to_string(), ends])
    };
    table(&columns, &shares.iter().map(row).collect::<Vec<_>>(), &query::page(env))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_the_team_is_a_number_of_agents_or_requests_in_a_window() {
        let read = |text| limit_of(text).unwrap().unwrap();
        assert_eq!(read("agents=40"), NewLimit { kind: ShareKind::Agents, limit: Some((40, 0)) });
        assert_eq!(read("requests=600/1m"), NewLimit { kind: ShareKind::Requests, limit: Some((600, 60_000)) });
        assert_eq!(read("requests=none"), NewLimit { kind: ShareKind::Requests, limit: None });
        for wrong in ["agents=", "agents=-1", "agents=2000000", "requests=600", "requests=600/1ms", "requests=6/2d"] {
            assert!(limit_of(wrong).unwrap().is_err(), "{wrong}");
        }
        for cap in ["month=5", "year=5", "agents"] {
            assert!(limit_of(cap).is_none(), "{cap}");
        }
    }
}
