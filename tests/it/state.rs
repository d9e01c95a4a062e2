//! State as it may stand on a machine, written through the store as the hook writes it.

use fusebox::domain::action::Action;
use fusebox::domain::billing::Billing;
use fusebox::domain::finding_source::FindingSource;
use fusebox::domain::layer::Layer;
use fusebox::domain::limit::Limit;
use fusebox::domain::limit_set::{LimitRule, LimitSet};
use fusebox::domain::moment::Moment;
use fusebox::domain::record::{Record, RecordKind};
use fusebox::domain::scope::Scope;
use fusebox::domain::session::{Counters, MAIN, Order, Run, Session, Status};
use fusebox::domain::shared_limits::SharedLimits;
use fusebox::domain::spend::amount::{Amount, PICO};
use fusebox::domain::spend::charge::Charge;
use fusebox::domain::spend::meters::Spend;
use fusebox::domain::verdict::Finding;
use fusebox::engine::limit_source::LimitSource;
use fusebox::store::Store;

use crate::world::TestWorld;

/// 2026-11-20 10:00:00 UTC, in milliseconds since 1970.
pub const TEN: i64 = 1_795_168_800_000;

/// Returns the moment so many seconds after ten.
pub fn at(seconds: i64) -> Moment {
    Moment { wall_ms: TEN + seconds * 1000, mono_ms: seconds as u64 * 1000, boot: 0, slept_ms: 0 }
}

/// Opens the state of a session, saves what `write` writes, and closes it.
pub fn save(world: &TestWorld, write: impl FnOnce(&Store)) {
    let store = Store::open_for(&world.path("state"), None).unwrap();
    store.begin().unwrap();
    write(&store);
    store.commit().unwrap();
}

/// Reads a session and its runs.
pub fn load(world: &TestWorld, session: &str) -> (Session, Vec<Run>) {
    let store = Store::open_for(&world.path("state"), None).unwrap();
    (*store.session(session).unwrap().unwrap(), store.runs_of(session).unwrap())
}

/// A session that began at ten, with a limit of 25 USD.
pub fn session(id: &str) -> Session {
    Session {
        id: id.to_owned(),
        project: "/srv/shop/.git".to_owned(),
        folder: "/srv/shop".to_owned(),
        started: at(0),
        last: at(600),
        limits: rules(&[("max_cost_usd", 25 * PICO, Action::RequestIncrease)], Layer::BuiltIn),
        ..Session::default()
    }
}

/// What the user's sessions share: a budget of 25 USD a day.
pub fn daily_budget(action: Action) -> SharedLimits {
    let user = rules(&[("max_cost_usd_per_day", 25 * PICO, action)], Layer::BuiltIn);
    SharedLimits { user, ..SharedLimits::default() }
}

/// A run of the main agent.
pub fn main_run(session: &str, id: &str) -> Run {
    Run {
        id: id.to_owned(),
        session: session.to_owned(),
        agent_type: MAIN.to_owned(),
        started: at(0),
        last: at(600),
        settled: true,
        ..Run::default()
    }
}

/// A developer that a main run spawned, with 25 tool calls and 1 USD.
pub fn developer(session: &str, id: &str, parent: &str) -> Run {
    let caps = [("max_turns", 25, Action::Terminate), ("max_cost_usd", PICO, Action::Terminate)];
    Run {
        agent_type: "developer".to_owned(),
        parent: Some(parent.to_owned()),
        depth: 1,
        started: at(60),
        last: at(360),
        limits: rules(&caps, Layer::Project),
        counters: used(17, 420),
        ..main_run(session, id)
    }
}

/// Rules with these caps.
pub fn rules(caps: &[(&str, u64, Action)], layer: Layer) -> LimitSet {
    let rule = |(key, cap, action): &(&str, u64, Action)| LimitRule {
        limit: Limit::find(key).unwrap(),
        cap: *cap,
        action: *action,
        layer,
        increase: cap / 2,
        models: None,
        locked: false,
        billing: Billing::default(),
        responses_alone: false,
    };
    LimitSet { limits: caps.iter().map(rule).collect(), ..LimitSet::default() }
}

/// Has every run have the same rules.
pub struct SameForAll(pub LimitSet);

impl LimitSource for SameForAll {
    fn main(&self) -> LimitSet {
        self.0.clone()
    }
    fn agent(&self, _: &str, _: Option<&str>) -> LimitSet {
        self.0.clone()
    }
}

