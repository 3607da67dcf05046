//! The imperative shell: reads the world for a decision and carries the decision out.

pub(crate) mod driver;
mod effects;
pub(crate) mod file;
pub(crate) mod find;
#[cfg(test)]
mod fuzz;
pub(crate) mod gates;
mod git;
mod hash;
pub(crate) mod journal;
pub(crate) mod ledger;
mod lines;
pub(crate) mod lock;
pub(crate) mod owed;
pub(crate) mod perform;
pub(crate) mod performed;
pub(crate) mod place;
pub(crate) mod postponed;
mod record;
mod review;
pub(crate) mod reviews;
pub(crate) mod seen;
pub(crate) mod settings;
pub(crate) mod snapshot;
pub(crate) mod state_file;
pub(crate) mod stuck;
pub(crate) mod trust;
pub(crate) mod turn;
mod write;
