//! Machines of a simulation: the client's own code for leases and for the connection, with a disk, a clock that goes wrong, and a
//! network that loses things.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use fusebox::domain::moment::Moment;
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::team::OnStale;
use fusebox::store::team::address::Address;
use fusebox::store::team::ledger::Ledger;
use fusebox::store::team::sync::{Besides, Synced, together};
use fusebox::team::machine::Machine;
use fusebox::team::messages::{Answer, Charge, Request};
use fusebox::team::share::ShareRequest;

use crate::fleet_shares::{OwnUse, SharedUse};
use crate::postgres::Postgres;
use crate::weather::{Random, Weather};

/// A thousandth of a dollar, in pico-dollars.
pub const MILLI_USD: u64 = 1_000_000_000;
/// What a response costs, in thousandths of a dollar: so much at least, and less than so much.
const COST: [u64; 2] = [10, 31];
/// What a machine asks for, and what it has to hold for its next requests.
const WANT: Amount = Amount(2_000 * MILLI_USD);
const LEAST: Amount = Amount(100 * MILLI_USD);
/// How many slices it asks for at most in one sync.
const SLICES: usize = 8;
/// How many responses it makes at most between two syncs.
const RESPONSES: u64 = 25;

/// What was made of a response.
#[derive(Clone, Copy, Debug, Default)]
pub struct Made {
    pub cost: u64,
    /// Whether a machine that is not lost has it.
    pub is_kept: bool,
}

/// What all machines share.
pub struct World {
    pub server: Postgres,
    pub began: Instant,
    /// Every response that was made.
    pub made: Mutex<BTreeMap<String, Made>>,
    /// Responses whose session moves to another machine.
    moved: Mutex<Vec<(String, u64)>>,
    pub syncs: AtomicU64,
    pub requests: AtomicU64,
    pub faults: AtomicU64,
    /// How many responses were spent of leases whose life was over.
    pub outlived: AtomicU64,
    /// How long a lease lives.
    pub lease_ms: u64,
    /// What is used of the limits that are no money.
    pub shared: SharedUse,
}

impl World {
    pub fn new(server: Postgres, lease_ms: u64) -> World {
        let (made, moved) = (Mutex::default(), Mutex::default());
        let count = AtomicU64::default;
        let (syncs, requests, faults, outlived) = (count(), count(), count(), count());
        let shared = SharedUse::new(lease_ms / 2);
        World { server, began: Instant::now(), made, moved, syncs, requests, faults, outlived, lease_ms, shared }
    }

    pub fn ledger(&self, login: &str) -> Option<Ledger> {
        let address = format!("postgres://{login}@/postgres?host={}", self.server.folder().display());
        Ledger::open(&Address::parse(&address).unwrap()).ok()
    }

    fn elapsed_ms(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    /// Returns all that was made, in pico-dollars.
    pub fn spent(&self) -> u64 {
        self.made.lock().unwrap().values().map(|made| made.cost).sum()
    }
}

/// A machine of the fleet.
pub struct Member {
    pub id: String,
    login: &'static str,
    /// What it has written down.
    disk: String,
    boot: u64,
    /// How fast its clock goes, in per cent, and how far it has gone at the beginning.
    clock: (u64, u64),
    random: Random,
    responses: u64,
    /// What its last responses cost: as hooks do, it takes the next one for their mean.
    recent: VecDeque<u64>,
    /// A response of which a part is charged, and its whole cost.
    growing: Option<(String, u64)>,
    /// It is never seen again.
    pub is_lost: bool,
    /// What it does with a lease whose life is over while the store is not heard.
    on_stale: OnStale,
    /// Until when it neither works nor syncs, in milliseconds of the simulation, and whether it ever has.
    sleeps_until: u64,
    has_slept: bool,
    /// What it uses of the limits that are no money.
    shared: OwnUse,
}

/// The sync ends here: the connection is lost, or the process killed.
struct Cut;

impl Member {
    pub fn new(number: u64) -> Member {
        let mut random = Random::new(number + 7);
        Member {
            id: format!("machine-{number:06}"),
            login: if number.is_multiple_of(2) { "bob" } else { "eve" },
            disk: serde_json::to_string(&Machine::default()).unwrap(),
            boot: 1,
            clock: (90 + random.below(21), random.below(1_000_000)),
            random,
            responses: 0,
            recent: VecDeque::new(),
            growing: None,
            is_lost: false,
            on_stale: if number % 4 < 2 { OnStale::Warn } else { OnStale::Deny },
            sleeps_until: 0,
            has_slept: false,
            shared: OwnUse::default(),
        }
    }

    fn now(&self, world: &World) -> Moment {
        Moment { mono_ms: self.clock.1 + world.elapsed_ms() * self.clock.0 / 100, boot: self.boot, ..Moment::default() }
    }

