//! A team's caps stop agents: real hooks on several machines, and a real PostgreSQL.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant, SystemTime};

use fusebox::domain::scope::Scope;
use fusebox::domain::spend::amount::Amount;
use fusebox::store::Store;
use serde_json::{Value, json};

use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

/// What one response of these tests costs, with 20 tokens of output.
pub const RESPONSE: f64 = 0.00584;
/// How long something is waited for that a process in the background does.
pub const PATIENCE: Duration = Duration::from_secs(30);
const DAY_SECS: u64 = 86_400;

/// Waits until something is so.
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
    }
}

/// How long the day of the caps still lasts.
pub fn until_midnight() -> Duration {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    Duration::from_secs(DAY_SECS - since_1970.as_secs() % DAY_SECS)
}

/// Plays what depends on the sums of one day; anew where midnight has fallen into it, whatever came of it then.
pub fn within_a_day(play: impl Fn()) {
    let left = until_midnight();
    let played = catch_unwind(AssertUnwindSafe(&play));
    match played {
        _ if until_midnight() > left => play(),
        Ok(()) => {}
        Err(cause) => resume_unwind(cause),
    }
}

/// Waits until something is let through, which says why not for as long as it is not.
pub fn wait_for_room(what: &str, refusal: impl Fn() -> Option<String>) {
    let began = Instant::now();
    while let Some(reason) = refusal() {
        assert!(began.elapsed() < PATIENCE, "{what}: {reason}");
    }
}

/// A machine that has joined the team, with the terms of its policy.
pub fn joined<'a>(server: &'a Postgres, login: &'a str, terms: &str) -> Machine<'a> {
    let machine = Machine::new(server, login);
    machine.good(&["join", "core"]);
    let policy = machine.home.path().join(".claude/fusebox.json");
    assert!(fs::read_to_string(&policy).unwrap().contains(r#""team": "core""#));
    if !terms.is_empty() {
        fs::write(
            &policy,
            format!(r#"{{"team":{{"name":"core",{terms}}},"main":{{"grace_turns":0}},"session":{{"grace_turns":0}}}}"#),
        )
        .unwrap();
    }
    machine
}

/// Returns what the team has spent, and what it has spent or leased, in dollars.
pub fn used(server: &Postgres) -> (f64, f64) {
    let sums = "SELECT coalesce(sum(spent_pico_usd), 0), coalesce(sum(committed_pico_usd), 0) FROM fusebox.used
        WHERE login = '' AND period = 'month'";
    let row = server.as_login("ann", sums).unwrap();
    let usd = |text: &str| text.parse::<f64>().unwrap() / 1e12;
    row.split_once('|').map_or((0.0, 0.0), |(spent, committed)| (usd(spent), usd(committed)))
}

pub fn cap(server: &Postgres, usd: f64) {
    let set = format!("SELECT fusebox.set_cap('core', 'team', '', 'month', {})", (usd * 1e12) as u64);
    server.as_login("ann", &set).unwrap();
}

#[test]
fn three_machines_share_one_cap_and_all_stop_and_go_on_once_it_is_raised() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', NULL, 0, 20000000000)").unwrap();
    cap(&server, 0.3);
    let machines = ["ann", "bob", "eve"].map(|login| joined(&server, login, ""));
    let clients: Vec<Client> =
        machines.iter().zip(["s1", "s2", "s3"]).map(|(machine, id)| Client::start(machine, id)).collect();
    let mut at_work: Vec<&Client> = clients.iter().collect();
    for client in &clients {
        assert_eq!(client.prompt(), None);
    }
    let (mut made, mut told) = (0, Vec::new());
    while !at_work.is_empty() {
        made += at_work.len();
        assert!(made < 100, "{told:?}");
        at_work.retain(|client| match client.turn() {
            Some(answer) => {
                told.push(answer);
                false
            }
            None => true,
        });
        let (spent, committed) = used(&server);
        assert!(spent <= 0.3 && committed <= 0.3, "{spent} {committed}");
    }
    // All that fits was made, but for what each machine keeps for a request and a report.
    assert!(made as f64 * RESPONSE <= 0.3 && made > 25, "{made}");
    for answer in &told {
        // All of the cap is spent or leased, and little of it is not spent.
        assert!(answer.contains("the cap of the month of team core ") && answer.contains("/0.30 USD"), "{answer}");
        assert!(answer.contains("ask ann@core: `fusebox team grant +0.15 --period month`"), "{answer}");
        assert!(answer.contains("it resets at ") && answer.contains("ask ann@core"), "{answer}");
    }
    for client in &clients {
        let blocked = client.prompt().unwrap();
        assert!(blocked.contains("team core") && blocked.contains("ask ann@core"), "{blocked}");
    }
    cap(&server, 3.0);
    for client in &clients {
        wait_until("work goes on", || client.prompt().is_none());
        assert_eq!(client.turn(), None);
    }
    clients.iter().for_each(Client::end);
    // What is left of the leases goes back.
    wait_until("leases are given back", || {
        let (spent, committed) = used(&server);
        (committed - spent).abs() < 1e-9
    });
    let (spent, _) = used(&server);
    assert!((spent - (made + 3) as f64 * RESPONSE).abs() < 1e-9, "{spent} {made}");
}

/// Starts a session that works, with leases of one second, and cuts the network.
fn cut_off<'a>(server: &'a Postgres, machine: &'a Machine<'a>) -> Client<'a> {
    let client = Client::start(machine, "s1");
    assert_eq!(client.prompt(), None);
    assert_eq!(client.turn(), None);
    server.crash();
    client
}

