//! Previews: what the hook would do at the next stop, or one template, for the state as it is or as a user assumes it.
//!
//! [`assumptions`] reads `--set`, [`preview`] asks `decide` or renders a template. Nothing here writes, locks or starts a
//! process.

pub(crate) mod assumptions;
pub(crate) mod error;
pub(crate) mod preview;
