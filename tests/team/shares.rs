//! Machines of a team share subagents at once and model requests: real hooks, and a real PostgreSQL.

use std::cell::{Cell, RefCell};
use std::fs;

use crate::caps::{PATIENCE, joined, wait_for_room, wait_until};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

/// A client whose agents begin and end.
struct Lead<'a> {
    client: Client<'a>,
    id: &'a str,
    started: Cell<usize>,
    /// The agents, each with the call that waits for its end.
    at_work: RefCell<Vec<(String, String)>>,
}

impl<'a> Lead<'a> {
    fn start(machine: &'a Machine<'a>, id: &'a str) -> Lead<'a> {
        let client = Client::start(machine, id);
        assert_eq!(client.prompt(), None);
        Lead { client, id, started: Cell::new(0), at_work: RefCell::default() }
    }

    /// Asks for a subagent, which begins where it may; returns why it may not. Where that stops the main agent, a person types on, as
    /// they do: with a lease of a second a machine under load has not always heard the store.
    fn spawn(&self) -> Option<String> {
        let number = self.started.get();
        self.started.set(number + 1);
        let (agent, call) = (format!("{}-a{number}", self.id), format!("{}-c{number}", self.id));
        let asks = format!(
            r#""tool_name":"Agent","tool_input":{{"prompt":"go","subagent_type":"developer"}},"tool_use_id":"{call}""#
        );
        let answer = self.client.event("PreToolUse", &asks);
        if answer.contains(r#""permissionDecision":"deny""#) {
            if answer.contains(r#""continue":false"#) {
                self.client.prompt();
            }
            return Some(answer);
        }
        self.client.event("SubagentStart", &format!(r#""agent_id":"{agent}","agent_type":"developer""#));
        self.at_work.borrow_mut().push((agent, asks));
        None
    }

    /// Ends the subagent that began last.
    fn end_one(&self) {
        let (agent, call) = self.at_work.borrow_mut().pop().unwrap();
        self.client.event("SubagentStop", &format!(r#""agent_id":"{agent}","agent_type":"developer""#));
        let report = format!(r#""tool_response":{{"status":"completed","agentId":"{agent}"}}"#);
        self.client.event("PostToolUse", &format!("{call},{report}"));
    }

    fn count(&self) -> usize {
        self.at_work.borrow().len()
    }
}

/// Returns a figure of the store.
fn figure(server: &Postgres, statement: &str) -> i64 {
    server.as_login("ann", statement).unwrap().parse().unwrap()
}

fn reserved(server: &Postgres) -> i64 {
    figure(server, "SELECT coalesce(sum(reserved), 0) FROM fusebox.share_use")
}

fn team(server: &Postgres, agents: u64) {
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', NULL, 0, 20000000000)").unwrap();
    server.as_login("ann", &format!("SELECT fusebox.set_shared_limit('core', 'agents', {agents}, NULL)")).unwrap();
}

#[test]
fn three_machines_share_four_agents_and_each_may_have_all_of_them_while_the_others_rest() {
    let Some(server) = Postgres::start() else { return };
    team(&server, 4);
    let machines = ["ann", "bob", "eve"].map(|login| joined(&server, login, ""));
    let leads: Vec<Lead> =
        machines.iter().zip(["s1", "s2", "s3"]).map(|(machine, id)| Lead::start(machine, id)).collect();
    let at_work = || leads.iter().map(Lead::count).sum::<usize>();
    let mut refused = Vec::new();
    for round in 0..3 {
        for lead in &leads {
            refused.extend(lead.spawn());
            assert!(at_work() <= 4 && reserved(&server) <= 4, "{round}: {} {}", at_work(), reserved(&server));
        }
    }
    assert_eq!(at_work(), 4, "{refused:?}");
    for answer in &refused {
        let says = ["of the 4 subagents at once of team core is used up", "4/4 are reserved", "ask ann@core for more"];
        assert!(says.iter().all(|says| answer.contains(says)), "{answer}");
        assert!(
            answer.contains("`fusebox team limit agents=N`") && answer.contains("when one of them ends"),
            "{answer}"
        );
    }
    // What ends on one machine begins on another.
    leads[0].end_one();
    wait_for_room("an agent takes the room", || leads[2].spawn());
    assert_eq!((at_work(), reserved(&server) <= 4), (4, true));
    for lead in &leads {
        (0..lead.count()).for_each(|_| lead.end_one());
        lead.client.end();
    }
    wait_until("all is given back", || reserved(&server) == 0);
    let alone = Lead::start(&machines[1], "s4");
    for _ in 0..4 {
        wait_for_room("one machine has all", || alone.spawn());
        assert!(reserved(&server) <= 4);
    }
    assert!(alone.spawn().is_some());
    assert_eq!(alone.count(), 4);
}

#[test]
fn a_raised_limit_lets_agents_begin_without_a_restart_and_a_lower_one_holds_as_they_end() {
    let Some(server) = Postgres::start() else { return };
    team(&server, 1);
    let (ann, bob) = (joined(&server, "ann", ""), joined(&server, "bob", ""));
    let lead = Lead::start(&bob, "s1");
    wait_for_room("the first begins", || lead.spawn());
    assert!(lead.spawn().is_some());
    let said = ann.good(&["limit", "agents=3"]);
    assert!(said.contains("agents of the whole team: 3 subagents at once"), "{said}");
    for _ in 0..2 {
        wait_for_room("there is room", || lead.spawn());
    }
    ann.good(&["limit", "agents=1"]);
    bob.good(&["sync"]);
    assert_eq!((lead.count(), reserved(&server)), (3, 3), "agents at work go on");
    lead.end_one();
    bob.good(&["sync"]);
    assert_eq!(reserved(&server), 2);
    assert!(lead.spawn().is_some());
    let limits = ann.good(&["limits"]);
    assert!(limits.contains("agents") && limits.contains("RESERVED"), "{limits}");
    let json = ann.good(&["limits", "--json"]);
    assert!(json.contains(r#""kind": "agents""#) && json.contains(r#""reserved": 2"#), "{json}");
    // Without the limit nothing is counted, and as many may begin as the machine's own limits let through.
    ann.good(&["limit", "agents=none"]);
    bob.good(&["sync"]);
    assert_eq!(lead.spawn(), None);
    assert_eq!(figure(&server, "SELECT count(*) FROM fusebox.open_share"), 0);
}

#[test]
fn a_limit_on_the_agents_of_all_sessions_of_a_machine_holds_beside_the_teams() {
    let Some(server) = Postgres::start() else { return };
    team(&server, 4);
    let bob = joined(&server, "bob", "");
    let policy = r#"{"team":"core","user":{"max_parallel_subagents":1}}"#;
    fs::write(bob.home.path().join(".claude/fusebox.json"), policy).unwrap();
    let (one, other) = (Lead::start(&bob, "s1"), Lead::start(&bob, "s2"));
    wait_for_room("the first begins", || one.spawn());
    let answer = other.spawn().unwrap();
    assert!(answer.contains("subagents at once of all sessions of this user 1/1"), "{answer}");
    one.end_one();
    wait_for_room("the other begins", || other.spawn());
    assert!(one.spawn().is_some());
}

#[test]
fn what_a_lost_machine_has_reserved_counts_until_an_admin_writes_it_off() {
    let Some(server) = Postgres::start() else { return };
    team(&server, 2);
    server.as_login("ann", "SELECT fusebox.set_team('core', NULL, 1000, 0, NULL)").unwrap();
    let (ann, bob) = (joined(&server, "ann", r#""on_stale":"deny""#), joined(&server, "bob", r#""on_stale":"deny""#));
    let (lost, other) = (Lead::start(&bob, "s1"), Lead::start(&ann, "s2"));
    for _ in 0..2 {
        wait_for_room("it begins", || lost.spawn());
    }
    // From here on nothing of the machine is heard.
    fs::remove_file(bob.state().join("team.json")).unwrap();
    assert!(other.spawn().is_some());
    wait_until("its share has expired", || ann.good(&["status"]).contains("expired shares"));
    assert!(other.spawn().is_some(), "its agents may be at work");
    let id = server.as_login("ann", "SELECT machine FROM fusebox.open_share WHERE login = 'bob'").unwrap();
    let said = ann.good(&["write-off", &id[..8]]);
    assert!(said.contains("2 agents of bob: given up"), "{said}");
    wait_for_room("there is room", || other.spawn());
    let audit = "SELECT by_login, subject, before, after FROM fusebox.audit WHERE what = 'write_off' AND subject LIKE '%agents'";
    assert_eq!(server.as_login("ann", audit).unwrap(), format!("ann|bob {id} agents|2|0"));
}

#[test]
fn without_the_store_agents_begin_as_the_policy_says() {
    for (terms, refuses) in [(r#""on_stale":"deny""#, true), (r#""on_stale":"allow""#, false)] {
        let Some(server) = Postgres::start() else { return };
        team(&server, 1);
        server.as_login("ann", "SELECT fusebox.set_team('core', NULL, 1000, 0, NULL)").unwrap();
        let bob = joined(&server, "bob", terms);
        let lead = Lead::start(&bob, "s1");
        wait_for_room("the first begins", || lead.spawn());
        server.crash();
        bob.bad(&["sync"]);
        let began = std::time::Instant::now();
        let mut answer = lead.spawn();
        while answer.is_some() != refuses {
            assert!(began.elapsed() < PATIENCE, "{terms}: {answer:?}");
            answer = lead.spawn();
        }
        assert!(
            answer.is_none_or(|answer| answer.contains("the store of team core has not been heard since")),
            "{terms}"
        );
    }
}

#[test]
fn two_machines_make_no_more_requests_in_a_window_than_the_team_may() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', NULL, 0, 20000000000)").unwrap();
    server.as_login("ann", "SELECT fusebox.set_shared_limit('core', 'requests', 12, 600000)").unwrap();
    let machines = ["ann", "bob"].map(|login| joined(&server, login, ""));
    let clients: Vec<Client> =
        machines.iter().zip(["s1", "s2"]).map(|(machine, id)| Client::start(machine, id)).collect();
    let (mut made, mut told) = (0, Vec::new());
    let mut at_work: Vec<&Client> = clients.iter().collect();
    at_work.retain(|client| {
        let blocked = client.prompt();
        made += usize::from(blocked.is_none());
        told.extend(blocked);
        told.is_empty()
    });
    while !at_work.is_empty() {
        at_work.retain(|client| match client.turn() {
            Some(answer) => {
                told.push(answer);
                false
            }
            None => {
                made += 1;
                true
            }
        });
        assert!(made <= 12 && reserved(&server) <= 12, "{made} {} {told:?}", reserved(&server));
    }
    assert!(made >= 8, "{made} {told:?}");
    for answer in &told {
        assert!(answer.contains("of the 12 model requests in 10m of team core is used up"), "{answer}");
        assert!(answer.contains("`fusebox team limit requests=N/10m`"), "{answer}");
    }
    // Once a machine rests its share counts on for a window: it may have used it.
    clients.iter().for_each(Client::end);
    machines.iter().for_each(|machine| {
        machine.good(&["sync"]);
    });
    assert!(reserved(&server) >= made as i64, "{} {made}", reserved(&server));
}

/// While nothing is at work a machine has nothing leased: the next prompt asks for it.
#[test]
fn what_the_next_prompt_leases_is_not_said_to_block_it() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'team', '', 'month', 5000000000000)").unwrap();
    server.as_login("ann", "SELECT fusebox.set_shared_limit('core', 'requests', 5, 600000)").unwrap();
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!(client.prompt(), None);
    while client.turn().is_none() {}
    client.end();
    machine.good(&["sync"]);
    for command in [&["status"][..], &["report"], &["explain", "s1"]] {
        let shown = machine.shown_in(".", command);
        assert!(shown.contains("of the 5 model requests in 10m of team core"), "{shown}");
        assert!(!shown.contains("is leased") && !shown.contains("blocked by max_cost"), "{shown}");
    }
}
