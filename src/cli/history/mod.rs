//! Commands about what the journal says.

pub(super) mod findings;
pub(super) mod list;
pub(super) mod log;
pub(super) mod stats;
pub(super) mod why;
