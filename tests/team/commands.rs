//! `fusebox team` in the real program, against a real PostgreSQL: two machines tell one team what they spend.

#[cfg(unix)]
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::client::Client;
use crate::machine::{Machine, fusebox};
use crate::postgres::Postgres;

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn two_machines_tell_one_team_what_they_spend_and_each_response_once() {
    let Some(server) = Postgres::start_empty() else { return };
    for login in ["ann", "bob"] {
        server.as_login("boss", &format!("CREATE ROLE {login} LOGIN")).unwrap();
    }
    let boss = Machine::new(&server, "boss");
    assert!(boss.bad(&["status"]).contains("this machine has joined no team"));
    assert!(boss.good(&["init", "core"]).contains("its tables are made"));
    server.as_login("boss", "GRANT fusebox_member TO ann, bob").unwrap();
    let (ann, bob) = (Machine::new(&server, "ann"), Machine::new(&server, "bob"));
    assert!(bob.bad(&["join", "core"]).contains("bob is no member of a team core"));
    for login in ["ann", "bob"] {
        assert_eq!(boss.good(&["invite", login]), format!("{login} takes part as member in team core\n"));
    }
    ann.good(&["join", "core"]);
    bob.good(&["join", "core"]);
    #[cfg(unix)]
    assert_eq!(mode(&bob.state().join("team.json")), 0o600);
    assert!(boss.good(&["limit", "month=100"]).contains("from its next sync on"));
    assert!(bob.bad(&["limit", "month=500"]).contains("only an admin of the team may do that"));

    bob.spend("msg_1", 3);
    bob.spend("msg_2", 4);
    assert!(bob.good(&["sync"]).starts_with("told team core of 2 responses\n"));
    assert!(bob.good(&["sync"]).starts_with("told team core of 0 responses\n"));
    // A session that has moved brings a response that is known, and one that has grown.
    ann.spend("msg_1", 3);
    ann.spend("msg_2", 5);
    ann.good(&["sync"]);
    let shown = bob.good(&["status"]);
    assert!(shown.contains("8.00 USD") && shown.contains("100.00 USD"), "{shown}");
    let by_user = boss.good(&["report"]);
    assert!(by_user.contains("8.00 USD in all"), "{by_user}");
    let by_project = boss.good(&["report", "--by", "project"]);
    assert!(
        by_project.contains("git.example/app") && !by_project.contains("https") && !by_project.contains("secret"),
        "{by_project}"
    );
    let programs = |arguments: &[&str]| serde_json::from_str::<Value>(&boss.good(arguments)).unwrap();
    let spent = programs(&["report", "--by", "project", "--days", "7", "--json"]);
    let group = json!({"name": "git.example/app", "responses": 2, "cost_usd": "8.000000000000"});
    let expected = json!({"version": 1, "team": "core", "days": 7, "by": "project", "cost_usd": "8.000000000000", "groups": [group]});
    assert_eq!(spent, expected);
    let csv = boss.good(&["report", "--by", "project", "--csv"]);
    assert_eq!(csv, "project,responses,cost_usd\ngit.example/app,2,8.000000000000\n");
    let listed = programs(&["members", "--json"]);
    let member = |at: usize, key: &str| listed["members"][at][key].clone();
    assert_eq!((member(0, "login"), member(0, "role")), (json!("ann"), json!("member")));
    assert_eq!((member(1, "machines"), member(2, "role")), (json!(1), json!("admin")), "{listed}");
    // A member sees their own.
    assert!(ann.good(&["report", "--by", "model"]).contains("0.00 USD in all"));
    let members = ann.good(&["members"]);
    assert!(members.contains("boss") && members.contains("admin") && members.contains("bob"), "{members}");
}

#[test]
fn what_could_not_be_told_is_told_later() {
    let Some(server) = Postgres::start() else { return };
    let bob = Machine::new(&server, "bob");
    bob.good(&["join", "core"]);
    bob.spend("msg_1", 3);
    server.crash();
    assert!(bob.bad(&["sync"]).contains("cannot be reached"));
    server.go_on();
    assert!(bob.good(&["sync"]).starts_with("told team core of 1 response\n"));
    server.take_over();
    // The new epoch is told again what it knows, and charges it once.
    bob.spend("msg_2", 1);
    bob.good(&["sync"]);
    let spent = "SELECT count(*), sum(cost_pico_usd) / 1000000000000 > 3.9 FROM fusebox.charge";
    assert_eq!(server.as_login("ann", spent).unwrap(), "2|t");
}

