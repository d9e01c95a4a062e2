//! When a limit passes by itself, as it is read later: `in 50 s` is true only at its moment.

use crate::calendar::Zone;
use crate::domain::frees::Frees;
use crate::domain::text::duration;
use crate::messages::next_step::NextStep;
use crate::report::trip::Trip;

/// The moment at which something is read, and the clock by which it is told.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    /// The moment, in milliseconds since 1970.
    pub now_ms: i64,
    /// The time zone.
    pub zone: &'a Zone,
}

impl Reader<'_> {
    /// Returns when something passes by the clock that has tripped at `at_ms`.
    pub fn by_clock(self, frees: &Frees, at_ms: i64) -> Frees {
        moment(frees, at_ms).map_or_else(|| frees.clone(), |moment| Frees::At(self.zone.second(moment)))
    }

    /// Returns when a trip passes by itself, by the clock.
    pub fn of_trip(self, trip: &Trip) -> Option<Frees> {
        trip.frees.clone().map(|frees| self.by_clock(&frees.into(), trip.at.0))
    }

    /// Returns what is next after something has tripped at `at_ms`, with the clock's time where it passes, or that it has passed.
    pub fn next(self, step: NextStep, frees: &Frees, at_ms: i64) -> NextStep {
        match (step, moment(frees, at_ms)) {
            (NextStep::Passes { .. }, Some(moment)) if moment <= self.now_ms => NextStep::Passed,
            (NextStep::Passes { .. }, Some(_)) => NextStep::Passes { when: self.by_clock(frees, at_ms).to_string() },
            (step, _) => step,
        }
    }
}

/// Returns the moment at which something passes that takes a span of time; `None` where it does not.
fn moment(frees: &Frees, at_ms: i64) -> Option<i64> {
    let Frees::In(span) = frees else { return None };
    Some(at_ms.saturating_add_unsigned(duration::read_to_pass(span)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_is_told_by_the_clock_and_then_that_it_has_passed() {
        let at_ms = 1_763_632_800_000;
        for (frees, after_ms, said) in [
            ("in 50 s", 0, "It passes by itself at 2025-11-20 10:00:50."),
            ("in 50 s", 49_999, "It passes by itself at 2025-11-20 10:00:50."),
            ("in 50 s", 50_000, "It has passed by itself."),
            ("in 3 min", 60_000, "It passes by itself at 2025-11-20 10:03:00."),
            ("in 2 h", 60_000, "It passes by itself at 2025-11-20 12:00:00."),
            ("at 2025-11-21 00:00 +00:00", 60_000, "It passes by itself at 2025-11-21 00:00 +00:00."),
            ("once the store is heard", 60_000, "It passes by itself once the store is heard."),
        ] {
            let reader = Reader { now_ms: at_ms + after_ms, zone: &Zone::utc() };
            let step = NextStep::Passes { when: frees.to_owned() };
            assert_eq!(reader.next(step, &frees.to_owned().into(), at_ms).to_string(), said);
        }
        let reader = Reader { now_ms: at_ms, zone: &Zone::utc() };
        assert_eq!(reader.next(NextStep::NextPrompt, &Frees::In("50 s".to_owned()), at_ms), NextStep::NextPrompt);
    }
}
