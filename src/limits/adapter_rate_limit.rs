//! Model requests in a window of time, for each model.

use crate::domain::action::Action;
use crate::domain::limit::{Form, Limit};
use crate::domain::limit_meter::Meter;
use crate::domain::limit_texts::LimitTexts;
use crate::domain::scope::Scope;
use crate::domain::share_kind::ShareKind;

/// The limit on model requests in a window of time.
pub const LIMIT: Limit = Limit {
    key: "adapter_rate_limit",
    texts: LimitTexts {
        label: "model requests in the window",
        short_label: Some("model requests"),
        stop_reason: "rate_limited",
        phrase: "rate limit exceeded",
        ..LimitTexts::PLAIN
    },
    scopes: &[Scope::Session, Scope::User],
    meter: Meter::Window,
    form: Form::Windows,
    action: Some(Action::Terminate),
    shared: Some(ShareKind::Requests),
    doc: "Requests to one model in a sliding window of `per_ms` milliseconds, over the `session` or all sessions of the \
          `user`. Where the next request would be beyond `max_requests`, the run ends with the time until the next slot, \
          and prompts are blocked until then.",
    example: r#"{ "max_requests": 50, "per_ms": 60000 }"#,
    ..Limit::PLAIN
};
