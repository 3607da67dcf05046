//! Measures a prompt and a stop with the setting `every_stop`, in repositories of several sizes, in turn with `git status` there:
//! a time alone says more about the machine than about the program. `cargo bench --bench changes` prints the table of the page
//! about speed, and `cargo bench --bench changes -- PATH` measures the program at PATH.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that cannot be set up has nothing to print but why"
)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How many files there are, and how often each case is measured.
const SIZES: [(usize, usize); 3] = [(100, 40), (10_000, 10), (100_000, 5)];

fn main() {
    let named = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let program =
        named.unwrap_or_else(|| option_env!("CARGO_BIN_EXE_taskie").unwrap_or("taskie").to_owned());
    println!("| Files | `git status` | A prompt | × | A stop that changed documentation | × |");
    println!("|---|---|---|---|---|---|");
    for (files, runs) in SIZES {
        measure(&program, files, runs);
    }
}

fn measure(program: &str, files: usize, runs: usize) {
    let base = std::env::temp_dir().join(format!("taskie-bench-{}", std::process::id()));
    let (home, root) = (base.join("home"), base.join("project"));
    let settings = home.join(".config/taskie");
    fs::create_dir_all(&settings).expect("the settings");
    fs::write(settings.join("taskie.json"), "{\"every_stop\": true}").expect("the settings");
    fill(&root, files);
    let run = |program: &str, args: &[&str], input: &str| {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(&root)
            .env("HOME", &home)
            .env_remove("XDG_CONFIG_HOME")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command.spawn().expect("the program");
        let mut stdin = child.stdin.take().expect("its stdin");
        stdin.write_all(input.as_bytes()).expect("its input");
        drop(stdin);
        let output = child.wait_with_output().expect("its end");
        (start.elapsed(), output.stdout)
    };
    let event =
        format!("{{\"session_id\": \"s\", \"prompt\": \"p\", \"cwd\": \"{}\"}}", root.display());
    let hook = |name: &str| {
        let (took, printed) = run(program, &["hook", name], &event);
        let printed = String::from_utf8_lossy(&printed).into_owned();
        assert!(!printed.contains("systemMessage"), "{printed}");
        took
    };
    for setup in [
        &["init", "-q"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=n",
            "-c",
            "user.email=e",
            "-c",
            "maintenance.auto=false",
            "commit",
            "-qm",
            "one",
        ],
    ] {
        run("git", setup, "");
    }
    let mut times: [Vec<Duration>; 3] = Default::default();
    for turn in 0..=runs {
        let status = run("git", &["status", "--porcelain"], "").0;
        let prompt = hook("user-prompt-submit");
        fs::write(root.join("README.md"), turn.to_string()).expect("a file");
        let documentation = hook("stop");
        // The first one also reads what later ones find in the cache.
        if turn > 0 {
            let all = [status, prompt, documentation];
            times.iter_mut().zip(all).for_each(|(times, took)| times.push(took));
        }
    }
    let medians = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1000.0
    });
    let [status, cases @ ..] = medians;
    let cases = cases.map(|took| format!("{took:.1} ms | {:.2}", took / status));
    println!("| {files} | {status:.1} ms | {} |", cases.join(" | "));
    fs::remove_dir_all(&base).expect("the folder");
}

/// Makes a work tree of this many files, a hundred in each folder.
fn fill(root: &Path, files: usize) {
    for number in 0..files {
        let folder = root.join(format!("src/{}", number / 100));
        if number % 100 == 0 {
            fs::create_dir_all(&folder).expect("a folder");
        }
        fs::write(folder.join(format!("{number}.txt")), format!("{number}\n")).expect("a file");
    }
}
