//! Measuring: what every scope has used at an event, and what the next step would add.

use crate::domain::budget::SharedBudget;
use crate::domain::event::{Call, Intent};
use crate::domain::limit_set::{LimitRule, LimitSet, Models};
use crate::domain::next_model::NextModel;
use crate::domain::own_counts::OwnCounts;
use crate::domain::scope::Scope;
use crate::domain::session::{Reservation, Run, Session};
use crate::domain::spend::amount::Amount;
use crate::domain::spend::meters::{Meters, RunAndSession, Spend, UnknownFirsts, Unlogged};
use crate::domain::spend::reservation::RESERVE_LIVES_MS;
use crate::domain::usage::{Activity, Occasion, ScopeUsage};
use crate::engine::agents::agents_at_work::{self, AgentsAtWork};
use crate::engine::charging::{self, compactions};
use crate::engine::estimate;
use crate::engine::session_state::SessionState;

/// The acting run at an event, seen from one scope.
#[derive(Clone, Copy)]
struct Actor<'a> {
    state: &'a SessionState,
    run: &'a Run,
    occasion: Occasion<'a>,
    /// What is the same over every scope and for every model.
    same: Meters,
    /// The session's subagents at work.
    at_work: AgentsAtWork,
}

/// Returns the meters of a run and of its session.
pub fn meters(state: &SessionState, id: &str, occasion: Occasion) -> RunAndSession {
    over(state, id, occasion, None)
}

/// Returns the meters of a run and of its session over some models, without what a rule counts for itself.
fn over(state: &SessionState, id: &str, occasion: Occasion, models: Option<&Models>) -> RunAndSession {
    let Some(run) = state.run(id) else { return RunAndSession::default() };
    let actor = Actor::new(state, run, occasion);
    RunAndSession { run: actor.of_run(models), session: actor.of_session(&state.session, models) }
}

/// Returns the meters of a run and of its session as a rule counts them.
pub fn meters_for(state: &SessionState, id: &str, occasion: Occasion, rule: &LimitRule) -> RunAndSession {
    let RunAndSession { run, session } = over(state, id, occasion, rule.models.as_ref());
    let of_run = state.run(id).map_or(0, |run| run.own_counts.count(rule));
    let own = state.session.own_counts.count(rule);
    RunAndSession { run: Meters { own: of_run, ..run }, session: Meters { own, ..session } }
}

/// Returns what every scope with rules has used.
pub fn usage<'a>(state: &'a SessionState, run: &'a Run, occasion: Occasion<'a>) -> Vec<ScopeUsage<'a>> {
    let actor = Actor::new(state, run, occasion);
    let mut scopes = vec![actor.run_usage(), actor.session_usage(Scope::Session, &state.session)];
    let mut below = actor;
    for above in &state.above {
        below = below.below_another();
        scopes.push(ScopeUsage { above: &above.id, ..below.session_usage(Scope::Outer, above) });
    }
    scopes.extend(state.shared_budgets.iter().map(|budget| ScopeUsage {
        scope: budget.scope,
        meters: actor.of_shared_budget(budget, None),
        by_rule: by_rule(&budget.limits, None, |models| actor.of_shared_budget(budget, models)),
        limits: &budget.limits,
        warned: &budget.warned,
        pending_trips: &budget.pending_trips,
        windows: &budget.windows,
        shared_budget: Some(budget),
        above: "",
    }));
    scopes
}

/// Returns what a run has used of its own limits.
pub fn usage_of_run<'a>(state: &'a SessionState, run: &'a Run, occasion: Occasion<'a>) -> ScopeUsage<'a> {
    Actor::new(state, run, occasion).run_usage()
}

/// Returns what an agent that is sent a message has used of its own limits, its request in flight included.
pub fn addressee<'a>(state: &'a SessionState, run: &'a Run, occasion: Occasion<'a>) -> ScopeUsage<'a> {
    let mut usage = usage_of_run(state, run, occasion);
    let in_flight = state.session.reservations.iter().find(|reservation| reservation.holder == run.id);
    let Some(reservation) = in_flight.filter(|it| occasion.at.wall_since(it.at) < RESERVE_LIVES_MS) else {
        return usage;
    };
    usage.meters.reserved += reservation.spend;
    usage.meters.under_way += reservation.spend;
    let counts = |rule: &LimitRule| Models::count(rule.models.as_ref(), &reservation.model);
    for (_, meters) in usage.by_rule.iter_mut().filter(|(rule, _)| counts(rule)) {
        meters.reserved += reservation.spend;
    }
    usage
}

