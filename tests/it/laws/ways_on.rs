//! Every limit holds by every way in which a run goes on, ends nothing too early, and says what is so.

use std::collections::BTreeMap;
use std::fmt;

use fusebox::domain::action::{ACTIONS, Action};
use fusebox::domain::event::{Call, CallOutcome, EventKind, Intent};
use fusebox::domain::ingested::Ingested;
use fusebox::domain::limit::Limit;
use fusebox::domain::refusal::Refusal;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::Status;
use fusebox::domain::unit::Unit;
use fusebox::domain::verdict::Decision;

use crate::laws::client::{Policy, ends};
use crate::laws::decided_at_events;
use crate::laws::scripts::Case;
use crate::laws::truth::{misstated, of_limit, truth};
use crate::laws::way::{WAYS, Way};
use crate::laws::ways::{ONE, Play, STEPS, Used, play};
use crate::world::in_long_form;

/// One limit, as it is tried.
#[derive(Clone, Copy)]
struct Tried {
    limit: &'static Limit,
    scope: Scope,
    cap: u64,
    action: Action,
    grace: u32,
    attended: bool,
    way: Way,
}

impl fmt::Debug for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tried { limit, scope, cap, action, grace, attended, way } = self;
        write!(f, "{way:?}: {limit} over {scope:?}, cap {cap}, {action:?}, grace {grace}, attended {attended}")
    }
}

/// Returns every limit over every scope with every action, by every way; `FUSEBOX_LAWS=full` with more caps, graces and
/// persons.
fn all() -> Vec<Tried> {
    let is_full = in_long_form();
    let how: &[(u32, bool)] = if is_full {
        &[(0, true), (0, false), (1, true), (1, false), (3, true), (3, false)]
    } else {
        &[(1, true), (0, false)]
    };
    let most_caps = if is_full { 2 } else { 1 };
    let mut all = Vec::new();
    for limit in decided_at_events() {
        let outer = limit.scopes.contains(&Scope::Session).then_some(Scope::Outer);
        for scope in limit.scopes.iter().copied().chain(outer) {
            for (action, way) in ACTIONS.into_iter().flat_map(|action| WAYS.map(|way| (action, way))) {
                for (grace, attended) in how.iter().copied() {
                    let caps = caps(limit).into_iter().take(most_caps);
                    all.extend(caps.map(|cap| Tried { limit, scope, cap, action, grace, attended, way }));
                }
            }
        }
    }
    all
}

/// Returns caps that a way reaches, with and without a rest.
fn caps(limit: &Limit) -> [u64; 2] {
    match limit.unit {
        Unit::Millis => [1000, 2500],
        Unit::Switch => [1, 1],
        Unit::Tokens | Unit::Usd => [5 * ONE, 6 * ONE + 1],
        Unit::Count | Unit::Percent => [5, 6],
    }
}

impl Tried {
    fn policy(self) -> Policy {
        let case = Case::plain(self.limit, self.scope, self.cap, self.action);
        Case { grace: self.grace, ..case }.policy(self.cap)
    }

    /// Whether the limit ends or refuses what is beyond it. Nobody says Yes here.
    fn stops(self) -> bool {
        self.action != Action::Warn
    }

    /// The most that may have been used: the cap, and one request of each run that cannot be kept from it.
    fn most(self, play: &Play) -> u64 {
        let one = of_limit(self.limit.key, Used { requests: 1, turns: 0 }).unwrap_or(0);
        let runs = if self.scope == Scope::Run { 1 } else { play.of_runs().count() as u64 };
        // A run that goes on by itself, over and over, is one.
        let runs = if matches!(self.way, Way::Forks | Way::Clears) { 1 } else { runs };
        // A workflow's agents work one after the other: main, and the one at work.
        let runs = if matches!(self.way, Way::Workflow | Way::WorkflowInWords) { runs.min(2) } else { runs };
        // Where somebody may still be asked for more, they may use as much as a Yes would give.
        let may_be_asked = matches!(self.way, Way::Workflow | Way::WorkflowInWords)
            && self.action == Action::RequestIncrease
            && self.attended;
        let cap = if may_be_asked { 2 * self.cap } else { self.cap };
        // No hook is asked before a compaction. It is counted behind its request, and the response after it is met by a dialog.
        let compaction = u64::from(self.way == Way::Compactions && self.action == Action::RequestIncrease);
        cap + one * (runs + compaction)
    }

