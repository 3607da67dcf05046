//! The protocol between the host and this program: hook events in, answers out.

pub mod events;
pub mod reply;
