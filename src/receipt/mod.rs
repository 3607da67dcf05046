//! Receipts: one line for each cycle that has ended, with what was reviewed, by whom, and with what result.
//!
//! A receipt is rendered from the journal, and says no more than that. Those of an instance are in a file of its own in the
//! git directory that all work trees share; with the setting `receipts`, also in the directory of the instance. Each has the
//! hash of the line before it. `verify` compares them with what is there, and runs nothing that a receipt says.

pub(crate) mod file;
pub(crate) mod render;
pub(crate) mod statement;
pub(crate) mod verify;
