//! The store's side of shares, driven by its functions in a real PostgreSQL: what counts, for how long, and who waits for whom.

use fusebox::domain::moment::Moment;
use fusebox::domain::share_kind::ShareKind;
use fusebox::store::team::address::Address;
use fusebox::store::team::connection::Connection;
use fusebox::store::team::ledger::Ledger;
use fusebox::store::team::sync::Besides;
use fusebox::team::messages::Request;
use fusebox::team::share::ShareRequest;

use crate::postgres::Postgres;

fn team(limits: &[&str]) -> Option<Postgres> {
    let server = Postgres::start()?;
    for limit in limits {
        server.as_login("ann", &format!("SELECT fusebox.set_shared_limit('core', {limit})")).unwrap();
    }
    Some(server)
}

fn address(server: &Postgres, login: &str) -> Address {
    Address::parse(&format!("postgres://{login}@/postgres?host={}", server.folder().display())).unwrap()
}

/// Says what a machine asks: its id, the kind, the number, and what it has in use, needs, wants, and its time without the store.
fn reserve(asked: &str) -> String {
    format!("SELECT amount FROM fusebox.reserve('core', {asked})")
}

fn amount(server: &Postgres, login: &str, asked: &str) -> i64 {
    server.as_login(login, &reserve(asked)).unwrap().parse().unwrap()
}

/// A sync that grows a share, and waits for a lease that somebody keeps open.
#[test]
fn a_sync_that_waits_for_a_lease_keeps_no_limit_locked() {
    let Some(server) = team(&["'agents', 9, NULL", "'requests', 9, 60000"]) else { return };
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'team', '', 'day', 1000)").unwrap();
    let mut bob = Connection::open(&address(&server, "bob")).unwrap();
    bob.run("BEGIN").unwrap();
    bob.query("SELECT * FROM fusebox.lease('core', 'machine-1', 1, 10)", &[]).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let shares = ShareKind::ALL.map(|kind| ShareRequest {
                kind,
                number: 1,
                in_use: 0,
                needs: 2,
                wants: 2,
                stale_ms: Some(0),
            });
            let lease = Request::Lease { number: 1, want: fusebox::domain::spend::amount::Amount(10) };
            let besides = Besides { shares: &shares, ..Besides::default() };
            let mut ledger = Ledger::open(&address(&server, "eve")).unwrap();
            let synced = ledger.sync("core", ("machine-2", Moment::default()), &[lease], &besides).unwrap();
            assert_eq!(synced.shares.iter().map(|share| share.amount).collect::<Vec<_>>(), [2, 2]);
        });
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'eve' AND wait_event_type = 'Lock'";
        while server.as_login("boss", waits).unwrap() == "0" {}
        for kind in ["agents", "requests"] {
            let asked = reserve(&format!("'machine-3', '{kind}', 1, 0, 3, 3, 0"));
            let began = std::time::Instant::now();
            assert_eq!(server.as_login("ann", &asked).as_deref(), Ok("3"), "{kind}");
            assert!(began.elapsed() < std::time::Duration::from_secs(1), "{kind}: {:?}", began.elapsed());
        }
        bob.run("ROLLBACK").unwrap();
    });
}

/// Of two limits one is kept locked by somebody.
#[test]
fn a_share_that_waits_for_its_limit_keeps_no_other_limit_locked() {
    let Some(server) = team(&["'agents', 9, NULL", "'requests', 9, 60000"]) else { return };
    let mut bob = Connection::open(&address(&server, "bob")).unwrap();
    bob.run("BEGIN").unwrap();
    bob.query("SELECT * FROM fusebox.reserve('core', 'machine-1', 'requests', 1, 0, 2, 2, 0)", &[]).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let shares = ShareKind::ALL.map(|kind| ShareRequest {
                kind,
                number: 1,
                in_use: 0,
                needs: 2,
                wants: 2,
                stale_ms: Some(0),
            });
            let besides = Besides { shares: &shares, ..Besides::default() };
            let mut ledger = Ledger::open(&address(&server, "eve")).unwrap();
            let synced = ledger.sync("core", ("machine-2", Moment::default()), &[], &besides).unwrap();
            assert_eq!((synced.shares[0].amount, synced.shares[1].held_by.as_deref()), (2, Some("bob")));
        });
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'eve' AND wait_event_type = 'Lock'";
        while server.as_login("boss", waits).unwrap() == "0" {}
        let began = std::time::Instant::now();
        assert_eq!(amount(&server, "ann", "'machine-3', 'agents', 1, 0, 3, 3, 0"), 3);
        assert!(began.elapsed() < std::time::Duration::from_secs(1), "{:?}", began.elapsed());
    });
    bob.run("ROLLBACK").unwrap();
}
