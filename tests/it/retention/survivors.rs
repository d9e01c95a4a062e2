//! What has to survive: counters, orders and policies of sessions that may be resumed, and what was billed already.

use fusebox::domain::event::{Agent, Event, EventKind};
use fusebox::domain::moment::Moment;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::{Process, Session};
use fusebox::domain::start_source::StartSource;
use fusebox::domain::text::rfc3339;
use fusebox::domain::time_units::DAY_MS;
use fusebox::hook::background::prune_due;
use fusebox::hook::policy::retention;
use fusebox::platform::locks;
use fusebox::store::Store;
use fusebox::upkeep::prune;
use serde_json::{Value, json};

use crate::given::GivenTime;
use crate::retention::{ago, billed, sums};
use crate::session_commands::with_paused_session;
use crate::state::{TEN, developer, load, record, save, trip};
use crate::world::{TestWorld, with};

/// A session cap of four responses of 0.00584 USD, and a budget of the user's day that is wide.
const POLICY: &str = r#"{"session": {"max_cost_usd": 0.025, "grace_turns": 0, "timeout_action": "terminate", "warn_at": []},
    "user": {"max_cost_usd_per_day": 5}}"#;

/// Returns the row of a response of so many days ago, which costs 0.00584 USD.
fn response(id: &str, days: i64) -> String {
    let usage = json!({"input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": 2000});
    let message = json!({"role": "assistant", "id": id, "model": "claude-opus-5-5", "content": [], "usage": usage});
    format!("{}\n", json!({"type": "assistant", "timestamp": rfc3339::format(ago(days)), "message": message}))
}

fn input(world: &TestWorld, transcript: &str, name: &str, rest: &Value) -> Value {
    with(
        json!({"session_id": "s1", "transcript_path": world.path(transcript), "cwd": world.path("project"),
        "prompt_id": "p1", "hook_event_name": name}),
        rest,
    )
}

fn resume(world: &TestWorld, transcript: &str) -> String {
    world.hook(input(world, transcript, "SessionStart", &json!({"source": "resume"}))).ok();
    world.hook(input(world, transcript, "UserPromptSubmit", &json!({"prompt": "on", "prompt_id": "p2"}))).ok()
}

/// A world with a session that had three responses, and no event for so many days.
fn with_old_session(days: i64) -> TestWorld {
    let world = TestWorld::new();
    world.write("home/.claude/fusebox.json", POLICY);
    world.write("s1.jsonl", (0..3).map(|number| response(&format!("m{number}"), days)).collect::<String>());
    let then = GivenTime::at(&world, ago(days));
    then.hook(input(&world, "s1.jsonl", "SessionStart", &json!({"source": "startup"})));
    then.hook(input(&world, "s1.jsonl", "UserPromptSubmit", &json!({"prompt": "go"})));
    world
}

/// Returns what the session has spent, and what all sessions of today have by its user's budget, in responses.
fn spent(world: &TestWorld) -> (u64, u64) {
    let store = Store::open_for(&world.path("state"), None).unwrap();
    let today = store.shared_budget(Scope::User, "").unwrap().unwrap().spent(None).day.requests;
    (store.session("s1").unwrap().unwrap().counters.spent.requests, today)
}

#[test]
fn a_pruned_session_that_is_resumed_goes_on_with_its_counters() {
    let world = with_old_session(100);
    assert_eq!(billed(&world).requests, 3);
    world.run(&["prune"]).ok();
    assert_eq!(load(&world, "s1").0.counters.spent.requests, 3);
    world.write("s1.jsonl", world.read("s1.jsonl").unwrap() + &response("m3", 0));
    // The cap is that of the whole session: a fifth response does not fit.
    let answer = resume(&world, "s1.jsonl");
    assert!(answer.contains("0.0234/0.0250 USD"), "{answer}");
    assert_eq!((spent(&world), billed(&world).requests), ((4, 1), 4));
    let report = world.run(&["report", "--since", "all", "--csv"]).ok();
    assert!(report.contains(",0.023360000000,0.023360000000,"), "{report}");
}

