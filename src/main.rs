//! The `taskie` binary. All of its code is in the library.

use std::ffi::OsString;
use std::process::ExitCode;

#[cfg(target_env = "musl")]
use std::alloc::System;

#[cfg(target_env = "musl")]
use talc::base::binning::{Binning, linear_extent_then_linearly_divided_exponential_binning};
#[cfg(target_env = "musl")]
use talc::{source::GlobalAllocSource, sync::TalcLock};

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: TalcLock<spin::mutex::Mutex<(), spin::Yield>, GlobalAllocSource<System>, Bins> =
    TalcLock::new(GlobalAllocSource::new(System));

/// How free memory is sorted by its size: so that one word says where there is some. With the default, three words do, and a
/// stop takes 5% longer.
#[cfg(target_env = "musl")]
#[derive(Debug)]
struct Bins;

#[cfg(target_env = "musl")]
impl Binning for Bins {
    type AvailabilityBitField = u64;

    const BIN_COUNT: u32 = u64::BITS - 1;

    fn size_to_bin(size: usize) -> u32 {
        // One for each size up to 256 bytes, then four for each power of two, up to 2 MB.
        linear_extent_then_linearly_divided_exponential_binning::<4, 2>(size)
    }
}

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    taskie::run(&args)
}
