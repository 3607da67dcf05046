//! A picture for Graphviz.

use super::picture::{Kind, Mark, Picture};

/// Returns the picture as a directed graph.
pub(super) fn write(picture: &Picture) -> String {
    let mut text = format!("digraph {} {{\n", quoted(&picture.title));
    text.push_str(
        "    rankdir=TB\n    node [shape=box fontname=monospace]\n    edge [fontname=monospace]\n",
    );
    if let Some(caption) = &picture.caption {
        text.push_str(&format!("    label={}\n    labelloc=t\n", quoted(caption)));
    }
    for (number, node) in picture.nodes.iter().enumerate() {
        let lines: Vec<&str> = std::iter::once(&node.name)
            .chain(&node.notes)
            .map(String::as_str)
            .collect();
        let kind = match node.kind {
            Kind::Phase => "style=rounded",
            Kind::Final => "style=rounded peripheries=2",
            Kind::Cycle => "shape=box3d",
        };
        let mark = match node.mark {
            Mark::None => "",
            Mark::Visited => " color=\"#bc4c00\"",
            Mark::Current => " color=\"#bc4c00\" penwidth=3",
        };
        let label = quoted(&lines.join("\n"));
        text.push_str(&format!("    n{number} [label={label} {kind}{mark}]\n"));
        if node.is_initial {
            text.push_str(&format!(
                "    start [shape=point]\n    start -> n{number}\n"
            ));
        }
    }
    for edge in &picture.edges {
        let mark = match edge.is_taken {
            true => " color=\"#bc4c00\" penwidth=3",
            false => "",
        };
        let (from, to, label) = (edge.from, edge.to, quoted(&edge.label));
        text.push_str(&format!("    n{from} -> n{to} [label={label}{mark}]\n"));
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('\n', "\\n"))
}
