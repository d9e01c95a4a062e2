//! Clients that an agent starts and those that a person starts. `adversary/clients.rs` has the ways of starting one.

use serde_json::json;

use crate::adversary::clients::{ASKED, script};
use crate::adversary::unasked::SILENT;
use crate::lab::{Lab, claude};
use crate::script::{bash, call, child, main, say, work};

#[test]
fn when_the_session_is_over_a_client_that_its_agent_starts_is_not_heard() {
    let claude = claude();
    let client = |mark| format!("env -u CLAUDECODE {} -p {mark} --dangerously-skip-permissions", claude.display());
    let twice = call([bash(&format!("{}; {}", client("NESTED-1"), client("NESTED-2")))]);
    let nested = child("NESTED", [call([work()])]).forever();
    let policy = json!({"session": {"max_turns": 3, "grace_turns": 0, "timeout_action": "terminate"}});
    let lab = Lab::new(policy, vec![nested, main([twice, say("never heard")])]);
    lab.claude("MAIN start", &[]);
    assert!(lab.api.requests_of("NESTED-2").is_empty(), "{}", lab.story());
    assert_eq!(lab.events("SessionStart").len(), 3, "both clients began: {}", lab.story());
    let steps = lab.ran().iter().filter(|command| command.starts_with("echo step")).count();
    assert_eq!(steps, 2);
}

#[test]
fn a_client_that_a_person_starts_is_nobodys() {
    let policy = json!({"session": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"}});
    let lab = Lab::new(policy, vec![main([call([work()])]).forever()]);
    lab.claude("MAIN start", &[]);
    lab.claude("MAIN start", &[]);
    assert_eq!(lab.ran().len(), 4);
}

/// What a client is started with is read to its last word, and no further.
#[test]
fn a_client_works_whatever_its_last_words_name() {
    let asks = "--dangerously-skip-permissions -p 'NESTED go'";
    let ways = [
        format!("{asks} --settings s.json"),
        format!("{asks} --agents a.json"),
        format!("{asks} --plugin-dir p"),
        "--dangerously-skip-permissions -p --settings s.json 'NESTED go'".to_owned(),
        "--dangerously-skip-permissions -p --agents a.json 'NESTED {\"x\": 1}'".to_owned(),
    ];
    let start = |words: &String| format!("{} {words} </dev/null", claude().display());
    let steps: Vec<_> = ways.iter().map(|way| call([bash(&start(way))])).collect();
    let nested = child("NESTED", ways.iter().flat_map(|_| [call([work()]), say("seen")]));
    let lab = Lab::new(json!({}), vec![nested, main(steps.into_iter().chain([say("done")]))]);
    lab.write("s.json", r#"{"permissions": {"allow": ["Bash(ls)"]}}"#);
    lab.write("a.json", r#"{"r": {"description": "d", "prompt": "p"}}"#);
    lab.write("p/.claude-plugin/plugin.json", r#"{"name": "p", "version": "1.0.0"}"#);
    assert_eq!(lab.claude("MAIN start", &[]).text(), "done");
    let worked = lab.ran().iter().filter(|command| command.starts_with("echo step")).count();
    assert_eq!((lab.api.requests_of("NESTED").len(), worked), (2 * ways.len(), ways.len()), "{}", lab.story());
}

#[test]
fn a_client_that_asks_hooks_or_the_model_nothing_is_not_told_of() {
    for lines in [&*format!("CLIENT {ASKED} </dev/null"), "CLIENT --version; sleep 2", "grep -r work .; sleep 2"] {
        let (lab, run) = script(lines, "user");
        assert!(!run.told.contains(SILENT), "{lines}: {}", run.told);
        let notices = lab.logged("NOTICE");
        assert!(!notices.iter().any(|notice| notice["error"].to_string().contains(SILENT)), "{lines}: {notices:?}");
    }
}
