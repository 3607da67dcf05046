//! What a program prints as its version.

use std::path::Path;
use std::time::Duration;

use super::spec::Spec;
use super::{End, log, run};
use crate::os::bond::Bond;
use crate::text::plain;

/// Returns the first line that `PROGRAM --version` prints, if it does within this time. Any program may do anything when it is
/// asked for its version: the caller knows that this one does not.
pub(crate) fn version_of(program: &Path, patience: Duration) -> Result<String, String> {
    let file = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    let argv = [program.to_string_lossy().into_owned(), "--version".to_owned()];
    let spec = Spec {
        argv: argv.to_vec(),
        cwd: std::env::current_dir().unwrap_or_default(),
        env: Vec::new(),
        log: file.path().to_owned(),
        logs_stdout: false,
        timeout: patience,
        cancel: None,
    };
    match run(&spec, None, Bond::Loose) {
        End::Exited { code: Some(0), stdout, .. } => {
            let text = String::from_utf8_lossy(&stdout);
            Ok(plain(text.lines().next().unwrap_or_default()))
        }
        End::Exited { .. } => {
            Err(log::last_line(file.path()).unwrap_or_else(|| "it failed".to_owned()))
        }
        End::TimedOut => Err(format!("no answer within {} seconds", patience.as_secs())),
        End::TooMuchOutput => Err("it printed too much".to_owned()),
        End::Interrupted { .. } | End::Cancelled | End::Abandoned | End::Lost => {
            Err("interrupted".to_owned())
        }
        End::NotStarted(why) => Err(why),
    }
}
