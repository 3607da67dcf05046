//! Makes TOML of a merged chart, and remembers where each piece of it is written.

use super::layer::{IGNORE, Layer, LayerPlace, Piece};
use super::tree::{Item, Node, Table};

pub(super) struct Writer<'l> {
    layers: &'l [Layer],
    text: String,
    pieces: Vec<Piece>,
    /// The layer that the last line is from.
    layer: Option<usize>,
}

impl<'l> Writer<'l> {
    pub(super) fn of(layers: &'l [Layer]) -> Self {
        Self { layers, text: String::new(), pieces: Vec::new(), layer: None }
    }

    /// Returns the text of a chart, and its pieces.
    pub(super) fn chart(mut self, chart: &Table) -> (String, Vec<Piece>) {
        self.table(&mut Vec::new(), chart);
        (self.text, self.pieces)
    }

    /// Writes a table without its header: its values, then the tables in it.
    fn table(&mut self, path: &mut Vec<(String, LayerPlace)>, table: &Table) {
        let is_table = |node: &Node| match node {
            Node::Table(table) => table.1.is_none(),
            node => matches!(node, Node::Tables(_)),
        };
        for (key, node) in table.0.iter().filter(|(_, node)| !is_table(node)) {
            let last = match node {
                Node::Value(pieces) => pieces.last().map(|(place, _)| place),
                Node::List(place, _) | Node::Table(Table(_, place)) => place.as_ref(),
                Node::Tables(_) => None,
            };
            self.start(&key.place);
            self.piece(&quoted(&key.name), &key.place);
            self.text.push_str(" = ");
            self.value(node);
            self.end(last.unwrap_or(&key.place));
        }
        for (key, node) in table.0.iter().filter(|(_, node)| is_table(node)) {
            path.push((quoted(&key.name), key.place.clone()));
            match node {
                Node::Table(table) => {
                    let is_needed =
                        table.0.is_empty() || table.0.iter().any(|(_, node)| !is_table(node));
                    if is_needed {
                        self.text.push('\n');
                        self.start(&key.place);
                        for (at, (step, place)) in path.iter().enumerate() {
                            self.text.push(if at == 0 { '[' } else { '.' });
                            self.piece(step, place);
                        }
                        self.text.push(']');
                        self.end(&key.place);
                    }
                    self.table(path, table);
                }
                Node::Tables(entries) => {
                    let steps: Vec<&str> = path.iter().map(|(step, _)| step.as_str()).collect();
                    let header = format!("[[{}]]", steps.join("."));
                    for entry in entries {
                        self.text.push('\n');
                        self.start(&entry.place);
                        self.piece(&header, &entry.place);
                        self.end(&entry.place);
                        self.table(path, &entry.table);
                    }
                }
                _ => {}
            }
            path.pop();
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
            Node::List(Some(place), _) | Node::Table(Table(_, Some(place))) => {
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

    fn piece(&mut self, text: &str, place: &LayerPlace) {
        let start = self.text.len();
        self.text.push_str(text);
        self.pieces.push(Piece { at: start..self.text.len(), from: place.clone() });
    }

    /// Begins a line. A comment says from which layer it is, unless the last one is from the same.
    fn start(&mut self, place: &LayerPlace) {
        let layers = self.layers;
        let Layer { name, text } = &layers[place.layer];
        if self.layer.replace(place.layer) != Some(place.layer) {
            let name: String = name.chars().filter(|sign| !sign.is_control()).collect();
            self.text.push_str(&format!("# {name}\n"));
        }
        let line = text[..place.span.start].rfind('\n').unwrap_or(0);
        let above = text[..line].rfind('\n').map_or(0, |end| end + 1);
        if text[above..line].trim_start().starts_with(IGNORE) {
            self.piece(&text[above..line], &LayerPlace { layer: place.layer, span: above..line });
            self.text.push('\n');
        }
    }

    /// Ends a line, with the comment behind `place` if it says what to ignore.
    fn end(&mut self, place: &LayerPlace) {
        let layers = self.layers;
        let text = &layers[place.layer].text;
        let end = text[place.span.end..].find('\n');
        let end = end.map_or(text.len(), |length| place.span.end + length);
        if let Some(at) = text[place.span.end..end].find(IGNORE) {
            self.text.push(' ');
            let span = place.span.end + at..end;
            self.piece(text[span.clone()].trim_end(), &LayerPlace { layer: place.layer, span });
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
