//! What goes wrong in a simulation, and how often.

/// Whether things go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weather {
    Rough,
    Calm,
}

/// A sequence of numbers that is the same for the same seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    /// Whether what happens so often in rough weather does now.
    pub fn is(&mut self, percent: u64, weather: Weather) -> bool {
        self.below(100) < percent && weather == Weather::Rough
    }
}
