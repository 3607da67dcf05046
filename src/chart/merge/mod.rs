//! Merges charts: one is written over others (`extends`), and a cycle copies another (`copy`).
//!
//! The result is TOML again, made of pieces of the texts as they are written. So everything that reads a chart, from the
//! schema to the checker, sees one chart, and each place in it leads back to the file in which it is written
//! ([`Merged::origin`]). `build.rs` includes this module: the charts that are compiled in are merged when taskie is built.
//!
//! `layer` is a chart as it is written, `tree` a chart as it is read, `over` writes one tree over another, `write` makes TOML of the result.

mod layer;
mod over;
#[cfg(test)]
mod tests;
mod tree;
mod write;

use std::collections::HashSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub use layer::{FaultKind, IGNORE, Layer, LayerFault, LayerPlace};

use layer::Piece;
use over::Merger;
use tree::{Node, Table};
use write::Writer;

/// The chart that several layers make.
#[derive(Debug)]
pub struct Merged {
    pub text: String,
    pub faults: Vec<LayerFault>,
    pieces: Vec<Piece>,
}

impl Merged {
    /// Returns where the text at `span` is written.
    pub fn origin(&self, span: &Range<usize>) -> Option<LayerPlace> {
        let count = self.pieces.partition_point(|piece| piece.at.start <= span.start);
        let Piece { at, from } = self.pieces.get(count.checked_sub(1)?)?;
        let is_copy = at.len() == from.span.len() && span.start < at.end;
        let shift = |offset: usize| from.span.start + (offset.min(at.end) - at.start);
        let span = match is_copy {
            true => shift(span.start)..shift(span.end.max(span.start)),
            false => from.span.clone(),
        };
        Some(LayerPlace { layer: from.layer, span })
    }
}

/// Returns the charts that a chart extends, in order, each with its place.
pub fn extended(text: &str) -> Vec<(String, Range<usize>)> {
    let (table, _) = DeTable::parse_recoverable(text);
    let list = table.get_ref().get("extends");
    let items = list.and_then(|list| list.get_ref().as_array());
    let items = items.into_iter().flat_map(|items| items.iter());
    items.filter_map(|item| Some((item.get_ref().as_str()?.to_owned(), item.span()))).collect()
}

/// Returns whether a chart is extended by its path, and not by the name of one that is compiled in.
pub fn is_file(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

/// Returns whether a chart says how it is to be merged, or has an `id` twice in a list, which the merge reports.
pub fn is_composed(text: &str) -> bool {
    let (table, _) = DeTable::parse_recoverable(text);
    let chart = table.get_ref();
    let values = |name: &str| {
        let table = chart.get(name).and_then(|table| table.get_ref().as_table());
        table.into_iter().flat_map(|table| table.values())
    };
    let has = |table: &Spanned<DeValue<'_>>, keys: &[&str]| {
        let table = table.get_ref().as_table();
        table.is_some_and(|table| keys.iter().any(|key| table.contains_key(*key)))
    };
    let advance = values("cycles").filter_map(|cycle| cycle.get_ref().get("advance"));
    let mut lists = values("on")
        .chain(values("checks"))
        .chain(advance)
        .chain(chart.get("properties"))
        .filter_map(|list| list.get_ref().as_array());
    ["extends", "remove"].iter().any(|key| chart.contains_key(*key))
        || values("cycles").any(|cycle| has(cycle, &["copy"]))
        || lists.any(|list| {
            let mut ids = HashSet::new();
            list.iter().any(|entry| {
                let id = entry.get_ref().get("id").and_then(|id| id.get_ref().as_str());
                has(entry, &["before", "after"]) || id.is_some_and(|id| !ids.insert(id))
            })
        })
}

/// Merges layers, each over those before it. A layer whose syntax is broken counts as far as it can be read.
pub fn merge(layers: &[Layer]) -> Merged {
    let mut merger = Merger::of(layers);
    let mut chart = Table::default();
    for (layer, Layer { text, .. }) in layers.iter().enumerate() {
        let (table, _) = DeTable::parse_recoverable(text);
        let mut own = Table::read(layers, layer, table.get_ref());
        merger.look(&own);
        chart.take("extends");
        // Templates are looked up in the folders of each layer.
        chart.take("templates");
        if let Some(removed) = own.take("remove") {
            merger.remove(&mut chart, &removed);
        }
        merger.copy_cycles(&chart, &mut own);
        // What cycles share comes first: they can change it.
        let cycle = own.0.iter().position(|(key, _)| key.name == "cycle");
        if let Some(at) = cycle.filter(|_| chart.get("cycle").is_some()) {
            let cycle = own.0.remove(at);
            merger.merge(&mut chart, Table(vec![cycle], None));
        }
        if let Some(Node::Table(shared)) = chart.get("cycle") {
            merger.change_shared(shared, &chart, &mut own);
        }
        merger.redefine(&mut chart, &mut own);
        // The fields of a state have the order of the chart, whatever its parts know of them.
        let order = own.get("context").cloned();
        let is_over_parts = chart.get("phases").is_none();
        merger.merge(&mut chart, own);
        if let (true, Some(Node::Table(order)), Some(Node::Table(fields))) =
            (is_over_parts, order, chart.get_mut("context"))
        {
            fields.put_first(&order);
        }
    }
    let (text, pieces) = Writer::of(layers).chart(&chart);
    Merged { text, faults: merger.faults, pieces }
}
