//! The state of one session in memory: what one event loads, reads, changes and saves.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::budget::SharedBudget;
use crate::domain::call::CallRecord;
use crate::domain::event::{Agent, Call};
use crate::domain::limit_set::ExplicitStop;
use crate::domain::scope::Scope;
use crate::domain::session::{Run, Session};
use crate::domain::spend::missing_usage::MissingUsage;
use crate::domain::verdict::Finding;
use crate::engine::effects::Effects;
use crate::engine::event_facts::EventFacts;
use crate::engine::scopes::{ScopeMut, Side};

/// How many runs above one are looked at: no tree of agents is as deep.
pub const DEEPEST: usize = 64;

/// One session's state in memory.
#[derive(Debug, Default)]
pub struct SessionState {
    /// The session.
    pub session: Box<Session>,
    /// The sessions that this one's client comes from: that of the agent that started it, the one which that comes from, and so on.
    pub above: Vec<Box<Session>>,
    /// What this session shares with others: the user's and the project's budgets and rates, where there are any.
    pub shared_budgets: Vec<SharedBudget>,
    /// What is known of the event at hand, and expected of its request.
    pub facts: EventFacts,
    /// What the event at hand calls for besides its answer.
    pub effects: Effects,
    runs: BTreeMap<String, Tracked<Box<Run>>>,
    calls: BTreeMap<String, Tracked<CallRecord>>,
    opened: BTreeSet<String>,
}

/// A loaded value, and whether it has changed since.
#[derive(Debug)]
struct Tracked<T> {
    it: T,
    changed: bool,
}

impl<T> Tracked<T> {
    fn unchanged(it: T) -> Tracked<T> {
        Tracked { it, changed: false }
    }

    /// Returns it mutably and marks it changed.
    fn get_mut(&mut self) -> &mut T {
        self.changed = true;
        &mut self.it
    }
}

impl SessionState {
    /// Makes the state of a session that is new to it.
    pub fn new(session: impl Into<Box<Session>>) -> SessionState {
        SessionState { session: session.into(), ..SessionState::default() }
    }

    /// Inserts a loaded run, unchanged but for the name of its parent.
    pub fn insert_loaded_run(&mut self, mut run: Run) {
        let goes_on = run.parent.as_deref().and_then(|parent| self.session.goes_on_with(parent)).map(str::to_owned);
        let changed = goes_on.is_some();
        run.parent = goes_on.or(run.parent);
        self.runs.insert(run.id.clone(), Tracked { it: Box::new(run), changed });
    }

    /// Inserts a loaded call, unchanged but for the name of its run.
    pub fn insert_loaded_call(&mut self, id: &str, mut call: CallRecord) {
        let goes_on = self.session.goes_on_with(&call.run).map(str::to_owned);
        let changed = goes_on.is_some();
        call.run = goes_on.unwrap_or(call.run);
        self.calls.insert(id.to_owned(), Tracked { it: call, changed });
    }

    /// Has what is loaded of a run name another in its place.
    pub fn rename_run(&mut self, from: &str, to: &str) {
        for call in self.calls.values_mut().filter(|call| call.it.run == from) {
            to.clone_into(&mut call.get_mut().run);
        }
        for run in self.runs.values_mut().filter(|run| run.it.parent.as_deref() == Some(from)) {
            run.get_mut().parent = Some(to.to_owned());
        }
    }

    /// Returns what a run asks to be stopped by, where an agent's run is known.
    pub fn explicit_stop(&self, agent: &Agent) -> Option<&ExplicitStop> {
        let id = match agent {
            Agent::Sub { id, .. } => Some(id),
            Agent::Main => self.session.main.as_ref(),
        };
        self.run(id?)?.limits.explicit_stop.as_ref()
    }

    /// Finds a run.
    pub fn run(&self, id: &str) -> Option<&Run> {
        self.runs.get(id).map(|run| &*run.it)
    }

    /// Finds a run to change.
    pub fn run_mut(&mut self, id: &str) -> Option<&mut Run> {
        self.runs.get_mut(id).map(|run| &mut **run.get_mut())
    }

    /// Finds what of a run's usage its transcript does not show, to change it, and the id of whose that is: main runs share one.
    pub fn missing_usage_mut(&mut self, run: &str) -> (&str, &mut MissingUsage) {
        match self.runs.get_mut(run) {
            Some(run) if !run.it.is_main() => {
                let run = run.get_mut();
                (&run.id, &mut run.missing_usage)
            }
            _ => (&self.session.id, &mut self.session.missing_usage),
        }
    }

    /// Opens a run.
    pub fn open_run(&mut self, run: Run) {
        let id = run.id.clone();
        self.insert_loaded_run(run);
        let _run = self.run_mut(&id);
        self.opened.insert(id);
    }

    /// Takes a run back that has turned out to be none; returns it.
    pub fn withdraw_run(&mut self, id: &str) -> Option<Run> {
        let run = self.runs.remove(id)?;
        self.session.open.retain(|open| open != id);
        self.session.read_to.remove(id);
        self.effects.withdrawn.push(id.to_owned());
        Some(*run.it)
    }

