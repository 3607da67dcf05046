//! What is wrong with a file, where, and how a person is shown it. Knows TOML and text, nothing of charts.

pub mod code;
pub mod excerpt;
pub mod flaw;
pub mod quote;
pub mod suggest;
pub mod toml;
