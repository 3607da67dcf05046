//! `taskie demo`: plays an instance of a chart from its first phase to its last, in a temporary project.
//!
//! Everything that decides is real and runs the way the host and the agent run it: `taskie hook stop` with the host's
//! JSON on stdin, `taskie enter` and the chart's commands as the agent runs them. Only two roles are played: the
//! agent, which follows a [`scenario`], and the reviewer, a [`reviewer`] that stands in for the program that the
//! chart invokes. [`stage`] is the temporary project and the processes in it. Nothing here knows a workflow: the
//! chart and its scenario do.

mod error;
mod player;
pub(crate) mod reviewer;
mod scenario;
mod stage;

pub(crate) use error::DemoError;
pub(crate) use player::play;
