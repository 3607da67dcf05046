//! The imperative shell: reads the world for a decision and carries the decision out.

mod effects;
pub(crate) mod entry;
pub(crate) mod find;
mod git;
pub(crate) mod lock;
pub(crate) mod perform;
pub(crate) mod reviews;
pub(crate) mod settings;
pub(crate) mod snapshot;
pub(crate) mod store;
pub(crate) mod trace;
pub(crate) mod trust;
