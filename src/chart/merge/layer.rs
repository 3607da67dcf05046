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
pub struct LayerPlace {
    pub layer: usize,
    pub span: Range<usize>,
}

/// What kind of fault a layer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// It changes something that is not there.
    Nothing,
    /// Two entries of a list have the same `id`.
    Twice,
    /// Of two keys, only one can have an effect.
    Conflict,
}

/// What is wrong with a layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerFault {
    pub kind: FaultKind,
    pub place: LayerPlace,
    pub message: String,
    /// What to do, unless a known name is like the unknown one.
    pub help: Option<&'static str>,
    /// The name that is unknown, and those that are known.
    pub name: String,
    pub known: Vec<String>,
}

/// A piece of the merged text, and where it is from.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) at: Range<usize>,
    pub(super) from: LayerPlace,
}
