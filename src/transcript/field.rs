//! Fields of transcript rows that are taken as they come: a count that cannot be is noted, and breaks no row.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::domain::stable_hash;

/// The longest id or model's name that is kept as it is; no client writes one.
const LONGEST_NAME: usize = 200;

/// More tokens than any response can have; a larger count is a mistake and would stop a session for good.
const PLAUSIBLE: u64 = 1_000_000_000_000;

/// Returns a name, of one that is too long its start and a hash of all of it.
pub fn short(name: Cow<'_, str>) -> Cow<'_, str> {
    if name.len() <= LONGEST_NAME {
        return name;
    }
    let start: String = name.chars().take(LONGEST_NAME / 4).collect();
    Cow::Owned(format!("{start}~{:016x}", stable_hash::of(name.as_bytes())))
}

/// A text, borrowed where it has no escapes; null is empty.
#[derive(Default)]
pub struct Text<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Text)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(""))
    }
}

/// A number of tokens, as the row has it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Count {
    /// Not there, or null.
    #[default]
    Absent,
    /// A number that can be.
    Known(u64),
    /// Negative, broken or beyond belief.
    Doubtful,
}

impl Count {
    /// Returns the number, zero where there is none to believe.
    pub fn value(self) -> u64 {
        match self {
            Count::Known(count) => count,
            Count::Absent | Count::Doubtful => 0,
        }
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        deserializer.deserialize_any(CountVisitor)
    }
}

struct CountVisitor;

impl<'de> Visitor<'de> for CountVisitor {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_u64<E>(self, count: u64) -> Result<Count, E> {
        Ok(if count <= PLAUSIBLE { Count::Known(count) } else { Count::Doubtful })
    }

    fn visit_i64<E>(self, _negative: i64) -> Result<Count, E> {
        Ok(Count::Doubtful)
    }

    fn visit_f64<E>(self, count: f64) -> Result<Count, E> {
        let whole = count >= 0.0 && count.fract() == 0.0 && count <= PLAUSIBLE as f64;
        Ok(if whole { Count::Known(count as u64) } else { Count::Doubtful })
    }

    fn visit_bool<E>(self, _flag: bool) -> Result<Count, E> {
        Ok(Count::Doubtful)
    }

    fn visit_str<E>(self, _text: &str) -> Result<Count, E> {
        Ok(Count::Doubtful)
    }

    fn visit_unit<E>(self) -> Result<Count, E> {
        Ok(Count::Absent)
    }
}

/// What matters of a prompt's content.
#[derive(Default)]
pub struct Content {
    /// Whether it opens as a notification does; blocks of content never do.
    pub opens_as_notification: bool,
    /// How many bytes of text it is; 0 where it is no plain text.
    pub length: u64,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message's content")
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        Ok(Content {
            opens_as_notification: text.trim_start().starts_with("<task-notification>"),
            length: text.len() as u64,
        })
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Content, A::Error> {
        while blocks.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Content::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Content, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Content::default())
    }
}
