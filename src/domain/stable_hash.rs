//! The one hash of whatever is written down: FNV-1a with 64 bits, the same in every build and version.
//!
//! The standard library's hasher promises no such thing. This one is quick, and hides nothing: texts with a given hash can be made.

/// What no bytes hash to.
const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// Returns the hash of some bytes.
pub fn of(bytes: &[u8]) -> u64 {
    StableHash::default().bytes(bytes).value()
}

/// A hash of several parts, in their order.
#[derive(Clone, Copy, Debug)]
pub struct StableHash(u64);

impl Default for StableHash {
    fn default() -> Self {
        Self(START)
    }
}

impl StableHash {
    /// Adds bytes. Two parts give what one of both gives.
    pub fn bytes(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME)))
    }

    /// Adds a text with its length, so that no other cut of the same letters gives the same.
    pub fn text(self, text: &str) -> Self {
        self.number(text.len() as u64).bytes(text.as_bytes())
    }

    /// Adds a number.
    pub fn number(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Returns the hash of what was added.
    pub fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_stays_what_it_is() {
        // The first three are of the algorithm's own test vectors.
        assert_eq!(of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(of("größer".as_bytes()), 0xeb97_a69b_2aa0_dd78);
        assert_eq!(StableHash::default().text("ab").number(7).value(), 0x81e9_b512_f932_bf77);
    }

    #[test]
    fn parts_are_told_apart_where_they_are_texts() {
        let of = |one: &str, other: &str| StableHash::default().text(one).text(other).value();
        assert_ne!(of("ab", "c"), of("a", "bc"));
        assert_eq!(StableHash::default().bytes(b"foo").bytes(b"bar").value(), super::of(b"foobar"));
    }
}
