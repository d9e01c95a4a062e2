//! Looking for bytes with the instructions that every processor of its kind has.
//!
//! The front of `memchr` asks the processor once a process for wider ones, by CPUID. In a virtual machine each of those dozen questions
//! goes to the host, at some 4 µs: a twentieth of a hook call, and nothing gained on what a call reads.

use vector::Pair;

/// Returns where a byte stands first.
pub fn first(byte: u8, bytes: &[u8]) -> Option<usize> {
    vector::first(byte, bytes)
}

/// Returns where a byte stands last.
pub fn last(byte: u8, bytes: &[u8]) -> Option<usize> {
    vector::last(byte, bytes)
}

/// Returns where any of three bytes stands first.
pub fn first_of(any: [u8; 3], bytes: &[u8]) -> Option<usize> {
    vector::first_of(any, bytes)
}

/// Returns where some words stand first. Whoever looks for the same ones again and again keeps a [`Finder`].
pub fn find(words: &[u8], bytes: &[u8]) -> Option<usize> {
    Finder::new(words).find(bytes)
}

/// Looks for some words.
pub struct Finder<'a> {
    words: &'a [u8],
    /// Where in them a byte stands that is seldom in what is searched.
    seldom: Option<usize>,
    /// Two bytes of theirs that are seldom in most texts.
    pair: Option<Pair>,
}

/// A byte that stands more often than once in so many is not seldom; the first thousand are not held against it.
const TOO_OFTEN: usize = 32;

impl<'a> Finder<'a> {
    /// Prepares to look for some words: one byte at least.
    pub fn new(words: &'a [u8]) -> Finder<'a> {
        debug_assert!(!words.is_empty());
        Finder { words, seldom: None, pair: Pair::new(words) }
    }

    /// Prepares to look for them by the byte at a place in them: where it is seldom, that takes half the time.
    pub fn by(words: &'a [u8], seldom: usize) -> Finder<'a> {
        Finder { seldom: Some(seldom), ..Finder::new(words) }
    }

    /// Returns where they stand first.
    pub fn find(&self, bytes: &[u8]) -> Option<usize> {
        match self.seldom {
            Some(place) => self.by_byte(place, bytes),
            None => self.by_pair(bytes),
        }
    }

    fn by_byte(&self, place: usize, bytes: &[u8]) -> Option<usize> {
        let (mut from, mut missed) = (place, 0);
        loop {
            let at = from + first(self.words[place], bytes.get(from..)?)?;
            let start = at - place;
            let next = self.words.get(place + 1);
            if next.is_none_or(|next| bytes.get(at + 1) == Some(next)) && bytes[start..].starts_with(self.words) {
                return Some(start);
            }
            from = at + 1;
            missed += 1;
            if missed * TOO_OFTEN > from + 1000 {
                return Some(from - place + self.by_pair(&bytes[from - place..])?);
            }
        }
    }

    fn by_pair(&self, bytes: &[u8]) -> Option<usize> {
        match &self.pair {
            Some(pair) if bytes.len() >= pair.min_haystack_len() => pair.find(bytes, self.words),
            _ => bytes.windows(self.words.len()).position(|window| window == self.words),
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
    use memchr::arch::x86_64::sse2::memchr::{One, Three};
    pub use memchr::arch::x86_64::sse2::packedpair::Finder as Pair;

    pub fn first(byte: u8, bytes: &[u8]) -> Option<usize> {
        One::new(byte).map_or_else(|| bytes.iter().position(|other| *other == byte), |one| one.find(bytes))
    }

    pub fn first_of([a, b, c]: [u8; 3], bytes: &[u8]) -> Option<usize> {
        let slowly = || bytes.iter().position(|byte| [a, b, c].contains(byte));
        Three::new(a, b, c).map_or_else(slowly, |three| three.find(bytes))
    }

    pub fn last(byte: u8, bytes: &[u8]) -> Option<usize> {
        One::new(byte).map_or_else(|| bytes.iter().rposition(|other| *other == byte), |one| one.rfind(bytes))
    }
}

/// Elsewhere `memchr` knows when it is compiled.
#[cfg(not(target_arch = "x86_64"))]
mod vector {
    use memchr::memmem;
    pub use memchr::{memchr as first, memrchr as last};

    pub fn first_of([a, b, c]: [u8; 3], bytes: &[u8]) -> Option<usize> {
        memchr::memchr3(a, b, c, bytes)
    }

    /// Looks for some words.
    pub struct Pair(memmem::Finder<'static>);

    impl Pair {
        pub fn new(words: &[u8]) -> Option<Pair> {
            Some(Pair(memmem::Finder::new(words).into_owned()))
        }

        pub fn min_haystack_len(&self) -> usize {
            0
        }

        pub fn find(&self, bytes: &[u8], _words: &[u8]) -> Option<usize> {
            self.0.find(bytes)
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
            assert_eq!((first(b'a', &plain), last(b'a', &plain)), (None, None));
            assert_eq!(Finder::new(b"words").each(&plain).count(), 0, "{length}");
            for at in 0..length {
                let mut text = plain.clone();
                text[at] = b'a';
                assert_eq!((first(b'a', &text), last(b'a', &text)), (Some(at), Some(at)), "{length}");
                assert_eq!(find(b"a", &text), Some(at), "{length}");
                assert_eq!((first_of(*b"abc", &text), first_of(*b"cab", &plain)), (Some(at), None), "{length}");
                for words in [&b"ab"[..], b"words", br#"sage":"#, b"a longer text of more bytes than a vector has"] {
                    let text = [&plain[..at], words, &plain[at..]].concat();
                    assert_eq!(find(words, &text), Some(at), "{length}");
                    assert!((0..words.len()).all(|seldom| Finder::by(words, seldom).find(&text) == Some(at)));
                    assert_eq!(Finder::new(words).each(&text.repeat(2)).collect::<Vec<_>>(), [at, at + text.len()]);
                    assert_eq!(find(words, &text[..at + words.len() - 1]), None, "{length}");
                }
            }
        }
        assert_eq!(Finder::new(b"aa").each(b"aaaaa").collect::<Vec<_>>(), [0, 2]);
        // a byte that is not as seldom as was thought
        for often in ["d", "wd", "wo", "word", "x"].map(|often| often.repeat(5_000)) {
            let text = often.clone() + "words" + &often;
            assert!((0..5).all(|seldom| Finder::by(b"words", seldom).find(text.as_bytes()) == Some(often.len())));
            assert!((0..5).all(|seldom| Finder::by(b"words", seldom).find(often.as_bytes()).is_none()));
        }
    }
}
