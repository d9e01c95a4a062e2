//! Where each parenthesis of a text closes, whatever quotes stand around it.

use crate::byte_search;

/// The parentheses of a text, found in one pass: a search for each of them would read the rest of the text each time.
pub(super) struct Parentheses {
    /// Where each opens and where it closes, in the order of the text.
    pairs: Vec<(usize, Option<usize>)>,
}

impl Parentheses {
    /// Finds those of a text.
    pub(super) fn of(text: &str) -> Parentheses {
        let (mut pairs, mut open) = (Vec::new(), Vec::new());
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'(' => {
                    open.push(pairs.len());
                    pairs.push((at, None));
                }
                b')' => {
                    if let Some(opened) = open.pop() {
                        pairs[opened].1 = Some(at);
                    }
                }
                _ => {}
            }
        }
        Parentheses { pairs }
    }

    /// Returns where the one closes that opens at a place; nothing where it stays open.
    pub(super) fn closing(&self, open: usize) -> Option<usize> {
        let found = self.pairs.binary_search_by_key(&open, |(at, _)| *at).ok()?;
        self.pairs[found].1
    }
}

/// Returns where the parenthesis closes that is open before a text.
pub fn closed(inner: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    // What is open: double quotes, and parentheses in them or around them.
    let (mut at, mut open) = (0, vec![b'(']);
    while let Some(byte) = bytes.get(at) {
        match (byte, open.last()?) {
            (b'\\', _) => at += 1,
            (b'"', b'"') => _ = open.pop(),
            (b'"', _) => open.push(b'"'),
            (b'(', b'"') if at > 0 && bytes[at - 1] != b'$' => {}
            (b'(', _) => open.push(b'('),
            (b')' | b'\'', b'"') => {}
            (b')', _) if open.len() == 1 => return Some(at),
            (b')', _) => _ = open.pop(),
            (b'\'', _) => at += 1 + byte_search::first(b'\'', &bytes[at + 1..])?,
            _ => {}
        }
        at += 1;
    }
    None
}
