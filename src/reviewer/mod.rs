//! From the output of a reviewer's program to what it means: a verdict, findings, what it cost, until when it cannot run.

pub mod finding;
pub(crate) mod output;
