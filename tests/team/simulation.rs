//! Many machines share one cap in a real PostgreSQL while connections are lost, processes killed, machines lost for good, and the
//! server is restarted and taken over. By hand with a thousand: `FUSEBOX_FLEET=1000 cargo test --test team -- simulation --nocapture`.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use fusebox::store::team::ledger::Ledger;

use crate::fleet::{MILLI_USD, Member, World};
use crate::postgres::Postgres;
use crate::weather::{Random, Weather};

/// How many machines there are where nobody says.
const SMALL: u64 = 12;
/// The team's cap for each machine, in thousandths of a dollar.
const CAP_EACH: u64 = 3_000;
/// How many machines sync at once.
const AT_ONCE: usize = 24;
/// How long a lease lives at least, and for each machine, in milliseconds. It outlives a round of all, as it outlives the time between two
/// syncs where machines are at work: else those that spend no lease whose life is over would never spend any.
const LIFE_MS: u64 = 4_000;
const LIFE_OF_EACH_MS: u64 = 60;
/// How old a reservation is before it may be spent, in milliseconds: until the replica falls behind.
const CONFIRM_MS: u64 = 100;
/// How long the replica that takes over has heard nothing, at least and at most.
const BEHIND: Duration = Duration::from_secs(1);
const LONGEST_BEHIND: Duration = Duration::from_secs(30);
/// How long it all takes at most, and for each machine.
const LONGEST: Duration = Duration::from_secs(240);
const LONGEST_OF_EACH: Duration = Duration::from_secs(5);
/// How often the sums are looked at.
const GLANCE: Duration = Duration::from_millis(20);

/// A fleet, and what the store has to keep to.
struct Simulation {
    world: World,
    members: Vec<Mutex<Member>>,
    cap: u64,
    /// The most that was spent or leased at any look, and how many looks there were.
    most: AtomicU64,
    looks: AtomicU64,
    is_over: AtomicBool,
    /// At how many looks more was reserved than a limit that is no money.
    overbooked: AtomicU64,
    /// How many leases, batches and charges the replica had not heard of.
    forgotten: AtomicU64,
    /// Held by who works; taken alone, nobody works.
    turn: RwLock<()>,
}

impl Simulation {
    fn begin(machines: u64) -> Option<Simulation> {
        let server = Postgres::start()?;
        let cap = machines * CAP_EACH * MILLI_USD;
        let world = World::new(server, LIFE_MS.max(machines * LIFE_OF_EACH_MS));
        let (lease_ms, window_ms) = (world.lease_ms, world.shared.window_ms);
        let team = format!(
            "SELECT fusebox.set_team('core', 'ann', {lease_ms}, {CONFIRM_MS}, NULL);
            SELECT fusebox.set_cap('core', 'team', '', 'month', {cap});
            SELECT fusebox.set_shared_limit('core', 'agents', {machines}, NULL);
            SELECT fusebox.set_shared_limit('core', 'requests', {machines}, {window_ms});"
        );
        world.server.as_login("ann", &team).unwrap();
        let members = (0..machines).map(|number| Mutex::new(Member::new(number))).collect();
        let (most, looks, is_over) = (AtomicU64::default(), AtomicU64::default(), AtomicBool::default());
        Some(Simulation {
            world,
            members,
            cap,
            most,
            looks,
            is_over,
            overbooked: AtomicU64::default(),
            forgotten: AtomicU64::default(),
            turn: RwLock::default(),
        })
    }

