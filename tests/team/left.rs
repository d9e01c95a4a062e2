//! What reports say of work that a team's cap has stopped, once its machine has left the team: only what still helps.

use crate::caps::{cap, joined};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

/// Returns what each report says of a session and of the last run that was stopped.
fn shown(machine: &Machine<'_>, id: &str) -> Vec<String> {
    let commands = [&["status"][..], &["status", "--all"], &["report"], &["explain"], &["explain", id]];
    commands.iter().map(|command| machine.shown_in(".", command)).collect()
}

#[test]
fn once_the_team_is_left_no_report_advises_what_fails() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    for (number, (is_blocked, has_ended)) in
        [(false, false), (false, true), (true, false), (true, true)].into_iter().enumerate()
    {
        let case = format!("a prompt is blocked: {is_blocked}, the client has ended: {has_ended}");
        server.as_login("ann", "SELECT fusebox.set_cap('core', 'user', 'bob', 'day', NULL)").unwrap();
        let spent = "SELECT coalesce(sum(cost_pico_usd), 0) + 30000000000 FROM fusebox.charge";
        let spent = server.as_login("boss", spent).unwrap();
        server.as_login("ann", &format!("SELECT fusebox.set_cap('core', 'user', 'bob', 'day', {spent})")).unwrap();
        let machine = joined(&server, "bob", "");
        let id = format!("s{number}");
        let client = Client::start(&machine, &id);
        assert_eq!(client.prompt(), None, "{case}");
        while client.turn().is_none() {}
        if is_blocked {
            assert!(client.prompt().unwrap().contains("fusebox team grant bob"), "{case}");
        }
        assert!(shown(&machine, &id)[0].contains("fusebox team grant bob"), "{case}");
        machine.good(&["leave"]);
        if has_ended {
            client.end();
        }
        for said in shown(&machine, &id) {
            assert!(!said.contains("fusebox team "), "{case}: {said}");
            assert!(!has_ended || !said.contains("reload --all"), "{case}: {said}");
        }
        let status = shown(&machine, &id).swap_remove(0);
        if has_ended {
            // What a client that takes it up is bound by is no team's any more.
            assert!(status.contains(&format!("claude --resume {id}")), "{case}: {status}");
            continue;
        }
        assert!(status.contains("`fusebox reload --all`"), "{case}: {status}");
        machine.shown_in(".", &["reload", "--all"]);
        assert_eq!(client.prompt(), None, "{case}");
        assert!(!shown(&machine, &id)[0].contains("reload --all"), "{case}");
    }
}
