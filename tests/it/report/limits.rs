//! What reports, `status --me` and `explain` tell of limits beyond plain caps: models, rates, shared budgets, loops, refusals.

use fusebox::domain::action::{Action, OnLimit};
use fusebox::domain::budget::{Period, SharedBudget};
use fusebox::domain::event::{Agent, Event, EventKind};
use fusebox::domain::layer::Layer;
use fusebox::domain::limit::Limit;
use fusebox::domain::limit_set::{LimitSet, Models, Rate};
use fusebox::domain::mode::Mode;
use fusebox::domain::moment::Moment;
use fusebox::domain::record::{Record, RecordKind};
use fusebox::domain::scope::Scope;
use fusebox::domain::session::{Run, Session, Status};
use fusebox::domain::shared_limits::SharedLimits;
use fusebox::domain::spend::amount::{Amount, PICO};
use fusebox::domain::spend::meters::Spend;
use fusebox::domain::usage::Occasion;
use fusebox::domain::verdict::Finding;
use fusebox::engine::measure;
use fusebox::engine::session_state::SessionState;
use fusebox::wire::{messages, user_lines};
use insta::assert_snapshot;

use crate::state::{at, daily_budget, developer, ended, main_run, record, rules, save, session, trip, used};
use crate::world::TestWorld;

fn rate(limit: &str, tool: &str, max: u64) -> Rate {
    let (tool, layer, action, on_limit) = (tool.to_owned(), Layer::User, Action::Terminate, OnLimit::Refuse);
    Rate { limit: Limit::find(limit).unwrap(), tool, max, per_ms: 3_600_000, layer, action, on_limit }
}

fn now() -> Moment {
    fusebox::platform::environment::Environment::real().now()
}

/// A developer with a limit of every kind.
fn many_limits() -> Run {
    let caps = [
        ("max_turns", 25, Action::Terminate),
        ("max_context_tokens", 200_000, Action::Warn),
        ("max_tokens_per_turn", 8_000, Action::Warn),
        ("loop_detection", 1, Action::Terminate),
        ("max_denials", 5, Action::Terminate),
        ("max_cost_usd", PICO, Action::Terminate),
    ];
    let mut rules = rules(&caps, Layer::Project);
    rules.limits[5].models = Some(Models::Like("*opus*".to_owned()));
    rules.rates.push(rate("rate_limits", "WebSearch", 10));
    let mut run = Run { limits: rules, extremes: (50_000, 900).into(), refused: 2, ..developer("s1", "a1", "p1") };
    let spend = Spend { cost: Amount(PICO / 4), ..Spend::default() };
    run.by_model = [("claude-opus-5-5".to_owned(), spend), ("claude-haiku-5-5".to_owned(), spend)].into();
    for _ in 0..3 {
        run.windows.note(&run.limits.rates[0], "", now());
    }
    run
}

/// A shared_budget whose day lasts for a hundred years, with so much spent.
fn shared_budget(scope: Scope, id: &str, cost: u64) -> SharedBudget {
    let mut shared_budget = SharedBudget::new(scope, id);
    let spend = Spend { requests: 9, cost: Amount(cost), ..Spend::default() };
    let spent = [("claude-opus-5-5".to_owned(), spend)].into();
    shared_budget.periods[0] =
        Period { from_ms: 0, to_ms: 4_951_900_800_000, resets: "2126-11-21 00:00 +00:00".to_owned(), spent };
    shared_budget
}

fn with_many_limits() -> TestWorld {
    let world = TestWorld::new();
    let budget = |usd, layer| rules(&[("max_cost_usd_per_day", usd * PICO, Action::Terminate)], layer);
    let shared_limits = SharedLimits { user: budget(10, Layer::User), project: budget(5, Layer::Project) };
    let caps = [("max_parallel_subagents", 8, Action::Terminate), ("max_delegation_depth", 2, Action::Terminate)];
    save(&world, |store| {
        store.save_session(&Session { shared_limits, limits: rules(&caps, Layer::User), ..session("s1") }).unwrap();
        store.save_run(&many_limits()).unwrap();
        store.save_shared_budget(&shared_budget(Scope::User, "", 3 * PICO)).unwrap();
        store.save_shared_budget(&shared_budget(Scope::Project, &session("s1").project, 0)).unwrap();
    });
    world
}

