//! A moment without its wall time, which is a column of the row that the moment is stored in.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::moment::Moment;
use crate::domain::stored::serde_default::is_default;

/// The clocks of a moment beside the wall clock.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Clocks {
    mono_ms: u64,
    boot: u64,
    #[serde(skip_serializing_if = "is_default")]
    slept_ms: u64,
}

impl From<Moment> for Clocks {
    fn from(Moment { mono_ms, boot, slept_ms, .. }: Moment) -> Clocks {
        Clocks { mono_ms, boot, slept_ms }
    }
}

impl From<Clocks> for Moment {
    fn from(Clocks { mono_ms, boot, slept_ms }: Clocks) -> Moment {
        Moment { wall_ms: 0, mono_ms, boot, slept_ms }
    }
}

/// Writes a moment without its wall time.
pub fn serialize<S: Serializer>(moment: &Moment, serializer: S) -> Result<S::Ok, S::Error> {
    Clocks::from(*moment).serialize(serializer)
}

/// Reads a moment; its wall time is 0.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Moment, D::Error> {
    Clocks::deserialize(deserializer).map(Moment::from)
}

/// Reads and writes a moment that may be missing, without its wall time.
pub mod optional {
    use super::{Clocks, Deserialize, Deserializer, Moment, Serialize, Serializer};

    /// Writes a moment without its wall time.
    pub fn serialize<S: Serializer>(moment: &Option<Moment>, serializer: S) -> Result<S::Ok, S::Error> {
        moment.map(Clocks::from).serialize(serializer)
    }

    /// Reads a moment; its wall time is 0.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Moment>, D::Error> {
        Option::<Clocks>::deserialize(deserializer).map(|clocks| clocks.map(Moment::from))
    }
}
