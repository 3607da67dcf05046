//! Merges charts: one is written over others (`extends`), and a cycle copies another (`copy`).
//!
//! The result is TOML again, made of pieces of the texts as they are written. So everything that reads a chart, from the
//! schema to the model checker, sees one chart, and each place in it leads back to the file in which it is written
//! ([`Merged::origin`]). `build.rs` includes this module: the charts that are compiled in are merged when taskie is built.

use std::collections::HashMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The keys of a table that changes a list.
const CHANGES: [&str; 4] = ["replace", "remove", "prepend", "append"];

/// How a comment begins that says which findings to ignore.
pub const IGNORE: &str = "# taskie: ignore[";

/// A chart as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Its name in messages.
    pub name: String,
    pub text: String,
}

/// A place in one of the layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub layer: usize,
    pub span: Range<usize>,
}

/// What is wrong with a layer: it changes something that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub place: Place,
    pub message: String,
    /// The name that is unknown, and those that are known.
    pub name: String,
    pub known: Vec<String>,
}

/// The chart that several layers make.
#[derive(Debug)]
pub struct Merged {
    pub text: String,
    pub faults: Vec<Fault>,
    pieces: Vec<Piece>,
}

/// A piece of the merged text, and where it is from.
#[derive(Debug)]
struct Piece {
    at: Range<usize>,
    from: Place,
}

impl Merged {
    /// Returns where the text at `span` is written.
    pub fn origin(&self, span: &Range<usize>) -> Option<Place> {
        let count = self
            .pieces
            .partition_point(|piece| piece.at.start <= span.start);
        let Piece { at, from } = self.pieces.get(count.checked_sub(1)?)?;
        let is_copy = at.len() == from.span.len() && span.start < at.end;
        let shift = |offset: usize| from.span.start + (offset.min(at.end) - at.start);
        let span = match is_copy {
            true => shift(span.start)..shift(span.end.max(span.start)),
            false => from.span.clone(),
        };
        Some(Place {
            layer: from.layer,
            span,
        })
    }
}

/// Returns the charts that a chart extends, in order, each with its place.
pub fn extended(text: &str) -> Vec<(String, Range<usize>)> {
    let (table, _) = DeTable::parse_recoverable(text);
    let list = table.get_ref().get("extends");
    let items = list.and_then(|list| list.get_ref().as_array());
    let items = items.into_iter().flat_map(|items| items.iter());
    items
        .filter_map(|item| Some((item.get_ref().as_str()?.to_owned(), item.span())))
        .collect()
}

/// Returns whether a chart is extended by its path, and not by the name of one that is compiled in.
pub fn is_file(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

/// Returns whether a chart says how it is to be merged.
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
    let mut lists = values("on")
        .chain(values("checks"))
        .chain(chart.get("properties"))
        .filter_map(|list| list.get_ref().as_array());
    ["extends", "remove"]
        .iter()
        .any(|key| chart.contains_key(*key))
        || values("cycles").any(|cycle| has(cycle, &["copy"]))
        || lists.any(|list| list.iter().any(|entry| has(entry, &["before", "after"])))
}

/// Merges layers, each over those before it. A layer whose syntax is broken counts as far as it can be read.
pub fn merge(layers: &[Layer]) -> Merged {
    let mut merger = Merger {
        layers,
        faults: Vec::new(),
    };
    let mut chart = Table::default();
    for (layer, Layer { text, .. }) in layers.iter().enumerate() {
        let (table, _) = DeTable::parse_recoverable(text);
        let mut own = merger.table(layer, table.get_ref());
        chart.take("extends");
        // Templates are looked up in the folders of each layer.
        chart.take("templates");
        if let Some(removed) = own.take("remove") {
            merger.remove(&mut chart, &removed);
        }
        merger.copy_cycles(&chart, &mut own);
        merger.redefine(&mut chart, &mut own);
        // A part has no order of its own: what a chart says comes first, for example in state.json.
        let is_over_parts = chart.get("phases").is_none() && layer > 0;
        let order = is_over_parts.then(|| own.clone());
        merger.merge(&mut chart, own);
        order.iter().for_each(|order| chart.put_first(order));
    }
    let mut writer = Writer {
        layers,
        text: String::new(),
        pieces: Vec::new(),
        layer: None,
    };
    writer.table(&mut Vec::new(), &chart);
    Merged {
        text: writer.text,
        faults: merger.faults,
        pieces: writer.pieces,
    }
}

