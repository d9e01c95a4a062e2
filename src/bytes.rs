//! Looking for bytes with the instructions that every processor of its kind has.
//!
//! The front of `memchr` asks the processor once a process for wider ones. In a virtual machine each of those dozen questions goes to
//! the host, at some 4 µs: a twentieth of a hook call, and nothing gained on what most calls read.

use memchr::memmem;
use vector::Pair;

/// Returns where a byte stands first.
pub fn first(byte: u8, bytes: &[u8]) -> Option<usize> {
    vector::first(byte, bytes)
}

/// Returns where a byte stands last.
pub fn last(byte: u8, bytes: &[u8]) -> Option<usize> {
    vector::last(byte, bytes)
}

/// Returns where the first of two bytes stands.
pub fn first_of(two: [u8; 2], bytes: &[u8]) -> Option<usize> {
    vector::first_of(two, bytes)
}

/// Returns where some words stand first. Whoever looks for the same ones again and again keeps a [`Finder`].
pub fn find(words: &[u8], bytes: &[u8]) -> Option<usize> {
    Finder::new(words).find(bytes)
}

/// So many bytes are searched faster with wider instructions, the questions included. Elsewhere `memchr` knows them when it is compiled.
const MANY: u64 = if cfg!(target_arch = "x86_64") { 64 * 1024 } else { 0 };

/// Looks for some words.
pub struct Finder<'a> {
    words: &'a [u8],
    by: By,
}

/// What words are looked for with.
enum By {
    /// Two bytes of theirs that are seldom.
    Pair(Pair),
    /// The widest instructions that the processor has.
    Widest(Box<memmem::Finder<'static>>),
    /// Each byte in turn.
    Bytes,
}

impl<'a> Finder<'a> {
    /// Prepares to look for some words: one byte at least.
    pub fn new(words: &'a [u8]) -> Finder<'a> {
        Finder::through(words, 0)
    }

    /// Prepares to look for some words in so many bytes.
    pub fn through(words: &'a [u8], bytes: u64) -> Finder<'a> {
        debug_assert!(!words.is_empty());
        let by = match bytes.checked_sub(MANY) {
            Some(_) => By::Widest(Box::new(memmem::Finder::new(words).into_owned())),
            None => Pair::new(words).map_or(By::Bytes, By::Pair),
        };
        Finder { words, by }
    }

    /// Returns where they stand first.
    pub fn find(&self, bytes: &[u8]) -> Option<usize> {
        match &self.by {
            By::Pair(pair) if bytes.len() >= pair.min_haystack_len() => pair.find(bytes, self.words),
            By::Widest(finder) => finder.find(bytes),
            By::Pair(_) | By::Bytes => bytes.windows(self.words.len()).position(|window| window == self.words),
        }
    }

    /// Returns every place where they stand; none of them lies in another.
    pub fn each(&self, bytes: &[u8]) -> impl Iterator<Item = usize> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let at = from + self.find(bytes.get(from..)?)?;
            from = at + self.words.len();
            Some(at)
        })
    }
}

/// SSE2 is in every x86-64.
#[cfg(target_arch = "x86_64")]
mod vector {
    use memchr::arch::x86_64::sse2::memchr::{One, Two};
    pub use memchr::arch::x86_64::sse2::packedpair::Finder as Pair;

    pub fn first(byte: u8, bytes: &[u8]) -> Option<usize> {
        One::new(byte).map_or_else(|| bytes.iter().position(|other| *other == byte), |one| one.find(bytes))
    }

    pub fn last(byte: u8, bytes: &[u8]) -> Option<usize> {
        One::new(byte).map_or_else(|| bytes.iter().rposition(|other| *other == byte), |one| one.rfind(bytes))
    }

    pub fn first_of([a, b]: [u8; 2], bytes: &[u8]) -> Option<usize> {
        Two::new(a, b).map_or_else(|| bytes.iter().position(|other| [a, b].contains(other)), |two| two.find(bytes))
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod vector {
    pub use memchr::{memchr as first, memrchr as last};

    pub fn first_of([a, b]: [u8; 2], bytes: &[u8]) -> Option<usize> {
        memchr::memchr2(a, b, bytes)
    }

    /// There is none: words are looked for as in many bytes.
    pub enum Pair {}

    impl Pair {
        pub fn new(_words: &[u8]) -> Option<Pair> {
            None
        }

        pub fn min_haystack_len(&self) -> usize {
            match *self {}
        }

        pub fn find(&self, _bytes: &[u8], _words: &[u8]) -> Option<usize> {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of every length around the width of a vector, with what is looked for at every place.
    #[test]
    fn what_is_there_is_found_wherever_it_stands() {
        for length in 0..100 {
            let plain = vec![b'x'; length];
            assert_eq!((first(b'a', &plain), last(b'a', &plain), first_of(*b"ab", &plain)), (None, None, None));
            assert_eq!(Finder::new(b"words").each(&plain).count(), 0, "{length}");
            for at in 0..length {
                let mut text = plain.clone();
                text[at] = b'a';
                assert_eq!((first(b'a', &text), last(b'a', &text)), (Some(at), Some(at)), "{length}");
                assert_eq!((first_of(*b"ab", &text), first_of(*b"ba", &text)), (Some(at), Some(at)), "{length}");
                assert_eq!(find(b"a", &text), Some(at), "{length}");
                for words in [&b"ab"[..], b"words", br#"sage":"#, b"a longer text of more bytes than a vector has"] {
                    let text = [&plain[..at], words, &plain[at..]].concat();
                    assert_eq!(find(words, &text), Some(at), "{length}");
                    assert_eq!(Finder::through(words, MANY).find(&text), Some(at), "{length}");
                    assert_eq!(Finder::new(words).each(&text.repeat(2)).collect::<Vec<_>>(), [at, at + text.len()]);
                    assert_eq!(find(words, &text[..at + words.len() - 1]), None, "{length}");
                }
            }
        }
        assert_eq!(Finder::new(b"aa").each(b"aaaaa").collect::<Vec<_>>(), [0, 2]);
    }
}
