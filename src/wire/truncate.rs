//! Inputs that are far too long: their longest strings are cut while they are read, so that a result of 50 MB is taken like any
//! other, in bounded memory.

use crate::domain::stored::stable_hash::StableHash;

/// The longest input that is taken as it comes, in bytes; no ordinary one gets near it.
pub const ORDINARY: usize = 4 << 20;
/// The largest input that is kept when its strings are cut; the rest is dropped, and what is left cannot be read.
const LARGEST: usize = 16 << 20;
/// How much of a string is kept: the less, the more was kept before it.
const LONGEST: [(usize, usize); 3] = [(8 << 20, 1 << 20), (12 << 20, 1 << 16), (LARGEST, 1 << 8)];

/// Cuts the strings of JSON that grows: what was looked at is not looked at again.
#[derive(Debug, Default)]
pub struct Shortener {
    /// Bytes that have been looked at, and stay.
    done: usize,
    inside: Option<Inside>,
}

/// The string that stands open.
#[derive(Debug)]
struct Inside {
    /// How much of it is kept at most.
    longest: usize,
    kept: usize,
    /// Bytes that still belong to an escape.
    escape: u8,
    /// What the rest hashes to, where some of it was cut: strings that differ stay different.
    cut: Option<StableHash>,
}

impl Shortener {
    /// Cuts what is new in an input.
    pub fn shorten(&mut self, json: &mut Vec<u8>) {
        for byte in json.split_off(self.done) {
            match &mut self.inside {
                Some(string) if string.escape == 0 && byte == b'"' => {
                    if let Some(hash) = string.cut {
                        json.extend(format!("{:016x}", hash.value()).bytes());
                    }
                    json.push(byte);
                    self.inside = None;
                }
                Some(string) => json.extend(string.keeps(byte).then_some(byte)),
                None => {
                    json.push(byte);
                    self.inside = (byte == b'"').then(|| Inside::begin(json.len()));
                }
            }
        }
        json.truncate(LARGEST);
        self.done = json.len();
    }
}

impl Inside {
    /// Begins a string after so many bytes.
    fn begin(before: usize) -> Inside {
        let longest = LONGEST.iter().find(|(below, _)| before < *below).map_or(0, |(_, longest)| *longest);
        Inside { longest, kept: 0, escape: 0, cut: None }
    }

    /// Takes a byte of the string and says whether it is kept. A character is cut off whole.
    fn keeps(&mut self, byte: u8) -> bool {
        let begins = self.escape == 0 && byte & 0xc0 != 0x80;
        if self.kept >= self.longest && begins {
            self.cut.get_or_insert_default();
        }
        self.escape = match (self.escape, byte) {
            (0, b'\\') => 1,
            (1, b'u') => 4,
            (left, _) => left.saturating_sub(1),
        };
        self.kept += 1;
        if let Some(hash) = &mut self.cut {
            *hash = hash.bytes(&[byte]);
        }
        self.cut.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shortens a text that comes in pieces of so many bytes.
    fn shortened(text: &str, piece: usize) -> String {
        let (mut shortener, mut json) = (Shortener::default(), Vec::new());
        for piece in text.as_bytes().chunks(piece) {
            json.extend(piece);
            shortener.shorten(&mut json);
        }
        String::from_utf8(json).unwrap()
    }

    #[test]
    fn only_what_is_too_long_is_cut_and_never_within_a_character() {
        let x = "x".repeat(LONGEST[0].1 - 1);
        for (rest, kept) in
            [("", ""), ("y", "y"), ("\\\"y", "\\\""), ("\\u00e9y", "\\u00e9"), ("éy", "é"), ("\\\\y\\\\", "\\\\")]
        {
            let text = format!(r#"{{"a":"{x}{rest}","b":["short"]}}"#);
            for piece in [1_000, 4_097, text.len()] {
                let short = shortened(&text, piece);
                let hash = short.len() - (text.len() - rest.len() + kept.len());
                assert_eq!(hash, if rest == kept { 0 } else { 16 }, "{rest}");
                assert!(short.starts_with(&format!(r#"{{"a":"{x}{kept}"#)), "{rest}");
                assert!(short.ends_with(r#"","b":["short"]}"#), "{rest}");
                serde_json::from_str::<serde_json::Value>(&short).unwrap();
            }
        }
        assert_ne!(shortened(&format!("\"{x}12\""), 99), shortened(&format!("\"{x}13\""), 99));
    }
    /// A batch of pictures is long by many strings.
    #[test]
    fn many_long_strings_are_cut_so_that_all_is_read() {
        let long = "x".repeat(2 << 20);
        let results = vec![long.as_str(); 100];
        let text = serde_json::json!({"tool_calls": results, "last": "here"}).to_string();
        let short = shortened(&text, 1 << 16);
        assert!(short.len() < LARGEST, "{}", short.len());
        let read: serde_json::Value = serde_json::from_str(&short).unwrap();
        assert_eq!((read["tool_calls"].as_array().unwrap().len(), &read["last"]), (100, &"here".into()));
    }
}
