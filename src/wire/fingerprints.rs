//! Fingerprints of calls and their results, to see repetition: fast, since results are long and most of them never repeat.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::domain::event::Fingerprints;

/// An odd number without structure: the golden ratio in 64 bits.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the fingerprints of a call whose batch is over.
pub fn of_call(tool: &str, input: Option<&RawValue>, response: Option<&RawValue>) -> Fingerprints {
    let result = eat(eat(MIX, tool.as_bytes()), text(response));
    let all = fold(eat(result, text(input)));
    Fingerprints { all, error: fold(result), input: of_words(text(input)), ..Fingerprints::default() }
}

/// How much of an input tells it from others, in bytes.
const TELLING: usize = 1 << 10;

/// Returns the fingerprint of an input's words. A number is none, as `3`, `0.5` or `30s`, nor is the wait before a command.
pub fn of_words(input: &[u8]) -> u32 {
    let is_apart = |byte: &u8| matches!(byte, 0..=b' ' | b'"'..=b'#' | b'&'..=b')' | b',' | b';'..=b'>' | b'['..=b']' | b'`' | b'{'..=b'}');
    let words = input[..input.len().min(TELLING)]
        .split(is_apart)
        .filter(|word| !matches!(*word, b"" | b"sleep") && !is_number(word));
    fold(words.fold(MIX, eat))
}

/// Returns the fingerprint of a shell command's words. What the agent says of it is no part of it.
pub fn of_command(input: &RawValue) -> Option<u32> {
    #[derive(Deserialize)]
    struct Command<'a> {
        #[serde(borrow)]
        command: &'a RawValue,
    }
    let Command { command } = serde_json::from_str(input.get()).ok()?;
    Some(of_words(command.get().as_bytes()))
}

/// Whether a word is a number, with a unit or without.
fn is_number(word: &[u8]) -> bool {
    // A field of JSON.
    let word = word.strip_prefix(b":").unwrap_or(word);
    let unit = word.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let digits = &word[..word.len() - unit];
    unit <= 2
        && digits.first().is_some_and(u8::is_ascii_digit)
        && digits.iter().all(|b| b.is_ascii_digit() || *b == b'.')
}

fn text(raw: Option<&RawValue>) -> &[u8] {
    raw.map_or(&[], |raw| raw.get().as_bytes())
}

/// Mixes bytes into a state, eight at a time.
fn eat(state: u64, bytes: &[u8]) -> u64 {
    let mix = |state: u64, word: u64| (state.rotate_left(5) ^ word).wrapping_mul(MIX);
    let (words, rest) = bytes.as_chunks();
    let state = mix(state, bytes.len() as u64);
    let state = words.iter().fold(state, |state, word| mix(state, u64::from_le_bytes(*word)));
    rest.iter().fold(state, |state, byte| mix(state, u64::from(*byte)))
}

fn fold(state: u64) -> u32 {
    // The low bits of a product are the weak ones; 0 stands for nothing seen.
    ((state >> 32) as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_tell_calls_and_errors_apart() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let (ls, pwd, no, yes) =
            (raw(r#"{"command":"ls"}"#), raw(r#"{"command":"pwd"}"#), raw("\"no\""), raw("\"yes\""));
        let first = of_call("Bash", Some(&ls), Some(&no));
        assert_eq!(first, of_call("Bash", Some(&ls), Some(&no)));
        let other_call = of_call("Bash", Some(&pwd), Some(&no));
        assert!(other_call.error == first.error && other_call.all != first.all);
        let other_result = of_call("Bash", Some(&ls), Some(&yes));
        assert!(other_result.error != first.error && other_result.all != first.all);
        assert_ne!(of_call("Read", Some(&ls), Some(&no)).error, first.error);
    }

    #[test]
    fn inputs_are_told_apart_by_their_words() {
        for (one, other, is_same) in [
            ("false # 1", "false #  22", true),
            ("sleep 0.5 && make", "sleep 30s && make", true),
            ("curl -m 5 host", "curl -m 10 host", true),
            (r#"{"file_path":"/a","offset":1}"#, r#"{"file_path":"/a","offset":900}"#, true),
            ("which cc", "which gcc", false),
            ("test t1.py", "test t2.py", false),
            ("cat a", "cat b", false),
            ("cat a b", "cat ab", false),
        ] {
            assert_eq!(of_words(one.as_bytes()) == of_words(other.as_bytes()), is_same, "{one} | {other}");
        }
    }
}