    /// Has every machine work and sync once, many at a time; returns how many responses they made.
    fn round(&self, weather: Weather) -> u64 {
        let (next, made) = (AtomicUsize::default(), AtomicU64::default());
        thread::scope(|scope| {
            for _ in 0..AT_ONCE.min(self.members.len()) {
                scope.spawn(|| {
                    while let Some(member) = self.members.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let _turn = self.turn.read().unwrap();
                        made.fetch_add(member.lock().unwrap().step(&self.world, weather), Ordering::Relaxed);
                    }
                });
            }
        });
        made.into_inner()
    }

    /// Looks at the sums of the store again and again until the simulation is over.
    fn watch(&self) {
        let mut ledger = None;
        while !self.is_over.load(Ordering::Relaxed) {
            ledger = ledger.or_else(|| self.world.ledger("ann"));
            let look = |ledger: &mut Ledger| Some((ledger.status("core").ok()?, ledger.shared_limits("core").ok()?));
            match ledger.as_mut().and_then(look) {
                Some((caps, limits)) => {
                    let over = limits.iter().any(|limit| limit.reserved > limit.cap);
                    self.overbooked.fetch_add(u64::from(over), Ordering::Relaxed);
                    self.most.fetch_max(caps[0].committed.0.max(caps[0].spent.0), Ordering::Relaxed);
                    self.looks.fetch_add(1, Ordering::Relaxed);
                }
                // The server is away.
                _ => ledger = None,
            }
            thread::park_timeout(GLANCE);
        }
    }

    /// Fails a simulation that comes to no end.
    fn check_time(&self) {
        let longest = LONGEST + LONGEST_OF_EACH * self.members.len() as u32;
        assert!(self.world.began.elapsed() < longest, "{} of {} pico-dollars are spent", self.world.spent(), self.cap);
    }

    /// Works in rough weather until a part of the cap is spent; meanwhile the server goes away twice, and machines are lost.
    fn rough(&self) {
        let is_spent = |percent: u64| self.world.spent() >= self.cap / 100 * percent;
        thread::scope(|scope| {
            let away = scope.spawn(|| {
                let wait_for = |percent: u64| {
                    while !is_spent(percent) {
                        self.check_time();
                        thread::park_timeout(GLANCE);
                    }
                };
                wait_for(20);
                self.world.server.crash();
                self.world.server.go_on();
                wait_for(40);
                self.fail_over();
            });
            let mut random = Random::new(99);
            while !is_spent(60) || !away.is_finished() {
                self.check_time();
                self.round(Weather::Rough);
                let lost = self.members.iter().filter(|member| member.lock().unwrap().is_lost).count();
                if is_spent(30) && lost < 1 + self.members.len() / 50 {
                    let at = random.below(self.members.len() as u64) as usize;
                    self.members[at].lock().unwrap().lose(&self.world);
                }
            }
        });
    }

    /// Kills the server, and has a replica take over that has heard nothing for a second.
    fn fail_over(&self) {
        let server = &self.world.server;
        let confirm =
            |ms: u64| server.as_login("ann", &format!("SELECT fusebox.set_team('core', NULL, NULL, {ms}, NULL)"));
        let told = || -> u64 {
            let told =
                "SELECT (SELECT count(*) + sum(sequence) FROM fusebox.lease) + (SELECT count(*) FROM fusebox.charge)";
            server.as_login("ann", told).unwrap().parse().unwrap()
        };
        let alone = self.turn.write().unwrap();
        server.replicate();
        confirm(LONGEST_BEHIND.as_millis() as u64).unwrap();
        // What may be spent by now was reserved before.
        server.catch_up();
        server.cut_off();
        let (cut_off, before) = (Instant::now(), told());
        drop(alone);
        while cut_off.elapsed() < BEHIND || told() == before && cut_off.elapsed() < LONGEST_BEHIND / 2 {
            thread::park_timeout(GLANCE);
        }
        let known = told();
        server.fail_over();
        assert!(cut_off.elapsed() < LONGEST_BEHIND, "{:?}", cut_off.elapsed());
        self.forgotten.fetch_add(known - told(), Ordering::Relaxed);
        confirm(CONFIRM_MS).unwrap();
    }

    /// Works until nobody gets anything any more.
    fn calm(&self) {
        let goes_on = || self.members.iter().any(|member| member.lock().unwrap().goes_on(&self.world));
        loop {
            self.check_time();
            let before = self.sums();
            // What a machine gives back in a round is there for others in the next.
            if self.round(Weather::Calm) == 0 && !goes_on() && self.sums() == before {
                return;
            }
        }
    }

    /// Writes off what lost machines hold once it has expired; returns how much that is.
    fn write_off(&self) -> u64 {
        let lost: Vec<String> = self
            .members
            .iter()
            .map(|member| member.lock().unwrap())
            .filter(|it| it.is_lost)
            .map(|it| it.id.clone())
            .collect();
        let open = "SELECT count(*) FROM fusebox.lease l JOIN fusebox.team t ON t.id = l.team WHERE l.state = 'open' AND l.number > 0 \
             AND greatest(l.expires_at, t.grants_from) > clock_timestamp() AND l.machine IN";
        let of_lost = format!("{open} ('{}')", lost.join("', '"));
        while self.world.server.as_login("ann", &of_lost).unwrap() != "0" {
            self.check_time();
            self.round(Weather::Calm);
        }
        let mut ledger = self.world.ledger("ann").unwrap();
        let expired =
            ledger.open_leases("core").unwrap().into_iter().filter(|it| it.is_expired && lost.contains(&it.machine));
        let expired: Vec<_> = expired.collect();
        expired.iter().map(|lease| ledger.write_off("core", &lease.machine, lease.number).unwrap().0).sum()
    }

    fn sums(&self) -> (u64, u64) {
        let sums = "SELECT sum(spent_pico_usd), sum(committed_pico_usd) FROM fusebox.used WHERE login = '' AND period = 'month'";
        let row = self.world.server.as_login("ann", sums).unwrap();
        let (spent, committed) = row.split_once('|').unwrap();
        (spent.parse().unwrap(), committed.parse().unwrap())
    }

    /// Nothing is lost or doubled: each response has its cost, once, and the sums are those of the responses.
    fn check_charges(&self) {
        let rows = self.world.server.as_login("ann", "SELECT message, cost_pico_usd FROM fusebox.charge").unwrap();
        let mut made = self.world.made.lock().unwrap().clone();
        let mut sum = 0;
        for row in rows.lines() {
            let (message, cost) = row.split_once('|').unwrap();
            let cost: u64 = cost.parse().unwrap();
            let known = made.remove(message).unwrap();
            assert!(if known.is_kept { cost == known.cost } else { cost <= known.cost }, "{message}: {cost} {known:?}");
            sum += cost;
        }
        let untold: Vec<_> = made.iter().filter(|(_, made)| made.is_kept).collect();
        assert!(untold.is_empty(), "{untold:?}");
        assert_eq!(self.sums().0, sum);
        let project = "SELECT sum(spent_pico_usd) FROM fusebox.project_used WHERE project = 'app' AND period = 'month'";
        assert_eq!(self.world.server.as_login("ann", project).unwrap(), sum.to_string());
    }

    /// What was used of the limits that are no money stayed within them, and once all machines rest only lost ones have something reserved,
    /// until an admin writes it off.
    fn check_shares(&self) {
        let (cap, shared) = (self.members.len(), &self.world.shared);
        let agents = shared.most_agents.load(Ordering::SeqCst) as usize;
        let (made, requests) = shared.requests();
        let started = shared.started.load(Ordering::SeqCst);
        eprintln!(
            "of {cap} agents at once at most {agents}, {started} started; of {cap} requests in {} ms at most {requests}, {made} made",
            shared.window_ms
        );
        assert!((cap / 2..=cap).contains(&agents) && (cap / 2..=cap).contains(&requests));
        assert_eq!(self.overbooked.load(Ordering::Relaxed), 0);
        let mut ledger = self.world.ledger("ann").unwrap();
        let is_of_lost = |machine: &str| {
            self.members
                .iter()
                .map(|member| member.lock().unwrap())
                .any(|member| member.is_lost && member.id == machine)
        };
        let open = loop {
            self.check_time();
            let open = ledger.open_shares("core").unwrap();
            if open.iter().all(|share| share.is_expired && is_of_lost(&share.machine)) {
                break open;
            }
            thread::park_timeout(GLANCE);
        };
        open.iter().for_each(|share| ledger.write_off_share("core", share).unwrap());
        assert!(ledger.shared_limits("core").unwrap().iter().all(|limit| limit.reserved == 0));
    }

    fn tell(&self, (spent, stranded, written_off): (u64, u64, u64)) {
        let usd = |pico: u64| pico as f64 / 1e12;
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        let world = &self.world;
        eprintln!(
            "{} machines, {:.0} s: {} responses, {} syncs, {} requests, {} faults, {} of leases that were over, {} forgotten, {} looks; cap {:.2} USD, most {:.2}, spent {:.2}, \
             written off {:.2}, stranded {:.2} USD ({:.2} %)",
            self.members.len(),
            world.began.elapsed().as_secs_f64(),
            world.made.lock().unwrap().len(),
            count(&world.syncs),
            count(&world.requests),
            count(&world.faults),
            count(&world.outlived),
            count(&self.forgotten),
            count(&self.looks),
            usd(self.cap),
            usd(count(&self.most)),
            usd(spent),
            usd(written_off),
            usd(stranded),
            100.0 * usd(stranded) / usd(self.cap)
        );
    }
}

