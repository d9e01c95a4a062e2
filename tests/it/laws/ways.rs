//! The ways in which a run goes on, played to their end: what a client in memory then has used, and what it was told.

use std::collections::{BTreeMap, BTreeSet};

use fusebox::domain::event::{
    Agent, Call, CallOutcome, Ending, Event, EventKind, Fingerprints, Intent, Spawned, TaskNotification,
};
use fusebox::domain::ingested::{Ingested, Link};
use fusebox::domain::limit_set::LimitSet;
use fusebox::domain::moment::Moment;
use fusebox::domain::refusal::Refusal;
use fusebox::domain::spend::charge::{self, Charge, NewCharge};
use fusebox::domain::spend::spend_before_prompt;
use fusebox::domain::start_source::StartSource;
use fusebox::domain::verdict::{Decision, Verdict};
use fusebox::engine::apply_event::apply_event;
use fusebox::engine::limit_source::LimitSource;
use fusebox::engine::orders;
use fusebox::engine::session_state::SessionState;

use crate::laws::client::Policy;
use crate::laws::truth::{charge, copy, sum};
use crate::laws::verdicts;
use crate::laws::way::Way;

/// What each request spends: tokens and pico-dollars alike.
pub const ONE: u64 = 3;
/// How often a way goes on.
pub const STEPS: usize = 16;
/// How long each step takes.
pub const STEP_MS: u64 = 300;
/// 2026-11-20 10:00 UTC.
pub const BEGAN_MS: i64 = 1_795_168_800_000;

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub requests: u64,
    pub turns: u64,
}

/// A client that plays one way, with what really happened beside what the engine was told.
pub struct Play<'a> {
    rules: &'a Policy,
    way: Way,
    attended: bool,
    pub state: SessionState,
    now: u64,
    prompts: u32,
    calls: u32,
    /// What each run has made.
    pub made: BTreeMap<String, Used>,
    /// What of it a transcript shows.
    pub shown: BTreeMap<String, Used>,
    /// Responses that are not on disk yet, each with its run and name.
    late: Vec<(String, String)>,
    /// The runs that a limit or an order has ended.
    pub ended: BTreeSet<String>,
    /// Whether the client itself was ended.
    gone: bool,
    /// The runs that ended by themselves.
    pub done: BTreeSet<String>,
    /// What was said, to which run, and what had been shown by then.
    pub said: Vec<(String, Verdict, BTreeMap<String, Used>)>,
    /// The calls that a dialog asks about in the batch at hand.
    asking: bool,
    /// What should never have been answered.
    pub wrong: Option<String>,
    /// What each session before this one has made, and each of its runs.
    pub earlier: Vec<BTreeMap<String, Used>>,
}

/// What stands among the runs of a session for what a fork has copied: it counts in its session alone.
pub const COPIED: &str = "copied";
/// What stands there for what sessions before it have made: it counts in what they share alone.
pub const BEFORE: &str = "before";

impl LimitSource for Play<'_> {
    fn main(&self) -> LimitSet {
        if self.way.is_of_agents() { LimitSet::default() } else { self.rules.main() }
    }
    fn agent(&self, _: &str, _: Option<&str>) -> LimitSet {
        self.rules.agent("", None)
    }
}

/// Plays a way until it is held up for good, or long enough.
pub fn play(rules: &Policy, way: Way, attended: bool) -> Play<'_> {
    let mut play = Play {
        rules,
        way,
        attended,
        state: rules.state(),
        now: 0,
        prompts: 0,
        calls: 0,
        made: BTreeMap::new(),
        shown: BTreeMap::new(),
        late: Vec::new(),
        ended: BTreeSet::new(),
        gone: false,
        done: BTreeSet::new(),
        said: Vec::new(),
        asking: false,
        wrong: None,
        earlier: Vec::new(),
    };
    if play.prompt(None, false) && play.sets_up() {
        for number in 0..STEPS {
            play.now += STEP_MS;
            if !play.gone {
                play.goes_on(number);
            }
        }
    }
    play
}

