//! `fusebox status` from outside.

use fusebox::domain::action::Action;
use fusebox::domain::record::RecordKind;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::{Run, Session, Status};
use insta::assert_snapshot;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::given::GivenTime;
use crate::state::{at, developer, ended, main_run, record, save, session, trip, with_shop};
use crate::world::TestWorld;

#[test]
fn status_draws_what_is_at_work_and_says_what_is_stopped() {
    assert_snapshot!(with_shop().run(&["status"]), @r"
    session 5f0c1d2e  running  2.36 USD  since 2026-11-20 10:00
      /srv/shop
      cost  [----------] 2.36/25.00 USD max_cost_usd  built-in
      main b7d1aaaa  running  0 tool calls, 0.50 USD
        developer a1b2c3d4  running  17 tool calls, 0.42 USD  depth 1  task 7
          tool calls  [######----] 17/25 max_turns  project
          cost        [####------] 0.42/1.00 USD max_cost_usd  project
        developer a3fa11ed  ended by limit  25 tool calls, 0.64 USD  depth 1
      + 1 finished; --all shows it
      developer a3fa11ed, ended by limit: 25 of 25 tool calls (max_turns, project)
        fusebox grant a3fa11ed max_turns=+12
    [exit 0]
    ");
}

#[test]
fn status_unfolds_finished_runs() {
    assert_snapshot!(with_shop().run(&["status", "5f0c", "--all"]), @r"
    session 5f0c1d2e  running  2.36 USD  since 2026-11-20 10:00
      /srv/shop
      cost  [----------] 2.36/25.00 USD max_cost_usd  built-in
      main b7d1aaaa  running  0 tool calls, 0.50 USD
        developer a1b2c3d4  running  17 tool calls, 0.42 USD  depth 1  task 7
          tool calls  [######----] 17/25 max_turns  project
          cost        [####------] 0.42/1.00 USD max_cost_usd  project
        developer a2d0de00  completed  37 tool calls, 0.80 USD  depth 1
          tool calls  [##########] 37/25 max_turns  project
          cost        [########--] 0.80/1.00 USD max_cost_usd  project
        developer a3fa11ed  ended by limit  25 tool calls, 0.64 USD  depth 1
          tool calls  [##########] 25/25 max_turns  project
          cost        [######----] 0.64/1.00 USD max_cost_usd  project
      developer a3fa11ed, ended by limit: 25 of 25 tool calls (max_turns, project)
        fusebox grant a3fa11ed max_turns=+12
    [exit 0]
    ");
}

#[test]
fn status_of_one_run_by_the_beginning_of_its_id_or_its_own() {
    let world = with_shop();
    let by_id = world.run(&["status", "a1"]).ok();
    assert_snapshot!(by_id, @r"
    session 5f0c1d2e  running  2.36 USD  since 2026-11-20 10:00
      /srv/shop
      cost  [----------] 2.36/25.00 USD max_cost_usd  built-in
      developer a1b2c3d4  running  17 tool calls, 0.42 USD  depth 1  task 7
        tool calls  [######----] 17/25 max_turns  project
        cost        [####------] 0.42/1.00 USD max_cost_usd  project
    ");
    let me = world.run(&["status", "--me=5f0c1d2e-0000/a1b2c3d4e5"]).ok();
    assert_snapshot!(me, @r"
    developer (run a1b2c3d4e5): running
      tool calls 17/25, 8 left (max_turns)
      cost 0.42/1.00 USD, 0.58 USD left (max_cost_usd)
    the whole session:
      cost 2.36/25.00 USD, 22.64 USD left (max_cost_usd)
    ");
}

#[test]
fn a_narrow_terminal_shows_what_matters_most() {
    let world = with_shop();
    assert_snapshot!(world.command(&["status"]).env("COLUMNS", "40").run(), @r"
    session 5f0c1d2e  running  2.36 USD
      since 2026-11-20 10:00
      /srv/shop
      cost  [----------] 2.36/25.00 USD
        max_cost_usd  built-in
      main b7d1aaaa  running
        0 tool calls, 0.50 USD
        developer a1b2c3d4  running
          17 tool calls, 0.42 USD  depth 1
          task 7
          tool calls  [######----] 17/25
            max_turns  project
          cost        [####------]
            0.42/1.00 USD max_cost_usd
              project
        developer a3fa11ed  ended by limit
          25 tool calls, 0.64 USD  depth 1
      + 1 finished; --all shows it
      developer a3fa11ed, ended by limit: 25
        of 25 tool calls (max_turns,
        project)
        fusebox grant a3fa11ed max_turns=+12
    [exit 0]
    ");
    assert_snapshot!(world.command(&["report", "--since", "all"]).env("COLUMNS", "40").run(), @r"
    SESSION   STATUS         COST
    5f0c1d2e  running    2.36 USD
    total     1 session  2.36 USD
    (a wider terminal shows STARTED,
      PROJECT, RUNS, TOOL CALLS, REQUESTS,
      TOKENS, too)

    TRIP  LIMIT       USED
    #2    max_turns  25/25
    (a wider terminal shows AT, SESSION,
      RUN, ACTION, LAYER, too)
    `fusebox explain NUMBER` tells more of a trip.

    developer a3fa11ed, ended by limit: 25
      of 25 tool calls (max_turns, project)
      fusebox grant a3fa11ed max_turns=+12
    [exit 0]
    ");
}

#[test]
fn names_from_agents_send_no_escapes_to_the_terminal() {
    let world = TestWorld::new();
    let run = Run { agent_type: "\x1b[2Jdev\n".to_owned(), ..developer("s1", "a1", "none") };
    save(&world, |store| {
        store.save_session(&session("s1")).unwrap();
        store.save_run(&run).unwrap();
    });
    assert_snapshot!(world.run(&["status"]), @r"
    session s1  running  0.00 USD  since 2026-11-20 10:00
      /srv/shop
      cost  [----------] 0.00/25.00 USD max_cost_usd  built-in
      \u001b[2Jdev\u000a a1  running  17 tool calls, 0.00 USD  depth 1
        tool calls  [######----] 17/25 max_turns  project
        cost        [####------] 0.42/1.00 USD max_cost_usd  project
    [exit 0]
    ");
}

#[test]
fn an_agent_of_the_clients_own_without_a_type_has_a_name() {
    let world = TestWorld::new();
    let main = main_run("5f0c1d2e-0000", "b7d1aaaa-0000");
    let nameless = Run { agent_type: String::new(), ..developer("5f0c1d2e-0000", "a9398b03eb", &main.id) };
    let warned = trip("max_turns", (25, 25), Action::Warn, Scope::Run);
    save(&world, |store| {
        store.save_session(&session("5f0c1d2e-0000")).unwrap();
        store.save_run(&main).unwrap();
        store.save_run(&nameless).unwrap();
        store.save_record(&record(RecordKind::AgentWarning, &nameless, &warned), at(60)).unwrap();
    });
    for command in
        [&["status", "--all"][..], &["report", "--since", "all"], &["explain", "a9398b03"], &["log", "--since", "all"]]
    {
        let said = world.run(command).ok();
        assert!(said.contains("agent a9398b03"), "{command:?}: {said}");
    }
}

/// A headless client that a limit has stopped ends as any other.
#[test]
fn work_that_was_stopped_is_not_called_completed_after_the_clients_end() {
    let world = TestWorld::new();
    let policy = r#"{ "main": { "max_turns": 1, "timeout_action": "terminate", "grace_turns": 0 } }"#;
    world.write("home/.claude/fusebox.json", policy);
    let hook = |name: &str, rest: &Value| world.hook(world.event("s1", "p1", name, rest)).ok();
    hook("SessionStart", &json!({"source": "startup"}));
    hook("UserPromptSubmit", &json!({"prompt": "go"}));
    for id in ["t1", "t2"] {
        hook("PreToolUse", &json!({"tool_name": "Read", "tool_use_id": id, "tool_input": {"file_path": id}}));
    }
    hook("SessionEnd", &json!({"reason": "other"}));
    let status_column = || {
        let report = world.run(&["report", "--since", "all"]).ok();
        report.lines().nth(1).unwrap().split_whitespace().find(|word| word.ends_with("ed")).unwrap().to_owned()
    };
    assert_eq!(status_column(), "ended", "by a limit");
    let told = world.run(&["explain"]).ok();
    let next = told.split("Next\n").nth(1).unwrap();
    assert_eq!(next.trim(), "claude --resume s1. The next prompt starts afresh, with whole limits.");
    // Elsewhere a client would read other settings.
    world.write("elsewhere/README", "");
    for command in [["explain"].as_slice(), &["status", "s1"], &["explain", "s1", "--json"]] {
        let told = world.command(command).env("COLUMNS", "200").folder("elsewhere").run().ok();
        let resumes: Vec<&str> = told.lines().filter(|line| line.contains("claude --resume")).collect();
        let is_whole = |line: &&str| line.contains("cd [ROOT]/project && claude --resume s1");
        assert!(!resumes.is_empty() && resumes.iter().all(is_whole), "{command:?}: {told}");
    }
    hook("SessionStart", &json!({"source": "resume"}));
    world.hook(world.event("s1", "p2", "UserPromptSubmit", &json!({"prompt": "on"}))).ok();
    hook("SessionEnd", &json!({"reason": "other"}));
    assert_eq!(status_column(), "completed", "a later prompt has done its work");
}

/// No hook tells of a turn that a person has left: nobody calls it completed.
#[test]
fn a_turn_that_a_person_has_left_is_called_interrupted() {
    let world = TestWorld::new();
    world.hook(world.event("s1", "p1", "SessionStart", &json!({"source": "startup"}))).ok();
    world.hook(world.event("s1", "p1", "UserPromptSubmit", &json!({"prompt": "go"}))).ok();
    let main =
        || world.run(&["status", "--all"]).ok().lines().find(|line| line.contains("main p1")).unwrap().to_owned();
    assert!(main().contains("running"), "{}", main());
    let text = json!([{"type": "text", "text": "[Request interrupted by user]"}]);
    let row = json!({"type": "user", "timestamp": Timestamp::now().to_string(), "message": {"content": text}});
    world.append("s1.jsonl", format!("{row}\n"));
    assert!(main().contains("interrupted"), "{}", main());
    let told = world.run(&["explain", "p1"]).ok();
    assert!(told.contains("last event; interrupted") && !told.contains("completed"), "{told}");
}

/// A session of so many seconds' age with a main run that stands so.
fn standing(id: &str, seconds: i64, status: Status) -> (Session, Run) {
    let action = if status == Status::Paused { Action::Pause } else { Action::Terminate };
    let stops = trip("max_turns", (25, 25), action, Scope::Run);
    let mut session = Session { started: at(seconds), last: at(seconds), ..session(id) };
    let main = Run { started: at(seconds), ..main_run(id, &format!("p-{id}")) };
    session.main = Some(main.id.clone());
    let main = if status == Status::Running { main } else { ended(main, &stops, status) };
    (session, main)
}

/// A world with these sessions.
fn with_sessions(all: &[(Session, Run)]) -> TestWorld {
    let world = TestWorld::new();
    save(&world, |store| {
        for (session, run) in all {
            store.save_session(session).unwrap();
            store.save_run(run).unwrap();
        }
    });
    world
}

/// Returns the sessions that a text tells of, in its order.
fn listed(said: &str) -> Vec<&str> {
    said.lines().filter_map(|line| line.strip_prefix("session ")?.split(' ').next()).collect()
}

/// What is at work is read first, whenever it began.
#[test]
fn those_at_work_stand_before_those_that_are_held_or_stopped() {
    let world = with_sessions(&[
        standing("work1", 0, Status::Running),
        standing("stopped1", 10, Status::Failed),
        standing("held", 20, Status::Paused),
        standing("work2", 30, Status::Running),
        standing("stopped2", 40, Status::Failed),
    ]);
    let said = GivenTime::at(&world, at(60).wall_ms).run(&["status"]).ok();
    assert_eq!(listed(&said), ["work2", "work1", "held", "stopped2", "stopped1"], "{said}");
}

/// What waits for a person is said to, and is read first; beside what is at work a session that was stopped has a line.
#[test]
fn what_waits_for_a_person_stands_first_and_what_was_stopped_in_a_line() {
    let left = |(session, run)| (Session { status: Status::Completed, ..session }, run);
    let world = with_sessions(&[
        standing("asks", 0, Status::Running),
        standing("work", 30, Status::Running),
        left(standing("stopped", 40, Status::Failed)),
    ]);
    save(&world, |store| {
        let main = main_run("asks", "p-asks");
        let asks = trip("max_turns", (25, 25), Action::RequestIncrease, Scope::Run);
        let asked = record(RecordKind::IncreaseAsked, &main, &asks);
        store.save_record(&asked, at(50)).unwrap();
        let pending = json!({"tool_use_id": "t", "run": "p-asks", "finding": asks, "increase": 12});
        let mut session = store.session("asks").unwrap().unwrap();
        session.pending_prompts.push(serde_json::from_value(pending).unwrap());
        store.save_session(&session).unwrap();
    });
    let said = GivenTime::at(&world, at(60).wall_ms).run(&["status"]).ok();
    assert_eq!(listed(&said), ["asks", "work", "stopped"], "{said}");
    assert!(said.contains("main p-asks  waits for you"), "{said}");
    let lines: Vec<&str> = said.split("session stopped").nth(1).unwrap().lines().collect();
    assert!(lines.len() == 1 && lines[0].contains("`fusebox status stopped`"), "{said}");
}

/// Of what was stopped the newest are enough to read: the others are counted. What is at work is never counted only.
#[test]
fn of_many_sessions_that_were_stopped_the_newest_are_shown() {
    for at_work in [0, 5_usize] {
        let left = |(session, run)| (Session { status: Status::Completed, ..session }, run);
        let stopped = (0..12).map(|number| left(standing(&format!("stop{number:02}"), number, Status::Failed)));
        let works = (0..at_work).map(|number| standing(&format!("work{number}"), number as i64, Status::Running));
        let world = with_sessions(&stopped.chain(works).collect::<Vec<_>>());
        let run = |words: &[&str]| GivenTime::at(&world, at(60).wall_ms).run(words).ok();
        let said = run(&["status"]);
        let (works, stopped) = (listed(&said).len() - 3, listed(&said).split_off(listed(&said).len() - 3));
        assert_eq!((works, stopped), (at_work, vec!["stop11", "stop10", "stop09"]), "{said}");
        assert!(said.ends_with("\n9 older: `fusebox status --all`\n"), "{said}");
        assert_eq!(said.starts_with("No session is at work."), at_work == 0, "{said}");
        assert!(at_work > 0 || said.lines().count() < 30, "{said}");
        let all = run(&["status", "--all"]);
        assert_eq!((listed(&all).len(), all.contains("older")), (12 + at_work, false), "{all}");
        let json: Value = serde_json::from_str(&run(&["status", "--json"])).unwrap();
        assert_eq!(json["sessions"].as_array().unwrap().len(), 12 + at_work);
    }
}

/// Where lines are about several projects each names its own; of one it is not said again and again.
#[test]
fn a_line_of_the_log_says_which_project_it_is_of_where_there_are_several() {
    for projects in [&["/srv/shop"][..], &["/srv/shop", "/srv/bank/.git"]] {
        let world = with_sessions(&[]);
        save(&world, |store| {
            for (number, project) in projects.iter().enumerate() {
                let id = format!("s{number}");
                store.save_session(&Session { project: (*project).to_owned(), ..session(&id) }).unwrap();
                let run = developer(&id, &format!("a{number}"), "p1");
                let stops = trip("max_turns", (25, 25), Action::Terminate, Scope::Run);
                store.save_record(&record(RecordKind::AgentFailed, &run, &stops), at(number as i64)).unwrap();
            }
        });
        let said = world.run(&["log", "--since", "all"]).ok();
        let names =
            |name: &str| said.lines().filter(|line| format!("{line} ").contains(&format!(" in {name} "))).count();
        let each = usize::from(projects.len() > 1);
        assert_eq!((names("shop"), names("bank")), (each, each), "{said}");
    }
}

/// A line of the log is not broken within what a limit did.
#[test]
fn a_line_of_the_log_that_is_too_long_goes_on_with_the_limit() {
    let world = with_shop();
    let mut broken = 0;
    for width in ["70", "80", "100"] {
        let said = world.command(&["log", "--since", "all"]).env("COLUMNS", width).run().ok();
        let lines: Vec<&str> = said.lines().collect();
        for pair in lines.windows(2).filter(|pair| pair[1].starts_with("  ") && pair[0].starts_with('#')) {
            let limit = pair[1].trim().split(' ').next().unwrap();
            assert!(limit.contains('_'), "{said}");
            broken += 1;
        }
    }
    assert!(broken > 0);
}
