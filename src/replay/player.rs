//! Plays a recording through the engine, as the hook would have, with everything in memory.
//!
//! Once a run is stopped, what it did afterwards in the recording did not happen: its events are passed over, and what
//! its requests spent counts as saved. So do calls that were refused, and subagents that they would have started.

mod undone;

use std::collections::{BTreeMap, BTreeSet};

use crate::config::policy::Policy;
use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::ingested::{Ingested, Link};
use crate::domain::mode::Mode;
use crate::domain::record::Record;
use crate::domain::session::{Run, Session, TranscriptPosition};
use crate::domain::spend::charge::NewCharge;
use crate::domain::spend::meters::Spend;
use crate::domain::verdict::Verdict;
use crate::engine::apply_event::apply_event;
use crate::engine::count;
use crate::engine::find_run;
use crate::engine::orders;
use crate::engine::outcome::outcome;
use crate::engine::session_lifecycle;
use crate::engine::session_state::SessionState;
use crate::error::Result;
use crate::pricing::table::Table;
use crate::replay::recording::{HookCall, Recording};
use crate::replay::replayed_session::{Recorded, ReplayedSession};
use crate::replay::timeline::{self, Entry};
use crate::replay::visible::Visible;
use crate::transcript::charges::Memory;
use crate::transcript::ingest::TranscriptIngest;
use crate::transcript::layout;
use crate::wire::bypass_detection::Guard;
use crate::wire::completion::mark;
use crate::wire::events::EventName;
use crate::wire::input::{self, Input};
use crate::wire::output::{self, Answer, Case};
use crate::wire::read_event;
use crate::wire::tool_input::ToolInput;

/// What recordings are played against.
#[derive(Clone, Copy)]
pub struct ReplayTerms<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// Whether it blocks.
    pub mode: Mode,
    /// The prices.
    pub table: &'a Table,
}

/// One session at play.
pub struct Player<'a> {
    terms: ReplayTerms<'a>,
    recording: &'a Recording,
    visible: Visible<'a>,
    ingest: TranscriptIngest<'a, Memory>,
    state: SessionState,
    /// Runs that have been stopped, and agents that would never have been started.
    cut: BTreeSet<String>,
    /// What requests spent that would not have been made.
    undone: Spend,
    /// Every tool call that was really asked for.
    calls: BTreeSet<String>,
    /// The tool calls that Fusebox has refused.
    refused: BTreeSet<String>,
    /// The tool calls whose dialog was answered No, each after the id of its run.
    answered_no: BTreeSet<(String, String)>,
    entries: Vec<Entry>,
    log: Vec<Record>,
    /// How agents were spawned, where a file says so.
    links: BTreeMap<String, Option<Link>>,
}

/// What was decided about an event.
struct Answered {
    /// The run it belongs to.
    run: String,
    verdict: Verdict,
    /// What the hook would have printed.
    text: String,
}

/// Plays a whole recording, by itself; returns what came of it, and what was charged for its responses.
pub fn play(terms: ReplayTerms<'_>, recording: &Recording) -> Result<(ReplayedSession, Memory)> {
    let mut player = Player::new(terms, recording);
    for call in &recording.calls {
        player.play_call(call)?;
    }
    player.finish()
}

