//! Running an invocation of a chart: the process, and what its end means.

pub(crate) mod log;
mod orphans;
pub(crate) mod outcome;
pub(crate) mod process;
mod program;
mod signals;
pub(crate) mod supervisor;
