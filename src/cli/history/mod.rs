//! Commands that read the journal. They write nothing.

pub(super) mod list;
pub(super) mod log;
pub(super) mod stats;
pub(super) mod why;
