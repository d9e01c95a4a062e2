//! The open book of one session: what an event may read and change, loaded before and saved after by the store.

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::account::RESERVE_LIVES_MS;
pub use crate::engine::calls::{CallRecord, CallState, Ended};
use crate::engine::event::{Background, Call, Moment};
use crate::engine::handed_down::Cut;
use crate::engine::hidden::Hidden;
use crate::engine::meters::Spend;
use crate::engine::policy::Scope;
use crate::engine::pool::Pool;
pub use crate::engine::record::NewCharge;
use crate::engine::record::{Charge, Record};
use crate::engine::reserve;
pub use crate::engine::rulebook::Rulebook;
use crate::engine::rules::Rules;
use crate::engine::session::{Reserve, Run, Session};
use crate::engine::unwritten::Unwritten;
use crate::engine::verdict::Finding;

/// News for a parent: a subagent was ended from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct News {
    /// Its run.
    pub run: String,
    /// Its type.
    pub agent_type: String,
    /// Why.
    pub finding: Finding,
    /// The run above it that was stopped, and it with that.
    pub stopped_with: Option<String>,
    /// The work was paused and can go on.
    pub paused: bool,
    /// Why, in the words of whoever asked for it.
    pub reason: Option<String>,
}

/// What is known of a subagent from the file the client keeps beside its transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The call that spawned it.
    pub spawn_call: Option<String>,
    /// The agent that spawned it, where that is a subagent.
    pub parent: Option<String>,
    /// Its depth.
    pub depth: u32,
    /// The name for messages to it.
    pub name: Option<String>,
}

/// One session's state in memory.
#[derive(Debug, Default)]
pub struct Book {
    /// The session.
    pub session: Box<Session>,
    /// The sessions that this one's client comes from: that of the agent that started it, the one which that comes from, and so on.
    pub above: Vec<Box<Session>>,
    /// What this session shares with others: the user's and the project's budgets and rates, where there are any.
    pub pools: Vec<Pool>,
    /// Records to write.
    pub records: Vec<Record>,
    /// Shell commands to end.
    pub kills: Vec<Background>,
    /// What the parent's model has to be told.
    pub news: Vec<News>,
    /// What spawns asked for and did not get in this event.
    pub cuts: Vec<Cut>,
    /// The run whose order was carried out in this event: those below it follow.
    pub halted: Option<String>,
    /// Whether the transcript's new rows hold a notification, for clients that do not send prompts.
    pub saw_notification: bool,
    /// The expected first request: of the agent about to be spawned, where its type is known; of any where none is on disk.
    pub first_request: Option<Spend>,
    /// What the first request of the agent about to be spawned may spend, where nothing is known of its type.
    pub unknown_first: Spend,
    /// What the requests of this event are taken for that no transcript shows.
    pub hidden: Hidden,
    /// Why the prompt or call of this event is refused, where no limit is the reason: settings that wait for a person, or too much
    /// that is under way. The sentence to say.
    pub held: Option<String>,
    /// Responses that were charged at an estimate in this event, to be kept.
    pub estimated: Vec<Charge>,
    runs: BTreeMap<String, Laid<Run>>,
    calls: BTreeMap<String, Laid<CallRecord>>,
    opened: BTreeSet<String>,
}

/// What was laid into a book, and whether it has changed since.
#[derive(Debug)]
struct Laid<T> {
    it: T,
    changed: bool,
}

impl<T> Laid<T> {
    fn unchanged(it: T) -> Laid<T> {
        Laid { it, changed: false }
    }

    /// Hands it out to be changed.
    fn touch(&mut self) -> &mut T {
        self.changed = true;
        &mut self.it
    }
}

impl Book {
    /// Opens the book of a session.
    pub fn new(session: impl Into<Box<Session>>) -> Book {
        Book { session: session.into(), ..Book::default() }
    }

    /// Lays a loaded run into the book.
    pub fn lay_run(&mut self, run: Run) {
        self.runs.insert(run.id.clone(), Laid::unchanged(run));
    }

