//! Slips at `fusebox team`: each is told in a sentence, with what to do, and changes nothing.

use serde_json::{Value, json};

use crate::caps::joined;
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

#[test]
fn a_machine_that_takes_part_is_moved_by_nothing_but_leaving() {
    let Some(server) = Postgres::start() else { return };
    let ann = Machine::new(&server, "ann");
    ann.good(&["join", "core"]);
    let before = std::fs::read(ann.state().join("team.json")).unwrap();
    for command in [["init", "more"], ["join", "other"]] {
        let refused = ann.bad(&command);
        assert!(refused.contains("this machine takes part in team core"), "{command:?}: {refused}");
        assert!(refused.contains("`fusebox team leave`"), "{command:?}: {refused}");
    }
    assert_eq!(std::fs::read(ann.state().join("team.json")).unwrap(), before);
    assert_eq!(server.as_login("boss", "SELECT count(*) FROM fusebox.team WHERE name = 'more'").unwrap(), "0");
    // The same team once more takes another address.
    ann.good(&["join", "core"]);
}

#[test]
fn no_slip_shows_an_error_of_the_database() {
    let Some(server) = Postgres::start() else { return };
    let (ann, bob) = (Machine::new(&server, "ann"), Machine::new(&server, "bob"));
    let new = Machine::new(&server, "zoe");
    ann.good(&["join", "core"]);
    bob.good(&["join", "core"]);
    let long = "x".repeat(201);
    let slips: [(&Machine, &[&str], &str); 17] = [
        (&new, &["init", "my team"], "`my team` cannot be the name of a team"),
        (&new, &["init", ""], "`` cannot be the name of a team"),
        (&new, &["init", "core"], "only the login that owns the database"),
        (&new, &["join", "core"], "zoe is no member of a team core"),
        (&new, &["join", "a/b"], "`a/b` cannot be the name of a team"),
        (&bob, &["init", "core"], "only the login that owns the database"),
        (&ann, &["invite", "nobody-here"], "no login of the database is called nobody-here"),
        (&ann, &["invite", ""], "no login of the database is called"),
        (&ann, &["invite", "nobody-here", "--remove"], "nobody-here takes no part in team core"),
        (&ann, &["group", "my group", "--add", "bob"], "`my group` cannot be the name of a group"),
        (&ann, &["group", "ops", "--add", "bobb"], "bobb takes no part in team core"),
        (&ann, &["group", "ops"], "no group of team core is called ops"),
        (&ann, &["limit", "day=1", "--group", "my group"], "no group of team core is called my group"),
        (&ann, &["limit", "day=1", "--user", ""], "takes no part in team core"),
        (&ann, &["grant", "bobb", "+5"], "the nearest is bob"),
        (&ann, &["contact", &long], "a contact is one line of 200 characters at most"),
        (&bob, &["limits", "--json", "extra"], "unexpected argument"),
    ];
    for (machine, command, says) in slips {
        let refused = machine.bad(command);
        assert!(refused.contains(says), "{command:?}: {refused}");
        let raw = ["constraint", "violates", "relation", "syntax", "SQL", " refuses: "];
        assert!(!raw.iter().any(|raw| refused.contains(raw)), "{command:?}: {refused}");
    }
    // One that may log in and has no right yet is let in, and its lack is told.
    server.as_login("boss", "CREATE ROLE carl LOGIN").unwrap();
    let invited = ann.run(&["invite", "carl"]);
    let warned = String::from_utf8(invited.stderr).unwrap();
    assert!(invited.status.success() && warned.contains("`GRANT fusebox_member TO carl`"), "{warned}");
}

