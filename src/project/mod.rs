//! Reads a project: where its home is, its settings, its state, what git knows, what the user trusts, and the results of
//! findings. The state is written elsewhere; rulings, what the user trusts, and the objects of a change are written here.

pub(crate) mod change;
pub(crate) mod find;
pub(crate) mod git;
pub(crate) mod home;
pub(crate) mod ledger;
pub(crate) mod listing;
pub(crate) mod seen;
pub(crate) mod settings;
pub(crate) mod state_file;
pub(crate) mod trust;
