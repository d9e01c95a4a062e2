//! The time that a pause holds a call counts as nobody's work, whichever event comes first once a person has let it go on.

use fusebox::domain::action::Action;
use fusebox::domain::event::{Agent, Call, CallOutcome, Ending, Event, EventKind};
use fusebox::domain::finding_source::FindingSource;
use fusebox::domain::ingested::Ingested;
use fusebox::domain::limit_set::LimitSet;
use fusebox::domain::moment::Moment;
use fusebox::domain::scope::Scope;
use fusebox::domain::session::{Order, Session, Status};
use fusebox::domain::start_source::StartSource;
use fusebox::domain::verdict::Finding;
use fusebox::engine::apply_event::apply_event;
use fusebox::engine::session_state::SessionState;
use fusebox::engine::{clear_orders, holds};

use crate::state::SameForAll;

/// When the call is held, when a person lets it go on, and when the next event comes, in milliseconds.
const HELD_MS: u64 = 1_000;
const LET_GO_MS: u64 = 601_000;
const NEXT_MS: u64 = 602_000;

fn at(ms: u64) -> Moment {
    Moment { wall_ms: ms as i64, mono_ms: ms, boot: 1, slept_ms: 0 }
}

fn call(id: &str) -> Call {
    Call { id: id.to_owned(), tool: "Bash".to_owned(), ..Call::default() }
}

fn sub() -> Agent {
    Agent::Sub { id: "sub1".to_owned(), agent_type: "developer".to_owned() }
}

/// Every event that may come next.
fn events() -> Vec<EventKind> {
    let prompt = EventKind::Prompt { text_hash: 1, notifications: Vec::new(), by_machine: false, is_command: false };
    vec![
        EventKind::SessionStart { source: StartSource::Compact },
        EventKind::SessionStart { source: StartSource::Resume },
        prompt,
        EventKind::ToolRequested(call("other")),
        EventKind::ToolRequested(call("held")),
        EventKind::PermissionRequested,
        EventKind::ToolEnded(call("done"), CallOutcome::default()),
        EventKind::ToolEnded(call("held"), CallOutcome::default()),
        EventKind::BatchEnded(vec![call("done"), call("held")]),
        EventKind::SubagentStarted,
        EventKind::SubagentEnded(Ending::default()),
        EventKind::Stopped { ending: Ending::default(), crons: Vec::new() },
        EventKind::Compacting,
        EventKind::SessionEnded,
        EventKind::ConfigChanged,
        EventKind::Other("Notification".to_owned()),
    ]
}

fn tell(state: &mut SessionState, agent: &Agent, kind: EventKind, ms: u64) -> String {
    let event = Event {
        session: "s1".to_owned(),
        agent: agent.clone(),
        prompt_id: Some("p1".to_owned()),
        at: at(ms),
        attended: true,
        kind,
    };
    apply_event(state, &event, &Ingested::default(), &SameForAll(LimitSet::default())).0
}

/// Begins a session whose agent has a call held, and lets that go on; returns the run.
fn let_go(agent: &Agent) -> (SessionState, String) {
    let mut state = SessionState::new(Session { id: "s1".to_owned(), ..Session::default() });
    let prompt = EventKind::Prompt { text_hash: 0, notifications: Vec::new(), by_machine: false, is_command: false };
    let main = tell(&mut state, &Agent::Main, prompt, 0);
    if *agent != Agent::Main {
        let id = tell(&mut state, agent, EventKind::SubagentStarted, 0);
        state.run_mut(&id).unwrap().parent = Some(main);
    }
    tell(&mut state, agent, EventKind::ToolRequested(call("done")), 0);
    let id = tell(&mut state, agent, EventKind::ToolRequested(call("held")), HELD_MS);
    if *agent != Agent::Main {
        tell(&mut state, &Agent::Main, EventKind::PermissionRequested, HELD_MS);
    }
    let run = state.run_mut(&id).unwrap();
    let pause = Finding::ordered(FindingSource::ExplicitPause, Scope::Run, Action::Pause);
    (run.order, run.status, run.working) = (Some(Order::halted(pause, None)), Status::Paused, false);
    let held = Event {
        session: "s1".to_owned(),
        agent: agent.clone(),
        prompt_id: Some("p1".to_owned()),
        at: at(HELD_MS),
        attended: true,
        kind: EventKind::ToolRequested(call("held")),
    };
    holds::begin_hold(&mut state, &id, &held, 900_000, None);
    assert!(clear_orders::clear_run_order(&mut state, &id, at(LET_GO_MS)).is_some());
    (state, id)
}

#[test]
fn no_event_counts_the_time_of_a_hold() {
    let most = HELD_MS + NEXT_MS - LET_GO_MS;
    for held in [Agent::Main, sub()] {
        for next in [Agent::Main, sub()] {
            for kind in events() {
                let (mut state, id) = let_go(&held);
                tell(&mut state, &next, kind.clone(), NEXT_MS);
                tell(&mut state, &held, EventKind::ToolRequested(call("later")), NEXT_MS);
                let of_session = state.session.counters.duration_ms;
                assert!(of_session <= most, "{held:?} held, {kind:?} of {next:?}: {of_session} ms of the session");
                for run in state.runs() {
                    let own = run.counters.duration_ms;
                    assert!(own <= most, "{held:?} held, {kind:?} of {next:?}: {own} ms of {}", run.id);
                }
                assert!(state.run(&id).is_some());
            }
        }
    }
}
