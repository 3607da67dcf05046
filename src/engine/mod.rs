//! The pure core: what a chart decides about one event in one world.
//!
//! Nothing here opens a file or starts a process; [`world::World`] is how it looks at things, and
//! [`decision::Decision`] says what the shell is to do. The same event in the same world gives the same
//! decision.

mod actions;
pub mod context;
pub mod decide;
pub mod decision;
pub mod event;
pub mod fault;
pub mod inspect;
pub mod names;
pub mod records;
pub mod saw;
pub mod world;
