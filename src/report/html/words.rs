//! Texts and amounts as the page's data has them: each text once, and whole pico-dollars.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::domain::spend::amount::Amount;
use crate::ui::terminal::plain;

/// Texts that stand in many rows: a row has a text's number.
#[derive(Debug, Default)]
pub struct Words {
    numbers: BTreeMap<String, i32>,
    texts: Vec<String>,
}

impl Words {
    /// Returns the number of a text. What a reader would not see in it is made visible.
    pub fn number(&mut self, text: &str) -> i32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = i32::try_from(self.texts.len()).unwrap_or(i32::MAX);
        self.texts.push(plain(text));
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// Returns the texts by their numbers.
    pub fn into_texts(self) -> Vec<String> {
        self.texts
    }
}

/// Up to here JavaScript counts one by one.
const EXACT: u64 = 1 << 53;

/// Pico-dollars: a number where JavaScript reads it exactly, else its digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pico(pub u64);

impl From<Amount> for Pico {
    fn from(amount: Amount) -> Pico {
        Pico(amount.0)
    }
}

impl Serialize for Pico {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 <= EXACT { serializer.serialize_u64(self.0) } else { serializer.collect_str(&self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_once_and_shown_whole() {
        let mut words = Words::default();
        let numbers: Vec<i32> = ["main", "a\u{202e}b", "main"].map(|text| words.number(text)).to_vec();
        assert_eq!((numbers, words.into_texts()), (vec![0, 1, 0], vec!["main".to_owned(), "a\\u202eb".to_owned()]));
    }

    #[test]
    fn a_large_amount_is_written_exactly() {
        let written = |pico| serde_json::to_string(&Pico(pico)).unwrap();
        assert_eq!((written(EXACT), written(EXACT + 1)), (EXACT.to_string(), format!("\"{}\"", EXACT + 1)));
    }
}
