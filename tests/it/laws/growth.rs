//! Nothing that is saved grows without a bound: what grows with anything that an agent does again and again stands in a table of bounds,
//! and is no longer than that after a long and hostile history.

use std::collections::BTreeMap;

use fusebox::domain::action::Action;
use fusebox::domain::bounds::{COMMANDS, CRONS, MODELS, OPEN_RUNS, RESERVATIONS, SPAWNS};
use fusebox::domain::event::{
    Agent, Background, Call, CallOutcome, Ending, Event, EventKind, Fingerprints, Intent, TaskNotification, Wait,
};
use fusebox::domain::limit::Limit;
use fusebox::domain::limit_set::LimitSet;
use fusebox::domain::moment::Moment;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::Session;
use fusebox::domain::spend::amount::Amount;
use fusebox::domain::spend::charge::{Charge, NewCharge};
use fusebox::domain::spend::meters::Spend;
use fusebox::engine::apply_event::apply_event;
use fusebox::engine::limit_source::LimitSource;
use fusebox::engine::session_lifecycle;
use fusebox::hook::{ingest, load, overload};
use fusebox::platform::environment::Environment;
use fusebox::store::Store;
use serde_json::Value;

use crate::laws::scripts::Case;
use crate::world::in_long_form;

/// The length of the longest list or map that is saved with a session or a run: a bound, and the entry for the rest.
const LARGEST: usize = 1_001;

/// How often each thing is done in the long form: more often than the largest bound.
const TIMES: usize = LARGEST + 200;
/// How often in the short form: enough to see what grows.
const SOME: usize = 40;
/// What may grow with the times that something is done, and how long it gets. All else that is saved is shorter than [`SOME`].
const BOUNDS: [(&str, usize); 9] = [
    ("session.spawns", SPAWNS),
    ("session.reservations", RESERVATIONS + 1),
    ("session.crons", CRONS),
    ("session.open", OPEN_RUNS),
    ("session.read_to", OPEN_RUNS),
    ("session.by_model", MODELS + 1),
    ("session.notified", LARGEST),
    ("run.by_model", MODELS + 1),
    ("run.background", COMMANDS),
];
/// 2026-11-20 10:00 UTC.
const BEGAN_MS: i64 = 1_795_168_800_000;

/// Subagents may make one call.
struct Policy(LimitSet);

impl LimitSource for Policy {
    fn main(&self) -> LimitSet {
        LimitSet::default()
    }
    fn agent(&self, _: &str, _: Option<&str>) -> LimitSet {
        self.0.clone()
    }
}

/// One thing that an agent can do again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Spawns,
    Messages,
    AgentsEnded,
    AgentsThatFail,
    Commands,
    CommandsSideBySide,
    Watches,
    Schedules,
    Crons,
    Prompts,
    Notifications,
    Calls,
    Batches,
    Tasks,
    Unknown,
    Models,
}

const DEEDS: [Deed; 16] = [
    Deed::Spawns,
    Deed::Messages,
    Deed::AgentsEnded,
    Deed::AgentsThatFail,
    Deed::Commands,
    Deed::CommandsSideBySide,
    Deed::Watches,
    Deed::Schedules,
    Deed::Crons,
    Deed::Prompts,
    Deed::Notifications,
    Deed::Calls,
    Deed::Batches,
    Deed::Tasks,
    Deed::Unknown,
    Deed::Models,
];

fn call(id: &str, tool: &str, intent: Intent) -> Call {
    Call { id: id.to_owned(), tool: tool.to_owned(), intent, ..Call::default() }
}

fn ran_on(id: &str) -> CallOutcome {
    let task = format!("b{id}");
    let background = Background {
        task,
        command: "sleep 60".to_owned(),
        timed_out: false,
        began: Moment::default(),
        told: Moment::default(),
    };
    CallOutcome { background: Some(background), ..CallOutcome::default() }
}

/// Returns what a call does that starts an agent of a name.
pub fn spawn_of(name: &str) -> Intent {
    let (agent_type, name) = ("worker".to_owned(), Some(name.to_owned()));
    Intent::Spawn { agent_type, name, model: None, prompt: "work".to_owned() }
}

fn prompt(text_hash: u64, notifications: Vec<TaskNotification>) -> EventKind {
    EventKind::Prompt { text_hash, notifications, by_machine: false, is_command: false }
}

