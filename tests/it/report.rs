//! Reports from outside: state in; text, JSON and CSV out.

mod columns;
mod explain;
mod limits;
#[cfg(target_os = "linux")]
pub mod orphans;
mod past;
mod status;

use fusebox::domain::action::Action;
use fusebox::domain::record::RecordKind;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::{Session, Status};
use fusebox::domain::spend::charge::Charge;
use insta::assert_snapshot;

use crate::state::{at, charge, developer, ended, main_run, record, save, session, trip, with_shop};
use crate::world::TestWorld;

/// A session, and a fork of it that has a copy of its response and one of its own.
fn with_fork() -> TestWorld {
    let world = TestWorld::new();
    let (origin, fork) = (main_run("0r1g1n", "p1"), main_run("f0rk", "p2"));
    save(&world, |store| {
        let client_cost = Some(1_250_000_000_000);
        store.save_session(&Session { status: Status::Completed, ..session("0r1g1n") }).unwrap();
        store.save_session(&Session { started: at(900), client_cost, ..session("f0rk") }).unwrap();
        store.save_run(&origin).unwrap();
        store.save_run(&fork).unwrap();
        store.save_charge(&charge("m1", &origin, 10, 1000)).unwrap();
        store.save_charge(&Charge { inherited: true, ..charge("m1", &fork, 10, 1000) }).unwrap();
        store.save_charge(&charge("m2", &fork, 910, 250)).unwrap();
    });
    world
}

