//! The limits stay in force whatever an agent does to the settings, and a person's own edits pass.

use serde_json::{Value, json};

use crate::lab::{Lab, fusebox};
use crate::script::{bash, call, main, say, work};
use crate::terminal::Terminal;

fn three_turns() -> Value {
    json!({"main": {"max_turns": 3, "grace_turns": 0, "timeout_action": "terminate"}})
}

/// Lets the agent run `sabotage` and then loop; the three calls of its limit include the sabotage, if it ran.
fn check(sabotage: &str) {
    let steps = [
        call([bash(sabotage)]),
        call([bash("python3 -c 'import time; time.sleep(1.5)'; echo waited")]),
        call([work()]),
    ];
    let lab = Lab::new(three_turns(), vec![main(steps).forever()]);
    let run = lab.claude("start", &[]);
    assert_eq!(run.code, Some(0));
    assert!(lab.ran().len() <= 3, "{:?}", lab.ran());
    assert_eq!(lab.run_of("main")["stop_reason"], "turn_limit_reached");
}

#[test]
fn emptying_the_settings_leaves_the_limits_in_force() {
    check("for f in .claude/settings*.json; do echo '{}' > $f; done");
}

#[test]
fn deleting_the_settings_leaves_the_limits_in_force() {
    check("find . -name 'settings*' -delete");
}

#[test]
fn hiding_the_edit_in_a_program_leaves_the_limits_in_force() {
    check("python3 -c 'import glob, os; [os.remove(f) for f in glob.glob(\".cl*/sett*\")]'");
}

#[test]
fn switching_all_hooks_off_leaves_the_limits_in_force() {
    check("echo '{\"disableAllHooks\": true}' > .claude/settings.json");
}

#[test]
fn a_persons_other_edit_passes() {
    let lab = Lab::new(three_turns(), vec![main([say("first"), call([work()]), say("second")])]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.meets("Stop", 1);
    let path = lab.project().join(".claude/settings.local.json");
    let mut settings: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let own = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "touch the-persons-own-hook"}]});
    settings["hooks"]["PreToolUse"].as_array_mut().unwrap().push(own);
    std::fs::write(&path, settings.to_string()).unwrap();
    terminal.meets("ConfigChange", 1);
    terminal.types("what now");
    terminal.meets("Stop", 2);
    assert!(lab.project().join("the-persons-own-hook").exists(), "{}", terminal.screen());
}

#[test]
fn an_agent_cannot_grant_itself_more() {
    let fusebox = fusebox().display().to_string();
    let grant = "grant $CLAUDE_CODE_SESSION_ID max_turns=+9";
    let (folder, name) = fusebox.rsplit_once('/').unwrap();
    let lab = Lab::new(
        json!({"session": {"max_turns": 4, "timeout_action": "terminate"}}),
        vec![
            main([
                call([bash(&format!("{fusebox} {grant}"))]),
                call([bash("echo '{}' > .claude/fusebox.json")]),
                call([bash(&format!("cd {folder}; n={}; ./$n'{}' {grant}", &name[..3], &name[3..]))]),
                call([bash(&format!("cd {folder}; n={}; env -u CLAUDECODE ./$n'{}' {grant}", &name[..3], &name[3..]))]),
                call([work()]),
            ])
            .forever(),
        ],
    );
    lab.claude("start", &[]);
    assert!(!lab.must(&["log", "--json"]).contains("LIMIT_GRANTED"));
    let policy = std::fs::read_to_string(lab.project().join(".claude/fusebox.json")).unwrap();
    assert!(policy.contains("max_turns"), "{policy}");
    assert!(lab.ran().iter().all(|command| !command.starts_with(&fusebox)), "{:?}", lab.ran());
    assert_eq!(lab.status()["sessions"][0]["turns"], 4);
}

#[test]
fn fusebox_run_exits_with_three_and_says_why() {
    let lab = Lab::new(three_turns(), vec![main([call([work()])]).forever()]);
    let run = lab.fusebox_run("start", &[]);
    assert_eq!(run.code, Some(3), "{}{}", run.out, run.err);
    assert!(run.err.contains("max_turns"), "{}", run.err);
    assert_eq!(lab.ran().len(), 3);
}

#[test]
fn fusebox_run_passes_a_good_end_on() {
    let lab = Lab::new(three_turns(), vec![main([call([work()]), say("main finished")])]);
    let run = lab.fusebox_run("start", &[]);
    assert_eq!((run.code, run.text()), (Some(0), "main finished"), "{}", run.err);
}

#[test]
fn a_persons_reload_takes_a_change_that_waits() {
    let show = || call([bash("echo cap=$CLAUDE_CODE_STOP_HOOK_BLOCK_CAP")]);
    let lab = Lab::new(json!({}), vec![main([say("first"), show(), say("second"), show(), say("third")])]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.meets("Stop", 1);
    lab.write(".claude/settings.json", r#"{"env": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "77"}}"#);
    terminal.meets("ConfigChange", 1);
    terminal.types("what now");
    terminal.meets("Stop", 2);
    let shown = || lab.events("PostToolUse").iter().map(|input| input["tool_response"].to_string()).collect::<String>();
    assert!(!shown().contains("cap=77"), "{}", shown());
    assert!(lab.must(&["reload"]).contains("it takes the settings that waited"));
    terminal.meets("ConfigChange", 2);
    terminal.types("and now");
    terminal.meets("Stop", 3);
    assert!(shown().contains("cap=77"), "{}", shown());
}

/// A client without hooks of which a person knows is none that got rid of them.
#[test]
fn a_client_whose_hooks_a_person_took_away_works_on() {
    let turns = ["first", "second", "third", "fourth", "fifth"];
    // It would be ended by what it asks once it must have read the edit.
    let toil = || bash("python3 -c 'import time; time.sleep(1.5)'");
    let lab = Lab::new(json!({}), vec![main(turns.iter().flat_map(|word| [call([toil()]), say(word)]))]);
    let terminal = Terminal::open(&lab, &[]);
    terminal.types("start");
    terminal.meets("Stop", 1);
    lab.write(".claude/settings.local.json", "{}");
    terminal.meets("ConfigChange", 1);
    assert!(lab.must(&["reload"]).contains("it is let go"));
    terminal.meets("ConfigChange", 2);
    // An edit while the client may be reading was taken for a way to get rid of them.
    lab.write(".claude/settings.local.json", "{ }");
    for word in &turns[1..] {
        terminal.types("go on");
        terminal.sees(word);
    }
    assert!(!lab.must(&["log"]).contains("ended"), "{}", lab.must(&["log"]));
}
