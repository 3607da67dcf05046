//! A part of a chart that is made when it is first looked at: a stop looks at few of them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};

/// A value that is made when it is first looked at. Its clones are one value.
pub struct Part<T>(Arc<Maker<T>>);

struct Maker<T> {
    made: OnceLock<T>,
    make: Box<dyn Fn() -> T + Send + Sync>,
}

impl<T> Part<T> {
    /// Returns a part that `make` makes.
    pub fn later(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Self(Arc::new(Maker { made: OnceLock::new(), make: Box::new(make) }))
    }

    /// Changes the value, unless it has clones.
    pub fn edit(&mut self, edit: impl FnOnce(&mut T)) {
        if let Some(maker) = Arc::get_mut(&mut self.0) {
            let mut value = maker.made.take().unwrap_or_else(&maker.make);
            edit(&mut value);
            maker.made = OnceLock::from(value);
        }
    }
}

impl<T> Clone for Part<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Part<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.made.get_or_init(&self.0.make)
    }
}

impl<T: Default + 'static> From<T> for Part<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(Maker { made: OnceLock::from(value), make: Box::new(T::default) }))
    }
}

impl<T: Default + 'static> Default for Part<T> {
    fn default() -> Self {
        Self::from(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for Part<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(out)
    }
}

impl<'a, T> IntoIterator for &'a Part<T>
where
    &'a T: IntoIterator,
{
    type Item = <&'a T as IntoIterator>::Item;
    type IntoIter = <&'a T as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (**self).into_iter()
    }
}

impl<'de, T: Default + Deserialize<'de> + 'static> Deserialize<'de> for Part<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(Self::from)
    }
}

/// The schema of what it holds.
impl<T: JsonSchema> JsonSchema for Part<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
