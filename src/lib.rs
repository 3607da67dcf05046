//! `taskie`: a workflow engine for coding agents. A chart declares a workflow, and this library runs it.
//!
//! Imports point from the later of these layers to the earlier ones. Below all of them are [`text`], which makes text
//! safe to show, `hash`, `os`, which hides what differs between operating systems, `alike`, which compares texts, and
//! [`clock`]:
//!
//! 1. [`diagnostic`] (what is wrong with a file, and how it is shown), [`host`] (hook events and answers), [`files`] (names,
//!    JSON, tables), `page` (how rows are laid out), `disk` (files that may come from a stranger),
//!    `command_line` (the words of a command), `process` (runs a program);
//! 2. [`expr`]: expressions and texts, evaluated and type-checked;
//! 3. [`chart`]: a workflow as data, with its names resolved;
//! 4. [`reviewer`]: what the output of a reviewer means;
//! 5. [`engine`]: the pure core, [`engine::decide::decide`];
//! 6. `store`: what this machine keeps about instances;
//! 7. `project`: reads a project;
//! 8. `run`: carries out one event; [`explore`]: visits every state that a chart can reach;
//! 9. `scenario`: what happens to an instance, step by step;
//! 10. [`lint`], `render`, `diagram`, `hook`, `demo`;
//! 11. `doctor`, `view` (what people look at);
//! 12. `cli`.
//!
//! A stop: `hook` reads the event → `run` takes a snapshot → `engine` decides → `process` runs a reviewer → `reviewer`
//! reads its output → `engine` decides again → `run` writes the state → `host` writes the answer.

mod alike;
pub mod chart;
mod cli;
pub mod clock;
mod command_line;
mod demo;
pub mod diagnostic;
mod diagram;
mod disk;
mod doctor;
pub mod engine;
pub mod explore;
pub mod expr;
pub mod files;
#[cfg(test)]
mod fuzz;
mod hash;
mod hook;
pub mod host;
pub mod lint;
mod os;
mod page;
mod process;
mod project;
mod receipt;
mod render;
pub mod reviewer;
mod run;
mod scenario;
mod store;
pub mod text;
mod view;

pub use cli::{command, run};