#[test]
fn every_kind_of_limit_is_drawn_that_people_can_make_something_of() {
    assert_snapshot!(with_many_limits().run(&["status"]), @r"
    session s1  running  0.00 USD  since 2026-11-20 10:00
      /srv/shop
      subagents at once   [----------] 0/8 max_parallel_subagents  user
      depth of subagents  [#####-----] 1/2 max_delegation_depth  user
      developer a1  running  17 tool calls, 0.00 USD  depth 1  2 refused
        tool calls  [######----] 17/25 max_turns  project
        prompt      [##--------] 50.0k/200.0k max_context_tokens
          project, only warns
        completion  [#---------] 900/8000 max_tokens_per_turn  project, only warns
        cost        [##--------] 0.25/1.00 USD models.*opus*.max_cost_usd  project
        calls       [###-------] 3/10 in 60 min rate_limits.WebSearch  user

    all sessions of this user
      cost of the day  [###-------] 3.00/10.00 USD max_cost_usd_per_day  user
      max_cost_usd_per_day begins anew 2126-12-02 16:00

    all sessions of /srv/shop
      cost of the day  [----------] 0.00/5.00 USD max_cost_usd_per_day  project
      max_cost_usd_per_day begins anew 2126-12-02 16:00
    [exit 0]
    ");
}

#[test]
fn an_agent_is_told_what_it_has_left() {
    let world = with_many_limits();
    assert_snapshot!(world.run(&["status", "--me=s1/a1"]), @r"
    developer (run a1): running
      tool calls 17/25, 8 left (max_turns)
      prompt tokens of one request 50000/200000, 150000 tokens left (max_context_tokens)
      completion tokens of one request 900/8000, 7100 tokens left (max_tokens_per_turn)
      cost 0.25/1.00 USD, 0.75 USD left (models.*opus*.max_cost_usd)
      calls in the window 3/10 in 60 min, 7 left (rate_limits.WebSearch)
    the whole session:
      subagents at once 0/8, 8 left (max_parallel_subagents)
      depth of subagents 1/2, 1 left (max_delegation_depth)
    all sessions of this repository:
      cost of the day 0.00/5.00 USD, 5.00 USD left (max_cost_usd_per_day)
    all sessions of this user:
      cost of the day 3.00/10.00 USD, 7.00 USD left (max_cost_usd_per_day)
    [exit 0]
    ");
    let json: serde_json::Value = serde_json::from_str(&world.run(&["status", "--me=s1/a1", "--json"]).ok()).unwrap();
    assert_snapshot!(serde_json::to_string_pretty(&json["sessions"][0]["runs"][0]["remaining"]).unwrap(), @r#"
    {
      "max_context_tokens": 150000,
      "max_denials": 5,
      "max_tokens_per_turn": 7100,
      "max_turns": 8,
      "models.*opus*.max_cost_usd": "0.750000000000",
      "rate_limits.WebSearch": 7
    }
    "#);
    assert_snapshot!(serde_json::to_string_pretty(&json["budgets"]).unwrap(), @r#"
    [
      {
        "scope": "user",
        "id": "",
        "limit": "max_cost_usd_per_day",
        "used": "3.000000000000",
        "cap": "10.000000000000",
        "action": "terminate",
        "layer": "user",
        "remaining": "7.000000000000",
        "resets": "2126-12-02T16:00:00.000Z"
      },
      {
        "scope": "project",
        "id": "/srv/shop",
        "limit": "max_cost_usd_per_day",
        "used": "0.000000000000",
        "cap": "5.000000000000",
        "action": "terminate",
        "layer": "project",
        "remaining": "5.000000000000",
        "resets": "2126-12-02T16:00:00.000Z"
      }
    ]
    "#);
}

#[test]
fn a_warned_agent_reads_what_is_used_of_all_that_binds_it() {
    let mut state = SessionState::new(Session { counters: used(60, 9000), ..session("s1") });
    state.above.push(Box::new(Session { counters: used(90, 20_000), ..session("s0") }));
    state.shared_budgets.push(shared_budget(Scope::User, "", 3 * PICO));
    state.shared_budgets[0].limits = rules(&[("max_cost_usd_per_day", 10 * PICO, Action::Terminate)], Layer::User);
    state.shared_budgets[0].limits.rates.push(rate("rate_limits", "WebFetch", 5));
    state.insert_loaded_run(many_limits());
    let kind = EventKind::BatchEnded(Vec::new());
    let at = now();
    let event = Event { session: "s1".to_owned(), agent: Agent::Main, prompt_id: None, at, attended: true, kind };
    let run = state.run("a1").unwrap();
    let words = messages::remaining(&measure::usage(&state, run, Occasion::of(&event)), "", &event);
    assert_snapshot!(words.replace("; ", ";\n"), @r"
    tool calls 17/25 (max_turns), prompt tokens of one request 50000/200000 (max_context_tokens), completion tokens of one request 900/8000 (max_tokens_per_turn), cost 0.25/1.00 USD (models.*opus*.max_cost_usd), calls in the window 3/10 (rate_limits.WebSearch);
    of the whole session: cost 9.00/25.00 USD (max_cost_usd);
    of the session that started this one: cost 20.00/25.00 USD (max_cost_usd);
    of all sessions of this user: cost of the day 3.00/10.00 USD (max_cost_usd_per_day)
    ");
}

#[test]
fn the_hook_names_the_run_and_changes_nothing_else() {
    for mode in ["enforce", "observe"] {
        let world = TestWorld::new();
        world.write(
            "home/.claude/fusebox.json",
            format!(r#"{{"mode": "{mode}", "agents": {{"qa": {{"max_duration_ms": 60000}}}}}}"#),
        );
        let command = |agent: &str, command: &str| {
            let head = format!(r#"{{"session_id":"s1","transcript_path":"","cwd":"/p","prompt_id":"p1"{agent}"#);
            let call = format!(
                r#""tool_name":"Bash","tool_use_id":"t{}","tool_input":{{"command":"{command}"}}"#,
                command.len()
            );
            world.hook(format!(r#"{head},"hook_event_name":"PreToolUse",{call}}}"#)).ok()
        };
        assert_eq!(command("", "ls --me"), "");
        let told = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"fusebox status --me=s1/p1 --json"}}}"#;
        assert_eq!(command("", "fusebox status --me --json"), told, "{mode}");
        let clamped = if mode == "enforce" { r#","timeout":60000"# } else { "" };
        let told = format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","updatedInput":{{"command":"fusebox status --me=s1/a1"{clamped}}}}}}}"#
        );
        assert_eq!(command(r#","agent_id":"a1","agent_type":"qa""#, "fusebox status --me"), told, "{mode}");
        assert!(world.run(&["status", "--me=s1/p1"]).ok().starts_with("main (run p1): running\n"));
    }
}

#[test]
fn without_a_run_the_session_of_the_client_is_shown() {
    let world = with_many_limits();
    let own = world.command(&["status", "--me"]).env("CLAUDE_CODE_SESSION_ID", "s1").run();
    assert_eq!(own, world.run(&["status", "s1"]));
    assert_eq!(world.run(&["status", "--me=s1/zz"]).code, 1);
}

/// Explains a trip of a developer, the record of which is written as the hook writes it.
fn explained(finding: &Finding, change: impl Fn(&mut Record, &mut Session)) -> String {
    let world = TestWorld::new();
    let caps = [("max_parallel_subagents", 8, Action::Terminate)];
    let mut of = Session { limits: rules(&caps, Layer::User), ..session("s1") };
    let is_call = finding.limit().is_some_and(|limit| limit.ends == fusebox::domain::limit::Ends::Call);
    let run = developer("s1", "a1", "p1");
    let kind = if is_call { RecordKind::AgentWarning } else { RecordKind::AgentFailed };
    let mut told =
        Record { subject: finding.subject.clone(), frees: finding.frees.to_string(), ..record(kind, &run, finding) };
    change(&mut told, &mut of);
    let goes_on = told.event == Some(RecordKind::AgentWarning);
    let run = if goes_on { run } else { ended(run, finding, Status::Failed) };
    save(&world, |store| {
        store.save_session(&of).unwrap();
        store.save_run(&Run { limits: LimitSet::default(), ..run }).unwrap();
        store.save_record(&told, at(240)).unwrap();
    });
    let all = world.command(&["explain", "1"]).env("COLUMNS", "200").run().ok();
    let log = world.command(&["log", "--since", "all"]).env("COLUMNS", "200").run().ok();
    format!("{log}{}", all.split("Trip #1\n").nth(1).unwrap_or_default())
}

#[test]
fn a_refused_call_is_explained() {
    let finding = trip("max_parallel_subagents", (8, 8), Action::Terminate, Scope::Session);
    assert_snapshot!(explained(&finding, |_, _| {}), @r"
    #1 2026-11-20 10:04:00 AGENT_WARNING developer a1 max_parallel_subagents 8/8, call refused, built-in
      developer (a1) asked for one more when subagents at once of the whole session stood at 8; the cap of 8 was set by Fusebox's built-in defaults. The call was refused, and the run went on.
      A cap of 9 (`max_parallel_subagents: 9` in `session`) would have let this call through.
    ");
    let rate = trip("rate_limits", (10, 10), Action::Terminate, Scope::User);
    let rate = Finding { subject: "WebSearch in 60 s".to_owned(), frees: "in 12 s".to_owned().into(), ..rate };
    assert_snapshot!(explained(&rate, |_, _| {}), @r"
    #1 2026-11-20 10:04:00 AGENT_WARNING developer a1 rate_limits 10/10 (WebSearch in 60 s), call refused, built-in
      developer (a1) was at 10 of 10 calls in the window of all sessions of this user (WebSearch in 60 s), the next slot to open at 2026-11-20 10:04:12; the cap was set by Fusebox's built-in defaults. The
        call was refused, and the run went on.
      Spread over time nothing would have been refused; more in the same time takes a larger number in `rate_limits`.
    ");
}

#[test]
fn loops_and_storms_of_refusals_are_explained() {
    let finding = trip("loop_detection", (2, 1), Action::Terminate, Scope::Run);
    let what = "the same call had the same result 5 times in a row".to_owned();
    assert_snapshot!(explained(&Finding { subject: what, ..finding }, |_, _| {}), @r"
    #1 2026-11-20 10:04:00 AGENT_FAILED developer a1 loop_detection (the same call had the same result 5 times in a row), terminate, project
      developer (a1) repeated itself: the same call had the same result 5 times in a row; loop_detection was set by the project's .claude/fusebox.json. Its action is terminate: the run was stopped and its
        work is partial.
      Another call, another input, or a look at why the result stays the same would have been progress; `loop_detection: false` in `main`, or in the agent's block of `agents`, switches this off.

    Next
      fusebox resume a1
    ");
    let denials = trip("max_denials", (5, 5), Action::Terminate, Scope::Run);
    assert_snapshot!(explained(&denials, |_, _| {}), @r"
    #1 2026-11-20 10:04:00 AGENT_FAILED developer a1 max_denials 5/5, terminate, project
      developer (a1) had calls refused in 5 batches in a row; the cap of 5 was set by the project's .claude/fusebox.json. Its action is terminate: the run was stopped and its work is partial.
      Work that needs no refused call would have gone on; `fusebox log` shows the limits that refused.

    Next
      fusebox grant a1 max_denials=+2
    ");
}

#[test]
fn what_sessions_share_is_explained() {
    let budget = trip("max_cost_usd_per_day", (25 * PICO, 25 * PICO), Action::Terminate, Scope::User);
    let budget = Finding { frees: "at 2026-11-21 00:00 +01:00".to_owned().into(), ..budget };
    assert_snapshot!(explained(&budget, |_, of| of.shared_limits = daily_budget(Action::Terminate)), @r"
    #1 2026-11-20 10:04:00 AGENT_FAILED developer a1 user.max_cost_usd_per_day 25.00/25.00 USD, terminate, built-in
      developer (a1) was at cost of the day of all sessions of this user 25.00 USD, which begins anew at 2026-11-21 00:00 +01:00; the cap of 25.00 USD was set by Fusebox's built-in defaults. Its action is
        terminate: the run was stopped and its work is partial.
      The budget is shared: what other sessions spend counts too. A larger `max_cost_usd_per_day` in `user` gives more each time.

    Next
      fusebox grant user max_cost_usd_per_day=+12.50
    ");
    let outer = trip("max_cost_usd", (10 * PICO, 10 * PICO), Action::Terminate, Scope::Outer);
    assert_snapshot!(explained(&outer, |_, of| of.outer = Some("0ther0ne-1234".to_owned())), @r"
    #1 2026-11-20 10:04:00 AGENT_FAILED developer a1 session.max_cost_usd 10.00/10.00 USD, terminate, built-in
      developer (a1) was at cost of the session that started this one 10.00 USD; the cap of 10.00 USD was set by Fusebox's built-in defaults. Its action is terminate: the run was stopped and its work is
        partial.
      The cap is that other session's.

    Next
      fusebox grant 0ther0ne max_cost_usd=+5.00
    ");
}

#[test]
fn a_session_is_explained_without_what_it_shares() {
    let story = with_many_limits().run(&["explain", "s1"]).ok();
    let shared: Vec<&str> = story.lines().filter(|line| line.contains("max_cost_usd_per_day")).collect();
    assert_eq!(shared, Vec::<&str>::new());
}

#[test]
fn what_is_held_by_a_shared_budget_goes_on_with_more_of_it() {
    let more = "    fusebox grant user max_cost_usd_per_day=+12.50";
    let (terminate, pause) = (Action::Terminate, Action::Pause);
    for (run, action, next) in [
        (main_run("s1", "p1"), terminate, more),
        (main_run("s1", "p1"), pause, more),
        (developer("s1", "a1", "p1"), terminate, more),
        (developer("s1", "a1", "p1"), pause, more),
    ] {
        let budget = trip("max_cost_usd_per_day", (25 * PICO, 25 * PICO), action, Scope::User);
        let budget = Finding { frees: "at 2026-11-21 00:00 +01:00".to_owned().into(), ..budget };
        let status = if action == pause { Status::Paused } else { Status::Failed };
        let world = TestWorld::new();
        save(&world, |store| {
            store.save_session(&Session { shared_limits: daily_budget(action), ..session("s1") }).unwrap();
            store.save_run(&ended(run, &budget, status)).unwrap();
        });
        let status = world.run(&["status"]).ok();
        assert_eq!(status.lines().rfind(|line| line.starts_with("    ")), Some(next), "{status}");
    }
}

#[test]
fn a_person_is_named_the_command_that_does_it() {
    let budget = |action| trip("max_cost_usd_per_day", (25 * PICO, 25 * PICO), action, Scope::User);
    let budget = |action| Finding { frees: "at midnight".to_owned().into(), increase: PICO, ..budget(action) };
    let free = main_run("s1", "p1");
    let prompt = |run: &Run, action| user_lines::blocked_prompt(&session("s1"), run, &budget(action), &[]);
    let held = ended(free.clone(), &budget(Action::Pause), Status::Paused);
    let addressee = |trip: Finding| messages::addressee("a1", &trip, true);
    let of_run = |limit, figures| trip(limit, figures, Action::Terminate, Scope::Run);
    for (words, command) in [
        (prompt(&free, Action::Terminate), "`fusebox grant user max_cost_usd_per_day=+1.00`"),
        (prompt(&free, Action::Pause), "`fusebox grant user max_cost_usd_per_day=+1.00`"),
        (prompt(&held, Action::Pause), "`fusebox grant user max_cost_usd_per_day=+1.00`"),
        (addressee(budget(Action::Terminate)), "`fusebox resume a1`"),
        (addressee(of_run("loop_detection", (2, 1))), "`fusebox resume a1`"),
        (addressee(of_run("max_turns", (5, 5))), "`fusebox grant a1 max_turns=+2`"),
    ] {
        assert!(words.contains(command), "{words}");
    }
}

#[test]
fn what_was_only_observed_is_explained_as_that() {
    let finding = trip("models.*opus*.max_cost_usd", (PICO, PICO), Action::Terminate, Scope::Run);
    let observed = |record: &mut Record, of: &mut Session| {
        (record.event, record.mode) = (Some(RecordKind::AgentWarning), "observe".to_owned());
        of.mode = Mode::Observe;
    };
    assert_snapshot!(explained(&finding, observed), @r"
    #1 2026-11-20 10:04:00 AGENT_WARNING developer a1 models.*opus*.max_cost_usd 1.00/1.00 USD, terminate (observed), project
      developer (a1) was at cost on models like `*opus*` 1.00 USD; the cap of 1.00 USD was set by the project's .claude/fusebox.json. Its action is terminate: nothing was blocked, since the mode is
        observe.
      Nothing was blocked, so nothing is to be done.
    ");
}

#[test]
fn partial_work_is_shown_with_what_is_missing() {
    let world = TestWorld::new();
    let done = Run { status: Status::Completed, ..developer("s1", "a1", "none") };
    let missing = vec!["checkpoint `tests` is not in the file".to_owned()];
    save(&world, |store| {
        store.save_session(&session("s1")).unwrap();
        store.save_run(&Run { partial: true, ..done.clone() }).unwrap();
        store.save_run(&Run { id: "a2".to_owned(), missing, limits: LimitSet::default(), ..done }).unwrap();
    });
    assert_snapshot!(world.run(&["status", "--all"]), @r"
    session s1  running  0.00 USD  since 2026-11-20 10:00
      /srv/shop
      cost  [----------] 0.00/25.00 USD max_cost_usd  built-in
      developer a1  completed, partial  17 tool calls, 0.00 USD  depth 1
        tool calls  [######----] 17/25 max_turns  project
        cost        [####------] 0.42/1.00 USD max_cost_usd  project
      developer a2  completed, partial  17 tool calls, 0.00 USD  depth 1
        missing: checkpoint `tests` is not in the file
    [exit 0]
    ");
}
