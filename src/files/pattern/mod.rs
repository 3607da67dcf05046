//! Patterns with holes, of two kinds that are never mixed: [`Pattern`] for the names of files, [`LinePattern`] for lines of
//! text.
//!
//! Both have the same holes: `{x}` is any text, `{x:int}` a number without leading zeros, `{x:slug}` letters, digits, `_`,
//! `-` and single dots, `{x:a|b}` one of the words.

mod file_name;
mod hole;
mod line;

pub use file_name::Pattern;
pub(crate) use hole::name_flaw;
pub use hole::{Capture, Captures, HoleKind, is_id, is_slug};
pub use line::LinePattern;
