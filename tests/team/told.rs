//! What people read of a team's caps: who is blocked by which, whom to ask, as of when, and each of that once.

use std::fs;

use crate::caps::{cap, joined};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

/// A machine whose agent and prompts bob's cap of the day has stopped.
fn blocked(server: &Postgres) -> Machine<'_> {
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', NULL, 0, NULL)").unwrap();
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'user', 'bob', 'day', 30000000000)").unwrap();
    let machine = joined(server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!(client.prompt(), None);
    while client.turn().is_none() {}
    assert!(client.prompt().is_some());
    machine
}

#[test]
fn who_is_blocked_reads_by_which_cap_and_a_grant_says_what_blocks_still() {
    let Some(server) = Postgres::start() else { return };
    let (ann, bob) = (Machine::new(&server, "ann"), Machine::new(&server, "bob"));
    ann.good(&["join", "core"]);
    bob.good(&["join", "core"]);
    ann.good(&["contact", "ann@core"]);
    ann.good(&["limit", "day=2", "--user", "bob"]);
    ann.good(&["limit", "month=3"]);
    assert!(!bob.good(&["status"]).contains("blocked"));
    bob.spend("m1", 5);
    bob.good(&["sync"]);
    let shown = bob.good(&["status"]);
    let own = "you are blocked: bob's cap of the day in team core is used up, 5.00/2.00 USD; it resets at 20";
    assert!(
        shown.contains(own) && shown.contains("ask ann@core: `fusebox team grant bob +4.00 --period day`"),
        "{shown}"
    );
    let of_all = "you are blocked: the cap of the month of team core is used up, 5.00/3.00 USD; it resets at 20";
    assert!(
        shown.contains(of_all) && shown.contains("ask ann@core: `fusebox team grant +3.00 --period month`"),
        "{shown}"
    );
    let granted = ann.good(&["grant", "bob", "+10"]);
    assert!(granted.contains("cap of bob for this day: 12.00 USD, was 2.00 USD"), "{granted}");
    let still = "bob is still blocked: the cap of the month of team core is used up, 5.00/3.00 USD";
    assert!(granted.contains(still) && granted.contains("`fusebox team grant +3.00 --period month`"), "{granted}");
    assert!(!granted.contains("bob's cap"), "{granted}");
    let shown = bob.good(&["status"]);
    assert!(!shown.contains(own) && shown.contains(of_all), "{shown}");
    let granted = ann.good(&["grant", "+10"]);
    assert!(!granted.contains("blocked"), "{granted}");
    assert!(!bob.good(&["status"]).contains("blocked"));
    // A grant to the team says whom a cap of their own blocks still, and which project.
    ann.good(&["limit", "day=1", "--user", "bob"]);
    ann.good(&["limit", "day=1", "--project", "git.example/app"]);
    ann.good(&["limit", "week=4"]);
    ann.good(&["grant", "bob", "+1"]);
    let granted = ann.good(&["grant", "+1", "--period", "month"]);
    for still in [
        "everyone is still blocked: the cap of the week of team core is used up, 5.00/4.00 USD",
        "work in it is still blocked: the cap of the day of project git.example/app in team core is used up",
    ] {
        assert!(granted.contains(still), "{granted}");
    }
    ann.good(&["limit", "day=none", "--user", "bob"]);
    ann.good(&["limit", "day=1", "--each-user"]);
    let granted = ann.good(&["grant", "+1"]);
    assert!(!granted.contains("eve is still blocked"), "{granted}");
}

#[test]
fn a_block_that_a_grant_has_lifted_is_not_said_any_more() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 0.04);
    let machine = blocked(&server);
    assert!(machine.shown_in(".", &["status"]).contains("prompt blocked: bob's cap of the day in team core"));
    server.as_login("ann", "SELECT fusebox.grant_more('core', 'bob', NULL, 1000000000000)").unwrap();
    machine.good(&["sync"]);
    for command in ["status", "report"] {
        let shown = machine.shown_in(".", &[command]);
        // A trip keeps the cap that it was of.
        let now = shown.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
        assert!(!now.contains("prompt blocked") && !now.contains("0.0300 USD"), "{shown}");
    }
}

/// A cap is never passed: mostly less is left of it than the next request takes.
#[test]
fn a_block_is_said_as_long_as_too_little_is_left_for_the_next_request() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', NULL, 0, NULL)").unwrap();
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'user', 'bob', 'day', 47000000000)").unwrap();
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!(client.prompt(), None);
    while client.turn().is_none() {}
    assert!(client.prompt().is_some());
    client.end();
    machine.good(&["sync"]);
    let left = "SELECT 47000000000 - sum(cost_pico_usd) FROM fusebox.charge";
    assert!(server.as_login("boss", left).unwrap().trim().parse::<f64>().unwrap() > 0.0, "nothing is left");
    for command in [&["status"][..], &["report"], &["explain", "s1"]] {
        let shown = machine.shown_in(".", command);
        assert!(!shown.contains("nothing holds its next prompt"), "{shown}");
        assert!(shown.contains("ask ann@core"), "{shown}");
    }
    let blocked = machine.good(&["status"]);
    let said = "you are blocked: bob's cap of the day in team core is at ";
    assert!(blocked.contains(said) && blocked.contains(" to come; it resets at "), "{blocked}");
    let still = Client::start(&machine, "s1").prompt();
    assert!(still.as_ref().is_some_and(|said| said.contains("to come")), "{still:?}");
}

