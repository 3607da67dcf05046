//! The protocol between the hosts and this program: hook events in, answers out.

pub mod events;
pub mod hosts;
pub mod question;
pub mod reply;
pub mod vendors;
