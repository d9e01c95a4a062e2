//! A member keeps a transaction open, and with it what requests of others wait for: nobody's sync fails or hangs, nothing that was
//! spent is lost, and who hinders is named.

use std::time::{Duration, Instant};

use fusebox::domain::moment::Moment;
use fusebox::domain::spend::amount::Amount;
use fusebox::store::team::address::Address;
use fusebox::store::team::connection::Connection;
use fusebox::store::team::ledger::Ledger;
use fusebox::store::team::sync::Besides;
use fusebox::team::messages::{Answer, Charge, Reply, Request};

use crate::caps::{cap, joined, used, wait_until};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

const USD: u64 = 1_000_000_000_000;
/// How long a sync takes at most while somebody holds all that it waits for.
const BOUND: Duration = Duration::from_secs(9);

/// A transaction of a member that stays open.
fn open(server: &Postgres, login: &str, calls: &[String]) -> Connection {
    let address = format!("postgres://{login}@/postgres?host={}", server.folder().display());
    let mut connection = Connection::open(&Address::parse(&address).unwrap()).unwrap();
    connection.run("BEGIN").unwrap();
    for call in calls {
        connection.query(&format!("SELECT * FROM fusebox.{call}"), &[]).unwrap();
    }
    connection
}

fn settle(machine: usize, message: &str) -> String {
    let charges = format!(r#"[{{"message": "{message}", "cost_pico_usd": {USD}, "project": "app"}}]"#);
    format!("settle('core', 'machine-{machine}', 0, 1, '{charges}', false)")
}

fn lease() -> String {
    format!("lease('core', 'machine-0', 1, {USD})")
}

/// Settlements of so many machines that they hold each of the sixteen parts of the sums.
fn each_part() -> Vec<String> {
    (0..200).map(|machine| settle(machine, &format!("msg_of_bob_{machine}"))).collect()
}

/// Runs a sync of the real program. Returns what it prints, to both streams.
fn sync(machine: &Machine) -> String {
    let began = Instant::now();
    let output = machine.run(&["sync"]);
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success() && began.elapsed() < BOUND, "{:?} {said}", began.elapsed());
    said
}

fn charged(server: &Postgres, message: &str) -> bool {
    let count = format!("SELECT count(*) FROM fusebox.charge WHERE message = '{message}'");
    server.as_login("ann", &count).unwrap() == "1"
}

#[test]
fn a_lease_in_an_open_transaction_stops_nobodys_settlements_and_renewals() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = joined(&server, "eve", "");
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    sync(&machine);
    let mut bob = open(&server, "bob", &[lease()]);
    // What is leased is spent, told and renewed meanwhile. The slice runs low, so that a further one is asked for.
    server.as_login("boss", "SELECT pg_sleep(0.1)").unwrap();
    machine.spend("msg_dear", 2);
    let said = sync(&machine);
    assert!(said.contains("told team core of ") && charged(&server, "msg_dear"), "{said}");
    assert!(said.contains("bob keeps a transaction open"), "{said}");
    let doctor = machine.shown_in(".", &["doctor"]);
    assert!(doctor.contains("bob keeps a transaction open"), "{doctor}");
    let refused = (0..400).find_map(|_| client.turn().or_else(|| client.prompt()));
    assert!(
        refused.as_deref().is_some_and(|it| it.contains("bob keeps a transaction open in its store")),
        "{refused:?}"
    );
    bob.run("ROLLBACK").unwrap();
    wait_until("work goes on", || client.prompt().is_none());
    assert_eq!(client.turn(), None);
    assert!(!sync(&machine).contains("bob"));
    assert!(!machine.shown_in(".", &["doctor"]).contains("bob"));
}

#[test]
fn whoever_holds_every_part_of_the_sums_hinders_no_settlement() {
    for end in ["COMMIT", "ROLLBACK"] {
        let Some(server) = Postgres::start() else { return };
        cap(&server, 1000.0);
        let mut bob = open(&server, "bob", &[each_part(), vec![lease()]].concat());
        let eve = joined(&server, "eve", "");
        for number in 0..3 {
            eve.spend(&format!("msg_{number}"), 2);
            assert!(sync(&eve).contains("told team core of 1 response"));
        }
        assert_eq!(used(&server), (6.0, 6.0));
        bob.run(end).unwrap();
        let of_bob = if end == "COMMIT" { (200.0, 201.0) } else { (0.0, 0.0) };
        assert_eq!(used(&server), (6.0 + of_bob.0, 6.0 + of_bob.1));
        let project = "SELECT sum(spent_pico_usd) / 1000000000000 = 6 FROM fusebox.project_used
            WHERE period = 'month' AND project = 'git.example/app'";
        assert_eq!(server.as_login("ann", project).unwrap(), "t");
    }
}

