//! Three machines share a limit on agents, or on requests in a window, as a model for stateright: every order of asking, using, crashing,
//! and of messages that are lost, late and doubled.

use std::collections::BTreeMap;

use fusebox::domain::moment::Moment;
use fusebox::domain::share_kind::ShareKind;
use fusebox::team::share::{Demand, Share, ShareReply, ShareRequest};
use stateright::{Checker, HasDiscoveries, Model, Property};

use crate::network::Network;

/// How long a share lives without being heard of, and how long a window of requests is, in ticks.
const LIVES: u64 = 1;
const WINDOW: u64 = 2;
/// The highest limit that is checked.
const CAP: u64 = 2;

/// A rule that can be left out, to see that the check notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// A request that comes late or again changes nothing.
    NumberOnce,
    /// A machine uses less from when it says so, and not from when it is answered.
    LessAtOnce,
    /// What was used counts on until its window has passed.
    Drains,
    /// Of agents a share counts until its machine is heard.
    AgentsStay,
    /// A share of requests that has lapsed is empty, and grows as a new one does.
    Lapses,
}

/// What may happen in a check, and how often. A check is exhaustive within its bounds.
#[derive(Clone, Debug)]
struct Bounds {
    kind: ShareKind,
    machines: usize,
    /// How often machines say what they need, in all.
    asks: u64,
    ticks: u64,
    /// How often a machine loses what it knows, in all. One that is gone for good is one that takes no further step.
    losses: u64,
    without: Option<Rule>,
}

/// A share as the store has it: what the function `reserve` in the database does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
struct Row {
    number: u64,
    amount: u64,
    draining: u64,
    drains_until: u64,
    expires: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
struct Machine {
    share: Share,
    /// The agents at work, or the moments of requests.
    used: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    rows: BTreeMap<usize, Row>,
    machines: Vec<Machine>,
    /// Everything that was sent: the store may take any of it late or again.
    sent: Network<(usize, ShareRequest)>,
    now: u64,
    asked: u64,
    lost: u64,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    /// A machine says that it needs so much. Its request may never arrive.
    Ask(usize, u64),
    /// It sends that, and hears the reply.
    Call(usize),
    /// The store takes a request whose reply nobody hears.
    Take(usize, ShareRequest),
    /// An agent begins, or a request is made.
    Use(usize),
    /// An agent ends.
    End(usize),
    /// A machine's file is lost.
    Lose(usize),
    Tick,
}

impl State {
    /// Returns what a machine's share counts in the store.
    fn counts(&self, bounds: &Bounds, at: usize) -> u64 {
        let Some(row) = self.rows.get(&at) else { return 0 };
        match bounds.kind {
            ShareKind::Agents if bounds.without == Some(Rule::AgentsStay) && self.now >= row.expires => 0,
            ShareKind::Agents => row.amount,
            ShareKind::Requests if self.now >= row.expires + WINDOW => 0,
            ShareKind::Requests if self.now < row.drains_until => row.amount.max(row.draining),
            ShareKind::Requests => row.amount,
        }
    }

    fn counted(&self, bounds: &Bounds) -> u64 {
        (0..self.machines.len()).map(|at| self.counts(bounds, at)).sum()
    }

    fn used(&self) -> u64 {
        self.machines.iter().map(|machine| machine.used.len() as u64).sum()
    }

