//! A chart as it is read: tables, lists and values, each with the place where it is written.

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::layer::{Layer, LayerPlace};

/// A key with its place.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) place: LayerPlace,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Table(
    pub(super) Vec<(Key, Node)>,
    /// Where it is written in braces, unless it was changed.
    pub(super) Option<LayerPlace>,
);

impl Table {
    /// Returns a table of a layer.
    pub(super) fn read(layers: &[Layer], layer: usize, table: &DeTable<'_>) -> Self {
        let pairs = table.iter().map(|(key, value)| {
            let span = key.span();
            let key = Key { name: key.get_ref().to_string(), place: LayerPlace { layer, span } };
            (key, Node::read(layers, layer, value))
        });
        Self(pairs.collect(), None)
    }

    /// Returns a key with its place.
    pub(super) fn key(&self, name: &str) -> Option<&Key> {
        let mut keys = self.0.iter().map(|(key, _)| key);
        keys.find(|key| key.name == name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        let pair = self.0.iter().find(|(key, _)| key.name == name);
        pair.map(|(_, node)| node)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        let pair = self.0.iter_mut().find(|(key, _)| key.name == name);
        pair.map(|(_, node)| node)
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Node> {
        let at = self.0.iter().position(|(key, _)| key.name == name)?;
        Some(self.0.remove(at).1)
    }

    /// Puts what `order` has first, in its order.
    pub(super) fn put_first(&mut self, order: &Self) {
        self.1 = None;
        let at = |name: &str| order.0.iter().position(|(key, _)| key.name == name);
        self.0.sort_by_key(|(key, _)| at(&key.name).unwrap_or(usize::MAX));
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(|(key, _)| key.name.clone()).collect()
    }
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    /// A value as it is written: a place, and what is written there instead, if anything.
    Value(Vec<(LayerPlace, Option<String>)>),
    /// A list of such values, and its place unless it was changed.
    List(Option<LayerPlace>, Vec<Item>),
    Table(Table),
    /// A list of tables.
    Tables(Vec<Entry>),
}

/// An item of a list.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) place: LayerPlace,
    /// What it is without quotes.
    pub(super) word: String,
}

/// A table in a list.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) place: LayerPlace,
    pub(super) table: Table,
    /// The one behind which its layer has put it.
    pub(super) behind: Option<String>,
}

impl Node {
    fn read(layers: &[Layer], layer: usize, value: &Spanned<DeValue<'_>>) -> Self {
        let span = value.span();
        let place = LayerPlace { layer, span };
        match value.get_ref() {
            DeValue::Table(table) => {
                let mut table = Table::read(layers, layer, table);
                let is_inline = layers[layer].text[place.span.clone()].starts_with('{');
                table.1 = is_inline.then_some(place);
                Self::Table(table)
            }
            DeValue::Array(items) => Self::list(layers, place, items),
            _ => Self::Value(vec![(place, None)]),
        }
    }

    fn list(layers: &[Layer], place: LayerPlace, items: &DeArray<'_>) -> Self {
        let layer = place.layer;
        let at = |item: &Spanned<DeValue<'_>>| LayerPlace { layer, span: item.span() };
        let tables = items.iter().map(|item| {
            Some(Entry {
                place: at(item),
                table: Table::read(layers, layer, item.get_ref().as_table()?),
                behind: None,
            })
        });
        match tables.collect::<Option<Vec<Entry>>>() {
            Some(entries) if !entries.is_empty() => Self::Tables(entries),
            _ => {
                let items = items.iter().map(|item| Item {
                    place: at(item),
                    word: match item.get_ref() {
                        DeValue::String(word) => word.to_string(),
                        _ => layers[layer].text[item.span()].to_owned(),
                    },
                });
                Self::List(Some(place), items.collect())
            }
        }
    }

    /// Returns the string that the value is, and its place.
    pub(super) fn word(&self, layers: &[Layer]) -> Option<(String, LayerPlace)> {
        let Self::Value(pieces) = self else {
            return None;
        };
        let [(place, None)] = pieces.as_slice() else {
            return None;
        };
        let raw = &layers[place.layer].text[place.span.clone()];
        let word = DeValue::parse(raw).ok()?.get_ref().as_str()?.to_owned();
        Some((word, place.clone()))
    }
}

impl Entry {
    /// Returns its `id`.
    pub(super) fn id(&self, layers: &[Layer]) -> Option<String> {
        Some(self.table.get("id")?.word(layers)?.0)
    }
}
