//! What is old goes, and nothing is counted twice or got around by it.

mod killed;
mod survivors;
mod year;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Barrier;
use std::thread;

use fusebox::domain::call::CallRecord;
use fusebox::domain::record::Record;
use fusebox::domain::session::{Run, Session, TranscriptPosition};
use fusebox::domain::spend::charge::Charge;
use fusebox::domain::spend::meters::Spend;
use fusebox::domain::time_units::DAY_MS;
use fusebox::platform::environment::Environment;
use fusebox::store::{Store, log_file};
use proptest::collection::vec;
use proptest::prelude::Strategy;
use proptest::sample::select;
use serde_json::Value;

use crate::laws::try_all;
use crate::state::{charge, main_run, save, session};
use crate::world::TestWorld;

/// Returns the moment so many days ago, in milliseconds since 1970.
fn ago(days: i64) -> i64 {
    Environment::real().now().wall_ms - days * DAY_MS
}

/// A session of days gone by: how old its last event is, of which project, with which responses, and whether it may be resumed.
#[derive(Clone, Debug)]
struct Past {
    days: i64,
    project: &'static str,
    has_transcript: bool,
    responses: Vec<Response>,
}

/// A response: days before the session's end, model, thousandths of a dollar, and whether it is a copy.
#[derive(Clone, Debug)]
struct Response {
    days: i64,
    model: &'static str,
    milli_usd: u64,
    inherited: bool,
}

fn response() -> impl Strategy<Value = Response> {
    let models = select(vec!["claude-opus-5-5", "claude-haiku-5-5", "another"]);
    (0..30_i64, models, 0..5000_u64, select(vec![false, false, true]))
        .prop_map(|(days, model, milli_usd, inherited)| Response { days, model, milli_usd, inherited })
}

fn past() -> impl Strategy<Value = Past> {
    let projects = select(vec!["/srv/shop/.git", "/srv/shop", "/srv/other"]);
    (0..200_i64, projects, select(vec![false, true]), vec(response(), 0..40))
        .prop_map(|(days, project, has_transcript, responses)| Past { days, project, has_transcript, responses })
}

/// Writes sessions of days gone by, each with a run, calls and responses.
fn write(world: &TestWorld, pasts: &[Past]) {
    save(world, |store| {
        for (number, past) in pasts.iter().enumerate() {
            write_one(world, store, &format!("s{number:03}"), past);
        }
    });
}

fn write_one(world: &TestWorld, store: &Store, id: &str, past: &Past) {
    let mut told = session(id);
    past.project.clone_into(&mut told.project);
    told.last.wall_ms = ago(past.days);
    told.started.wall_ms = ago(past.days + 1);
    if past.has_transcript {
        world.write(&format!("{id}.jsonl"), "");
        told.position = TranscriptPosition {
            path: world.path(&format!("{id}.jsonl")).display().to_string(),
            offset: 0,
            ..TranscriptPosition::default()
        };
    }
    let run = Run { started: told.started, last: told.last, ..main_run(id, &format!("{id}-p")) };
    store.save_session(&Session { main: Some(run.id.clone()), ..told }).unwrap();
    store.save_run(&run).unwrap();
    for (number, response) in past.responses.iter().enumerate() {
        let made = charge(&format!("{id}-m{number}"), &run, 0, response.milli_usd);
        let (model, inherited) = (response.model.to_owned(), response.inherited);
        let at_ms = ago(past.days + response.days);
        store.save_charge(&Charge { model, inherited, at_ms, ..made }).unwrap();
        let call = CallRecord { run: run.id.clone(), ..CallRecord::default() };
        store.save_call(id, &format!("{id}-t{number}"), &call).unwrap();
    }
}

/// The sums by a grouping over all times: cost, requests, tokens and cache reads of each group.
fn sums(world: &TestWorld, by: &str) -> BTreeMap<String, [String; 4]> {
    let csv = world.run(&["report", "--since", "all", "--by", by, "--csv"]).ok();
    let rows = csv.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    rows.map(|cells| (cells[0].clone(), [1, 2, 3, 4].map(|at| cells[at].clone()))).collect()
}

