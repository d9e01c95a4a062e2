//! What a shell could make of a text that is not read: a word that stands in it, or one that is put together of its letters.

use crate::byte_search;

/// A text as far as a shell's quotes and expansions decide what can come of it.
pub struct Spelling {
    /// The text without quotes and backslashes, in small letters.
    bare: String,
    /// The letters that stand in it.
    letters: [bool; 256],
    /// Whether a shell puts something together in it.
    joins: bool,
    /// Whether it may write letters that do not stand in it: by a number, a pattern or a range.
    has_any_letter: bool,
}

impl Spelling {
    /// Looks at a text once.
    pub fn of(text: &str) -> Spelling {
        let bytes = text.as_bytes();
        let has = |signs| byte_search::first_of(signs, bytes).is_some();
        let bare = text.replace("\\\n", "").replace(['\'', '"', '\\'], "").to_ascii_lowercase();
        let mut letters = [false; 256];
        bare.bytes().for_each(|byte| letters[usize::from(byte)] = true);
        let is_number = |after: &[u8]| matches!(after.first(), Some(b'x' | b'u' | b'U' | b'0'..=b'7'));
        let by_number = bytes.split(|byte| *byte == b'\\').skip(1).any(is_number);
        let is_range = |at: usize| at > 1 && bytes[at - 2] == b'{' && bytes[at - 1].is_ascii_alphabetic();
        let ranges = byte_search::Finder::new(b"..").each(bytes).any(is_range);
        let is_pattern = has(*b"*?[");
        let joins = has(*b"$`{");
        Spelling { bare, letters, joins: joins || is_pattern, has_any_letter: by_number || is_pattern || ranges }
    }

    /// Returns the text without quotes and backslashes, in small letters.
    pub fn bare(&self) -> &str {
        &self.bare
    }

    /// Whether a word may come of it.
    pub fn could_be(&self, word: &str) -> bool {
        let word = word.to_ascii_lowercase();
        let has_all = || word.bytes().all(|byte| self.letters[usize::from(byte)]);
        self.has_any_letter
            || (self.joins && has_all())
            || byte_search::find(word.as_bytes(), self.bare.as_bytes()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_comes_of_its_letters_where_a_shell_joins_them() {
        for text in [
            "claude",
            "cl''aude",
            "\"cl\"aude",
            "cl\\aude",
            "cl\\\naude",
            "CL\"au\"de",
            "x=ude; cla$x",
            "$'\\x63'",
            "\\143",
            "{c,d}laud{e,f}",
            "/opt/b*/x",
            "`x`claud e",
            "{a..z}",
        ] {
            assert!(Spelling::of(text).could_be("claude"), "{text}");
        }
        for text in ["", "cl aude", "make ${x}", "c l a u d e", "git log HEAD..main", "echo '\\n'"] {
            assert!(!Spelling::of(text).could_be("claude"), "{text}");
        }
    }
}
