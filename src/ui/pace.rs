//! When what follows the state reads it again, and when the clocks of a screen go on.

use std::time::Duration;

/// Between two readings is so many times as long as one takes.
const REST: u32 = 9;
/// However long a reading takes (it may have waited for others' locks), after so long there is another.
const LONGEST_REST: Duration = Duration::from_secs(5);
/// After so long the clocks on the screen go on.
const CLOCK: Duration = Duration::from_secs(1);
/// After so long transcripts are read that have grown without an event.
const TRANSCRIPTS: Duration = Duration::from_secs(5);

/// How long ago what is on the screen was made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Age {
    /// Since a reading ended.
    pub read: Duration,
    /// Since one of transcripts ended.
    pub transcripts: Duration,
    /// Since the view was made.
    pub view: Duration,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// The state is read as hooks have left it.
    State,
    /// The state is read with what transcripts have more.
    Transcripts,
    /// The clocks go on.
    Clocks,
    /// Nothing.
    Nothing,
}

/// Returns what is due where the last reading took so long. A large state is read less often: that takes at most a tenth of a
/// processor, until a reading takes half a second.
pub fn due(age: Age, took: Duration, is_changed: bool) -> Due {
    let may_read = age.read >= (took * REST).min(LONGEST_REST);
    match (may_read, age.transcripts >= TRANSCRIPTS) {
        (true, true) => Due::Transcripts,
        (true, false) if is_changed => Due::State,
        _ if age.view >= CLOCK => Due::Clocks,
        _ => Due::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs for a minute a glance at a time, with a state that always has changed; returns the longest time between readings.
    fn longest_between(took: Duration) -> Duration {
        let glance = Duration::from_millis(100);
        let (mut age, mut longest) = (Age::default(), Duration::ZERO);
        for _ in 0..600 {
            (age.read, age.transcripts, age.view) = (age.read + glance, age.transcripts + glance, age.view + glance);
            longest = longest.max(age.read);
            match due(age, took, true) {
                Due::Transcripts => age = Age::default(),
                Due::State => (age.read, age.view) = (Duration::ZERO, Duration::ZERO),
                Due::Clocks => age.view = Duration::ZERO,
                Due::Nothing => {}
            }
        }
        longest
    }

    #[test]
    fn however_long_a_reading_takes_there_is_another_in_five_seconds() {
        for took in [0, 5, 50, 111, 112, 200, 500, 3_000, 60_000].map(Duration::from_millis) {
            let between = longest_between(took);
            assert!(between <= LONGEST_REST, "{took:?}: {between:?}");
            assert!(between >= (took * REST).min(LONGEST_REST), "{took:?}: {between:?}");
        }
    }

    #[test]
    fn the_clocks_go_on_where_nothing_has_changed() {
        let age = |view_ms| Age { view: Duration::from_millis(view_ms), ..Age::default() };
        assert_eq!(due(age(1_000), Duration::ZERO, false), Due::Clocks);
        assert_eq!(due(age(900), Duration::ZERO, false), Due::Nothing);
    }
}