/// What only an admin may do says so, and by what one becomes it: with the right in the database, or without.
#[test]
fn a_member_that_gives_an_admins_order_is_told_who_may() {
    let Some(server) = Postgres::start() else { return };
    let bob = Machine::new(&server, "bob");
    bob.good(&["join", "core"]);
    let orders: [&[&str]; 8] = [
        &["invite", "eve"],
        &["invite", "eve", "--admin"],
        &["invite", "eve", "--remove"],
        &["contact", "me"],
        &["group", "ops", "--add", "bob"],
        &["limit", "day=5"],
        &["grant", "+5"],
        &["report", "--audit"],
    ];
    for right in ["REVOKE fusebox_admin FROM bob", "GRANT fusebox_admin TO bob"] {
        server.as_login("boss", right).unwrap();
        for order in orders {
            let refused = bob.bad(order);
            assert!(
                refused.contains("admin") && refused.contains("`fusebox team invite LOGIN --admin`"),
                "{right}, {order:?}: {refused}"
            );
        }
    }
}

/// Where the store is not heard, what stays there is said, and by what an admin clears it; nothing where there is nothing to clear.
#[test]
fn who_leaves_while_the_store_is_down_reads_what_stays() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'team', '', 'month', 100000000000000)").unwrap();
    let [bob, eve] = ["bob", "eve"].map(|login| Machine::new(&server, login));
    for machine in [&bob, &eve] {
        machine.good(&["join", "core"]);
        machine.spend("m1", 1);
        machine.good(&["sync"]);
    }
    let client = Client::start(&bob, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    bob.good(&["sync"]);
    let machine = server.as_login("boss", "SELECT id FROM fusebox.machine WHERE login = 'bob'").unwrap();
    server.crash();
    let said = [&bob, &eve].map(|machine| machine.bad(&["leave"]));
    for part in ["the team's store was not told", "not in the team's sums"] {
        assert!(said.iter().all(|said| said.contains(part)), "{said:?}");
    }
    assert!(said[0].contains("counts as spent, until an admin writes it off"), "{}", said[0]);
    assert!(said[0].contains(&format!("`fusebox team write-off {}`", &machine[..8])), "{}", said[0]);
    assert!(said[1].contains("it has leased nothing") && !said[1].contains("write-off"), "{}", said[1]);
    assert!(bob.bad(&["sync"]).contains("has joined no team"));
    server.go_on();
}

/// A session keeps its policy until somebody has it take up another.
#[test]
fn a_session_of_a_team_that_was_left_reads_that_and_what_takes_it_up() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'team', '', 'month', 100000000000000)").unwrap();
    let bob = joined(&server, "bob", "");
    let client = Client::start(&bob, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    bob.good(&["leave"]);
    let says = "this session began in team core, which this machine has left";
    let blocked = client.prompt().unwrap();
    for shown in [blocked, bob.shown_in(".", &["status"]), bob.shown_in(".", &["explain", "s1"])] {
        assert!(shown.contains(says) && shown.contains("`fusebox reload --all`"), "{shown}");
        assert!(!shown.contains("never heard") && !shown.contains("team sync"), "{shown}");
    }
    bob.shown_in(".", &["reload", "--all"]);
    assert_eq!((client.prompt(), client.turn()), (None, None));
}

#[test]
fn a_machine_that_only_observes_is_told_that_no_cap_stops_it() {
    let Some(server) = Postgres::start() else { return };
    let bob = Machine::new(&server, "bob");
    let says = "`mode` is `observe` here: the team's caps stop nothing, and what is spent is told";
    assert!(!bob.good(&["join", "core"]).contains(says) && !bob.good(&["status"]).contains(says));
    let own = bob.home.path().join(".claude/fusebox.json");
    std::fs::write(&own, r#"{"mode": "observe", "team": "core"}"#).unwrap();
    assert!(bob.good(&["join", "core"]).contains(says) && bob.good(&["status"]).contains(says));
    // And so it is: the cap is used up, and the prompt is sent.
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'team', '', 'month', 1)").unwrap();
    bob.spend("m1", 5);
    bob.good(&["sync"]);
    let client = Client::start(&bob, "s1");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    assert!(bob.good(&["report"]).contains("USD in all"));
}

