//! JSON Schemas (draft-07, which editors want): of a chart, made from the Rust types, and of a chart's
//! `state.json`, made from the chart.

pub mod state;
pub mod statechart;
