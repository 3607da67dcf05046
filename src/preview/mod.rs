//! Previews: what the hook would do at the next stop, or one template, for the current state or an assumed one.
//!
//! [`assumptions`] reads `--set`; [`scene`] calls `decide` or renders a template. Nothing here writes, locks or
//! starts a process.

pub(crate) mod assumptions;
pub(crate) mod error;
pub(crate) mod scene;
