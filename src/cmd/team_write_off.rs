//! `fusebox team write-off`: what a lost machine holds is given up, and what is not given up is said.

use std::collections::BTreeSet;
use std::process::ExitCode;

use crate::cmd::team_place;
use crate::error::{Error, Result};
use crate::platform::environment::Environment;
use crate::store::team::admin::OpenLease;
use crate::store::team::shares::OpenShare;

/// How much of a machine's id is shown, and has to be said at least.
const SHOWN: usize = 8;

/// What is said of all that was given up.
const UNTOLD: &str = "what their machine has spent of it and not told is charged when it comes, and can pass a cap\n";

/// Gives up what the expired leases and shares of a machine hold, or one of its leases.
pub fn run(env: &Environment, what: &str) -> Result<ExitCode> {
    let (machine, lease) = match what.split_once('/') {
        Some((machine, lease)) => {
            let lease = lease.parse::<u64>();
            (machine, Some(lease.map_err(|_| Error::usage(format!("`{what}` does not end with a lease's number")))?))
        }
        None => (what, None),
    };
    if machine.len() < SHOWN {
        return Err(Error::usage(format!("`{machine}` is too short for a machine: say {SHOWN} characters of its id")));
    }
    let joined = team_place::joined(env)?;
    let mut ledger = team_place::ledger(&joined)?;
    let is_meant = |it: &OpenLease| it.machine.starts_with(machine) && lease.is_none_or(|number| it.number == number);
    let is_share = |it: &OpenShare| it.machine.starts_with(machine) && lease.is_none();
    let leases = ledger.open_leases(&joined.team)?.into_iter().filter(is_meant);
    let shares = ledger.open_shares(&joined.team)?.into_iter().filter(is_share);
    let (leases, living_leases): (Vec<_>, Vec<_>) = leases.partition(|it| it.is_expired);
    let (shares, living_shares): (Vec<_>, Vec<_>) = shares.partition(|it| it.is_expired);
    let ids = leases.iter().map(|it| &it.machine).chain(shares.iter().map(|it| &it.machine));
    let ids: BTreeSet<&String> = ids.collect();
    let kept: Vec<String> = living_leases.iter().map(lease_kept).chain(living_shares.iter().map(share_kept)).collect();
    if ids.is_empty() {
        let hint = "`fusebox team status` names them, to an admin";
        let error = Error::failed(format!("no expired lease or share of a machine {machine} counts"));
        return Err(error.with_lines(kept).hint(hint));
    }
    if ids.len() > 1 {
        return Err(Error::failed(format!("{machine} begins the ids of several machines")).hint("say more of it"));
    }
    for share in &shares {
        ledger.write_off_share(&joined.team, share)?;
        env.print(&format!("{} {} of {}: given up\n", share.counted, share.kind, share.login));
    }
    for expired in &leases {
        let freed = ledger.write_off(&joined.team, &expired.machine, expired.number)?;
        env.print(&format!("lease {} of {}: {freed} given up\n", named(expired), expired.login));
    }
    kept.iter().for_each(|kept| env.print(&format!("{kept}\n")));
    env.print(UNTOLD);
    Ok(ExitCode::SUCCESS)
}

/// Names a lease: the beginning of its machine's id, and its number.
pub fn named(lease: &OpenLease) -> String {
    format!("{}/{}", short(&lease.machine), lease.number)
}

/// Returns the beginning of a machine's id, by which people name it.
pub fn short(machine: &str) -> String {
    machine.chars().take(SHOWN).collect()
}

/// Says of a lease that lives when it can be given up.
fn lease_kept(it: &OpenLease) -> String {
    format!("lease {} of {}: {} is not given up; that can be done from {} on", named(it), it.login, it.left, it.until)
}

/// Says of a share that lives how long it counts.
fn share_kept(it: &OpenShare) -> String {
    format!("{} {} of {}: not given up; {}", it.counted, it.kind, it.login, ends(it))
}

/// Says when a share that lives counts no more where its machine is not heard again.
pub fn ends(share: &OpenShare) -> String {
    match share.kind.as_str() {
        "agents" => format!("can be written off from {} on", share.until),
        _ => format!("count no more from {} on", share.until),
    }
}
