//! The charts that are merged, as they are written, and places in them.

use std::ops::Range;

/// How a comment begins that says which findings to ignore.
pub const IGNORE: &str = "# taskie: ignore[";

/// A chart as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Its name in messages.
    pub name: String,
    pub text: String,
}

/// A place in one of the layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub layer: usize,
    pub span: Range<usize>,
}

/// What is wrong with a layer: it changes something that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub place: Place,
    pub message: String,
    /// The name that is unknown, and those that are known.
    pub name: String,
    pub known: Vec<String>,
}

/// A piece of the merged text, and where it is from.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) at: Range<usize>,
    pub(super) from: Place,
}
