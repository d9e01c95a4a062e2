//! Cost since the last edit: money that goes into reading and talking.

use crate::domain::action::Action;
use crate::domain::limit::Limit;
use crate::domain::limit_meter::{Meter, Observed};
use crate::domain::limit_texts::LimitTexts;
use crate::domain::spend::amount::PICO;
use crate::domain::unit::Unit;

/// The limit on the cost since the last edit.
pub const LIMIT: Limit = Limit {
    key: "max_cost_usd_without_edits",
    texts: LimitTexts {
        label: "cost without an edit",
        stop_reason: "no_edits",
        phrase: "cost budget without an edit exhausted",
        ..LimitTexts::PLAIN
    },
    unit: Unit::Usd,
    range: (PICO / 1_000_000, 1_000_000 * PICO),
    meter: Meter::Spend { used: |meters| meters.own, part: |spend| spend.cost.0 },
    observe: Some(|cost, seen| match seen {
        Observed::Spent(spend) => cost.saturating_add(spend.cost.0),
        Observed::TakenBack(spend) => cost.saturating_sub(spend.cost.0),
        Observed::CallEnded(_, outcome) if outcome.edits => 0,
        Observed::CallCounted(_) | Observed::CallEnded(..) => cost,
    }),
    action: Some(Action::Warn),
    shown_at_zero: false,
    doc: "US dollars at list price since the last edit, for agents that only read and talk. An edit is a call of Write, Edit, \
          MultiEdit, NotebookEdit or NotebookWrite that ended well, or a shell command in the foreground that \
          committed: it ran `git commit`, ended well, and printed git's `[main 1a2b3c4] Subject`, or is \
          nothing but plain commands such as `cd` and `git add` with the commit last. Files that other commands or tools change are not seen. An edit sets the cost to zero, and what was \
          warned of is warned of again; the response that made the edit may count after it. A run counts its own requests and \
          edits, a session those of all its agents: set it in `session` where the main agent has others edit. It starts at zero \
          where it comes into force. It only warns; `timeout_action` does not change that, `actions` does.",
    example: "2",
    ..Limit::PLAIN
};