/// Anybody may run it, an agent too, and say what is in its environment.
#[test]
fn what_was_spent_is_told_to_the_store_that_was_joined_whatever_the_environment_names() {
    let Some(server) = Postgres::start_empty() else { return };
    let boss = Machine::new(&server, "boss");
    boss.good(&["init", "core"]);
    boss.spend("m1", 3);
    let told = boss.run_with("postgres://nobody@127.0.0.1:1/none?sslmode=disable", &["sync"]);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    assert!(boss.good(&["report"]).contains("3.00 USD in all"), "{}", boss.good(&["report"]));
}

#[test]
fn an_agent_gives_no_orders_and_a_file_that_others_read_is_refused() {
    let Some(server) = Postgres::start() else { return };
    let bob = Machine::new(&server, "bob");
    bob.good(&["join", "core"]);
    for arguments in [
        &["limit", "day=5"][..],
        &["group", "ops", "--add", "bob"],
        &["grant", "bob", "+5"],
        &["write-off", "11111111"],
    ] {
        let mut by_agent = Command::new(fusebox());
        by_agent.arg("team").args(arguments).env("FUSEBOX_HOME", bob.state()).env("CLAUDECODE", "1");
        let refused = String::from_utf8(by_agent.output().unwrap().stderr).unwrap();
        assert!(refused.contains("is a person's to run"), "{refused}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let path = bob.state().join("team.json");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(bob.bad(&["sync"]).contains("can be read by others"));
    }
}

#[test]
fn an_admin_grants_more_and_writes_off_what_a_lost_machine_holds() {
    let Some(server) = Postgres::start() else { return };
    let (ann, bob) = (Machine::new(&server, "ann"), Machine::new(&server, "bob"));
    ann.good(&["join", "core"]);
    bob.good(&["join", "core"]);
    ann.good(&["limit", "day=10", "--each-user"]);
    ann.good(&["limit", "month=100"]);
    let granted = ann.good(&["grant", "bob", "+5"]);
    assert!(granted.contains("cap of bob for this day: 15.00 USD, was 10.00 USD; until 20"), "{granted}");
    assert!(ann.good(&["grant", "+7", "--period", "month"]).contains("cap of the team for this month: 107.00 USD"));
    assert!(ann.bad(&["grant", "bob", "5"]).contains("is no grant"));
    assert!(ann.bad(&["grant", "bob", "+5", "--period", "week"]).contains("bob has no cap of that kind to raise"));
    assert!(bob.bad(&["grant", "bob", "+5"]).contains("only an admin of the team may do that"));
    let shown = bob.good(&["status"]);
    assert!(shown.contains("15.00 USD") && shown.contains("107.00 USD"), "{shown}");

    assert!(ann.bad(&["limit", "day=8", "--group", "ops"]).contains("no group of team core is called ops"));
    assert_eq!(ann.good(&["group", "ops", "--add", "bob", "--add", "eve"]), "group ops of team core: bob, eve\n");
    assert!(
        ann.good(&["limit", "day=8", "--group", "ops"]).contains("cap of each login of group ops for a day: 8.00 USD")
    );
    ann.good(&["limit", "month=30", "--project", "https://git.example/app"]);
    let set = ann.good(&["limit", "month=30", "--project", "https://ann:secret@git.example/app"]);
    assert!(set.contains("cap of project git.example/app for a month") && !set.contains("secret"), "{set}");
    assert!(ann.bad(&["limit", "month=30", "--project", "app"]).contains("no project is known by this address"));
    let shown = bob.good(&["status"]);
    assert!(shown.contains("13.00 USD") && shown.contains("project git.example/app"), "{shown}");
    assert_eq!(ann.good(&["group", "ops", "--remove", "bob"]), "group ops of team core: eve\n");
    assert!(bob.bad(&["group", "ops", "--remove", "eve"]).contains("only an admin of the team may do that"));

    let id = "11111111-lost-machine";
    for number in [1, 2] {
        let lease = format!("SELECT * FROM fusebox.lease('core', '{id}', {number}, 2000000000000)");
        server.as_login("bob", &lease).unwrap();
    }
    assert!(!ann.good(&["status"]).contains("expired leases"));
    assert!(ann.bad(&["write-off", "11111111"]).contains("no expired lease or share of a machine 11111111 counts"));
    server.as_login("boss", "UPDATE fusebox.lease SET expires_at = clock_timestamp()").unwrap();
    let shown = ann.good(&["status"]);
    assert!(shown.contains("11111111/1") && shown.contains("11111111/2") && shown.contains("2.00 USD"), "{shown}");
    // A member is told of none, and gives none up.
    assert!(!bob.good(&["status"]).contains("expired leases"));
    assert!(bob.bad(&["write-off", "11111111"]).contains("no expired lease"));
    assert!(ann.bad(&["write-off", "1111"]).contains("too short"));
    let written = ann.good(&["write-off", "11111111/2"]);
    assert!(written.contains("lease 11111111/2 of bob: ") && !written.contains("/1 of"), "{written}");
    assert!(ann.good(&["write-off", id]).contains("lease 11111111/1 of bob: 2.00 USD given up"));
    assert!(!ann.good(&["status"]).contains("expired leases"));
    let open = "SELECT sum(committed_pico_usd) FROM fusebox.used WHERE login = '' AND period = 'day'";
    assert_eq!(server.as_login("ann", open).unwrap(), "0");
}

#[test]
fn slips_are_told_in_words_and_the_lead_sees_who_was_heard_and_says_whom_to_ask() {
    let Some(server) = Postgres::start() else { return };
    let (ann, bob) = (Machine::new(&server, "ann"), Machine::new(&server, "bob"));
    ann.good(&["join", "core"]);
    bob.good(&["join", "core"]);
    assert!(ann.bad(&["limit", "day=1", "--user", "bobb"]).contains("the nearest is bob"));
    assert!(ann.bad(&["limit", "day=1", "--user", "nobody-here"]).contains("nobody-here takes no part in team core"));
    assert!(bob.bad(&["contact", "me"]).contains("only an admin of the team may do that"));
    let row = |who: &str| {
        let members = ann.good(&["members"]);
        let row = members.lines().find(|line| line.starts_with(who)).unwrap_or_default();
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("bob"), ["bob", "member", "0", "-", "-"]);
    bob.good(&["sync"]);
    assert_eq!(row("bob")[..3], ["bob", "member", "0"]);
    bob.spend("m1", 1);
    bob.good(&["sync"]);
    let heard = row("bob");
    assert_eq!(heard[..3], ["bob", "member", "1"]);
    assert!(heard[3].starts_with("20") && heard[5] == "UTC", "{heard:?}");
    server.as_login("boss", "UPDATE fusebox.team SET time_zone = 'America/Port-au-Prince'").unwrap();
    ann.good(&["limit", "month=1"]);
    assert!(ann.good(&["status"]).contains("-01 00:00 America/Port-au-Prince"));
    assert!(ann.good(&["contact", "#budget"]).contains("reads: ask #budget"));
    let client = Client::start(&bob, "s1");
    let refused = client.prompt().or_else(|| client.turn()).unwrap_or_default();
    assert!(refused.contains("-01 00:00 America/Port-au-Prince, ask #budget"), "{refused}");
}

#[test]
fn doctor_says_of_a_joined_team_whether_its_store_is_heard() {
    let Some(server) = Postgres::start() else { return };
    let bob = Machine::new(&server, "bob");
    let told = || {
        let shown = bob.shown_in(".", &["doctor"]);
        let line = shown.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        line.skip_while(|line| line.split(' ').nth(1) != Some("team")).take(4).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(told(), "");
    bob.good(&["join", "core"]);
    assert!(told().contains("its store is asked once an agent works"), "{}", told());
    bob.good(&["sync"]);
    let heard = told();
    assert!(
        heard.starts_with("ok team team core: its store was heard ") && heard.contains("nothing is leased"),
        "{heard}"
    );
    server.crash();
    bob.bad(&["sync"]);
    assert!(told().starts_with("warn team") && told().contains("and not reached"), "{}", told());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let path = bob.state().join("team.json");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(told().starts_with("FAIL team") && told().contains("(mode 0644)"), "{}", told());
    }
    std::fs::remove_file(bob.state().join("team.json")).unwrap();
    assert!(told().contains("and this machine has joined none"), "{}", told());
}

/// A server says why in its own language.
#[test]
fn what_the_store_refuses_is_explained_by_its_code() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("boss", "CREATE ROLE carl LOGIN").unwrap();
    let carl = Machine::new(&server, "carl").bad(&["join", "core"]);
    assert!(carl.contains("may not see the team's tables") && carl.contains("GRANT fusebox_member"), "{carl}");
    let bob = Machine::new(&server, "bob");
    bob.good(&["join", "core"]);
    let missing = [
        ("ALTER VIEW fusebox.spend RENAME COLUMN model TO other", &["report", "--by", "model"][..]),
        ("DROP VIEW fusebox.spend", &["report", "--by", "model"]),
        ("DROP FUNCTION fusebox.sync_share(text, text, text, jsonb)", &["sync"]),
    ];
    for (missing, command) in missing {
        server.as_login("boss", missing).unwrap();
        let refused = bob.bad(command);
        assert!(refused.contains("runs `fusebox team init NAME` once more"), "{missing}: {refused}");
    }
}

