//! The scopes that share in what a run does, and what each of them counts: the run, its session, the sessions above that one, and
//! the budgets of the user and of the project.

use crate::domain::bounds::of_model;
use crate::domain::budget::SharedBudget;
use crate::domain::counters::Counters;
use crate::domain::event::Call;
use crate::domain::layer::Layer;
use crate::domain::limit_meter::Observed;
use crate::domain::limit_set::{LimitSet, Rate};
use crate::domain::moment::Moment;
use crate::domain::session::{Run, Session};
use crate::domain::spend::meters::Spend;
use crate::domain::spend::reservation::{self, RESERVE_LIVES_MS, Reservation};
use crate::domain::verdict::Finding;

/// One scope, to be changed.
#[derive(Debug)]
pub enum ScopeMut<'a> {
    /// A run.
    Run(&'a mut Run),
    /// The session of the event.
    Session(&'a mut Session),
    /// A session that this one's client comes from.
    Outer(&'a mut Session),
    /// What the sessions of the user or of the project share.
    Budget(&'a mut SharedBudget),
}

/// What is spent on requests, as every scope counts it.
#[derive(Clone, Copy)]
pub struct SpendChange<'a> {
    /// The model it was spent on.
    pub model: &'a str,
    /// Whether that has a price of its own.
    pub is_priced: bool,
    /// When, milliseconds since 1970.
    pub at_ms: i64,
    /// How much.
    pub spend: Spend,
    /// Whether another session was billed for it.
    pub inherited: bool,
    /// Whether it is of the time before Fusebox: the sessions that this one comes from have nothing to do with it.
    pub earlier: bool,
}

/// What may change in a scope.
pub struct Side<'a> {
    /// Its rules.
    pub limits: &'a mut LimitSet,
    /// Warnings given.
    pub warned: &'a mut Vec<(String, u8)>,
    /// Trips that wait for a call to ask with.
    pub pending_trips: &'a mut Vec<Finding>,
}

impl<'a> ScopeMut<'a> {
    /// Adds what was spent, where the scope is charged for it. `session` is the id of the event's session.
    pub fn charge(&mut self, session: &str, adds: &SpendChange) {
        let is_charged = match self {
            ScopeMut::Run(_) | ScopeMut::Session(_) => true,
            ScopeMut::Outer(_) => !adds.inherited && !adds.earlier,
            ScopeMut::Budget(budget) => !adds.inherited && !budget.counted,
        };
        if !is_charged {
            return;
        }
        match self {
            ScopeMut::Budget(budget) => {
                budget.charge(session, adds.model, adds.is_priced, adds.at_ms, adds.spend);
                budget.charge_project(adds.spend.cost);
            }
            ScopeMut::Run(Run { counters, by_model, .. })
            | ScopeMut::Session(Session { counters, by_model, .. })
            | ScopeMut::Outer(Session { counters, by_model, .. }) => {
                counters.spent += adds.spend;
                *of_model(by_model, adds.model, adds.is_priced) += adds.spend;
            }
        }
        if let ScopeMut::Outer(session) = self {
            session.nested_spend += adds.spend;
        }
        if let ScopeMut::Session(session) = self
            && adds.inherited
        {
            session.inherited += adds.spend;
        }
        if !adds.inherited && !adds.earlier {
            self.observe(Some(adds.model), &Observed::Spent(adds.spend));
        }
    }

    /// Takes a charge back that was an estimate of what no transcript shows.
    pub fn take_back(&mut self, session: &str, taken: &SpendChange) {
        let SpendChange { model, is_priced, at_ms, spend, .. } = *taken;
        match self {
            ScopeMut::Budget(budget) if budget.counted => {}
            ScopeMut::Budget(budget) => budget.take_back(session, model, is_priced, at_ms, spend),
            ScopeMut::Run(Run { counters, by_model, .. })
            | ScopeMut::Session(Session { counters, by_model, .. })
            | ScopeMut::Outer(Session { counters, by_model, .. }) => {
                counters.spent = counters.spent.beyond(spend);
                counters.unlogged = counters.unlogged.beyond(spend);
                let of_model = of_model(by_model, model, is_priced);
                *of_model = of_model.beyond(spend);
            }
        }
        if let ScopeMut::Outer(session) = self {
            session.nested_spend = session.nested_spend.beyond(spend);
        }
        self.observe(Some(model), &Observed::TakenBack(spend));
    }

    /// Shows what has happened to the rules that count for themselves. Where a count begins anew, so do its warnings. The limits of
    /// budgets are on periods, and count nothing for themselves.
    pub fn observe(&mut self, model: Option<&str>, seen: &Observed) {
        let (ScopeMut::Run(Run { limits, own_counts, warned, pending_trips, .. })
        | ScopeMut::Session(Session { limits, own_counts, warned, pending_trips, .. })
        | ScopeMut::Outer(Session { limits, own_counts, warned, pending_trips, .. })) = self
        else {
            return;
        };
        for rule in limits.counting().filter(|rule| own_counts.observe(rule, model, seen)) {
            warned.retain(|(name, _)| *name != rule.name());
            pending_trips.retain(|trip| !rule.is_source(&trip.source));
        }
    }

    /// Returns its sums, where it has any: budgets have those of their periods.
    pub fn counters(&mut self) -> Option<&mut Counters> {
        match self {
            ScopeMut::Run(run) => Some(&mut run.counters),
            ScopeMut::Session(session) | ScopeMut::Outer(session) => Some(&mut session.counters),
            ScopeMut::Budget(_) => None,
        }
    }

    /// Counts a tool call, and shows it to the rules that count for themselves.
    pub fn count_call(&mut self, call: &Call) {
        if let Some(counters) = self.counters() {
            counters.turns += 1;
        }
        if let ScopeMut::Outer(session) = self {
            session.nested_turns += 1;
        }
        self.observe(None, &Observed::CallCounted(call));
    }

    /// Holds an estimate of a request in flight.
    pub fn reserve(&mut self, reservation: &Reservation) {
        match self {
            ScopeMut::Run(_) => {}
            ScopeMut::Session(session) | ScopeMut::Outer(session) => {
                reservation::hold(&mut session.reservations, reservation.clone(), RESERVE_LIVES_MS);
            }
            ScopeMut::Budget(budget) => budget.reserve(reservation.clone(), RESERVE_LIVES_MS),
        }
    }

    /// Hands what a call had reserved over to the agent that it started.
    pub fn hand_over(&mut self, call: &str, agent: &str) {
        match self {
            ScopeMut::Run(_) => {}
            ScopeMut::Session(session) | ScopeMut::Outer(session) => {
                for reservation in session.reservations.iter_mut().filter(|reservation| reservation.holder == call) {
                    agent.clone_into(&mut reservation.holder);
                }
            }
            ScopeMut::Budget(budget) => budget.hand_over(call, agent),
        }
    }

    /// Lets go of what a holder had reserved.
    pub fn release(&mut self, holder: &str) {
        match self {
            ScopeMut::Run(_) => {}
            ScopeMut::Session(session) | ScopeMut::Outer(session) => {
                session.reservations.retain(|reservation| reservation.holder != holder);
            }
            ScopeMut::Budget(budget) => budget.release(holder),
        }
    }

    /// Takes one request out of what a holder has reserved: it has been charged.
    pub fn settle(&mut self, holder: &str) {
        match self {
            ScopeMut::Run(_) => {}
            ScopeMut::Session(session) | ScopeMut::Outer(session) => {
                session.reservations.retain_mut(|reservation| reservation.holder != holder || reservation.settle());
            }
            ScopeMut::Budget(budget) => budget.settle(holder),
        }
    }

    /// Takes note in the windows of the rates that count what has happened. Those of a team count all of its limit, whatever is kept of it
    /// here now: the store is told of it once it is heard.
    pub fn note(&mut self, counts: impl Fn(&Rate) -> bool, model: &str, now: Moment) {
        let of_team: Vec<Rate> = match self {
            ScopeMut::Budget(budget) => budget.team.iter().flat_map(|team| team.rates()).collect(),
            _ => Vec::new(),
        };
        let (limits, windows, changed) = match self {
            ScopeMut::Run(run) => (&run.limits, &mut run.windows, None),
            ScopeMut::Session(session) | ScopeMut::Outer(session) => (&session.limits, &mut session.windows, None),
            ScopeMut::Budget(budget) => (&budget.limits, &mut budget.windows, Some(&mut budget.changed)),
        };
        let mut is_noted = false;
        let own = limits.counting_rates().filter(|rate| rate.layer != Layer::Team);
        for rate in own.chain(&of_team).filter(|rate| counts(rate)) {
            windows.note(rate, model, now);
            is_noted = true;
        }
        if let Some(changed) = changed {
            *changed |= is_noted;
        }
    }

    /// Returns what may change in it: its rules, the warnings given, the trips that wait for a call to ask with.
    pub fn side(self) -> Side<'a> {
        match self {
            ScopeMut::Run(Run { limits, warned, pending_trips, .. })
            | ScopeMut::Session(Session { limits, warned, pending_trips, .. })
            | ScopeMut::Outer(Session { limits, warned, pending_trips, .. }) => Side { limits, warned, pending_trips },
            ScopeMut::Budget(budget) => {
                budget.changed = true;
                Side {
                    limits: &mut budget.limits,
                    warned: &mut budget.warned,
                    pending_trips: &mut budget.pending_trips,
                }
            }
        }
    }
}
