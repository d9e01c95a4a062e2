//! Shares of a team's agents and requests where something comes between: a silent store, a failover, a transaction, a leave, a rest.

use std::thread;
use std::time::{Duration, Instant};

use fusebox::store::team::address::Address;
use fusebox::store::team::connection::Connection;

use crate::caps::{joined, wait_until};
use crate::client::Client;
use crate::postgres::Postgres;

fn limit(server: &Postgres, kind: &str, amount: u64, per_ms: &str) {
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', 1000, 0, 20000000000)").unwrap();
    server.as_login("ann", &format!("SELECT fusebox.set_shared_limit('core', '{kind}', {amount}, {per_ms})")).unwrap();
}

fn reserved(server: &Postgres) -> u64 {
    let sum = "SELECT coalesce(sum(reserved), 0) FROM fusebox.share_use";
    server.as_login("ann", sum).unwrap().parse().unwrap()
}

/// Asks for a subagent, which begins where it may; returns why it may not.
fn spawn(client: &Client, agent: &str) -> Option<String> {
    let answer = client.event("PreToolUse", &call(agent));
    if answer.contains(r#""permissionDecision":"deny""#) {
        return Some(answer);
    }
    client.event("SubagentStart", &format!(r#""agent_id":"{agent}","agent_type":"developer""#));
    None
}

fn call(agent: &str) -> String {
    format!(
        r#""tool_name":"Agent","tool_input":{{"prompt":"go","subagent_type":"developer"}},"tool_use_id":"call-{agent}""#
    )
}

fn end(client: &Client, agent: &str) {
    client.event("SubagentStop", &format!(r#""agent_id":"{agent}","agent_type":"developer""#));
    let report = format!(r#""tool_response":{{"status":"completed","agentId":"{agent}"}}"#);
    client.event("PostToolUse", &format!("{},{report}", call(agent)));
}

#[test]
fn requests_that_are_made_without_the_store_count_once_it_is_heard() {
    let Some(server) = Postgres::start() else { return };
    limit(&server, "requests", 10, "600000");
    let bob = joined(&server, "bob", r#""on_stale":"allow""#);
    let client = Client::start(&bob, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    bob.good(&["sync"]);
    server.crash();
    bob.bad(&["sync"]);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(2) {
        client.event("PreCompact", r#""trigger":"manual""#);
    }
    for turn in 0..20 {
        assert_eq!(client.turn(), None, "{turn}");
    }
    server.go_on();
    bob.good(&["sync"]);
    assert!(client.turn().or_else(|| client.prompt()).is_some(), "more than the limit was used");
}

#[test]
fn who_leaves_gives_back_all_but_what_its_agents_at_work_use() {
    let Some(server) = Postgres::start() else { return };
    limit(&server, "agents", 8, "NULL");
    let bob = joined(&server, "bob", "");
    let client = Client::start(&bob, "s1");
    assert_eq!(client.prompt(), None);
    wait_until("an agent begins", || spawn(&client, "a1").is_none());
    bob.good(&["sync"]);
    assert!(reserved(&server) > 1);
    bob.good(&["leave"]);
    assert_eq!(reserved(&server), 1);
}

#[test]
fn a_session_whose_prompt_is_answered_keeps_no_share_of_the_agents() {
    let Some(server) = Postgres::start() else { return };
    limit(&server, "agents", 8, "NULL");
    let bob = joined(&server, "bob", "");
    let client = Client::start(&bob, "s1");
    assert_eq!(client.prompt(), None);
    wait_until("an agent begins", || spawn(&client, "a1").is_none());
    bob.good(&["sync"]);
    end(&client, "a1");
    client.event("Stop", r#""stop_hook_active":false"#);
    wait_until("all is given back", || reserved(&server) == 0);
    assert_eq!(client.prompt(), None);
    wait_until("the next begins", || spawn(&client, "a2").is_none());
    client.event("Stop", r#""stop_hook_active":false"#);
    bob.good(&["sync"]);
    assert_eq!(reserved(&server), 1 + 1, "one in the background goes on");
}

/// A prompt starts three agents in one batch, with nothing reserved before: as many begin as the limit has room for, and at once.
#[test]
fn agents_that_are_asked_for_together_begin_as_far_as_a_small_limit_goes() {
    let Some(server) = Postgres::start() else { return };
    for limits in [1, 2, 3] {
        limit(&server, "agents", limits, "NULL");
        let bob = joined(&server, "bob", "");
        let client = Client::start(&bob, "s1");
        for round in 0..3 {
            assert_eq!(client.prompt(), None);
            let agents = ["a", "b", "c"].map(|agent| format!("{agent}{round}"));
            let inputs = agents.each_ref().map(|agent| client.input("PreToolUse", &call(agent)));
            let answers = thread::scope(|scope| {
                let asks = inputs.each_ref().map(|input| scope.spawn(|| bob.hook(input)));
                asks.map(|ask| ask.join().unwrap())
            });
            let is_refused = |answer: &String| answer.contains(r#""permissionDecision":"deny""#);
            let begun: Vec<&String> =
                agents.iter().zip(&answers).filter(|(_, answer)| !is_refused(answer)).map(|(agent, _)| agent).collect();
            assert_eq!(begun.len() as u64, limits, "{round}: {answers:?}");
            for agent in begun {
                client.event("SubagentStart", &format!(r#""agent_id":"{agent}","agent_type":"developer""#));
                end(&client, agent);
            }
            client.event("Stop", r#""stop_hook_active":false"#);
            wait_until("all is given back", || reserved(&server) == 0);
        }
        client.end();
        bob.good(&["leave"]);
    }
}

/// Faster than syncs follow each other: a call waits for what the next one brings.
#[test]
fn a_fast_machine_alone_makes_all_the_requests_of_a_window() {
    let Some(server) = Postgres::start() else { return };
    limit(&server, "requests", 12, "600000");
    // As a team has it that nobody has set up otherwise.
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', 600000, 2000, 20000000000)").unwrap();
    let bob = joined(&server, "bob", "");
    let client = Client::start(&bob, "s1");
    assert_eq!(client.prompt(), None);
    let mut answer = None;
    let made = (0..20).take_while(|_| {
        answer = client.turn();
        answer.is_none()
    });
    let made = made.count();
    assert!([11, 12].contains(&made), "{made}: {answer:?}");
}

#[test]
fn who_keeps_a_share_locked_is_named() {
    let Some(server) = Postgres::start() else { return };
    limit(&server, "agents", 8, "NULL");
    let bob = joined(&server, "bob", "");
    let client = Client::start(&bob, "s1");
    assert_eq!(client.prompt(), None);
    let address = format!("postgres://eve@/postgres?host={}", server.folder().display());
    let mut eve = Connection::open(&Address::parse(&address).unwrap()).unwrap();
    eve.run("BEGIN").unwrap();
    eve.query("SELECT * FROM fusebox.reserve('core', 'machine-of-eve', 'agents', 1, 0, 1, 1, 0)", &[]).unwrap();
    let output = bob.run(&["sync"]);
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(said.contains("eve keeps a transaction open"), "{said}");
    let says = "eve keeps a transaction open in its store";
    let refused = (0..8).find_map(|at| spawn(&client, &format!("a{at}"))).unwrap_or_default();
    assert!(refused.contains(says) && refused.contains("subagents at once"), "{refused}");
    eve.run("ROLLBACK").unwrap();
    wait_until("an agent begins", || spawn(&client, "a9").is_none());
}

#[test]
fn after_a_failover_the_reason_says_that_the_store_grants_no_more_yet() {
    let Some(server) = Postgres::start() else { return };
    limit(&server, "agents", 8, "NULL");
    let bob = joined(&server, "bob", "");
    let client = Client::start(&bob, "s1");
    assert_eq!(client.prompt(), None);
    bob.good(&["sync"]);
    server.as_login("ann", "SELECT fusebox.set_team('core', NULL, 60000, 0, NULL)").unwrap();
    server.take_over();
    bob.good(&["sync"]);
    let refused = (0..8).find_map(|at| spawn(&client, &format!("a{at}"))).unwrap_or_default();
    assert!(refused.contains("grants no more of its 8 subagents at once yet"), "{refused}");
    assert!(!refused.contains("is used up"), "{refused}");
}

#[test]
fn a_write_off_that_finds_nothing_names_shares_too() {
    let Some(server) = Postgres::start() else { return };
    limit(&server, "agents", 8, "NULL");
    let said = joined(&server, "ann", "").bad(&["write-off", "00000000"]);
    assert!(said.contains("no expired lease or share of a machine 00000000 counts"), "{said}");
}
