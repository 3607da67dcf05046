//! The `taskie` binary. All of it is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    taskie::run()
}
