//! How a limit is read: when it is looked at, what it is shown, and what the next step would add.

use crate::domain::event::{Call, CallOutcome};
use crate::domain::spend::meters::{Meters, Spend};

/// When a limit is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// A tool call asks to run.
    Call,
    /// A tool call asks to start another agent.
    Spawn,
    /// A tool call asks to continue an agent that has ended.
    Wake,
    /// A batch ended; the next model request follows.
    Request,
    /// A prompt is about to start the next model request.
    Prompt,
    /// A tool call has just ended.
    Result,
    /// An agent's turn ends that a hook has prolonged before, and may again: that starts the next model request.
    End,
}

impl Stage {
    fn asks_model(self) -> bool {
        !matches!(self, Stage::Call | Stage::Result)
    }
}

/// What a limit is shown that counts for itself.
#[derive(Debug)]
pub enum Observed<'a> {
    /// A model request was charged, or more of one.
    Spent(Spend),
    /// What was charged at an estimate was taken back.
    TakenBack(Spend),
    /// A tool call counts: it is let through, or has run unasked. Each counts once. The tool is empty where only a transcript tells of it.
    CallCounted(&'a Call),
    /// A tool call has ended.
    CallEnded(&'a Call, &'a CallOutcome),
}

/// What happens next where a limit is looked at.
#[derive(Clone, Copy, Debug)]
pub struct ComingStep<'a> {
    /// Where that stands in the agent's work.
    pub stage: Stage,
    /// The call that asks to run, where one does.
    pub call: Option<&'a Call>,
    /// Whether it is the first call of an agent that no admitted call has started: what it uses is counted, and nobody was asked for it.
    pub arrives: bool,
}

impl ComingStep<'_> {
    /// Returns a step that no certain call makes.
    pub fn at(stage: Stage) -> ComingStep<'static> {
        ComingStep { stage, call: None, arrives: false }
    }

    /// Whether a request to the model follows, or was made for it without anybody being asked.
    pub fn asks_model(&self) -> bool {
        self.arrives || self.stage.asks_model()
    }
}

/// How a limit reads what is used, and what the next step would add.
#[derive(Debug)]
pub enum Meter {
    /// Spent by model requests: decided before each, so that the request and the report after it fit inside the cap.
    Spend {
        /// What is used so far.
        used: fn(&Meters) -> u64,
        /// What of a request counts.
        part: fn(&Spend) -> u64,
    },
    /// Counted in windows of time, one for each tool pattern or model.
    Window,
    /// Time without a sign of life: no event shows it, so the watchdog measures it.
    Silence,
    /// Counted one by one, or measured: what comes next may add to it.
    Count {
        /// What is used so far.
        used: fn(&Meters) -> u64,
        /// What the next step would add: the limit trips where that passes the cap, and an early warning counts it. Nothing where
        /// the limit is not decided there.
        adds: fn(ComingStep) -> Option<u64>,
    },
}

impl Meter {
    /// Returns what of a spend counts; 0 where requests do not use it up.
    pub fn part(&self, spend: &Spend) -> u64 {
        match self {
            Meter::Spend { part, .. } => part(spend),
            Meter::Count { .. } | Meter::Window | Meter::Silence => 0,
        }
    }

    /// Whether it counts model requests.
    pub fn counts_requests(&self) -> bool {
        self.part(&Spend { requests: 1, ..Spend::default() }) > 0
    }
}
