//! What commands do: which instance one is about, transitions, reviews of the change at hand, and the one place that prints what
//! they have found.

pub(crate) mod about;
pub(crate) mod error;
pub(crate) mod output;
pub(crate) mod place;
pub(crate) mod review;
pub(crate) mod transition;
pub(crate) mod wait;
