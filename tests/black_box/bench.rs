//! Helpers for the rougher tests, in addition to [`crate::support`]: processes, conditions to wait for, and charts
//! of their own.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::Project;

/// Longer than anything takes that succeeds, and shorter than the time limit of a test; a busy machine must not fail one.
const PATIENCE: Duration = Duration::from_secs(40);

/// Waits until `condition` returns something; `what` is reported if it never does.
pub fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a file with a line in it, and returns its text without surrounding whitespace.
pub fn wait_for_line(path: &Path) -> String {
    wait_for(&path.display().to_string(), || {
        let text = fs::read_to_string(path).ok()?;
        text.ends_with('\n').then(|| text.trim().to_owned())
    })
}

/// Returns whether a process with this id is running; one that is dead but not reaped isn't.
pub fn is_running(pid: &str) -> bool {
    if !Path::new("/proc/self/stat").exists() {
        return Command::new("/bin/sh")
            .args(["-c", &format!("kill -0 {pid} 2>/dev/null")])
            .status()
            .unwrap()
            .success();
    }
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}

/// Waits until the process is gone.
pub fn wait_until_gone(pid: &str) {
    wait_for(&format!("the end of process {pid}"), || (!is_running(pid)).then_some(()));
}

/// Waits until a program that was just written can be run: while it was written, another test may have forked a
/// process that keeps it "busy" for a moment.
pub fn wait_until_it_can_be_run(path: &Path) {
    wait_for(&format!("{} not to be busy", path.display()), || {
        let run = Command::new(path)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        run.err().is_none_or(|error| error.kind() != ErrorKind::ExecutableFileBusy).then_some(())
    });
}

/// Sends a signal by its name.
pub fn signal(name: &str, pid: u32) {
    let status =
        Command::new("/bin/sh").args(["-c", &format!("kill -{name} {pid}")]).status().unwrap();
    assert!(status.success(), "kill -{name} {pid}");
}

/// Returns the path of a copy of the default chart and its templates, changed file by file, next to the project.
pub fn copy_of_chart(project: &Project, change: impl Fn(&str) -> String) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"));
    let to = project.bin.parent().unwrap().join("chart");
    for folder in ["templates", "plugin/taskie"] {
        copy_folder(&from.join(folder), &to.join(folder), &change);
    }
    let files = crate::support::write_chart(&to, change);
    PathBuf::from(&files[0].0)
}

/// Copies the Markdown files in a folder, with changed names and texts.
fn copy_folder(from: &Path, to: &Path, change: &impl Fn(&str) -> String) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let name = change(&entry.file_name().into_string().unwrap());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &to.join(name), change);
        } else if name.ends_with(".md") {
            fs::write(to.join(name), change(&fs::read_to_string(entry.path()).unwrap())).unwrap();
        }
    }
}
