//! What this machine keeps about the instances of a project: who drives them, the locks, the journal, and the records. None
//! of it is part of the project, and no file here is believed that was not made on this machine.

pub(crate) mod driver;
pub(crate) mod journal;
mod lines;
pub(crate) mod lock;
pub(crate) mod notices;
pub(crate) mod owed;
pub(crate) mod postponed;
mod record;
pub(crate) mod running;
