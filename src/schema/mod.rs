//! JSON Schemas (draft-07, which editors want): of a chart's `state.json`, made from the chart.

pub(crate) mod state;
