//! JSON Schemas, in draft-07 because editors need that: of a chart, made from the Rust types, and of a chart's
//! `state.json`, made from the chart.

pub(crate) mod fit;
pub mod state;
pub mod statechart;