/// What all sessions were billed, by the store.
fn billed(world: &TestWorld) -> Spend {
    let store = Store::open_for(&world.path("state"), None).unwrap();
    let sums = store.sums().unwrap().into_iter().map(|sum| sum.spend);
    let sessions = store.sessions_since(i64::MIN).unwrap();
    let charges = sessions.iter().flat_map(|session| store.charges_of(&session.id).unwrap());
    let kept = charges.filter(|charge| !charge.inherited).map(|charge| charge.spend);
    sums.chain(kept).fold(Spend::default(), std::ops::Add::add)
}

#[test]
fn pruning_changes_no_sum_of_a_day_a_model_or_a_project() {
    try_all("sums", 12, &vec(past(), 1..12), |pasts: Vec<Past>| {
        let world = TestWorld::new();
        write(&world, &pasts);
        let all = |world: &TestWorld| ["day", "model", "project"].map(|by| sums(world, by));
        let before = all(&world);
        world.run(&["prune"]).ok();
        let after = all(&world);
        let left = Store::open_for(&world.path("state"), None).unwrap();
        let old = left.sessions_since(i64::MIN).unwrap().into_iter().filter(|session| session.last.wall_ms < ago(90));
        let detail: usize = old.map(|session| left.charges_of(&session.id).unwrap().len()).sum();
        match (before == after, detail) {
            (true, 0) => Ok(()),
            (same, detail) => Err(format!("the same: {same}, {detail} responses left\n{before:?}\n{after:?}")),
        }
    });
}

#[test]
fn detail_goes_by_age_and_counters_by_the_transcript() {
    let world = TestWorld::new();
    let one = |days, has_transcript| Past { days, project: "/srv/shop", has_transcript, responses: many() };
    write(&world, &[one(89, false), one(91, false), one(91, true), one(400, false)]);
    let told = "would prune what is older than";
    assert!(world.run(&["prune", "--dry-run"]).ok().starts_with(told));
    assert_eq!(billed(&world).requests, 4 * 300);
    let counted = |json: &str| {
        let told: Value = serde_json::from_str(json).unwrap();
        ["sessions", "kept_counters", "runs", "calls", "responses"].map(|key| told[key].as_u64().unwrap())
    };
    let expected = counted(&world.run(&["prune", "--dry-run", "--json"]).ok());
    assert_eq!(counted(&world.run(&["prune", "--json"]).ok()), expected);
    assert_eq!(expected, [2, 1, 2, 900, 900]);
    let store = Store::open_for(&world.path("state"), None).unwrap();
    let left: Vec<(String, usize, usize)> = store
        .sessions_since(i64::MIN)
        .unwrap()
        .into_iter()
        .map(|it| (it.id.clone(), store.charges_of(&it.id).unwrap().len(), store.runs_of(&it.id).unwrap().len()))
        .collect();
    drop(store);
    assert_eq!(left, [("s002".to_owned(), 0, 1), ("s000".to_owned(), 300, 1)]);
    assert_eq!(counted(&world.run(&["prune", "--json"]).ok()), [0; 5]);
    assert_eq!(billed(&world).requests, 4 * 300);
}

/// Three hundred responses: more than one step takes.
fn many() -> Vec<Response> {
    let model = "claude-opus-5-5";
    (0..300).map(|number| Response { days: number % 3, model, milli_usd: 7, inherited: false }).collect()
}

#[test]
fn people_are_told_what_is_no_longer_there() {
    let world = TestWorld::new();
    write(&world, &[Past { days: 120, project: "/srv/shop", has_transcript: false, responses: many() }]);
    world.run(&["prune"]).ok();
    let report = |arguments: &[&str]| world.run(&[&["report"], arguments].concat()).ok();
    assert!(report(&["--since", "all"]).contains("older sessions are pruned; `--by day`"), "sessions");
    assert!(report(&["--since", "all", "--by", "agent"]).contains("pruned"), "agents");
    assert!(report(&["--since", "all", "--by", "day"]).contains("SESSIONS leaves them out"), "days");
    assert!(!report(&["--by", "day"]).contains("pruned"), "a week that nothing was pruned of");
    assert!(report(&["--since", "all", "--json"]).contains("pruned_before"));
    let unknown = world.run(&["explain", "s000"]);
    assert!(unknown.stderr.contains("no run or session is called `s000`; those that ended before"), "{unknown}");
    assert!(world.run(&["log", "--since", "all"]).ok().starts_with("(records before "));
}

