//! How much is kept of what an agent can make more and more of. Every event loads and saves it, so all of it has a bound, and
//! nothing that is over a bound is lost to a limit: it is folded into what counts for all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::meters::Spend;
use crate::engine::session::{Session, Tail, is_default};

/// Models whose spend a scope keeps by name. What goes to further ones is summed as [`OTHER_MODELS`].
pub const MODELS: usize = 64;
/// The name of all further models. Every rule over some models counts them.
pub const OTHER_MODELS: &str = "other models";
/// Moments that a window of a rate keeps, where not more fit into it.
pub const MOMENTS: usize = 1_000;
/// Things of one kind that are each said once a session; a kind is what stands before a colon.
pub const SAID: usize = 64;
/// Sentences that one event tells, and that wait for an event at which the person hears them. One more says how many there are.
pub const NOTICES: usize = 30;
/// Prompts of the client's schedule that are known by their text. Where there are so many, any prompt may be one of them.
pub const CRONS: usize = 1_000;
/// Shell commands in the background that are ended with their run. Further ones are not known.
pub const COMMANDS: usize = 200;
/// Transcripts that are known to have unread rows. While one is known, no call is made.
pub const UNREAD: usize = 16;
/// Agents that are watched for more rows although nobody has announced them. Of further ones what is there is read when they are
/// found, and the rest at their own events.
pub const OPEN_AGENTS: usize = 500;
/// Agents that one event finds although no hook has announced them. The next ones are found by the next event.
pub const FOUND_AGENTS: usize = 1_000;

/// Dialogs about limits that are open or whose answers are still to be shown. While there are so many, calls that would ask are
/// refused, and may be tried again.
pub const ASKS: usize = 64;
/// Waits for dialogs that are off the clock until the transcript shows who was waited for. Further waits stay on it.
pub const WAITS: usize = 64;
/// Yeses that are remembered for a minute. One more shows that no person gives them: nobody is asked any more.
pub const YESES: usize = 64;
/// Limits whose increase was declined in one run. Where there are so many, nobody is asked about any.
pub const DECLINED: usize = 64;

/// Returns the sum for a model: its own while there are few, else that of all others.
pub fn of_model<'a>(models: &'a mut BTreeMap<String, Spend>, model: &str) -> &'a mut Spend {
    let is_kept = models.len() < MODELS || models.contains_key(model);
    models.entry(if is_kept { model } else { OTHER_MODELS }.to_owned()).or_default()
}

/// What is left of a transcript that one event could not take in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// The bytes that are left.
    pub bytes: u64,
    /// Whether reading goes on inside a line that is passed over.
    #[serde(default, skip_serializing_if = "is_default")]
    pub inside: bool,
}

/// The agents of a session that this one was forked from, and how far they have been read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The session.
    pub session: String,
    /// The transcript at hand; those before it have been read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub at: Tail,
}

impl Session {
    /// Whether something is to be said: it was not yet. Of a kind that an agent can make up names for, only so many are.
    pub fn says_first(&mut self, key: &str) -> bool {
        let kind = key.split_once(':').map(|(kind, _)| kind);
        let same = |said: &&String| kind.is_some() && said.split_once(':').map(|(kind, _)| kind) == kind;
        let is_new = self.said.iter().all(|said| said != key) && self.said.iter().filter(same).count() < SAID;
        if is_new {
            self.said.push(key.to_owned());
        }
        is_new
    }

    /// Notes what is left of a transcript.
    pub fn leave(&mut self, path: &str, unread: Unread) {
        if unread == Unread::default() {
            self.unread.remove(path);
        } else if self.unread.len() < UNREAD || self.unread.contains_key(path) {
            self.unread.insert(path.to_owned(), unread);
        }
    }

    /// Returns the bytes of transcripts that are not taken in yet, and at least one while anything is left.
    pub fn unread(&self) -> u64 {
        let bytes = self.unread.values().map(|unread| unread.bytes).fold(0, u64::saturating_add);
        bytes.max(u64::from(!self.origins.is_empty()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::rules::Models;

    #[test]
    fn further_models_are_folded_into_one_that_every_pattern_counts() {
        let mut models = BTreeMap::new();
        for at in 0..10 * MODELS {
            of_model(&mut models, &format!("made-up-{at}")).requests += 1;
        }
        assert_eq!(models.len(), MODELS + 1);
        assert_eq!(models.values().map(|spend| spend.requests).sum::<u64>(), 10 * MODELS as u64);
        assert!(Models::Like("*opus*".to_owned()).include(OTHER_MODELS));
    }

    #[test]
    fn what_can_be_made_up_is_said_of_some_and_the_rest_always() {
        let mut session = Session::default();
        let said = (0..10 * SAID).filter(|at| session.says_first(&format!("model:m{at}"))).count();
        assert_eq!(said, SAID);
        assert!(session.says_first("unwritten") && session.says_first("event:e1"));
        assert!(!session.says_first("unwritten"));
    }
}
