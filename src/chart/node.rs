//! A chart that is compiled in, as data: `build.rs` writes its TOML as a static tree, so that a stop parses nothing and
//! copies only what it looks at.

use crate::hash::IndexMap;
use serde::de::value::{BorrowedStrDeserializer, Error, MapDeserializer, SeqDeserializer};
use serde::de::{Deserialize, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::part::Part;

/// A value in TOML.
#[derive(Debug)]
pub enum Node {
    Absent,
    Boolean(bool),
    Integer(i64),
    Text(&'static str),
    List(&'static [Node]),
    Table(&'static [(&'static str, Node)]),
}

impl Node {
    /// Returns the items of a table; none if it is something else.
    fn pairs(&self) -> &'static [(&'static str, Self)] {
        match self {
            Self::Table(pairs) => pairs,
            _ => &[],
        }
    }

    /// Returns the value of a key.
    pub(super) fn at(&self, key: &str) -> &'static Self {
        let pair = self.pairs().iter().find(|(name, _)| *name == key);
        pair.map_or(&Self::Absent, |(_, node)| node)
    }

    /// Returns the keys of a table.
    pub(super) fn keys(&self) -> Vec<String> {
        let keys = self.pairs().iter();
        keys.map(|(name, _)| (*name).to_owned()).collect()
    }

    /// Returns the value of a key, read when it is looked at. A test has read all of them.
    pub(super) fn part<T>(&self, key: &str) -> Part<T>
    where
        T: Default + Deserialize<'static>,
    {
        self.at(key).read(|_| {})
    }

    /// Returns the same, edited as soon as it has been read.
    pub(super) fn edited<T>(
        &self,
        key: &str,
        edit: impl Fn(&mut T) + Send + Sync + 'static,
    ) -> Part<T>
    where
        T: Default + Deserialize<'static> + 'static,
    {
        self.at(key).read(edit)
    }

    /// Returns a table whose values are read when they are looked at.
    pub(super) fn parts<T>(&self, key: &str) -> IndexMap<String, Part<T>>
    where
        T: Default + Deserialize<'static>,
    {
        let pairs = self.at(key).pairs().iter();
        pairs.map(|(name, node)| ((*name).to_owned(), node.read(|_| {}))).collect()
    }

    fn read<T>(&'static self, edit: impl Fn(&mut T) + Send + Sync + 'static) -> Part<T>
    where
        T: Default + Deserialize<'static>,
    {
        Part::later(move || {
            let mut value = T::deserialize(self).unwrap_or_default();
            edit(&mut value);
            value
        })
    }
}

impl<'de> IntoDeserializer<'de, Error> for &'static Node {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for &'static Node {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Node::Absent => visitor.visit_none(),
            Node::Boolean(value) => visitor.visit_bool(*value),
            Node::Integer(value) => visitor.visit_i64(*value),
            Node::Text(text) => visitor.visit_borrowed_str(text),
            Node::List(items) => visitor.visit_seq(SeqDeserializer::new(items.iter())),
            Node::Table(pairs) => visitor.visit_map(MapDeserializer::new(
                pairs.iter().map(|(key, node)| (BorrowedStrDeserializer::new(key), node)),
            )),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Node::Absent => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Node::Text(text) => visitor.visit_enum(BorrowedStrDeserializer::new(text)),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}
