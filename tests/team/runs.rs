//! What a person reads of a team's stops: at most two lines of 100 columns, with what was stopped, its figures and the next step; and
//! what `fusebox run` says of work that a team's cap has not bounded.

use std::fs;
use std::process::Output;

use crate::caps::{cap, joined};
use crate::client::Client;
use crate::machine::{Machine, fusebox};
use crate::postgres::Postgres;

/// The id of a session as clients make them.
const ID: &str = "5f0c1d2e-8d33-4c1a-9a1e-2b7f0c6d1e55";
/// So many characters take two lines of 100 columns.
const TWO_LINES: usize = 200;
/// How a hook's answer ends the client's loop.
const ENDS: &str = r#"*'"decision":"block"'*|*'"permissionDecision":"deny"'*|*'"continue":false'*) break"#;

/// Runs a client of its own kind by `fusebox run --strict`: it makes so many responses, and ends where a hook says so.
fn run(machine: &Machine<'_>, id: &str, turns: usize, options: &[&str]) -> Output {
    let home = machine.home.path();
    machine.shown_in(".", &["init", "--scope", "user"]);
    let client = Client::named(machine, id);
    let write = |name: &str, text: &str| fs::write(home.join(name), text).unwrap();
    write("start", &client.input("SessionStart", r#""source":"startup""#));
    write("prompt", &client.input("UserPromptSubmit", r#""prompt":"go""#));
    write("end", &client.input("SessionEnd", r#""reason":"other""#));
    let mut names = vec!["prompt".to_owned()];
    for turn in 0..turns {
        let (row, events) = client.next_turn();
        write(&format!("row{turn}"), &row);
        names.push(format!("row{turn}"));
        for (at, event) in events.iter().enumerate() {
            write(&format!("turn{turn}-{at}"), event);
            names.push(format!("turn{turn}-{at}"));
        }
    }
    let fusebox = fusebox();
    let script = format!(
        "#!/bin/sh\nhook() {{ CLAUDE_PID=$$ '{fusebox}' hook <$1 >answer; }}\nhook start\nfor name in {}; do\n\
         case $name in row*) cat $name >>{id}.jsonl; continue;; esac\n\
         hook $name; case \"$(cat answer)\" in {ENDS};; esac\ndone\nhook end\n",
        names.join(" ")
    );
    write("claude", &script);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(home.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    machine.said_in(".", &[&["run", "--strict", "--", "./claude", "-p", "go"], options].concat())
}

/// Returns what stands between two texts.
fn between<'a>(text: &'a str, begins: &str, ends: &str) -> &'a str {
    let (_, rest) = text.split_once(begins).unwrap_or_else(|| panic!("{begins}: {text}"));
    rest.split(ends).next().unwrap()
}

/// Checks that what a person reads takes two lines at most, and says all of these.
fn is_short(text: &str, says: &[&str]) {
    assert!(text.chars().count() <= TWO_LINES, "{} characters: {text}", text.chars().count());
    for said in says {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn what_a_team_stops_is_told_in_two_lines() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("boss", "UPDATE fusebox.team SET time_zone = 'America/Port-au-Prince'").unwrap();
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann in #agents-budget', NULL, 0, NULL)").unwrap();
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'user', 'bob', 'month', 30000000000)").unwrap();
    let machine = joined(&server, "bob", "");
    let client = Client::start(&machine, "s1");
    assert_eq!(client.prompt(), None);
    let stopped = (0..60).find_map(|_| client.turn()).unwrap();
    let says = [
        "bob's cap of the month in team core is ",
        "/0.0300 USD",
        "sk ann in #agents-budget: `fusebox team grant bob +0.02 --period month`",
    ];
    is_short(between(&stopped, r#""stopReason":""#, "\""), &says);
    is_short(between(&client.prompt().unwrap(), r#""reason":""#, "\""), &says);
}

#[test]
fn what_a_silent_store_stops_is_told_in_two_lines() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann in #agents-budget', 1000, 0, NULL)").unwrap();
    cap(&server, 1.0);
    for (number, terms) in [r#""on_stale":"deny""#, r#""on_stale":"warn","max_staleness_ms":"1h""#].iter().enumerate() {
        let machine = joined(&server, "bob", terms);
        let id = format!("s{number}");
        let client = Client::start(&machine, &id);
        assert_eq!((client.prompt(), client.turn()), (None, None));
        machine.good(&["sync"]);
        server.crash();
        machine.bad(&["sync"]);
        let stopped = (0..90).find_map(|_| client.turn()).unwrap();
        let says = ["the store of team core has not been heard since 20", "`fusebox team sync` shows why"];
        is_short(between(&stopped, r#""stopReason":""#, "\""), &says);
        machine.bad(&["sync"]);
        let blocked = client.prompt();
        // With `warn` a prompt may fit into what was kept.
        assert!(number > 0 || blocked.is_some());
        blocked.iter().for_each(|answer| is_short(between(answer, r#""reason":""#, "\""), &says));
        server.go_on();
    }
}

#[test]
fn a_run_that_a_team_stops_says_so_in_two_lines_and_how_it_goes_on_in_one() {
    let Some(server) = Postgres::start() else { return };
    server.as_login("ann", "SELECT fusebox.set_team('core', 'ann@core', NULL, 0, NULL)").unwrap();
    server.as_login("ann", "SELECT fusebox.set_cap('core', 'user', 'bob', 'day', 30000000000)").unwrap();
    let machine = joined(&server, "bob", "");
    let asks = "ask ann@core: `fusebox team grant bob +0.02 --period day`";
    let other = ID.replace("5f0c1d2e", "77aa01bc");
    for (id, begins, goes_on) in
        [(ID, "stopped: ", "./claude -p --resume "), (&other, "the prompt was blocked: ", "`--resume ")]
    {
        let ran = run(&machine, id, 8, &["--output-format", "json"]);
        let said = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(3), "{said}");
        let line = |has: &str| said.lines().find(|line| line.contains(has)).unwrap_or_else(|| panic!("{has}: {said}"));
        let stopped = line(&format!("fusebox: {begins}bob's cap of the day in team core is "));
        is_short(stopped, &["/0.0300 USD", asks]);
        is_short(line(goes_on), &[id]);
        // Whom to ask stands in the first of the two lines.
        assert_eq!(said.matches("ask ann@core").count(), 1, "{said}");
    }
}

#[test]
fn a_strict_run_says_that_work_was_done_without_the_teams_cap() {
    let Some(server) = Postgres::start() else { return };
    cap(&server, 100.0);
    let machine = joined(&server, "bob", r#""on_stale":"allow""#);
    server.crash();
    machine.bad(&["sync"]);
    let ran = run(&machine, "s1", 2, &[]);
    let said = String::from_utf8(ran.stderr).unwrap();
    let says = "the store of team core was not reached: work went on without its cap, as `on_stale` says";
    assert!(said.contains(says), "{said}");
    assert!(said.trim_end().ends_with("fusebox: exit code 3: a team's cap was not kept"), "{said}");
    assert_eq!(ran.status.code(), Some(3), "{said}");
    server.go_on();
    machine.good(&["sync"]);
    let ran = run(&machine, "s2", 2, &[]);
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
}
