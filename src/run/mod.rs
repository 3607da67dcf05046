//! Carries out one event: the place, a snapshot of it, the decision, gates and a review if they are due, the effects, and
//! the state.

pub(crate) mod asked;
pub(crate) mod change;
mod effects;
pub(crate) mod foresee;
pub(crate) mod gates;
mod meanwhile;
pub(crate) mod noticed;
pub(crate) mod perform;
pub(crate) mod performed;
pub(crate) mod place;
pub(crate) mod recovery;
pub(crate) mod review;
mod reviewer;
pub(crate) mod snapshot;
pub(crate) mod stuck;
pub(crate) mod under_way;
pub(crate) mod write;