    fn check(self) -> Result<(), String> {
        let policy = self.policy();
        let play = play(&policy, self.way, self.attended);
        if let Some(wrong) = play.wrong.clone().or_else(|| misstated(&play)) {
            return Err(wrong);
        }
        self.holds(&play)?;
        self.says_what_is_so(&play)
    }

    fn holds(self, play: &Play) -> Result<(), String> {
        if !self.stops() {
            let refused = play.said.iter().find(|(_, verdict, _)| verdict.decision >= Decision::Ask);
            return refused.map_or(Ok(()), |refused| Err(format!("a warning refuses: {refused:?}")));
        }
        if self.way == Way::StartsOfItsOwn && self.limit.spent_by_requests() {
            // Nothing refuses a start, and words need no call that could be refused.
            return Ok(());
        }
        let mains = |run: &&String| run.starts_with('p');
        let used: Vec<(String, Used)> = match self.scope {
            Scope::Run => {
                let of_scope = play.of_runs().filter(|(run, _)| !(self.way.is_of_agents() && mains(run)));
                of_scope.map(|(run, used)| (run.clone(), *used)).collect()
            }
            Scope::Session => play.of_sessions().into_iter().map(|used| ("a session".to_owned(), used)).collect(),
            _ => vec![("all".to_owned(), play.total())],
        };
        for (run, used) in used {
            let most = self.most(play);
            match of_limit(self.limit.key, used) {
                Some(used) if used > most => return Err(format!("{run} used {used} of {}", self.cap)),
                _ => {}
            }
        }
        Ok(())
    }

    fn says_what_is_so(self, play: &Play) -> Result<(), String> {
        let runs = play.made.len() as u64;
        let stopped = || play.said.iter().find(|(_, verdict, _)| verdict.decision == Decision::Stop);
        if let Some(stopped) = stopped().filter(|_| self.limit.key == "rate_limits" && self.action != Action::Pause) {
            return Err(format!("a rate ends a run: {stopped:?}"));
        }
        for (run, verdict, shown) in &play.said {
            let of = match &verdict.refusal {
                Some(Refusal::Addressee { run, .. }) => run,
                Some(Refusal::Tripped { .. } | Refusal::Ordered { .. } | Refusal::Blocked | Refusal::CallAlone) => run,
                _ => continue,
            };
            let Some(finding) = verdict.deciding() else { return Err("a refusal without a reason".to_owned()) };
            if finding.cap != self.cap || finding.source != *self.limit.key {
                return Err(format!("another limit or cap is named: {finding:?}"));
            }
            if matches!(verdict.refusal, Some(Refusal::Addressee { ended: true, .. })) {
                continue;
            }
            let Some(used) = truth(finding, of, shown) else { continue };
            if used != finding.by_now() {
                return Err(format!("{used} are used, and {} are said to be: {finding:?}", finding.by_now()));
            }
            let one = of_limit(self.limit.key, Used { requests: 1, turns: 1 }).unwrap_or(0);
            let ahead = if self.limit.spent_by_requests() { u64::from(self.grace) + 1 } else { 1 };
            let others = if self.scope == Scope::Run { 1 } else { runs };
            if used + one * (ahead + others) <= self.cap {
                return Err(format!("{run} is ended at {used} of {}", self.cap));
            }
        }
        Ok(())
    }
}

#[test]
fn every_limit_holds_by_every_way_on() {
    let mut broken: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for tried in all() {
        if let Err(why) = tried.check() {
            let kind = format!("{:?}: {} over {:?}", tried.way, tried.limit, tried.scope);
            broken.entry(kind).or_default().push(format!("{tried:?}: {why}"));
        }
    }
    let firsts: Vec<String> = broken.values().map(|cases| format!("{} times: {}", cases.len(), cases[0])).collect();
    assert!(broken.is_empty(), "{} kinds are broken:\n{}", broken.len(), firsts.join("\n"));
}

