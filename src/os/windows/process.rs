//! Processes other than those of a run. The standard library can't look at a process that it didn't start.

use std::process::Command;

/// The most bytes in one argument of a program: only the command line as a whole has a limit.
pub(crate) const MAX_ARGUMENT: Option<usize> = None;

/// Returns whether this process has all rights on this machine: taken to be false.
pub(crate) fn is_root() -> bool {
    false
}

/// Returns whether there is a process with this id: taken to be false.
pub(crate) fn is_running(_id: u32) -> bool {
    false
}

/// Does nothing: the child ends by itself.
pub(crate) fn kill(_id: u32) {}

/// Does nothing: no process of a host's hook is ended with it.
pub(crate) fn detach(command: &mut Command) -> &mut Command {
    command
}
