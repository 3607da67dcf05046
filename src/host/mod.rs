//! What the hosts and this program say to each other: the hook events that come in, the answers that go out.

pub mod events;
pub mod hosts;
pub mod reply;