/// Works until the leases, which live a second, are over; returns the first answer that stops the agent.
fn work_for(client: &Client, time: Duration) -> Option<String> {
    let began = Instant::now();
    while began.elapsed() < time {
        if let Some(answer) = client.turn() {
            return Some(answer);
        }
    }
    None
}

fn with_short_leases() -> Option<Postgres> {
    let server = Postgres::start()?;
    server.as_login("ann", "SELECT fusebox.set_team('core', NULL, 1000, 0, NULL)").unwrap();
    cap(&server, 100.0);
    Some(server)
}

#[test]
fn with_the_network_cut_deny_refuses_once_the_lease_is_over() {
    let Some(server) = with_short_leases() else { return };
    let machine = joined(&server, "bob", r#""on_stale":"deny""#);
    let client = cut_off(&server, &machine);
    let answer = work_for(&client, PATIENCE).unwrap();
    let says = ["the store of team core has not been heard since 20", "(`on_stale` is `deny`)", "`fusebox team sync`"];
    assert!(says.iter().all(|says| answer.contains(says)) && !answer.contains("exhausted"), "{answer}");
    assert!(client.prompt().unwrap().contains("`fusebox team sync` shows why"));
    server.go_on();
    assert_eq!(client.prompt(), None);
    assert_eq!(client.turn(), None);
}

#[test]
fn with_the_network_cut_warn_spends_the_lease_for_a_while_and_says_so_once() {
    let Some(server) = with_short_leases() else { return };
    let machine = joined(&server, "bob", r#""on_stale":"warn","max_staleness_ms":3000"#);
    let client = cut_off(&server, &machine);
    let began = Instant::now();
    let answer = work_for(&client, PATIENCE).unwrap();
    let says = ["the store of team core has not been heard since 20", "(`on_stale` is `warn`)"];
    assert!(says.iter().all(|says| answer.contains(says)) && !answer.contains("exhausted"), "{answer}");
    assert!(began.elapsed() > Duration::from_secs(3), "{:?}", began.elapsed());
    let log = fs::read_to_string(machine.state().join("execution-limits.log")).unwrap();
    assert_eq!(log.matches("what is left of this machine's lease is spent for a while").count(), 1, "{log}");
}

#[test]
fn with_the_network_cut_allow_goes_on_and_says_so_once() {
    let Some(server) = with_short_leases() else { return };
    let machine = joined(&server, "bob", r#""on_stale":"allow""#);
    let client = cut_off(&server, &machine);
    assert_eq!(work_for(&client, Duration::from_secs(8)), None);
    let log = fs::read_to_string(machine.state().join("execution-limits.log")).unwrap();
    assert_eq!(log.matches("work goes on without the team's cap").count(), 1, "{log}");
    // What was spent meanwhile is told once the store is there again.
    server.go_on();
    machine.good(&["sync"]);
    let (spent, _) = used(&server);
    assert!((spent - client.turns.get() as f64 * RESPONSE).abs() < 1e-9, "{spent}");
}

#[test]
fn an_agent_takes_its_session_out_of_no_team() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!(client.prompt(), None);
    let commands = [
        "team leave",
        "team limit month=none",
        "team join other",
        "team sync --background",
        "team grant +5",
        "team write-off 11111111",
    ];
    for (at, command) in commands.iter().enumerate() {
        let call =
            format!(r#""tool_name":"Bash","tool_input":{{"command":"fusebox {command}"}},"tool_use_id":"b{at}""#);
        let answer = client.event("PreToolUse", &call);
        assert!(answer.contains(r#""permissionDecision":"deny""#), "{command}: {answer}");
    }
    // The policy is pinned: a file without the key changes nothing for this session.
    fs::write(machine.home.path().join(".claude/fusebox.json"), "{}").unwrap();
    server.as_login("ann", "SELECT fusebox.set_team('core', NULL, 1000, 0, NULL)").unwrap();
    machine.good(&["sync"]);
    server.crash();
    let path = machine.home.path().join(".claude/fusebox.json");
    assert!(!fs::read_to_string(path).unwrap().contains("team"));
    client.prompts.set(7);
    let store = Store::open_for(&machine.state(), None).unwrap();
    assert_eq!(store.session("s1").unwrap().unwrap().team.unwrap().name, "core");
}

#[test]
fn a_lease_that_an_agent_writes_into_the_machines_file_is_not_spent() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 10.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    let left = || {
        let store = Store::open_for(&machine.state(), None).unwrap();
        store.shared_budget(Scope::Team, "core").unwrap().unwrap().left_of_team()
    };
    machine.good(&["sync"]);
    let before = left();
    assert!(before > Amount::ZERO && before <= Amount::from_usd(2.5), "{before}");
    let path = machine.state().join("team-machine.json");
    let mut known: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    for lease in known["leases"].as_array_mut().unwrap().iter_mut().filter(|lease| lease["stage"] == "usable") {
        lease["amount"] = json!(1_000_000_000_000_000_u64);
        lease["lives_ms"] = json!(1_000_000_000_000_u64);
    }
    fs::write(&path, known.to_string()).unwrap();
    machine.good(&["sync"]);
    assert!(left() <= Amount::from_usd(2.5), "{}", left());
    server.crash();
    machine.bad(&["sync"]);
    assert!(left() <= Amount::from_usd(2.5), "{}", left());
}

/// Joining once more, be it the same team, loses nothing of what was spent and strands nothing of what is held.
#[test]
fn who_joins_anew_tells_first_what_was_spent() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    for turns in 1..4 {
        assert_eq!((client.prompt(), client.turn()), (None, None), "{turns}");
        let again = machine.good(&["join", "core"]);
        // The key is there already: no file is shown as it was changed.
        let says = ["sessions that start from now on", "no hook of Fusebox is registered here"];
        assert!(again.lines().zip(says).all(|(line, says)| line.starts_with(says)), "{again}");
        assert_eq!(again.lines().count(), says.len(), "{again}");
        let (spent, committed) = used(&server);
        let expected = RESPONSE * f64::from(turns);
        assert!((spent - expected).abs() < 1e-9 && (committed - spent).abs() < 1e-9, "{turns}: {spent} {committed}");
    }
}

#[test]
fn a_repository_names_no_team_and_status_shows_ones_own() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = Machine::new(&server, "bob");
    let policy = machine.home.path().join("app/.claude");
    fs::create_dir_all(&policy).unwrap();
    fs::write(policy.join("fusebox.json"), r#"{"team":"other"}"#).unwrap();
    let checked = machine.shown_in("app", &["config", "check"]);
    assert!(checked.contains("team") && checked.contains("only the user's or the managed file"), "{checked}");
    machine.good(&["join", "core"]);
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    let shown = machine.shown_in(".", &["status"]);
    assert!(shown.contains("team core, as its store was heard at 20") && shown.contains("/100.00 USD"), "{shown}");
    let json: Value = serde_json::from_str(&machine.shown_in(".", &["status", "--json"])).unwrap();
    assert_eq!(
        (&json["budgets"][0]["scope"], &json["budgets"][0]["cap"]),
        (&json!("team"), &json!("100.000000000000"))
    );
    let other = Client::start(&machine, "s2");
    assert_eq!((other.prompt(), other.turn()), (None, None));
    client.end();
    let left = machine.good(&["leave"]);
    let says = "session s2 began in the team and spends nothing more until `fusebox reload --all` takes this up";
    assert!(left.contains("has left team core") && left.contains(says) && !left.contains("session s1"), "{left}");
    let refused = other.turn();
    assert!(refused.is_some(), "without its store nothing is spent");
    machine.shown_in(".", &["reload", "--all"]);
    assert_eq!((other.prompt(), other.turn()), (None, None), "as the person has it");
    assert!(machine.bad(&["status"]).contains("has joined no team"));
    // Both had spent one response by then.
    let (spent, committed) = used(&server);
    assert!((spent - 2.0 * RESPONSE).abs() < 1e-9 && (committed - spent).abs() < 1e-9, "{spent} {committed}");
}
