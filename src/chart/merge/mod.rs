//! Merges charts: one is written over others (`extends`), and a cycle copies another (`copy`).
//!
//! What is merged is values, and what all cycles and processes share is written into each of them. Each keeps its place in the texts of all layers, one after the other ([`layered`]), and so leads
//! back to the file in which it is written. `build.rs` includes this module: the charts that are compiled in are merged when
//! taskie is built.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

type Value<'t> = Spanned<DeValue<'t>>;

/// What kind of fault a layer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// It changes something that is not there.
    Nothing,
    /// Two entries of a list have the same `id`.
    Twice,
}

/// What is wrong with a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub kind: FaultKind,
    pub span: Range<usize>,
    pub message: String,
    /// What to do, unless a known name is like the unknown one.
    pub help: Option<&'static str>,
    /// The name that is unknown, and those that are known.
    pub name: String,
    pub known: Vec<String>,
}

/// Returns the charts that a chart extends, in order, each with its place.
pub fn extended(text: &str) -> Vec<(String, Range<usize>)> {
    let (table, _) = DeTable::parse_recoverable(text);
    let list = table.get_ref().get("extends");
    let items = list.and_then(|list| list.get_ref().as_array());
    let items = items.into_iter().flat_map(|items| items.iter());
    items.filter_map(word).collect()
}

/// Returns whether a chart is extended by its path, and not by the name of one that is compiled in.
pub fn is_file(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

/// Returns the texts of layers, each after as much white space as those before it take: so each place in one of them is a place in
/// all texts, one after the other.
pub fn layered<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut start = 0;
    let layer = |text| {
        let layer = format!("{:start$}{text}\n", "");
        start = layer.len();
        layer
    };
    texts.into_iter().map(layer).collect()
}

/// Merges layers, each over those before it, and returns what is wrong with them, too. A layer whose syntax is broken counts as
/// far as it can be read.
pub fn merge(layers: &[String]) -> (DeTable<'_>, Vec<Fault>) {
    let mut merger = Merger { layers, faults: Vec::new() };
    let mut chart = DeTable::new();
    for layer in layers {
        let mut own = DeTable::parse_recoverable(layer).0.into_inner();
        chart.remove("extends");
        // Templates are looked up in the folders of each layer.
        chart.remove("templates");
        if let Some(places) = own.remove("remove") {
            merger.remove_all(&mut chart, &places);
        }
        merger.copy_cycles(&chart, &mut own);
        merger.redefine(&mut chart, &mut own);
        chart = merger.tables(chart, own, |key| match key {
            "on" | "checks" => 1,
            "properties" => 0,
            _ => NEVER,
        });
    }
    for (shared, all) in [("cycle", "cycles"), ("reviewer", "reviewers")] {
        let (Some(shared), Some(all)) = (chart.remove(shared), table_mut(&mut chart, all)) else {
            continue;
        };
        let each = std::mem::take(all).into_iter();
        all.extend(each.map(|(key, own)| (key, merger.value(Some(shared.clone()), own, NEVER))));
    }
    (chart, merger.faults)
}

/// How many tables further down lists of entries with an `id` are: not at all.
const NEVER: usize = usize::MAX;

struct Merger<'l> {
    layers: &'l [String],
    faults: Vec<Fault>,
}

impl<'l> Merger<'l> {
    fn fault(&mut self, kind: FaultKind, span: Range<usize>, message: &str) -> &mut Fault {
        self.faults.push(Fault {
            kind,
            span,
            message: message.to_owned(),
            help: None,
            name: String::new(),
            known: Vec::new(),
        });
        let last = self.faults.len() - 1;
        &mut self.faults[last]
    }

    fn nothing(&mut self, span: Range<usize>, what: &str, name: &str, known: Vec<String>) {
        let message = format!("there is no {what} `{name}` to change");
        let fault = self.fault(FaultKind::Nothing, span, &message);
        (fault.name, fault.known) = (name.to_owned(), known);
    }

