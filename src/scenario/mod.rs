//! Scenarios: what happens to an instance, step by step, and what is expected of each step.
//!
//! A [`script`] is the file. A [`player`] plays it on a [`stage`], shows each step, and compares. There are two stages: an
//! [`instance`] in memory, which decides as the hook does but starts nothing and writes nothing, and the demo's temporary
//! project, where everything is real.

pub(crate) mod failure;
pub(crate) mod instance;
pub(crate) mod player;
pub(crate) mod script;
pub(crate) mod stage;