/// A key with its place.
#[derive(Debug, Clone)]
struct Key {
    name: String,
    place: Place,
}

#[derive(Debug, Clone, Default)]
struct Table(Vec<(Key, Node)>);

impl Table {
    fn get(&self, name: &str) -> Option<&Node> {
        let pair = self.0.iter().find(|(key, _)| key.name == name);
        pair.map(|(_, node)| node)
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        let pair = self.0.iter_mut().find(|(key, _)| key.name == name);
        pair.map(|(_, node)| node)
    }

    fn take(&mut self, name: &str) -> Option<Node> {
        let at = self.0.iter().position(|(key, _)| key.name == name)?;
        Some(self.0.remove(at).1)
    }

    /// Puts what `order` has first, in its order, and so in each table in it.
    fn put_first(&mut self, order: &Self) {
        let at = |name: &str| order.0.iter().position(|(key, _)| key.name == name);
        self.0
            .sort_by_key(|(key, _)| at(&key.name).unwrap_or(usize::MAX));
        for (key, node) in &mut self.0 {
            if let (Node::Table(table), Some(Node::Table(order))) = (node, order.get(&key.name)) {
                table.put_first(order);
            }
        }
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().map(|(key, _)| key.name.clone()).collect()
    }
}

#[derive(Debug, Clone)]
enum Node {
    /// A value as it is written: a place, and what is written there instead, if anything.
    Value(Vec<(Place, Option<String>)>),
    /// A list of such values, and its place unless it was changed.
    List(Option<Place>, Vec<Item>),
    Table(Table),
    /// A list of tables.
    Tables(Vec<Entry>),
}

/// An item of a list.
#[derive(Debug, Clone)]
struct Item {
    place: Place,
    /// What it is without quotes.
    word: String,
}

/// A table in a list.
#[derive(Debug, Clone)]
struct Entry {
    place: Place,
    table: Table,
    /// The one behind which its layer has put it.
    behind: Option<String>,
}

struct Merger<'l> {
    layers: &'l [Layer],
    faults: Vec<Fault>,
}

