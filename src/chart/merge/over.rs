//! Writes one chart over another: tables, lists, rules, copies of cycles, and lets that build on those below.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::layer::{FaultKind, Layer, LayerFault, LayerPlace};
use super::tree::{Entry, Item, Node, Table};

/// The keys of a table that changes a list.
const CHANGES: [&str; 4] = ["replace", "remove", "prepend", "append"];

impl Table {
    /// Returns whether it changes a list.
    fn is_change(&self) -> bool {
        let is_change = |key: &str| CHANGES.contains(&key);
        self.0.iter().all(|(key, _)| is_change(&key.name))
    }
}

pub(super) struct Merger<'l> {
    layers: &'l [Layer],
    pub(super) faults: Vec<LayerFault>,
}

impl<'l> Merger<'l> {
    pub(super) fn of(layers: &'l [Layer]) -> Self {
        Self { layers, faults: Vec::new() }
    }

    fn fault(&mut self, place: LayerPlace, what: &str, name: &str, known: Vec<String>) {
        self.faults.push(LayerFault {
            kind: FaultKind::Nothing,
            place,
            message: format!("there is no {what} `{name}` to change"),
            help: None,
            name: name.to_owned(),
            known,
        });
    }

    /// Adds a fault that is not about an unknown name.
    fn wrong(
        &mut self,
        kind: FaultKind,
        place: LayerPlace,
        message: String,
        help: Option<&'static str>,
    ) {
        self.faults.push(LayerFault {
            kind,
            place,
            message,
            help,
            name: String::new(),
            known: Vec::new(),
        });
    }

    fn twice(&mut self, id: &str, place: LayerPlace) {
        let message = format!("another entry of this list has the id `{id}`");
        self.wrong(FaultKind::Twice, place, message, Some("rename one of them"));
    }