    /// Returns every loaded run.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.values().map(|run| &*run.it)
    }

    /// Finds a loaded call.
    pub fn call(&self, id: &str) -> Option<&CallRecord> {
        self.calls.get(id).map(|call| &call.it)
    }

    /// Finds or makes the record of a run's call, to change it.
    pub fn call_mut(&mut self, run: &str, id: &str) -> &mut CallRecord {
        let new = || Tracked::unchanged(CallRecord { run: run.to_owned(), ..CallRecord::default() });
        self.calls.entry(id.to_owned()).or_insert_with(new).get_mut()
    }

    /// Finds or makes the record of a run's call, and notes its tool.
    pub fn record_of(&mut self, run: &str, call: &Call) -> &mut CallRecord {
        let record = self.call_mut(run, &call.id);
        if record.tool.is_empty() {
            record.tool.clone_from(&call.tool);
        }
        record
    }

    /// Returns every scope that shares in what a run does, to be changed.
    pub fn scopes_mut(&mut self, run: &str) -> impl Iterator<Item = ScopeMut<'_>> {
        let run = self.runs.get_mut(run).map(|run| ScopeMut::Run(run.get_mut()));
        run.into_iter().chain(wider(&mut self.session, &mut self.above, &mut self.shared_budgets))
    }

    /// Returns the scopes wider than a run, to be changed: the session, those above it, and the budgets.
    pub fn wider_scopes_mut(&mut self) -> impl Iterator<Item = ScopeMut<'_>> {
        wider(&mut self.session, &mut self.above, &mut self.shared_budgets)
    }

    /// Returns the session and those above it, to be changed.
    pub fn sessions_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        std::iter::once(&mut self.session).chain(&mut self.above).map(|session| &mut **session)
    }

    /// Returns what may change in the scope of a finding: its rules, the warnings given, the trips that wait for a call to ask with.
    pub fn side(&mut self, finding: &Finding, run: &str) -> Option<Side<'_>> {
        let scope = match finding.scope {
            Scope::Run => ScopeMut::Run(self.run_mut(run)?),
            Scope::Session => ScopeMut::Session(&mut self.session),
            Scope::Outer => ScopeMut::Outer(self.above_mut(&finding.above)?),
            Scope::Project | Scope::User | Scope::Team => {
                ScopeMut::Budget(self.shared_budgets.iter_mut().find(|budget| budget.scope == finding.scope)?)
            }
        };
        Some(scope.side())
    }

    /// Whether a run was opened in this event.
    pub fn was_opened(&self, id: &str) -> bool {
        self.opened.contains(id)
    }

    /// Returns the runs that changed.
    pub fn changed_runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.values().filter(|run| run.changed).map(|run| &*run.it)
    }

    /// Returns the calls that changed, with their ids.
    pub fn changed_calls(&self) -> impl Iterator<Item = (&String, &CallRecord)> {
        self.calls.iter().filter(|(_, call)| call.changed).map(|(id, call)| (id, &call.it))
    }

    /// Goes on to the next event: what was of the last one alone is forgotten. What has changed since the state was loaded stays marked: a
    /// session may have thousands of calls.
    pub fn next_event(&mut self) {
        self.opened.clear();
        self.facts = EventFacts::default();
        self.effects = Effects::default();
    }

    /// Follows parents up to the main run that a run belongs to; a run without known parents is its own root.
    pub fn root_of<'a>(&'a self, id: &'a str) -> &'a str {
        self.run(id).and_then(|run| self.above_run(run).last()).unwrap_or(id)
    }

    /// Whether a run was spawned by another, at whatever distance.
    pub fn is_below(&self, run: &Run, id: &str) -> bool {
        self.above_run(run).any(|above| above == id)
    }

    /// Returns the runs above one, its parent first.
    pub fn above_run<'a>(&'a self, run: &'a Run) -> impl Iterator<Item = &'a str> {
        let parent = |id: &&'a str| self.run(id)?.parent.as_deref();
        std::iter::successors(run.parent.as_deref(), parent).take(DEEPEST)
    }

    /// Finds a subagent's run by its id or name, the latest where a name was used twice.
    pub fn addressee(&self, to: &str) -> Option<&Run> {
        self.run(to).or_else(|| {
            let named = self.runs().filter(|run| run.name.as_deref() == Some(to));
            named.max_by_key(|run| run.started.wall_ms)
        })
    }
}

/// Returns the scopes wider than a run.
fn wider<'a>(
    session: &'a mut Session,
    above: &'a mut [Box<Session>],
    budgets: &'a mut [SharedBudget],
) -> impl Iterator<Item = ScopeMut<'a>> {
    let outer = above.iter_mut().map(|above| ScopeMut::Outer(above));
    std::iter::once(ScopeMut::Session(session)).chain(outer).chain(budgets.iter_mut().map(ScopeMut::Budget))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_event_begins_with_nothing_of_the_last() {
        let mut state = SessionState::new(Session::default());
        state.insert_loaded_run(Run { id: "r".to_owned(), ..Run::default() });
        state.run_mut("r").unwrap().depth = 1;
        state.facts.saw_notification = true;
        state.facts.refusal_reason = Some("settings wait".to_owned());
        state.effects.halted = Some("r".to_owned());
        state.next_event();
        let left = format!("{:?} {:?}", state.facts, state.effects);
        assert_eq!(left, format!("{:?} {:?}", EventFacts::default(), Effects::default()));
        assert_eq!(state.run("r").unwrap().depth, 1, "what is the session's stays");
    }
}
