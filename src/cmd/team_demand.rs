//! What the sessions at work here need of what their team shares besides money.

use crate::domain::budget::SharedBudget;
use crate::domain::moment::Moment;
use crate::domain::session::Session;
use crate::domain::share_kind::ShareKind;
use crate::domain::share_right::ShareRight;
use crate::domain::team::TeamShare;
use crate::error::Result;
use crate::hook::background::team_sync::Wait;
use crate::hook::policy::agents_elsewhere;
use crate::store::Store;
use crate::team::machine::Machine;
use crate::team::purpose::Purpose;
use crate::team::share::{Demand, Share};

/// What is at work here for the team, and what waits to begin.
pub struct AtWork<'a> {
    /// The sessions that are open.
    pub open: &'a [Session],
    /// What waits for a sync.
    pub waits: &'a [Wait],
    /// How many runs are at work.
    pub runs: u64,
}

/// Asks for what is needed of each share, and publishes what may be used of it. It is to be saved before that is sent.
pub fn ask(
    store: &Store,
    budget: &SharedBudget,
    team: &mut TeamShare,
    machine: &mut Machine,
    at_work: &AtWork,
    now: Moment,
) -> Result<()> {
    let (open, runs) = (at_work.open, at_work.runs);
    let stale_ms = open.iter().filter_map(|session| session.team.as_ref()).map(|terms| terms.stale_ms());
    let stale_ms = stale_ms.reduce(|one, other| one.zip(other).map(|(one, other)| one.max(other))).unwrap_or(Some(0));
    team.rights.clear();
    team.looked = Moment::default();
    for share in machine.shares.iter_mut().filter(|share| share.is_limited) {
        let demand = match share.kind {
            ShareKind::Agents => agents(store, at_work, now)?,
            ShareKind::Requests => requests(budget, &right(share), runs, now),
        };
        let demand = if machine.purpose == Purpose::Leave { demand.of_use() } else { demand };
        share.ask(&Demand { stale_ms, ..demand });
        team.rights.push(ShareRight { lacks: share.usable <= demand.in_use, ..right(share) });
        team.looked = now;
    }
    Ok(())
}

/// Returns the subagents at work and asked for, and one or more that may be asked for next where a prompt or an agent is at work.
fn agents(store: &Store, at_work: &AtWork, now: Moment) -> Result<Demand> {
    let AtWork { open, waits, runs } = *at_work;
    let (mut in_use, mut is_busy) = (0, false);
    for session in open.iter().filter(|session| session.team.is_some()) {
        in_use += agents_elsewhere::at_work(store, session.clone(), now)?;
        is_busy |= !session.is_at_rest() && is_answering(store, session)?;
    }
    let needs = in_use + waits.iter().filter(|wait| wait.starts_agent).count() as u64;
    let next = if runs > 0 && (is_busy || needs > 0) { 1 + in_use / 4 } else { 0 };
    Ok(Demand { in_use, needs, wants: needs + next, stale_ms: None })
}

/// Whether a session's main agent works on a prompt.
fn is_answering(store: &Store, session: &Session) -> Result<bool> {
    let Some(id) = &session.main else { return Ok(false) };
    Ok(store.run(&session.id, id)?.is_some_and(|run| run.working))
}

/// Returns the requests of the last window, and as many as may come until the next sync where anything is at work.
fn requests(budget: &SharedBudget, right: &ShareRight, runs: u64, now: Moment) -> Demand {
    let in_use = right.rate(right.cap).map_or(0, |rate| budget.windows.read(&rate, "", now).used);
    let needs = if runs > 0 { in_use + in_use / 4 + 2 * runs } else { 0 };
    Demand { in_use, needs, wants: 2 * needs, stale_ms: None }
}

fn right(share: &Share) -> ShareRight {
    ShareRight {
        kind: share.kind,
        cap: share.cap,
        per_ms: share.per_ms,
        reserved: share.reserved,
        usable: share.usable,
        until: share.until(),
        is_full: share.is_full,
        is_held_back: share.is_held_back,
        held_by: share.held_by.clone(),
        contact: share.contact.clone(),
        ..ShareRight::default()
    }
}