#[test]
fn when_a_cap_resets_and_whom_to_ask_is_said_once_in_a_message() {
    let Some(server) = Postgres::start() else { return };
    let machine = blocked(&server);
    let client = Client::start(&machine, "s2");
    let answers = [client.prompt().unwrap(), machine.shown_in(".", &["resume", "s1"])];
    let shown = [&["status"][..], &["explain", "s2"], &["report"]].map(|command| machine.shown_in(".", command));
    let of_blocks = shown.iter().map(|shown| {
        let (_, block) = shown.split_once("prompt blocked: ").unwrap();
        block.split("\n\n").next().unwrap().split("\nsession ").next().unwrap().to_owned()
    });
    for text in answers.iter().cloned().chain(of_blocks) {
        assert_eq!((text.matches("ask ann@core").count(), text.matches("00:00").count()), (1, 1), "{text}");
        // Whoever set it is the team's admin, and no administrator of this machine.
        assert!(!text.contains("managed") && !text.contains("administrator"), "{text}");
    }
}

#[test]
fn budgets_say_as_of_when_their_store_was_heard_and_when_they_begin_anew() {
    let Some(server) = Postgres::start() else { return };
    let machine = blocked(&server);
    for command in ["status", "report"] {
        let shown = machine.shown_in(".", &[command]);
        assert!(shown.contains("team core, bob, as its store was heard at 20"), "{shown}");
        assert!(shown.contains("max_cost_usd_per_day begins anew 20"), "{shown}");
    }
    machine.shown_in(".", &["report", "--html", "report.html"]);
    let page = fs::read_to_string(machine.home.path().join("report.html")).unwrap();
    assert!(page.contains(r#""id":"core, bob, as its store was heard at 20"#), "{}", page.len());
    assert!(page.contains(r#" 00:00 UTC, ask ann@core: `fusebox team grant bob +0.02 --period day`""#));
}

#[test]
fn who_joins_where_no_hook_is_registered_reads_what_registers_it() {
    let Some(server) = Postgres::start() else { return };
    let machine = Machine::new(&server, "bob");
    let joined = machine.good(&["join", "core"]);
    assert!(joined.contains("no hook of Fusebox is registered here") && joined.contains("`fusebox init"), "{joined}");
    machine.shown_in(".", &["init", "--scope", "user"]);
    let joined = machine.good(&["join", "core"]);
    assert!(!joined.contains("no hook"), "{joined}");
}

/// A client that was killed tells nobody that it has ended.
#[test]
fn an_admin_reads_who_holds_what_of_a_shared_limit_and_what_a_write_off_does_not_give_up() {
    let Some(server) = Postgres::start() else { return };
    let (ann, bob) = (Machine::new(&server, "ann"), Machine::new(&server, "bob"));
    ann.good(&["join", "core"]);
    bob.good(&["join", "core"]);
    ann.good(&["limit", "requests=60/1m", "agents=8", "month=10"]);
    let id = "11111111-killed-laptop";
    let holds = ["'agents', 1, 0, 2, 2", "'requests', 1, 0, 52, 52"]
        .map(|asked| format!("SELECT fusebox.reserve('core', '{id}', {asked}, 900000);"));
    server.as_login("bob", &holds.concat()).unwrap();
    server.as_login("bob", &format!("SELECT * FROM fusebox.lease('core', '{id}', 1, 2000000000000)")).unwrap();
    let shown = ann.good(&["status"]);
    let row = |kind: &str| {
        let is_it = |line: &&str| line.starts_with("11111111 ") && line.contains(kind);
        shown.lines().find(is_it).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(row("requests").starts_with("11111111 bob requests 52 count no more from 20"), "{shown}");
    assert!(row("agents").starts_with("11111111 bob agents 2 can be written off from 20"), "{shown}");
    assert!(!bob.good(&["status"]).contains("11111111"), "a member is told of none");
    let kept = [
        "52 requests of bob: not given up; count no more from 20",
        "2 agents of bob: not given up; can be written off from 20",
        "lease 11111111/1 of bob: 2.00 USD is not given up; that can be done from 20",
    ];
    let refused = ann.bad(&["write-off", "11111111"]);
    assert!(kept.iter().all(|kept| refused.contains(kept)), "{refused}");
    server.as_login("boss", "UPDATE fusebox.lease SET expires_at = clock_timestamp()").unwrap();
    let given_up = ann.good(&["write-off", "11111111"]);
    assert!(given_up.contains("lease 11111111/1 of bob: 2.00 USD given up"), "{given_up}");
    assert!(kept[..2].iter().all(|kept| given_up.contains(kept)) && !given_up.contains(kept[2]), "{given_up}");
}
