//! How many syncs one PostgreSQL carries, of the client's own code. By hand with as many machines as you like:
//! `FUSEBOX_SCALE=10000 cargo test --release --test team -- scale --nocapture`.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fusebox::domain::moment::Moment;
use fusebox::domain::spend::amount::Amount;
use fusebox::store::team::address::Address;
use fusebox::store::team::ledger::Ledger;
use fusebox::store::team::sync::{Besides, together};
use fusebox::team::machine::Machine;
use fusebox::team::messages::{Answer, Charge};

use crate::postgres::Postgres;

/// How many machines there are where nobody says.
const SMALL: usize = 40;
/// How many machines a login has.
const OF_LOGIN: usize = 33;
/// How many syncs are under way at once.
const AT_ONCE: usize = 16;
/// What a response costs, how many a machine tells in one sync, and what it wants to hold, as `fusebox team sync` does.
const COST: u64 = 30_000_000_000;
const RESPONSES: usize = 3;
const WANT: Amount = Amount(2_000_000_000_000);
/// For how long each kind of sync is repeated, where there are many machines.
const LONG: Duration = Duration::from_secs(20);

/// Whether a machine connects for each sync, as `fusebox team sync` does, or finds a connection, as behind a pooler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Connects {
    Anew,
    Pooled,
}

struct Scale {
    server: Postgres,
    machines: Vec<Mutex<Machine>>,
    began: Instant,
    told: AtomicU64,
    leases: AtomicU64,
}

impl Scale {
    fn begin(count: usize) -> Option<Scale> {
        let server = Postgres::start_with("-c max_connections=1000 -c shared_buffers=512MB -c max_wal_size=8GB")?;
        let logins = 0..count.div_ceil(OF_LOGIN);
        let (roles, members): (Vec<_>, Vec<_>) = logins
            .map(|at| {
                let role = format!("CREATE ROLE user{at} LOGIN IN ROLE fusebox_member;");
                (role, format!("SELECT fusebox.set_member('core', 'user{at}', 'member');"))
            })
            .unzip();
        server.as_login("boss", &roles.concat()).unwrap();
        let caps = "SELECT fusebox.set_cap('core', 'team', '', 'month', 900000000000000000);
            SELECT fusebox.set_cap('core', 'user', '', 'day', 90000000000000000);
            SELECT fusebox.set_label_cap('core', 'project', 'app', 'month', 900000000000000000);";
        server.as_login("ann", &(members.concat() + caps)).unwrap();
        let machines = (0..count).map(|_| Mutex::default()).collect();
        Some(Scale {
            server,
            machines,
            began: Instant::now(),
            told: AtomicU64::default(),
            leases: AtomicU64::default(),
        })
    }

    fn connect(&self, machine: usize) -> Ledger {
        let folder = self.server.folder().display();
        let address = format!("postgres://user{}@/postgres?host={folder}", machine / OF_LOGIN);
        Ledger::open(&Address::parse(&address).unwrap()).unwrap()
    }

    fn now(&self) -> Moment {
        Moment { mono_ms: self.began.elapsed().as_millis() as u64, ..Moment::default() }
    }

    /// Has a machine tell what it spent, and lease what it lacks; returns in how many round trips.
    fn sync(&self, at: usize, ledger: &mut Ledger, responses: usize) -> u64 {
        let (id, mut machine) = (format!("machine-{at:06}"), self.machines[at].lock().unwrap());
        for number in 0..responses {
            let message = format!("msg_{at}_{}_{number}", self.told.fetch_add(1, Ordering::Relaxed));
            let charge = Charge { message, cost: Amount(COST), model: "model".to_owned(), project: "app".to_owned() };
            machine.charge(&charge, self.now());
        }
        machine.settle();
        machine.forget(&std::collections::BTreeSet::new(), 0);
        let held = machine.balance(self.now());
        if held.0 < WANT.0 / 2 {
            machine.ask(WANT.minus(held));
        }
        let mut trips = 0;
        loop {
            let requests = together(machine.requests(self.now()));
            let synced = ledger
                .sync("core", &id, self.now(), &requests, &Besides { labels: &["app"], ..Besides::default() })
                .unwrap();
            trips += 1;
            for reply in &synced.replies {
                self.leases.fetch_add(u64::from(matches!(reply.answer, Answer::Reserved { .. })), Ordering::Relaxed);
                machine.apply(reply);
            }
            if machine.requests(self.now()).is_empty() {
                return trips;
            }
        }
    }