#[test]
fn a_response_that_somebody_holds_is_told_once_they_let_go_and_nothing_is_lost() {
    for end in ["COMMIT", "ROLLBACK"] {
        let Some(server) = Postgres::start() else { return };
        cap(&server, 100.0);
        let mut bob = open(&server, "bob", &[settle(0, "msg_held")]);
        let eve = joined(&server, "eve", "");
        eve.spend("msg_held", 2);
        let said = sync(&eve);
        assert!(
            said.contains("told team core of 0 responses") && said.contains("bob keeps a transaction open"),
            "{said}"
        );
        eve.spend("msg_free", 3);
        sync(&eve);
        bob.run(end).unwrap();
        let said = sync(&eve);
        assert!(said.contains("told team core of 2 responses") && !said.contains("bob"), "{said}");
        assert_eq!(used(&server), (5.0, 5.0), "{end}");
    }
}

/// Sends requests as a machine of eve's.
fn ask(ledger: &mut Ledger, requests: &[Request]) -> Vec<Reply> {
    let began = Instant::now();
    let synced = ledger.sync("core", "machine-of-eve", Moment::default(), requests, &Besides::default()).unwrap();
    assert!(began.elapsed() < BOUND, "{:?}", began.elapsed());
    synced.replies
}

#[test]
fn one_request_that_waits_in_vain_undoes_none_of_the_others() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let address = format!("postgres://eve@/postgres?host={}", server.folder().display());
    let mut eve = Ledger::open(&Address::parse(&address).unwrap()).unwrap();
    let lease_of = |number| Request::Lease { number, want: Amount(USD) };
    let renew = Request::Renew { number: 1 };
    let told = |number, message: &str| {
        let charge = Charge { message: message.to_owned(), cost: Amount(USD / 2), ..Charge::default() };
        Request::Settle { number, sequence: 1, charges: vec![charge], closes: false }
    };
    assert!(matches!(ask(&mut eve, &[lease_of(1)])[0].answer, Answer::Reserved { .. }));
    let mut bob = open(&server, "bob", &[settle(0, "msg_held"), lease()]);
    let busy = Answer::Busy { held_by: "bob".to_owned() };
    let replies = ask(&mut eve, &[told(1, "msg_held"), renew.clone()]);
    assert!(replies[0].answer == busy && matches!(replies[1].answer, Answer::Usable { .. }), "{replies:?}");
    let replies = ask(&mut eve, &[told(0, "msg_free"), lease_of(2)]);
    assert!(
        matches!(replies[0].answer, Answer::Settled { sequence: 1, .. }) && replies[1].answer == busy,
        "{replies:?}"
    );
    assert!(charged(&server, "msg_free"));
    bob.run("ROLLBACK").unwrap();
    // What was answered in vain has left nothing behind: the same requests are taken as if they were the first.
    let replies = ask(&mut eve, &[told(1, "msg_held"), renew, lease_of(2)]);
    assert!(matches!(replies[0].answer, Answer::Settled { sequence: 1, .. }), "{replies:?}");
    assert!(matches!(replies[2].answer, Answer::Reserved { .. }), "{replies:?}");
    assert!(charged(&server, "msg_held"));
}

#[test]
fn who_keeps_the_beginning_of_an_epoch_open_is_named_and_nothing_hangs() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    server.take_over();
    let mut bob = open(&server, "bob", &["renew('core', 'machine-0', 1)".to_owned()]);
    let eve = joined(&server, "eve", "");
    eve.spend("msg_1", 2);
    let said = sync(&eve);
    assert!(said.contains("told team core of 0 responses") && said.contains("bob keeps a transaction open"), "{said}");
    bob.run("ROLLBACK").unwrap();
    assert!(sync(&eve).contains("told team core of 1 response"));
}

#[test]
fn an_admin_reads_why_an_order_waits_in_vain() {
    let Some(server) = Postgres::start() else { return };
    let ann = joined(&server, "ann", "");
    server.take_over();
    let _bob = open(&server, "bob", &["renew('core', 'machine-0', 1)".to_owned()]);
    let refused = ann.bad(&["limit", "month=5"]);
    assert!(refused.contains("somebody keeps a transaction open"), "{refused}");
}
