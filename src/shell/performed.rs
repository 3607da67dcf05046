//! A decision that was carried out, with what went wrong on the way that the user should know.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::owed::Debt;
use super::snapshot::Snapshot;
use crate::engine::decision::{Answer, Decision};
use crate::engine::world::World as _;

/// A decision that was carried out.
#[derive(Debug, Default)]
pub(crate) struct Performed {
    pub(crate) decision: Decision,
    /// What is wrong with the files that were read.
    pub(crate) warnings: Vec<String>,
    /// What may be wrong with them: not worth a word to the user at every stop.
    pub(crate) notes: Vec<String>,
    /// The fields that the decision writes, as they were before it.
    pub(crate) before: IndexMap<String, Json>,
    /// The context after the decision.
    pub(crate) context: IndexMap<String, Json>,
    /// The answer, as long as the host has not got it.
    pub(crate) debt: Option<Debt>,
}

impl Performed {
    /// Returns `decision`, which was made in the world that `snapshot` is.
    pub(super) fn of(snapshot: &Arc<Snapshot>, decision: Decision) -> Self {
        let mut context = snapshot.context().clone();
        let mut before = IndexMap::new();
        for (name, value) in &decision.patch {
            let old = context.insert(name.clone(), value.clone());
            before.extend(old.map(|old| (name.clone(), old)));
        }
        Self {
            warnings: snapshot.warnings(),
            notes: snapshot.notes(),
            decision,
            before,
            context,
            debt: None,
        }
    }

    /// Returns a stop that is allowed with a word to the user, without any rule of the chart.
    pub(super) fn allowed(message: String) -> Self {
        Self {
            decision: Decision {
                messages: vec![message],
                answer: Answer::Allow,
                ..Decision::default()
            },
            ..Self::default()
        }
    }
}
