//! `taskie`: a workflow engine for coding agents. A chart declares a workflow, and this library runs it.
//!
//! `docs/architecture.md` lists the folders of `src`, lowest first; imports point down.
//!
//! A stop: `hook` reads the event → `run` takes a snapshot → `engine` decides → `process` runs a reviewer → `reviewer`
//! reads its output → `engine` decides again → `run` writes the state → `host` writes the answer.
//!
//! Which verdict leads to which state is in the charts (`statechart.toml`, `parts`), and so is the wording of what the agent and the
//! user read: their rules, and the folders `templates` beside them.

pub mod chart;
pub mod check;
mod cli;
pub mod clock;
mod command_line;
mod commands;
mod demo;
pub mod diagnostic;
mod diagram;
mod disk;
mod doctor;
pub mod engine;
pub mod expr;
pub mod files;
mod hash;
mod hook;
pub mod host;
mod os;
mod page;
mod preview;
mod process;
mod project;
mod receipt;
pub mod reviewer;
mod run;
mod scenario;
mod store;
pub mod text;
#[cfg(test)]
mod tests {
    mod fuzz;
}
mod view;

pub use cli::{command, run};
