//! Every string of a request with its place, found by serialising it into nothing.

use std::borrow::Cow;
use std::fmt::{self, Display};

use serde::ser::{self, Serialize};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Field(Cow<'static, str>),
    Index(usize),
    /// The name of a field, not its value.
    Key,
}

/// The item of a list that a place is in.
pub(super) fn first_index(path: &[Step]) -> Option<usize> {
    path.iter().find_map(|step| match step {
        Step::Index(index) => Some(*index),
        _ => None,
    })
}

/// Calls `see` with every string and every name of a field.
pub(super) fn visit<T: ?Sized + Serialize>(value: &T, see: &mut dyn FnMut(&[Step], &str)) {
    // A request that cannot be written has nothing that could be stored either.
    let _ = value.serialize(&mut Visitor { path: Vec::new(), see });
}

struct Visitor<'a> {
    path: Vec<Step>,
    see: &'a mut dyn FnMut(&[Step], &str),
}

/// Types that requests do not have; serde asks for an error type all the same.
#[derive(Debug)]
pub(super) struct Unwritable;

impl Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request cannot be written")
    }
}

impl std::error::Error for Unwritable {}

impl ser::Error for Unwritable {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

/// A list, an object or a variant that is being gone through: how far.
struct Open<'v, 'a> {
    visitor: &'v mut Visitor<'a>,
    /// How long the path was, and is again afterwards.
    depth: usize,
    index: usize,
}

impl<'v, 'a> Open<'v, 'a> {
    fn new(visitor: &'v mut Visitor<'a>) -> Self {
        let depth = visitor.path.len();
        Self { visitor, depth, index: 0 }
    }

    fn visit_at<T: ?Sized + Serialize>(&mut self, step: Step, value: &T) -> Result<(), Unwritable> {
        self.visitor.path.truncate(self.depth);
        self.visitor.path.push(step);
        value.serialize(&mut *self.visitor)?;
        self.visitor.path.truncate(self.depth);
        Ok(())
    }

    fn visit_next<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Unwritable> {
        let index = self.index;
        self.index += 1;
        self.visit_at(Step::Index(index), value)
    }
}

macro_rules! says_nothing {
    ($($method:ident($type:ty))*) => {
        $(fn $method(self, _: $type) -> Result<(), Unwritable> {
            Ok(())
        })*
    };
}

impl<'v, 'a> ser::Serializer for &'v mut Visitor<'a> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Open<'v, 'a>;
    type SerializeTuple = Open<'v, 'a>;
    type SerializeTupleStruct = Open<'v, 'a>;
    type SerializeTupleVariant = Open<'v, 'a>;
    type SerializeMap = Open<'v, 'a>;
    type SerializeStruct = Open<'v, 'a>;
    type SerializeStructVariant = Open<'v, 'a>;

    says_nothing! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_u8(u8)
        serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_f32(f32) serialize_f64(f64) serialize_char(char)
        serialize_bytes(&[u8]) serialize_unit_struct(&'static str)
    }

    fn serialize_str(self, text: &str) -> Result<(), Unwritable> {
        (self.see)(&self.path, text);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Unwritable> {
        Ok(())
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unwritable> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), Unwritable> {
        Ok(())
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Unwritable> {
        Open::new(self).visit_at(Step::Field(variant.into()), value)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Open<'v, 'a>, Unwritable> {
        Ok(Open::new(self))
    }

    fn serialize_tuple(self, _: usize) -> Result<Open<'v, 'a>, Unwritable> {
        Ok(Open::new(self))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Open<'v, 'a>, Unwritable> {
        Ok(Open::new(self))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Open<'v, 'a>, Unwritable> {
        Ok(Open::new(self))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Open<'v, 'a>, Unwritable> {
        Ok(Open::new(self))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Open<'v, 'a>, Unwritable> {
        Ok(Open::new(self))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Open<'v, 'a>, Unwritable> {
        Ok(Open::new(self))
    }
}

macro_rules! goes_through_items {
    ($($kind:ident $method:ident)*) => {
        $(impl ser::$kind for Open<'_, '_> {
            type Ok = ();
            type Error = Unwritable;

            fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Unwritable> {
                self.visit_next(value)
            }

            fn end(self) -> Result<(), Unwritable> {
                Ok(())
            }
        })*
    };
}

goes_through_items! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! goes_through_fields {
    ($($kind:ident)*) => {
        $(impl ser::$kind for Open<'_, '_> {
            type Ok = ();
            type Error = Unwritable;

            fn serialize_field<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> Result<(), Unwritable> {
                self.visit_at(Step::Field(name.into()), value)
            }

            fn end(self) -> Result<(), Unwritable> {
                Ok(())
            }
        })*
    };
}

goes_through_fields! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Open<'_, '_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Unwritable> {
        self.visit_at(Step::Key, key)?;
        let mut name = String::new();
        visit(key, &mut |_, text| name.push_str(text));
        self.visitor.path.push(Step::Field(name.into()));
        Ok(())
    }

    /// The path ends with the key that was seen just before.
    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Unwritable> {
        value.serialize(&mut *self.visitor)?;
        self.visitor.path.truncate(self.depth);
        Ok(())
    }

    fn end(self) -> Result<(), Unwritable> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rootset_api::AddMemory;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_string_is_seen_with_its_place() {
        let request: AddMemory = serde_json::from_value(json!({
            "context": "a", "tags": ["b", "c"], "metadata": {"d": {"e": ["f"]}}, "pinned": true,
        }))
        .expect("a request");
        let mut seen = Vec::new();
        visit(&request, &mut |path, text| seen.push((path.to_vec(), text.to_owned())));
        let field = |name: &'static str| Step::Field(name.into());
        for (path, text) in [
            (vec![field("text")], "a"),
            (vec![field("tags"), Step::Index(1)], "c"),
            (vec![field("metadata"), Step::Key], "d"),
            (vec![field("metadata"), field("d"), field("e"), Step::Index(0)], "f"),
        ] {
            assert!(seen.contains(&(path.clone(), text.to_owned())), "{path:?} in {seen:?}");
        }
    }
}
