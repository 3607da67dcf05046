//! What an agent, a reviewer or a user would be told, without telling them: one text of a chart rendered for an
//! instance, or what the hook would answer now.
//!
//! [`texts`] says what there is to render and what each text needs, [`suppose`] reads `--set`, [`preview`] renders
//! one text, [`next`] asks `decide`. Nothing here writes, locks or starts a process.

pub(crate) mod next;
pub(crate) mod preview;
pub(crate) mod suppose;
pub(crate) mod texts;
pub(crate) mod trouble;
