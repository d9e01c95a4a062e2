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

/// Has the server give a statement up that waits for what somebody keeps locked: such a wait ends after two seconds.
fn at_once(statement: &str) -> String {
    format!("SET statement_timeout = '1s'; {statement}")
}

fn amount(server: &Postgres, login: &str, asked: &str) -> i64 {
    server.as_login(login, &reserve(asked)).unwrap().parse().unwrap()
}

/// Returns what is reserved of a kind.
fn reserved(server: &Postgres, kind: &str) -> i64 {
    let reserved = format!("SELECT reserved FROM fusebox.share_use WHERE kind = '{kind}'");
    server.as_login("ann", &reserved).unwrap().parse().unwrap()
}

/// Has a machine be silent for longer by so much.
fn pass(server: &Postgres, machine: &str, time: &str) {
    let earlier = format!(
        "UPDATE fusebox.share SET expires_at = expires_at - interval '{time}', grown_at = grown_at - interval '{time}',
            drains_until = drains_until - interval '{time}' WHERE machine = '{machine}'"
    );
    server.as_login("boss", &earlier).unwrap();
}

#[test]
fn a_share_of_requests_that_has_lapsed_is_reserved_anew_as_far_as_there_is_room() {
    // The same request once more, one for as much, and one for less.
    for (again, room) in [("1, 0, 4, 4", 1), ("2, 0, 4, 4", 1), ("2, 0, 2, 2", 1), ("1, 0, 4, 4", 4), ("2, 0, 2, 2", 4)]
    {
        let Some(server) = team(&["'requests', 4, 60000"]) else { return };
        assert_eq!(amount(&server, "bob", "'machine-1', 'requests', 1, 0, 4, 4, 0"), 4);
        pass(&server, "machine-1", "2 hours");
        assert_eq!(reserved(&server, "requests"), 0);
        let of_eve = 4 - room;
        if of_eve > 0 {
            let asked = format!("'machine-2', 'requests', 1, 0, {of_eve}, {of_eve}, 0");
            assert_eq!(amount(&server, "eve", &asked), of_eve);
        }
        let given = amount(&server, "bob", &format!("'machine-1', 'requests', {again}, 0"));
        let wanted = again.rsplit(' ').next().unwrap().parse::<i64>().unwrap();
        assert_eq!(
            (given, reserved(&server, "requests")),
            (wanted.min(room), of_eve + wanted.min(room)),
            "{again} {room}"
        );
    }
}

#[test]
fn what_has_lapsed_is_confirmed_anew() {
    let Some(server) = team(&["'requests', 4, 60000"]) else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', NULL, NULL, 60000, NULL)").unwrap();
    amount(&server, "bob", "'machine-1', 'requests', 1, 0, 4, 4, 0");
    pass(&server, "machine-1", "2 hours");
    let usable = "SELECT amount, usable FROM fusebox.reserve('core', 'machine-1', 'requests', 2, 0, 3, 3, 0)";
    assert_eq!(server.as_login("bob", usable).unwrap(), "3|0");
}

#[test]
fn no_member_blocks_the_team_for_good() {
    let Some(server) = team(&["'agents', 4, NULL", "'requests', 4, 60000"]) else { return };
    for kind in ["agents", "requests"] {
        // No time is without end, and no amount is unknown.
        for wrong in [
            "1, 0, 1, 1, 86400001",
            "1, 0, 1, 1, 9223372036854775807",
            "1, NULL, 1, 1, 0",
            "1, 0, 1, NULL, 0",
            "NULL, 0, 1, 1, 0",
        ] {
            let refused = server.as_login("bob", &reserve(&format!("'machine-1', '{kind}', {wrong}"))).unwrap_err();
            assert!(refused.contains("a share has a number, amounts up to 1000000"), "{kind} {wrong}: {refused}");
        }
        // A lie counts as much as the limit, once.
        for number in 1..4 {
            server
                .as_login("bob", &reserve(&format!("'machine-1', '{kind}', {number}, 1000000, 0, 0, 86400000")))
                .unwrap();
            assert_eq!(reserved(&server, kind), 4, "{kind}");
        }
        let write_off = format!("SELECT fusebox.write_off_share('core', 'machine-1', '{kind}')");
        let refused = server.as_login("ann", &write_off).unwrap_err();
        assert!(refused.contains("can be written off once"), "{refused}");
    }
    // Once its login is out of the team nothing of it is waited for.
    server.as_login("ann", "SELECT fusebox.set_member('core', 'bob', NULL)").unwrap();
    let expired = "SELECT kind FROM fusebox.open_share WHERE is_expired ORDER BY kind";
    assert_eq!(server.as_login("ann", expired).unwrap(), "agents\nrequests");
    for kind in ["agents", "requests"] {
        let write_off = format!("SELECT fusebox.write_off_share('core', 'machine-1', '{kind}')");
        assert_eq!(server.as_login("ann", &write_off).unwrap(), "4");
        assert_eq!(reserved(&server, kind), 0);
    }
}