    /// Has machines sync, many at once, for as long as said, and each once where that is not too slow; says how many did so.
    fn load(&self, name: &str, connects: Connects, (responses, long): (usize, Duration)) {
        let (syncs, trips, written) = (AtomicU64::default(), AtomicU64::default(), self.wal_bytes());
        let (began, cpu, leases) = (Instant::now(), self.cpu_seconds(), self.leases.load(Ordering::Relaxed));
        thread::scope(|scope| {
            for client in 0..AT_ONCE {
                let (syncs, trips) = (&syncs, &trips);
                let own: Vec<usize> = (0..self.machines.len()).filter(|at| at / OF_LOGIN % AT_ONCE == client).collect();
                scope.spawn(move || {
                    let mut ledgers = BTreeMap::new();
                    for (done, at) in own.iter().cycle().enumerate() {
                        let has_all = done >= own.len() || connects == Connects::Anew && !long.is_zero();
                        if has_all && began.elapsed() >= long {
                            return;
                        }
                        if connects == Connects::Anew {
                            ledgers.clear();
                        }
                        let ledger = ledgers.entry(at / OF_LOGIN).or_insert_with(|| self.connect(*at));
                        trips.fetch_add(self.sync(*at, ledger, responses), Ordering::Relaxed);
                        syncs.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        let written = (self.wal_bytes() - written) / 1024.0;
        let (seconds, count) = (began.elapsed().as_secs_f64(), syncs.into_inner() as f64);
        eprintln!(
            "{name}: {:.0} syncs a second; a sync takes {:.2} round trips, {:.2} leases, {:.2} ms of the server's \
             processors, {:.1} KiB of its log",
            count / seconds,
            trips.into_inner() as f64 / count,
            (self.leases.load(Ordering::Relaxed) - leases) as f64 / count,
            (self.cpu_seconds() - cpu) * 1000.0 / count,
            written / count
        );
    }

    /// Returns how much the server has written into its write-ahead log, in bytes.
    fn wal_bytes(&self) -> f64 {
        self.server.as_login("boss", "SELECT pg_current_wal_lsn() - '0/0'").unwrap().parse().unwrap()
    }

    /// Returns the processor time of the server and of all that it has started; 0 where that cannot be known.
    fn cpu_seconds(&self) -> f64 {
        let data = self.server.folder().join("data/postmaster.pid");
        let text = std::fs::read_to_string(data).unwrap();
        let server = text.lines().next().unwrap().to_owned();
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let ticks = processes.filter_map(|process| {
            let stat = std::fs::read_to_string(process.path().join("stat")).ok()?;
            let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
            let is_server = process.file_name().to_str()? == server;
            // Its own time, and for the server itself that of the processes that have ended.
            let times = if is_server { &fields[11..15] } else { &fields[11..13] };
            let is_of_server = is_server || fields[1] == server;
            is_of_server.then(|| times.iter().filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>())
        });
        ticks.sum::<f64>() / 100.0
    }

    /// Returns the median of how long something takes, in milliseconds.
    fn median_ms(&self, times: usize, mut work: impl FnMut(usize)) -> f64 {
        let one = |at: usize| {
            let began = Instant::now();
            work(at % self.machines.len());
            began.elapsed().as_secs_f64() * 1000.0
        };
        let mut all: Vec<f64> = (0..times).map(one).collect();
        all.sort_by(f64::total_cmp);
        all[times / 2]
    }
}

#[test]
fn each_response_of_many_machines_is_charged_once_and_the_sums_are_those_of_the_leases() {
    let count = std::env::var("FUSEBOX_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(SMALL);
    let Some(scale) = Scale::begin(count) else { return };
    let long = if count > SMALL { LONG } else { Duration::ZERO };
    scale.load("each machine's first lease", Connects::Pooled, (0, Duration::ZERO));
    let mut ledger = scale.connect(0);
    eprintln!("one client, medians: connect {:.2} ms", scale.median_ms(50, |_| drop(scale.connect(0))));
    for responses in [0, 1, RESPONSES, 50] {
        let sync = |_| assert!(scale.sync(0, &mut ledger, responses) > 0);
        eprintln!("one client, medians: a sync of {responses} responses {:.2} ms", scale.median_ms(50, sync));
    }
    for (what, responses) in [("nothing is told", 0), ("three responses are told", RESPONSES)] {
        scale.load(&format!("{what}, pooled"), Connects::Pooled, (responses, long));
        scale.load(&format!("{what}, a connection each"), Connects::Anew, (responses, long));
    }
    let told = scale.told.load(Ordering::Relaxed);
    let bytes = "SELECT pg_total_relation_size('fusebox.charge') / count(*) FROM fusebox.charge";
    eprintln!("a response takes {} bytes with its indexes", scale.server.as_login("boss", bytes).unwrap());
    let charged = "SELECT count(*), sum(cost_pico_usd) FROM fusebox.charge";
    assert_eq!(scale.server.as_login("ann", charged).unwrap(), format!("{told}|{}", told * COST));
    let of_leases =
        "SELECT sum(spent_pico_usd), sum(CASE state WHEN 'open' THEN greatest(amount_pico_usd, spent_pico_usd)
        ELSE spent_pico_usd END) FROM fusebox.lease";
    let of_sums =
        "SELECT sum(spent_pico_usd), sum(committed_pico_usd) FROM fusebox.used WHERE period = 'month' AND login";
    let leases = scale.server.as_login("ann", of_leases).unwrap();
    for of in ["= ''", "<> ''"] {
        assert_eq!(scale.server.as_login("ann", &format!("{of_sums} {of}")).unwrap(), leases);
    }
    let project = "SELECT sum(spent_pico_usd) FROM fusebox.project_used WHERE period = 'week'";
    assert_eq!(scale.server.as_login("ann", project).unwrap(), (told * COST).to_string());
}