    /// Lays a loaded call into the book.
    pub fn lay_call(&mut self, id: &str, call: CallRecord) {
        self.calls.insert(id.to_owned(), Laid::unchanged(call));
    }

    /// Finds a run.
    pub fn run(&self, id: &str) -> Option<&Run> {
        self.runs.get(id).map(|run| &run.it)
    }

    /// Finds a run to change.
    pub fn run_mut(&mut self, id: &str) -> Option<&mut Run> {
        self.runs.get_mut(id).map(Laid::touch)
    }

    /// Finds what is unwritten in the transcript of a run, to change it, and the id of whose that is: main runs share one.
    pub fn unwritten_mut(&mut self, run: &str) -> (&str, &mut Unwritten) {
        match self.runs.get_mut(run) {
            Some(run) if !run.it.is_main() => {
                let run = run.touch();
                (&run.id, &mut run.unwritten)
            }
            _ => (&self.session.id, &mut self.session.unwritten),
        }
    }

    /// Opens a run.
    pub fn open_run(&mut self, run: Run) {
        let id = run.id.clone();
        self.lay_run(run);
        let _run = self.run_mut(&id);
        self.opened.insert(id);
    }

    /// Returns every loaded run.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.values().map(|run| &run.it)
    }

    /// Finds a loaded call.
    pub fn call(&self, id: &str) -> Option<&CallRecord> {
        self.calls.get(id).map(|call| &call.it)
    }

    /// Finds or makes the record of a run's call, to change it.
    pub fn call_mut(&mut self, run: &str, id: &str) -> &mut CallRecord {
        let new = || Laid::unchanged(CallRecord { run: run.to_owned(), ..CallRecord::default() });
        self.calls.entry(id.to_owned()).or_insert_with(new).touch()
    }

    /// Finds or makes the record of a run's call, and notes its tool.
    pub fn record_of(&mut self, run: &str, call: &Call) -> &mut CallRecord {
        let record = self.call_mut(run, &call.id);
        if record.tool.is_empty() {
            record.tool.clone_from(&call.tool);
        }
        record
    }

    /// Returns what may change in a scope: its rules, the warnings given, the trips that wait for a call to ask with.
    pub fn side(&mut self, finding: &Finding, run: &str) -> Option<Side<'_>> {
        match finding.scope {
            Scope::Run => self.run_mut(run).map(|run| Side {
                rules: &mut run.rules,
                warned: &mut run.warned,
                wants: &mut run.wants,
            }),
            Scope::Session => Some(Side::of(&mut self.session)),
            Scope::Outer => self.above_mut(&finding.above).map(Side::of),
            Scope::Project | Scope::User => {
                let pool = self.pools.iter_mut().find(|pool| pool.scope == finding.scope)?;
                pool.changed = true;
                Some(Side { rules: &mut pool.rules, warned: &mut pool.warned, wants: &mut pool.wants })
            }
        }
    }

    /// Holds an estimate of a request in flight, in every scope that it is charged to.
    pub fn reserve(&mut self, held: &Reserve) {
        for session in std::iter::once(&mut self.session).chain(&mut self.above) {
            reserve::hold(&mut session.reserves, held.clone(), RESERVE_LIVES_MS);
        }
        for pool in &mut self.pools {
            pool.reserve(held.clone(), RESERVE_LIVES_MS);
        }
    }

    /// Hands what a call had reserved over to the agent that it started.
    pub fn hand_over(&mut self, call: &str, agent: &str) {
        let sessions = std::iter::once(&mut self.session).chain(&mut self.above).map(|session| &mut session.reserves);
        for held in sessions.flatten().filter(|held| held.holder == call) {
            agent.clone_into(&mut held.holder);
        }
        for pool in &mut self.pools {
            pool.hand_over(call, agent);
        }
    }

    /// Lets go of what a holder had reserved.
    pub fn release(&mut self, holder: &str) {
        for session in std::iter::once(&mut self.session).chain(&mut self.above) {
            session.reserves.retain(|held| held.holder != holder);
        }
        for pool in &mut self.pools {
            pool.release(holder);
        }
    }

    /// Takes one request out of what a holder has reserved: it has been charged.
    pub fn settle(&mut self, holder: &str) {
        for session in std::iter::once(&mut self.session).chain(&mut self.above) {
            session.reserves.retain_mut(|held| held.holder != holder || held.settle());
        }
        for pool in &mut self.pools {
            pool.settle(holder);
        }
    }

    /// Takes note of a model request in the windows of the rates that count it.
    pub fn note_request(&mut self, model: &str, (at_ms, now): (i64, Moment)) {
        // A response may be read long after it came.
        let age = u64::try_from(now.wall_ms.saturating_sub(at_ms)).unwrap_or(0);
        for session in std::iter::once(&mut self.session).chain(&mut self.above) {
            for rate in session.rules.rates.iter().filter(|rate| rate.counts_requests() && age < rate.per_ms) {
                session.windows.note(rate, model, now);
            }
        }
        for pool in &mut self.pools {
            for rate in pool.rules.rates.iter().filter(|rate| rate.counts_requests() && age < rate.per_ms) {
                pool.windows.note(rate, model, now);
                pool.changed = true;
            }
        }
    }

    /// Takes note of a call in the windows of the rates that count it.
    pub fn note_call(&mut self, run: &str, tool: &str, now: Moment) {
        if let Some(run) = self.runs.get_mut(run).map(|run| &mut run.it) {
            for rate in run.rules.rates.iter().filter(|rate| rate.counts_tool(tool)) {
                run.windows.note(rate, "", now);
            }
        }
        for session in std::iter::once(&mut self.session).chain(&mut self.above) {
            for rate in session.rules.rates.iter().filter(|rate| rate.counts_tool(tool)) {
                session.windows.note(rate, "", now);
            }
        }
        for pool in &mut self.pools {
            for rate in pool.rules.rates.iter().filter(|rate| rate.counts_tool(tool)) {
                pool.windows.note(rate, "", now);
                pool.changed = true;
            }
        }
    }

    /// Whether a run was opened in this event.
    pub fn was_opened(&self, id: &str) -> bool {
        self.opened.contains(id)
    }

    /// Returns the runs that changed.
    pub fn changed_runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.values().filter(|run| run.changed).map(|run| &run.it)
    }

    /// Returns the calls that changed, with their ids.
    pub fn changed_calls(&self) -> impl Iterator<Item = (&String, &CallRecord)> {
        self.calls.iter().filter(|(_, call)| call.changed).map(|(id, call)| (id, &call.it))
    }

    /// Forgets what has been saved, for the next event.
    pub fn saved(&mut self) {
        self.opened.clear();
        self.runs.values_mut().for_each(|run| run.changed = false);
        self.calls.values_mut().for_each(|call| call.changed = false);
        self.records.clear();
        self.estimated.clear();
        self.hidden = Hidden::default();
        self.kills.clear();
        self.news.clear();
        self.cuts.clear();
        self.halted = None;
    }

    /// Follows parents up to the main run that a run belongs to; a run without known parents is its own root.
    pub fn root_of<'a>(&'a self, id: &'a str) -> &'a str {
        let mut at = id;
        for _ in 0..64 {
            match self.run(at).and_then(|run| run.parent.as_deref()) {
                Some(parent) => at = parent,
                None => break,
            }
        }
        at
    }

    /// Finds a subagent's run by its id or name, the latest where a name was used twice.
    pub fn addressee(&self, to: &str) -> Option<&Run> {
        self.run(to).or_else(|| {
            let named = self.runs().filter(|run| run.name.as_deref() == Some(to));
            named.max_by_key(|run| run.started.wall_ms)
        })
    }
}

/// What may change in a scope.
pub struct Side<'a> {
    /// Its rules.
    pub rules: &'a mut Rules,
    /// Warnings given.
    pub warned: &'a mut Vec<(String, u8)>,
    /// Trips that wait for a call to ask with.
    pub wants: &'a mut Vec<Finding>,
}

impl<'a> Side<'a> {
    fn of(session: &'a mut Session) -> Side<'a> {
        Side { rules: &mut session.rules, warned: &mut session.warned, wants: &mut session.wants }
    }
}
