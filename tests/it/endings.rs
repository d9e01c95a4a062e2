//! How an agent's work ends: sent back while something is missing, let go all the same, or ended by a tool that asks for it.

mod discipline;
mod stops;

use std::time::Duration;

use fusebox::config::policy::Policy;
use fusebox::domain::layer::Layer;
use fusebox::domain::limit_set::{Checkpoints, Completion, LimitSet};
use fusebox::domain::mode::Mode;
use fusebox::domain::session::{Run, Session, Status};
use fusebox::domain::spend::missing_usage::Growth;
use fusebox::platform::processes;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::missing_usage::Story;
use crate::session_commands::log;
use crate::state::{developer, load, main_run, save, session, trip};
use crate::world::{TestWorld, with};

/// A session with a developer `d1` at work, spawned by main, both with these rules.
pub fn with_rules(rules: &LimitSet) -> TestWorld {
    with_mode(rules, Mode::Enforce)
}

fn with_mode(rules: &LimitSet, mode: Mode) -> TestWorld {
    let world = TestWorld::new();
    // Their transcripts have been seen to grow: what they say is on disk.
    let at_work = |run| Run { limits: rules.clone(), working: true, growth: Growth::Before, ..run };
    let (main, developer) = (at_work(main_run("s1", "p1")), at_work(developer("s1", "d1", "p1")));
    let folder = world.path("project").display().to_string();
    let known = session("s1");
    let open = vec!["p1".to_owned(), "d1".to_owned()];
    let prompt_id = Some("p1".to_owned());
    save(&world, |store| {
        let policy = store.keep_policy(&serde_json::to_string(&Policy::default()).unwrap()).ok();
        let known = Session {
            main: prompt_id.clone(),
            prompt_id,
            folder,
            policy,
            mode,
            open,
            limits: LimitSet::default(),
            ..known
        };
        store.save_session(&known).unwrap();
        store.save_run(&main).unwrap();
        store.save_run(&developer).unwrap();
    });
    world
}

/// Rules with a file of checkpoints.
fn checkpoints(file: &str) -> LimitSet {
    let required = ["START", "RED", "GREEN"].map(str::to_owned).to_vec();
    let rule = Checkpoints { file: file.to_owned(), required, max_gap_ms: None, retries: 1, layer: Layer::Project };
    LimitSet { checkpoints: Some(rule), ..LimitSet::default() }
}

/// Rules with a command that judges.
fn completion(command: &str, timeout_ms: u64) -> LimitSet {
    let rule = Completion { command: command.to_owned(), timeout_ms, retries: 1, layer: Layer::User };
    LimitSet { completion: Some(rule), ..LimitSet::default() }
}

/// Has an event of the session happen: of the developer where its name says so, else of main.
pub fn event(world: &TestWorld, name: &str, more: &Value) -> String {
    let input =
        json!({"session_id": "s1", "transcript_path": "", "cwd": "/p", "prompt_id": "p1", "hook_event_name": name});
    world.hook(with(input, more)).ok()
}

/// Has the developer end its turn with these words; it was sent on before where it has been sent back.
fn end(world: &TestWorld, last: &str) -> String {
    let again = run(world).sent_back > 0;
    let more = json!({"agent_id": "d1", "agent_type": "developer", "last_assistant_message": last, "stop_hook_active": again,
        "background_tasks": [{"id": "d1", "type": "subagent"}], "session_crons": []});
    event(world, "SubagentStop", &more)
}

/// Has the parent see the developer's report.
pub fn reports(world: &TestWorld) -> String {
    let more = json!({"tool_name": "Agent", "tool_use_id": "t1", "tool_input": {"prompt": "do it"},
        "tool_response": {"agentId": "d1", "status": "completed"}});
    let told = event(world, "PostToolUse", &more);
    // What a person reads comes with the end of the batch.
    (told + "\n" + &event(world, "PostToolBatch", &json!({"tool_calls": [more]}))).trim().to_owned()
}

