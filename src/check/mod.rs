//! What a chart does, known before it runs.

pub mod conditions;
pub mod lint;
