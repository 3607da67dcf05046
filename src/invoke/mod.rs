//! Runs an invocation of a chart: the process, and the outcome.

pub(crate) mod log;
pub(crate) mod outcome;
pub(crate) mod process;
pub(crate) mod program;
pub(crate) mod spec;
pub(crate) mod supervisor;
mod zone;
