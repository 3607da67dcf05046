//! Commands that read the journal. They write nothing.

pub(super) mod log;