impl Merger<'_> {
    fn table(&self, layer: usize, table: &DeTable<'_>) -> Table {
        let pairs = table.iter().map(|(key, value)| {
            let key = Key {
                name: key.get_ref().to_string(),
                place: Place {
                    layer,
                    span: key.span(),
                },
            };
            (key, self.node(layer, value))
        });
        Table(pairs.collect())
    }

    fn node(&self, layer: usize, value: &Spanned<DeValue<'_>>) -> Node {
        let place = Place {
            layer,
            span: value.span(),
        };
        match value.get_ref() {
            DeValue::Table(table) => Node::Table(self.table(layer, table)),
            DeValue::Array(items) => self.list(place, items),
            _ => Node::Value(vec![(place, None)]),
        }
    }

    fn list(&self, place: Place, items: &DeArray<'_>) -> Node {
        let layer = place.layer;
        let tables = items.iter().map(|item| {
            Some(Entry {
                place: Place {
                    layer,
                    span: item.span(),
                },
                table: self.table(layer, item.get_ref().as_table()?),
                behind: None,
            })
        });
        match tables.collect::<Option<Vec<Entry>>>() {
            Some(entries) if !entries.is_empty() => Node::Tables(entries),
            _ => {
                let items = items.iter().map(|item| Item {
                    place: Place {
                        layer,
                        span: item.span(),
                    },
                    word: match item.get_ref() {
                        DeValue::String(word) => word.to_string(),
                        _ => self.layers[layer].text[item.span()].to_owned(),
                    },
                });
                Node::List(Some(place), items.collect())
            }
        }
    }

    /// Returns the text of a value that is a string.
    fn word(&self, node: Option<&Node>) -> Option<(String, Place)> {
        let Some(Node::Value(pieces)) = node else {
            return None;
        };
        let [(place, None)] = pieces.as_slice() else {
            return None;
        };
        let raw = &self.layers[place.layer].text[place.span.clone()];
        let word = DeValue::parse(raw).ok()?.get_ref().as_str()?.to_owned();
        Some((word, place.clone()))
    }

    fn fault(&mut self, place: Place, what: &str, name: &str, known: Vec<String>) {
        self.faults.push(Fault {
            place,
            message: format!("there is no {what} `{name}` to change"),
            name: name.to_owned(),
            known,
        });
    }

    /// Writes `own` over `base`.
    fn merge(&mut self, base: &mut Table, own: Table) {
        for (key, node) in own.0 {
            let at = base.0.iter().position(|(other, _)| other.name == key.name);
            let Some(at) = at else {
                let node = match node {
                    Node::Table(own) => {
                        let mut table = Table::default();
                        self.merge(&mut table, own);
                        Node::Table(table)
                    }
                    Node::Tables(own) => {
                        let mut entries = Vec::new();
                        self.merge_entries(&mut entries, own, true);
                        Node::Tables(entries)
                    }
                    node => node,
                };
                base.0.push((key, node));
                continue;
            };
            let (old_key, old) = &mut base.0[at];
            match (old, node) {
                (old @ (Node::List(..) | Node::Tables(_)), Node::Table(changes))
                    if changes
                        .0
                        .iter()
                        .all(|(key, _)| CHANGES.contains(&key.name.as_str())) =>
                {
                    self.change(old, changes);
                }
                (Node::Table(old), Node::Table(own)) => {
                    old_key.place = key.place;
                    self.merge(old, own);
                }
                (Node::Tables(old), Node::Tables(own)) => self.merge_entries(old, own, false),
                (old, node) => {
                    old_key.place = key.place;
                    *old = node;
                }
            }
        }
    }

    /// Changes a list.
    fn change(&mut self, list: &mut Node, changes: Table) {
        for (key, node) in changes.0 {
            match (key.name.as_str(), list.clone(), node) {
                ("replace", _, node) => *list = node,
                ("remove", Node::List(_, mut items), Node::List(_, removed)) => {
                    for Item { place, word } in removed {
                        match items.iter().position(|item| item.word == word) {
                            Some(at) => drop(items.remove(at)),
                            None => {
                                let known = items.iter().map(|item| item.word.clone());
                                self.fault(place, "item", &word, known.collect());
                            }
                        }
                    }
                    *list = Node::List(None, items);
                }
                (name, Node::List(_, items), Node::List(_, more)) => {
                    let (first, last) = match name {
                        "prepend" => (more, items),
                        _ => (items, more),
                    };
                    *list = Node::List(None, [first, last].concat());
                }
                (name @ ("prepend" | "append"), Node::Tables(entries), Node::Tables(more)) => {
                    let (first, last) = match name {
                        "prepend" => (more, entries),
                        _ => (entries, more),
                    };
                    *list = Node::Tables([first, last].concat());
                }
                (name, _, _) => self.faults.push(Fault {
                    place: key.place,
                    message: format!("`{name}` needs a list like the one that it changes"),
                    name: String::new(),
                    known: Vec::new(),
                }),
            }
        }
    }

    /// Changes a list of tables: one with the `id` of another is written over it, one with `before` or `after` is put
    /// there, and any other comes last. In a new list, an `id` is just a name.
    fn merge_entries(&mut self, base: &mut Vec<Entry>, own: Vec<Entry>, is_new: bool) {
        for mut entry in own {
            let ids = |base: &[Entry]| -> Vec<String> {
                let ids = base.iter().map(|entry| self.word(entry.table.get("id")));
                ids.map(|id| id.map(|(id, _)| id).unwrap_or_default())
                    .collect()
            };
            let known = ids(base);
            let [before, after, id] = ["before", "after", "id"].map(|key| {
                let word = self.word(entry.table.get(key));
                if key != "id" {
                    entry.table.take(key);
                }
                word
            });
            let is_before = before.is_some();
            let anchor = before.or(after);
            let Some((name, place)) = anchor.clone().or(id.filter(|_| !is_new)) else {
                base.push(entry);
                continue;
            };
            let Some(at) = known.iter().position(|id| *id == name) else {
                let known = known.into_iter().filter(|id| !id.is_empty());
                self.fault(place, "entry with the id", &name, known.collect());
                continue;
            };
            match anchor {
                None => {
                    base[at].place = entry.place;
                    self.merge(&mut base[at].table, entry.table);
                }
                Some(_) if is_before => base.insert(at, entry),
                Some(_) => {
                    let behind = base[at + 1..]
                        .iter()
                        .take_while(|other| other.behind.as_deref() == Some(name.as_str()));
                    let at = at + 1 + behind.count();
                    entry.behind = Some(name);
                    base.insert(at, entry);
                }
            }
        }
        // A layer above starts a row of its own.
        for entry in base {
            entry.behind = None;
        }
    }

    /// Removes what a list of places names: `commands.skip`, `on.Stop.ID`.
    fn remove(&mut self, chart: &mut Table, places: &Node) {
        let Node::List(_, items) = places else {
            return;
        };
        for Item { place, word } in items {
            let steps: Vec<&str> = word.split('.').collect();
            if let Err(known) = self.removed(chart, &steps) {
                self.fault(place.clone(), "place", word, known);
            }
        }
    }

    /// Removes the value at the end of `steps`; the error has the names that are known where one is unknown.
    fn removed(&self, table: &mut Table, steps: &[&str]) -> Result<(), Vec<String>> {
        let [first, rest @ ..] = steps else {
            return Err(Vec::new());
        };
        let known = table.names();
        if rest.is_empty() {
            return table.take(first).map(drop).ok_or(known);
        }
        match table.get_mut(first) {
            Some(Node::Table(table)) => self.removed(table, rest),
            Some(Node::Tables(entries)) => {
                let id = |entry: &Entry| Some(self.word(entry.table.get("id"))?.0);
                let at = entries
                    .iter()
                    .position(|entry| id(entry).as_deref() == Some(rest[0]));
                match (at, &rest[1..]) {
                    (None, _) => Err(entries.iter().filter_map(id).collect()),
                    (Some(at), []) => {
                        entries.remove(at);
                        Ok(())
                    }
                    (Some(at), rest) => self.removed(&mut entries[at].table, rest),
                }
            }
            _ => Err(known),
        }
    }

    /// Puts what the cycles of `own` copy into them.
    fn copy_cycles(&mut self, base: &Table, own: &mut Table) {
        let Some(Node::Table(cycles)) = own.get_mut("cycles") else {
            return;
        };
        for at in 0..cycles.0.len() {
            let (_, Node::Table(cycle)) = &mut cycles.0[at] else {
                continue;
            };
            let Some((name, place)) = self.word(cycle.take("copy").as_ref()) else {
                continue;
            };
            let of_base = match base.get("cycles") {
                Some(Node::Table(cycles)) => Some(cycles),
                _ => None,
            };
            let copied = of_base.and_then(|cycles| cycles.get(&name));
            let copied = copied.or_else(|| cycles.get(&name)).cloned();
            let own_name = &cycles.0[at].0.name;
            let (Some(Node::Table(mut copy)), false) = (copied, *own_name == name) else {
                let known = [
                    of_base.map(Table::names).unwrap_or_default(),
                    cycles.names(),
                ];
                self.fault(place, "cycle", &name, known.concat());
                continue;
            };
            if let (_, Node::Table(cycle)) = &mut cycles.0[at] {
                self.merge(&mut copy, std::mem::take(cycle));
                *cycle = copy;
            }
        }
    }

    /// Keeps the lets of `base` that those of `own` replace and use, as `base.NAME`: under another name.
    fn redefine(&mut self, base: &mut Table, own: &mut Table) {
        let (Some(Node::Table(lets)), Some(Node::Table(own))) =
            (base.get_mut("let"), own.get_mut("let"))
        else {
            return;
        };
        let replaced = own.names();
        let mut renamed: HashMap<String, String> = HashMap::new();
        for (_, node) in &mut own.0 {
            let Node::Value(pieces) = node else { continue };
            let [(place, None)] = pieces.as_slice() else {
                continue;
            };
            let place = place.clone();
            let raw = &self.layers[place.layer].text[place.span.clone()];
            let mut parts = Vec::new();
            let mut end = 0;
            for (at, name) in base_names(raw) {
                if lets.get(name).is_none() || !replaced.iter().any(|other| other == name) {
                    continue;
                }
                let new = renamed.entry(name.to_owned()).or_insert_with(|| {
                    let mut new = format!("base_{name}");
                    while lets.get(&new).is_some() {
                        new.insert_str(0, "base_");
                    }
                    new
                });
                let within = |range: Range<usize>| Place {
                    layer: place.layer,
                    span: place.span.start + range.start..place.span.start + range.end,
                };
                parts.push((within(end..at.start), None));
                parts.push((within(at.clone()), Some(new.clone())));
                end = at.end;
            }
            if end > 0 {
                let span = place.span.start + end..place.span.end;
                let layer = place.layer;
                parts.push((Place { layer, span }, None));
                *pieces = parts;
            }
        }
        for (key, _) in &mut lets.0 {
            if let Some(new) = renamed.get(&key.name) {
                key.name.clone_from(new);
            }
        }
    }
}

