//! Everything that differs between Linux and macOS, and what the standard library lacks: processes, signals, files.

pub(crate) mod file;
pub(crate) mod folder;
pub(crate) mod group;
mod orphans;
pub(crate) mod regular;
pub(crate) mod signals;
pub(crate) mod supervisor;
