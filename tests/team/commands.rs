//! `fusebox team` in the real program, against a real PostgreSQL: two machines tell one team what they spend.

#[cfg(unix)]
use std::path::Path;
use std::process::Command;

use crate::machine::Machine;
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
    assert!(bob.bad(&["limit", "month=500"]).contains("permission denied"));

    bob.spend("msg_1", 3);
    bob.spend("msg_2", 4);
    assert_eq!(bob.good(&["sync"]), "told team core of 2 responses\n");
    assert_eq!(bob.good(&["sync"]), "told team core of 0 responses\n");
    // A session that has moved brings a response that is known, and one that has grown.
    ann.spend("msg_1", 3);
    ann.spend("msg_2", 5);
    ann.good(&["sync"]);
    let shown = bob.good(&["status"]);
    assert!(shown.contains("8.00 USD") && shown.contains("100.00 USD"), "{shown}");
    let by_user = boss.good(&["report"]);
    assert!(by_user.contains("8.00 USD in all"), "{by_user}");
    let by_project = boss.good(&["report", "--by", "project"]);
    assert!(by_project.contains("https://git.example/app") && !by_project.contains("secret"), "{by_project}");
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
    assert_eq!(bob.good(&["sync"]), "told team core of 1 response\n");
    server.take_over();
    // The new epoch is told again what it knows, and charges it once.
    bob.spend("msg_2", 1);
    bob.good(&["sync"]);
    let spent = "SELECT count(*), sum(cost_pico_usd) / 1000000000000 > 3.9 FROM fusebox.charge";
    assert_eq!(server.as_login("ann", spent).unwrap(), "2|t");
}

#[test]
fn an_agent_gives_no_orders_and_a_file_that_others_read_is_refused() {
    let Some(server) = Postgres::start() else { return };
    let bob = Machine::new(&server, "bob");
    bob.good(&["join", "core"]);
    let mut by_agent = Command::new(env!("CARGO_BIN_EXE_fusebox"));
    by_agent.args(["team", "limit", "day=5"]).env("FUSEBOX_HOME", bob.state()).env("CLAUDECODE", "1");
    let refused = String::from_utf8(by_agent.output().unwrap().stderr).unwrap();
    assert!(refused.contains("is a person's to run"), "{refused}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let path = bob.state().join("team.json");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(bob.bad(&["sync"]).contains("can be read by others"));
    }
}
