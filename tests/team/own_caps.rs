//! What a machine's own files say of caps beside its team's, and by how much a team's cap can be passed.

use std::fs;

use crate::caps::{RESPONSE, cap, joined, used, wait_until};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

/// How many tokens a dear response writes, and what it costs in dollars.
const DEAR_OUTPUT: u64 = 2_000;
const DEAR: f64 = 0.04544;

/// A machine of a team with this cap, and with this policy of its own.
fn with_policy<'a>(server: &'a Postgres, policy: &str) -> Machine<'a> {
    let machine = joined(server, "bob", "");
    fs::write(machine.home.path().join(".claude/fusebox.json"), policy).unwrap();
    machine
}

/// Works, and tells the store after each response, until the agent is stopped. Returns how many responses it made, and why.
fn work(machine: &Machine, client: &Client) -> (usize, String) {
    assert_eq!(client.prompt(), None);
    for _ in 0..60 {
        if let Some(answer) = client.turn() {
            return (client.turns.get(), answer);
        }
        machine.good(&["sync"]);
    }
    panic!("nothing stops it")
}

#[test]
fn a_looser_cap_of_ones_own_raises_nothing() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 0.06);
    let policy = r#"{"team":"core","team_budget_usd":50,"user_budget_usd":50,"session":{"max_cost_usd":50,"grace_turns":0},
        "user":{"max_cost_usd_per_month":50},"project":{"max_cost_usd_per_day":50},"main":{"grace_turns":0}}"#;
    let machine = with_policy(&server, policy);
    let (made, answer) = work(&machine, &Client::start(&machine, "s1"));
    assert!(answer.contains("the cap of the month of team core ") && answer.contains("/0.0600 USD"), "{answer}");
    assert!(made as f64 * RESPONSE <= 0.06, "{made}");
}

#[test]
fn a_tighter_cap_of_ones_own_holds_beside_the_teams() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let cases = [
        ("team_budget_usd", "team core: `team_budget_usd` of this machine is used up for the month"),
        ("user_budget_usd", "max_cost_usd_per_day"),
    ];
    for (key, says) in cases {
        let (before, _) = used(&server);
        // The team's counts what was spent before, too.
        let own = if key == "team_budget_usd" { before + 0.03 } else { 0.03 };
        let policy =
            format!(r#"{{"team":"core","{key}":{own},"session":{{"grace_turns":0}},"main":{{"grace_turns":0}}}}"#);
        let machine = with_policy(&server, &policy);
        let (made, answer) = work(&machine, &Client::start(&machine, key));
        assert!(answer.contains(says), "{answer}");
        assert!(made > 1, "{key}: {made}");
        machine.good(&["sync"]);
        assert!(used(&server).0 - before <= 0.03, "{key}");
        machine.good(&["leave"]);
    }
}

/// What is spent unheard counts for it as well, however often the store is asked in vain.
#[test]
fn a_tighter_cap_of_ones_own_holds_while_the_store_is_silent() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let policy = r#"{"team":"core","team_budget_usd":0.03,"session":{"grace_turns":0},"main":{"grace_turns":0}}"#;
    let machine = with_policy(&server, policy);
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    machine.good(&["sync"]);
    server.crash();
    let answer = (0..60).find_map(|_| {
        let answer = client.turn();
        machine.bad(&["sync"]);
        answer
    });
    let says = "team core: `team_budget_usd` of this machine is used up for the month";
    assert!(answer.as_deref().is_some_and(|answer| answer.contains(says)), "{answer:?}");
    let made = client.turns.get();
    assert!(made > 2 && made as f64 * RESPONSE <= 0.03, "{made}");
    server.go_on();
    machine.good(&["sync"]);
    assert!(used(&server).0 <= 0.03, "{:?}", used(&server));
}

#[test]
fn a_session_that_no_file_binds_to_the_joined_team_says_so_each_time() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = joined(&server, "bob", "");
    let start = |id: &str| {
        let home = machine.home.path().display();
        let input = format!(
            r#"{{"session_id":"{id}","transcript_path":"{home}/{id}.jsonl","cwd":"{home}","hook_event_name":"SessionStart","source":"startup"}}"#
        );
        machine.hook(&input)
    };
    let says = "this machine has joined team core, and no own file names it: its caps do not bind this session";
    assert!(!start("s1").contains("its caps do not bind"));
    machine.good(&["sync"]);
    fs::write(machine.home.path().join(".claude/fusebox.json"), r#"{"team":null}"#).unwrap();
    for id in ["s2", "s3"] {
        let answer = start(id);
        assert!(answer.contains(says), "{answer}");
    }
    machine.good(&["leave"]);
    assert!(!start("s4").contains("its caps do not bind"));
}

