//! Windows: mostly what Rust's standard library offers there. docs/platforms.md says what is weaker than on Unix.

pub(crate) mod bell;
pub(crate) mod bond;
pub(crate) mod file;
pub(crate) mod folder;
pub(crate) mod group;
mod memory;
pub(crate) mod process;
pub(crate) mod regular;
pub(crate) mod signals;
pub(crate) mod supervisor;

pub(crate) use memory::memory;