/// Returns the names that follow `base.` in an expression, with the places of both.
fn base_names(raw: &str) -> Vec<(Range<usize>, &str)> {
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
    let starts = raw.match_indices("base.").filter(|(at, _)| {
        let before = raw[..*at].chars().next_back();
        !before.is_some_and(|sign| is_part(sign) || sign == '.')
    });
    let names = starts.map(|(at, start)| {
        let rest = &raw[at + start.len()..];
        let length = rest.find(|sign| !is_part(sign)).unwrap_or(rest.len());
        (at..at + start.len() + length, &rest[..length])
    });
    names.collect()
}

struct Writer<'l> {
    layers: &'l [Layer],
    text: String,
    pieces: Vec<Piece>,
    /// The layer that the last line is from.
    layer: Option<usize>,
}

impl Writer<'_> {
    /// Writes a table without its header: its values, then the tables in it.
    fn table(&mut self, path: &mut Vec<String>, table: &Table) {
        let is_table = |node: &Node| matches!(node, Node::Table(_) | Node::Tables(_));
        for (key, node) in table.0.iter().filter(|(_, node)| !is_table(node)) {
            let last = match node {
                Node::Value(pieces) => pieces.last().map(|(place, _)| place),
                Node::List(place, _) => place.as_ref(),
                _ => None,
            };
            self.start(&key.place);
            self.piece(&quoted(&key.name), &key.place);
            self.text.push_str(" = ");
            self.value(node);
            self.end(last.unwrap_or(&key.place));
        }
        for (key, node) in &table.0 {
            let name = quoted(&key.name);
            match node {
                Node::Table(table) => {
                    let is_needed =
                        table.0.is_empty() || table.0.iter().any(|(_, node)| !is_table(node));
                    if is_needed {
                        self.text.push('\n');
                        self.start(&key.place);
                        self.text.push('[');
                        path.iter()
                            .for_each(|step| self.text.push_str(&format!("{step}.")));
                        self.piece(&name, &key.place);
                        self.text.push(']');
                        self.end(&key.place);
                    }
                    path.push(name);
                    self.table(path, table);
                    path.pop();
                }
                Node::Tables(entries) => {
                    path.push(name);
                    for entry in entries {
                        self.text.push('\n');
                        self.start(&entry.place);
                        self.piece(&format!("[[{}]]", path.join(".")), &entry.place);
                        self.end(&entry.place);
                        self.table(path, &entry.table);
                    }
                    path.pop();
                }
                _ => {}
            }
        }
    }

    fn value(&mut self, node: &Node) {
        match node {
            Node::Value(pieces) => {
                for (place, text) in pieces {
                    let written = &self.layers[place.layer].text[place.span.clone()];
                    self.piece(text.as_deref().unwrap_or(written), place);
                }
            }
            Node::List(Some(place), _) => {
                let written = &self.layers[place.layer].text[place.span.clone()];
                self.piece(written, place);
            }
            Node::List(None, items) => {
                self.text.push('[');
                for (at, Item { place, .. }) in items.iter().enumerate() {
                    self.text.push_str(if at > 0 { ", " } else { "" });
                    let written = &self.layers[place.layer].text[place.span.clone()];
                    self.piece(written, place);
                }
                self.text.push(']');
            }
            Node::Table(_) | Node::Tables(_) => {}
        }
    }

    fn piece(&mut self, text: &str, place: &Place) {
        let start = self.text.len();
        self.text.push_str(text);
        self.pieces.push(Piece {
            at: start..self.text.len(),
            from: place.clone(),
        });
    }

    /// Begins a line. A comment says from which layer it is, unless the last one is from the same.
    fn start(&mut self, place: &Place) {
        let layers = self.layers;
        let Layer { name, text } = &layers[place.layer];
        if self.layer.replace(place.layer) != Some(place.layer) {
            let name: String = name.chars().filter(|sign| !sign.is_control()).collect();
            self.text.push_str(&format!("# {name}\n"));
        }
        let line = text[..place.span.start].rfind('\n').unwrap_or(0);
        let above = text[..line].rfind('\n').map_or(0, |end| end + 1);
        if text[above..line].trim_start().starts_with(IGNORE) {
            self.piece(
                &text[above..line],
                &Place {
                    layer: place.layer,
                    span: above..line,
                },
            );
            self.text.push('\n');
        }
    }

    /// Ends a line, with the comment behind `place` if it says what to ignore.
    fn end(&mut self, place: &Place) {
        let layers = self.layers;
        let text = &layers[place.layer].text;
        let end = text[place.span.end..].find('\n');
        let end = end.map_or(text.len(), |length| place.span.end + length);
        if let Some(at) = text[place.span.end..end].find(IGNORE) {
            self.text.push(' ');
            let span = place.span.end + at..end;
            self.piece(
                text[span.clone()].trim_end(),
                &Place {
                    layer: place.layer,
                    span,
                },
            );
        }
        self.text.push('\n');
    }
}