/// Returns the developer's run.
pub fn run(world: &TestWorld) -> Run {
    load(world, "s1").1.into_iter().find(|run| run.id == "d1").unwrap()
}

/// Writes the file of checkpoints with these names, a minute apart.
fn keep(world: &TestWorld, names: &[&str]) {
    let one = |(minute, name): (usize, &&str)| json!({"checkpoint": name, "timestamp": format!("2026-01-22T10:{minute:02}:00Z")});
    let list: Vec<Value> = names.iter().enumerate().map(one).collect();
    world.write("project/steps/developer.json", json!({"execution_checkpoints": list}).to_string());
}

#[test]
fn an_agent_is_sent_back_once_for_its_checkpoints_and_then_let_go() {
    let world = with_rules(&checkpoints("steps/{agent_type}.json"));
    assert_snapshot!(end(&world, "All done."), @r#"{"decision":"block","reason":"Fusebox: the work is not complete: `steps/developer.json`: it does not exist (checkpoints, set by the project's .claude/fusebox.json). The agent goes on; a report that begins with PARTIAL says that it gets no further."}"#);
    let sent_back = run(&world);
    assert_eq!((sent_back.status, sent_back.working, sent_back.sent_back), (Status::Running, true, 1));
    keep(&world, &["START", "GREEN", "RED"]);
    assert_eq!(end(&world, "All done now."), "", "the client shows nobody what it is told at a subagent's end");
    let let_go = run(&world);
    assert_eq!((let_go.status, let_go.sent_back), (Status::Completed, 1));
    assert_snapshot!(let_go.missing.join("\n"), @"`steps/developer.json`: checkpoint GREEN does not follow RED");
    assert_snapshot!(reports(&world), @r#"
    {"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"Fusebox: agent developer (run d1) has ended, and its report is incomplete: `steps/developer.json`: checkpoint GREEN does not follow RED (checkpoints, set by the project's .claude/fusebox.json)."}}
    {"systemMessage":"Fusebox: developer (d1) has ended, and its work is incomplete: `steps/developer.json`: checkpoint GREEN does not follow RED (checkpoints, project)."}
    "#);
    assert_eq!(reports(&world), "", "the parent is told once");
    assert_snapshot!(log(&world), @"AGENT_WARNING developer d1 Agent ended incomplete: `steps/developer.json`: checkpoint GREEN does not follow RED");
}

#[test]
fn checkpoints_that_were_added_let_an_agent_end() {
    let world = with_rules(&checkpoints("steps/developer.json"));
    keep(&world, &["START"]);
    assert!(end(&world, "All done.").contains("checkpoint RED is missing; checkpoint GREEN is missing"));
    keep(&world, &["START", "RED", "GREEN"]);
    assert_eq!(end(&world, "All done."), "");
    assert!(run(&world).missing.is_empty());
    assert_eq!((run(&world).status, reports(&world).as_str()), (Status::Completed, ""));
    // a message lets it go on, and its next end is looked at anew
    keep(&world, &["START", "RED"]);
    let _told = event(&world, "SubagentStart", &json!({"agent_id": "d1", "agent_type": "developer"}));
    assert!(end(&world, "All done.").contains("checkpoint GREEN is missing"));
}

#[test]
fn a_hook_registered_twice_sends_back_once() {
    let world = with_rules(&checkpoints("steps.json"));
    let more = json!({"agent_id": "d1", "agent_type": "developer", "stop_hook_active": false});
    let told = std::thread::scope(|scope| {
        [(); 2].map(|()| scope.spawn(|| event(&world, "SubagentStop", &more))).map(|told| told.join().unwrap())
    });
    assert!(told.iter().all(|told| told.contains("\"decision\":\"block\"")), "{told:?}");
    assert_eq!((run(&world).sent_back, run(&world).status), (1, Status::Running));
}

#[test]
fn a_file_of_checkpoints_that_is_none_is_named() {
    let world = with_rules(&checkpoints("steps"));
    world.write("project/steps/other.json", "{}");
    assert!(end(&world, "").contains("`steps`: it is no file of at most 1048576 bytes"));
    let world = with_rules(&checkpoints("steps.json"));
    world.write("project/steps.json", "no JSON");
    assert!(end(&world, "").contains("`steps.json`: it is no JSON: expected"));
    world.write("project/steps.json", b"\xff");
    assert_eq!(end(&world, ""), "");
    assert!(reports(&world).contains("`steps.json`: it cannot be read"));
}

#[test]
fn a_command_sends_an_agent_back_with_its_words() {
    let command = "grep -q '\"agent_id\":\"d1\"' && test -f done || { echo '2 tests fail' >&2; exit 2; }";
    let world = with_rules(&completion(command, 10_000));
    assert_snapshot!(end(&world, "All done."), @r#"{"decision":"block","reason":"Fusebox: the work is not complete: 2 tests fail (completion, set by the user's fusebox.json). The agent goes on; a report that begins with PARTIAL says that it gets no further."}"#);
    world.write("project/done", "");
    assert_eq!(end(&world, "All done."), "");
    assert_eq!((run(&world).status, run(&world).missing.len()), (Status::Completed, 0));
    let both = LimitSet { checkpoints: checkpoints("steps.json").checkpoints, ..completion("exit 2", 10_000) };
    let world = with_rules(&both);
    let sent_back = end(&world, "");
    assert_eq!(end(&world, ""), "");
    for told in [sent_back, reports(&world)] {
        assert!(told.contains("it does not exist") && told.contains("ended with exit code 2"), "{told}");
    }
    let world = with_rules(&completion("echo '{\"ok\": false, \"reason\": \"no docs\"}'", 10_000));
    assert!(end(&world, "").contains("no docs (completion, set by the user's fusebox.json)"));
    let world = with_rules(&completion("echo Looks good.; printf '\\377'", 10_000));
    assert_eq!(end(&world, ""), "", "what is no answer is none");
}

/// A command that hangs holds nobody else up, is ended with everything it started, and holds nothing back.
#[test]
fn a_command_that_hangs_is_ended_and_told_of() {
    let world = with_rules(&completion("sleep 60 & echo $! > pid; echo hangs > started; wait", 1_500));
    std::thread::scope(|scope| {
        let ends = scope.spawn(|| end(&world, "All done."));
        while world.read("project/started").is_none() {
            assert!(!ends.is_finished());
            std::thread::yield_now();
        }
        let call = json!({"tool_name": "Read", "tool_use_id": "t0", "tool_input": {}});
        assert_eq!(event(&world, "PreToolUse", &call), "", "main goes on meanwhile");
        assert!(!ends.is_finished());
        assert_eq!(ends.join().unwrap(), "");
    });
    let pid = world.read("project/pid").unwrap();
    let pid = pid.trim().parse().unwrap();
    assert!(processes::wait_for_end(&[pid], Duration::from_secs(30)), "what the command has begun goes on");
    assert_eq!((run(&world).status, load(&world, "s1").0.counters.turns), (Status::Completed, 1));
    assert_snapshot!(log(&world), @"NOTICE developer d1 the completion command `sleep 60 & echo $! > pid; echo hangs > started; wait` failed, so the end was not judged: it took longer than 2 s");
    assert_snapshot!(reports(&world), @r#"{"systemMessage":"Fusebox: the completion command `sleep 60 & echo $! > pid; echo hangs > started; wait` failed, so the end was not judged: it took longer than 2 s"}"#);
}

#[test]
fn a_command_that_fails_holds_nothing_back() {
    let world = with_rules(&completion("no-such-command-anywhere", 10_000));
    assert_eq!(end(&world, "All done."), "");
    let told = reports(&world);
    assert!(told.contains("failed, so the end was not judged: it ended with exit code 127"), "{told}");
    assert_eq!(run(&world).status, Status::Completed);
}

#[test]
fn an_agent_that_says_its_work_is_partial_may_end() {
    let world = with_rules(&checkpoints("steps.json"));
    assert_eq!(end(&world, "Stuck on the same error.\n\n**Status: PARTIAL**"), "");
    let partial = run(&world);
    assert_eq!((partial.partial, partial.sent_back, partial.status), (true, 0, Status::Completed));
    assert!(reports(&world).contains("its report is incomplete: `steps.json`: it does not exist"));
    let world = with_rules(&LimitSet::default());
    assert_eq!(end(&world, "PARTIAL: one of two"), "");
    assert!(run(&world).partial);
}

#[test]
fn an_agent_that_was_stopped_is_not_sent_back() {
    let world = with_rules(&completion("touch judged; exit 2", 10_000));
    let _said = world.run(&["stop", "d1"]).ok();
    assert!(!end(&world, "").contains("\"decision\""));
    assert_eq!((run(&world).status, world.read("project/judged")), (Status::Stopped, None));
}

#[test]
fn main_is_judged_when_it_waits_for_nobody() {
    let world = with_rules(&completion("echo 'no tests' >&2; exit 2", 10_000));
    let waits = json!({"background_tasks": [{"id": "d1", "type": "subagent", "status": "running"}]});
    assert_eq!(event(&world, "Stop", &waits), "");
    let server = json!({"background_tasks": [{"id": "b1", "type": "shell", "status": "running"}]});
    assert_snapshot!(event(&world, "Stop", &server), @r#"{"decision":"block","reason":"Fusebox: the work is not complete: no tests (completion, set by the user's fusebox.json). The agent goes on; a report that begins with PARTIAL says that it gets no further."}"#);
    let again = json!({"stop_hook_active": true});
    assert_snapshot!(event(&world, "Stop", &again), @r#"{"systemMessage":"Fusebox: the main agent has ended, and its work is incomplete: no tests (completion, user)."}"#);
}

#[test]
fn observed_ends_are_written_down_and_nothing_else() {
    let world = with_mode(&checkpoints("steps.json"), Mode::Observe);
    assert_eq!(end(&world, "All done."), "");
    assert_eq!((run(&world).status, run(&world).sent_back), (Status::Completed, 0));
    assert_snapshot!(log(&world), @"AGENT_WARNING developer d1 Agent ended incomplete: `steps.json`: it does not exist");
}

#[test]
fn a_limit_that_ended_an_agent_is_told_before_what_is_missing() {
    let world = with_rules(&checkpoints("steps.json"));
    let finding =
        trip("max_turns", (25, 25), fusebox::domain::action::Action::Terminate, fusebox::domain::scope::Scope::Run);
    let ended = crate::state::ended(run(&world), &finding, Status::Failed);
    save(&world, |store| store.save_run(&ended).unwrap());
    assert_eq!(end(&world, "All done."), "");
    assert!(reports(&world).contains("tool calls 25/25"));
}

/// Each of two registrations tells of the same prompt.
#[test]
fn a_blocked_prompt_is_told_once_where_hooks_are_registered_twice() {
    let shown = |times: usize| {
        let policy = json!({"session": {"max_requests": 3, "grace_turns": 0, "timeout_action": "terminate"}});
        let story = Story::begin(&policy);
        story.write(&["m0", "m1", "m2"]);
        story.event("Stop", &json!({}));
        for _ in 0..times {
            let said = story.event("UserPromptSubmit", &json!({"prompt": "again", "prompt_id": "p2"}));
            assert!(said.contains("\"block\""), "{said}");
        }
        let status = story.world.run(&["status", "--all"]).ok();
        assert!(status.contains("main p2  blocked"), "{status}");
        let log = story.world.run(&["log", "--json"]).ok();
        log.matches("AGENT_WARNING").count()
    };
    assert_eq!((shown(1), shown(2)), (1, 1));
}