#[test]
fn the_agents_of_a_machine_that_was_not_heard_for_its_life_and_its_patience_can_be_written_off() {
    let Some(server) = team(&["'agents', 4, NULL"]) else { return };
    amount(&server, "bob", "'machine-1', 'agents', 1, 3, 3, 3, 3600000");
    let expired = "SELECT is_expired FROM fusebox.open_share";
    let write_off = "SELECT fusebox.write_off_share('core', 'machine-1', 'agents')";
    // A lease lives for a quarter of an hour.
    pass(&server, "machine-1", "70 minutes");
    assert_eq!(server.as_login("ann", expired).unwrap(), "f");
    assert!(server.as_login("ann", write_off).is_err());
    pass(&server, "machine-1", "6 minutes");
    assert_eq!(server.as_login("ann", expired).unwrap(), "t");
    assert_eq!(server.as_login("ann", write_off).unwrap(), "3");
    // Heard again, each that is at work counts again.
    assert_eq!(amount(&server, "bob", "'machine-1', 'agents', 2, 2, 2, 2, 3600000"), 2);
}

#[test]
fn requests_count_until_their_window_has_passed_whatever_the_machine_does_without_the_store() {
    for stale in ["0", "NULL", "300000"] {
        let Some(server) = team(&["'requests', 4, 3600000"]) else { return };
        let asked = format!("'machine-1', 'requests', 1, 0, 4, 4, {stale}");
        amount(&server, "bob", &asked);
        let expired = "SELECT count(*) FROM fusebox.open_share WHERE is_expired";
        let write_off = "SELECT fusebox.write_off_share('core', 'machine-1', 'requests')";
        // The life is over, and the window is not.
        pass(&server, "machine-1", "70 minutes");
        assert_eq!(reserved(&server, "requests"), 4, "{stale}");
        assert_eq!(server.as_login("ann", expired).unwrap(), "0", "{stale}");
        assert!(server.as_login("ann", write_off).is_err(), "{stale}");
        pass(&server, "machine-1", "11 minutes");
        assert_eq!(reserved(&server, "requests"), 0, "{stale}");
    }
}

#[test]
fn a_late_request_does_not_change_for_how_long_the_machine_goes_on_without_the_store() {
    let Some(server) = team(&["'requests', 4, 60000"]) else { return };
    amount(&server, "bob", "'machine-1', 'requests', 2, 0, 4, 4, 3600000");
    amount(&server, "bob", "'machine-1', 'requests', 1, 0, 4, 4, 0");
    assert_eq!(server.as_login("ann", "SELECT stale_ms FROM fusebox.share").unwrap(), "3600000");
    amount(&server, "bob", "'machine-1', 'requests', 2, 0, 4, 4, 0");
    assert_eq!(server.as_login("ann", "SELECT stale_ms FROM fusebox.share").unwrap(), "0");
}

