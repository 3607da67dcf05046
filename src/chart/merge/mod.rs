//! Merges charts: one is written over others (`extends`).
//!
//! What is merged is values, and what all cycles and reviewers share is written into each of them. Each keeps its place in the
//! texts of all layers, one after the other ([`layered`]), and so leads back to the file in which it is written. `build.rs`
//! includes this module: the charts that are compiled in are merged when taskie is built.

use std::collections::HashSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

type Value<'t> = Spanned<DeValue<'t>>;

/// What is wrong with a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub span: Range<usize>,
    pub message: String,
    /// If it changes something that is not there: its name, and those that are known.
    pub unknown: Option<(String, Vec<String>)>,
    /// What to do, unless a known name is like the unknown one.
    pub help: Option<&'static str>,
}

impl Fault {
    fn unknown(what: &str, (name, span): (String, Range<usize>), known: Vec<String>) -> Self {
        let message = format!("there is no {what} `{name}` to change");
        Self { span, message, unknown: Some((name, known)), help: None }
    }
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
    let mut faults = Vec::new();
    let mut chart = DeTable::new();
    for layer in layers {
        let mut own = DeTable::parse_recoverable(layer).0.into_inner();
        chart.remove("extends");
        // Templates are looked up in the folders of each layer.
        chart.remove("templates");
        if let Some(places) = own.remove("remove") {
            remove_all(&mut chart, &places, &mut faults);
        }
        chart = tables(chart, own, &mut |key, below, own| match key {
            "on" | "checks" => {
                values(below, own, &mut |_, below, own| entries(below, own, &mut faults))
            }
            "properties" => entries(below, own, &mut faults),
            _ => over(below, own),
        });
    }
    for (shared, all) in [("cycle", "cycles"), ("reviewer", "reviewers")] {
        let shared = chart.remove(shared);
        if let (Some(shared), Some(DeValue::Table(all))) =
            (shared, chart.get_mut(all).map(Spanned::get_mut))
        {
            let each = std::mem::take(all).into_iter();
            all.extend(each.map(|(key, own)| (key, over(Some(shared.clone()), own))));
        }
    }
    (chart, faults)
}

/// Merges the value of a key, and what is below it.
type Merge<'m, 'l> = dyn FnMut(&str, Option<Value<'l>>, Value<'l>) -> Value<'l> + 'm;

/// Returns `own` written over what is below it, key by key.
fn tables<'l>(below: DeTable<'l>, mut own: DeTable<'l>, merge: &mut Merge<'_, 'l>) -> DeTable<'l> {
    let mut merged = DeTable::new();
    for (key, below) in below {
        match own.remove_entry(key.get_ref().as_ref()) {
            None => _ = merged.insert(key, below),
            Some((key, value)) => {
                let value = merge(key.get_ref(), Some(below), value);
                merged.insert(key, value);
            }
        }
    }
    for (key, value) in own {
        let value = merge(key.get_ref(), None, value);
        merged.insert(key, value);
    }
    merged
}

/// Returns the same of two values. What is no table is written over as a whole.
fn values<'l>(below: Option<Value<'l>>, own: Value<'l>, merge: &mut Merge<'_, 'l>) -> Value<'l> {
    let span = own.span();
    let merged = match (below.map(Spanned::into_inner), own.into_inner()) {
        (Some(DeValue::Table(below)), DeValue::Table(own)) => {
            DeValue::Table(tables(below, own, merge))
        }
        (_, DeValue::Table(own)) => DeValue::Table(tables(DeTable::new(), own, merge)),
        (_, own) => own,
    };
    Spanned::new(span, merged)
}

/// Returns a value written over another one: tables deeply, lists as a whole.
fn over<'l>(below: Option<Value<'l>>, own: Value<'l>) -> Value<'l> {
    values(below, own, &mut |_, below, own| over(below, own))
}

/// Returns a changed list of entries: one with the `id` of another is written over it, one with `before` is put there, and any
/// other comes last. In a new list, an `id` is just a name.
fn entries<'l>(below: Option<Value<'l>>, own: Value<'l>, faults: &mut Vec<Fault>) -> Value<'l> {
    let span = own.span();
    let own = match own.into_inner() {
        DeValue::Array(own) => own,
        other => return Spanned::new(span, other),
    };
    let mut list: Vec<Value<'l>> = match below.map(Spanned::into_inner) {
        Some(DeValue::Array(below)) => below.into_iter().collect(),
        _ => Vec::new(),
    };
    let is_new = list.is_empty();
    let mut ids = HashSet::new();
    for mut entry in own {
        let id = entry.get_ref().get("id").and_then(word);
        let before = match entry.get_mut() {
            DeValue::Table(table) => table.remove("before"),
            _ => None,
        };
        let before = before.as_ref().and_then(word);
        if let Some((id, span)) = id.clone().filter(|(id, _)| !ids.insert(id.clone())) {
            let message = format!("another entry of this list has the id `{id}`");
            let help = Some("rename one of them");
            faults.push(Fault { span, message, unknown: None, help });
        }
        let changed = id.filter(|_| !is_new);
        let at = changed.as_ref().and_then(|(id, _)| position(&list, id));
        // One that is put elsewhere keeps what its layer does not change.
        if let Some(at) = at {
            entry = over(Some(list.remove(at)), entry);
        }
        let ids_of = |list: &[Value<'_>]| list.iter().filter_map(id_of).collect();
        match (before, at, changed) {
            (Some(before), ..) => match position(&list, &before.0) {
                Some(at) => list.insert(at, entry),
                None => faults.push(Fault::unknown("entry with the id", before, ids_of(&list))),
            },
            (None, Some(at), _) => list.insert(at, entry),
            (None, None, None) => list.push(entry),
            (None, None, Some(id)) => {
                let help = "to add an entry with an `id`, say `before`; one without comes last";
                let fault = Fault::unknown("entry with the id", id, ids_of(&list));
                faults.push(Fault { help: Some(help), ..fault });
            }
        }
    }
    Spanned::new(span, DeValue::Array(list.into_iter().collect()))
}

/// Removes what a list of places names: `commands.skip`, `on.Stop.ID`.
fn remove_all(chart: &mut DeTable<'_>, places: &Value<'_>, faults: &mut Vec<Fault>) {
    let places = places.get_ref().as_array().into_iter().flatten();
    for (place, span) in places.filter_map(word) {
        let steps: Vec<&str> = place.split('.').collect();
        if let Err(known) = removed(chart, &steps) {
            faults.push(Fault::unknown("place", (place, span), known));
        }
    }
}

fn word(value: &Value<'_>) -> Option<(String, Range<usize>)> {
    Some((value.get_ref().as_str()?.to_owned(), value.span()))
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
    let known: Vec<String> = table.keys().map(|key| key.get_ref().to_string()).collect();
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

#[cfg(test)]
mod tests;
