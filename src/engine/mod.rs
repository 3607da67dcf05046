//! The pure core: what a chart decides about one event in one world.
//!
//! Nothing here opens a file or starts a process; [`world::World`] is how it looks at things, and
//! [`decision::Decision`] says what the shell is to do. The same event in the same world gives the same
//! decision.

mod actions;
pub(crate) mod context;
pub(crate) mod decide;
pub(crate) mod decision;
pub(crate) mod event;
pub(crate) mod fault;
pub(crate) mod names;
pub(crate) mod prompt;
pub(crate) mod view;
pub(crate) mod world;
