//! The one hash of whatever is written down: SipHash-1-3 without a key, the same in every build and version.
//!
//! The standard library's hasher promises no such thing. An agent writes some of the texts that are hashed, so a simpler hash would
//! not do: of FNV, for one, a text with a given hash is made in no time.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

/// Returns the hash of some bytes.
pub fn of(bytes: &[u8]) -> u64 {
    StableHash::default().bytes(bytes).value()
}

/// A hash of several parts, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub struct StableHash(SipHasher13);

impl StableHash {
    /// Adds bytes. Two parts give what one of both gives.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.write(bytes);
        self
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
    pub fn value(&self) -> u64 {
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_stays_what_it_is() {
        // By the algorithm's paper, worked out elsewhere.
        assert_eq!(of(b""), 0xd1fb_a762_150c_532c);
        assert_eq!(of(b"foobar"), 0x7738_ae0a_5df0_9b34);
        assert_eq!(of("größer".as_bytes()), 0xd341_4ae4_0258_a331);
        assert_eq!(StableHash::default().text("ab").number(7).value(), 0x741a_6bde_078b_67e2);
    }

    #[test]
    fn parts_are_told_apart_where_they_are_texts() {
        let of = |one: &str, other: &str| StableHash::default().text(one).text(other).value();
        assert_ne!(of("ab", "c"), of("a", "bc"));
        assert_eq!(StableHash::default().bytes(b"foo").bytes(b"bar").value(), super::of(b"foobar"));
    }
}