impl<'a> Player<'a> {
    /// Makes a session's state.
    pub fn new(terms: ReplayTerms<'a>, recording: &'a Recording) -> Player<'a> {
        let began = recording.calls.first().map(|call| recording.moment(call)).unwrap_or_default();
        let session = Session {
            id: recording.session.clone(),
            started: began,
            last: began,
            mode: terms.mode,
            limits: terms.policy.session(),
            position: TranscriptPosition {
                path: recording.transcript.to_string_lossy().into_owned(),
                offset: 0,
                ..TranscriptPosition::default()
            },
            ..Session::default()
        };
        Player {
            terms,
            recording,
            visible: Visible::of(recording),
            ingest: TranscriptIngest::new(Memory::default(), terms.table),
            state: SessionState::new(session),
            cut: BTreeSet::new(),
            undone: Spend::default(),
            calls: BTreeSet::new(),
            refused: BTreeSet::new(),
            answered_no: BTreeSet::new(),
            entries: Vec::new(),
            log: Vec::new(),
            links: BTreeMap::new(),
        }
    }

    /// Returns the session as it stands.
    pub fn state(&mut self) -> &mut SessionState {
        &mut self.state
    }

    /// Hands out what would have been written to the log since the last time.
    pub fn log(&mut self) -> Vec<Record> {
        std::mem::take(&mut self.log)
    }

    /// Takes one hook call, unless it would not have happened.
    fn play_call(&mut self, call: &HookCall) -> Result<()> {
        let Ok(input) = input::parse(call.input.get().as_bytes()) else { return Ok(()) };
        let event = self.event(&input, call);
        self.count(&input, &event);
        if self.is_undone(&event) {
            return self.read(&event).map(|_| ());
        }
        if self.given(&input, &event).is_some() {
            return Ok(());
        }
        let prompt_before = self.state.session.prompt_id.clone();
        let Answered { run, verdict, .. } = self.decide(&input, &event)?;
        self.cut(&event, &run, &verdict, prompt_before.as_deref())
    }

    /// Takes one hook call, whatever was stopped before; returns what the hook would have answered.
    pub fn answer(&mut self, call: &HookCall) -> Result<String> {
        let Ok(input) = input::parse(call.input.get().as_bytes()) else { return Ok(String::new()) };
        let event = self.event(&input, call);
        match self.given(&input, &event) {
            Some(answer) => Ok(Answer::decision_only(&answer)),
            None => Ok(self.decide(&input, &event)?.text),
        }
    }

    fn event(&self, input: &Input, call: &HookCall) -> Event {
        let moment = self.recording.moment(call);
        let mut event = read_event::event(input, moment, self.recording.attended, &Guard::default());
        let stop = self.state.explicit_stop(&event.agent);
        mark(&mut event, input.tool_response, stop);
        event
    }

    /// Has the engine decide.
    fn decide(&mut self, input: &Input, event: &Event) -> Result<Answered> {
        let ingested = self.ingested(input, event)?;
        let (run, verdict) = apply_event(&mut self.state, event, &ingested, self.terms.policy);
        if let Some(halted) = self.state.effects.halted.clone() {
            orders::cascade(&mut self.state, &halted);
        }
        let name = EventName::parse(&input.hook_event_name);
        if name.is_none() {
            session_lifecycle::note_unknown(&mut self.state, &input.hook_event_name);
        }
        let outcome = outcome(&self.state, &run, event, &verdict);
        let tool_input = input.tool_input.as_ref().map(ToolInput::json);
        let case = Case { name, event, outcome: &outcome, tool_input };
        let text = output::answer(&case, &verdict).text();
        let at_ms = event.at.since(self.state.session.started);
        self.entries.extend(timeline::entries(&self.state, event, &run, at_ms, &verdict, &text));
        if let (Some(id), Some(name)) = (event.call_id(), name) {
            self.state.call_mut(&run, id).answers.insert(name.as_str().to_owned(), text.clone());
        }
        self.log.append(&mut self.state.effects.log_records);
        self.state.next_event();
        Ok(Answered { run, verdict, text })
    }

    /// Charges what is left, and says what came of it.
    pub fn finish(mut self) -> Result<(ReplayedSession, Memory)> {
        self.charge_rest()?;
        let mut runs: Vec<Run> = self.state.runs().cloned().collect();
        runs.sort_by_key(|run| (run.started.mono_ms, run.depth));
        let recorded = Recorded {
            calls: self.calls.len() as u64,
            refused: self.refused.len() as u64,
            answered_no: self.answered_no.len() as u64,
            spent: self.state.session.counters.spent + self.undone,
            lasted_ms: self
                .recording
                .calls
                .last()
                .map_or(0, |call| self.recording.moment(call).since(self.state.session.started)),
        };
        let mut answered_no = BTreeMap::new();
        for (run, _) in self.answered_no {
            *answered_no.entry(run).or_default() += 1;
        }
        let replayed = ReplayedSession {
            source: self.recording.source.clone(),
            never_started: self.cut.iter().filter(|id| self.state.run(id).is_none()).count(),
            session: *self.state.session,
            runs,
            timeline: self.entries,
            recorded,
            answered_no,
            remarks: self.ingest.remarks,
        };
        Ok((replayed, self.ingest.charges))
    }

    /// Charges what no event has revealed, also of agents that no event has announced.
    fn charge_rest(&mut self) -> Result<()> {
        self.ingest.main(&mut self.state, None)?;
        let cut = &self.cut;
        for agent in self.ingest.unannounced(&mut self.state, |id| cut.contains(id))? {
            let at = self.state.session.last;
            find_run::announce(&mut self.state, &agent, at, self.terms.policy);
        }
        for (id, _) in layout::agent_files(&self.recording.transcript) {
            self.ingest.agent(&mut self.state, &id, None)?;
        }
        for (run, charge) in self.found() {
            let now = self.state.session.last;
            count::charge_response(&mut self.state, &run, &charge, now);
        }
        Ok(())
    }

    /// Counts the calls that were really asked for.
    fn count(&mut self, input: &Input, event: &Event) {
        self.refused.extend(input.refused_calls().map(str::to_owned));
        let run = match &event.agent {
            Agent::Sub { id, .. } => Some(id),
            Agent::Main => event.prompt_id.as_ref(),
        };
        let run = run.cloned().unwrap_or_default();
        self.answered_no.extend(input.calls_answered_no().map(|call| (run.clone(), call.to_owned())));
        match &event.kind {
            EventKind::ToolRequested(call) | EventKind::ToolEnded(call, _) => {
                self.calls.insert(call.id.clone());
            }
            EventKind::BatchEnded(calls) => self.calls.extend(calls.iter().map(|call| call.id.clone())),
            _ => {}
        }
    }

    /// Reads what an event reveals of its own transcript; of a stopped run it is kept out of the state.
    fn read(&mut self, event: &Event) -> Result<Vec<(String, NewCharge)>> {
        let upto = Some(self.visible.upto(event));
        self.ingest_upto(&event.agent, upto)?;
        Ok(self.found())
    }

    /// Ingests an agent's transcript up to a byte.
    fn ingest_upto(&mut self, agent: &Agent, upto: Option<u64>) -> Result<()> {
        match agent {
            Agent::Main => self.ingest.main(&mut self.state, upto),
            Agent::Sub { id, .. } => self.ingest.agent(&mut self.state, id, upto).map(|_| ()),
        }
    }

    /// Returns the charges found that would have been made, and sums the others.
    fn found(&mut self) -> Vec<(String, NewCharge)> {
        let found = std::mem::take(&mut self.ingest.found);
        let (undone, made): (Vec<_>, Vec<_>) = found.into_iter().partition(|(run, _)| self.cut.contains(run));
        self.undone = undone.iter().map(|(_, charge)| charge.adds).fold(self.undone, std::ops::Add::add);
        made
    }

    fn ingested(&mut self, input: &Input, event: &Event) -> Result<Ingested> {
        if input.model.is_some() {
            self.state.session.model.clone_from(&input.model);
        }
        if let (Agent::Main, EventKind::SessionStart { source }) = (&event.agent, &event.kind) {
            let (model, context_tokens) = input.start();
            self.state.session.client_start.note(source, model, context_tokens);
        }
        let mut ingested = Ingested { charges: self.read(event)?, ..Ingested::default() };
        self.state.facts.request_ahead = self.ingest.request_ahead(&self.state, event);
        // The client writes an agent's side file only after it has started.
        if let (Agent::Sub { id, .. }, false) = (&event.agent, event.kind == EventKind::SubagentStarted)
            && self.state.run(id).is_none_or(|run| run.parent.is_none())
        {
            ingested.link = self.link(id);
        }
        Ok(ingested)
    }

    /// Returns how an agent was spawned, from the file beside its transcript. That is read once.
    fn link(&mut self, id: &str) -> Option<Link> {
        let read = || layout::link(&layout::agent_file(&self.recording.transcript, id));
        self.links.entry(id.to_owned()).or_insert_with(read).clone()
    }

    /// Finds the answer given to the same event before: the hook is registered twice, or the client called it again.
    fn given(&self, input: &Input, event: &Event) -> Option<String> {
        let name = EventName::parse(&input.hook_event_name)?.as_str();
        self.state.call(event.call_id()?)?.answers.get(name).cloned()
    }
}
