//! A project's cap: it stops the sessions of that project, by the `origin` that its repository had when they began.

use std::fs;

use crate::caps::{RESPONSE, cap, joined, wait_until};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

/// Makes a repository below a machine's home.
fn repository(machine: &Machine, name: &str) {
    let git = machine.home.path().join(name).join(".git");
    fs::create_dir_all(git.join("objects")).unwrap();
    fs::create_dir_all(git.join("refs")).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
}

/// Has a repository's `origin` name another.
fn origin(machine: &Machine, repository: &str, name: &str) {
    let config = format!("[remote \"origin\"]\n\turl = https://git.example/{name}\n");
    fs::write(machine.home.path().join(repository).join(".git/config"), config).unwrap();
}

fn project_cap(server: &Postgres, usd: f64) {
    let amount = (usd * 1e12) as u64;
    let set = format!("SELECT fusebox.set_label_cap('core', 'project', 'git.example/app', 'month', {amount})");
    server.as_login("ann", &set).unwrap();
}

#[test]
fn a_projects_cap_stops_its_sessions_and_no_others_until_it_is_raised() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = joined(&server, "bob", "");
    for name in ["app", "other"] {
        repository(&machine, name);
        origin(&machine, name, name);
    }
    project_cap(&server, 4.0 * RESPONSE);
    let app = Client::start_in(&machine, "s1", "app");
    let other = Client::start_in(&machine, "s2", "other");
    for client in [&app, &other] {
        assert_eq!(client.prompt(), None);
        (0..3).for_each(|_| assert_eq!(client.turn(), None));
    }
    machine.good(&["sync"]);
    assert_eq!((app.turn(), other.turn()), (None, None));
    machine.good(&["sync"]);
    let answer = app.turn().unwrap();
    let says = "the cap of the month of project git.example/app in team core is used up, 0.02";
    assert!(answer.contains(says), "{answer}");
    assert!(answer.contains("ask ann: `fusebox team limit month=0.04 --project git.example/app`"), "{answer}");
    assert!(answer.contains("it resets at 20"), "{answer}");
    assert_eq!(other.turn(), None);
    let blocked = app.prompt().unwrap();
    assert!(blocked.contains("cap of the month of project git.example/app"), "{blocked}");
    project_cap(&server, 1.0);
    wait_until("work goes on", || app.prompt().is_none());
    assert_eq!((app.turn(), other.turn()), (None, None));
}

/// What an agent makes of its `origin` is the label of the sessions to come.
#[test]
fn an_agent_that_changes_its_origin_spends_for_the_same_project() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    project_cap(&server, 4.0 * RESPONSE);
    let machine = joined(&server, "bob", "");
    repository(&machine, "app");
    origin(&machine, "app", "app");
    let client = Client::start_in(&machine, "s1", "app");
    assert_eq!((client.prompt(), client.turn()), (None, None));
    origin(&machine, "app", "other");
    (0..3).for_each(|_| assert_eq!(client.turn(), None));
    machine.good(&["sync"]);
    machine.good(&["sync"]);
    let answer = client.turn().unwrap();
    assert!(answer.contains("the cap of the month of project git.example/app in team core"), "{answer}");
    machine.good(&["sync"]);
    let told = machine.good(&["report", "--by", "project"]);
    assert!(told.contains("git.example/app") && !told.contains("other"), "{told}");
}