/// Says that a simulation is over, also where it fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn many_machines_in_rough_weather_pass_no_cap_lose_nothing_and_strand_little() {
    let machines = std::env::var("FUSEBOX_FLEET").ok().and_then(|text| text.parse().ok()).unwrap_or(SMALL);
    let Some(simulation) = Simulation::begin(machines) else { return };
    let written_off = thread::scope(|scope| {
        scope.spawn(|| simulation.watch());
        let _over = Over(&simulation.is_over);
        simulation.rough();
        simulation.calm();
        let written_off = simulation.write_off();
        simulation.calm();
        written_off
    });
    let (spent, _) = simulation.sums();
    let stranded = simulation.cap - spent;
    simulation.tell((spent, stranded, written_off));
    let most = simulation.most.load(Ordering::Relaxed);
    assert!(most <= simulation.cap && simulation.looks.load(Ordering::Relaxed) > 50, "{most}");
    assert!(simulation.world.faults.load(Ordering::Relaxed) > machines);
    assert!(simulation.world.outlived.load(Ordering::Relaxed) > 0 && simulation.forgotten.load(Ordering::Relaxed) > 0);
    // What was really spent, told or not, passes the cap by no more than was written off.
    assert!(simulation.world.spent() <= simulation.cap + written_off);
    assert!(stranded * 50 <= simulation.cap, "{stranded}");
    for member in simulation.members.iter().map(|member| member.lock().unwrap()) {
        let mut member = member;
        if !member.is_lost {
            member.give_back(&simulation.world);
        }
    }
    simulation.check_charges();
    simulation.check_shares();
    let (spent, committed) = simulation.sums();
    assert_eq!(spent, committed);
}
