//! Waits between two checks, until the user or the reader of the output ends the command: for commands that follow
//! something.

use std::io;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

/// The time between two checks.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);

/// The end, as bytes in a stream that can be polled.
#[derive(Debug)]
pub(crate) struct Bell {
    end: UnixStream,
    /// Stdout, if it is a pipe, whose reader may close it. (Not every system can poll every kind of file.)
    reader: Option<io::Stdout>,
}

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        let (end, sender) = UnixStream::pair()?;
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            pipe::register(signal, sender.try_clone()?)?;
        }
        let is_pipe = rustix::fs::fstat(io::stdout())
            .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_fifo());
        Ok(Self { end, reader: is_pipe.then(io::stdout) })
    }

    /// Waits this long, and returns whether the command is to end.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        use rustix::event::{PollFd, PollFlags, poll};
        let mut fds = vec![PollFd::new(&self.end, PollFlags::IN)];
        // A reader that has gone away is reported without a request.
        fds.extend(self.reader.iter().map(|reader| PollFd::new(reader, PollFlags::empty())));
        let timeout = rustix::event::Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(1),
            tv_nsec: 0,
        };
        // An error is caused by a signal, whose byte has then arrived.
        let _ = poll(&mut fds, Some(&timeout));
        fds.iter().any(|fd| !fd.revents().is_empty())
    }
}
