//! Reading a body.

use serde::de::value::BorrowedStrDeserializer;
use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::Error;

use crate::store::jsonb::{kind, length};

/// How deep a body may be nested, as in JSON text.
const DEEPEST: u8 = 128;

/// Reads a value that fills the bytes.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    let mut values = Values { rest: bytes, deeper: DEEPEST };
    let value = T::deserialize(&mut values)?;
    if values.rest.is_empty() { Ok(value) } else { Err(Error::custom("something stands after the body")) }
}

/// Values, one after the other.
struct Values<'de> {
    rest: &'de [u8],
    /// How many levels may follow.
    deeper: u8,
}

impl<'de> Values<'de> {
    /// Takes the next value: its kind and its content.
    fn next(&mut self) -> Result<(u8, &'de [u8]), Error> {
        let cut = || Error::custom("the body is cut off");
        let (first, rest) = self.rest.split_first().ok_or_else(cut)?;
        let (size, rest) = match first >> 4 {
            length::IN_ONE => rest.split_first().map(|(size, rest)| (usize::from(*size), rest)).ok_or_else(cut)?,
            length::IN_TWO => {
                let (size, rest) = rest.split_first_chunk().ok_or_else(cut)?;
                (usize::from(u16::from_be_bytes(*size)), rest)
            }
            length::IN_FOUR => {
                let (size, rest) = rest.split_first_chunk().ok_or_else(cut)?;
                (u32::from_be_bytes(*size) as usize, rest)
            }
            size if size < length::IN_ONE => (usize::from(size), rest),
            _ => return Err(Error::custom("a length is beyond all bodies")),
        };
        let (content, rest) = rest.split_at_checked(size).ok_or_else(cut)?;
        self.rest = rest;
        Ok((first & 0xf, content))
    }

    /// Returns what a list or an object holds.
    fn inside(&self, content: &'de [u8]) -> Result<Values<'de>, Error> {
        let deeper = self.deeper.checked_sub(1).ok_or_else(|| Error::custom("the body is nested too deep"))?;
        Ok(Values { rest: content, deeper })
    }

    fn next_of<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if self.rest.is_empty() { Ok(None) } else { seed.deserialize(self).map(Some) }
    }
}

fn text(content: &[u8]) -> Result<&str, Error> {
    str::from_utf8(content).map_err(Error::custom)
}

fn unescaped(content: &[u8]) -> Result<String, Error> {
    serde_json::from_str(&format!("\"{}\"", text(content)?))
}

fn integer<'de, V: Visitor<'de>>(content: &[u8], visitor: V) -> Result<V::Value, Error> {
    let broken = || Error::custom("a number cannot be read");
    let (negative, digits) = match content {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let number = digits.iter().try_fold(0u64, |number, digit| {
        let value = digit.wrapping_sub(b'0');
        if value > 9 { None } else { number.checked_mul(10)?.checked_add(value.into()) }
    });
    let number = number.filter(|_| !digits.is_empty()).ok_or_else(broken)?;
    if negative {
        visitor.visit_i64(0i64.checked_sub_unsigned(number).ok_or_else(broken)?)
    } else {
        visitor.visit_u64(number)
    }
}

impl<'de> Deserializer<'de> for &mut Values<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.next()? {
            (kind::INTEGER, content) => integer(content, visitor),
            (kind::TEXT | kind::PLAIN_TEXT, content) => visitor.visit_borrowed_str(text(content)?),
            (kind::ARRAY, content) => {
                let mut values = self.inside(content)?;
                let value = visitor.visit_seq(&mut values)?;
                if values.rest.is_empty() { Ok(value) } else { Err(Error::custom("a list is too long")) }
            }
            (kind::OBJECT, content) => visitor.visit_map(&mut self.inside(content)?),
            (kind::NULL, _) => visitor.visit_unit(),
            (kind::TRUE, _) => visitor.visit_bool(true),
            (kind::FALSE, _) => visitor.visit_bool(false),
            (kind::FLOAT, content) => visitor.visit_f64(text(content)?.parse().map_err(Error::custom)?),
            (kind::ESCAPED_TEXT, content) => visitor.visit_string(unescaped(content)?),
            _ => Err(Error::custom("a value is of an unknown kind")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.rest.first() {
            Some(first) if first & 0xf == kind::NULL => {
                self.next()?;
                visitor.visit_none()
            }
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.next()? {
            (kind::TEXT | kind::PLAIN_TEXT, name) => visitor.visit_enum(BorrowedStrDeserializer::new(text(name)?)),
            (kind::OBJECT, content) => visitor.visit_enum(&mut self.inside(content)?),
            _ => Err(Error::custom("a choice is neither a text nor an object")),
        }
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.next()? {
            (kind::TEXT | kind::PLAIN_TEXT, name) => visitor.visit_borrowed_bytes(name),
            (kind::ESCAPED_TEXT, name) => visitor.visit_string(unescaped(name)?),
            _ => Err(Error::custom("a name is no text")),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.next()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct
    }
}

impl<'de> de::SeqAccess<'de> for &mut Values<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.next_of(seed)
    }
}

impl<'de> de::MapAccess<'de> for &mut Values<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.next_of(seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(&mut **self)
    }
}

/// A variant that holds something: an object with the variant's name as its one key.
impl<'de> de::EnumAccess<'de> for &mut Values<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Error> {
        Ok((seed.deserialize(&mut *self)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for &mut Values<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Deserialize::deserialize(self)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }
}
