//! `taskie diagram`: a chart as a picture.
//!
//! [`picture`] turns a chart into nodes and edges, and marks the path that an instance took. [`svg`] draws them; the
//! other formats, which other programs draw, are templates next to this file. All of it is pure.

pub(crate) mod picture;
mod svg;

use serde::Serialize;

use crate::expr::markup::fill;
use crate::text::markup;
use picture::Picture;

/// A format for pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Mermaid,
    Svg,
    Html,
}

impl Format {
    /// The formats with their names, which are the values of `--format`, and with file extensions.
    pub(crate) const ALL: [(&'static str, &'static str, Self); 3] = [
        ("mermaid", "mmd", Self::Mermaid),
        ("svg", "svg", Self::Svg),
        ("html", "html", Self::Html),
    ];

    /// Returns the format of that name, which may also be a file extension.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let mut formats = Self::ALL.into_iter();
        let format = formats.find(|(own, extension, _)| [*own, *extension].contains(&name));
        format.map(|(.., format)| format)
    }

    /// Returns the picture in this format, with a line break at the end.
    pub(crate) fn write(self, picture: &Picture) -> String {
        match self {
            Self::Mermaid => mermaid(picture),
            Self::Svg => svg::write(picture, true),
            Self::Html => {
                #[derive(Serialize)]
                struct Values<'p> {
                    #[serde(flatten)]
                    picture: &'p Picture,
                    svg: String,
                }
                let svg = svg::write(picture, false);
                fill(include_str!("page.html"), Values { picture, svg }, markup)
            }
        }
    }
}

/// Returns a flowchart for Mermaid, which code hosts and many editors draw.
fn mermaid(picture: &Picture) -> String {
    #[derive(Serialize)]
    struct Values<'p> {
        #[serde(flatten)]
        picture: &'p Picture,
        heading: String,
        /// The numbers of the edges that were taken.
        taken: Vec<usize>,
    }
    let title = picture.caption.as_ref().unwrap_or(&picture.title);
    // The edge to the first phase has a number, too.
    let before = picture.nodes.iter().filter(|node| node.is_initial).count();
    let edges = picture.edges.iter().enumerate();
    let values = Values {
        picture,
        // Front matter is YAML, in which a JSON string is valid.
        heading: serde_json::json!(title).to_string(),
        taken: edges.filter(|(_, edge)| edge.is_taken).map(|(number, _)| before + number).collect(),
    };
    fill(include_str!("flowchart.mmd"), values, in_label)
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