    /// Answers a request as the store does.
    fn answer(&mut self, bounds: &Bounds, at: usize, asked: &ShareRequest) -> ShareReply {
        let has_been = self.counts(bounds, at);
        let others = self.counted(bounds) - has_been;
        let most = CAP.saturating_sub(others).min(asked.needs);
        let now = self.now;
        let row = self.rows.entry(at).or_default();
        if has_been == 0 && row.amount > 0 && bounds.without != Some(Rule::Lapses) {
            // Its last request may be made again.
            *row = Row { number: row.number - 1, expires: row.expires, ..Row::default() };
        }
        if asked.number > row.number || bounds.without == Some(Rule::NumberOnce) {
            row.number = asked.number;
            let may_shrink = bounds.kind == ShareKind::Agents || asked.wants == 0 || now >= row.drains_until;
            if asked.wants < row.amount && may_shrink {
                row.amount = asked.wants;
                if bounds.without != Some(Rule::Drains) {
                    (row.draining, row.drains_until) = (has_been, now + WINDOW);
                }
            } else if asked.wants > row.amount {
                row.amount = row.amount.max(asked.wants.min(most));
            }
            if bounds.kind == ShareKind::Agents {
                row.amount = row.amount.max(asked.in_use.min(CAP));
            }
        }
        row.expires = row.expires.max(now + LIVES);
        let (number, amount) = (row.number, row.amount);
        let sent = Moment { mono_ms: now, ..Moment::default() };
        ShareReply {
            sent,
            kind: bounds.kind,
            cap: Some(CAP),
            number,
            amount,
            usable: amount,
            most,
            lives_ms: LIVES,
            ..ShareReply::default()
        }
    }
}

impl Model for Bounds {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let share = Share { kind: self.kind, is_limited: true, ..Share::default() };
        let machine = Machine { share, ..Machine::default() };
        let machines = vec![machine; self.machines];
        vec![State { rows: BTreeMap::new(), machines, sent: Network::new(), now: 0, asked: 0, lost: 0 }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (at, machine) in state.machines.iter().enumerate() {
            if state.asked < self.asks {
                actions.extend([0, CAP].map(|needs| Action::Ask(at, needs)));
            }
            if machine.share.request().is_some() {
                actions.push(Action::Call(at));
            }
            let lives = machine.share.lives_ms > 0 && state.now < machine.share.until().mono_ms;
            if lives && (machine.used.len() as u64) < machine.share.usable {
                actions.push(Action::Use(at));
            }
            if self.kind == ShareKind::Agents && !machine.used.is_empty() {
                actions.push(Action::End(at));
            }
            if state.lost < self.losses {
                actions.push(Action::Lose(at));
            }
        }
        actions.extend(state.sent.iter().map(|(at, request)| Action::Take(*at, *request)));
        if state.now < self.ticks {
            actions.push(Action::Tick);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        self.step(&mut state, action);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Bounds>> {
        vec![
            Property::always("use stays within the limit", |_, state: &State| state.used() <= CAP),
            Property::always("what is reserved stays within the limit", |bounds: &Bounds, state: &State| {
                state.counted(bounds) <= CAP
            }),
            Property::sometimes("one machine uses all", |_, state: &State| {
                state.machines.iter().any(|machine| machine.used.len() as u64 == CAP)
            }),
            Property::sometimes("what one machine gave back another uses", |_, state: &State| {
                let has_given = |at: usize| state.rows.get(&at).is_some_and(|row| row.number > 1 && row.amount == 0);
                has_given(0) && state.machines[1].used.len() as u64 == CAP
            }),
        ]
    }
}

impl Bounds {
    fn step(&self, state: &mut State, action: Action) {
        match action {
            Action::Ask(at, needs) => {
                let machine = &mut state.machines[at];
                let in_use = machine.used.len() as u64;
                // Agents at work are needed; requests that were made are not needed any more.
                let needs = if self.kind == ShareKind::Agents { needs.max(in_use) } else { needs };
                let usable = machine.share.usable;
                state.asked += 1;
                machine.share.ask(&Demand { in_use, needs, wants: needs, stale_ms: Some(0) });
                if self.without == Some(Rule::LessAtOnce) {
                    machine.share.usable = usable;
                }
                machine.share.request().into_iter().for_each(|request| state.sent.send((at, request)));
            }
            Action::Call(at) => {
                if let Some(request) = state.machines[at].share.request() {
                    let reply = state.answer(self, at, &request);
                    state.machines[at].share.apply(&reply);
                }
            }
            Action::Take(at, request) => {
                state.answer(self, at, &request);
            }
            Action::Use(at) => state.machines[at].used.push(if self.kind == ShareKind::Agents { 0 } else { state.now }),
            Action::End(at) => {
                state.machines[at].used.pop();
            }
            Action::Lose(at) => {
                state.lost += 1;
                let number = state.rows.get(&at).map_or(0, |row| row.number);
                let machine = &mut state.machines[at];
                machine.share = Share { is_limited: true, ..Share::known(self.kind, number) };
                let in_use = machine.used.len() as u64;
                machine.share.ask(&Demand { in_use, needs: in_use, wants: in_use, stale_ms: Some(0) });
            }
            Action::Tick => {
                state.now += 1;
                let is_of_window = |at: &u64| self.kind == ShareKind::Agents || state.now - at < WINDOW;
                state.machines.iter_mut().for_each(|machine| machine.used.retain(is_of_window));
            }
        }
    }
}

const AGENTS: Bounds = Bounds { kind: ShareKind::Agents, machines: 2, asks: 4, ticks: 0, losses: 0, without: None };
const REQUESTS: Bounds = Bounds { kind: ShareKind::Requests, ticks: 4, asks: 3, ..AGENTS };

fn check(bounds: &Bounds) {
    let checker = bounds.clone().checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
    assert!(checker.is_done());
    eprintln!("{} states of {bounds:?}", checker.unique_state_count());
}

#[test]
fn agents_stay_within_their_limit_with_messages_late_lost_and_doubled() {
    check(&AGENTS);
    check(&Bounds { machines: 3, asks: 3, ..AGENTS });
    check(&Bounds { asks: 3, ticks: 2, ..AGENTS });
}

#[test]
fn so_do_requests_in_a_window() {
    check(&REQUESTS);
}

#[test]
fn so_they_do_where_a_machine_has_lost_what_it_knew() {
    check(&Bounds { losses: 1, asks: 3, ..AGENTS });
    check(&Bounds { losses: 1, ticks: 1, ..REQUESTS });
}

#[test]
fn each_rule_of_shares_is_needed() {
    let cases = [
        (Rule::NumberOnce, AGENTS),
        (Rule::LessAtOnce, AGENTS),
        (Rule::AgentsStay, Bounds { ticks: 2, ..AGENTS }),
        (Rule::Drains, REQUESTS),
        (Rule::Lapses, REQUESTS),
    ];
    for (rule, bounds) in cases {
        let bounds = Bounds { without: Some(rule), ..bounds };
        let property = "use stays within the limit";
        let checker =
            bounds.checker().finish_when(HasDiscoveries::AnyOf([property].into())).threads(2).spawn_bfs().join();
        assert!(checker.discovery(property).is_some(), "without {rule:?} nothing goes wrong");
    }
}