    /// Returns `own` written over `base`. `depth` says how many tables below the value of a key lists of entries are.
    fn tables(
        &mut self,
        base: DeTable<'l>,
        mut own: DeTable<'l>,
        depth: impl Fn(&str) -> usize,
    ) -> DeTable<'l> {
        let mut merged = DeTable::new();
        for (key, below) in base {
            match own.remove_entry(key.get_ref().as_ref()) {
                None => _ = merged.insert(key, below),
                Some((key, value)) => {
                    let value = self.value(Some(below), value, depth(key.get_ref()));
                    merged.insert(key, value);
                }
            }
        }
        for (key, value) in own {
            let value = self.value(None, value, depth(key.get_ref()));
            merged.insert(key, value);
        }
        merged
    }

    fn value(&mut self, base: Option<Value<'l>>, own: Value<'l>, depth: usize) -> Value<'l> {
        let span = own.span();
        let merged = match (base.map(Spanned::into_inner), own.into_inner()) {
            (base, DeValue::Table(own)) => {
                let base = match base {
                    Some(DeValue::Table(base)) => base,
                    _ => DeTable::new(),
                };
                DeValue::Table(self.tables(base, own, |_| depth.wrapping_sub(1)))
            }
            (base, DeValue::Array(own)) if depth == 0 => {
                let base = match base {
                    Some(DeValue::Array(base)) => base.into_iter().collect(),
                    _ => Vec::new(),
                };
                DeValue::Array(self.entries(base, own).into_iter().collect())
            }
            (_, own) => own,
        };
        Spanned::new(span, merged)
    }

    /// Returns a changed list of entries: one with the `id` of another is written over it, one with `before` is put there, and any other comes last. In a new list, an `id` is just a name.
    fn entries(&mut self, mut list: Vec<Value<'l>>, own: DeArray<'l>) -> Vec<Value<'l>> {
        let is_new = list.is_empty();
        let mut ids = HashSet::new();
        for mut entry in own {
            let DeValue::Table(table) = entry.get_mut() else {
                list.push(entry);
                continue;
            };
            let id = table.get("id").and_then(word);
            let before = table.remove("before");
            if let Some((id, span)) = id.clone().filter(|(id, _)| !ids.insert(id.clone())) {
                let message = format!("another entry of this list has the id `{id}`");
                self.fault(FaultKind::Twice, span, &message).help = Some("rename one of them");
            }
            let anchor = before.as_ref().and_then(word);
            let changed = id.clone().filter(|_| !is_new);
            let at = changed.as_ref().and_then(|(id, _)| position(&list, id));
            // One that is put elsewhere keeps what its layer does not change.
            if let Some(at) = at {
                let below = list.remove(at);
                entry = self.value(Some(below), entry, NEVER);
            }
            let known = || list.iter().filter_map(id_of).collect();
            let place = match (&anchor, at) {
                (None, Some(at)) => Some(at),
                (None, None) => match changed {
                    None => Some(list.len()),
                    Some((id, span)) => {
                        self.nothing(span, "entry with the id", &id, known());
                        let help =
                            "to add an entry with an `id`, say `before`; one without comes last";
                        if let Some(fault) = self.faults.last_mut() {
                            fault.help = Some(help);
                        }
                        None
                    }
                },
                (Some((name, span)), _) => {
                    let at = position(&list, name);
                    if at.is_none() {
                        self.nothing(span.clone(), "entry with the id", name, known());
                    }
                    at
                }
            };
            if let Some(at) = place {
                list.insert(at.min(list.len()), entry);
            }
        }
        list
    }

    /// Removes what a list of places names: `commands.skip`, `on.Stop.ID`.
    fn remove_all(&mut self, chart: &mut DeTable<'l>, places: &Value<'l>) {
        let places = places.get_ref().as_array().into_iter().flatten();
        for (place, span) in places.filter_map(word) {
            let steps: Vec<&str> = place.split('.').collect();
            if let Err(known) = removed(chart, &steps) {
                self.nothing(span, "place", &place, known);
            }
        }
    }

    /// Puts what the cycles of `own` copy into them.
    fn copy_cycles(&mut self, base: &DeTable<'l>, own: &mut DeTable<'l>) {
        let Some(cycles) = table_mut(own, "cycles") else { return };
        for name in names(cycles) {
            let copy = table_mut(cycles, &name).and_then(|cycle| cycle.remove("copy"));
            let Some((copied, span)) = copy.as_ref().and_then(word) else { continue };
            let below = table(base, "cycles");
            let known = || below.into_iter().flat_map(names).chain(names(cycles));
            let found = below.and_then(|below| below.get(copied.as_str()));
            let found = found.or_else(|| cycles.get(copied.as_str())).filter(|_| copied != name);
            let Some(found) = found.cloned() else {
                let known = known().collect();
                self.nothing(span, "cycle", &copied, known);
                continue;
            };
            if let Some((key, cycle)) = cycles.remove_entry(name.as_str()) {
                let cycle = self.value(Some(found), cycle, NEVER);
                cycles.insert(key, cycle);
            }
        }
    }

    /// Keeps the lets of `base` that those of `own` replace and use, as `base.NAME`: under another name.
    fn redefine(&mut self, base: &mut DeTable<'l>, own: &mut DeTable<'l>) {
        let (Some(below), Some(own)) = (table_mut(base, "let"), table_mut(own, "let")) else {
            return;
        };
        let replaced = names(own);
        let mut renamed: BTreeMap<String, String> = BTreeMap::new();
        for (_, value) in &mut *own {
            let span = value.span();
            let DeValue::String(expr) = value.get_mut() else { continue };
            let (mut text, mut end) = (String::new(), 0);
            for (at, name) in base_names(expr) {
                if !below.contains_key(name) {
                    let raw = self
                        .layers
                        .last()
                        .map_or("", |layer| layer.get(span.clone()).unwrap_or_default());
                    let start = span.start + raw.find(&expr[at.clone()]).unwrap_or_default();
                    self.nothing(start..start + at.len(), "let", name, names(below));
                    continue;
                }
                text += &expr[end..at.start];
                text += match replaced.iter().any(|other| other == name) {
                    false => name,
                    true => renamed.entry(name.to_owned()).or_insert_with(|| {
                        let mut new = format!("base_{name}");
                        // Not a name that any layer has: it would be one with this let.
                        let is_taken = |new: &str| {
                            below.contains_key(new)
                                || self.layers.iter().any(|layer| layer.contains(new))
                        };
                        while is_taken(&new) {
                            new.insert_str(0, "base_");
                        }
                        new
                    }),
                };
                end = at.end;
            }
            if end > 0 {
                text += &expr[end..];
                *expr = text.into();
            }
        }
        for (name, new) in renamed {
            if let Some((key, value)) = below.remove_entry(name.as_str()) {
                below.insert(Spanned::new(key.span(), new.into()), value);
            }
        }
    }
}