#[test]
fn an_agent_loses_nothing_by_it() {
    let mut world = TestWorld::new();
    let ninety = |days| Past { days, project: "/srv/shop", has_transcript: false, responses: many() };
    write(&world, &[ninety(60)]);
    for words in [&["prune", "--older-than", "40d"][..], &["prune"]] {
        let refused = world.command(words).env("CLAUDECODE", "1").run();
        assert!(refused.code == 1 && refused.stderr.contains("is a person's to run"), "{refused}");
    }
    assert_eq!(world.run(&["prune", "--older-than", "31d"]).code, 2, "a month's budget is counted from detail");
    // A repository cannot set it, and what an agent shows the background's pruning does not count.
    world.write("project/.claude/fusebox.json", r#"{"retention_days": 40}"#);
    world.run(&["prune"]).ok();
    world.write("elsewhere/fusebox.json", r#"{"retention_days": 40}"#);
    let elsewhere = world.path("elsewhere");
    world.set("CLAUDE_CONFIG_DIR", elsewhere);
    save(&world, |store| store.set_metadata("pruning", &format!("[{},{}]", ago(0), ago(0))).unwrap());
    world.run(&["prune", "--automatic"]).ok();
    let left = Store::open_for(&world.path("state"), None).unwrap().sessions_since(i64::MIN).unwrap();
    assert_eq!(left.len(), 1);
    // A person's own file does count where a person asks.
    world.run(&["prune"]).ok();
    assert!(Store::open_for(&world.path("state"), None).unwrap().sessions_since(i64::MIN).unwrap().is_empty());
}

#[test]
fn null_keeps_everything() {
    let world = TestWorld::new();
    write(&world, &[Past { days: 900, project: "/srv/shop", has_transcript: false, responses: many() }]);
    world.write("home/.claude/fusebox.json", r#"{"retention_days": null}"#);
    assert_eq!(world.run(&["prune"]).ok(), "everything is kept: `retention_days` is null\n");
    assert_eq!(Store::open_for(&world.path("state"), None).unwrap().charges_of("s000").unwrap().len(), 300);
}

#[test]
fn the_log_keeps_one_old_file() {
    let world = TestWorld::new();
    let full = "x".repeat((10 << 20) + 1);
    for _ in 0..3 {
        world.write("log/execution-limits.log", &full);
        log_file::append(log_file::LogPlace { of_session: "", state: &world.path("log") }, &[Record::default()]);
        assert_eq!(world.files("log"), "log/execution-limits.log\nlog/execution-limits.log.1");
        assert!(world.read("log/execution-limits.log").unwrap().len() < 1000);
    }
}

/// Hooks come at once where the log has grown long: one puts it aside, and every record is kept beside what was put aside.
#[test]
fn a_long_log_is_put_aside_once_however_many_write_to_it() {
    const WRITERS: u64 = 4;
    let world = TestWorld::new();
    let (folder, log) = (world.path("log"), world.path("log/execution-limits.log"));
    let length = |name: &str| fs::metadata(folder.join(name)).map_or(0, |meta| meta.len());
    let append = || log_file::append(log_file::LogPlace { of_session: "", state: &folder }, &[Record::default()]);
    append();
    let (record, full) = (length("execution-limits.log"), (10 << 20) + 1);
    for round in 0..200 {
        fs::remove_dir_all(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::File::create(&log).unwrap().set_len(full).unwrap();
        let together = Barrier::new(WRITERS as usize);
        thread::scope(|scope| {
            for _ in 0..WRITERS {
                scope.spawn(|| {
                    together.wait();
                    append();
                });
            }
        });
        let (now, earlier) = (length("execution-limits.log"), length("execution-limits.log.1"));
        assert!(earlier >= full, "round {round}: what was put aside is gone, {earlier} bytes are left");
        assert_eq!(now + earlier, full + WRITERS * record, "round {round}: a record is lost");
    }
}
