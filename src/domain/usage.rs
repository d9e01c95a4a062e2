//! What has been used, over every scope: all that a decision looks at beside the event.

use crate::domain::budget::SharedBudget;
use crate::domain::event::{Call, Event, EventKind};
use crate::domain::limit_set::{LimitRule, LimitSet};
use crate::domain::moment::Moment;
use crate::domain::order::Order;
use crate::domain::pending_prompt::PendingPrompt;
use crate::domain::rate::RateWindows;
use crate::domain::scope::Scope;
use crate::domain::spend::meters::Meters;
use crate::domain::verdict::Finding;

/// When something is measured, and what happens then that adds to it.
#[derive(Clone, Copy, Debug)]
pub struct Occasion<'a> {
    /// The moment.
    pub at: Moment,
    /// What happens.
    pub activity: Activity<'a>,
}

/// What happens when something is measured.
#[derive(Clone, Copy, Debug)]
pub enum Activity<'a> {
    /// Nothing that adds to it.
    Nothing,
    /// A response is over: it may not be on disk yet.
    ResponseOver,
    /// This call asks to run.
    Call(&'a Call),
    /// This event begins a compaction.
    Compaction(&'a Event),
}

impl<'a> Occasion<'a> {
    /// Returns the call that asks to run, where one does.
    pub fn call(self) -> Option<&'a Call> {
        match self.activity {
            Activity::Call(call) => Some(call),
            Activity::Nothing | Activity::ResponseOver | Activity::Compaction(_) => None,
        }
    }

    /// Returns the occasion that an event is.
    pub fn of(event: &'a Event) -> Occasion<'a> {
        let activity = match &event.kind {
            EventKind::ToolRequested(call) => Activity::Call(call),
            EventKind::BatchEnded(_) | EventKind::SubagentEnded(_) | EventKind::Stopped { .. } => {
                Activity::ResponseOver
            }
            EventKind::Compacting => Activity::Compaction(event),
            _ => Activity::Nothing,
        };
        Occasion { at: event.at, activity }
    }
}

/// One scope's side of the usage.
#[derive(Clone, Debug)]
pub struct ScopeUsage<'a> {
    /// The scope.
    pub scope: Scope,
    /// Its rules.
    pub limits: &'a LimitSet,
    /// What is used.
    pub meters: Meters,
    /// What is used as some rules count it: of some models, or for themselves.
    pub by_rule: Vec<(&'a LimitRule, Meters)>,
    /// Early warnings and warned trips so far.
    pub warned: &'a [(String, u8)],
    /// Trips that wait for a call to ask with.
    pub pending_trips: &'a [Finding],
    /// What the rates have counted.
    pub windows: &'a RateWindows,
    /// What sessions share, where the scope is that.
    pub shared_budget: Option<&'a SharedBudget>,
    /// The session, where it is one above the run's own.
    pub above: &'a str,
}

impl ScopeUsage<'_> {
    /// Whether a finding is about this scope.
    pub fn is_of(&self, finding: &Finding) -> bool {
        self.scope == finding.scope && self.above == finding.above
    }

    /// Returns the meters that a rule reads.
    pub fn meters_of(&self, rule: &LimitRule) -> &Meters {
        let some =
            self.by_rule.iter().find(|(counted, _)| counted.limit == rule.limit && counted.models == rule.models);
        some.map_or(&self.meters, |(_, meters)| meters)
    }
}

/// Returns what is used by now of the limit that a finding is about, where requests alone use it up; else 0.
pub fn used_of(scopes: &[ScopeUsage<'_>], finding: &Finding) -> u64 {
    let used = scopes.iter().filter(|used| used.is_of(finding)).flat_map(|used| {
        let rules = used.limits.limits.iter().filter(|rule| rule.is_source(&finding.source));
        rules.map(|rule| rule.limit.used(used.meters_of(rule)))
    });
    used.take(usize::from(finding.spent_by_requests())).next().unwrap_or(0)
}

/// How a prompt, or the start of a subagent, finds its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Onset {
    /// Nothing of the run's own limits is used yet.
    Begins,
    /// Its loop had ended and goes on: the next request comes of this event.
    GoesOn,
    /// Its loop is at work and takes the prompt along: the end of the batch decides about its next request.
    #[default]
    Joins,
}

/// The agent that a message is for, where it may not go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Barred<'a> {
    /// Its run.
    pub run: &'a str,
    /// Why.
    pub finding: Finding,
    /// Whether an order has ended it; else a limit leaves it nothing for the request that the message asks for.
    pub ended: bool,
}

impl Usage<'_> {
    /// Whether hooks will ask the model at the response to the next request.
    pub fn has_hooks_of_response(&self) -> bool {
        self.scopes.first().is_some_and(|run| run.meters.hooks_of_response.requests > 0)
    }
}

/// What has been used, and the orders that stand.
#[derive(Clone, Debug)]
pub struct Usage<'a> {
    /// The run.
    pub run_id: &'a str,
    /// Every scope, the run's first.
    pub scopes: Vec<ScopeUsage<'a>>,
    /// The order to end this run.
    pub order: Option<&'a Order>,
    /// For how many milliseconds a pause holds the next call or request; 0 where it ends the loop at once.
    pub pause_wait_ms: u64,
    /// Increases that a person is being asked for.
    pub pending_prompts: &'a [PendingPrompt],
    /// Whether dialogs are answered in a person's place, or may be, so that nobody is asked.
    pub has_stand_in: bool,
    /// Whether a batch of the run was to ask for more and has not: each of its calls was refused for something else.
    pub owes_ask: bool,
    /// Limits whose increase a person declined.
    pub declined: &'a [String],
    /// How the event finds its run, where it is a prompt or the start of a subagent.
    pub onset: Onset,
    /// Whether the order was taken over from the session at this event.
    pub adopts: bool,
    /// The agent that a message is for, where it may not go on.
    pub barred: Option<Barred<'a>>,
    /// Whether the message at hand wakes an agent that has ended.
    pub wakes: bool,
    /// Whether this is the first call of an agent that no admitted call has started.
    pub arrives: bool,
    /// The model of the run's next request.
    pub model: &'a str,
    /// What the agent is sent back for at its end.
    pub missing: Vec<String>,
    /// What is missing where it is let go all the same.
    pub incomplete: Vec<Finding>,
    /// Bytes of the session's transcripts that are not taken in yet, so that nobody knows what they spend.
    pub unread: u64,
    /// Why the prompt or call is refused where no limit is the reason, as the sentence to say.
    pub refusal_reason: Option<&'a str>,
}