/// Returns a key as TOML.
fn quoted(name: &str) -> String {
    let is_bare = |sign: char| sign.is_ascii_alphanumeric() || "_-".contains(sign);
    if !name.is_empty() && name.chars().all(is_bare) {
        return name.to_owned();
    }
    let mut text = "\"".to_owned();
    for sign in name.chars() {
        match sign {
            '"' | '\\' => text.extend(['\\', sign]),
            sign if sign.is_control() => text.push_str(&format!("\\u{:04x}", u32::from(sign))),
            sign => text.push(sign),
        }
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = r#"
id = "base"
[cycle]
entry = { count = 0, clean = 0 }
[cycles.code]
subject = ["plan.md", "task.md"]
[[cycles.code.advance]]
id = "last"
target = "end"
[commands.skip]
about = "s"
[[on.Stop]]
id = "waits"
guard = "a"
[[on.Stop]]
id = "limit"
message = """\
  one \
  two"""
[on.Stop.assign]
x = 1
[let]
clean = "x > 1"
other = "y"
[phases.start]
"#;

    fn merged(texts: &[&str]) -> Merged {
        let layers = texts.iter().enumerate();
        let layers: Vec<Layer> = layers
            .map(|(at, text)| Layer {
                name: format!("layer-{at}"),
                text: (*text).to_owned(),
            })
            .collect();
        merge(&layers)
    }

    /// Returns the value at a path, as JSON.
    fn at(merged: &Merged, path: &str) -> String {
        let table: serde_json::Value = toml::from_str(&merged.text).unwrap();
        let value = path.split('.').try_fold(&table, |value, step| {
            let index = step.parse::<usize>();
            index.map_or_else(|_| value.get(step), |index| value.get(index))
        });
        value.map(ToString::to_string).unwrap_or_default()
    }

    /// Each change, a path, and the value there.
    #[test]
    fn a_chart_is_written_over_another() {
        for (own, path, value) in [
            ("id = \"own\"", "id", "\"own\""),
            ("hook_timeout = 9", "hook_timeout", "9"),
            (
                "[cycle]\nentry = { own = 1 }",
                "cycle.entry",
                r#"{"count":0,"clean":0,"own":1}"#,
            ),
            (
                "[cycles.code]\nsubject = [\"x\"]",
                "cycles.code.subject",
                "[\"x\"]",
            ),
            (
                "[cycles.code.subject]\nappend = [\"x\"]\nprepend = [\"y\"]\nremove = [\"plan.md\"]",
                "cycles.code.subject",
                r#"["y","task.md","x"]"#,
            ),
            (
                "[[cycles.code.advance]]\nid = \"last\"\ntarget = \"x\"",
                "cycles.code.advance.0.target",
                "\"x\"",
            ),
            (
                "[cycles.code.advance]\nreplace = [{ target = \"y\" }]",
                "cycles.code.advance.0",
                r#"{"target":"y"}"#,
            ),
            (
                "[cycles.new]\ncopy = \"code\"\nstage = \"S\"",
                "cycles.new.subject.0",
                "\"plan.md\"",
            ),
            (
                "[cycles.new]\ncopy = \"code\"\nstage = \"S\"",
                "cycles.new.stage",
                "\"S\"",
            ),
            (
                "[[on.Stop]]\nid = \"waits\"\nguard = \"b\"",
                "on.Stop.0.guard",
                "\"b\"",
            ),
            (
                "[[on.Stop]]\nbefore = \"waits\"\nguard = \"b\"",
                "on.Stop.0",
                r#"{"guard":"b"}"#,
            ),
            (
                "[[on.Stop]]\nafter = \"waits\"\nid = \"b\"\n[[on.Stop]]\nafter = \"waits\"\nid = \"c\"",
                "on.Stop.2.id",
                "\"c\"",
            ),
            ("[[on.Stop]]\nguard = \"b\"", "on.Stop.2.guard", "\"b\""),
            ("remove = [\"on.Stop.waits\"]", "on.Stop.0.id", "\"limit\""),
            (
                "remove = [\"on.Stop.limit.assign\"]",
                "on.Stop.1.assign",
                "",
            ),
            ("remove = [\"commands.skip\"]", "commands.skip", ""),
            (
                "[let]\nclean = \"base.clean or other\"",
                "let.clean",
                "\"base_clean or other\"",
            ),
            (
                "[let]\nclean = \"base.clean or other\"",
                "let.base_clean",
                "\"x > 1\"",
            ),
            // Only what is replaced is a base.
            (
                "[let]\nclean = \"base.other\"",
                "let.clean",
                "\"base.other\"",
            ),
        ] {
            let merged = merged(&[BASE, own]);
            assert_eq!(merged.faults, [], "{own}");
            assert_eq!(at(&merged, path), value, "{own}\n{}", merged.text);
        }
    }

    #[test]
    fn what_changes_nothing_is_a_fault() {
        for (own, name, known) in [
            ("remove = [\"commands.skpi\"]", "commands.skpi", "skip"),
            ("remove = [\"on.Stop.wait\"]", "on.Stop.wait", "waits"),
            ("[[on.Stop]]\nid = \"wait\"", "wait", "waits"),
            ("[[on.Stop]]\nafter = \"wait\"", "wait", "waits"),
            ("[[on.next]]\nafter = \"wait\"", "wait", ""),
            ("[cycles.new]\ncopy = \"coed\"", "coed", "code"),
            ("[cycles.code.subject]\nremove = [\"x\"]", "x", "plan.md"),
        ] {
            let faults = merged(&[BASE, own]).faults;
            let [fault] = faults.as_slice() else {
                panic!("{own}: {faults:?}");
            };
            assert_eq!((fault.name.as_str(), fault.place.layer), (name, 1), "{own}");
            assert!(
                known.is_empty() || fault.known.iter().any(|other| other == known),
                "{own}: {fault:?}"
            );
            assert_eq!(&own[fault.place.span.clone()], format!("{name:?}"), "{own}");
        }
    }

    #[test]
    fn each_place_leads_back_to_its_file() {
        let own = "[let]\nclean = \"base.clean or zz\"\n[[on.Stop]]\nid = \"waits\" # taskie: ignore[no-final] x\n";
        let merged = merged(&[BASE, own]);
        for (text, layer) in [
            ("two", 0),
            ("x > 1", 0),
            ("zz", 1),
            ("# taskie: ignore[no-final] x", 1),
        ] {
            let start = merged.text.find(text).unwrap();
            let place = merged.origin(&(start..start + text.len())).unwrap();
            assert_eq!(place.layer, layer, "{text}");
            assert_eq!(&[BASE, own][layer][place.span], text);
        }
        // What a chart replaces leads to what replaces it.
        let start = merged.text.find("base_clean or").unwrap();
        let place = merged.origin(&(start..start + 10)).unwrap();
        assert_eq!(&own[place.span], "base.clean");
    }

    /// A part has no order of its own: the fields of a state are written in the order of the chart.
    #[test]
    fn a_chart_orders_its_parts() {
        let part = "[context.model]\ntype = \"string\"\n[let]\na = \"1\"\n";
        let own = "[context.phase]\ntype = \"phase\"\n[phases.start]\n";
        let merged = merged(&[part, own]);
        let table: toml::Table = merged.text.parse().unwrap();
        let fields = table["context"].as_table().unwrap().keys();
        assert_eq!(fields.collect::<Vec<_>>(), ["phase", "model"]);
    }
}
