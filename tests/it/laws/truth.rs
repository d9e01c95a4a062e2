//! What really happened in a play, beside what was said of it.

use std::collections::BTreeMap;

use fusebox::domain::refusal::Refusal;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::Status;
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::spend::charge::{Charge, NewCharge};
use fusebox::domain::spend::meters::Spend;
use fusebox::domain::verdict::Finding;

use crate::laws::ways::{BEFORE, BEGAN_MS, COPIED, ONE, Play, Used};

/// Sums what runs have used.
pub fn sum<'a>(all: impl Iterator<Item = &'a Used>) -> Used {
    all.fold(Used::default(), |sum, one| Used { requests: sum.requests + one.requests, turns: sum.turns + one.turns })
}

impl Play<'_> {
    /// Returns what all runs together have made, of all sessions.
    pub fn total(&self) -> Used {
        sum(self.made.iter().filter(|(run, _)| *run != COPIED).map(|(_, used)| used))
    }

    /// Returns what each session has made or copied.
    pub fn of_sessions(&self) -> Vec<Used> {
        let in_session =
            |made: &BTreeMap<String, Used>| sum(made.iter().filter(|(run, _)| *run != BEFORE).map(|(_, used)| used));
        self.earlier.iter().chain([&self.made]).map(in_session).collect()
    }

    /// Returns what each run has made, of all sessions.
    pub fn of_runs(&self) -> impl Iterator<Item = (&String, &Used)> {
        let all = self.earlier.iter().chain([&self.made]).flatten();
        all.filter(|(run, _)| !matches!(run.as_str(), COPIED | BEFORE))
    }
}

/// Returns what a finding says is used in the same unit as the truth of its scope; nothing where no truth is kept of it.
pub fn truth(finding: &Finding, run: &str, shown: &BTreeMap<String, Used>) -> Option<u64> {
    let used = match finding.scope {
        Scope::Run => shown.get(run).copied().unwrap_or_default(),
        Scope::Session => sum(shown.iter().filter(|(run, _)| *run != BEFORE).map(|(_, used)| used)),
        _ => sum(shown.iter().filter(|(run, _)| *run != COPIED).map(|(_, used)| used)),
    };
    of_limit(&finding.source.name(), used)
}

/// Returns what of the usage a limit counts; nothing where no truth is kept of it.
pub fn of_limit(limit: &str, used: Used) -> Option<u64> {
    match limit {
        "max_turns" => Some(used.turns),
        "max_requests" => Some(used.requests),
        "max_execution_cost_usd" => Some(0),
        "max_tokens" | "max_cost_usd" | "max_planning_cost_usd" => Some(used.requests * ONE),
        _ if limit.starts_with("max_cost_usd_per") => Some(used.requests * ONE),
        _ => None,
    }
}

/// Says which run a client would find in a state that is not its own.
pub fn misstated(play: &Play) -> Option<String> {
    play.state.runs().find_map(|run| {
        let said_over = matches!(run.status, Status::Failed | Status::Paused | Status::Stopped);
        let is_over = play.ended.contains(&run.id);
        let was_told = play.said.iter().any(|(of, verdict, _)| {
            of == &run.id && matches!(verdict.refusal, Some(Refusal::Tripped { .. } | Refusal::Ordered { .. }))
        });
        match said_over {
            false if is_over => Some(format!("{} was ended, and is called {:?}", run.id, run.status)),
            true if play.done.contains(&run.id) && !was_told => {
                Some(format!("{} ended by itself, and is called {:?}", run.id, run.status))
            }
            _ => None,
        }
    })
}

/// A charge that another session was billed for.
pub fn copy(of: &NewCharge) -> NewCharge {
    NewCharge { charge: Charge { inherited: true, ..of.charge.clone() }, ..of.clone() }
}

pub fn charge(run: &str, now: u64) -> NewCharge {
    let spend = Spend { requests: 1, tokens: ONE, cache_reads: 0, cost: Amount(ONE) };
    let charge = Charge {
        session: "s".to_owned(),
        run: run.to_owned(),
        model: "claude-opus-5-5".to_owned(),
        at_ms: BEGAN_MS + i64::try_from(now).unwrap_or(0),
        spend,
        output: ONE,
        context: ONE,
        ..Charge::default()
    };
    NewCharge { charge, adds: spend, again: spend, replay_price: (0, 0).into() }
}
