//! Refusals in a row: an agent that goes on asking for what it may not have.

use crate::domain::action::Action;
use crate::domain::limit::Limit;
use crate::domain::limit_meter::{Meter, Stage};
use crate::domain::limit_texts::LimitTexts;
use crate::domain::scope::Scope;

/// The limit on refusals in a row.
pub const LIMIT: Limit = Limit {
    key: "max_denials",
    texts: LimitTexts {
        label: "batches with a refusal in a row",
        stop_reason: "denial_limit_reached",
        phrase: "refusal limit reached",
        did: Some(|used| format!("had calls refused in {used} batches in a row")),
        advice: Some(
            "Work that needs no refused call would have gone on; `fusebox log` shows the limits that refused.",
        ),
        ..LimitTexts::PLAIN
    },
    range: (1, 1_000),
    scopes: &[Scope::Run],
    meter: Meter::Count {
        used: |meters| meters.denials,
        adds: |next| match next.stage {
            Stage::Call | Stage::Spawn | Stage::Wake => Some(1),
            Stage::Request | Stage::Prompt | Stage::Result | Stage::End => None,
        },
    },
    action: Some(Action::Terminate),
    shown_at_zero: false,
    names_last_refusal: true,
    doc: "Batches of tool calls in a row in which Fusebox refused something: the next call ends the run. It ends retry \
          storms. A refusal by `rate_limits` counts only where the agent asks again before the slot opens that it was told of. `timeout_action` does not change what it does, `actions` does.",
    example: "5",
    ..Limit::PLAIN
};