#[test]
fn a_limit_that_is_taken_away_and_set_again_knows_what_was_reserved() {
    let Some(server) = team(&["'agents', 4, NULL"]) else { return };
    amount(&server, "bob", "'machine-1', 'agents', 7, 0, 3, 3, 0");
    server.as_login("ann", "SELECT fusebox.set_shared_limit('core', 'agents', NULL, NULL)").unwrap();
    assert_eq!(server.as_login("bob", &reserve("'machine-1', 'agents', 7, 0, 3, 3, 0")).unwrap(), "");
    assert_eq!(server.as_login("ann", "SELECT count(*) FROM fusebox.open_share").unwrap(), "0");
    server.as_login("ann", "SELECT fusebox.set_shared_limit('core', 'agents', 4, NULL)").unwrap();
    // What it may still use counts, and what it asked before comes late.
    assert_eq!(reserved(&server, "agents"), 3);
    let late = "SELECT number, amount FROM fusebox.reserve('core', 'machine-1', 'agents', 6, 0, 1, 1, 0)";
    assert_eq!(server.as_login("bob", late).unwrap(), "7|3");
    assert_eq!(amount(&server, "bob", "'machine-1', 'agents', 8, 0, 1, 1, 0"), 1);
}

/// How many rows of shares a request reads.
fn read_by(server: &Postgres, asked: &str) -> i64 {
    let read = format!(
        "BEGIN; DO $$ BEGIN PERFORM FROM fusebox.reserve('core', {asked}); END $$;
        SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'share'; COMMIT"
    );
    server.as_login("bob", &read).unwrap().parse().unwrap()
}

#[test]
fn a_request_reads_each_share_that_counts_once_and_none_of_machines_at_rest() {
    let Some(server) = team(&["'agents', 1000, NULL"]) else { return };
    let machines = |number: i64, name: &str, amount: i64| {
        format!(
            "INSERT INTO fusebox.share (team, kind, machine, login, amount, expires_at)
            SELECT 1, 'agents', '{name}-' || n, 'eve', {amount}, clock_timestamp() + interval '1 day'
            FROM generate_series(1, {number}) n; ANALYZE fusebox.share"
        )
    };
    server.as_login("boss", &machines(20_000, "at-rest", 0)).unwrap();
    server.as_login("boss", &machines(100, "at-work", 1)).unwrap();
    amount(&server, "bob", "'machine-1', 'agents', 1, 0, 0, 0, 0");
    let read = read_by(&server, "'machine-1', 'agents', 2, 0, 5, 5, 0");
    assert!((100..150).contains(&read), "{read}");
}

#[test]
fn what_nobody_uses_any_more_is_forgotten_once_no_request_of_it_can_come_late() {
    let Some(server) = team(&["'agents', 9, NULL", "'requests', 9, 60000"]) else { return };
    for (machine, kind, wants) in
        [("given-up", "agents", 0), ("at-work1", "agents", 2), ("lapsed-1", "requests", 2), ("recent-1", "agents", 0)]
    {
        server.as_login("eve", &reserve(&format!("'{machine}', '{kind}', 1, 0, {wants}, {wants}, NULL"))).unwrap();
        if machine != "recent-1" {
            pass(&server, machine, "3 days");
        }
    }
    amount(&server, "bob", "'machine-1', 'agents', 1, 0, 1, 1, 0");
    amount(&server, "bob", "'machine-1', 'requests', 1, 0, 1, 1, 0");
    let left = "SELECT DISTINCT machine FROM fusebox.share ORDER BY machine";
    assert_eq!(server.as_login("ann", left).unwrap(), "at-work1\nmachine-1\nrecent-1");
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
            let synced = ledger.sync("core", "machine-2", Moment::default(), &[lease], &besides).unwrap();
            assert_eq!(synced.shares.iter().map(|share| share.amount).collect::<Vec<_>>(), [2, 2]);
        });
        server.wait_for_lock("eve");
        for kind in ["agents", "requests"] {
            let asked = at_once(&reserve(&format!("'machine-3', '{kind}', 1, 0, 3, 3, 0")));
            assert_eq!(server.as_login("ann", &asked).as_deref(), Ok("3"), "{kind}");
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
            let synced = ledger.sync("core", "machine-2", Moment::default(), &[], &besides).unwrap();
            assert_eq!((synced.shares[0].amount, synced.shares[1].held_by.as_deref()), (2, Some("bob")));
        });
        server.wait_for_lock("eve");
        let asked = at_once(&reserve("'machine-3', 'agents', 1, 0, 3, 3, 0"));
        assert_eq!(server.as_login("ann", &asked).as_deref(), Ok("3"));
    });
    bob.run("ROLLBACK").unwrap();
}