#[test]
fn every_way_goes_on_where_nothing_limits_it() {
    for way in WAYS {
        let none = Policy::default();
        let play = play(&none, way, true);
        let total = play.total().requests as usize;
        assert!(total >= STEPS, "{way:?} made {total} requests");
        assert_eq!(misstated(&play), None, "{way:?}");
        let is_over = |status| matches!(status, Status::Failed | Status::Paused | Status::Stopped);
        assert!(play.state.runs().all(|run| !is_over(run.status)), "{way:?}");
    }
}

#[test]
fn a_wait_is_cut_to_what_is_left_wherever_the_end_of_that_ends_the_run() {
    for limit in decided_at_events().filter(|limit| limit.unit == Unit::Millis) {
        for (scope, action) in
            [Scope::Run, Scope::Session, Scope::Outer].into_iter().flat_map(|s| ACTIONS.map(|a| (s, a)))
        {
            for attended in [true, false] {
                let tried = Tried { limit, scope, cap: 60_000, action, grace: 1, attended, way: Way::Calls };
                let policy = tried.policy();
                let mut play = play(&policy, tried.way, attended);
                let intent = Intent::Timed { timeout_ms: 120_000 };
                let call = Call { id: "wait".to_owned(), tool: "Bash".to_owned(), intent, ..Call::default() };
                let cut = play.event("", EventKind::ToolRequested(call), Ingested::default()).time_cut.is_some();
                let ends = ends(action) || action == Action::RequestIncrease && !attended;
                assert_eq!(cut, ends, "{tried:?}");
            }
        }
    }
}

/// An agent in the background uses the session up; main meets that at an event of its own.
#[test]
fn main_may_report_wherever_it_meets_the_end_of_its_session() {
    let limit = Limit::find("max_turns").unwrap();
    let tried = Tried {
        limit,
        scope: Scope::Session,
        cap: 2,
        action: Action::Terminate,
        grace: 1,
        attended: false,
        way: Way::WorkflowInWords,
    };
    let policy = tried.policy();
    let call = |id: &str, tool: &str| Call { id: id.to_owned(), tool: tool.to_owned(), ..Call::default() };
    for meets in 0..3 {
        let mut play = play(&policy, tried.way, false);
        let mut main = |kind| play.event("", kind, Ingested::default());
        main(EventKind::ToolRequested(call("m1", "Bash")));
        let ended = EventKind::ToolEnded(call("m1", "Bash"), CallOutcome::default());
        if meets < 2 {
            main(ended.clone());
        }
        if meets < 1 {
            main(EventKind::BatchEnded(vec![call("m1", "Bash")]));
        }
        for number in 1..=2 {
            let call = call(&format!("a{number}"), "Bash");
            play.event("w0", EventKind::ToolRequested(call), Ingested::default());
        }
        assert_eq!(play.state.session.status, Status::Failed);
        let mut main = |kind| play.event("", kind, Ingested::default()).decision;
        let met = match meets {
            0 => main(EventKind::ToolRequested(call("m2", "Bash"))),
            1 => main(EventKind::BatchEnded(vec![call("m1", "Bash")])),
            _ => main(ended).max(main(EventKind::BatchEnded(vec![call("m1", "Bash")]))),
        };
        assert_eq!(met, if meets == 0 { Decision::Deny } else { Decision::Warn }, "{meets}: main is told");
        if meets == 0 {
            assert!(main(EventKind::BatchEnded(vec![call("m2", "Bash")])) <= Decision::Warn);
        }
        assert_eq!(main(EventKind::ToolRequested(call("m3", "Write"))), Decision::Allow, "{meets}: its report");
        assert_eq!(main(EventKind::BatchEnded(vec![call("m3", "Write")])), Decision::Stop, "{meets}: nothing after it");
    }
}