    /// Adds a fault for each `id` that is twice in one list of a layer, and for each entry with two places.
    pub(super) fn look(&mut self, own: &Table) {
        for (_, node) in &own.0 {
            match node {
                Node::Table(table) => self.look(table),
                Node::Tables(entries) => {
                    let mut ids = HashSet::new();
                    for entry in entries {
                        self.look(&entry.table);
                        let [before, after] = ["before", "after"].map(|key| entry.table.key(key));
                        if let (Some(_), Some(after)) = (before, after) {
                            let message = "`before` and `after` exclude each other".to_owned();
                            let help = Some("remove one of them");
                            self.wrong(FaultKind::Conflict, after.place.clone(), message, help);
                        }
                        let id = entry.table.get("id").and_then(|id| id.word(self.layers));
                        if let Some((id, place)) = id
                            && !ids.insert(id.clone())
                        {
                            self.twice(&id, place);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Writes `own` over `base`.
    pub(super) fn merge(&mut self, base: &mut Table, own: Table) {
        for (key, node) in own.0 {
            let at = base.0.iter().position(|(other, _)| other.name == key.name);
            let Some(at) = at else {
                let node = match node {
                    Node::Table(own) if own.1.is_none() => {
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
                    if changes.is_change() =>
                {
                    self.change(old, changes);
                }
                (Node::Table(old), Node::Table(own)) => {
                    old_key.place = key.place;
                    old.1 = None;
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

    /// Changes the lists that cycles share in `shared`, the `[cycle]` of all layers so far, for those cycles of `own` that
    /// have no list of their own below.
    pub(super) fn change_shared(&mut self, shared: &Table, base: &Table, own: &mut Table) {
        let Some(Node::Table(cycles)) = own.get_mut("cycles") else {
            return;
        };
        for (name, cycle) in &mut cycles.0 {
            let below = match base.get("cycles") {
                Some(Node::Table(cycles)) => cycles.get(&name.name),
                _ => None,
            };
            let Node::Table(cycle) = cycle else { continue };
            for (key, node) in &mut cycle.0 {
                let is_own =
                    matches!(below, Some(Node::Table(below)) if below.key(&key.name).is_some());
                let list = shared.get(&key.name).filter(|_| !is_own);
                if let (Some(list @ (Node::List(..) | Node::Tables(_))), Node::Table(changes)) =
                    (list, &*node)
                    && changes.is_change()
                {
                    let changes = changes.clone();
                    *node = list.clone();
                    self.change(node, changes);
                    cycle.1 = None;
                }
            }
        }
    }

    /// Changes a list.
    fn change(&mut self, list: &mut Node, changes: Table) {
        if let (Some(key), [_, _, ..]) = (changes.key("replace"), changes.0.as_slice()) {
            let message = "`replace` and other changes of a list exclude each other".to_owned();
            let help = Some("write the whole list under `replace`, or remove it");
            self.wrong(FaultKind::Conflict, key.place.clone(), message, help);
        }
        for (key, node) in changes.0 {
            match (key.name.as_str(), list.clone(), node) {
                ("replace", _, node) => *list = node,
                ("remove", Node::Tables(mut entries), Node::List(_, removed)) => {
                    for Item { place, word } in removed {
                        match position(&entries, &word, self.layers) {
                            Some(at) => drop(entries.remove(at)),
                            None => {
                                let known =
                                    entries.iter().filter_map(|entry| entry.id(self.layers));
                                let known = known.collect();
                                self.fault(place, "entry with the id", &word, known);
                            }
                        }
                    }
                    *list = Node::Tables(entries);
                }
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
                    for entry in &more {
                        let id = entry.table.get("id").and_then(|id| id.word(self.layers));
                        if let Some((id, place)) = id
                            && position(&entries, &id, self.layers).is_some()
                        {
                            self.twice(&id, place);
                        }
                    }
                    let (first, last) = match name {
                        "prepend" => (more, entries),
                        _ => (entries, more),
                    };
                    *list = Node::Tables([first, last].concat());
                }
                (name, _, _) => {
                    let message = format!("`{name}` needs a list like the one that it changes");
                    self.wrong(FaultKind::Nothing, key.place, message, None);
                }
            }
        }
    }

    /// Changes a list of tables: one with the `id` of another is written over it, one with `before` or `after` is put
    /// there, and any other comes last. In a new list, an `id` is just a name.
    fn merge_entries(&mut self, base: &mut Vec<Entry>, own: Vec<Entry>, is_new: bool) {
        for mut entry in own {
            let layers = self.layers;
            let word = |node: Option<Node>| node?.word(layers);
            let [before, after] = ["before", "after"].map(|key| word(entry.table.take(key)));
            let id = word(entry.table.get("id").cloned()).filter(|_| !is_new);
            let is_before = before.is_some();
            let anchor = before.or(after);
            let own = id.as_ref().and_then(|(id, _)| position(base, id, layers));
            // One that is put elsewhere keeps what its layer does not change.
            if let (Some(at), Some(_)) = (own, &anchor) {
                let mut moved = base.remove(at);
                moved.place = entry.place;
                self.merge(&mut moved.table, entry.table);
                entry = moved;
            }
            let Some((name, place)) = anchor.clone().or(id) else {
                base.push(entry);
                continue;
            };
            let Some(at) = position(base, &name, layers) else {
                let known = base.iter().filter_map(|entry| entry.id(layers)).collect();
                self.fault(place, "entry with the id", &name, known);
                if let (None, Some(fault)) = (anchor, self.faults.last_mut()) {
                    fault.help = Some("say `before` or `after` to add an entry with an `id`");
                }
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
    pub(super) fn remove(&mut self, chart: &mut Table, places: &Node) {
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
            Some(Node::Table(table)) => {
                table.1 = None;
                self.removed(table, rest)
            }
            Some(Node::Tables(entries)) => {
                let ids = entries.iter().filter_map(|entry| entry.id(self.layers));
                match (position(entries, rest[0], self.layers), &rest[1..]) {
                    (None, _) => Err(ids.collect()),
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
    pub(super) fn copy_cycles(&mut self, base: &Table, own: &mut Table) {
        let Some(Node::Table(cycles)) = own.get_mut("cycles") else {
            return;
        };
        for at in 0..cycles.0.len() {
            let (_, Node::Table(cycle)) = &mut cycles.0[at] else {
                continue;
            };
            let Some((name, place)) = cycle.take("copy").and_then(|name| name.word(self.layers))
            else {
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
                let known = [of_base.map(Table::names).unwrap_or_default(), cycles.names()];
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
    pub(super) fn redefine(&mut self, base: &mut Table, own: &mut Table) {
        let (Some(Node::Table(lets)), Some(Node::Table(own))) =
            (base.get_mut("let"), own.get_mut("let"))
        else {
            return;
        };
        lets.1 = None;
        own.1 = None;
        let replaced = own.names();
        let layers = self.layers;
        let is_written = |name: &str| layers.iter().any(|layer| layer.text.contains(name));
        let mut renamed: HashMap<String, String> = HashMap::new();
        for (_, node) in &mut own.0 {
            let Node::Value(pieces) = node else { continue };
            let [(place, None)] = pieces.as_slice() else {
                continue;
            };
            let place = place.clone();
            let within = |range: Range<usize>| LayerPlace {
                layer: place.layer,
                span: place.span.start + range.start..place.span.start + range.end,
            };
            let raw = &self.layers[place.layer].text[place.span.clone()];
            let mut parts = Vec::new();
            let mut end = 0;
            for (at, name) in base_names(raw) {
                let new = if lets.get(name).is_none() {
                    self.fault(within(at), "let", name, lets.names());
                    continue;
                } else if replaced.iter().any(|other| other == name) {
                    let new = renamed.entry(name.to_owned()).or_insert_with(|| {
                        let mut new = format!("base_{name}");
                        // Not a name that any layer has: it would be one with this let.
                        let has = |name: &str| lets.get(name).is_some() || is_written(name);
                        while has(&new) {
                            new.insert_str(0, "base_");
                        }
                        new
                    });
                    new.clone()
                } else {
                    name.to_owned()
                };
                parts.push((within(end..at.start), None));
                parts.push((within(at.clone()), Some(new)));
                end = at.end;
            }
            if end > 0 {
                parts.push((within(end..raw.len()), None));
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

/// Returns where the table with that `id` is in a list.
fn position(entries: &[Entry], id: &str, layers: &[Layer]) -> Option<usize> {
    let mut entries = entries.iter();
    entries.position(|entry| entry.id(layers).as_deref() == Some(id))
}
