//! `taskie chart draw`: a chart as a picture.
//!
//! [`picture`] turns a chart into nodes and edges. [`mermaid`] writes them. All of it is pure.

pub(crate) mod picture;

use picture::{Kind, Picture};

/// Returns a flowchart for Mermaid, which code hosts and many editors draw.
pub(crate) fn mermaid(picture: &Picture) -> String {
    // Front matter is YAML, in which a JSON string is valid.
    let title = serde_json::json!(picture.title);
    let mut lines = vec![format!("---\ntitle: {title}\n---\nflowchart TD")];
    for (number, node) in picture.nodes.iter().enumerate() {
        let (open, close) = match node.kind {
            Kind::Phase => ("(", ")"),
            Kind::Final => ("([", "])"),
            Kind::Cycle => ("[[", "]]"),
        };
        let notes = node.notes.iter().map(|note| format!("<br/>{}", in_label(note)));
        let text = format!("<b>{}</b>{}", in_label(&node.name), notes.collect::<String>());
        lines.push(format!("    n{number}{open}\"{text}\"{close}"));
        if node.is_initial {
            lines.push(format!("    start(( )) --> n{number}"));
        }
    }
    for edge in &picture.edges {
        let label = match edge.label.as_str() {
            "" => String::new(),
            label => format!("|\"{}\"|", in_label(label)),
        };
        lines.push(format!("    n{} -->{label} n{}", edge.from, edge.to));
    }
    lines.join("\n")
}

/// Returns a text for a label of Mermaid: characters that could be markup become character codes.
fn in_label(text: &str) -> String {
    let code = |sign: char| match sign {
        '"' | '#' | '&' | '<' | '>' | '`' | '\\' => format!("#{};", u32::from(sign)),
        other => other.to_string(),
    };
    text.chars().map(code).collect()
}

#[cfg(test)]
mod tests;
