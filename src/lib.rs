//! `taskie`: a workflow engine for coding agents. A chart declares a workflow, and this library runs it.
//!
//! Imports point from the later of these layers to the earlier ones. Below all of them are [`text`], which makes text
//! safe to show, `hash`, `os`, which hides what differs between operating systems, and `alike`, which compares texts:
//!
//! 1. [`diagnostic`] (what is wrong with a file, and how it is shown), [`host`] (hook events and answers), [`files`] (names, times,
//!    tables), `page` (how rows are laid out), `disk` (files that may come from a stranger),
//!    `command_line` (the words of a command);
//! 2. [`expr`]: expressions and texts, evaluated and type-checked;
//! 3. [`chart`]: a workflow as data, with its names resolved;
//! 4. [`engine`]: the pure core, [`engine::decide::decide`]; `invoke`: runs a reviewer's process;
//! 5. `store`: what this machine keeps about instances;
//! 6. `shell`: reads the world and carries out decisions; [`explore`]: visits every state that a chart can reach;
//! 7. `scenario`: what happens to an instance, step by step;
//! 8. [`lint`], `render`, `diagram`, `hook`, `demo`;
//! 9. `doctor`;
//! 10. `cli`.
//!
//! A stop: `hook` reads the event → `shell` takes a snapshot → `engine` decides → `invoke` runs a reviewer → `engine`
//! decides again → `shell` writes the state → `host` writes the answer.

mod alike;
pub mod chart;
mod cli;
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
mod hash;
mod hook;
pub mod host;
mod invoke;
pub mod lint;
mod os;
mod page;
mod render;
mod scenario;
mod shell;
mod store;
pub mod text;

pub use cli::{command, run};
