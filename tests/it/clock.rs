//! What counts as an agent's working time: all that lies between its events but a wait for a person, sleep of the machine, and what
//! followed an end that nobody told.

use fusebox::domain::event::{Agent, Call, CallOutcome, Ending, Event, EventKind, Intent, TaskNotification};
use fusebox::domain::ingested::Ingested;
use fusebox::domain::limit_set::LimitSet;
use fusebox::domain::moment::Moment;
use fusebox::domain::session::Session;
use fusebox::domain::start_source::StartSource;
use fusebox::engine::agents::agents_at_work;
use fusebox::engine::apply_event::apply_event;
use fusebox::engine::session_state::SessionState;

use crate::state::SameForAll;

/// The gap between two events, and how much of it the machine sleeps, in milliseconds.
const GAP: u64 = 60_000;
const SLEEP: u64 = 40_000;

/// A session whose events come one gap after the other.
struct Client {
    state: SessionState,
    agent: Agent,
    at: Moment,
}

impl Client {
    fn new(agent: Agent) -> Client {
        let at = Moment { wall_ms: 1_795_168_800_000, mono_ms: 1_000, boot: 1, slept_ms: 0 };
        Client {
            state: SessionState::new(Session { id: "s1".to_owned(), started: at, ..Session::default() }),
            agent,
            at,
        }
    }

    fn event(&self, kind: EventKind) -> Event {
        Event {
            session: "s1".to_owned(),
            agent: self.agent.clone(),
            prompt_id: Some("p1".to_owned()),
            at: self.at,
            attended: true,
            kind,
        }
    }

    fn tell(&mut self, kind: EventKind) {
        let event = self.event(kind);
        apply_event(&mut self.state, &event, &Ingested::default(), &SameForAll(LimitSet::default()));
    }

    fn pass(&mut self, ms: u64, asleep_ms: u64) {
        self.at.wall_ms += i64::try_from(ms).unwrap();
        self.at.mono_ms += ms;
        self.at.slept_ms += asleep_ms;
    }

    fn worked_ms(&self) -> u64 {
        let id = if self.agent == Agent::Main { "p1" } else { "a1" };
        self.state.run(id).map_or(0, |run| run.counters.duration_ms)
    }
}

fn call() -> Call {
    Call { id: "t1".to_owned(), tool: "Bash".to_owned(), intent: Intent::Plain, ..Call::default() }
}

fn ends(duration_ms: u64) -> EventKind {
    EventKind::ToolEnded(call(), CallOutcome { duration_ms: Some(duration_ms), ..CallOutcome::default() })
}

fn begins(agent: &Agent) -> EventKind {
    match agent {
        Agent::Main => {
            EventKind::Prompt { text_hash: 1, notifications: Vec::new(), by_machine: false, is_command: false }
        }
        Agent::Sub { .. } => EventKind::SubagentStarted,
    }
}

fn agents() -> [Agent; 2] {
    [Agent::Main, Agent::Sub { id: "a1".to_owned(), agent_type: "developer".to_owned() }]
}

