//! The imperative shell: reads the world for a decision and carries the decision out.

mod effects;
pub(crate) mod find;
#[cfg(test)]
mod fuzz;
pub(crate) mod gates;
pub(crate) mod git;
pub(crate) mod ledger;
mod meanwhile;
pub(crate) mod perform;
pub(crate) mod performed;
pub(crate) mod place;
pub(crate) mod review;
pub(crate) mod seen;
pub(crate) mod settings;
pub(crate) mod snapshot;
pub(crate) mod state_file;
pub(crate) mod stuck;
pub(crate) mod trust;
mod write;
