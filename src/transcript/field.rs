//! The shapes of fields in transcript rows. A field of another shape breaks no row: it is empty, or noted as such.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::domain::stored::stable_hash;

/// The longest id or model's name that is kept as it is; no client writes one.
const LONGEST_NAME: usize = 200;

/// More tokens than any response can have: models read a million, and write a tenth of that. A larger count is a mistake, and could use up
/// what a person has for all their projects.
const PLAUSIBLE: u64 = 20_000_000;

/// Returns a name, of one that is too long its start and a hash of all of it.
pub fn short(name: Cow<'_, str>) -> Cow<'_, str> {
    if name.len() <= LONGEST_NAME {
        return name;
    }
    let start: String = name.chars().take(LONGEST_NAME / 4).collect();
    Cow::Owned(format!("{start}~{:016x}", stable_hash::of(name.as_bytes())))
}

/// What a field is by what stands in it. Null, like a field that is not there, is the default.
pub trait Shape<'de>: Default {
    /// Returns what the field is where something else stands in it than it wants.
    fn other() -> Self {
        Self::default()
    }

    /// Returns what the field is where a text stands in it.
    fn of_text(_text: Cow<'de, str>) -> Self {
        Self::other()
    }

    /// Returns what the field is where a number stands in it.
    fn of_number(_number: f64) -> Self {
        Self::other()
    }

    /// Returns what the field is where true or false stands in it.
    fn of_flag(_flag: bool) -> Self {
        Self::other()
    }

    /// Returns what the field is where a list stands in it.
    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::other())
    }

    /// Returns what the field is where an object stands in it.
    fn of_object<A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::other())
    }
}

/// Reads a field, whatever stands in it.
pub fn read<'de, T: Shape<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_any(ShapeVisitor(PhantomData))
}

/// Has types read by their shape.
macro_rules! deserialize {
    ($($type:ty $(where $inner:ident)?),*) => {$(
        impl<'de: 'a, 'a $(, $inner: Deserialize<'de>)?> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                read(deserializer)
            }
        }
    )*};
}
deserialize!(Text<'a>, Flag, Usd, Count, Object<T> where T, List<T> where T);

struct ShapeVisitor<T>(PhantomData<T>);

impl<'de, T: Shape<'de>> Visitor<'de> for ShapeVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::of_text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::of_text(Cow::Owned(text.to_owned())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::of_number(number as f64))
    }

    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(T::of_number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<T, E> {
        Ok(T::of_number(number))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<T, E> {
        Ok(T::of_flag(flag))
    }

    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::of_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::of_object(object)
    }
}

/// A text, borrowed where it has no escapes.
#[derive(Clone, Debug, Default)]
pub struct Text<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Shape<'de> for Text<'a> {
    fn of_text(text: Cow<'de, str>) -> Text<'a> {
        Text(text)
    }
}

impl Text<'_> {
    /// Returns the text; nothing where it is empty.
    pub fn some(&self) -> Option<&str> {
        Some(&*self.0).filter(|text| !text.is_empty())
    }
}

/// Whether something is so; false where the row does not say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flag(pub bool);

impl Shape<'_> for Flag {
    fn of_flag(flag: bool) -> Flag {
        Flag(flag)
    }
}

/// An amount in USD.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usd(pub Option<f64>);

impl Shape<'_> for Usd {
    fn of_number(number: f64) -> Usd {
        Usd(Some(number))
    }
}

/// A number of tokens, as the row has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Count {
    /// Not there, or null.
    #[default]
    Absent,
    /// A number that can be.
    Known(u64),
    /// Negative, broken, beyond belief, or no number.
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

impl Shape<'_> for Count {
    fn other() -> Count {
        Count::Doubtful
    }

    fn of_number(number: f64) -> Count {
        let whole = number >= 0.0 && number.fract() == 0.0 && number <= PLAUSIBLE as f64;
        if whole { Count::Known(number as u64) } else { Count::Doubtful }
    }
}

/// An object with fields of its own.
#[derive(Clone, Debug, Default)]
pub enum Object<T> {
    /// Not there, or null.
    #[default]
    Absent,
    /// As it stands.
    Known(T),
    /// Something else.
    Other,
}

impl<T> Object<T> {
    /// Returns the object, where it is one.
    pub fn known(self) -> Option<T> {
        match self {
            Object::Known(object) => Some(object),
            Object::Absent | Object::Other => None,
        }
    }

    /// Returns the object, where it is one.
    pub fn get(&self) -> Option<&T> {
        match self {
            Object::Known(object) => Some(object),
            Object::Absent | Object::Other => None,
        }
    }

    /// Whether something else stands in its place.
    pub fn is_other(&self) -> bool {
        matches!(self, Object::Other)
    }
}

impl<'de, T: Deserialize<'de>> Shape<'de> for Object<T> {
    fn other() -> Object<T> {
        Object::Other
    }

    fn of_object<A: MapAccess<'de>>(object: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object)).map(Object::Known)
    }
}

/// A list of objects; what else stands in it is left out.
#[derive(Clone, Debug)]
pub struct List<T> {
    /// The objects.
    pub objects: Vec<T>,
    /// Whether something else stood among them, or in the list's place.
    pub has_other: bool,
}

impl<T> Default for List<T> {
    fn default() -> List<T> {
        List { objects: Vec::new(), has_other: false }
    }
}

impl<'de, T: Deserialize<'de>> Shape<'de> for List<T> {
    fn other() -> List<T> {
        List { has_other: true, ..List::default() }
    }

    fn of_list<A: SeqAccess<'de>>(mut list: A) -> Result<List<T>, A::Error> {
        let mut found = List::default();
        while let Some(next) = list.next_element::<Object<T>>()? {
            match next.known() {
                Some(object) => found.objects.push(object),
                None => found.has_other = true,
            }
        }
        Ok(found)
    }
}
