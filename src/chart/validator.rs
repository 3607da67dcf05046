//! Checks `state.json` against its schema, compiled with the binary or just now.

use std::sync::Arc;

use serde_json::Value as Json;

/// Checks a state against a chart's schema.
#[derive(Clone)]
pub enum Validator {
    /// Compiled with the binary.
    Compiled(fn(&Json) -> Vec<jsonschema::ValidationError<'_>>),
    /// Compiled just now, for a user's chart.
    Interpreted(Arc<jsonschema::Validator>),
}

impl std::fmt::Debug for Validator {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Validator")
    }
}

impl Validator {
    /// What `state` breaks; empty where it fits.
    pub fn breaches<'s>(&'s self, state: &'s Json) -> Vec<jsonschema::ValidationError<'s>> {
        match self {
            Self::Compiled(breaches) => breaches(state),
            Self::Interpreted(validator) => validator.iter_errors(state).collect(),
        }
    }
}