#[test]
fn a_transcript_that_is_read_again_is_not_charged_again() {
    let world = with_old_session(100);
    world.run(&["prune"]).ok();
    let sums_before = sums(&world, "day");
    world.write("moved.jsonl", world.read("s1.jsonl").unwrap() + &response("m3", 0));
    resume(&world, "moved.jsonl");
    assert_eq!((spent(&world), billed(&world).requests), ((4, 1), 4));
    let after = sums(&world, "day");
    assert!(sums_before.iter().all(|(day, sum)| after[day] == *sum), "{after:?}");
}

#[test]
fn a_session_that_comes_back_from_nothing_counts_its_past_and_bills_it_to_nobody() {
    let world = with_old_session(100);
    let transcript = world.read("s1.jsonl").unwrap();
    std::fs::remove_file(world.path("s1.jsonl")).unwrap();
    world.run(&["prune"]).ok();
    assert!(Store::open_for(&world.path("state"), None).unwrap().session("s1").unwrap().is_none());
    world.write("s1.jsonl", transcript + &response("m3", 0));
    resume(&world, "s1.jsonl");
    assert_eq!(spent(&world).0, 4, "its cap is no fresh one");
    assert_eq!((spent(&world).1, billed(&world).requests), (1, 4), "the three are in the sums already");
}

#[test]
fn a_pause_outlives_its_detail() {
    let world = with_paused_session();
    world.write("t.jsonl", "");
    save(&world, |store| {
        let mut paused = store.session("5e55").unwrap().unwrap();
        paused.last.wall_ms = ago(200);
        paused.position.path = world.path("t.jsonl").display().to_string();
        store.save_session(&paused).unwrap();
    });
    let before = load(&world, "5e55");
    world.run(&["prune"]).ok();
    let (session, runs) = load(&world, "5e55");
    assert_eq!((session.order, runs), (before.0.order, before.1));
}

#[test]
fn policies_go_once_nothing_refers_to_them_and_trust_never() {
    let world = with_old_session(100);
    let mut kept = Vec::new();
    save(&world, |store| {
        store.set_metadata("trust:/srv/shop", "1").unwrap();
        kept.extend(["of no client", "of one that is gone", "of one at work"].map(|policy| {
            assert_eq!(store.keep_policy(policy).unwrap(), store.keep_policy(policy).unwrap());
            store.keep_policy(policy).unwrap()
        }));
        let (parent, start) = fusebox::platform::processes::parent_and_start(std::process::id()).unwrap();
        assert!(parent > 0);
        store.set_metadata("client:4194300:7:5:9", &format!("{} gone", kept[1])).unwrap();
        store
            .set_metadata(&format!("client:{}:{start}:6:9", std::process::id()), &format!("{} gone", kept[2]))
            .unwrap();
    });
    world.run(&["prune"]).ok();
    let store = Store::open_for(&world.path("state"), None).unwrap();
    let is_kept: Vec<bool> = kept.iter().map(|id| store.policy(*id).unwrap().is_some()).collect();
    assert_eq!(is_kept, [false, false, true]);
    assert!(store.metadata("trust:/srv/shop").unwrap().is_some());
    assert_eq!(store.clients(5).unwrap(), []);
    let of_session = store.session("s1").unwrap().unwrap().policy.unwrap();
    assert!(store.policy(of_session).unwrap().is_some());
}

#[test]
fn a_session_whose_client_lives_is_left_alone() {
    let world = with_old_session(100);
    let (parent, _) = fusebox::platform::processes::parent_and_start(std::process::id()).unwrap();
    let (_, start) = fusebox::platform::processes::parent_and_start(parent).unwrap();
    let client = Process { pid: parent, start, ns: fusebox::platform::processes::namespace().unwrap() };
    save(&world, |store| {
        let told = store.session("s1").unwrap().unwrap();
        store.save_session(&Session { client: Some(client), ..*told }).unwrap();
    });
    world.run(&["prune"]).ok();
    assert_eq!(load(&world, "s1").0.pruned, None);
}