impl Deed {
    /// The events of one time: whose they are (nobody's name is the main agent's), and what happens.
    fn events(self, number: usize) -> Vec<(String, EventKind)> {
        let id = format!("{self:?}-{number}");
        let wait = Intent::Timed { timeout_ms: 1 };
        let of_main = |kind| (String::new(), kind);
        let of_agent = |kind| (id.clone(), kind);
        let asks = |call| of_main(EventKind::ToolRequested(call));
        let spawn = spawn_of(&id);
        match self {
            Deed::Spawns => vec![asks(call(&id, "Agent", spawn))],
            Deed::Messages => {
                let to = format!("{:?}-{number}", Deed::AgentsEnded);
                vec![asks(call(&id, "SendMessage", Intent::Message { to }))]
            }
            Deed::AgentsEnded => {
                vec![of_agent(EventKind::SubagentStarted), of_agent(EventKind::SubagentEnded(Ending::default()))]
            }
            Deed::AgentsThatFail => {
                let calls =
                    [0, 1].map(|at| EventKind::ToolRequested(call(&format!("{id}-{at}"), "Read", Intent::Plain)));
                let notification =
                    TaskNotification { task: id.clone(), tool_use_id: None, is_line: false, is_done: true };
                let told = prompt(1, vec![notification]);
                [EventKind::SubagentStarted].into_iter().chain(calls).map(of_agent).chain([of_main(told)]).collect()
            }
            Deed::Commands => {
                let call = call(&id, "Bash", wait);
                vec![asks(call.clone()), of_main(EventKind::ToolEnded(call, ran_on(&id)))]
            }
            Deed::CommandsSideBySide => vec![of_main(EventKind::ToolEnded(call(&id, "Bash", wait), ran_on(&id)))],
            Deed::Watches => vec![of_main(EventKind::ToolEnded(call(&id, "Monitor", wait), ran_on(&id)))],
            Deed::Schedules => {
                let intent = Intent::Schedules { prompt: number as u64 };
                vec![asks(call(&id, "CronCreate", intent))]
            }
            Deed::Crons => {
                vec![of_main(EventKind::Stopped { ending: Ending::default(), crons: (0..number as u64).collect() })]
            }
            Deed::Prompts => {
                vec![of_main(prompt(number as u64, Vec::new())), asks(call(&id, "Read", Intent::Plain))]
            }
            Deed::Notifications => {
                let one = |at| TaskNotification {
                    task: format!("{id}-{at}"),
                    tool_use_id: Some(id.clone()),
                    is_line: at % 2 == 0,
                    is_done: at % 3 == 0,
                };
                let notifications = (0..3).map(one).collect();
                vec![of_main(prompt(2, notifications))]
            }
            Deed::Calls => vec![asks(call(&id, "Read", Intent::Plain))],
            Deed::Batches => {
                let calls = (0..3).map(|at| fails(&format!("{id}-{at}"), 3 * number + at)).collect();
                vec![of_main(EventKind::BatchEnded(calls))]
            }
            Deed::Tasks => vec![asks(call(&id, "TaskUpdate", Intent::Task { id: id.clone() }))],
            Deed::Unknown => vec![of_main(EventKind::Other(id.clone()))],
            Deed::Models => vec![of_main(EventKind::PermissionRequested)],
        }
    }
}

/// A call with an error that was not there before; of two such calls one has waited.
fn fails(id: &str, number: usize) -> Call {
    let one = u32::try_from(number).unwrap() + 1;
    let wait = if number.is_multiple_of(2) { Wait::Sleeps(1_000) } else { Wait::No };
    let fingerprints = Fingerprints { all: 2 * one, error: one, input: one, wait, was_rejected: false };
    Call { fingerprints, ..call(id, "Bash", Intent::Plain) }
}

/// A response of a model that nobody knows.
fn made_up(number: usize, run: &str) -> NewCharge {
    let adds = Spend { requests: 1, tokens: 1, cache_reads: 0, cost: Amount(1) };
    let charge = Charge {
        session: "s".to_owned(),
        run: run.to_owned(),
        message: format!("m{number}"),
        model: format!("made-up-{number}"),
        at_ms: BEGAN_MS,
        spend: adds,
        ..Charge::default()
    };
    NewCharge { charge, adds, again: adds, replay_price: (0, 0).into() }
}

/// A session that is at work, and where it stands in time.
struct History {
    store: Store,
    policy: Policy,
    now: u64,
    prompts: usize,
    _folder: tempfile::TempDir,
}

impl History {
    fn new() -> History {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_for(folder.path(), None).unwrap();
        store.begin().unwrap();
        let rules = Case::plain(Limit::find("max_turns").unwrap(), Scope::Run, 1, Action::Terminate).policy(1).main();
        store.save_session(&Session { id: "s".to_owned(), ..Session::default() }).unwrap();
        let mut history = History { store, policy: Policy(rules), now: 1, prompts: 0, _folder: folder };
        history.event(
            "",
            EventKind::Prompt { text_hash: 0, notifications: Vec::new(), by_machine: false, is_command: false },
            None,
        );
        history
    }

    /// Takes one event, as the hook does.
    fn event(&mut self, who: &str, kind: EventKind, charge: Option<usize>) {
        let agent = match who {
            "" => Agent::Main,
            id => Agent::Sub { id: id.to_owned(), agent_type: "worker".to_owned() },
        };
        self.prompts += usize::from(matches!(kind, EventKind::Prompt { .. }));
        let prompt_id = Some(format!("p{}", self.prompts));
        let at = Moment { wall_ms: BEGAN_MS + self.now as i64, mono_ms: self.now, slept_ms: 0, boot: 1 };
        let event = Event { session: "s".to_owned(), agent, prompt_id, at, attended: true, kind };
        let session = self.store.session("s").unwrap().unwrap();
        let mut state = load::load_state(&self.store, session, &event).unwrap();
        state.facts.refusal_reason = overload::refusal_reason(&mut state, &event);
        let mut ingested =
            ingest::ingest_transcripts(&Environment::real(), &self.store, &mut state, &event, "", &[]).unwrap();
        let run = state.session.main.clone().unwrap_or_default();
        ingested.charges.extend(charge.map(|number| (run.clone(), made_up(number, &run))));
        apply_event(&mut state, &event, &ingested, &self.policy);
        if let EventKind::Other(name) = &event.kind {
            session_lifecycle::note_unknown(&mut state, name);
        }
        // The hook itself tells them, and keeps so many.
        state.session.user_notifications.clear();
        self.store.save(&mut state).unwrap();
    }

