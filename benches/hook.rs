//! Measures one Stop hook as a whole process, in turn with an empty Rust program built the same way and `bash -c
//! true`. `cargo bench` prints the README's table.
//!
//! A time alone says more about the machine than about the program; the ratio says what the hook adds to the cost of
//! a process. `cargo bench -- 100` runs each case 100 times instead of 400, and `cargo bench -- PATH` measures the
//! program at PATH, such as the one that is shipped, beside the same empty program.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot be set up has nothing to print but why"
)]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A case: its name, and the project in which the hook runs.
struct Case {
    name: &'static str,
    project: fn(&Path),
    kind: Kind,
}

/// What a case does besides a plain stop.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    /// The session of the stop has started work on a plan, so no plan is searched for.
    OfSession,
    /// The state is restored before each run, and a scripted reviewer answers at once.
    Reviews,
}

const CASES: &[Case] = &[
    Case { name: "no `.taskie` at all", project: |_| {}, kind: Kind::Plain },
    Case { name: "approve: a valid plan", project: valid_plan, kind: Kind::Plain },
    Case { name: "approve: 202 Markdown files", project: many_files, kind: Kind::Plain },
    Case { name: "approve: 1,000 plans", project: many_plans, kind: Kind::Plain },
    Case {
        name: "approve: 1,000 plans, one the session's",
        project: many_plans,
        kind: Kind::OfSession,
    },
    Case { name: "review, the reviewer instant", project: valid_plan, kind: Kind::Reviews },
];

const STATE: &str = r#"{"max_reviews": 8, "current_task": "1", "phase": "complete-task", "phase_iteration": 0,
  "next_phase": null, "review_model": "opus", "consecutive_clean": 0, "tdd": false}"#;

fn main() {
    let rounds = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(400);
    let program = std::env::args()
        .skip(1)
        .find(|arg| arg.contains('/'))
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_taskie")), PathBuf::from)
        .canonicalize()
        .expect("a program to measure");
    let temp = tempfile::tempdir().expect("a temporary directory");
    let empty = build_empty(temp.path());
    let bin = temp.path().join("bin");
    fs::create_dir_all(&bin).expect("a directory");
    let claude = "#!/bin/sh\nfor last in \"$@\"; do :; done\necho x > \"${last##*Write your review to }\"\necho '{\"is_error\":false,\"structured_output\":{\"verdict\":\"FAIL\"}}'\n";
    fs::write(bin.join("claude"), claude).expect("a script");
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755))
        .expect("an executable script");

    let mut table =
        String::from("| case | median | × empty program | × `bash -c true` |\n|---|---|---|---|\n");
    for (index, case) in CASES.iter().enumerate() {
        let root = temp.path().join(format!("case-{index}"));
        fs::create_dir_all(&root).expect("a directory");
        (case.project)(&root);
        let event = temp.path().join(format!("event-{index}.json"));
        let session = match case.kind {
            Kind::OfSession => r#", "session_id": "bench""#,
            Kind::Plain | Kind::Reviews => "",
        };
        fs::write(&event, format!("{{\"cwd\": {root:?}, \"stop_hook_active\": false{session}}}"))
            .expect("an event");
        if case.kind == Kind::OfSession {
            let started = Command::new(&program)
                .args(["next", "--plan", "plan-7", "--session", "bench"])
                .current_dir(&root)
                .stdout(Stdio::null())
                .status()
                .expect("taskie");
            assert!(started.success(), "the session takes no plan up");
        }
        let hook = |program: &Path, args: &[&str]| {
            let mut command = Command::new(program);
            command.args(args).current_dir(&root).stdin(File::open(&event).expect("the event"));
            command.env_remove("TASKIE_REVIEWER").env_remove("CLAUDE_PROJECT_DIR");
            let path = std::env::var("PATH").unwrap_or_default();
            command
                .env("PATH", format!("{}:{path}", bin.display()))
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            time(command)
        };
        let (mut ours, mut none, mut bash) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            if case.kind == Kind::Reviews {
                let state =
                    STATE.replace("\"next_phase\": null", "\"next_phase\": \"code-review\"");
                let plan = root.join(".taskie/plans/plan");
                fs::write(plan.join("state.json"), state).expect("a state");
                let _ = fs::remove_file(plan.join("task-1-review-1.md"));
            }
            none.push(hook(&empty, &[]));
            ours.push(hook(&program, &["hook", "stop"]));
            bash.push(hook(Path::new("bash"), &["-c", "true"]));
        }
        let _ = writeln!(
            table,
            "| {} | {:.2} ms | {} | {} |",
            case.name,
            median(&mut ours.clone()).as_secs_f64() * 1e3,
            ratio(&ours, &none),
            ratio(&ours, &bash)
        );
    }
    println!(
        "{table}\n{rounds} runs a case, alternating; in brackets the middle half of the ratios of neighbors."
    );
}

/// The empty program, with the flags of the `dist` profile.
fn build_empty(folder: &Path) -> PathBuf {
    let out = folder.join("empty");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/empty.rs");
    let flags = [
        "--edition=2024",
        "-Copt-level=3",
        "-Clto=fat",
        "-Ccodegen-units=1",
        "-Cstrip=symbols",
        "-Cpanic=abort",
    ];
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built =
        Command::new(rustc).args(flags).arg(source).arg("-o").arg(&out).status().expect("rustc");
    assert!(built.success(), "the empty program does not build");
    out
}

fn time(mut command: Command) -> Duration {
    let start = Instant::now();
    let mut child = command.spawn().expect("a program that starts");
    child.wait().expect("a program that ends");
    start.elapsed()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Returns the ratio of the medians, and the quartiles of the ratios of neighboring runs.
fn ratio(ours: &[Duration], theirs: &[Duration]) -> String {
    let of_medians =
        median(&mut ours.to_vec()).as_secs_f64() / median(&mut theirs.to_vec()).as_secs_f64();
    let mut ratios: Vec<f64> =
        ours.iter().zip(theirs).map(|(a, b)| a.as_secs_f64() / b.as_secs_f64()).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    format!("{of_medians:.2} ({:.2}–{:.2})", ratios[ratios.len() / 4], ratios[ratios.len() * 3 / 4])
}

fn plan(root: &Path, name: &str) -> PathBuf {
    let plan = root.join(".taskie/plans").join(name);
    fs::create_dir_all(&plan).expect("a plan");
    let tasks = "| Id | Status |\n|---|---|\n| 1 | pending |\n| 2 | pending |\n";
    for (name, text) in [
        ("plan.md", "# Plan\n"),
        ("tasks.md", tasks),
        ("task-1.md", "# 1\n"),
        ("task-2.md", "# 2\n"),
        ("state.json", STATE),
    ] {
        fs::write(plan.join(name), text).expect("a file");
    }
    plan
}

fn valid_plan(root: &Path) {
    plan(root, "plan");
}

fn many_files(root: &Path) {
    let plan = plan(root, "plan");
    for n in 1..=99 {
        fs::write(plan.join(format!("task-1-review-{n}.md")), "x").expect("a file");
        fs::write(plan.join(format!("task-1-post-review-{n}.md")), "x").expect("a file");
    }
}

fn many_plans(root: &Path) {
    for n in 0..1000 {
        plan(root, &format!("plan-{n}"));
    }
}
