//! From when to when a person has switched limits off, as reports tell of it.

use serde::Serialize;

use crate::domain::limits_off::LimitsOff;
use crate::domain::moment::Moment;
use crate::domain::session::Session;
use crate::ui::formats::Timestamp;

/// From when to when a person has switched limits off.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OffReport {
    /// From when on.
    pub since: Timestamp,
    /// Until when; `None` until a person switches them on again.
    pub until: Option<Timestamp>,
    /// Whether they are off now.
    pub now: bool,
    /// How often they were off in this session, this time included.
    pub times: u32,
}

impl OffReport {
    /// Says it of a session; `None` where it had ended before limits were switched off. One that has ended has none that are off now.
    pub fn of(off: &LimitsOff, session: &Session, now: Moment) -> Option<OffReport> {
        let ended_ms = session.is_over.then_some(session.last.wall_ms);
        let report = OffReport {
            since: Timestamp(off.since_ms),
            until: off.until_ms.into_iter().chain(ended_ms).min().map(Timestamp),
            now: off.holds(now.wall_ms) && !session.is_over,
            times: off.earlier.saturating_add(1),
        };
        ended_ms.is_none_or(|ended_ms| off.since_ms <= ended_ms).then_some(report)
    }
}
