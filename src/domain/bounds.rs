//! Bounds on what is kept of things that an agent can make more and more of: every event loads and saves them.
//!
//! Nothing over a bound is lost to a limit: it is summed into one entry that every limit counts, or no more of it is admitted.
//!
//! | what | bound | beyond it |
//! |---|---|---|
//! | models of a session, a run and a shared budget's period | [`MODELS`] | summed as [`OTHER_MODELS`] |
//! | moments in a window of a rate; windows | [`MOMENTS`]; [`MODELS`] | the earliest go; one window for all others |
//! | what is said once; what waits to be said | [`NOTIFIED`] a kind; [`NOTIFICATIONS`] an event | is not said; is counted |
//! | hooks that hold calls of a paused run | [`HOLDERS`] | what is held is over as if these alone held it |
//! | clients of which no hook tells | [`SILENT_CLIENTS`] | the earliest go, and are counted |
//! | prompts of the schedule | [`CRONS`] | any prompt may be one of them |
//! | commands in the background | [`COMMANDS`] | refused, or ended at once |
//! | tasks that a prompt tells of | [`TASKS_TOLD`] | are at work until their own ends are told |
//! | calls of a stopped agent's report | [`REPORT_CALLS`] | refused |
//! | agents asked for | [`SPAWNS`] | refused |
//! | bytes of the limits that a spawn asks for | [`SPAWN_LIMITS`] | are none |
//! | turns that have turned out to go on with a run | [`REJOINED`] | the earliest go: what began in them was loaded since |
//! | estimates in flight, of sessions and shared budgets | [`RESERVATIONS`] | one sum |
//! | open runs, and how far they were read | [`OPEN_RUNS`] | closed where they are over; at work, none is asked for |
//! | unread transcripts; sessions forked from | [`UNREAD`]; [`NOTIFIED`] | calls are held back |
//! | transcripts of main in the background | [`MORE_POSITIONS`] | read as those of unannounced agents |
//! | calls and waits remembered for repetition; errors; requests for a mean | 16; 5; 5 | the earliest go |
//!
//! Warnings, trips that ask, grants, hooks and mods are as many as the rules and the settings files have, which are read up to a
//! size. The sessions above one are as many as clients were started below each other.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::spend::meters::Spend;
use crate::domain::time_units::{DAY_MS, MINUTE_MS};

/// Calls of finalize tools that run in a stopped agent's report.
pub const REPORT_CALLS: u32 = 20;
/// Models whose spend a scope keeps by name. What goes to further ones is summed as [`OTHER_MODELS`].
pub const MODELS: usize = 64;
/// Models with a price are kept by name beside those. There are no more of them than the price table has.
const PRICED_MODELS: usize = 4 * MODELS;
/// The name of all further models. Every rule over some models counts them.
pub const OTHER_MODELS: &str = "other models";
/// Models without a price that a shared budget keeps by name for one session. The session's further ones are one sum there. Only
/// that session's own limits over some models count it.
const UNPRICED_SHARED: usize = 4;
/// Moments that a window of a rate keeps, unless its rate admits more.
pub const MOMENTS: usize = 1_000;
/// Notices of one kind that are each given once a session. The kind is the part of the key before the colon.
pub const NOTIFIED: usize = 64;
/// Hooks that hold calls of a paused run, as far as they are kept.
pub const HOLDERS: usize = 64;
/// Clients of which no hook tells that a session keeps and logs one by one; all are counted.
pub const SILENT_CLIENTS: usize = 32;
/// Notifications that one event adds, and that wait for an event that can show them. One more says how many were left out.
pub const NOTIFICATIONS: usize = 30;
/// How many ends of subagents wait for a prompt that tells the main agent of them: a model reads no longer list.
pub const UNTOLD_ENDS: usize = 12;
/// Scheduled prompts that are recognised by their text. At this number any prompt may be one of them.
pub const CRONS: usize = 1_000;
/// Shell commands in the background that end with their run. While so many run, no further shell command is admitted. One that an
/// admitted command leaves in the background is ended at once.
pub const COMMANDS: usize = 200;
/// An event waits for the state less long, in milliseconds: where two moments lie further apart, a clock was set.
pub const LONGEST_WAIT_MS: u64 = 20 * MINUTE_MS.cast_unsigned();
/// Notifications of tasks that are read in one prompt: more than commands can run. Each is looked up while others wait for the state.
pub const TASKS_TOLD: usize = 256;
/// Agents that were requested and have not begun. While there are so many, no further one is admitted.
pub const SPAWNS: usize = 1_000;
/// The most bytes of the limits that a spawn's prompt asks for: they are kept with its run, and every call of it reads and writes them.
pub const SPAWN_LIMITS: usize = 4_096;
/// Holders of a reservation. What further ones reserve is one sum, which lasts as long as anything is added to it.
pub const RESERVATIONS: usize = 1_000;
/// Runs that events of other runs may change. Beyond so many, a run that has ended and is fully read is loaded at its own events
/// only. No agent is admitted while as many are at work.
pub const OPEN_RUNS: usize = 1_000;
/// Turns of which it is kept that they go on with another run, for what was saved under their own.
pub const REJOINED: usize = 16;
/// Transcripts of the main agent in the background. Further ones are read like those of unannounced agents.
pub const MORE_POSITIONS: usize = 100;
/// Transcripts that are known to have unread rows. While one is known, no call is made.
pub const UNREAD: usize = 16;
/// Unannounced agents whose transcripts are checked for more rows. A further one is read when it is found, and then at its own
/// events.
pub const OPEN_AGENTS: usize = 500;
/// Unannounced agents that one event finds. The next event finds the next ones.
pub const FOUND_AGENTS: usize = 1_000;

