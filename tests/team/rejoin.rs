//! Whatever was spent in a team and not told is told once its machine takes part again with the same login, however it comes back.

use std::fs;

use crate::caps::{RESPONSE, cap, used};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

/// Returns the address of a store for a login with its password.
pub fn address(server: &Postgres, login: &str, password: &str) -> String {
    format!("postgres://{login}:{password}@/postgres?host={}", server.folder().display())
}

/// Gives a login another password.
pub fn set_password(server: &Postgres, login: &str, password: &str) {
    server.as_login("boss", &format!("ALTER ROLE {login} PASSWORD '{password}'")).unwrap();
}

/// Joins with a password; returns what it says, which has to go well.
pub fn join(machine: &Machine<'_>, server: &Postgres, login: &str, password: &str) -> String {
    let joined = machine.run_with(&address(server, login, password), &["join", "core"]);
    let said = String::from_utf8([joined.stdout, joined.stderr].concat()).unwrap();
    assert!(joined.status.success(), "{said}");
    said
}

/// What happens between the store's refusal and the new address.
type Between = fn(&Machine<'_>, &Postgres);

fn leave(machine: &Machine<'_>) {
    let said = machine.bad(&["leave"]);
    assert!(said.contains("until it joins again with the same login"), "{said}");
}

fn write(machine: &Machine<'_>, name: &str, text: &str) {
    fs::write(machine.state().join(name), text).unwrap();
}

const BETWEEN: [(&str, Between); 9] = [
    ("nothing", |_, _| {}),
    ("a sync that is refused", |machine, _| assert!(machine.bad(&["sync"]).contains("does not let this login in"))),
    ("another join", |machine, server| {
        join(machine, server, "bob", "new");
    }),
    ("a leave", |machine, _| leave(machine)),
    ("a join of another login, and its leave", |machine, server| {
        let said = join(machine, server, "eve", "eve");
        assert!(said.contains("was not told"), "{said}");
        assert!(machine.run_with(&address(server, "eve", "eve"), &["leave"]).status.success());
    }),
    ("a join of another login", |machine, server| {
        join(machine, server, "eve", "eve");
    }),
    ("a forged team.json", |machine, _| write(machine, "team.json", "{}")),
    ("a forged team.json, and a leave", |machine, _| {
        write(machine, "team.json", "{}");
        machine.bad(&["leave"]);
    }),
    ("a lost team-machine.json, and a leave", |machine, _| {
        fs::remove_file(machine.state().join("team-machine.json")).unwrap();
        leave(machine);
    }),
];

/// Has the store ask logins for their passwords.
pub fn with_passwords() -> Option<Postgres> {
    let server = Postgres::start()?;
    cap(&server, 100.0);
    ["bob", "eve"].iter().for_each(|login| set_password(&server, login, login));
    let who = "local all bob,eve scram-sha-256\nlocal all all trust\n";
    server.restart_with("listen_addresses = ''\n", who, &[]);
    Some(server)
}

#[test]
fn what_was_not_told_is_told_after_a_join_of_the_same_login() {
    let Some(server) = with_passwords() else { return };
    let mut failed = Vec::new();
    let mut all = 0;
    for (at, (what, between)) in BETWEEN.into_iter().enumerate() {
        set_password(&server, "bob", "bob");
        let machine = Machine::new(&server, "bob");
        join(&machine, &server, "bob", "bob");
        let id = format!("s{at}");
        let client = Client::start(&machine, &id);
        assert_eq!((client.prompt(), client.turn(), client.turn()), (None, None, None), "{what}");
        let told = machine.good(&["sync"]);
        set_password(&server, "bob", "new");
        for _ in 0..3 {
            client.turn();
        }
        between(&machine, &server);
        // What is spent while it takes no part is nobody's.
        let other = format!("other{at}");
        if !machine.state().join("team.json").exists() {
            Client::start(&machine, &other).turn();
        }
        let said = join(&machine, &server, "bob", "new");
        assert!(!said.contains("was not told"), "{what}: {said}");
        client.end();
        machine.good(&["sync"]);
        all += client.turns.get();
        let (spent, committed) = used(&server);
        let expected = all as f64 * RESPONSE;
        if (spent - expected).abs() > 1e-9 || (committed - spent).abs() > 1e-9 {
            failed.push(format!("{what}: {spent} spent, {committed} with what is leased, not {expected}; {told}"));
            all = (spent / RESPONSE).round() as usize;
        }
        assert!(machine.run_with(&address(&server, "bob", "new"), &["leave"]).status.success(), "{what}");
    }
    let others = "SELECT count(*) FROM fusebox.charge WHERE login <> 'bob' OR message LIKE 'msg_other%'";
    assert_eq!(server.as_login("boss", others).unwrap(), "0");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn a_store_that_has_forgotten_what_it_was_told_is_told_again_after_a_join() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = crate::caps::joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn(), client.turn()), (None, None, None));
    client.end();
    machine.good(&["sync"]);
    let all = used(&server);
    let tables = ["charge", "used", "project_used", "lease", "machine"];
    let forgets = tables.map(|table| format!("DELETE FROM fusebox.{table};"));
    server.as_login("boss", &forgets.concat()).unwrap();
    machine.good(&["join", "core"]);
    machine.good(&["sync"]);
    assert_eq!(used(&server), all);
}

#[test]
fn who_joins_again_is_the_same_machine_and_warned_of_nothing() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = Machine::new(&server, "bob");
    machine.good(&["join", "core"]);
    machine.good(&["sync"]);
    server.as_login("boss", "ALTER ROLE bob NOLOGIN").unwrap();
    // Nothing was spent, and nothing is held: another login that joins has nothing to lose.
    let joined = machine.run_with(&address(&server, "eve", ""), &["join", "core"]);
    assert_eq!(String::from_utf8(joined.stderr).unwrap(), "");
    server.as_login("boss", "ALTER ROLE bob LOGIN").unwrap();
    let id = |machine: &Machine<'_>| {
        let text = fs::read_to_string(machine.state().join("team.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["machine"].clone()
    };
    machine.good(&["join", "core"]);
    let first = id(&machine);
    machine.good(&["join", "core"]);
    machine.spend("m1", 1);
    machine.good(&["sync"]);
    // Another spelling of the address is the same store.
    let spelt = format!("postgres://bob@/postgres?host={}/", server.folder().display());
    assert!(machine.run_with(&spelt, &["join", "core"]).status.success());
    assert_eq!(id(&machine), first);
}