#[test]
fn a_store_that_is_there_is_left_as_it_is() {
    let Some(server) = Postgres::start_empty() else { return };
    let boss = Machine::new(&server, "boss");
    boss.good(&["init", "core"]);
    let known = server.as_login("boss", "SELECT max(number) FROM fusebox.migration").unwrap();
    assert_eq!(known, fusebox::store::team::migrations().len().to_string());
    assert_eq!(boss.good(&["init", "core"]), "team core: it is there, and its tables are up to date\n");
    boss.good(&["limit", "day=10"]);
    assert!(boss.good(&["grant", "+5"]).contains("15.00 USD"));
}

/// After a failover an old epoch may have renewed what has expired: nothing of it is given up before it would be over.
#[test]
fn what_an_admin_is_told_has_expired_can_be_given_up() {
    let Some(server) = Postgres::start() else { return };
    let ann = Machine::new(&server, "ann");
    ann.good(&["join", "core"]);
    server.as_login("ann", "SELECT fusebox.set_shared_limit('core', 'agents', 8, NULL)").unwrap();
    server.as_login("bob", "SELECT * FROM fusebox.lease('core', '11111111-lost-machine', 1, 2000000000000)").unwrap();
    server.as_login("bob", "SELECT fusebox.reserve('core', '11111111-lost-machine', 'agents', 1, 0, 2, 2, 0)").unwrap();
    server.take_over();
    // The new epoch begins with the first request.
    ann.good(&["sync"]);
    let gone = ["lease", "share"].map(|of| format!("UPDATE fusebox.{of} SET expires_at = clock_timestamp();"));
    server.as_login("boss", &gone.concat()).unwrap();
    assert!(!ann.good(&["status"]).contains("expired"), "{}", ann.good(&["status"]));
    assert!(ann.bad(&["write-off", "11111111"]).contains("no expired lease or share of a machine 11111111 counts"));
    server.as_login("boss", "UPDATE fusebox.team SET grants_from = clock_timestamp()").unwrap();
    let shown = ann.good(&["status"]);
    assert!(shown.contains("expired leases") && shown.contains("expired shares"), "{shown}");
    let given_up = ann.good(&["write-off", "11111111"]);
    assert!(given_up.contains("lease 11111111/1 of bob") && given_up.contains("2 agents of bob"), "{given_up}");
    assert!(!ann.good(&["status"]).contains("expired"));
}

#[test]
fn a_member_reads_that_the_machines_of_others_are_hidden_and_not_that_there_are_none() {
    let Some(server) = Postgres::start() else { return };
    let (ann, bob) = (Machine::new(&server, "ann"), Machine::new(&server, "bob"));
    for machine in [&ann, &bob] {
        machine.good(&["join", "core"]);
        machine.spend("m1", 1);
        machine.good(&["sync"]);
    }
    let members = bob.good(&["members"]);
    let row = |who: &str| members.lines().find(|line| line.starts_with(who)).unwrap().to_owned();
    assert!(row("bob").contains(" 1 ") && !row("bob").contains("hidden"), "{members}");
    assert!(row("ann").matches("hidden").count() == 4 && !row("ann").contains(" 0 "), "{members}");
    assert!(members.contains("a member sees their own machines alone"), "{members}");
    let listed: Value = serde_json::from_str(&bob.good(&["members", "--json"])).unwrap();
    assert_eq!([0, 1].map(|at| listed["members"][at]["machines"].clone()), [json!(null), json!(1)]);
    assert!(!ann.good(&["members"]).contains("hidden"));
}
