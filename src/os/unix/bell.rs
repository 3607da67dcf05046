//! Waits between two checks, until the user or the reader of the output ends the command: for commands that follow
//! something.

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::low_level::pipe;

/// The time between two checks.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rang {
    /// The time has passed, or the size of the terminal has changed.
    Look,
    /// This process was asked to end.
    End,
}

/// Signals, as bytes in a stream that can be polled.
#[derive(Debug)]
pub(crate) struct Bell {
    end: UnixStream,
    resize: UnixStream,
    /// Stdout, if it is a pipe, whose reader may close it. (Not every system can poll every kind of file.)
    reader: Option<io::Stdout>,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        let (end, sender) = UnixStream::pair()?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            pipe::register(signal, sender.try_clone()?)?;
        }
        let (resize, sender) = UnixStream::pair()?;
        pipe::register(SIGWINCH, sender)?;
        resize.set_nonblocking(true)?;
        let is_pipe = rustix::fs::fstat(io::stdout())
            .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_fifo());
        Ok(Self { end, resize, reader: is_pipe.then(io::stdout) })
    }

    /// Waits this long, or until something happens.
    pub(crate) fn wait(&mut self, time: Duration) -> Rang {
        use rustix::event::{PollFd, PollFlags, poll};
        let mut fds =
            vec![PollFd::new(&self.end, PollFlags::IN), PollFd::new(&self.resize, PollFlags::IN)];
        // A reader that has gone away is reported without a request.
        fds.extend(self.reader.iter().map(|reader| PollFd::new(reader, PollFlags::empty())));
        let timeout = rustix::event::Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(1),
            tv_nsec: 0,
        };
        // An error is caused by a signal, whose byte has then arrived.
        let _ = poll(&mut fds, Some(&timeout));
        let is_ended = !fds[0].revents().is_empty()
            || fds.get(2).is_some_and(|reader| !reader.revents().is_empty());
        // One check is enough, however often the size has changed.
        let _ = self.resize.read(&mut [0; 256]);
        if is_ended { Rang::End } else { Rang::Look }
    }
}
