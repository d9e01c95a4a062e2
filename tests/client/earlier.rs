//! A client that is open while a person installs Fusebox.

use serde_json::json;

use crate::lab::Lab;
use crate::script::{call, main, say, work};
use crate::terminal::Terminal;

#[test]
fn what_an_open_client_spent_before_fusebox_was_installed_is_held_against_none_of_its_prompts() {
    let before = [call([work()]), call([work()]), call([work()]), say("first done")];
    let after = [call([work()]), say("second done"), say("third done"), say("too much")];
    let lab = Lab::without_fusebox(vec![main(before.into_iter().chain(after))]);
    let policy = json!({"session": {"max_requests": 3, "grace_turns": 0, "timeout_action": "terminate"}});
    lab.write(".claude/fusebox.json", &policy.to_string());
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("MAIN start");
    terminal.meets("Stop", 1);
    lab.must(&["init"]);
    terminal.meets("ConfigChange", 1);
    terminal.types("MAIN go on");
    terminal.sees("began before Fusebox was installed");
    terminal.meets("Stop", 2);
    assert_eq!(lab.api.requests().len(), 6, "{}", lab.story());
    terminal.types("/exit");
    terminal.meets("SessionEnd", 1);
    drop(terminal);
    let session = lab.status()["sessions"][0].clone();
    let limits = session["limits"].as_array().unwrap();
    let limit = limits.iter().find(|limit| limit["limit"] == "max_requests").unwrap();
    assert_eq!((&session["requests"], &limit["used"]), (&json!(6), &json!(2)), "{session:#}");
    // The next client is held to what Fusebox has watched, and to no more.
    let id = session["session_id"].as_str().unwrap();
    assert_eq!(lab.claude("MAIN on", &["--resume", id]).text(), "third done", "{}", lab.story());
    let held = lab.claude("MAIN on", &["--resume", id]);
    assert!(held.text().contains("3/3 (max_requests"), "{}", held.text());
    assert_eq!(lab.api.requests().len(), 7, "{}", lab.story());
}
