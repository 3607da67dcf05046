//! Running an invocation of a chart: the process, and what came of it.

pub(crate) mod outcome;
pub(crate) mod process;