impl Play<'_> {
    /// Returns the run of the main agent.
    fn main(&self) -> String {
        self.state.session.main.clone().unwrap_or_default()
    }

    fn sets_up(&mut self) -> bool {
        match self.way {
            Way::Notifications => self.batch("", Intent::Plain),
            Way::Messages
            | Way::MessagesAndCalls
            | Way::MessagesToOneAtWork
            | Way::StartsOfItsOwn
            | Way::DialogLeftOpen => {
                let spawn = crate::laws::growth::spawn_of("worker");
                let begins = self.batch("", spawn) && self.starts("a1", Some("t1"));
                if begins && self.way != Way::DialogLeftOpen {
                    self.answers("a1");
                }
                begins
            }
            _ => true,
        }
    }

    fn goes_on(&mut self, number: usize) {
        let main = self.main();
        match self.way {
            Way::Calls if self.is_on(&main) => drop(self.batch("", Intent::Plain)),
            Way::Compactions if self.is_on(&main) => {
                if self.batch("", Intent::Plain) {
                    self.event("", EventKind::SessionStart { source: StartSource::Compact }, Ingested::default());
                    self.made.entry(main.clone()).or_default().requests += 1;
                    self.late.push((main, charge::of_compaction(&number.to_string())));
                }
            }
            Way::Calls | Way::Compactions => {}
            Way::Crons => {
                self.answers("");
                self.prompt(None, true);
            }
            Way::Notifications => {
                self.answers("");
                let tool_use_id = Some("t1".to_owned());
                self.prompt(
                    Some(TaskNotification { task: "b1".to_owned(), tool_use_id, is_line: false, is_done: true }),
                    false,
                );
            }
            Way::Resumes => {
                self.answers("");
                self.event("", EventKind::SessionEnded, Ingested::default());
                self.event("", EventKind::SessionStart { source: StartSource::Resume }, Ingested::default());
                self.prompt(None, false);
            }
            Way::Forks | Way::Clears => {
                self.batch("", Intent::Plain);
                self.answers("");
                self.leaves();
                self.prompt(None, false);
            }
            Way::StartsOfItsOwn => {
                self.starts("a1", None);
                self.answers("a1");
            }
            Way::Messages | Way::MessagesAndCalls | Way::MessagesToOneAtWork | Way::DialogLeftOpen => self.message(),
            Way::Workflow | Way::WorkflowInWords => {
                let id = format!("w{number}");
                if self.starts(&id, None) && self.way == Way::Workflow {
                    self.batch(&id, Intent::Plain);
                }
                self.answers(&id);
            }
        }
    }

    /// Sends a message to the agent, which goes on with it.
    fn message(&mut self) {
        let main = self.main();
        if self.way == Way::DialogLeftOpen && self.is_on("a1") {
            self.batch("a1", Intent::Plain);
        }
        if !self.is_on(&main) || !self.batch("", Intent::Message { to: "a1".to_owned() }) {
            return;
        }
        if self.way == Way::MessagesToOneAtWork {
            // It takes the message along, so that nothing tells of the start.
            self.done.remove("a1");
        } else {
            self.starts("a1", None);
        }
        if self.way == Way::MessagesAndCalls {
            self.batch("a1", Intent::Plain);
        }
        if self.way != Way::DialogLeftOpen {
            self.answers("a1");
        }
    }

    /// Leaves the session for another: one that begins anew, or with a copy of what was said in this one.
    fn leaves(&mut self) {
        self.event("", EventKind::SessionEnded, Ingested::default());
        let over = std::mem::replace(&mut self.state, self.rules.state());
        (self.state.above, self.state.shared_budgets) = (over.above, over.shared_budgets);
        let made = std::mem::take(&mut self.made);
        let own = sum(made.iter().filter(|(run, _)| !matches!(run.as_str(), COPIED | BEFORE)).map(|(_, used)| used));
        let in_session = sum(made.iter().filter(|(run, _)| *run != BEFORE).map(|(_, used)| used));
        let before = sum(made.get(BEFORE).into_iter().chain([&own]));
        let copied = if self.way == Way::Forks { in_session.requests } else { 0 };
        self.earlier.push(made);
        self.made =
            BTreeMap::from([(BEFORE.to_owned(), before), (COPIED.to_owned(), Used { requests: copied, turns: 0 })]);
        self.shown.clone_from(&self.made);
        let source = if self.way == Way::Forks { StartSource::Fork } else { StartSource::Clear };
        let history = spend_before_prompt::id_of("s");
        let charges = (0..copied).map(|_| (history.clone(), copy(&charge(&history, self.now)))).collect();
        let start = EventKind::SessionStart { source };
        self.event("", start, Ingested { charges, ..Ingested::default() });
    }

    /// Whether a run's loop is at work.
    fn is_on(&self, run: &str) -> bool {
        !self.ended.contains(run) && !self.done.contains(run) && self.made.contains_key(run)
    }

    fn who<'b>(&'b self, who: &'b str) -> std::borrow::Cow<'b, str> {
        if who.is_empty() { self.main().into() } else { who.into() }
    }

    /// Sends a prompt; returns whether it was sent.
    fn prompt(&mut self, notification: Option<TaskNotification>, by_machine: bool) -> bool {
        self.prompts += 1;
        let kind = EventKind::Prompt {
            text_hash: 0,
            notifications: notification.into_iter().collect(),
            by_machine,
            is_command: false,
        };
        let verdict = self.event("", kind, Ingested::default());
        let main = self.main();
        let sent = verdict.decision < Decision::Deny;
        if sent {
            self.made.entry(main.clone()).or_default();
            self.done.remove(&main);
            self.ended.remove(&main);
        }
        sent
    }

    /// Starts a subagent, or goes on with it.
    fn starts(&mut self, id: &str, spawn: Option<&str>) -> bool {
        let link = Link { spawn_call: spawn.map(str::to_owned), parent: None, depth: 1, ..Link::default() };
        let found = Ingested { link: Some(link).filter(|_| spawn.is_some()), ..Ingested::default() };
        self.event(id, EventKind::SubagentStarted, found);
        self.made.entry(id.to_owned()).or_default();
        // Nothing refuses a start, but the client may be ended.
        self.done.remove(id);
        if self.gone {
            self.ended.insert(id.to_owned());
        }
        !self.gone
    }

    /// The model answers in words, and the loop ends by itself.
    fn answers(&mut self, who: &str) {
        let run = self.who(who).into_owned();
        if self.done.contains(&run) || !self.made.contains_key(&run) || self.is_out(&run) {
            return;
        }
        self.requests(&run);
        self.done.insert(run);
        let ending = Ending::default();
        let kind = if who.is_empty() {
            EventKind::Stopped { ending, crons: Vec::new() }
        } else {
            EventKind::SubagentEnded(ending)
        };
        self.event(who, kind, Ingested::default());
    }

    /// Whether the client has ended the loop of a run because it was told to.
    fn is_out(&self, run: &str) -> bool {
        self.ended.contains(run)
    }

    fn requests(&mut self, run: &str) {
        self.made.entry(run.to_owned()).or_default().requests += 1;
        self.late.push((run.to_owned(), String::new()));
    }

    /// The model answers with one call; returns whether that ran and the loop goes on.
    fn batch(&mut self, who: &str, intent: Intent) -> bool {
        let run = self.who(who).into_owned();
        if !self.is_on(&run) {
            return false;
        }
        self.requests(&run);
        self.calls += 1;
        let tool = if matches!(intent, Intent::Plain) { "WebSearch" } else { "Agent" };
        let wakes = matches!(intent, Intent::Message { .. } | Intent::Spawn { .. });
        let fingerprints = Fingerprints { all: self.calls, error: self.calls, ..Fingerprints::default() };
        let call = Call { id: format!("t{}", self.calls), tool: tool.into(), intent, fingerprints, ..Call::default() };
        self.asking = false;
        let verdict = self.event(who, EventKind::ToolRequested(call.clone()), Ingested::default());
        self.asking = verdict.decision == Decision::Ask;
        if self.asking && self.way == Way::DialogLeftOpen {
            // Nobody ever answers, and the agent is left: no event tells of that.
            self.done.insert(run);
            return false;
        }
        let ran = verdict.decision < Decision::Ask;
        if ran {
            self.made.entry(run.clone()).or_default().turns += 1;
            self.shown.entry(run.clone()).or_default().turns += 1;
            let agent = wakes.then(|| Spawned { id: "a1".to_owned(), ended: false });
            self.event(
                who,
                EventKind::ToolEnded(call.clone(), CallOutcome { agent, ..CallOutcome::default() }),
                Ingested::default(),
            );
        }
        if verdict.decision != Decision::Stop && self.is_on(&run) {
            self.event(who, EventKind::BatchEnded(vec![call]), Ingested::default());
        }
        ran && self.is_on(&run)
    }

    /// Tells the engine of an event.
    pub fn event(&mut self, who: &str, kind: EventKind, mut found: Ingested) -> Verdict {
        // The last response is not on disk where a loop ends, nor surely where a call asks to run.
        let message = matches!(&kind, EventKind::ToolRequested(Call { intent: Intent::Message { .. }, .. }));
        let reads =
            !matches!(kind, EventKind::Stopped { .. } | EventKind::SubagentEnded(_) | EventKind::ToolRequested(_))
                || message;
        for (run, message) in if reads { std::mem::take(&mut self.late) } else { Vec::new() } {
            self.shown.entry(run.clone()).or_default().requests += 1;
            let new = charge(&run, self.now);
            let charge = Charge { message, ..new.charge.clone() };
            found.charges.push((run, NewCharge { charge, ..new }));
        }
        let agent = match who {
            "" => Agent::Main,
            id => Agent::Sub { id: id.to_owned(), agent_type: "worker".to_owned() },
        };
        let is_prompt = matches!(kind, EventKind::Prompt { .. });
        let prompt_id = Some(format!("p{}", self.prompts));
        let at = Moment {
            wall_ms: BEGAN_MS + i64::try_from(self.now).unwrap_or(0),
            mono_ms: self.now,
            slept_ms: 0,
            boot: 1,
        };
        let event = Event { session: "s".to_owned(), agent, prompt_id, at, attended: self.attended, kind };
        let mut state = std::mem::take(&mut self.state);
        let (run, verdict) = apply_event(&mut state, &event, &found, self);
        verdicts::check(&verdict);
        if let Some(halted) = state.effects.halted.clone() {
            orders::cascade(&mut state, &halted);
        }
        let began = state.was_opened(&run);
        self.gone |= state.effects.ends_client.is_some();
        state.next_event();
        self.state = state;
        let ends = matches!(verdict.refusal, Some(Refusal::Tripped { .. } | Refusal::Ordered { .. }));
        if verdict.decision == Decision::Stop || is_prompt && verdict.decision == Decision::Deny && (began || ends) {
            // A prompt that is kept back ends nothing that had ended by itself, but for what its own limit ends.
            let own = matches!(verdict.refusal, Some(Refusal::Tripped { .. })) || began || !is_prompt;
            if own {
                self.ended.insert(run.clone());
                self.done.remove(&run);
            }
        }
        if verdict.refusal == Some(Refusal::SiblingAsks) && !self.asking {
            self.wrong.get_or_insert(format!("{run} waits for a dialog that is not there"));
        }
        self.said.push((run, verdict.clone(), self.shown.clone()));
        verdict
    }
}
