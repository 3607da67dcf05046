//! The pure core: decides about one event in one world, as a chart says.
//!
//! Nothing here opens a file or starts a process; only a chart that is not compiled in reads its templates while it is used. The core looks at things through [`world::World`], and
//! [`decision::Decision`] says what the shell has to do. The same event in the same world leads to the same decision.

mod actions;
pub mod check;
pub mod context;
pub mod decide;
pub mod decision;
pub mod event;
pub mod fault;
pub mod file_values;
pub mod inspect;
pub mod names;
pub mod possible_world;
pub(crate) mod records;
mod references;
pub mod saw;
pub mod spent;
pub mod world;