    fn load(&self) -> Machine {
        serde_json::from_str(&self.disk).unwrap()
    }

    fn save(&mut self, machine: &Machine) {
        self.disk = serde_json::to_string(machine).unwrap();
    }

    /// Whether it can work on, or has something that may be spent with the next sync.
    pub fn goes_on(&self, world: &World) -> bool {
        let machine = self.load();
        !self.is_lost && (machine.is_waiting() || self.growing.is_some() || self.can_work(world, &machine))
    }

    /// Whether it makes a next response. Half of all cost more than is expected: as hooks do, it keeps as much unspent as the dearest costs.
    fn can_work(&self, world: &World, machine: &Machine) -> bool {
        let expected = self.recent.iter().sum::<u64>() / self.recent.len().max(1) as u64;
        self.may_spend(world, machine).0 >= expected + COST[1] * MILLI_USD
    }

    /// Works with what is leased, and then syncs. Returns how many responses it made.
    pub fn step(&mut self, world: &World, weather: Weather) -> u64 {
        if self.is_lost || weather == Weather::Rough && world.elapsed_ms() < self.sleeps_until {
            return 0;
        }
        if self.random.is(1, weather) {
            // A restart: no clock goes on over it, and no agent.
            self.boot += 1;
            self.shared.end(&world.shared, u64::MAX);
        }
        let mut machine = self.load();
        let before = self.responses;
        self.work(world, &mut machine);
        self.use_shares(world, &machine, weather);
        machine.settle();
        self.save(&machine);
        world.syncs.fetch_add(1, Ordering::Relaxed);
        let Some(mut ledger) = world.ledger(self.login) else { return self.responses - before };
        let synced = self.sync(world, (&mut ledger, &mut machine), weather);
        let _cut = synced.and_then(|()| self.share(world, (&mut ledger, &mut machine), weather));
        let first = !self.has_slept && self.load().balance(self.now(world)).0 >= WANT.0 / 8;
        if first || self.random.is(1, weather) {
            // When it works again, the store was not heard for longer than a lease lives.
            self.has_slept = true;
            self.sleeps_until = world.elapsed_ms() + world.lease_ms * (110 + self.random.below(80)) / 100;
        }
        self.responses - before
    }

    /// Returns what it may spend now, as hooks do: with `warn` also what is left of a lease whose life is over, for as long again.
    fn may_spend(&self, world: &World, machine: &Machine) -> Amount {
        let now = self.now(world);
        let (held, until) = machine.held(now);
        let ends = until.map_or(0, |until| until.mono_ms + world.lease_ms);
        match self.on_stale {
            OnStale::Warn if now.mono_ms < ends => held,
            _ => machine.balance(now),
        }
    }

    fn work(&mut self, world: &World, machine: &mut Machine) {
        let now = self.now(world);
        if let Some((message, cost)) = self.growing.take() {
            charge(machine, &message, cost, now);
        }
        let moved = if self.random.below(10) == 0 { world.moved.lock().unwrap().pop() } else { None };
        if let Some((message, cost)) = moved.filter(|(_, cost)| machine.balance(now).0 >= *cost) {
            charge(machine, &message, cost, now);
            world.made.lock().unwrap().entry(message).or_default().is_kept = true;
        }
        for _ in 0..=self.random.below(RESPONSES) {
            if !self.can_work(world, machine) {
                break;
            }
            world.outlived.fetch_add(u64::from(machine.balance(now) == Amount::ZERO), Ordering::Relaxed);
            let cost = (COST[0] + self.random.below(COST[1] - COST[0])) * MILLI_USD;
            self.recent.truncate(4);
            self.recent.push_front(cost);
            self.responses += 1;
            let message = format!("msg_{}_{}", self.id, self.responses);
            world.made.lock().unwrap().insert(message.clone(), Made { cost, is_kept: true });
            match self.random.below(20) {
                // It was taken in before it was whole.
                0 => {
                    charge(machine, &message, cost / 2, now);
                    self.growing = Some((message, cost));
                    break;
                }
                1 => {
                    charge(machine, &message, cost, now);
                    world.moved.lock().unwrap().push((message, cost));
                }
                _ => charge(machine, &message, cost, now),
            }
        }
    }

    /// Ends agents and starts others, and makes requests; in calm weather none is left.
    fn use_shares(&mut self, world: &World, machine: &Machine, weather: Weather) {
        let at_most = if weather == Weather::Calm { u64::MAX } else { self.random.below(4) };
        self.shared.end(&world.shared, at_most);
        if weather == Weather::Rough {
            let now = (self.unskewed(world), self.stale_ms(world));
            self.shared.work(&world.shared, machine, now, &mut self.random);
        }
    }

