//! What would not have happened in a recording, because of what was stopped or refused before it.

use crate::domain::call::CallState;
use crate::domain::event::{Agent, Event, EventKind};
use crate::domain::verdict::{Decision, Verdict};
use crate::engine::count;
use crate::error::Result;
use crate::replay::player::Player;

impl Player<'_> {
    /// Whether an event would not have happened, because of what was stopped or refused before it.
    pub(super) fn is_undone(&mut self, event: &Event) -> bool {
        let refused = |id: &str| self.state.call(id).is_some_and(|call| call.state == CallState::Refused);
        match (&event.agent, &event.kind) {
            (_, EventKind::ToolEnded(call, _)) if refused(&call.id) => true,
            (Agent::Sub { id, .. }, EventKind::SubagentStarted) => {
                if !self.starts(id) {
                    self.cut.insert(id.clone());
                }
                self.cut.contains(id)
            }
            (Agent::Sub { id, .. }, _) => self.cut.contains(id),
            (Agent::Main, EventKind::Prompt { notifications, .. }) if !notifications.is_empty() => {
                let is_undone = |task: &String| self.cut.contains(task) && self.state.run(task).is_none();
                notifications.iter().all(|notification| is_undone(&notification.task))
            }
            (Agent::Main, EventKind::Prompt { .. } | EventKind::SessionStart { .. } | EventKind::SessionEnded) => false,
            (Agent::Main, _) => self.state.session.main.as_ref().is_some_and(|main| self.cut.contains(main)),
        }
    }

    /// Whether an agent would have been started: the call that spawns it was made, by a run that was not over.
    fn starts(&mut self, id: &str) -> bool {
        let link = self.link(id).unwrap_or_default();
        let call = link.spawn_call.as_deref().and_then(|call| self.state.call(call));
        let known = self.state.run(id).is_some();
        match call {
            Some(call) if known => !self.cut.contains(&call.run),
            Some(call) => call.state != CallState::Refused,
            None => link.parent.or_else(|| self.state.session.main.clone()).is_none_or(|id| !self.cut.contains(&id)),
        }
    }

    /// Ends a run where the verdict says so: what it does from now on in the recording would not have happened.
    pub(super) fn cut(
        &mut self,
        event: &Event,
        run: &str,
        verdict: &Verdict,
        prompt_before: Option<&str>,
    ) -> Result<()> {
        if verdict.observed {
            return Ok(());
        }
        match (&event.kind, verdict.decision) {
            // A prompt that arrives while the agent works is only left out.
            (EventKind::Prompt { .. }, Decision::Deny) if event.prompt_id.as_deref() == prompt_before => {}
            (EventKind::Prompt { .. }, Decision::Deny) => {
                self.cut.insert(run.to_owned());
            }
            (EventKind::Prompt { .. }, _) => {
                self.cut.remove(run);
            }
            (EventKind::Compacting, Decision::Deny) => {
                let upto = Some(self.visible.summary(&event.agent));
                self.ingest_upto(&event.agent, upto)?;
                let refused = std::mem::take(&mut self.ingest.found);
                self.undone = refused.iter().fold(self.undone, |sum, (_, charge)| sum + charge.adds);
            }
            (_, Decision::Stop) => {
                if let Some(call) = event.call_id() {
                    self.charge_response(&event.agent, call)?;
                }
                self.cut.insert(run.to_owned());
            }
            _ => {}
        }
        Ok(())
    }

    /// Charges the response that made a call: it was spent before the call could be refused.
    fn charge_response(&mut self, agent: &Agent, call: &str) -> Result<()> {
        let upto = Some(self.visible.response(agent, call));
        self.ingest_upto(agent, upto)?;
        for (run, charge) in self.found() {
            let now = self.state.session.last;
            count::charge_response(&mut self.state, &run, &charge, now);
        }
        Ok(())
    }
}
