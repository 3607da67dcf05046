//! `taskie`: a workflow engine for coding agents. A chart declares the workflow, this binary runs it.
//!
//! Data flows one way: [`hook`] or [`cli`] → [`scope`] and [`shell`] read the world → [`engine`] decides →
//! [`shell`] carries it out → the answer. [`chart`] is what the workflow is, [`expr`] what its expressions
//! mean, [`invoke`] how a reviewer is run, [`render`] what anyone would be told.

use std::process::ExitCode;

mod chart;
mod cli;
mod demo;
mod doctor;
mod engine;
mod explore;
mod expr;
mod hook;
mod invoke;
mod lint;
mod page;
mod render;
mod schema;
mod scope;
mod shell;

/// Set in the environment of a process that a chart invokes: its own hooks and commands then do nothing.
const REVIEWER: &str = "TASKIE_REVIEWER";

fn main() -> ExitCode {
    cli::run()
}
