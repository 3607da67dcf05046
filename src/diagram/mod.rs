//! `taskie diagram`: a chart as a picture.
//!
//! [`picture`] makes nodes and edges of a chart, and marks the path that an instance took. Each format is one file that
//! writes them down. All of it is pure.

mod dot;
mod html;
mod mermaid;
pub(crate) mod picture;
mod svg;

use picture::Picture;

/// How a picture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Mermaid,
    Dot,
    Svg,
    Html,
}

impl Format {
    /// The names as `--format` takes them.
    pub(crate) const NAMES: [&'static str; 4] = ["mermaid", "dot", "svg", "html"];

    /// Returns the format of that name, which may also be the ending of a file's name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "mermaid" | "mmd" => Self::Mermaid,
            "dot" | "gv" => Self::Dot,
            "svg" => Self::Svg,
            "html" => Self::Html,
            _ => return None,
        })
    }

    /// Returns the picture in this format, with a line end.
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
