//! Findings: what is wrong with a file, where, and how that is shown to a person. Knows TOML and text, but not
//! charts.

pub mod code;
pub mod code_host;
pub mod excerpt;
pub mod flaw;
pub mod quote;
pub mod suggest;
pub mod toml;
