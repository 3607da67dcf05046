//! What `check-chart` looks for: the codes of its findings.

pub(crate) mod code;

pub(crate) use code::Code;
