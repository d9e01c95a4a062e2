//! What `fusebox run` says of work that a team's cap has not bounded.

use std::fs;
use std::process::Output;

use crate::caps::{cap, joined};
use crate::client::Client;
use crate::machine::Machine;
use crate::postgres::Postgres;

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
    let fusebox = env!("CARGO_BIN_EXE_fusebox");
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