    /// Returns the moment by a clock that goes right: a window of requests is by the machine's own.
    fn unskewed(&self, world: &World) -> Moment {
        Moment { mono_ms: world.elapsed_ms(), boot: self.boot, ..Moment::default() }
    }

    /// Returns how long it uses a share whose life is over.
    fn stale_ms(&self, world: &World) -> u64 {
        if self.on_stale == OnStale::Warn { world.lease_ms } else { 0 }
    }

    /// Says what it needs of the limits that are no money, and hears what it may use.
    fn share(
        &mut self,
        world: &World,
        (ledger, machine): (&mut Ledger, &mut Machine),
        weather: Weather,
    ) -> Result<(), Cut> {
        let now = self.unskewed(world);
        self.shared.ask(&world.shared, machine, now, (self.stale_ms(world), weather == Weather::Calm));
        self.save(machine);
        let synced = self.send(world, ledger, (now, &[], &machine.share_requests()), weather)?;
        machine.apply_shares(&synced.shares);
        self.save(machine);
        Ok(())
    }

    /// Tells what was spent, and asks for what is lacking, as `fusebox team sync` does.
    fn sync(
        &mut self,
        world: &World,
        (ledger, machine): (&mut Ledger, &mut Machine),
        weather: Weather,
    ) -> Result<(), Cut> {
        self.tell(world, (&mut *ledger, &mut *machine), weather)?;
        for _ in 0..SLICES {
            let held = machine.balance(self.now(world));
            if held >= LEAST || machine.is_waiting() {
                break;
            }
            machine.ask_besides(WANT.minus(held));
            self.save(machine);
            if self.tell(world, (&mut *ledger, &mut *machine), weather)? {
                break;
            }
        }
        Ok(())
    }

    /// Sends what there is to send; returns whether the store had nothing to give.
    fn tell(
        &mut self,
        world: &World,
        (ledger, machine): (&mut Ledger, &mut Machine),
        weather: Weather,
    ) -> Result<bool, Cut> {
        let mut is_refused = false;
        loop {
            let requests = together(machine.requests(self.now(world)));
            if requests.is_empty() {
                return Ok(is_refused);
            }
            let replies = self.send(world, ledger, (self.now(world), &requests, &[]), weather)?.replies;
            let before = machine.clone();
            replies.iter().for_each(|reply| machine.apply(reply));
            self.save(machine);
            is_refused |= replies.iter().any(|reply| reply.answer == Answer::Refused);
            // What may not be spent yet is asked about in the next sync.
            if *machine == before {
                return Ok(is_refused);
            }
        }
    }

    fn send(
        &mut self,
        world: &World,
        ledger: &mut Ledger,
        (sent, requests, shares): (Moment, &[Request], &[ShareRequest]),
        weather: Weather,
    ) -> Result<Synced, Cut> {
        let fault = || world.faults.fetch_add(1, Ordering::Relaxed);
        let besides = Besides { shares, ..Besides::default() };
        world.requests.fetch_add((requests.len() + shares.len()) as u64, Ordering::Relaxed);
        if self.random.is(2, weather) {
            fault();
            return Err(Cut);
        }
        if self.random.is(2, weather) {
            // Taken twice: the first reply was lost, and a later process sends it again.
            fault();
            ledger.sync("core", &self.id, sent, requests, &besides).map_err(|_| Cut)?;
        }
        let synced = ledger.sync("core", &self.id, sent, requests, &besides).map_err(|_| {
            fault();
            Cut
        })?;
        if self.random.is(2, weather) {
            // The process is killed before it has written down what it heard.
            fault();
            return Err(Cut);
        }
        Ok(synced)
    }

    /// Gives back all that it holds.
    pub fn give_back(&mut self, world: &World) {
        let mut machine = self.load();
        if let Some((message, cost)) = self.growing.take() {
            charge(&mut machine, &message, cost, self.now(world));
        }
        machine.give_back();
        let mut ledger = world.ledger(self.login).unwrap();
        assert!(self.tell(world, (&mut ledger, &mut machine), Weather::Calm).is_ok());
        assert!(self.share(world, (&mut ledger, &mut machine), Weather::Calm).is_ok());
    }

    /// Takes it away for good, with all that it has not told.
    pub fn lose(&mut self, world: &World) {
        self.is_lost = true;
        self.shared.end(&world.shared, u64::MAX);
        let own = format!("msg_{}_", self.id);
        for (_, made) in world.made.lock().unwrap().iter_mut().filter(|(message, _)| message.starts_with(&own)) {
            made.is_kept = false;
        }
    }
}

fn charge(machine: &mut Machine, message: &str, cost: u64, now: Moment) {
    let charge =
        Charge { message: message.to_owned(), cost: Amount(cost), project: "app".to_owned(), ..Charge::default() };
    machine.charge(&charge, now);
}
