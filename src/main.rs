//! The `taskie` binary. All of its code is in the library.

use std::process::ExitCode;

#[cfg(target_env = "musl")]
use std::alloc::System;

#[cfg(target_env = "musl")]
use talc::{TalcLock, source::GlobalAllocSource};

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: TalcLock<spin::mutex::Mutex<(), spin::Yield>, GlobalAllocSource<System>> =
    TalcLock::new(GlobalAllocSource::new(System));

fn main() -> ExitCode {
    taskie::run()
}
