//! Three machines, a server, its replica, and a network that loses, doubles and reorders, as a model for stateright.

use std::collections::BTreeSet;
use std::sync::Arc;

use fusebox::domain::moment::Moment;
use fusebox::domain::spend::amount::Amount;
use fusebox::team::machine::Machine;
use fusebox::team::messages::{Answer, Charge, Reply, Request};
use stateright::{Model, Property};

use crate::network::Network;
use crate::server::{self, Rule, Server};

/// What may happen in a check, and how often. A check is exhaustive within its bounds.
#[derive(Clone, Debug)]
pub struct Bounds {
    pub machines: usize,
    pub cap: u64,
    /// How many leases each machine asks for, and how much it wants with each.
    pub leases: u64,
    pub want: u64,
    /// How many responses each machine pays for at most.
    pub responses: usize,
    /// How often a machine restarts, in all. One that is gone for good is one that takes no further step.
    pub crashes: u64,
    pub failovers: u64,
    pub ticks: u64,
    pub write_offs: bool,
    /// Whether a lease may be spent before the replica has it, so that a failover forgets it. All that is spent is told within a tick.
    pub outruns: bool,
    /// Whether the second machine may pay for the first response of the first: a session that moved.
    pub moves: bool,
    /// The rule that is left out.
    pub without: Option<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub server: Arc<Server>,
    /// What a failover goes on with.
    pub replica: Arc<Server>,
    pub machines: Vec<Arc<Machine>>,
    /// The boot of each machine.
    pub boots: Vec<u64>,
    /// Everything that was sent. The server may take any of it late or again, when nobody waits for its reply any more.
    pub requests: Network<(usize, Request)>,
    pub now: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Ask(usize),
    Pay(usize, String),
    Settle(usize),
    GiveBack(usize),
    /// The machine asks, and hears the reply.
    Call(usize, Request),
    /// The server takes a request whose reply nobody hears: the machine has crashed, the line is cut, or it comes late or twice.
    Take(usize, Request),
    Crash(usize),
    Tick,
    Replicate,
    Failover,
    WriteOff((usize, u64)),
}

impl State {
    fn moment(&self, machine: usize) -> Moment {
        // Each machine's clock stands somewhere else.
        Moment { mono_ms: self.now + 7 * machine as u64, boot: self.boots[machine], ..Moment::default() }
    }

    /// Sends all that is due. A request that is never answered stands for one that a crash has kept from being sent.
    fn send_all(&mut self) {
        for at in 0..self.machines.len() {
            let due = self.machines[at].requests(self.moment(at));
            due.into_iter().for_each(|request| self.requests.send((at, request)));
        }
    }

    /// Returns every response that was paid for, each once.
    pub fn paid(&self) -> BTreeSet<&String> {
        self.machines.iter().flat_map(|machine| machine.charged.keys()).collect()
    }

    /// Whether the server knows of every response that was paid for.
    fn is_told(&self) -> bool {
        self.paid().into_iter().all(|message| self.server.charged.contains_key(message))
    }

    /// Whether a response is settled, or what is reserved for its lease still covers it.
    fn is_covered(&self, message: &String) -> bool {
        let names = |charges: &[Charge]| charges.iter().any(|charge| charge.message == *message);
        let covers = |at: usize, machine: &Machine| {
            machine.leases.iter().any(|lease| {
                let has = names(&lease.open) || lease.batches.iter().any(|batch| names(&batch.charges));
                let row = self.server.leases.get(&(at, lease.number));
                has && row.is_some_and(|row| row.state != server::State::Closed)
            })
        };
        self.server.charged.contains_key(message)
            || self.machines.iter().enumerate().any(|(at, machine)| covers(at, machine))
    }

    fn leaves_written_off_alone(&self) -> bool {
        let written_off = self.server.leases.iter().filter(|(_, row)| row.state == server::State::WrittenOff);
        written_off.map(|(id, _)| id).all(|(at, number)| {
            let lease = self.machines[*at].leases.iter().find(|lease| lease.number == *number);
            lease.is_none_or(|lease| !lease.is_usable(self.moment(*at)))
        })
    }

    fn machine(&mut self, at: usize) -> &mut Machine {
        Arc::make_mut(&mut self.machines[at])
    }
}