    /// Returns the length of each list and map in what is saved, by where it stands: the longest of those of all runs.
    fn lengths(&self) -> BTreeMap<String, usize> {
        let mut found = BTreeMap::new();
        let session = self.store.session("s").unwrap().unwrap();
        walk("session", &serde_json::to_value(&session).unwrap(), &mut found);
        for run in self.store.runs_of("s").unwrap() {
            walk("run", &serde_json::to_value(&run).unwrap(), &mut found);
        }
        found
    }
}

fn walk(path: &str, value: &Value, found: &mut BTreeMap<String, usize>) {
    let length = match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => return,
    };
    let longest = found.entry(path.to_owned()).or_default();
    *longest = length.max(*longest);
    let items = value.as_array().into_iter().flatten().map(|item| ("[]", item));
    let fields = value.as_object().into_iter().flatten().map(|(name, field)| (name.as_str(), field));
    for (name, inner) in items.chain(fields) {
        walk(&format!("{path}.{name}"), inner, found);
    }
}

/// Entries have about as many fields; these do not grow.
fn is_entry(path: &str) -> bool {
    matches!(path, "session" | "run")
}

#[test]
fn nothing_that_is_saved_grows_without_a_bound() {
    let times = if in_long_form() { TIMES } else { SOME };
    let mut broken = Vec::new();
    for deed in DEEDS {
        let mut history = History::new();
        for number in 0..times {
            // Agents that are over are read to their ends some seconds later.
            history.now += if matches!(deed, Deed::AgentsThatFail | Deed::AgentsEnded) { 6_000 } else { 10 };
            for (who, kind) in deed.events(number) {
                history.event(&who, kind, (deed == Deed::Models).then_some(number));
            }
        }
        for (path, length) in history.lengths().into_iter().filter(|(path, _)| !is_entry(path)) {
            let bound = BOUNDS.iter().find(|(known, _)| *known == path).map_or(SOME - 10, |(_, bound)| *bound);
            if length > bound.min(LARGEST) {
                broken.push(format!("{deed:?}: {path} has {length}, at most {bound}"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn no_command_in_the_background_is_forgotten() {
    for deed in [Deed::Commands, Deed::CommandsSideBySide, Deed::Watches] {
        let mut history = History::new();
        for number in 0..COMMANDS {
            for (who, kind) in deed.events(number) {
                history.event(&who, kind, None);
            }
        }
        let main = |history: &History| history.store.runs_of("s").unwrap().remove(0);
        assert_eq!(main(&history).background.len(), COMMANDS, "{deed:?}");
        let event = Event {
            session: "s".to_owned(),
            agent: Agent::Main,
            prompt_id: Some("p1".to_owned()),
            at: Moment { wall_ms: BEGAN_MS + 9_000, mono_ms: 9_000, slept_ms: 0, boot: 1 },
            attended: true,
            kind: EventKind::ToolRequested(call("one-more", "Bash", Intent::Timed { timeout_ms: 1 })),
        };
        let session = history.store.session("s").unwrap().unwrap();
        let mut state = load::load_state(&history.store, session, &event).unwrap();
        let held = overload::refusal_reason(&mut state, &event).unwrap_or_default();
        assert!(held.contains("200 shell commands in the background"), "{deed:?}: {held}");
        assert!(!held.contains('\n'));
        // One that was let through before is ended at once.
        let ended = Event {
            kind: EventKind::ToolEnded(call("late", "Bash", Intent::Timed { timeout_ms: 1 }), ran_on("late")),
            ..event
        };
        let found =
            ingest::ingest_transcripts(&Environment::real(), &history.store, &mut state, &ended, "", &[]).unwrap();
        apply_event(&mut state, &ended, &found, &history.policy);
        let kills: Vec<&str> = state.effects.kills.iter().map(|task| task.task.as_str()).collect();
        assert_eq!(kills, ["blate"], "{deed:?}");
        assert!(
            state.session.user_notifications.iter().any(|told| told.contains("sleep 60")),
            "{:?}",
            state.session.user_notifications
        );
        // Once one has ended there is room.
        state.run_mut("p1").unwrap().background.pop();
        assert_eq!(
            overload::refusal_reason(
                &mut state,
                &Event { kind: EventKind::ToolRequested(call("n", "Bash", Intent::Timed { timeout_ms: 1 })), ..ended }
            ),
            None
        );
    }
}
