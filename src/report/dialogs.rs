//! What a report tells of dialogs: who was asked for more of which limit, and what became of it.

use serde::Serialize;

use crate::domain::limit::Limit;
use crate::domain::record::{BY_COMMAND, RecordKind, TOO_SOON};
use crate::domain::session::{Session, Status};
use crate::domain::unit::Unit;
use crate::report::reading::LimitReading;
use crate::report::rows::Logged;
use crate::ui::formats::{Quantity, Timestamp};
use crate::ui::style::plain;
use crate::wire::messages::pair;

/// What became of a dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DialogState {
    /// No answer was seen yet.
    Open,
    /// More was granted.
    Granted,
    /// Nothing was granted: No, Esc, or no person's Yes.
    Declined,
    /// Nothing was granted: the Yes came too soon to have been read.
    TooSoon,
    /// Nothing was granted: its agent was stopped while the question was open.
    Withdrawn,
    /// Nobody can answer any more: its client has gone, or the agent went on in another way.
    Unanswered,
}

impl DialogState {
    /// Whether it was answered, and nothing was granted.
    pub fn is_no(self) -> bool {
        matches!(self, DialogState::Declined | DialogState::TooSoon)
    }

    /// Returns the words for it.
    pub fn as_str(self) -> &'static str {
        match self {
            DialogState::Open => "no answer seen yet",
            DialogState::Granted => "Yes",
            DialogState::Declined => "No",
            DialogState::TooSoon => "Yes, too soon to count",
            DialogState::Withdrawn => "withdrawn by a stop",
            DialogState::Unanswered => "never answered",
        }
    }
}

/// A dialog that asked a person for more of a limit.
#[derive(Clone, Debug, Serialize)]
pub struct Dialog {
    /// The limit's key, with the models that it counts where those are not all.
    pub limit: String,
    /// What it is counted over.
    pub scope: String,
    /// When it was asked.
    pub at: Timestamp,
    /// What became of it.
    pub answer: DialogState,
    /// What it said is used: responses among it that no transcript had yet, by their estimate.
    pub used: Option<Quantity>,
    /// The cap that it named.
    pub cap: Option<Quantity>,
    /// What was used when it was asked, and what was to come, in configuration's unit.
    #[serde(skip)]
    pub needs: f64,
    /// The number of the record of its question.
    #[serde(skip)]
    pub number: i64,
}

impl Dialog {
    /// Says what was asked and answered: while it is open with its figures, which may be ahead of what these limits have counted.
    pub fn told(&self, limits: &[LimitReading]) -> String {
        let said = format!("asked for more of {}: {}", plain(&self.limit), self.answer.as_str());
        let (Some(used), Some(cap)) = (self.used, self.cap) else { return said };
        if self.answer != DialogState::Open || cap.limit.unit == Unit::Switch {
            return said;
        }
        let counted = limits.iter().find(|reading| reading.limit == self.limit).map(|reading| reading.used.value);
        let more = if counted.is_some_and(|counted| counted < used.value) { NOT_COUNTED_YET } else { "" };
        format!("{said}; it says {}{more}", pair(cap.limit, used.value, cap.value))
    }
}

/// Why a dialog says more than is counted.
const NOT_COUNTED_YET: &str = ", with a response that is in no transcript yet";

/// Returns the dialogs about a run's calls, by their records: the last record about a limit says what became of its last dialog. One
/// without an answer that is not pending any more will have none.
pub fn of_run(records: &[Logged], run: &str, session: &Session) -> Vec<Dialog> {
    let mut dialogs: Vec<Dialog> = Vec::new();
    for logged in records.iter().filter(|logged| logged.record.run == run) {
        let (record, at) = (&logged.record, Timestamp(logged.at_ms));
        let answer = match record.event {
            Some(RecordKind::IncreaseAsked) => DialogState::Open,
            // What a person gives with a command is no answer.
            Some(RecordKind::LimitGranted) if record.reason.as_deref() == Some(BY_COMMAND) => continue,
            Some(RecordKind::LimitGranted) => DialogState::Granted,
            Some(RecordKind::IncreaseDeclined) if record.reason.as_deref() == Some(TOO_SOON) => DialogState::TooSoon,
            Some(RecordKind::IncreaseDeclined) => DialogState::Declined,
            Some(RecordKind::IncreaseWithdrawn) => DialogState::Withdrawn,
            _ => continue,
        };
        let (limit, scope, number) = (record.limit.clone(), record.scope.clone(), logged.number);
        if answer == DialogState::Open {
            let needs = record.used.unwrap_or_default() + record.ahead.unwrap_or_default();
            let known = Limit::find(&limit);
            let quantity =
                |number: Option<f64>| known.and_then(|limit| Some(Quantity { limit, value: limit.base(number?)? }));
            let (used, cap) = (quantity(record.used), quantity(record.cap));
            dialogs.push(Dialog { limit, scope, at, answer, used, cap, needs, number });
        } else if let Some(asked) = dialogs.iter_mut().rfind(|asked| asked.limit == limit && asked.scope == scope) {
            // A Yes that is taken back is none; logs of before may not say what a command gave.
            let is_new = asked.answer == DialogState::Open || answer.is_no();
            asked.answer = if is_new { answer } else { asked.answer };
        }
    }
    let has_client = !matches!(session.status, Status::Completed | Status::Orphaned);
    let pending = session.pending_prompts.iter().filter(|_| has_client);
    let is_pending = |asked: &Dialog| pending.clone().any(|ask| ask.run == run && ask.finding.source == *asked.limit);
    for asked in dialogs.iter_mut().filter(|asked| asked.answer == DialogState::Open && !is_pending(asked)) {
        asked.answer = DialogState::Unanswered;
    }
    dialogs
}
