//! Where each parenthesis of a text closes, whatever quotes stand around it.

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