/// Just before nothing is left, a response costs eight times what was expected.
#[test]
fn a_response_that_costs_more_than_expected_passes_no_cap() {
    let Some(server) = Postgres::start() else { return };
    let own = 0.3;
    cap(&server, own);
    let machine = joined(&server, "bob", r#""on_stale":"deny""#);
    let client = Client::start(&machine, "s1");
    assert_eq!(client.prompt(), None);
    let mut spent = 0.0;
    for turn in 0..60 {
        let is_dear = turn == 0 || own - spent < DEAR;
        client.output.set(if is_dear { DEAR_OUTPUT } else { 20 });
        spent += if is_dear { DEAR } else { RESPONSE };
        if client.turn().is_some() {
            break;
        }
        machine.good(&["sync"]);
    }
    machine.good(&["sync"]);
    let (told, committed) = used(&server);
    assert!((told - spent).abs() < 1e-9, "{told} {spent}");
    assert!(told <= own && committed <= own && told > own / 2.0, "{told} {committed}");
}

/// `on_stale: allow`: the cap is passed, and by no more than what was spent while the store was silent.
#[test]
fn allow_passes_a_cap_by_no_more_than_was_spent_unheard() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', NULL, 1000, 0, NULL)").unwrap();
    let own = 0.3;
    cap(&server, own);
    let machine = joined(&server, "bob", r#""on_stale":"allow""#);
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    server.crash();
    client.output.set(DEAR_OUTPUT);
    let mut unheard = 0.0;
    while unheard <= own {
        unheard += DEAR;
        if client.turn().is_some() {
            wait_until("the lease is over", || client.prompt().is_none());
        }
    }
    server.go_on();
    machine.good(&["sync"]);
    let (spent, _) = used(&server);
    assert!(spent > own && spent <= own + unheard, "{spent} {unheard}");
    assert!((spent - unheard - RESPONSE).abs() < 1e-9, "{spent} {unheard}");
}

/// Returns a machine that was heard, has given all back, and whose store is gone since: a sync has found that, or none has asked yet.
fn at_rest_without_store<'a>(server: &'a Postgres, terms: &str, has_asked: bool) -> Machine<'a> {
    let machine = joined(server, "bob", terms);
    let client = Client::start(&machine, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    client.end();
    machine.good(&["sync"]);
    server.crash();
    if has_asked {
        machine.bad(&["sync"]);
    }
    assert!(machine.shown_in(".", &["doctor"]).contains("nothing is leased"));
    machine
}

#[test]
fn a_machine_at_rest_goes_on_without_the_store_at_once_where_the_policy_allows_it() {
    for has_asked in [true, false] {
        let Some(server) = Postgres::start() else { return };
        cap(&server, 100.0);
        let machine = at_rest_without_store(&server, r#""on_stale":"allow""#, has_asked);
        let client = Client::start(&machine, "s2");
        assert_eq!((client.prompt(), client.turn(), client.turn()), (None, None, None), "{has_asked}");
        client.end();
        let log = fs::read_to_string(machine.state().join("execution-limits.log")).unwrap();
        assert_eq!(log.matches("work goes on without the team's cap").count(), 1, "{log}");
        server.go_on();
        machine.good(&["sync"]);
        let (spent, committed) = used(&server);
        assert!((spent - 3.0 * RESPONSE).abs() < 1e-9 && (committed - spent).abs() < 1e-9, "{spent} {committed}");
    }
}

#[test]
fn a_cap_that_was_used_up_when_the_store_was_heard_is_not_passed_at_once() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 0.001);
    let machine = joined(&server, "bob", r#""on_stale":"allow""#);
    let client = Client::start(&machine, "s1");
    assert!((0..9).any(|_| client.prompt().or_else(|| client.turn()).is_some()));
    machine.good(&["sync"]);
    server.crash();
    machine.bad(&["sync"]);
    let blocked = client.prompt().unwrap();
    assert!(blocked.contains("cap of the month") || blocked.contains("has not been heard"), "{blocked}");
}

#[test]
fn where_nothing_is_leased_no_message_says_that_a_lease_is_spent() {
    for on_stale in ["warn", "deny"] {
        let Some(server) = Postgres::start() else { return };
        cap(&server, 100.0);
        let machine = at_rest_without_store(&server, &format!(r#""on_stale":"{on_stale}""#), true);
        let blocked = Client::start(&machine, "s2").prompt().unwrap();
        assert!(blocked.contains("nothing is leased here") && !blocked.contains("lease is spent"), "{blocked}");
    }
}