/// What so many tool calls and thousandths of a dollar make.
pub fn used(turns: u64, milli_usd: u64) -> Counters {
    let cost = Amount(milli_usd * PICO / 1000);
    let spent = Spend { requests: 4, tokens: 12_000, cache_reads: 50_000, cost };
    Counters { turns, spent, duration_ms: 300_000, ..Counters::default() }
}

/// A response that cost so many thousandths of a dollar.
pub fn charge(message: &str, run: &Run, seconds: i64, milli_usd: u64) -> Charge {
    let cost = Amount(milli_usd * PICO / 1000);
    Charge {
        message: message.to_owned(),
        session: run.session.clone(),
        run: run.id.clone(),
        model: "claude-opus-5-5".to_owned(),
        at_ms: at(seconds).wall_ms,
        spend: Spend { requests: 1, tokens: 3_000, cache_reads: 12_500, cost },
        output: 500,
        context: 15_000,
        cache_writes: Some(0),
        ..Charge::default()
    }
}

/// A finding that a limit of a run is used up.
pub fn trip(limit: &str, numbers: (u64, u64), action: Action, scope: Scope) -> Finding {
    let (used, cap) = numbers;
    let layer = if scope == Scope::Run { Layer::Project } else { Layer::BuiltIn };
    Finding { used, cap, increase: cap / 2, ..Finding::bare(FindingSource::parse(limit), scope, action, layer) }
}

/// Ends a run by a finding, as the hook does.
pub fn ended(run: Run, finding: &Finding, status: Status) -> Run {
    Run {
        status,
        stop_reason: Some(finding.stop_reason().into_owned()),
        error: Some(format!("Execution limit exceeded: [{}]", finding.source)),
        order: Some(Order::halted(finding.clone(), None)),
        ..run
    }
}

/// The record of a finding on a run.
pub fn record(kind: RecordKind, run: &Run, finding: &Finding) -> Record {
    let number = |value| finding.limit().map(|limit| limit.configured(value));
    Record {
        error: format!("Agent exceeded {} limit", finding.source),
        task_id: run.task_id().to_owned(),
        agent_type: run.agent_type.clone(),
        turns: run.counters.turns + 1,
        event: Some(kind),
        session: run.session.clone(),
        run: run.id.clone(),
        limit: finding.source.to_string(),
        scope: finding.scope.as_str().to_owned(),
        action: finding.action.as_str().to_owned(),
        used: number(finding.used),
        cap: number(finding.cap),
        layer: finding.layer.as_str().to_owned(),
        stop_reason: finding.stop_reason().into_owned(),
        percent: (finding.percent < 100).then_some(finding.percent),
        ..Record::default()
    }
}

/// A world with a session at work.
pub fn with_shop() -> TestWorld {
    let world = TestWorld::new();
    shop(&world);
    world
}

/// A session at work: main, a developer at work, one done, and one that `max_turns` stopped.
fn shop(world: &TestWorld) {
    let id = "5f0c1d2e-0000";
    let main = main_run(id, "b7d1aaaa-0000");
    let at_work = Run { working: true, task: Some("7".to_owned()), ..developer(id, "a1b2c3d4e5", &main.id) };
    let done = Run { status: Status::Completed, counters: used(37, 800), ..developer(id, "a2d0de0000", &main.id) };
    let finding = trip("max_turns", (25, 25), Action::Terminate, Scope::Run);
    let failed =
        ended(Run { counters: used(25, 640), ..developer(id, "a3fa11ed00", &main.id) }, &finding, Status::Failed);
    let early = Finding { percent: 80, used: 20, action: Action::Warn, ..finding.clone() };
    save(world, |store| {
        let main_id = Some(main.id.clone());
        let counters = Counters { turns: 79, ..used(79, 2360) };
        store.save_session(&Session { main: main_id, counters, ..session(id) }).unwrap();
        for run in [&main, &at_work, &done, &failed] {
            store.save_run(run).unwrap();
        }
        for charge in [
            charge("m1", &main, 1, 500),
            charge("m2", &at_work, 61, 420),
            charge("m3", &done, 62, 800),
            charge("m4", &failed, 63, 300),
            charge("m5", &failed, 200, 340),
        ] {
            store.save_charge(&charge).unwrap();
        }
        store.save_record(&record(RecordKind::AgentWarning, &failed, &early), at(180)).unwrap();
        store.save_record(&record(RecordKind::AgentFailed, &failed, &finding), at(240)).unwrap();
    });
}