#[test]
fn nothing_to_report_is_said_with_what_to_do() {
    let world = TestWorld::new();
    assert_snapshot!(world.run(&["status"]), @r"
    No session is at work. `fusebox report` shows those of the last 7 days.
    no hook of Fusebox is registered here, so nothing is counted or stopped: `fusebox init` registers it
    [exit 0]
    ");
    // What the state has none of is in no period; another state may have been meant.
    let nothing = world.run(&["report"]).to_string();
    assert_snapshot!(nothing, @r"
    No session yet in [ROOT]/state.
    `fusebox report --transcripts` shows what was before Fusebox; FUSEBOX_HOME names another state.
    [exit 0]
    ");
    for words in [&["report", "--since", "all"][..], &["report", "--by", "agent"], &["report", "--by", "tool"]] {
        assert_eq!(world.run(words).to_string(), nothing);
    }
    assert_snapshot!(world.run(&["report", "--json"]), @r#"
    {
      "version": 1,
      "sessions": [],
      "budgets": []
    }
    [exit 0]
    "#);
    assert_snapshot!(world.run(&["report", "--by", "day", "--json"]), @r#"
    {
      "version": 1,
      "days": []
    }
    [exit 0]
    "#);
    assert_snapshot!(world.run(&["log"]), @r"
    [stderr]
    nothing is recorded of this time; `fusebox log --since all` shows all that is
    [exit 0]
    ");
    assert_snapshot!(world.run(&["status", "zz"]), @r"
    [stderr]
    error: no run or session is called `zz`
      hint: no session or run is at work; `fusebox report --since all` lists all that were here, and each machine knows its own
    [exit 1]
    ");
    assert_snapshot!(world.run(&["status", "--me"]), @r"
    [stderr]
    error: `--me` is for agents, and nothing says which run asks
      hint: an agent runs `fusebox status --me` as a plain command in its shell, and Fusebox's hook adds the run; `fusebox status` shows every run
    [exit 1]
    ");
}

#[test]
fn the_report_sums_sessions_and_lists_trips() {
    let world = with_shop();
    assert_snapshot!(world.command(&["report", "--since", "all"]).env("COLUMNS", "120").run(), @r"
    STARTED           SESSION   PROJECT    STATUS     RUNS  TOOL CALLS  REQUESTS  TOKENS      COST
    2026-11-20 10:00  5f0c1d2e  /srv/shop  running       4          79         5   15.0k  2.36 USD
                      total                1 session     4          79         5   15.0k  2.36 USD

    TRIP  AT                SESSION   RUN                 LIMIT       USED  ACTION     LAYER
    #2    2026-11-20 10:04  5f0c1d2e  developer a3fa11ed  max_turns  25/25  terminate  project
    `fusebox explain NUMBER` tells more of a trip.

    developer a3fa11ed, ended by limit: 25 of 25 tool calls (max_turns, project)
      fusebox grant a3fa11ed max_turns=+12
    [exit 0]
    ");
    assert_snapshot!(world.run(&["report", "--since", "all"]), @r"
    STARTED           SESSION   PROJECT    STATUS     TOOL CALLS  TOKENS      COST
    2026-11-20 10:00  5f0c1d2e  /srv/shop  running            79   15.0k  2.36 USD
                      total                1 session          79   15.0k  2.36 USD
    (a wider terminal shows RUNS, REQUESTS, too)

    TRIP  AT                RUN                 LIMIT       USED  ACTION     LAYER
    #2    2026-11-20 10:04  developer a3fa11ed  max_turns  25/25  terminate  project
    (a wider terminal shows SESSION, too)
    `fusebox explain NUMBER` tells more of a trip.

    developer a3fa11ed, ended by limit: 25 of 25 tool calls (max_turns, project)
      fusebox grant a3fa11ed max_turns=+12
    [exit 0]
    ");
}

#[test]
fn a_fork_counts_its_copies_in_its_cost_and_not_in_sums() {
    let world = with_fork();
    assert_snapshot!(world.command(&["report", "--since", "all"]).env("COLUMNS", "120").run(), @r"
    STARTED           SESSION  PROJECT    STATUS      RUNS  TOOL CALLS  REQUESTS  TOKENS      COST       NEW    CLIENT
    2026-11-20 10:15  f0rk     /srv/shop  running        1           0         2    6000  1.25 USD  0.25 USD  1.25 USD
    2026-11-20 10:00  0r1g1n   /srv/shop  completed      1           0         1    3000  1.00 USD  1.00 USD
                      total               2 sessions     2           0                              1.25 USD
    [exit 0]
    ");
    assert_snapshot!(world.run(&["report", "--since", "all", "--by", "project"]), @r"
    PROJECT    SESSIONS  REQUESTS  INPUT  OUTPUT  CACHE CREATE  CACHE READ      COST
    /srv/shop         2         2   5000    1000             0       25.0k  1.25 USD
    total             2         2   5000    1000             0       25.0k  1.25 USD
    [exit 0]
    ");
    assert_snapshot!(world.run(&["report", "--since", "all", "--csv"]), @r"
    session_id,project,status,started_at,cost_usd,new_cost_usd,client_cost_usd,turns,requests,tokens,runs,trips
    f0rk,/srv/shop,running,2026-11-20T10:15:00.000Z,1.250000000000,0.250000000000,1.250000000000,0,2,6000,1,0
    0r1g1n,/srv/shop,completed,2026-11-20T10:00:00.000Z,1.000000000000,1.000000000000,,0,1,3000,1,0
    [exit 0]
    ");
}

#[test]
fn groups_sum_each_response_once() {
    let world = with_shop();
    assert_snapshot!(world.run(&["report", "--since", "all", "--by", "agent"]), @r"
    AGENT      SESSIONS  REQUESTS  INPUT  OUTPUT  CACHE CREATE  CACHE READ      COST
    developer         1         4  10.0k    2000             0       50.0k  1.86 USD
    main              1         1   2500     500             0       12.5k  0.50 USD
    total             1         5  12.5k    2500             0       62.5k  2.36 USD
    [exit 0]
    ");
    assert_snapshot!(world.run(&["report", "--since", "all", "--by", "model"]), @r"
    MODEL            REQUESTS  INPUT  OUTPUT  CACHE CREATE  CACHE READ      COST
    claude-opus-5-5         5  12.5k    2500             0       62.5k  2.36 USD
    total                   5  12.5k    2500             0       62.5k  2.36 USD
    (a wider terminal shows SESSIONS, too)
    [exit 0]
    ");
    assert_snapshot!(world.run(&["report", "--since", "all", "--by", "agent", "--csv"]), @r"
    agent,cost_usd,requests,tokens,cache_reads,sessions,input_tokens,output_tokens,cache_creation_tokens,cache_read_tokens
    developer,1.860000000000,4,12000,50000,1,10000,2000,0,50000
    main,0.500000000000,1,3000,12500,1,2500,500,0,12500
    [exit 0]
    ");
    assert_snapshot!(world.run(&["report", "--since", "all", "--by", "model", "--json"]), @r#"
    {
      "version": 1,
      "models": [
        {
          "model": "claude-opus-5-5",
          "cost_usd": "2.360000000000",
          "requests": 5,
          "tokens": 15000,
          "cache_reads": 62500,
          "sessions": 1,
          "input_tokens": 12500,
          "output_tokens": 2500,
          "cache_creation_tokens": 0,
          "cache_read_tokens": 62500
        }
      ]
    }
    [exit 0]
    "#);
}

#[test]
fn days_are_those_of_the_local_time_zone() {
    let mut world = with_shop();
    for (zone, day) in [("UTC", "2026-11-20"), ("NZDT-13", "2026-11-20"), ("LINT-14", "2026-11-21")] {
        world.set("TZ", zone);
        let line = format!("{day},2.360000000000,5,15000,62500,1,12500,2500,0,62500\n");
        let split = "input_tokens,output_tokens,cache_creation_tokens,cache_read_tokens";
        let head = format!("day,cost_usd,requests,tokens,cache_reads,sessions,{split}\n");
        let report = world.run(&["report", "--since", "all", "--by", "day", "--csv"]).ok();
        assert_eq!(report, format!("{head}{line}"), "{zone}");
    }
}

#[test]
fn a_period_leaves_out_what_was_before_it() {
    let mut world = with_fork();
    for (zone, since, sessions) in [
        ("UTC", "all", 2),
        ("UTC", "2026-11-20", 2),
        ("UTC", "2026-11-21", 0),
        ("LINT-14", "2026-11-21", 2),
        ("EST5", "2026-11-21", 0),
    ] {
        world.set("TZ", zone);
        let csv = world.run(&["report", "--since", since, "--csv"]).ok();
        assert_eq!(csv.lines().count() - 1, sessions, "{zone} {since}");
    }
    assert_snapshot!(world.run(&["report", "--since", "tomorrow"]), @r"
    [stderr]
    error: invalid value 'tomorrow' for '--since <PERIOD>': write `7d`, `today`, `2026-11-01` or `all`
      hint: `fusebox report --help` lists what it takes
    [exit 2]
    ");
}

#[test]
fn names_with_commas_and_quotes_are_quoted_in_csv() {
    let world = TestWorld::new();
    let project = "/srv/a \"b\", c".to_owned();
    save(&world, |store| store.save_session(&Session { project, ..session("s1") }).unwrap());
    assert_snapshot!(world.run(&["report", "--since", "all", "--csv"]), @r#"
    session_id,project,status,started_at,cost_usd,new_cost_usd,client_cost_usd,turns,requests,tokens,runs,trips
    s1,"/srv/a ""b"", c",running,2026-11-20T10:00:00.000Z,0.000000000000,0.000000000000,,0,0,0,0,0
    [exit 0]
    "#);
}

#[test]
fn dollars_are_exact_strings_in_json() {
    let world = TestWorld::new();
    let main = main_run("s1", "p1");
    let finding = trip("max_cost_usd", (980_000_000_000, 1_000_000_000_000), Action::Terminate, Scope::Run);
    let run = ended(developer("s1", "a1", "p1"), &finding, Status::Failed);
    save(&world, |store| {
        store.save_session(&Session { client_cost: Some(980_000_000_000), ..session("s1") }).unwrap();
        store.save_run(&main).unwrap();
        store.save_run(&run).unwrap();
        store.save_charge(&charge("m1", &run, 61, 980)).unwrap();
        store.save_record(&record(RecordKind::AgentFailed, &run, &finding), at(240)).unwrap();
    });
    let json = world.run(&["report", "--since", "all", "--json"]).ok();
    assert_eq!(world.run(&["status", "s1", "--all", "--json"]).ok(), json);
    let dollars = json.lines().filter(|line| line.contains("usd") || line.contains(".0000") || line.contains("used"));
    assert_snapshot!(dollars.collect::<Vec<_>>().join("\n"), @r#"
    "cost_usd": "0.980000000000",
    "new_cost_usd": "0.980000000000",
    "estimated_cost_usd": "0.000000000000",
    "earlier_cost_usd": "0.000000000000",
    "client_cost_usd": "0.980000000000",
      "max_cost_usd": "25.000000000000"
        "limit": "max_cost_usd",
        "used": "0.000000000000",
        "cap": "25.000000000000",
        "refused": 0,
        "cost_usd": "0.000000000000",
        "error": "Execution limit exceeded: [max_cost_usd]",
        "refused": 0,
        "cost_usd": "0.980000000000",
            "cost_usd": "0.980000000000"
          "max_cost_usd": "0.580000000000",
            "used": 17,
            "limit": "max_cost_usd",
            "used": "0.420000000000",
            "cap": "1.000000000000",
            "limit": "max_cost_usd",
            "used": "0.980000000000",
            "cap": "1.000000000000",
    "#);
}
