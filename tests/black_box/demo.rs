//! `taskie demo`: the review of a change, and a whole plan through the real hook.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use crate::support::{Project, Ran};

/// The demo in an empty folder; its temporary files go to a folder of the test.
struct Demo {
    project: Project,
    temp: PathBuf,
}

impl Demo {
    fn new() -> Self {
        let project = Project::empty();
        let temp = project.bin.parent().unwrap().join("temp");
        fs::create_dir(&temp).unwrap();
        Self { project, temp }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        command.env("TMPDIR", &self.temp);
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    fn left(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.temp).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

/// What a demo has printed, as if each review had taken no time.
pub fn at_once(printed: &str) -> String {
    let mut parts = printed.split(" in ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.trim_start_matches(|sign: char| sign.is_ascii_digit());
        match rest.starts_with(" s, $") {
            true => format!("{text} in 0{rest}"),
            false => format!("{text} in {part}"),
        }
    })
}

/// The output of the demo without a terminal. It is the same each time.
fn plain() -> &'static str {
    static PRINTED: OnceLock<String> = OnceLock::new();
    PRINTED.get_or_init(|| {
        let demo = Demo::new();
        let ran = demo.run(&["demo"]);
        assert_eq!(ran.err(), (0, ""));
        assert_eq!(demo.left(), [] as [PathBuf; 0]);
        assert_eq!(demo.project.names(), [] as [&str; 0]);
        at_once(&ran.stdout)
    })
}

#[test]
fn the_demo_without_a_terminal() {
    insta::assert_snapshot!("demo", plain());
    assert!(plain().lines().count() <= 40);
}

/// Color adds nothing but color, and the session around the demo changes nothing.
#[test]
fn a_terminal_with_colors_inside_a_session_sees_the_same() {
    let demo = Demo::new();
    let mut command = demo.command(&["demo"]);
    command
        .env("CLICOLOR_FORCE", "1")
        .env("TASKIE_REVIEWER", "1")
        .env("CLAUDE_PROJECT_DIR", "/nowhere")
        .env("CLAUDE_CODE_SESSION_ID", "another");
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.err(), (0, ""));
    assert_eq!(demo.left(), [] as [PathBuf; 0]);
    assert!(ran.stdout.contains("\x1b[") && !plain().contains('\x1b'));
    let mut parts = ran.stdout.split('\x1b');
    let first = parts.next().unwrap().to_owned();
    let stripped = parts.fold(first, |text, part| text + part.split_once('m').unwrap().1);
    assert_eq!(at_once(&stripped), plain());
}
