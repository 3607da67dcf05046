//! `taskie status`: a review that is running, and terminals. The rest is in `tests/transcripts/status.md`.

use std::fs;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};

use crate::bench::wait_for;
use crate::support::{PLAN, Project, Reviewer};

/// A reviewer that reports that it has started and ends on request.
struct Slow {
    begun: PathBuf,
    go: PathBuf,
}

impl Slow {
    fn on(project: &Project, verdict: &'static str) -> Self {
        let slow = Self { begun: project.bin.join("begun"), go: project.bin.join("go") };
        project.reviewer(&Reviewer {
            verdict,
            first: format!(
                "echo 'reading plan.md' >&2; touch '{}'; while [ ! -e '{}' ]; do sleep 0.05; done",
                slow.begun.display(),
                slow.go.display()
            ),
            ..Reviewer::default()
        });
        slow
    }

    /// A hook in the background whose reviewer is at work.
    fn begin(&self, project: &Project) -> Child {
        let event = project.bin.join("event.json");
        fs::write(&event, project.stop_event(false)).unwrap();
        let mut hook = project.command(["hook", "stop"]);
        hook.stdin(fs::File::open(event).unwrap());
        let hook = hook.spawn().unwrap();
        wait_for("the reviewer", || self.begun.exists().then_some(()));
        hook
    }

    fn end(&self, mut hook: Child) {
        fs::write(&self.go, "").unwrap();
        assert!(hook.wait().unwrap().success());
    }
}

/// A plan whose task has had three reviews; the third one has no answer yet.
fn reviewed() -> Project {
    let project = Project::valid();
    project.write("plan-review-1.md", "by hand\n");
    project.set_state(json!({}));
    for (n, verdict) in [(1, "FAIL"), (2, "PASS"), (3, "FAIL")] {
        project.reviewer(&Reviewer::of(verdict));
        assert_eq!(project.stop().json()["decision"], "block");
        if n < 3 {
            project.write(&format!("task-1-post-review-{n}.md"), "answered\n");
            assert_eq!(project.run(&["enter", "post-code-review"]).code, 0);
        }
    }
    project
}

#[test]
fn a_running_review_is_shown_while_its_lock_is_held() {
    let project = Project::in_state(json!({}));
    let slow = Slow::on(&project, "PASS");
    let hook = slow.begin(&project);
    let json = project.run(&["status", "--json"]).json();
    let running = &json["running"];
    assert_eq!(
        (&running["cycle"], &running["n"], &running["by"], &running["timeout"]),
        (&json!("code-review"), &json!(1), &json!("opus"), &json!(570))
    );
    assert_eq!(running["file"], format!(".taskie/plans/{PLAN}/task-1-review-1.md"));
    assert!(running["seconds"].as_u64().unwrap() < 120);
    assert_eq!((&json["waits_for"], &json["stop"]["does"]), (&json!("review"), &json!("allow")));
    let text = project.run(&["status"]).stdout;
    assert!(text.contains("\nA review is running: code-review 1 by opus, for "), "{text}");
    assert!(
        text.contains(
            " of at most 9 min 30 s\n\nat a stop  it is allowed: a review is already running\n"
        ),
        "{text}"
    );
    slow.end(hook);
    assert_eq!(project.run(&["status", "--json"]).json()["running"], Value::Null);
}

/// A command whose stdout is a terminal of this size, and the terminal's other end.
pub fn on_terminal(mut command: Command, columns: u16, rows: u16) -> (Child, fs::File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let other: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&other).unwrap();
    unlockpt(&other).unwrap();
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&other, size).unwrap();
    let path = PathBuf::from(ptsname(&other, Vec::new()).unwrap().into_string().unwrap());
    let terminal = fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    command.env_remove("NO_COLOR").env("TERM", "xterm");
    let child = command.stdout(Stdio::from(terminal)).spawn().unwrap();
    (child, fs::File::from(other))
}

fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(sign) = rest.next() {
        if sign == '\u{1b}' {
            assert_eq!(rest.next(), Some('['));
            while rest.next().is_some_and(|sign| !sign.is_ascii_alphabetic()) {}
        } else {
            plain.push(sign);
        }
    }
    plain
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let project = reviewed();
    for columns in [1, 8, 20, 34, 60, 200] {
        let (mut child, mut terminal) = on_terminal(project.command(["status"]), columns, 24);
        let mut bytes = Vec::new();
        // Writing to a terminal whose other end is closed is an error.
        let _ = terminal.read_to_end(&mut bytes);
        assert!(child.wait().unwrap().success());
        let text = without_escapes(&String::from_utf8(bytes).unwrap());
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= usize::from(columns).min(100), "{columns}: {widest}\n{text}");
        assert!(text.replace(char::is_whitespace, "").contains("3FAIL"), "{columns}: {text}");
    }
}

#[test]
fn whose_turn_it_is() {
    let project = Project::in_state(json!({}));
    let turn = || {
        let screen = project.run(&["status"]).stdout;
        let lines = screen.lines().skip(3).take_while(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join(" ")
    };
    let agent = |words: &[&str]| {
        let ran = project.run(&[words, &["--session", "mine"]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    };
    let stop = |verdict, decision: Value| {
        project.reviewer(&Reviewer::of(verdict));
        assert_eq!(project.stop_of("mine").json()["decision"], decision);
    };
    let goes_on = "If it has stopped, /taskie:continue-plan goes on.";
    let works = format!("The agent's turn: when it ends its turn, the code-review runs. {goes_on}");
    assert!(turn().contains("no session is working on this plan"), "{}", turn());
    agent(&["next"]);
    assert_eq!(turn(), works);

    stop("FAIL", json!("block"));
    assert_eq!(turn(), format!("The agent's turn: it answers task-1-review-1.md. {goes_on}"));
    project.write("task-1-post-review-1.md", "answered\n");
    agent(&["enter", "post-code-review"]);
    assert_eq!(turn(), works);

    stop("PASS", json!("block"));
    project.write("task-1-post-review-2.md", "answered\n");
    agent(&["enter", "post-code-review"]);
    stop("PASS", Value::Null);
    assert_eq!(turn(), format!("The agent's turn: it implements task 2. {goes_on}"));
}
