//! The program's own connection to the store: a machine's leases from end to end, logins, and encryption that is verified.

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use fusebox::domain::moment::Moment;
use fusebox::domain::spend::amount::Amount;
use fusebox::store::team::address::Address;
use fusebox::store::team::ledger::Ledger;
use fusebox::store::team::migrations;
use fusebox::store::team::sync::{Besides, together};
use fusebox::team::machine::Machine;
use fusebox::team::messages::Charge;

use crate::postgres::Postgres;

const USD: u64 = 1_000_000_000_000;

fn at(mono_ms: u64) -> Moment {
    Moment { mono_ms, ..Moment::default() }
}

impl Postgres {
    fn ledger(&self, login: &str) -> Ledger {
        let address = format!("postgres://{login}@/postgres?host={}", self.folder().display());
        Ledger::open(&Address::parse(&address).unwrap()).unwrap()
    }
}

/// Sends what the machine has to send until nothing is left.
fn sync(ledger: &mut Ledger, id: &str, machine: &mut Machine, now: Moment) {
    for _ in 0..20 {
        let requests = together(machine.requests(now));
        if requests.is_empty() {
            return;
        }
        let synced = ledger.sync("core", id, now, &requests, &Besides::default()).unwrap();
        synced.replies.iter().for_each(|reply| machine.apply(reply));
    }
    panic!("{machine:?}");
}

#[test]
fn a_machine_leases_spends_settles_and_gives_back() {
    let Some(server) = Postgres::start() else { return };
    let cap = format!("SELECT fusebox.set_cap('core', 'team', '', 'month', {})", 100 * USD);
    server.as_login("ann", &cap).unwrap();
    let (mut ledger, mut machine) = (server.ledger("bob"), Machine::default());
    machine.ask(Amount(10 * USD));
    sync(&mut ledger, "machine-1", &mut machine, at(0));
    assert_eq!(machine.balance(at(0)), Amount(10 * USD));
    // What a message's id looks like is not the store's affair.
    let message = "it's \"m\" \\ ü".to_owned();
    machine.charge(&Charge { message, cost: Amount(3 * USD), ..Charge::default() }, at(1));
    machine.settle();
    sync(&mut ledger, "machine-1", &mut machine, at(1));
    let caps = ledger.status("core").unwrap();
    let used: Vec<(u64, u64, u64)> =
        caps.iter().map(|cap| (cap.cap.0 / USD, cap.spent.0 / USD, cap.committed.0 / USD)).collect();
    assert_eq!(used, [(100, 3, 10)]);
    assert_eq!(caps[0].contact, "ann");
    // The server is ended and started: the machine goes on with what it knows.
    drop(ledger);
    server.crash();
    server.go_on();
    let mut ledger = server.ledger("bob");
    machine.give_back();
    sync(&mut ledger, "machine-1", &mut machine, at(2));
    assert_eq!(ledger.status("core").unwrap()[0].committed, Amount(3 * USD));
}

#[test]
fn the_schema_is_brought_up_to_date_once() {
    let Some(server) = Postgres::start_empty() else { return };
    let mut ledger = server.ledger("boss");
    assert_eq!((ledger.migrate().unwrap(), ledger.migrate().unwrap()), (migrations().len(), 0));
    // What a later version appends is taken once, too.
    let later = [migrations(), vec!["CREATE TABLE fusebox.later (number integer)".to_owned()]].concat();
    assert_eq!((ledger.migrate_by(&later).unwrap(), ledger.migrate_by(&later).unwrap()), (1, 0));
    assert_eq!(server.as_login("boss", "SELECT max(number) FROM fusebox.migration").unwrap(), later.len().to_string());
    let refused = ledger.status("core").unwrap_err().to_string();
    assert!(refused.contains("boss is no member of a team core"), "{refused}");
}

/// Makes a certificate for `localhost` that signs itself.
fn certificate(folder: &std::path::Path, name: &str) -> bool {
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]);
    openssl.args(["-addext", "subjectAltName=DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"]);
    openssl.args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.pem")]);
    openssl.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
}

#[test]
fn what_leaves_the_machine_is_encrypted_to_a_server_that_is_verified() {
    let Some(server) = Postgres::start() else { return };
    let folder = server.folder().to_path_buf();
    if !certificate(&folder, "own") || !certificate(&folder, "other") {
        server.skip("there is no `openssl` here: `apt-get install openssl`");
        return;
    }
    server.as_login("boss", "ALTER ROLE bob PASSWORD 'p@ss'").unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = format!(
        "listen_addresses = '127.0.0.1'\nport = {port}\nssl = on\nssl_cert_file = '../own.pem'\nssl_key_file = '../own.key'\n"
    );
    server.restart_with(&settings, "local all all trust\nhostssl all all all scram-sha-256\n", &["own.pem", "own.key"]);
    let roots = |name: &str| folder.join(name).display().to_string().replace('/', "%2F");
    let open = |place: &str, rest: &str| {
        let address = format!("postgres://bob:{place}:{port}/postgres{rest}");
        Ledger::open(&Address::parse(&address).unwrap()).err().map(|error| error.to_string())
    };
    let (own, other) = (format!("?sslrootcert={}", roots("own.pem")), format!("?sslrootcert={}", roots("other.pem")));
    assert_eq!(open("p%40ss@localhost", &own), None);
    let refused = [
        // Another certificate signs nothing of the server's, and the certificate is not for the number.
        (open("p%40ss@localhost", &other), "certificate"),
        (open("p%40ss@127.0.0.1", &own), "certificate"),
        (open("wrong@localhost", &own), "password authentication failed"),
        // In the clear the server takes nobody.
        (open("p%40ss@localhost", ""), "no encryption"),
    ];
    for (error, words) in refused {
        let error = error.unwrap();
        assert!(error.contains(words) && !error.contains("p@ss"), "{error}");
    }
    let plain = fs::read_to_string(folder.join("data/postgresql.conf")).unwrap().replace("ssl = on", "ssl = off");
    server.restart_with(&plain, "local all all trust\nhost all all all trust\n", &[]);
    let error = open("p%40ss@localhost", &own).unwrap();
    assert!(error.contains("nothing is sent to it in the clear"), "{error}");
}
