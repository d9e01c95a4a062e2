//! A session's limit stops all of its agents, and what their ends would start.

use std::path::Path;

use serde_json::json;

use crate::lab::{Lab, claude};
use crate::script::{Script, agent, agent_of, bash, call, child, in_background, main, say, work};
use crate::version::usd;

#[test]
fn a_session_limit_stops_main_subagents_and_background_agents() {
    let policy = json!({"session": {"max_turns": 6, "grace_turns": 0, "timeout_action": "terminate"}});
    let lab = Lab::new(
        policy,
        vec![
            child("CHILD-A", [call([work()])]).forever(),
            child("CHILD-B", [call([work()])]).forever(),
            main([call([in_background(agent("CHILD-A loop")), agent("CHILD-B loop")]), call([work()])]).forever(),
        ],
    );
    let run = lab.claude("start", &[]);
    assert_eq!(run.code, Some(0));
    let used = lab.ran().len() + lab.events("SubagentStart").len();
    assert_eq!(used, 6, "{:?}", lab.ran());
    // Nothing was said to main after the limit, whatever notifications came.
    let main =
        lab.api.requests().iter().filter(|request| !request["messages"][0].to_string().contains("CHILD-")).count();
    assert!(main <= 2, "{main} requests of main");
}

#[test]
fn the_person_reads_a_warning_that_a_subagent_came_to() {
    let policy = json!({"session": {"max_turns": 5, "timeout_action": "terminate"}});
    let child = child("CHILD-A", [call([work()]), call([work()]), call([work()]), say("CHILD-A is done")]);
    let lab = Lab::new(policy, vec![child, main([call([agent("CHILD-A go")]), say("main finished")])]);
    let run = lab.claude("start", &[]);
    let warning = "80 % is used: general-purpose";
    assert!(run.tells(warning), "the client shows nobody what it is told of a subagent: {}", run.told);
}

#[test]
fn a_session_cost_limit_blocks_the_notifications() {
    let policy = json!({"session": {"max_cost_usd": usd(0.03), "grace_turns": 0, "timeout_action": "terminate"}});
    let lab = Lab::new(
        policy,
        vec![
            child("CHILD-A", [call([work()])]).forever(),
            main([call([in_background(agent("CHILD-A loop"))]), say("main waits"), call([work()])]).forever(),
        ],
    );
    let run = lab.claude("start", &[]);
    assert!(run.usd() <= usd(0.03), "{}", run.usd());
    assert!(run.text().contains("max_cost_usd"), "the person reads why: {}", run.text());
    let again = lab.claude("again", &["--resume", run.session()]);
    assert!(again.usd() <= usd(0.03), "{}", again.usd());
}

#[test]
fn a_session_cost_limit_holds_while_agents_spend_side_by_side() {
    let policy = json!({"session": {"max_cost_usd": usd(0.07), "grace_turns": 0, "timeout_action": "terminate"}});
    let crowd = ["CHILD-A", "CHILD-B", "CHILD-C", "CHILD-D"];
    let mut scripts: Vec<Script> = crowd.map(|name| child(name, [call([work()])]).forever()).into();
    scripts.push(main([call(crowd.map(|name| agent(&format!("{name} loop"))))]).forever());
    let lab = Lab::new(policy, scripts);
    let run = lab.claude("start", &[]);
    assert!(run.usd() <= usd(0.07), "{}", run.usd());
    assert!(run.usd() > usd(0.05), "the cap is used: {}", run.usd());
}

#[test]
fn a_stopped_parents_nested_child_stops() {
    let policy = json!({"agents": {"boss": {"max_turns": 2, "grace_turns": 0, "timeout_action": "terminate"},
        "minion": {"max_turns": null, "max_duration_ms": null, "max_cost_usd": null}}});
    let toil = call([bash("python3 -c 'import time; time.sleep(0.5)'; echo toil $N")]);
    let lab = Lab::new(
        policy,
        vec![
            child("MINION-1", [toil]).forever(),
            child("BOSS-1", [call([in_background(agent_of("minion", "MINION-1 toil"))]), call([bash("echo boss $N")])])
                .forever(),
            main([call([agent_of("boss", "BOSS-1 lead")]), say("main finished"), say("main finished")]),
        ],
    );
    for kind in ["boss", "minion"] {
        lab.write(
            &format!(".claude/agents/{kind}.md"),
            &format!("---\nname: {kind}\ndescription: a {kind}\n---\nYou are a {kind}.\n"),
        );
    }
    let run = lab.claude("start", &[]);
    assert_eq!(run.text(), "main finished");
    let toil = lab.ran().iter().filter(|command| command.contains("toil")).count();
    assert!(toil <= 3, "the minion went on for {toil} calls");
    assert_eq!(lab.run_of("boss")["status"], "failed");
    assert_ne!(lab.run_of("minion")["status"], "completed");
}

#[test]
fn sessions_side_by_side_do_not_mix() {
    let policy = json!({"main": {"max_turns": 3, "grace_turns": 0, "timeout_action": "terminate"}});
    let lab = Lab::new(policy, vec![main([call([work(), work()])]).forever()]);
    let clients = std::thread::scope(|scope| {
        let clients = [(), (), ()].map(|()| scope.spawn(|| lab.claude("start", &[])));
        clients.map(|client| client.join().unwrap())
    });
    assert_eq!(lab.ran().len(), 9);
    for client in &clients {
        let status = lab.status();
        let sessions = status["sessions"].as_array().unwrap();
        let session = sessions.iter().find(|session| session["session_id"] == client.session()).unwrap();
        assert_eq!(session["turns"], 3);
    }
}

/// A person starts their client wherever they stand: what the repository's root says holds there, and in its worktrees.
#[test]
fn a_session_in_a_subfolder_or_a_worktree_is_bound_by_the_repository() {
    let policy = json!({"session": {"max_turns": 3, "grace_turns": 0, "timeout_action": "terminate"}});
    for start in ["mkdir -p sub/deep; cd sub/deep", "git worktree add -q ../tree; cd ../tree"] {
        let lab = Lab::new(policy.clone(), vec![main([call([work()])]).forever()]);
        let prepared = "git -c user.name=a -c user.email=a@b commit -qm a --allow-empty";
        let mut command = lab.command(Path::new("/bin/sh"));
        command.args(["-c", &format!("{prepared}; {start}; exec \"$@\""), "sh", &claude().to_string_lossy()]);
        lab.finish(command, "MAIN start");
        assert_eq!(lab.ran().len(), 3, "{start}\n{}", lab.story());
    }
}