#[test]
fn records_go_and_their_numbers_go_on() {
    let world = TestWorld::new();
    let run = developer("s1", "a1", "p1");
    let note = record(
        fusebox::domain::record::RecordKind::AgentFailed,
        &run,
        &trip("max_turns", (25, 25), fusebox::domain::action::Action::Terminate, Scope::Run),
    );
    let at = |days| Moment { wall_ms: ago(days), ..Moment::default() };
    save(&world, |store| {
        (0..300).for_each(|_| store.save_record(&note, at(100)).unwrap());
        (0..5).for_each(|_| store.save_record(&note, at(10)).unwrap());
    });
    world.run(&["prune"]).ok();
    save(&world, |store| store.save_record(&note, at(0)).unwrap());
    let store = Store::open_for(&world.path("state"), None).unwrap();
    let numbers: Vec<i64> = store.records_since(i64::MIN).unwrap().into_iter().map(|record| record.0).collect();
    assert_eq!(numbers, [301, 302, 303, 304, 305, 306]);
}

fn start(days: i64) -> Event {
    let at = Moment { wall_ms: TEN + days * DAY_MS, ..Moment::default() };
    let (session, agent) = ("s1".to_owned(), Agent::Main);
    Event {
        session,
        agent,
        prompt_id: None,
        at,
        attended: true,
        kind: EventKind::SessionStart { source: StartSource::default() },
    }
}

#[test]
fn a_pruning_is_begun_once_a_day_and_a_clock_that_jumps_takes_nothing_recent() {
    let world = TestWorld::new();
    save(&world, |store| {
        // (day, due, and as of which day)
        for (day, due, as_of) in [
            (0, false, 0),
            (0, false, 0),
            (1, true, 1),
            (1, false, 1),
            (9, true, 8),
            (365, true, 15),
            (365, false, 15),
            (10, true, 10),
        ] {
            assert_eq!(prune_due::claim(store, &start(day)).unwrap(), due, "day {day}");
            assert_eq!(prune::pinned_ms(store).unwrap(), Some(TEN + (as_of - 90) * DAY_MS), "day {day}");
        }
        let plain = Event { kind: EventKind::SessionEnded, ..start(900) };
        assert!(!prune_due::claim(store, &plain).unwrap());
    });
}

#[test]
fn a_report_that_is_being_made_keeps_pruning_away() {
    let world = with_old_session(100);
    let held = locks::hold_detail(&world.path("state")).unwrap().unwrap();
    let refused = world.run(&["prune"]);
    assert!(refused.stderr.contains("a report is being made"), "{refused}");
    drop(held);
    world.run(&["prune"]).ok();
}

#[test]
fn a_start_begins_it_in_the_background() {
    let world = with_old_session(100);
    let mut time = GivenTime::at(&world, ago(100));
    let start = json!({"session_id": "s2", "transcript_path": "", "cwd": "/p", "hook_event_name": "SessionStart", "source": "startup"});
    for (days, begins) in [(0, false), (1, true), (0, false), (99, true)] {
        time.pass_days(days);
        assert_eq!(time.hook(&start), r#"{"suppressOutput":true}"#);
        let begun = std::mem::take(&mut *time.begun.borrow_mut());
        assert_eq!(begun.len(), usize::from(begins), "{begun:?} after {days} days");
        for words in &begun {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            assert_eq!(words[1..], ["prune", "--automatic"]);
            time.run(&words[1..]).ok();
        }
    }
    assert!(load(&world, "s1").0.pruned.is_none(), "it goes at most a week beyond the pruning before");
    time.run(&["prune"]).ok();
    assert!(load(&world, "s1").0.pruned.is_some());
    time.pass_ms(3_600_000);
    assert!(time.run(&["doctor"]).stdout.contains("detail is kept for 90 days; pruned 1 h ago"));
}

#[test]
fn what_is_begun_in_the_background_comes_to_its_end() {
    let world = with_old_session(100);
    save(&world, |store| store.set_metadata("pruning", &format!("[{0},{0}]", ago(2))).unwrap());
    let start = json!({"session_id": "s2", "transcript_path": "", "cwd": "/p", "hook_event_name": "SessionStart", "source": "startup"});
    world.hook(start).ok();
    // Each look waits for the lock that the pruning holds.
    let done = || retention::last(&Store::open_for(&world.path("state"), None).unwrap()).unwrap().done_ms.is_some();
    let looks = std::iter::repeat_with(|| {
        std::thread::yield_now();
        done()
    });
    assert!(looks.take(50_000).any(|done| done), "no pruning came to its end");
    assert!(load(&world, "s1").0.pruned.is_some());
}