impl Model for Bounds {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let server = Arc::new(Server { cap: self.cap, ..Server::default() });
        vec![State {
            replica: server.clone(),
            server,
            machines: vec![Arc::default(); self.machines],
            boots: vec![0; self.machines],
            requests: Network::new(),
            now: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (at, machine) in state.machines.iter().enumerate() {
            self.machine_actions(state, at, machine, actions);
        }
        actions.extend(state.requests.iter().map(|(at, request)| Action::Take(*at, request.clone())));
        if state.now < self.ticks && (!self.outruns || state.is_told()) {
            actions.push(Action::Tick);
        }
        if state.server.epoch < self.failovers {
            actions.extend([Action::Replicate, Action::Failover]);
        }
        if self.write_offs {
            actions.extend(state.server.leases.keys().map(|id| Action::WriteOff(*id)));
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        self.step(&mut state, action);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Bounds>> {
        vec![
            Property::always("spent stays within the cap", |_, state: &State| {
                state.paid().len() as u64 <= state.server.cap + state.server.written_off
            }),
            Property::always("spent and leased stay within the cap", |bounds: &Bounds, state: &State| {
                let committed = state.server.committed(state.now, bounds.without);
                // A lease whose return was forgotten counts once more: less is spent then, not more.
                bounds.outruns || committed <= state.server.cap + state.server.written_off
            }),
            Property::always("nothing is settled twice", |_, state: &State| {
                let spent: u64 = state.server.leases.values().map(|row| row.spent).sum();
                spent == state.server.charged.values().sum::<u64>()
            }),
            Property::always("nothing spent is lost", |bounds: &Bounds, state: &State| {
                // What was forgotten is covered by nothing until it is told again.
                bounds.outruns || state.paid().iter().all(|message| state.is_covered(message))
            }),
            Property::always("nobody spends what is written off", |_, state: &State| state.leaves_written_off_alone()),
            Property::always("a machine has what it asked for once", |_, state: &State| {
                let has = |at: usize| state.server.leases.keys().filter(|(machine, _)| *machine == at).count() as u64;
                state.machines.iter().enumerate().all(|(at, machine)| has(at) <= machine.last_number)
            }),
            Property::sometimes("the last unit is spent and settled", |_, state: &State| {
                state.paid().len() as u64 == state.server.cap && state.server.charged.len() as u64 == state.server.cap
            }),
        ]
    }
}

impl Bounds {
    fn machine_actions(&self, state: &State, at: usize, machine: &Machine, actions: &mut Vec<Action>) {
        let now = state.moment(at);
        if machine.last_number < self.leases {
            actions.push(Action::Ask(at));
        }
        if machine.balance(now) > Amount::ZERO {
            let paid = machine.charged.len();
            if paid < self.responses {
                actions.push(Action::Pay(at, format!("{at}{paid}")));
            }
            if self.moves && at == 1 && state.machines[0].charged.contains_key("00") {
                actions.push(Action::Pay(at, "00".to_owned()));
            }
        }
        actions.push(Action::Settle(at));
        actions.push(Action::GiveBack(at));
        actions.extend(machine.requests(now).into_iter().map(|request| Action::Call(at, request)));
        if state.boots.iter().sum::<u64>() < self.crashes {
            actions.push(Action::Crash(at));
        }
    }

    fn step(&self, state: &mut State, action: Action) {
        match action {
            Action::Ask(at) => state.machine(at).ask(Amount(self.want)),
            Action::Pay(at, message) => {
                let now = state.moment(at);
                let charge = Charge { message, cost: Amount(1), ..Charge::default() };
                state.machine(at).charge(&charge, now);
            }
            Action::Settle(at) => state.machine(at).settle(),
            Action::GiveBack(at) => state.machine(at).give_back(),
            Action::Call(at, request) => {
                let answer = self.answer(state, at, &request);
                let (epoch, number, sent) = (state.server.epoch, request.number(), state.moment(at));
                state.machine(at).apply(&Reply { epoch, number, sent, answer });
            }
            Action::Take(at, request) => {
                self.answer(state, at, &request);
            }
            Action::Crash(at) => state.boots[at] += 1,
            Action::Tick => state.now += 1,
            Action::Replicate => state.replica = state.server.clone(),
            Action::Failover => {
                let epoch = state.server.epoch + 1;
                state.server = state.replica.clone();
                Arc::make_mut(&mut state.server).take_over(epoch, state.now);
                state.replica = state.server.clone();
            }
            Action::WriteOff(id) => {
                Arc::make_mut(&mut state.server).write_off(id, state.now, self.without);
            }
        }
        state.send_all();
    }

    fn answer(&self, state: &mut State, at: usize, request: &Request) -> Answer {
        let replica = &state.replica;
        // After the last failover nothing can be forgotten any more.
        let is_last = state.server.epoch == self.failovers;
        let is_durable = |id: &(usize, u64)| is_last || self.outruns || replica.leases.contains_key(id);
        Arc::make_mut(&mut state.server).answer(at, request, state.now, is_durable, self.without)
    }
}