/// What blocks waits for what a sync brings: until then there is no trip to be observed.
#[test]
fn where_limits_only_observe_a_lease_that_is_yet_to_come_is_no_trip() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'team', '', 'month', 100000000000000)").unwrap();
    let policies = [r#"{"mode": "observe", "team": "core"}"#, r#"{"team": "core"}"#];
    let machines = policies.map(|policy| {
        let bob = joined(&server, "bob", "");
        std::fs::write(bob.home.path().join(".claude/fusebox.json"), policy).unwrap();
        bob
    });
    for bob in &machines {
        for id in ["s1", "s2"] {
            let client = Client::start(bob, id);
            assert_eq!((client.prompt(), client.turn(), client.turn()), (None, None, None));
            client.end();
        }
        let log = bob.shown_in(".", &["log"]);
        assert!(!log.contains("team core"), "{log}");
    }
    // What the store has said to be used up is one.
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'team', '', 'month', 1)").unwrap();
    let [observes, _] = machines;
    observes.good(&["sync"]);
    let client = Client::start(&observes, "s3");
    assert_eq!(client.prompt(), None);
    observes.good(&["sync"]);
    assert_eq!((client.turn(), client.turn()), (None, None));
    let log = observes.shown_in(".", &["log"]);
    assert!(log.contains("the cap of the month of team core"), "{log}");
}

#[test]
fn what_helps_is_said_where_no_team_is_there_yet_and_where_one_is_left_behind() {
    let Some(server) = Postgres::start() else { return };
    let said = Machine::new(&server, "nobody").bad(&["init", "core"]);
    assert!(said.contains("`fusebox team init core`") && !said.contains("team join"), "{said}");
    let bob = joined(&server, "bob", "");
    let says = "left, still in team core: `fusebox team leave` ";
    let left = bob.shown_in(".", &["uninstall"]);
    assert!(left.contains(says), "{left}");
    server.crash();
    let hints = [&["status"], &["sync"]].map(|command| bob.bad(command).split_once("hint: ").map(|it| it.1.to_owned()));
    assert!(hints[0].is_some() && hints[0] == hints[1], "{hints:?}");
    server.go_on();
    bob.good(&["leave"]);
    let left = bob.shown_in(".", &["uninstall"]);
    assert!(!left.contains("team core"), "{left}");
}

#[test]
fn an_admin_lists_every_cap_with_whom_it_was_set_for_and_what_is_granted() {
    let Some(server) = Postgres::start() else { return };
    let (ann, bob) = (Machine::new(&server, "ann"), Machine::new(&server, "bob"));
    ann.good(&["join", "core"]);
    bob.good(&["join", "core"]);
    assert!(ann.good(&["limits"]).contains("team core has no cap"));
    ann.good(&["limit", "month=100"]);
    ann.good(&["limit", "day=20", "--each-user"]);
    ann.good(&["group", "ops", "--add", "bob", "--add", "eve"]);
    ann.good(&["limit", "day=5", "--group", "ops"]);
    ann.good(&["limit", "month=30", "--project", "https://git.example/app"]);
    ann.good(&["limit", "week=9", "--user", "eve"]);
    ann.good(&["grant", "bob", "+2"]);
    bob.spend("m1", 1);
    bob.good(&["sync"]);
    // What a cap comes to while a grant stands is said.
    let said = ann.good(&["limit", "day=6", "--group", "ops"]);
    assert!(said.contains("cap of each login of group ops for a day: 6.00 USD\n"), "{said}");
    assert!(
        said.contains("for bob it is 8.00 USD until 20") && said.contains("with 2.00 USD that was granted"),
        "{said}"
    );
    assert!(!said.contains("for eve"), "{said}");
    let limits = |machine: &Machine| {
        let told: Value = serde_json::from_str(&machine.good(&["limits", "--json"])).unwrap();
        let text = |limit: &Value, key: &str| limit[key].as_str().unwrap().trim_end_matches("0000000000").to_owned();
        let keys = ["scope", "of", "set_for", "period", "cap_usd", "granted_usd", "spent_usd"];
        let rows = told["limits"].as_array().unwrap().iter();
        rows.map(|limit| json!(keys.map(|key| text(limit, key)))).collect::<Vec<_>>()
    };
    let of_all = [
        json!(["team", "", "team", "month", "100.00", "0.00", "1.00"]),
        json!(["project", "git.example/app", "project", "month", "30.00", "0.00", "1.00"]),
    ];
    let own = json!(["user", "bob", "group ops", "day", "8.00", "2.00", "1.00"]);
    let others = [
        json!(["user", "ann", "each user", "day", "20.00", "0.00", "0.00"]),
        own.clone(),
        json!(["user", "eve", "group ops", "day", "6.00", "0.00", "0.00"]),
        json!(["user", "eve", "eve", "week", "9.00", "0.00", "0.00"]),
    ];
    assert_eq!(limits(&ann), [&of_all[..], &others].concat());
    assert_eq!(limits(&bob), [&of_all[..], &[own]].concat());
    // One that binds nobody stays in sight of who set it.
    ann.good(&["limit", "day=7", "--user", "bob"]);
    ann.good(&["limit", "day=7", "--user", "eve"]);
    let shown = ann.good(&["limits"]);
    assert!(shown.lines().any(|line| line.starts_with("(nobody) ") && line.contains("group ops")), "{shown}");
    assert!(!bob.good(&["limits"]).contains("nobody"));
    assert!(bob.good(&["status"]).lines().any(|line| line.starts_with("bob ") && line.contains("9.00 USD")));
}