/// Dialogs about limits that are open, or whose answers are not shown yet. While there are so many, a call that would ask is
/// refused, and may be tried again.
pub const PENDING_PROMPTS: usize = 64;
/// Waits for dialogs that do not count as working time until the transcript shows who answered. Further waits count.
pub const DIALOG_WAITS: usize = 64;
/// Approvals that are remembered for a minute. One more shows that no person gives them, so nobody is asked any more.
pub const APPROVALS: usize = 64;
/// Limits whose increase was declined in one run. At this number nobody is asked about any.
pub const DECLINED: usize = 64;

/// Returns the sum for a model: its own while there are few models, else the one for all others.
pub fn of_model<'a>(models: &'a mut BTreeMap<String, Spend>, model: &str, is_priced: bool) -> &'a mut Spend {
    let places = if is_priced { PRICED_MODELS } else { MODELS };
    let is_kept = models.len() < places || models.contains_key(model);
    models.entry(if is_kept { model } else { OTHER_MODELS }.to_owned()).or_default()
}

/// The models without a price that each session has brought to what sessions share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unpriced(BTreeMap<String, Vec<String>>);

impl Unpriced {
    /// Returns the name under which a model without a price is kept there: its own, or one for all further ones of its session.
    pub fn name<'a>(&mut self, session: &str, model: &'a str) -> Cow<'a, str> {
        if !self.0.contains_key(session) && self.0.len() >= MODELS {
            return Cow::Borrowed(OTHER_MODELS);
        }
        let known = self.0.entry(session.to_owned()).or_default();
        if known.len() < UNPRICED_SHARED && known.iter().all(|name| name != model) {
            known.push(model.to_owned());
        }
        match known.iter().any(|name| name == model) {
            true => Cow::Borrowed(model),
            false => Cow::Owned(others_of(session)),
        }
    }
}

/// Returns the name of a session's further models without a price, in what sessions share.
pub fn others_of(session: &str) -> String {
    format!("{OTHER_MODELS} of {session}")
}

/// Whether a name is that of further models of one session.
pub fn is_others_of_one(name: &str) -> bool {
    name.strip_prefix(OTHER_MODELS).is_some_and(|rest| rest.starts_with(" of "))
}

/// The longest hold of a paused run's call or request, in milliseconds: a day.
pub const LONGEST_HOLD_MS: u64 = DAY_MS.cast_unsigned();

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::limit_set::Models;

    #[test]
    fn further_models_are_folded_into_one_that_every_pattern_counts() {
        let mut models = BTreeMap::new();
        for at in 0..10 * MODELS {
            of_model(&mut models, &format!("made-up-{at}"), false).requests += 1;
        }
        assert_eq!(models.len(), MODELS + 1);
        assert_eq!(models.values().map(|spend| spend.requests).sum::<u64>(), 10 * MODELS as u64);
        assert!(Models::Like("*opus*".to_owned()).include(OTHER_MODELS));
        of_model(&mut models, "claude-opus-5-5", true).requests += 1;
        assert_eq!(models["claude-opus-5-5"].requests, 1);
    }
}
