//! Commands from outside: what a person grants, resumes, pauses, stops and resets.

mod advice;
mod agents;
mod answered_by_hooks;
mod blocked_prompts;
mod cold_grants;
mod everything;
mod exact_grants;
mod fixture;
mod followers;
mod grant;
mod grant_without_id;
mod held_besides;
mod held_twice;
#[cfg(target_os = "linux")]
mod hidden;
mod interrupted;
mod late_yes;
mod law;
mod left_sessions;
mod left_stops;
mod let_go_on;
mod next_steps;
mod off;
mod one_line;
mod one_reading;
mod prompt_block;
mod put_off;
mod read_later;
mod refused;
mod reload;
mod rollout;
mod said_once;
mod short_times;
mod told_ends;
mod two_caps;
mod untold_ends;
mod used_by_now;
mod words;

use fusebox::domain::action::Action;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::{Counters, Order, Run, Session, Status};
use fusebox::domain::spend::amount::PICO;
use insta::assert_snapshot;

use crate::state::{developer, ended, load, main_run, save, session, trip, used, with_shop};
use crate::world::TestWorld;

/// The session of `with_shop`.
pub const SHOP: &str = "5f0c1d2e-0000";

/// A session that its own cost limit has paused, with its main run and a developer.
pub fn with_paused_session() -> TestWorld {
    let world = TestWorld::new();
    let finding = trip("max_cost_usd", (24 * PICO, 25 * PICO), Action::Pause, Scope::Session);
    let order = Some(Order::halted(finding.clone(), None));
    let main = ended(main_run("5e55", "p1"), &finding, Status::Paused);
    let developer = ended(developer("5e55", "d1", "p1"), &finding, Status::Paused);
    save(&world, |store| {
        let counters = used(40, 24_000);
        let main_id = Some(main.id.clone());
        let paused = Session { status: Status::Paused, order, main: main_id, counters, ..session("5e55") };
        store.save_session(&paused).unwrap();
        store.save_run(&main).unwrap();
        store.save_run(&developer).unwrap();
    });
    world
}

/// Shows where a session and its runs stand, and what the user will be told.
pub fn standing(world: &TestWorld, id: &str) -> String {
    let (session, runs) = load(world, id);
    let order =
        |order: &Option<Order>| order.as_ref().map(|it| format!(" by {}", it.finding.source)).unwrap_or_default();
    let caps = |rules: &fusebox::domain::limit_set::LimitSet| {
        let caps =
            rules.limits.iter().map(|rule| format!(" {} {} {}", rule.limit, rule.limit.show(rule.cap), rule.layer));
        caps.collect::<Vec<_>>().join(",")
    };
    let line = |run: &Run| {
        let goes_on = if run.resumed { ", next prompt" } else { "" };
        format!("{}: {}{}{goes_on};{}", run.id, run.status.as_str(), order(&run.order), caps(&run.limits))
    };
    let first = format!("session: {}{};{}", session.status.as_str(), order(&session.order), caps(&session.limits));
    let lines = std::iter::once(first).chain(runs.iter().map(line)).chain(session.user_notifications);
    world.normalized(&lines.map(|line| line.trim_end_matches(';').to_owned()).collect::<Vec<_>>().join("\n"))
}

/// Shows the log without its moments.
pub fn log(world: &TestWorld) -> String {
    let outcome = world.command(&["log", "--since", "all"]).env("COLUMNS", "200").run();
    let (wide, is_empty) = (&outcome.stdout, outcome.stderr.starts_with("nothing is recorded yet"));
    assert!(outcome.code == 0 && (outcome.stderr.is_empty() || is_empty), "{outcome}");
    let timeless = |line: &str| line.splitn(4, ' ').last().unwrap_or_default().to_owned();
    wide.lines().map(timeless).collect::<Vec<_>>().join("\n")
}

#[test]
fn only_a_person_pulls_the_commands_that_loosen() {
    let world = with_shop();
    let before = standing(&world, SHOP);
    for args in [&["grant", "a3fa", "max_turns=+1"][..], &["resume", "a3fa"], &["reset", "a3fa"]] {
        let outcome = world.command(args).env("CLAUDECODE", "1").run();
        let (command, code) = (args[0], outcome.code);
        assert_eq!((code, outcome.stdout.as_str()), (1, ""), "{command}");
        let first = outcome.stderr.lines().next().unwrap_or_default().to_owned();
        let error = format!("error: `fusebox {command}` is a person's to run: this shell was started by Claude Code");
        assert_eq!(first, error);
    }
    assert_eq!(standing(&world, SHOP), before);
}

