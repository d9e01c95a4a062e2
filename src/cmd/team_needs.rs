//! What a machine needs of its team's budget: enough for the sessions at work here, and no more.

use std::collections::BTreeSet;

use crate::domain::budget::SharedBudget;
use crate::domain::moment::Moment;
use crate::domain::session::Session;
use crate::domain::spend::amount::Amount;
use crate::domain::time_units::{HOUR_MS, MINUTE_MS};
use crate::error::Result;
use crate::hook::background::team_sync::Wait;

/// For how long a session without an event counts as at work, in milliseconds.
const AT_WORK_MS: i64 = HOUR_MS;
/// A session without an event for so long holds no more than it needs to go on, in milliseconds.
const LIVELY_MS: i64 = 15 * MINUTE_MS;
/// What a machine at work wants to hold, in requests of each run.
const REQUESTS_HELD: u64 = 20;
/// What it wants to hold at least.
const LEAST_HELD: Amount = Amount(2_000_000_000_000);

/// What the machine needs of the team's budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// What it has to hold for the next requests of all that is at work; nothing where nothing is.
    pub least: Amount,
    /// What it asks for.
    pub want: Amount,
    /// What it keeps unspent of what it holds: as much as the dearest response of its session, for each run at work.
    pub margin: Amount,
    /// How many runs are at work.
    pub runs: u64,
    /// The labels of the projects that have sessions here.
    pub projects: BTreeSet<String>,
    /// What the clients here say that they have spent, by the day on which their sessions began.
    pub totals: Vec<(String, Amount)>,
}

impl Needs {
    /// Whether leases are given back of which so much is left: nothing is at work, or nothing was for a while and they hold more than
    /// it takes to go on.
    pub fn has_too_much(&self, held: Amount) -> bool {
        self.least == Amount::ZERO || self.want == self.least && held > self.want
    }
}

/// Whether a session may spend from the leases, however long it was silent.
pub fn takes_part(session: &Session) -> bool {
    session.team.is_some() && !session.is_at_rest()
}

/// Returns what the sessions at work need, each of which has so many runs at work, and the events that wait for what a sync brings.
pub fn needs(
    budget: &SharedBudget,
    open: &[Session],
    waits: &[Wait],
    now: Moment,
    runs_at_work: impl Fn(&Session) -> Result<u32>,
) -> Result<Needs> {
    let since = |session: &Session| now.wall_ms - session.last.wall_ms;
    let mut at_work = Vec::new();
    for session in open.iter().filter(|session| takes_part(session)).filter(|session| since(session) < AT_WORK_MS) {
        // One more may begin before the next sync.
        at_work.push((session, 1 + u64::from(runs_at_work(session)?)));
    }
    // An event that waits goes on with its session, whatever that was before.
    let runs = at_work.iter().map(|(_, runs)| runs).sum::<u64>().max(u64::from(!waits.is_empty()));
    if runs == 0 {
        return Ok(Needs::default());
    }
    let mean = budget.mean(None).cost;
    let held: Amount = budget.reservations.iter().map(|held| held.spend.cost).sum();
    // The next request of each, the report after it, and what is in flight.
    let margin: Amount = at_work.iter().map(|(it, runs)| it.counters.dearest.cost * *runs).sum();
    let least = mean * (2 * runs) + held * 2 + margin;
    let least = least.max(Amount(1));
    let is_lively = !waits.is_empty() || at_work.iter().any(|(session, _)| since(session) < LIVELY_MS);
    let want = if is_lively { (mean * (REQUESTS_HELD * runs)).max(LEAST_HELD).max(least) } else { least };
    Ok(Needs { least, want, margin, runs, ..Needs::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::action::Action;
    use crate::domain::finding_source::FindingSource;
    use crate::domain::layer::Layer;
    use crate::domain::scope::Scope;
    use crate::domain::session::{Order, Status};
    use crate::domain::team::{OnStale, TeamTerms};
    use crate::domain::verdict::Finding;

    fn session(silent_ms: i64, change: impl Fn(&mut Session)) -> Session {
        let terms = TeamTerms {
            name: "core".to_owned(),
            on_stale: OnStale::Warn,
            max_staleness_ms: 1,
            sync_interval_ms: 1,
            ceiling: None,
            project: String::new(),
        };
        let last = Moment { wall_ms: -silent_ms, ..Moment::default() };
        let mut session = Session { team: Some(Box::new(terms)), last, ..Session::default() };
        change(&mut session);
        session
    }

    #[test]
    fn only_who_may_spend_holds_leases_and_who_was_silent_for_long_holds_little() {
        let budget = SharedBudget::new(Scope::Team, "core");
        let now = Moment::default();
        let stopped = Order::halted(
            Finding::bare(FindingSource::ExplicitStop, Scope::Session, Action::Terminate, Layer::User),
            None,
        );
        let cases = [
            (session(0, |_| ()), false, LEAST_HELD),
            (session(LIVELY_MS, |_| ()), false, Amount(1)),
            (session(AT_WORK_MS, |_| ()), false, Amount::ZERO),
            (session(0, |it| it.is_over = true), false, Amount::ZERO),
            (session(0, |it| it.team = None), false, Amount::ZERO),
            (session(0, |it| it.status = Status::Orphaned), false, Amount::ZERO),
            (session(0, |it| it.order = Some(stopped.clone())), false, Amount::ZERO),
            // What lifted its order has not been saved yet.
            (session(0, |it| it.order = Some(stopped.clone())), true, LEAST_HELD),
            (session(LIVELY_MS, |_| ()), true, LEAST_HELD),
        ];
        for (session, waits, want) in cases {
            let waits = if waits { vec![Wait { at: now, starts_agent: false }] } else { Vec::new() };
            let needs = needs(&budget, std::slice::from_ref(&session), &waits, now, |_| Ok(1)).unwrap();
            assert_eq!(needs.want, want, "{session:?} {waits:?}");
            assert_eq!(needs.has_too_much(Amount(5)), want < LEAST_HELD, "{session:?} {waits:?}");
        }
    }
}
