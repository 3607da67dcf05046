//! A picture for Mermaid, which code hosts and many editors draw.

use super::picture::{Kind, Mark, Picture};

/// Returns the picture as a flowchart.
pub(super) fn write(picture: &Picture) -> String {
    let mut text = String::new();
    let title = picture.caption.as_ref().unwrap_or(&picture.title);
    // Front matter is YAML, in which a JSON string is valid.
    text.push_str(&format!("---\ntitle: {}\n---\n", serde_json::json!(title)));
    text.push_str("flowchart TD\n");
    for (number, node) in picture.nodes.iter().enumerate() {
        let name = [format!("<b>{}</b>", quoted(&node.name))];
        let notes = node.notes.iter().map(|note| quoted(note));
        let label = name
            .into_iter()
            .chain(notes)
            .collect::<Vec<_>>()
            .join("<br/>");
        let (open, close) = match node.kind {
            Kind::Phase => ("(", ")"),
            Kind::Final => ("([", "])"),
            Kind::Cycle => ("[[", "]]"),
        };
        text.push_str(&format!("    n{number}{open}\"{label}\"{close}\n"));
        if node.is_initial {
            text.push_str(&format!("    start(( )) --> n{number}\n"));
        }
    }
    let before = picture.nodes.iter().filter(|node| node.is_initial).count();
    let mut taken = Vec::new();
    for (number, edge) in picture.edges.iter().enumerate() {
        let label = match edge.label.as_str() {
            "" => String::new(),
            label => format!("|\"{}\"|", quoted(label)),
        };
        text.push_str(&format!("    n{} -->{label} n{}\n", edge.from, edge.to));
        if edge.is_taken {
            taken.push((before + number).to_string());
        }
    }
    for (mark, style) in [
        (Mark::Visited, "stroke:#bc4c00,stroke-width:2px"),
        (Mark::Current, "stroke:#bc4c00,stroke-width:4px"),
    ] {
        let nodes = picture.nodes.iter().enumerate();
        for (number, _) in nodes.filter(|(_, node)| node.mark == mark) {
            text.push_str(&format!("    style n{number} {style}\n"));
        }
    }
    if !taken.is_empty() {
        text.push_str(&format!(
            "    linkStyle {} stroke:#bc4c00,stroke-width:3px\n",
            taken.join(",")
        ));
    }
    text
}

/// Returns a text for a label in quotes: characters that could be markup become character codes.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for char in text.chars() {
        match char {
            '"' | '#' | '&' | '<' | '>' | '`' | '\\' => {
                quoted.push_str(&format!("#{};", u32::from(char)));
            }
            other => quoted.push(other),
        }
    }
    quoted
}
