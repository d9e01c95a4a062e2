//! The hash by which a prompt is recognised again.

use crate::domain::stored::stable_hash;

/// How much of a prompt tells it from others, in units of UTF-16: in its list of schedules the client cuts each after 1,000.
const TELLING: usize = 900;

/// Hashes the start of a prompt, to recognise it again where the client has cut it.
pub fn prompt_hash(text: &str) -> u64 {
    let mut units = 0;
    let over = text.char_indices().find(|(_, letter)| {
        units += letter.len_utf16();
        units > TELLING
    });
    stable_hash::of(over.map_or(text, |(end, _)| &text[..end]).as_bytes())
}