#[test]
fn a_pause_holds_a_run_with_those_below_it_and_a_resume_lifts_it_from_all() {
    let world = with_shop();
    assert_snapshot!(world.run(&["pause", "b7d1", "--reason", "lunch"]), @r"
    main b7d1aaaa is paused; that takes effect at its next event
    1 run below it follows
    `fusebox resume b7d1aaaa` lets it go on
    [exit 0]
    ");
    assert_snapshot!(standing(&world, SHOP), @r"
    session: running; max_cost_usd 25.00 USD built-in
    b7d1aaaa-0000: paused by explicit_pause
    a1b2c3d4e5: paused by explicit_pause; max_turns 25 project, max_cost_usd 1.00 USD project
    a2d0de0000: completed; max_turns 25 project, max_cost_usd 1.00 USD project
    a3fa11ed00: failed by max_turns; max_turns 25 project, max_cost_usd 1.00 USD project
    ");
    assert_snapshot!(world.run(&["status"]), @r#"
    session 5f0c1d2e  pausing  2.36 USD  since 2026-11-20 10:00
      /srv/shop
      cost  [----------] 2.36/25.00 USD max_cost_usd  built-in
      main b7d1aaaa  paused  0 tool calls, 0.50 USD
        developer a1b2c3d4  pausing  17 tool calls, 0.42 USD  depth 1  task 7
        developer a3fa11ed  ended by limit  25 tool calls, 0.64 USD  depth 1
      + 1 finished; --all shows it
      main b7d1aaaa, paused: a person paused it (`fusebox pause`): "lunch"
        fusebox resume b7d1aaaa
      developer a3fa11ed, ended by limit: 25 of 25 tool calls (max_turns, project)
        fusebox grant a3fa11ed max_turns=+12
    [exit 0]
    "#);
    assert_snapshot!(world.run(&["pause", "b7d1"]), @r"
    [stderr]
    error: main b7d1aaaa is paused already
      hint: `fusebox explain b7d1aaaa` tells why
    [exit 1]
    ");
    assert_snapshot!(world.run(&["resume", "b7d1", "--no-grant"]), @r"
    main b7d1aaaa: paused -> resumed
    main b7d1aaaa goes on with the next prompt
    [exit 0]
    ");
    assert_snapshot!(standing(&world, SHOP), @r"
    session: running; max_cost_usd 25.00 USD built-in
    b7d1aaaa-0000: running, next prompt
    a1b2c3d4e5: running; max_turns 25 project, max_cost_usd 1.00 USD project
    a2d0de0000: completed; max_turns 25 project, max_cost_usd 1.00 USD project
    a3fa11ed00: failed by max_turns; max_turns 25 project, max_cost_usd 1.00 USD project
    Fusebox: somebody without a terminal resumed main b7d1aaaa.
    ");
    assert_snapshot!(log(&world), @r#"
    AGENT_WARNING developer a3fa11ed max_turns 20/25 (80 %+), warn, project
    AGENT_FAILED developer a3fa11ed max_turns 25/25, terminate, project
    AGENT_PAUSED main b7d1aaaa Agent was paused by `fusebox pause`: "lunch"
    AGENT_RESUMED main b7d1aaaa somebody without a terminal resumed the agent
    "#);
}

#[test]
fn a_stop_by_task_ends_a_run_and_can_be_lifted() {
    let world = with_shop();
    assert_snapshot!(world.run(&["stop", "--task", "#7", "--reason", "wrong branch"]), @r"
    developer a1b2c3d4 is stopped; that takes effect at its next event
    `fusebox resume a1b2c3d4` lets it go on
    [exit 0]
    ");
    assert_snapshot!(standing(&world, SHOP), @r"
    session: running; max_cost_usd 25.00 USD built-in
    b7d1aaaa-0000: running
    a1b2c3d4e5: stopped by explicit_stop; max_turns 25 project, max_cost_usd 1.00 USD project
    a2d0de0000: completed; max_turns 25 project, max_cost_usd 1.00 USD project
    a3fa11ed00: failed by max_turns; max_turns 25 project, max_cost_usd 1.00 USD project
    ");
    assert_snapshot!(world.run(&["resume", "--task", "7", "--grant", "max_turns=+5", "--grant", "max_cost_usd=+4"]), @r"
    developer a1b2c3d4: stopping -> resumed
    max_turns of developer a1b2c3d4: 25 -> 30 (17 used)
    max_cost_usd of developer a1b2c3d4: 1.00 USD -> 5.00 USD (0.42 USD used)
    developer a1b2c3d4 is still at work and goes on
    [exit 0]
    ");
    assert_snapshot!(standing(&world, SHOP), @r"
    session: running; max_cost_usd 25.00 USD built-in
    b7d1aaaa-0000: running
    a1b2c3d4e5: running; max_turns 30 grant, max_cost_usd 5.00 USD grant
    a2d0de0000: completed; max_turns 25 project, max_cost_usd 1.00 USD project
    a3fa11ed00: failed by max_turns; max_turns 25 project, max_cost_usd 1.00 USD project
    Fusebox: somebody without a terminal resumed developer a1b2c3d4.
    Fusebox: somebody without a terminal raised max_turns of developer a1b2c3d4 from 25 to 30.
    Fusebox: somebody without a terminal raised max_cost_usd of developer a1b2c3d4 from 1.00 USD to 5.00 USD.
    ");
}

#[test]
fn a_paused_run_can_be_stopped_for_good() {
    let world = with_shop();
    let _paused = world.run(&["pause", "a1"]).ok();
    assert_snapshot!(world.run(&["stop", "a1"]), @r"
    developer a1b2c3d4 is stopped; that takes effect at its next event
    `fusebox resume a1b2c3d4` lets it go on
    [exit 0]
    ");
    assert_snapshot!(world.run(&["stop", "a1"]), @r"
    [stderr]
    error: developer a1b2c3d4 is stopped already
      hint: `fusebox explain a1b2c3d4` tells why
    [exit 1]
    ");
}

#[test]
fn a_paused_session_goes_on_with_its_limit_raised() {
    let world = with_paused_session();
    assert_snapshot!(world.run(&["status"]), @r"
    session 5e55  paused  0.00 USD  since 2026-11-20 10:00
      /srv/shop
      cost  [#########-] 24.00/25.00 USD max_cost_usd  built-in
      main p1  paused  0 tool calls, 0.00 USD
        developer d1  paused  17 tool calls, 0.00 USD  depth 1
      session 5e55, paused: cost of the session 24.00/25.00 USD (max_cost_usd,
        built-in)
        fusebox resume 5e55
    [exit 0]
    ");
    assert_snapshot!(world.run(&["resume", "5e55"]), @r"
    session 5e55: paused -> resumed
    max_cost_usd would stop it again at once (24.00 USD of 25.00 USD used): raised by its increase, 25.00 USD -> 37.50 USD
    session 5e55 goes on with its next prompt, which tells it that developer d1 waits for a message
    [exit 0]
    ");
    assert_snapshot!(standing(&world, "5e55"), @r"
    session: running; max_cost_usd 37.50 USD grant
    p1: running, next prompt
    d1: completed; max_turns 25 project, max_cost_usd 1.00 USD project
    Fusebox: somebody without a terminal resumed session 5e55.
    Fusebox: with that, max_cost_usd was raised from 25.00 USD to 37.50 USD.
    ");
}

#[test]
fn resuming_a_run_that_its_session_holds_resumes_the_session() {
    let world = with_paused_session();
    assert_snapshot!(world.run(&["resume", "p1", "--no-grant"]), @r"
    session 5e55: paused -> resumed
    max_cost_usd would stop it again at once (24.00 USD of 25.00 USD used): `fusebox grant 5e55 max_cost_usd=+12.50` gives more
    then session 5e55 goes on with its next prompt, which tells it that developer d1 waits for a message
    [exit 0]
    ");
    assert_snapshot!(standing(&world, "5e55"), @r"
    session: running; max_cost_usd 25.00 USD built-in
    p1: running, next prompt
    d1: completed; max_turns 25 project, max_cost_usd 1.00 USD project
    Fusebox: somebody without a terminal resumed session 5e55.
    ");
}

#[test]
fn a_session_whose_prompts_are_kept_back_goes_on_although_no_order_stands() {
    let world = TestWorld::new();
    let main = Run { status: Status::Completed, ..main_run("5e55", "p1") };
    save(&world, |store| {
        let main_id = Some(main.id.clone());
        store.save_session(&Session { main: main_id, counters: used(40, 26_000), ..session("5e55") }).unwrap();
        store.save_run(&main).unwrap();
    });
    assert_snapshot!(world.run(&["resume", "5e55"]), @r"
    session 5e55: idle -> resumed
    max_cost_usd would stop it again at once (26.00 USD of 25.00 USD used): raised by its increase, 25.00 USD -> 50.00 USD
    session 5e55 goes on with its next prompt
    [exit 0]
    ");
    assert_snapshot!(world.run(&["resume", "5e55"]), @r"
    [stderr]
    error: session 5e55 is idle: nothing holds it
      hint: `fusebox status` shows what is held
    [exit 1]
    ");
    assert_snapshot!(world.run(&["resume", "p1"]), @r"
    [stderr]
    error: main p1 is completed: nothing holds it
      hint: `fusebox status` shows what is held
    [exit 1]
    ");
}

#[test]
fn a_reset_counts_from_zero_and_keeps_what_was_spent_in_the_report() {
    let world = with_shop();
    let spent = world.run(&["report", "--since", "all", "--by", "agent"]).ok();
    assert_snapshot!(world.run(&["reset", "a3fa"]), @r"
    developer a3fa11ed counts from zero again; it had 25 tool calls, 4 requests, 12000 tokens and 0.64 USD
    max_cost_usd would stop it again at once (0.00 USD of 1.00 USD used): `fusebox grant a3fa11ed max_cost_usd=+0.50` gives more
    then developer a3fa11ed goes on when the main agent sends it a message
    [exit 0]
    ");
    assert_snapshot!(world.run(&["reset", SHOP]), @r"
    session 5f0c1d2e counts from zero again; it had 79 tool calls, 4 requests, 12000 tokens and 2.36 USD
    [exit 0]
    ");
    let (session, runs) = load(&world, SHOP);
    assert_eq!(session.counters, Counters::default());
    assert_eq!(runs.iter().filter(|run| run.counters.turns == 0).count(), 2);
    assert_eq!(world.run(&["report", "--since", "all", "--by", "agent"]).ok(), spent);
}

#[test]
fn a_command_without_a_target_names_the_candidates() {
    assert_snapshot!(TestWorld::new().run(&["reset"]), @r"
    [stderr]
    error: no run or session is named
      hint: no session or run is at work; `fusebox report --since all` lists all that were here, and each machine knows its own
    [exit 2]
    ");
    let world = with_shop();
    let last = Run { status: Status::Running, order: None, ..developer(SHOP, "a3fa11ed00", "b7d1aaaa-0000") };
    save(&world, |store| store.save_run(&last).unwrap());
    save(&world, |store| store.save_session(&session("77aa")).unwrap());
    assert_snapshot!(world.run(&["reset"]), @r"
    [stderr]
    error: no run or session is named
      hint: name one of these:
        session 77aa  running
        session 5f0c1d2e  running
        run a1b2c3d4  developer  running  session 5f0c1d2e
        run a3fa11ed  developer  running  session 5f0c1d2e
        run b7d1aaaa  main  running  session 5f0c1d2e
    [exit 2]
    ");
    assert_snapshot!(with_shop().run(&["resume", "a2d0"]), @r"
    [stderr]
    error: developer a2d0de00 is completed: nothing holds it
      hint: `fusebox status` shows what is held
    [exit 1]
    ");
}

#[test]
fn resuming_a_failed_run_raises_the_limit_that_stopped_it() {
    let world = with_shop();
    assert_snapshot!(world.run(&["resume", "a3fa"]), @r"
    developer a3fa11ed: ended by limit -> resumed
    max_turns would stop it again at once (25 of 25 used): raised by its increase, 25 -> 37
    max_cost_usd would stop it again at once (0.64 USD of 1.00 USD used): raised by its increase, 1.00 USD -> 2.00 USD
    developer a3fa11ed goes on when the main agent sends it a message
    [exit 0]
    ");
    assert_snapshot!(world.run(&["status", "a3fa"]), @r"
    session 5f0c1d2e  running  2.36 USD  since 2026-11-20 10:00
      /srv/shop
      cost  [----------] 2.36/25.00 USD max_cost_usd  built-in
      developer a3fa11ed  may go on  25 tool calls, 0.64 USD  depth 1
        tool calls  [######----] 25/37 max_turns  grant
        cost        [###-------] 0.64/2.00 USD max_cost_usd  grant
      developer a3fa11ed, may go on
        when the main agent sends it a message: ask for that in the client
    [exit 0]
    ");
}
