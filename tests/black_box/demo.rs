//! `taskie demo`: the review of a change, and a whole plan through the real hook.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

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

fn state(project: &Path) -> Value {
    serde_json::from_slice(&fs::read(project.join(".taskie/plans/words/state.json")).unwrap())
        .unwrap()
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
    assert!(plain().lines().all(|line| line.chars().count() <= 100));
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

/// The project that `demo --keep` has left, with a finished plan.
fn finished(demo: &Demo, ran: &Ran) -> PathBuf {
    assert_eq!(ran.err(), (0, ""));
    let left = demo.left();
    let [project] = left.as_slice() else { panic!("{left:?}") };
    assert_eq!(
        ran.stdout.lines().last().unwrap(),
        format!("The project is in {}", project.display())
    );
    assert_eq!(state(project)["phase"], "complete");
    assert_eq!(state(project)["next_phase"], Value::Null);
    project.clone()
}

/// `taskie log --why` says of each rule why it did not fire.
#[test]
fn why_explains_each_stop_of_a_kept_demo() {
    let demo = Demo::new();
    let ran = demo.run(&["demo", "--keep"]);
    let kept = finished(&demo, &ran);
    for n in 1..=13 {
        let mut why = demo.command(&["log", "--why", &n.to_string(), "--plan", "words"]);
        let why = Ran::of(why.current_dir(&kept).output().unwrap());
        assert_eq!(why.err(), (0, ""));
        assert_eq!(
            why.stdout.matches("not: ").count() + why.stdout.matches("fired:").count(),
            why.stdout.matches("on.Stop[").count()
        );
    }
    // It is a project like any other: a stop in it finds nothing to do.
    let mut command = demo.command(&["hook", "stop"]);
    command.current_dir(kept);
    let ran = crate::support::feed(command, "{}");
    assert_eq!(ran.json()["systemMessage"], "Plan 'words' structure validated successfully");
}
