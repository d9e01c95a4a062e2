//! Which of a team's caps let too little be spent to go on: whom they block, who holds what is left of them, and who raises them.

use crate::cmd::query;
use crate::cmd::team_leases::{self, Held};
use crate::cmd::team_place::Joined;
use crate::cmd::team_write_off::short;
use crate::domain::scope::Scope;
use crate::domain::spend::amount::Amount;
use crate::domain::team_cap::CapUse;
use crate::domain::verdict::Finding;
use crate::error::Result;
use crate::platform::environment::Environment;
use crate::store::Store;
use crate::store::team::admin::OpenLease;
use crate::store::team::limits::CapInForce;

/// What is said of a cap that blocks somebody.
#[derive(Default)]
pub struct Said {
    /// Whom it blocks: `bob is still blocked`.
    pub whom: String,
    /// Which of their machines hold what is leased of it, as a clause; empty where that is not known.
    pub held: String,
    /// What the next request takes, where that is more than what is left.
    pub ahead: Option<Amount>,
}

/// Says of each cap whom it blocks, and who raises it by which command. Where `said` returns `None`, nothing is said of it.
pub fn lines(
    caps: &[CapInForce],
    team: &str,
    contact: &str,
    said: impl Fn(&CapInForce, &CapUse) -> Option<Said>,
) -> String {
    let line = |cap: &CapInForce| {
        let told = cap.told(team, contact);
        let Said { whom, held, ahead } = said(cap, &told)?;
        let leased = || (cap.committed.minus(cap.spent), "leased");
        let (more, what) = ahead.map_or_else(leased, |ahead| (ahead, "to come"));
        Some(format!("{whom}: {}{held}; it resets at {}\n", told.used_up(cap.spent, more, what), told.anew()))
    };
    caps.iter().filter(|cap| !cap.resets.is_empty()).filter_map(line).collect()
}

/// Says by which caps a person is blocked who asks on this machine, and which machines of theirs hold what is left.
pub fn here(
    env: &Environment,
    joined: &Joined,
    caps: &[CapInForce],
    contact: &str,
    own: &[OpenLease],
) -> Result<String> {
    let store = Store::open(env)?;
    let share = store.shared_budget(Scope::Team, &joined.team)?.and_then(|budget| budget.team);
    store.leave();
    let sessions = query::open_or_since(env, env.now().wall_ms.saturating_sub(query::RECENT_MS))?;
    let blocks: Vec<Finding> = sessions.into_iter().filter_map(|it| it.prompt_block).collect();
    let lacks = share.is_none_or(|share| share.lacks);
    let (here, others): (Vec<&OpenLease>, Vec<_>) = own.iter().partition(|it| it.machine == joined.machine);
    let (here, others) = (team_leases::by_machine(&here), team_leases::by_machine(&others));
    let said = |cap: &CapInForce, told: &CapUse| {
        let block = blocks.iter().find(|it| it.scope == Scope::Team && it.subject.starts_with(&told.named()));
        let ahead = block.map(|it| Amount(it.ahead)).filter(|_| !cap.is_committed());
        if !cap.is_committed() && ahead.is_none_or(|ahead| cap.cap.minus(cap.committed) > ahead) {
            return None;
        }
        let (whom, held) = match here.first() {
            _ if cap.scope == "project" => ("work in it is blocked", String::new()),
            _ if cap.spent >= cap.cap => ("you are blocked", String::new()),
            Some(held) if block.is_none() => {
                let whom = if lacks { "you may be blocked" } else { "you may go on" };
                (whom, format!(", {} of it to this machine", told.show(held.left)))
            }
            _ => ("you are blocked", others.iter().map(|held| elsewhere(held, told)).collect()),
        };
        Some(Said { whom: whom.to_owned(), held, ahead })
    };
    Ok(lines(caps, &joined.team, contact, said))
}

/// Says what another machine of the same person holds, and what gives it back.
fn elsewhere(held: &Held<'_>, cap: &CapUse) -> String {
    let (left, machine, until) = (cap.show(held.left), short(&held.first.machine), held.until);
    let back = match held.first.is_expired {
        true => format!("expired {until}; its next sync gives it back, or `fusebox team write-off {machine}`"),
        false => format!("until {until}; the end of its sessions gives it back"),
    };
    format!(", {left} of it to your machine {machine} {back}")
}
