//! Calls of a tool in a window of time.

use crate::domain::action::Action;
use crate::domain::limit::{Ends, Form, Limit};
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::scope::Scope;

/// The limit on calls of a tool in a window of time.
pub const LIMIT: Limit = Limit {
    key: "rate_limits",
    texts: LimitTexts {
        label: "calls in the window",
        short_label: Some("calls"),
        stop_reason: "rate_limited",
        phrase: "rate limit exceeded",
        then: "Asked for again before that, it counts as a refusal in a row (max_denials).",
        ..LimitTexts::PLAIN
    },
    scopes: &[Scope::Run, Scope::Session, Scope::User],
    meter: Meter::Window,
    form: Form::Windows,
    ends: Ends::Call,
    action: Some(Action::Terminate),
    doc: "Calls of the tools that match `tool` in a sliding window of `per_ms` milliseconds, over a `run`, the `session` or \
          all sessions of the `user`. A call beyond `max` is refused with the time until the next slot; the run goes on. With `on_limit: \"wait\"` it is held \
          until that slot is free, for at most ten minutes: run `fusebox init` again then, so that the client waits for it.",
    example: r#"[{ "tool": "WebSearch", "max": 10, "per_ms": 60000, "on_limit": "wait" }]"#,
    ..Limit::PLAIN
};
