//! A picture as a web page: the drawing, and a description in words. The page loads nothing else.

use super::picture::{Kind, Mark, Picture};
use super::svg::{self, escaped};

const STYLE: &str = "\
:root { color-scheme: light dark; --text: #1f2328; --muted: #59636e; --ground: #ffffff; --line: #d1d9e0 }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --muted: #9198a1; --ground: #0d1117; --line: #3d444d } }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; color: var(--text); background: var(--ground); \
font: 1rem/1.5 system-ui, sans-serif }
.picture { overflow-x: auto }
.picture svg { max-width: 100%; min-width: 22rem; height: auto }
table { border-collapse: collapse; width: 100% }
th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
th { font-weight: 600 }
.notes { color: var(--muted) }
ul { margin: 0; padding-left: 1.2rem }
";

/// Returns the picture as a page.
pub(super) fn write(picture: &Picture) -> String {
    let title = escaped(&picture.title);
    let caption = picture.caption.as_deref().map(escaped).unwrap_or_default();
    let rows: String = (0..picture.nodes.len())
        .map(|node| row(picture, node))
        .collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<p>{caption}</p>\n\
         <div class=\"picture\" tabindex=\"0\" role=\"region\" aria-label=\"The chart\">\n{}</div>\n\
         <h2>In words</h2>\n<table>\n<thead><tr><th>Phase or cycle</th><th>What comes next</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n</body>\n</html>\n",
        svg::write(picture, false)
    )
}

fn row(picture: &Picture, number: usize) -> String {
    let node = &picture.nodes[number];
    let kind = match (node.kind, node.is_initial) {
        (Kind::Phase, true) => "first phase",
        (Kind::Phase, false) => "phase",
        (Kind::Final, _) => "final phase",
        (Kind::Cycle, _) => "review cycle",
    };
    let mark = match node.mark {
        Mark::None => "",
        Mark::Visited => ", visited",
        Mark::Current => ", current",
    };
    let notes = node
        .notes
        .iter()
        .map(|note| format!("<br>{}", escaped(note)));
    let edges = picture.edges_from(number).map(|(_, edge)| {
        let taken = if edge.is_taken { " (taken)" } else { "" };
        let label = svg::row(picture, edge);
        format!(
            "<li>{}{taken}</li>",
            escaped(label.trim_start_matches("→ "))
        )
    });
    format!(
        "<tr><td><strong>{}</strong> ({kind}{mark})<span class=\"notes\">{}</span></td><td><ul>{}</ul></td></tr>\n",
        escaped(&node.name),
        notes.collect::<String>(),
        edges.collect::<String>()
    )
}