#[test]
fn the_time_between_two_events_is_work_but_for_sleep_and_unseen_ends() {
    let config = || EventKind::ConfigChanged;
    type Next = (&'static str, fn() -> EventKind, bool);
    let steps: [Next; 7] = [
        ("a call", || EventKind::ToolRequested(call()), true),
        ("a call's end", || ends(1), true),
        ("a batch", || EventKind::BatchEnded(vec![call()]), true),
        ("a dialog", || EventKind::PermissionRequested, true),
        ("a compaction", || EventKind::SessionStart { source: StartSource::Compact }, true),
        ("a client that starts anew", || EventKind::SessionStart { source: StartSource::Resume }, false),
        ("the session's end", || EventKind::SessionEnded, false),
    ];
    for agent in agents() {
        for (name, next, is_work) in steps {
            for asleep in [0, SLEEP] {
                let mut client = Client::new(agent.clone());
                client.tell(begins(&agent));
                client.pass(GAP, asleep);
                client.tell(next());
                let expected = if is_work { GAP - asleep } else { 0 };
                assert_eq!(client.worked_ms(), expected, "{agent:?}: {name}, {asleep} ms asleep");
            }
        }
        // Settings that change say nothing of work: what comes after them does.
        let mut client = Client::new(agent.clone());
        client.tell(begins(&agent));
        client.pass(GAP, 0);
        client.tell(config());
        assert_eq!(client.worked_ms(), 0, "{agent:?}: nobody may have been at work");
        client.pass(GAP, 0);
        client.tell(EventKind::ToolRequested(call()));
        assert_eq!(client.worked_ms(), 2 * GAP, "{agent:?}: it was at work all the time");
    }
}

/// Has the main agent's prompt say that an agent is over.
fn says_over(client: &mut Client, text_hash: u64, is_done: bool) {
    let told = TaskNotification { task: "a1".to_owned(), tool_use_id: None, is_line: false, is_done };
    let kind = EventKind::Prompt { text_hash, notifications: vec![told], by_machine: false, is_command: false };
    let agent = std::mem::replace(&mut client.agent, Agent::Main);
    client.tell(kind);
    client.agent = agent;
}

/// Anybody can send a text that an agent is over. Its own next event shows that it was at work, and until then one that has told no hook of
/// its end keeps its place.
#[test]
fn a_word_that_an_agent_is_over_takes_no_time_off_its_clock() {
    const SCHEDULED: u64 = 7;
    type Next = (&'static str, fn() -> EventKind);
    let steps: [Next; 4] = [
        ("a call", || EventKind::ToolRequested(call())),
        ("a call's end", || ends(1)),
        ("a batch", || EventKind::BatchEnded(vec![call()])),
        ("its end", || EventKind::SubagentEnded(Ending::default())),
    ];
    let agent = agents()[1].clone();
    for (name, next) in steps {
        for (is_done, text_hash) in [(true, 1), (false, 1), (true, SCHEDULED), (false, SCHEDULED)] {
            let mut client = Client::new(agent.clone());
            client.state.session.crons = vec![SCHEDULED];
            client.agent = Agent::Main;
            client.tell(begins(&Agent::Main));
            client.agent = agent.clone();
            client.tell(begins(&agent));
            for _ in 0..3 {
                client.pass(GAP, 0);
                says_over(&mut client, text_hash, is_done);
                let at_work = agents_at_work::count(&client.state, client.at).all;
                assert_eq!(at_work, u64::from(is_done || text_hash == SCHEDULED), "{name}");
                client.pass(GAP, 0);
                client.tell(next());
                if name == "its end" {
                    break;
                }
            }
            let gaps = if name == "its end" { 2 } else { 6 };
            assert_eq!(client.worked_ms(), gaps * GAP, "{name}, {is_done}, {text_hash}");
        }
    }
}

#[test]
fn an_event_that_was_taken_late_has_no_time_counted_twice() {
    let calls = || EventKind::ToolRequested(call());
    for agent in agents() {
        let mut client = Client::new(agent.clone());
        client.tell(begins(&agent));
        client.pass(GAP, 0);
        let waited = client.at;
        client.pass(1_000, 0);
        client.tell(calls());
        let overtakes = std::mem::replace(&mut client.at, waited);
        client.tell(calls());
        assert_eq!(client.state.session.last, overtakes, "{agent:?}");
        client.at = overtakes;
        client.pass(GAP, 0);
        client.tell(calls());
        assert_eq!(client.worked_ms(), 2 * GAP + 1_000, "{agent:?}");
    }
}

#[test]
fn a_clock_that_is_set_back_goes_on_from_there() {
    let calls = || EventKind::ToolRequested(call());
    for agent in agents() {
        let mut client = Client::new(agent.clone());
        client.tell(begins(&agent));
        client.at.wall_ms -= 86_400_000;
        client.pass(GAP, 0);
        client.tell(calls());
        assert_eq!((client.worked_ms(), client.state.session.last), (GAP, client.at), "{agent:?}");
        // As in a time namespace of its own.
        client.at.mono_ms = 5;
        client.at.wall_ms += 1_000;
        client.tell(calls());
        client.pass(GAP, 0);
        client.tell(calls());
        assert_eq!((client.worked_ms(), client.state.session.last), (2 * GAP, client.at), "{agent:?}");
    }
}

#[test]
fn an_agent_that_starts_again_has_ended_unseen() {
    let agent = agents()[1].clone();
    let mut client = Client::new(agent.clone());
    client.tell(begins(&agent));
    client.pass(GAP, 0);
    client.tell(EventKind::ToolRequested(call()));
    client.pass(3_600_000, 0);
    client.tell(begins(&agent));
    assert_eq!(client.worked_ms(), GAP);
}

#[test]
fn only_a_dialog_is_a_wait_for_a_person() {
    // A hook holds the call so long before a dialog is announced, where one is, and the dialog is open so long.
    for agent in agents() {
        for (held, dialog, asleep, ran) in
            [(8_000, None, 0, 100), (8_000, Some(5_000), 0, 100), (0, Some(60_000), SLEEP, 7)]
        {
            let mut client = Client::new(agent.clone());
            client.tell(begins(&agent));
            client.tell(EventKind::ToolRequested(call()));
            client.pass(held, 0);
            if let Some(open) = dialog {
                client.tell(EventKind::PermissionRequested);
                client.pass(open, asleep);
            }
            client.pass(ran, 0);
            client.tell(ends(ran));
            assert_eq!(client.worked_ms(), held + ran, "{agent:?}: held {held}, dialog {dialog:?}, {asleep} asleep");
        }
    }
}

#[test]
fn waits_that_are_still_to_be_shown_are_few_and_the_others_stay_on_the_clock() {
    use fusebox::domain::bounds;
    use fusebox::domain::pending_prompt::{Answered, AnsweredBy, TranscriptEnd};
    use fusebox::engine::dialogs;
    const MORE: u64 = 10;
    let agent = agents()[0].clone();
    let mut client = Client::new(agent.clone());
    client.tell(begins(&agent));
    let all = bounds::DIALOG_WAITS as u64 + MORE;
    for number in 0..all {
        let call = Call { id: format!("t{number}"), ..call() };
        client.tell(EventKind::ToolRequested(call.clone()));
        client.tell(EventKind::PermissionRequested);
        let event = client.event(EventKind::PermissionRequested);
        dialogs::note_transcript(&mut client.state, "p1", &event, &TranscriptEnd::default());
        client.pass(GAP, 0);
        client.tell(EventKind::ToolEnded(call, CallOutcome { duration_ms: Some(0), ..CallOutcome::default() }));
    }
    assert_eq!(client.state.session.dialog_waits.len(), bounds::DIALOG_WAITS);
    assert_eq!(client.worked_ms(), MORE * GAP);
    // A person answered every second one; the rest was the agent's time.
    let answers: Vec<Answered> = (0..all)
        .map(|number| Answered {
            call: format!("t{number}"),
            by: [AnsweredBy::Person, AnsweredBy::Hook][usize::try_from(number % 2).unwrap()],
        })
        .collect();
    dialogs::settle(&mut client.state, &answers);
    assert!(client.state.session.dialog_waits.is_empty());
    assert_eq!(client.worked_ms(), (MORE + (all - MORE) / 2) * GAP);
}
