//! What a run does now, by its latest call.

use std::collections::BTreeMap;

use crate::domain::call::{CallRecord, CallState, Ended};
use crate::domain::moment::Moment;
use crate::domain::session::{Run, Status};
use crate::report::dialogs::DialogState;

/// The latest call of each run, by session.
pub type LatestCalls = BTreeMap<String, BTreeMap<String, CallRecord>>;

/// What a run does now.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Activity<'a> {
    /// Nothing: it is not at work.
    #[default]
    Idle,
    /// Its call asks a person for more of a limit.
    AsksForMore(&'a CallRecord, Moment),
    /// The client's own dialog about its call is open.
    Dialog(&'a CallRecord, Moment),
    /// Its call is under way.
    Calls(&'a CallRecord, Moment),
    /// The model answers, since this moment.
    Model(Moment),
}

impl<'a> Activity<'a> {
    /// Says what a run does, by its latest call.
    pub fn of(run: &Run, call: Option<&'a CallRecord>) -> Activity<'a> {
        if run.status != Status::Running {
            return Activity::Idle;
        }
        let under_way =
            call.filter(|call| call.ended == Ended::No && !call.is_over && call.state != CallState::Refused);
        match under_way.and_then(|call| Some((call, call.requested?))) {
            Some((call, at)) if call.state == CallState::Asked => Activity::AsksForMore(call, at),
            Some((call, at)) => match run.dialog_at.filter(|dialog| dialog.wall_ms >= at.wall_ms) {
                Some(dialog) => Activity::Dialog(call, dialog),
                None => Activity::Calls(call, at),
            },
            None if run.working => Activity::Model(run.last),
            None => Activity::Idle,
        }
    }

    /// Returns the call and since when it waits for a person, where it does.
    pub fn waits(&self) -> Option<(&'a CallRecord, Moment)> {
        match self {
            Activity::AsksForMore(call, since) | Activity::Dialog(call, since) => Some((call, *since)),
            Activity::Idle | Activity::Calls(..) | Activity::Model(_) => None,
        }
    }
}

/// How the words begin for a run that has asked for more and was answered.
pub const ANSWERED: &str = "asked for more: ";

/// What a run does now, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doing {
    /// In words.
    pub words: String,
    /// Whether it waits for a person.
    pub waits: bool,
}

impl Doing {
    /// Says what a run does, by its latest call and by what became of its last dialog.
    pub fn of(run: &Run, call: Option<&CallRecord>, answer: DialogState, now: Moment) -> Doing {
        let since = |at: Moment| brief(now.wall_since(at));
        let activity = Activity::of(run, call);
        if matches!(activity, Activity::AsksForMore(..)) && answer != DialogState::Open {
            return Doing { words: format!("{ANSWERED}{}", answer.as_str()), waits: false };
        }
        let words = match activity {
            Activity::Idle => String::new(),
            Activity::AsksForMore(_, at) => format!("asks for more, {}", since(at)),
            Activity::Dialog(call, _) => {
                format!("dialog: {} {}", call.tool, since(call.requested.unwrap_or(now)))
            }
            Activity::Calls(call, at) => format!("{} {}", call.tool, since(at)),
            Activity::Model(at) => format!("model {}", since(at)),
        };
        Doing { words, waits: activity.waits().is_some() }
    }
}

/// Writes a length of time short: `8s`, `12m`, `3h`.
pub fn brief(ms: u64) -> String {
    match ms / 1000 {
        seconds @ 0..100 => format!("{seconds}s"),
        seconds @ 100..6000 => format!("{}m", seconds / 60),
        seconds @ 6000..172_800 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}
