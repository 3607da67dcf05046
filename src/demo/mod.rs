//! `taskie demo`: plays an instance of a chart from its first phase to its last, in a temporary project.
//!
//! Everything that decides is the real thing, run as the host and the agent run it: `taskie hook stop` with
//! the host's JSON on stdin, `taskie enter` and the chart's commands as the agent calls them. Only two are
//! played: the agent, who does what a [`scenario`] says, and the reviewer, a [`reviewer`] that stands in for
//! the program that the chart invokes. [`stage`] is the temporary project and what runs in it. Nothing here knows a
//! workflow: that is in the chart and its scenario.

mod error;
mod player;
pub(crate) mod reviewer;
mod scenario;
mod stage;

pub(crate) use error::DemoError;
pub(crate) use player::play;
