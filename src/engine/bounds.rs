//! How much is kept of what an agent can make more and more of. Every event loads and saves it, so all of it has a bound, and
//! nothing that is over a bound is lost to a limit: it is folded into what counts for all, or no more of it is let through.
//!
//! | what | its bound | what is over it |
//! |---|---|---|
//! | models of a session, a run and a pool's period | [`MODELS`] | summed as [`OTHER_MODELS`] |
//! | moments in a window of a rate; windows | [`MOMENTS`]; [`MODELS`] | the earliest go; one window for all others |
//! | what is said once; what waits to be said | [`SAID`] a kind; [`NOTICES`] an event | is not said; is counted |
//! | prompts of the schedule | [`CRONS`] | any prompt may be one of them |
//! | commands in the background | [`COMMANDS`] | refused, or ended at once |
//! | agents asked for | [`SPAWNS`] | refused |
//! | estimates in flight, of sessions and pools | [`RESERVES`] | one sum |
//! | open runs, and how far they were read | [`OPEN_RUNS`] | closed where they are over; at work, none is asked for |
//! | unread transcripts; sessions forked from | [`UNREAD`]; [`SAID`] | calls are held back |
//! | transcripts of main in the background | [`MORE_TAILS`] | read as those of unannounced agents |
//! | calls remembered for repetition; requests for a mean | 16; 5 | the earliest go |
//!
//! Warnings, trips that ask, grants, hooks and mods are as many as the rules and the settings files have, which are read up to a
//! size. The sessions above one are as many as clients were started below each other.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::book::Book;
use crate::engine::event::Background;
use crate::engine::meters::Spend;
use crate::engine::policy::Mode;
use crate::engine::session::{Session, Tail, is_default};

/// Models whose spend a scope keeps by name. What goes to further ones is summed as [`OTHER_MODELS`].
pub const MODELS: usize = 64;
/// Models that have prices keep a place of their own beside those: there are no more of them than price lists have.
const PRICED_MODELS: usize = 4 * MODELS;
/// The name of all further models. Every rule over some models counts them.
pub const OTHER_MODELS: &str = "other models";
/// Models without a price that a session brings by name to what sessions share. Its further ones are one there, which its own
/// rules over some models count, and those of no other session.
const UNPRICED_SHARED: usize = 4;
/// Moments that a window of a rate keeps, where not more fit into it.
pub const MOMENTS: usize = 1_000;
/// Things of one kind that are each said once a session; a kind is what stands before a colon.
pub const SAID: usize = 64;
/// Sentences that one event tells, and that wait for an event at which the person hears them. One more says how many there are.
pub const NOTICES: usize = 30;
/// Prompts of the client's schedule that are known by their text. Where there are so many, any prompt may be one of them.
pub const CRONS: usize = 1_000;
/// Shell commands in the background that are ended with their run. While so many are at work no shell command is let through, and
/// what a command that was let through before leaves in the background is ended at once.
pub const COMMANDS: usize = 200;
/// Agents that were asked for and have not begun. While there are so many, none is asked for.
pub const SPAWNS: usize = 1_000;
/// Holders of an estimate of requests in flight. What further ones hold is one sum, which lasts as long as anything is added to it.
pub const RESERVES: usize = 1_000;
/// Runs that events of other runs may touch. Beyond so many, those that are over and read to their ends are looked up at their own
/// events alone, and no agent is asked for where as many are at work.
pub const OPEN_RUNS: usize = 1_000;
/// Transcripts of the main agent in the background. Further ones are read as those of agents that nobody has announced.
pub const MORE_TAILS: usize = 100;
/// Transcripts that are known to have unread rows. While one is known, no call is made.
pub const UNREAD: usize = 16;
/// Agents that are watched for more rows although nobody has announced them. Of further ones what is there is read when they are
/// found, and the rest at their own events.
pub const OPEN_AGENTS: usize = 500;
/// Agents that one event finds although no hook has announced them. The next ones are found by the next event.
pub const FOUND_AGENTS: usize = 1_000;

/// The longest that any list or map gets which is saved with a session or a run: a bound, and what is folded.
pub const LARGEST: usize = 1_001;

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

/// Notes a shell command that runs on, so that it is ended with its run; one of too many is ended at once.
pub fn in_background(book: &mut Book, run: &str, command: Background) {
    let observes = book.session.mode == Mode::Observe;
    let Some(of) = book.run_mut(run) else { return };
    if of.background.len() < COMMANDS {
        of.background.push(command);
    } else if !observes {
        book.session.tell(&format!(
            "a shell command was ended, since its agent has {COMMANDS} others in the background: {}",
            shown(&command.command)
        ));
        book.kills.push(command);
    }
}

/// How much of a command is shown, in characters.
const SHOWN: usize = 80;

fn shown(command: &str) -> &str {
    command.char_indices().nth(SHOWN).map_or(command, |(end, _)| &command[..end])
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

    /// Whether a model that it has used has a price of its own, as far as that was said.
    pub fn knows_price(&self, model: &str) -> bool {
        let is_said = |said: &String| said.strip_prefix("model:").is_some_and(|name| name == model);
        !self.said.iter().any(is_said) && (self.models.is_empty() || self.models.contains_key(model))
    }

    /// Has a transcript of the main agent in the background read from now on; returns whether it is, since there are not too many.
    pub fn reads_on(&mut self, path: &str) -> bool {
        let is_known = self.more_tails.iter().any(|known| known.path == path);
        let is_new = !is_known && self.more_tails.len() < MORE_TAILS;
        if is_new {
            self.more_tails.push(Tail { path: path.to_owned(), offset: 0, ..Tail::default() });
        }
        is_known || is_new
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
            of_model(&mut models, &format!("made-up-{at}"), false).requests += 1;
        }
        assert_eq!(models.len(), MODELS + 1);
        assert_eq!(models.values().map(|spend| spend.requests).sum::<u64>(), 10 * MODELS as u64);
        assert!(Models::Like("*opus*".to_owned()).include(OTHER_MODELS));
        of_model(&mut models, "claude-opus-5-5", true).requests += 1;
        assert_eq!(models["claude-opus-5-5"].requests, 1);
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
