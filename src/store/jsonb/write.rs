//! Writing a body.

use std::fmt::Display;

use serde::ser::{self, Error as _, Serialize, Serializer};
use serde_json::Error;

use crate::store::jsonb::{kind, length};

/// The room to begin with: a hook's allocator lets what was asked for last grow where it stands.
const ROOM: usize = 512;

/// Writes a value.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    let mut writer = Writer { out: Vec::with_capacity(ROOM) };
    value.serialize(&mut writer)?;
    Ok(writer.out)
}

struct Writer {
    out: Vec<u8>,
}

/// An array or object that is being written; `outer` is the object around a variant's.
struct Open<'a> {
    writer: &'a mut Writer,
    start: usize,
    outer: Option<usize>,
}

impl Writer {
    fn bare(&mut self, kind: u8) {
        self.out.push(kind);
    }

    fn scalar(&mut self, kind: u8, bytes: &[u8]) -> Result<(), Error> {
        match (u8::try_from(bytes.len()), u32::try_from(bytes.len())) {
            (Ok(size), _) if size < length::IN_ONE => self.out.push(size << 4 | kind),
            (Ok(size), _) => self.out.extend([length::IN_ONE << 4 | kind, size]),
            (_, Ok(size)) => {
                self.out.push(length::IN_FOUR << 4 | kind);
                self.out.extend(size.to_be_bytes());
            }
            _ => return Err(Error::custom("a text is too long")),
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn integer(&mut self, number: u64, negative: bool) -> Result<(), Error> {
        let mut digits = [b'-'; 21];
        let mut at = digits.len();
        let mut rest = number;
        while at == digits.len() || rest > 0 {
            at -= 1;
            digits[at] = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        self.scalar(kind::INTEGER, &digits[at - usize::from(negative)..])
    }

    /// Begins an array or object, with room for a length that is known at its end; returns where its content starts.
    fn open(&mut self, kind: u8) -> usize {
        self.out.extend([length::IN_TWO << 4 | kind, 0, 0]);
        self.out.len()
    }

    fn close(&mut self, start: usize) -> Result<(), Error> {
        let size = self.out.len() - start;
        if let Ok(size) = u16::try_from(size) {
            self.out[start - 2..start].copy_from_slice(&size.to_be_bytes());
            return Ok(());
        }
        let size = u32::try_from(size).map_err(|_| Error::custom("a body is too long"))?;
        self.out[start - 3] += (length::IN_FOUR - length::IN_TWO) << 4;
        self.out.splice(start - 2..start, size.to_be_bytes());
        Ok(())
    }

    fn list(&mut self, kind: u8) -> Open<'_> {
        let start = self.open(kind);
        Open { writer: self, start, outer: None }
    }

    /// Begins what a variant holds: an object with the variant's name as its one key.
    fn variant(&mut self, name: &str, kind: u8) -> Result<Open<'_>, Error> {
        let outer = Some(self.open(kind::OBJECT));
        self.scalar(kind::TEXT, name.as_bytes())?;
        let start = self.open(kind);
        Ok(Open { writer: self, start, outer })
    }
}

impl Open<'_> {
    fn add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(&mut *self.writer)
    }

    fn close(self) -> Result<(), Error> {
        self.writer.close(self.start)?;
        self.outer.map_or(Ok(()), |outer| self.writer.close(outer))
    }
}

impl<'a> Serializer for &'a mut Writer {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Open<'a>;
    type SerializeTuple = Open<'a>;
    type SerializeTupleStruct = Open<'a>;
    type SerializeTupleVariant = Open<'a>;
    type SerializeMap = Open<'a>;
    type SerializeStruct = Open<'a>;
    type SerializeStructVariant = Open<'a>;

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.bare(if value { kind::TRUE } else { kind::FALSE });
        Ok(())
    }
    fn serialize_i8(self, value: i8) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }
    fn serialize_i16(self, value: i16) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }
    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }
    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        self.integer(value.unsigned_abs(), value < 0)
    }
    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.integer(value.into(), false)
    }
    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.integer(value.into(), false)
    }
    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.integer(value.into(), false)
    }
    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        self.integer(value, false)
    }
    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.serialize_f64(value.into())
    }
    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        if value.is_finite() {
            self.scalar(kind::FLOAT, format!("{value:?}").as_bytes())
        } else {
            self.serialize_unit()
        }
    }
    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.scalar(kind::TEXT, value.as_bytes())
    }
    fn serialize_bytes(self, _: &[u8]) -> Result<(), Error> {
        Err(Error::custom("bytes are no JSON"))
    }
    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Error> {
        self.bare(kind::NULL);
        Ok(())
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let start = self.open(kind::OBJECT);
        self.scalar(kind::TEXT, variant.as_bytes())?;
        value.serialize(&mut *self)?;
        self.close(start)
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'a>, Error> {
        Ok(self.list(kind::ARRAY))
    }
    fn serialize_tuple(self, _: usize) -> Result<Open<'a>, Error> {
        Ok(self.list(kind::ARRAY))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Open<'a>, Error> {
        Ok(self.list(kind::ARRAY))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'a>, Error> {
        self.variant(variant, kind::ARRAY)
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Open<'a>, Error> {
        Ok(self.list(kind::OBJECT))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Open<'a>, Error> {
        Ok(self.list(kind::OBJECT))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Open<'a>, Error> {
        self.variant(variant, kind::OBJECT)
    }
    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.serialize_str(&value.to_string())
    }
}

/// Implements what adds one element after the other.
macro_rules! elements {
    ($($of:ident $add:ident,)*) => {$(
        impl ser::$of for Open<'_> {
            type Ok = ();
            type Error = Error;
            fn $add<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.add(value)
            }
            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}

elements! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
}

/// Implements what adds one named field after the other.
macro_rules! fields {
    ($($of:ident)*) => {$(
        impl ser::$of for Open<'_> {
            type Ok = ();
            type Error = Error;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
                self.writer.scalar(kind::TEXT, key.as_bytes())?;
                self.add(value)
            }
            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}

fields! { SerializeStruct SerializeStructVariant }

/// Keys have to be texts, as SQLite finds at the first use of another.
impl ser::SerializeMap for Open<'_> {
    type Ok = ();
    type Error = Error;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.add(key)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.add(value)
    }
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}
