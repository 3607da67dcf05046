//! What people look at, computed once for all commands: facts about an instance, what its reviews cost, what happened to
//! it, and the screens and pages made of that.

pub(crate) mod facts;
pub(crate) mod figures;
pub(crate) mod findings;
pub(crate) mod finished;
pub(crate) mod line;
pub(crate) mod list;
pub(crate) mod progress;
pub(crate) mod pull_request;
pub(crate) mod reviewed;
pub(crate) mod reviews;
pub(crate) mod screen;
pub(crate) mod stop;
pub(crate) mod timeline;
pub(crate) mod turn;
