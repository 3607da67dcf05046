//! The states of the chart.

use schemars::JsonSchema;
use serde::Deserialize;

use super::value::Assign;
use crate::expr::source::{Expr, Text};

/// A state of the chart: when it may be entered, and what entering it writes.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// The stage that `taskie status` shows.
    pub stage: Option<String>,
    /// `final`: nothing comes after it.
    #[serde(rename = "type")]
    pub kind: Option<PhaseType>,
    /// Whether it applies. Without a guard it always does.
    pub guard: Option<Expr>,
    /// The message if the guard is false.
    #[serde(rename = "else")]
    pub otherwise: Option<Text>,
    /// The cycle that comes next: it starts over, so its first review is due.
    pub next: Option<String>,
    /// What entering it assigns.
    #[serde(default)]
    pub entry: Assign,
}

/// The special kinds of phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PhaseType {
    Final,
}
