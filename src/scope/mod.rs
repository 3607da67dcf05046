//! Where running instances live and what stands in their directories: finding the home upward, the
//! newest instance below it, names by pattern, rows of Markdown tables. Reads only.

pub(crate) mod find;
pub(crate) mod pattern;
pub(crate) mod table;
