//! A hook that a person starts. How a plan could get stuck otherwise is in `tests/transcripts/workflow.md`.

use std::io::{Read as _, Write as _};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::Project;

#[test]
fn a_hook_on_a_terminal_says_what_it_waits_for() {
    let project = Project::valid();
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let terminal = std::fs::File::open(name.to_str().unwrap()).unwrap();
    let mut child = project.command(["hook", "stop"]).stdin(terminal).spawn().unwrap();
    std::fs::File::from(controller).write_all(b"{}\n\x04").unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    child.wait().unwrap();
    assert_eq!(
        said,
        "taskie: waiting for the Stop event as JSON on stdin; try: echo '{}' | taskie hook stop\n"
    );
}