#[test]
fn small_words_of_the_teams_commands_are_right() {
    let Some(server) = Postgres::start_empty() else { return };
    let boss = Machine::new(&server, "boss");
    let made = boss.good(&["init", "core"]);
    for next in [
        "`GRANT fusebox_member TO LOGIN`",
        "`fusebox team invite LOGIN`",
        "`fusebox team limit month=USD`",
        "no hook of Fusebox",
    ] {
        assert!(made.contains(next), "{next}: {made}");
    }
    for (written, asked) in
        [("ask Ann in #money", "Ann in #money"), ("Ask  Ann", "Ann"), ("askew", "askew"), ("ask", "ask")]
    {
        let said = boss.good(&["contact", written]);
        assert!(said.contains(&format!("reads: ask {asked}\n")), "{written}: {said}");
    }
    for (limit, named) in [
        ("agents=1", "1 subagent at once"),
        ("requests=1/1m", "1 model request in 1m"),
        ("agents=2", "2 subagents at once"),
    ] {
        let said = boss.good(&["limit", limit]);
        assert!(said.ends_with(&format!("{named}\neach machine goes by it from its next sync on\n")), "{said}");
    }
    server.as_login("boss", "CREATE ROLE dora LOGIN").unwrap();
    boss.good(&["invite", "dora"]);
    boss.good(&["group", "devs", "--add", "dora"]);
    boss.good(&["limit", "day=5", "--group", "devs"]);
    boss.good(&["group", "devs", "--remove", "dora"]);
    let limits = boss.good(&["limits"]);
    assert!(limits.contains("(nobody)") && limits.contains("group devs"), "{limits}");
    boss.spend("m1", 1);
    boss.good(&["sync"]);
    let id = server.as_login("boss", "SELECT left(id, 8) FROM fusebox.machine").unwrap();
    let members = boss.good(&["members"]);
    assert!(members.lines().any(|line| line.starts_with("boss ") && line.trim_end().ends_with(&id)), "{members}");
    let listed: Value = serde_json::from_str(&boss.good(&["members", "--json"])).unwrap();
    assert_eq!(listed["members"][0]["machine_ids"], json!([id]));
    server.crash();
    let refused = boss.bad(&["status"]);
    assert!(refused.contains("cannot be reached") && refused.contains("`fusebox status`"), "{refused}");
    server.go_on();
}
