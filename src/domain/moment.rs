//! A point in time, on all the clocks that a machine has.

use serde::{Deserialize, Serialize};

use crate::domain::bounds;
use crate::domain::stored::serde_default::is_default;

/// A point in time on all clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Moment {
    /// Milliseconds since 1970, by the wall clock.
    pub wall_ms: i64,
    /// Milliseconds since boot, by the clock that only goes forward, also while the machine sleeps.
    pub mono_ms: u64,
    /// Which boot, as a hash of its id.
    pub boot: u64,
    /// How long the machine has slept since boot, in milliseconds; zero where the platform does not tell.
    #[serde(skip_serializing_if = "is_default")]
    pub slept_ms: u64,
}

impl Moment {
    /// Returns the milliseconds from `earlier` to `self` that the machine was awake, within one boot, else zero.
    pub fn since(self, earlier: Moment) -> u64 {
        if self.boot == earlier.boot { self.awake_ms().saturating_sub(earlier.awake_ms()) } else { 0 }
    }

    /// Returns the milliseconds since boot that the machine was awake.
    pub fn awake_ms(self) -> u64 {
        self.mono_ms.saturating_sub(self.slept_ms)
    }

    /// Returns an earlier moment by its wall time, as if the machine had not been down since.
    pub fn earlier(self, wall_ms: i64) -> Moment {
        let passed = u64::try_from(self.wall_ms.saturating_sub(wall_ms)).unwrap_or(0);
        Moment { wall_ms, mono_ms: self.mono_ms.saturating_sub(passed), ..self }
    }

    /// Returns the later of two moments; `self` where the clocks do not agree on it, or are too far apart, as after they were set.
    pub fn or_later(self, other: Moment) -> Moment {
        let is_before = self.boot == other.boot && self.mono_ms < other.mono_ms && self.wall_ms < other.wall_ms;
        if is_before && other.mono_ms - self.mono_ms < bounds::LONGEST_WAIT_MS { other } else { self }
    }

    /// Returns the milliseconds from `earlier` to `self`, sleep included, across boots by the wall clock.
    pub fn wall_since(self, earlier: Moment) -> u64 {
        if self.boot == earlier.boot {
            self.mono_ms.saturating_sub(earlier.mono_ms)
        } else {
            u64::try_from(self.wall_ms - earlier.wall_ms).unwrap_or(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_is_no_work_but_time_all_the_same() {
        let before = Moment { wall_ms: 5_000, mono_ms: 1_000, boot: 7, slept_ms: 0 };
        let after = Moment { wall_ms: 3_665_000, mono_ms: 3_661_000, boot: 7, slept_ms: 3_600_000 };
        assert_eq!((after.since(before), after.wall_since(before)), (60_000, 3_660_000));
        let rebooted = Moment { boot: 8, mono_ms: 10, slept_ms: 0, ..after };
        assert_eq!((rebooted.since(before), rebooted.wall_since(before)), (0, 3_660_000));
    }
}
