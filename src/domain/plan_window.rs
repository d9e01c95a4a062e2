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

/// What a newer word about a window comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewWord {
    /// Nothing new.
    Known,
    /// More of the same window is used.
    More,
    /// The window has begun anew.
    Anew,
}

impl PlanWindow {
    /// Takes a newer word. Within a window the share that is used only grows, so that a late or made-up word frees nothing.
    fn take(known: &mut Option<PlanWindow>, new: PlanWindow) -> NewWord {
        let word = match known.as_ref() {
            Some(old) if new.resets_at_ms < old.resets_at_ms => NewWord::Known,
            Some(old) if new.resets_at_ms == old.resets_at_ms && new.used_percent <= old.used_percent => NewWord::Known,
            Some(old) if new.resets_at_ms == old.resets_at_ms => NewWord::More,
            _ => NewWord::Anew,
        };
        if word != NewWord::Known {
            *known = Some(new);
        }
        word
    }

    /// Returns how much is used at a moment: nothing once the window has begun anew.
    pub fn used_at(&self, at_ms: i64) -> u64 {
        if at_ms < self.resets_at_ms { self.used_percent } else { 0 }
    }
}

impl PlanWindows {
    /// Returns one of them.
    pub fn of(&self, span: PlanSpan) -> Option<&PlanWindow> {
        match span {
            PlanSpan::FiveHours => self.five_hour.as_ref(),
            PlanSpan::SevenDays => self.seven_day.as_ref(),
        }
    }

    /// Takes a newer word about each; returns what that comes to.
    pub fn take(&mut self, new: PlanWindows) -> [(PlanSpan, NewWord); 2] {
        let word = |known, new: Option<PlanWindow>| new.map_or(NewWord::Known, |new| PlanWindow::take(known, new));
        [
            (PlanSpan::FiveHours, word(&mut self.five_hour, new.five_hour)),
            (PlanSpan::SevenDays, word(&mut self.seven_day, new.seven_day)),
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
            (40, 1000, NewWord::Anew, 40),
            (30, 1000, NewWord::Known, 40),
            (55, 1000, NewWord::More, 55),
            (99, 900, NewWord::Known, 55),
            (2, 2000, NewWord::Anew, 2),
        ] {
            assert_eq!(known.take(five_hours(used, resets))[0], (PlanSpan::FiveHours, word), "{used} {resets}");
            assert_eq!(known.used_at(500).five_hour, then);
        }
        assert_eq!(known.used_at(2000), PlanPercent::default());
        assert_eq!(known.take(PlanWindows::default())[1], (PlanSpan::SevenDays, NewWord::Known));
    }
}
