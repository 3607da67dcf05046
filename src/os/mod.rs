//! Everything that differs between operating systems: files, processes, signals. One folder per system, with the same
//! names in each; nothing outside this layer asks which system it runs on.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;
