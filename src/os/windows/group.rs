//! A program. The processes that it starts end with the job of the [supervisor](super::supervisor).

use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};

use super::bond::Bond;
use super::signals::Wakeups;

/// A running program.
#[derive(Debug)]
pub(crate) struct Group(Child);

impl Group {
    /// Starts the program with an empty stdin.
    pub(crate) fn start(command: &mut Command, _: Bond) -> io::Result<Self> {
        command.stdin(Stdio::null()).spawn().map(Self)
    }

    /// Returns whether the program has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    /// Does nothing: only a program with a window can be asked to end.
    pub(crate) fn ask_to_end(&self) {}

    /// Kills the program if it is still running. Returns how it ended.
    pub(crate) fn end(mut self, _: &Wakeups) -> Option<ExitStatus> {
        let _ = self.0.kill();
        self.0.wait().ok()
    }
}

/// Returns the number of the signal that killed a process: there are none.
pub(crate) fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}
