//! `taskie diagram`: a chart as a picture.
//!
//! [`picture`] turns a chart into nodes and edges, and marks the path that an instance took. There is one file for each
//! format, which writes them. All of it is pure.

mod dot;
mod html;
mod mermaid;
pub(crate) mod picture;
mod svg;

use picture::Picture;
pub(crate) use svg::escaped;

/// A format for pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Mermaid,
    Dot,
    Svg,
    Html,
}

impl Format {
    /// The names of the formats, as values of `--format`.
    pub(crate) const NAMES: [&'static str; 4] = ["mermaid", "dot", "svg", "html"];

    /// Returns the format of that name, which may also be a file extension.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "mermaid" | "mmd" => Self::Mermaid,
            "dot" | "gv" => Self::Dot,
            "svg" => Self::Svg,
            "html" => Self::Html,
            _ => return None,
        })
    }

    /// Returns the picture in this format, with a line break at the end.
    pub(crate) fn write(self, picture: &Picture) -> String {
        match self {
            Self::Mermaid => mermaid::write(picture),
            Self::Dot => dot::write(picture),
            Self::Svg => svg::write(picture, true),
            Self::Html => html::write(picture),
        }
    }
}

#[cfg(test)]
mod tests;
