//! The harness itself: the client runs against the scripts, headless and in a terminal, and is witnessed.

use crate::lab::Lab;
use crate::script::{agent, bash, call, child, main, say};
use crate::terminal::Terminal;
use crate::version::request_usd;

#[test]
fn a_headless_client_follows_its_script() {
    let lab = Lab::without_fusebox(vec![
        child("CHILD-A", [call([bash("echo a1"), bash("echo a2")]), say("child A reports")]),
        main([call([agent("CHILD-A do work")]), say("main finished")]),
    ]);
    let run = lab.claude("start", &[]);
    assert_eq!((run.code, run.text()), (Some(0), "main finished"));
    assert_eq!(lab.ran().len(), 2);
    assert_eq!(lab.api.requests_of("CHILD-A").len(), 2);
    assert!((run.usd() - 4.0 * request_usd()).abs() < 1e-9, "{}", run.usd());
    assert!(lab.api.requests().last().unwrap()["messages"].to_string().contains("child A reports"));
}

#[test]
fn a_client_in_a_terminal_follows_its_script() {
    let lab = Lab::without_fusebox(vec![main([call([bash("echo one")]), say("main finished")])]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.meets("Stop", 1);
    terminal.sees("main finished");
    assert_eq!(lab.ran(), ["echo one"]);
}
