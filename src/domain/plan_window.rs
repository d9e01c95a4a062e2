//! The windows of a subscriber's plan, by the client's own word: how much of each is used, and when it begins anew.

use serde::{Deserialize, Serialize};

use crate::domain::stored::serde_default::is_default;

/// Which window of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanSpan {
    /// That of five hours.
    FiveHours,
    /// That of seven days.
    SevenDays,
}

/// One window of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanWindow {
    /// How much of it is used, in whole per cent.
    pub used_percent: u64,
    /// When it begins anew, in milliseconds since 1970.
    pub resets_at_ms: i64,
    /// That moment as messages write it: `2026-11-21 14:00 +01:00`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resets: String,
}

/// What is known of the windows of the user's plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanWindows {
    /// That of five hours.
    #[serde(skip_serializing_if = "is_default")]
    pub five_hour: Option<PlanWindow>,
    /// That of seven days.
    #[serde(skip_serializing_if = "is_default")]
    pub seven_day: Option<PlanWindow>,
}

/// How much of each window is used, in per cent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanPercent {
    /// Of that of five hours.
    pub five_hour: u64,
    /// Of that of seven days.
    pub seven_day: u64,
}

/// What a report about a window changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportChange {
    /// Nothing.
    Nothing,
    /// More of the same window is used.
    Increased,
    /// Another window has begun, or this is the first that is reported.
    Reset,
}

impl PlanWindow {
    /// Takes a report. Within a window the share that is used only grows, so that a late or made-up report frees nothing.
    fn take(known: &mut Option<PlanWindow>, new: PlanWindow) -> ReportChange {
        let change = match known.as_ref() {
            Some(old) if new.resets_at_ms < old.resets_at_ms => ReportChange::Nothing,
            Some(old) if new.resets_at_ms == old.resets_at_ms && new.used_percent <= old.used_percent => {
                ReportChange::Nothing
            }
            Some(old) if new.resets_at_ms == old.resets_at_ms => ReportChange::Increased,
            _ => ReportChange::Reset,
        };
        if change != ReportChange::Nothing {
            *known = Some(new);
        }
        change
    }

    /// Returns how much is used at a moment: nothing once the window has begun anew.
    pub fn used_at(&self, at_ms: i64) -> u64 {
        if at_ms < self.resets_at_ms { self.used_percent } else { 0 }
    }
}

impl PlanWindows {
    /// Returns one of them.
    pub fn window(&self, span: PlanSpan) -> Option<&PlanWindow> {
        match span {
            PlanSpan::FiveHours => self.five_hour.as_ref(),
            PlanSpan::SevenDays => self.seven_day.as_ref(),
        }
    }

    /// Takes a report about each; returns what that changes.
    pub fn take(&mut self, new: PlanWindows) -> [(PlanSpan, ReportChange); 2] {
        let change =
            |known, new: Option<PlanWindow>| new.map_or(ReportChange::Nothing, |new| PlanWindow::take(known, new));
        [
            (PlanSpan::FiveHours, change(&mut self.five_hour, new.five_hour)),
            (PlanSpan::SevenDays, change(&mut self.seven_day, new.seven_day)),
        ]
    }

    /// Returns how much of each is used at a moment.
    pub fn used_at(&self, at_ms: i64) -> PlanPercent {
        let used = |window: &Option<PlanWindow>| window.as_ref().map_or(0, |window| window.used_at(at_ms));
        PlanPercent { five_hour: used(&self.five_hour), seven_day: used(&self.seven_day) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn five_hours(used_percent: u64, resets_at_ms: i64) -> PlanWindows {
        let window = PlanWindow { used_percent, resets_at_ms, resets: String::new() };
        PlanWindows { five_hour: Some(window), seven_day: None }
    }

    #[test]
    fn within_a_window_the_share_only_grows_and_the_next_begins_with_what_is_said_of_it() {
        let mut known = PlanWindows::default();
        for (used, resets, word, then) in [
            (40, 1000, ReportChange::Reset, 40),
            (30, 1000, ReportChange::Nothing, 40),
            (55, 1000, ReportChange::Increased, 55),
            (99, 900, ReportChange::Nothing, 55),
            (2, 2000, ReportChange::Reset, 2),
        ] {
            assert_eq!(known.take(five_hours(used, resets))[0], (PlanSpan::FiveHours, word), "{used} {resets}");
            assert_eq!(known.used_at(500).five_hour, then);
        }
        assert_eq!(known.used_at(2000), PlanPercent::default());
        assert_eq!(known.take(PlanWindows::default())[1], (PlanSpan::SevenDays, ReportChange::Nothing));
    }
}