/// Measures for each rule that counts some models only, or for itself.
fn by_rule<'a>(
    rules: &'a LimitSet,
    own: Option<&OwnCounts>,
    measure: impl Fn(Option<&Models>) -> Meters,
) -> Vec<(&'a LimitRule, Meters)> {
    let some = rules.counting().filter(|rule| rule.models.is_some() || rule.limit.observe.is_some());
    some.map(|rule| (rule, Meters { own: own.map_or(0, |it| it.count(rule)), ..measure(rule.models.as_ref()) }))
        .collect()
}

impl<'a> Actor<'a> {
    fn run_usage(self) -> ScopeUsage<'a> {
        ScopeUsage {
            scope: Scope::Run,
            meters: self.of_run(None),
            by_rule: self.by_rule_of_run(),
            limits: &self.run.limits,
            warned: &self.run.warned,
            pending_trips: &self.run.pending_trips,
            windows: &self.run.windows,
            shared_budget: None,
            above: "",
        }
    }

    fn by_rule_of_run(self) -> Vec<(&'a LimitRule, Meters)> {
        let run = self.run;
        let mut all = by_rule(&run.limits, Some(&run.own_counts), |models| self.of_run(models));
        let alone = run.limits.counting().filter(|rule| rule.responses_alone);
        all.extend(alone.map(|rule| (rule, self.of_run(None).of_responses_alone(run.counters.unlogged))));
        all
    }

    fn session_usage(self, scope: Scope, session: &'a Session) -> ScopeUsage<'a> {
        ScopeUsage {
            scope,
            meters: self.of_session(session, None),
            by_rule: by_rule(&session.limits, Some(&session.own_counts), |models| self.of_session(session, models)),
            limits: &session.limits,
            warned: &session.warned,
            pending_trips: &session.pending_trips,
            windows: &session.windows,
            shared_budget: None,
            above: "",
        }
    }

    fn new(state: &'a SessionState, run: &'a Run, occasion: Occasion<'a>) -> Actor<'a> {
        let same = Meters {
            blind_to_batches: run.is_blind(state.session.sees_batches),
            completion: run.extremes.most_output,
            prompt: run.extremes.last_prompt,
            repetition: run.repetition.level().min(if run.was_announced() { 2 } else { 1 }),
            untold_repetition: run.repetition.level(),
            denials: u64::from(run.refusals.in_a_row),
            depth: u64::from(run.depth),
            cold: estimate::cold(state, run),
            ..Meters::default()
        };
        let mut actor = Actor { state, run, occasion, same, at_work: agents_at_work::count(state, occasion.at) };
        actor.same.late = actor.late();
        actor
    }

    /// Sees the run from the session whose agent started its client: one deeper.
    fn below_another(self) -> Actor<'a> {
        Actor { same: Meters { depth: self.same.depth + 1, ..self.same }, ..self }
    }

    /// Returns what is the same over every scope for some models.
    fn same_over(self, models: Option<&Models>) -> Meters {
        let Unlogged { of_call, hooks_ahead, hooks_of_response, hooks_of_calls, .. } = self.unlogged(models);
        let cold = if Models::count(models, self.model()) { self.same.cold } else { Spend::default() };
        Meters { unlogged: of_call, hooks_ahead, hooks_of_response, hooks_of_calls, cold, ..self.same }
    }

    fn of_run(self, models: Option<&Models>) -> Meters {
        let run = self.run;
        let next = self.next(&run.limits, models);
        let spent = Models::spent(models, run.counters.spent, &run.by_model);
        let under_way = next * self.late();
        Meters {
            turns: run.counters.turns,
            spent: spent.counting_cache_reads(run.limits.count_cache_reads),
            next,
            duration_ms: run.counters.duration_ms,
            wall_ms: self.occasion.at.wall_since(run.started),
            reserved: under_way + self.beyond_usual(next, &run.limits, models),
            under_way,
            missing_usage: next * self.missing_usage(),
            ..self.same_over(models)
        }
    }

    fn of_session(self, session: &Session, models: Option<&Models>) -> Meters {
        let next = self.next_of_all(&session.limits, models);
        let earlier = &session.spend_before_install;
        let before = Models::spent(models, earlier.spent, &earlier.models);
        let spent = Models::spent(models, session.counters.spent, &session.by_model).beyond(before);
        let under_way = self.under_way(&session.reservations, &session.limits, models);
        Meters {
            turns: session.counters.turns.saturating_sub(earlier.turns),
            spent: spent.counting_cache_reads(session.limits.count_cache_reads),
            next,
            duration_ms: session.counters.duration_ms,
            wall_ms: self.occasion.at.wall_since(session.started),
            reserved: under_way + self.beyond_usual(next, &session.limits, models),
            under_way,
            questions: self.questions(&session.limits, models),
            missing_usage: self.next(&session.limits, models) * self.missing_usage(),
            subagents_at_work: self.at_work.all,
            subagents: session.subagents.saturating_sub(earlier.subagents) + self.at_work.awaited,
            unknown: self.unknown(&session.reservations, models),
            ..self.same_over(models)
        }
    }

    fn of_shared_budget(self, budget: &SharedBudget, models: Option<&Models>) -> Meters {
        let next = match self.next_of_all(&budget.limits, models) {
            // Nothing is known of a session that has just begun, but of the others.
            next if next.cost == Amount::ZERO && Models::count(models, self.model()) => budget.mean(models),
            next => next,
        };
        let under_way = self.under_way(&budget.reservations, &budget.limits, models);
        Meters {
            periods: budget.spent(models),
            subagents_at_work: self.at_work.all + self.state.facts.agents_elsewhere.in_scope(budget.scope),
            plan: budget.plan.used_at(self.occasion.at.wall_ms),
            unknown: self.unknown(&budget.reservations, models),
            next,
            reserved: under_way + self.beyond_usual(next, &budget.limits, models) + budget.least_request(),
            under_way,
            questions: self.questions(&budget.limits, models),
            missing_usage: self.next(&budget.limits, models) * self.missing_usage(),
            ..self.same_over(models)
        }
    }

    /// Estimates the run's next request, as far as it counts.
    fn next(self, rules: &LimitSet, models: Option<&Models>) -> Spend {
        match models {
            Some(models) if !models.include(self.model()) => Spend::default(),
            _ if let Some(next) = self.elsewhere() => next.spend.counting_cache_reads(rules.count_cache_reads),
            _ if self.run.recent.is_empty() => estimate::first(self.state),
            // The last five may have gone elsewhere.
            Some(models) if self.run.by_model.len() > 1 => {
                let spent = Models::spent(Some(models), self.run.counters.spent, &self.run.by_model);
                estimate::next_of(self.run, rules, spent)
            }
            _ => estimate::next(self.run, rules),
        }
    }

    /// Estimates the next request of all that are together in a scope: of an agent that is about to start, its first.
    fn next_of_all(self, rules: &LimitSet, models: Option<&Models>) -> Spend {
        match self.spawns() {
            false => self.next(rules, models),
            true if Models::count(models, self.model_asked()) => estimate::first(self.state),
            true => Spend::default(),
        }
    }

    /// What the request at hand is expected to spend beyond the run's usual next one. What the cache has is not known while a
    /// response is missing that has been given since.
    fn beyond_usual(self, next: Spend, rules: &LimitSet, models: Option<&Models>) -> Spend {
        if self.same.late > 0 || !Models::count(models, self.model()) {
            return Spend::default();
        }
        self.state.facts.request_ahead.counting_cache_reads(rules.count_cache_reads).beyond(next)
    }

    fn spawns(self) -> bool {
        matches!(self.occasion.activity, Activity::Call(Call { intent: Intent::Spawn { .. }, .. }))
    }

    /// Estimates what the other agents at work spend until each of them asks a person for more.
    fn questions(self, rules: &LimitSet, models: Option<&Models>) -> Spend {
        self.next(rules, models) * agents_at_work::others(self.state, self.at_work, self.occasion.call())
    }

    /// What the run's next request is expected to spend where it goes to another model than its last.
    fn elsewhere(self) -> Option<&'a NextModel> {
        self.state.facts.next_model.as_ref().filter(|next| !self.spawns() && next.spend.requests > 0)
    }

    /// The model that the run's next request goes to: the last one's, where nothing names another.
    fn model(self) -> &'a str {
        if self.spawns() { estimate::model_of(self.state, self.run) } else { self.model_asked() }
    }

    /// The model that the request at hand goes to, of the run or of the agent that it starts.
    fn model_asked(self) -> &'a str {
        let named = self.state.facts.next_model.as_ref().map(|next| next.name.as_str());
        named.unwrap_or_else(|| estimate::model_of(self.state, self.run))
    }

    /// At a batch's end its response should be on disk; where the client is late, it is taken for an average one. At the end of
    /// a turn it mostly is not, nor is the response at work where one of its calls is a request itself.
    fn late(self) -> u64 {
        let late = match self.occasion.activity {
            Activity::ResponseOver => self.run.unpaid,
            Activity::Call(_) if self.unlogged(None).of_call.requests > 0 => self.run.unpaid + 1,
            _ => 0,
        };
        u64::try_from(late).unwrap_or(0)
    }

    /// Counts the responses that are not on disk where a call comes, its own among them; what is late already is under way.
    fn missing_usage(self) -> u64 {
        match self.occasion.activity {
            Activity::Call(_) if self.same.late == 0 => u64::try_from(self.run.unpaid + 1).unwrap_or(0),
            _ => 0,
        }
    }

    fn unlogged(self, models: Option<&Models>) -> Unlogged {
        charging::unlogged::expected(self.state, self.occasion.activity, models)
    }

    /// Returns the estimates of other requests in flight.
    fn others(self, held: &'a [Reservation], models: Option<&'a Models>) -> impl Iterator<Item = &'a Reservation> {
        // A hook that is registered twice has one compaction held already.
        let own = match self.occasion.activity {
            Activity::Compaction(event) => Some(compactions::holder(&self.state.session, event)),
            _ => None,
        };
        let is_own = move |holder: &String| *holder == self.run.id || own.as_ref() == Some(holder);
        let others = held.iter().filter(move |reservation| !is_own(&reservation.holder));
        let live = others.filter(move |reservation| self.occasion.at.wall_since(reservation.at) < RESERVE_LIVES_MS);
        live.filter(move |reservation| Models::count(models, &reservation.model))
    }

    /// Sums what first requests of which nothing is known may spend beyond what is held: of others, and of an agent about to start.
    fn unknown(self, reservations: &[Reservation], models: Option<&Models>) -> UnknownFirsts {
        let own =
            if Models::count(models, self.model_asked()) { self.state.facts.unknown_first } else { Spend::default() };
        let others = self.others(reservations, models).filter(|reservation| reservation.first.requests > 0);
        let beyond = |reservation: &Reservation| Spend { requests: 1, ..reservation.first.beyond(reservation.spend) };
        UnknownFirsts { others: others.map(beyond).sum(), own }
    }

    /// Sums what other requests in flight are expected to spend, and those of the run's own that are not on disk yet.
    fn under_way(self, reservations: &[Reservation], rules: &LimitSet, models: Option<&Models>) -> Spend {
        self.reserved(reservations, rules, models) + self.next(rules, models) * self.late()
    }

    /// Sums what other requests in flight are expected to spend.
    fn reserved(self, reservations: &[Reservation], rules: &LimitSet, models: Option<&Models>) -> Spend {
        // Of a first request nothing was known when it was sent: by now it is taken for one like the run's own.
        let first = |it: &Reservation| it.spend.tokens == 0 && it.spend.cost == Amount::ZERO;
        let spend = |it: &Reservation| if first(it) { self.next(rules, models) } else { it.spend };
        let hooks = self.unlogged(models).hooks_of_others;
        self.others(reservations, models).map(|it| spend(it) + hooks).sum()
    }
}