fn word(value: &Value<'_>) -> Option<(String, Range<usize>)> {
    Some((value.get_ref().as_str()?.to_owned(), value.span()))
}

fn table<'a, 't>(chart: &'a DeTable<'t>, key: &str) -> Option<&'a DeTable<'t>> {
    chart.get(key)?.get_ref().as_table()
}

fn table_mut<'a, 't>(chart: &'a mut DeTable<'t>, key: &str) -> Option<&'a mut DeTable<'t>> {
    match chart.get_mut(key)?.get_mut() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

fn names(table: &DeTable<'_>) -> Vec<String> {
    table.keys().map(|key| key.get_ref().to_string()).collect()
}

fn id_of(entry: &Value<'_>) -> Option<String> {
    Some(word(entry.get_ref().get("id")?)?.0)
}

/// Returns where the entry with that `id` is in a list.
fn position(list: &[Value<'_>], id: &str) -> Option<usize> {
    list.iter().position(|entry| id_of(entry).as_deref() == Some(id))
}

/// Removes the value at the end of `steps`; the error has the names that are known where one is unknown.
fn removed(table: &mut DeTable<'_>, steps: &[&str]) -> Result<(), Vec<String>> {
    let [first, rest @ ..] = steps else { return Err(Vec::new()) };
    let known = names(table);
    if rest.is_empty() {
        return table.remove(*first).map(drop).ok_or(known);
    }
    match table.get_mut(*first).map(Spanned::get_mut) {
        Some(DeValue::Table(table)) => removed(table, rest),
        Some(DeValue::Array(list)) => {
            let at = position(list, rest[0]);
            let at = at.ok_or_else(|| list.iter().filter_map(id_of).collect::<Vec<_>>())?;
            match (&rest[1..], list.as_mut()[at].get_mut()) {
                ([], _) => {
                    let all = std::mem::replace(list, DeArray::new()).into_iter().enumerate();
                    *list = all.filter(|(index, _)| *index != at).map(|(_, it)| it).collect();
                    Ok(())
                }
                (rest, DeValue::Table(entry)) => removed(entry, rest),
                _ => Err(Vec::new()),
            }
        }
        _ => Err(known),
    }
}

/// Returns the names that follow `base.` in an expression, with the places of both. What is in quotes is text.
fn base_names(expr: &str) -> Vec<(Range<usize>, &str)> {
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
    let starts = expr.match_indices("base.").filter(|(at, _)| {
        let mut quote = None;
        for sign in expr[..*at].chars().filter(|sign| "'\"".contains(*sign)) {
            quote = match quote {
                None => Some(sign),
                Some(open) => Some(open).filter(|open| *open != sign),
            };
        }
        let before = expr[..*at].chars().next_back();
        quote.is_none() && !before.is_some_and(|sign| is_part(sign) || sign == '.')
    });
    let names = starts.map(|(at, start)| {
        let rest = &expr[at + start.len()..];
        let length = rest.find(|sign| !is_part(sign)).unwrap_or(rest.len());
        (at..at + start.len() + length, &rest[..length])
    });
    names.collect()
}

#[cfg(test)]
mod tests;
