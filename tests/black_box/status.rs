//! `taskie status`: the screen that a person reads, the JSON, and `--watch`.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};

use crate::bench::{copy_of_chart, wait_for};
use crate::expected::plan_in;
use crate::support::{PLAN, Project, Ran, Reviewer};

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// A reviewer that reports that it has started and ends on request.
struct Slow {
    begun: PathBuf,
    go: PathBuf,
}

impl Slow {
    fn on(project: &Project, verdict: &'static str) -> Self {
        let slow = Self {
            begun: project.bin.join("begun"),
            go: project.bin.join("go"),
        };
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
fn the_screen_from_beginning_to_end() {
    let cases: &[(&str, Value)] = &[
        ("a review is due", json!({})),
        (
            "a review is to be answered",
            json!({ "phase": "code-review", "next_phase": "post-code-review", "phase_iteration": 1 }),
        ),
        (
            "between two tasks",
            json!({ "phase": "code-review", "next_phase": "complete-task", "phase_iteration": 2, "consecutive_clean": 2 }),
        ),
        (
            "the limit is reached",
            json!({ "phase": "post-code-review", "phase_iteration": 2, "max_reviews": 2 }),
        ),
        ("reviews are off", json!({ "max_reviews": 0 })),
        (
            "paused",
            json!({ "next_phase": null, "paused": "code-review" }),
        ),
        ("no subject", json!({ "current_task": "9" })),
        (
            "complete",
            json!({ "phase": "complete", "next_phase": null, "phase_iteration": null }),
        ),
        ("another session drives it", json!({})),
    ];
    let mut seen = String::new();
    let mut show = |what: &str, project: &Project| {
        let before = project.files();
        let ran = project.run(&["status", "--session", "mine"]);
        assert_eq!(ran.err(), (0, ""), "{what}");
        assert_eq!(
            (project.files(), project.calls().len()),
            (before, 0),
            "{what}"
        );
        seen.push_str(&format!("== {what}\n{}\n", ran.stdout));
    };
    for (what, changes) in cases {
        let project = Project::in_state(changes.clone());
        if *what == "complete" {
            let tasks = project.read("tasks.md").replace("pending", "done");
            project.write("tasks.md", tasks);
        }
        let driver = match *what {
            "another session drives it" => "theirs",
            _ => "mine",
        };
        assert_eq!(project.run(&["next", "--session", driver]).code, 0);
        show(what, &project);
    }
    show("not begun", &Project::valid());
    let project = Project::in_state(json!({ "phase": "code-reviw" }));
    show("a broken state", &project);
    insta::assert_snapshot!("status", seen);
}

#[test]
fn the_json_is_whole() {
    let project = reviewed();
    let ran = project.run(&["status", "--json"]);
    assert_eq!(ran.err(), (0, ""));
    let dir = format!(".taskie/plans/{PLAN}");
    let review = |cycle: &str, of: &str, n: u64, verdict: Value, by: Value, answered: bool| {
        let cost = verdict.as_str().map(|_| 0.000_75);
        json!({ "cycle": cycle, "of": of, "n": n, "file": format!("{dir}/{of}-review-{n}.md"),
                "verdict": verdict, "stated": null, "by": by, "seconds": cost.map(|_| 0), "cost_usd": cost,
                "found": "", "answered": answered, "changed": [] })
    };
    let expected = json!({
        "version": 1, "chart": "taskie", "plan": PLAN, "directory": dir,
        "sentence": format!("The plan '{PLAN}' is in stage Implementation (reviews in this cycle 3 of 8, 0 of 2 clean in a row), and it is your turn: code-review 3 has no answer yet, but no session is working on this plan. /taskie:continue-plan in a session takes it up."), "started": true, "usable": true,
        "stage": "Implementation", "final": false, "phase": "code-review", "due": "post-code-review", "owner": null,
        "cycle": { "id": "code-review", "of": "task-1", "count": 3, "limit": 8, "due": false, "by": "sonnet", "streak": "0 of 2 clean in a row",
                   "spent": {
                       "reviews": 3, "verdicts": { "FAIL": 2, "PASS": 1 }, "failed": 0, "found_percent": 66, "findings": {}, "seconds": 0,
                       "cost_usd": 0.002_25, "unpriced": 0,
                   } },
        "reviews": [
            review("plan-review", "plan", 1, json!(null), json!(null), false),
            review("code-review", "task-1", 1, json!("FAIL"), json!("opus"), true),
            review("code-review", "task-1", 2, json!("PASS"), json!("sonnet"), true),
            review("code-review", "task-1", 3, json!("FAIL"), json!("opus"), false),
        ],
        "spent": {
            "reviews": 3, "verdicts": { "FAIL": 2, "PASS": 1 }, "failed": 0, "found_percent": 66, "findings": {}, "seconds": 0,
            "cost_usd": 0.002_25, "unpriced": 0,
        },
        "progress": { "tasks": { "done": 0, "all": 2 } },
        "running": null, "others": [],
        "next": { "action": "post-code-review", "why": format!("{dir}/task-1-review-3.md has not been answered yet.") },
        "stop": {
            "does": "allow",
            "text": format!(
                "it is allowed: no session drives the plan; once one has taken it up, it is allowed: Plan '{PLAN}' structure validated successfully"
            ),
        },
        "waits_for": "user",
        "context": {
            "max_reviews": 8, "current_task": "1", "phase": "code-review", "phase_iteration": 3, "next_phase": "post-code-review",
            "review_model": "sonnet", "consecutive_clean": 0, "tdd": false, "paused": null,
        },
        "warnings": [],
    });
    let mut json = ran.json();
    let mut reviews = json["reviews"].as_array().unwrap().clone();
    for timed in reviews.iter_mut().chain([&mut json["spent"]]) {
        if timed["seconds"].is_number() {
            timed["seconds"] = json!(0);
        }
    }
    json["reviews"] = json!(reviews);
    json["cycle"]["spent"]["seconds"] = json!(0);
    assert_eq!(json, expected);
}

/// Each review on disk with its verdict, as in the JSON.
fn verdicts(project: &Project) -> Vec<(String, Option<String>)> {
    let json = project.run(&["status", "--json"]).json();
    let reviews = json["reviews"].as_array().unwrap();
    let review = |review: &Value| {
        let file = review["file"].as_str().unwrap().rsplit('/').next().unwrap();
        (
            file.to_owned(),
            review["verdict"].as_str().map(str::to_owned),
        )
    };
    reviews.iter().map(review).collect()
}

#[test]
fn a_verdict_is_shown_only_for_the_file_it_was_about() {
    let project = reviewed();
    let journal = project.lock_file("journal");
    let of = |n: usize| verdicts(&project)[n].1.clone();
    assert_eq!(
        [of(0), of(1), of(2), of(3)],
        [
            None,
            Some("FAIL".into()),
            Some("PASS".into()),
            Some("FAIL".into())
        ]
    );
    project.write("task-1-review-2.md", "rewritten by someone\n");
    assert_eq!([of(1), of(2)], [Some("FAIL".into()), None]);
    // A line from a process that was killed while writing it, and a line from a later version.
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(
        &journal,
        format!("{text}{{\"file\":1}}\n{{\"cycle\":\"code-rev"),
    )
    .unwrap();
    project.write("task-1-post-review-3.md", "answered\n");
    project.reviewer(&Reviewer::pass());
    assert_eq!(project.stop().json()["decision"], "block");
    assert_eq!([of(3), of(4)], [Some("FAIL".into()), Some("PASS".into())]);
    fs::remove_file(&journal).unwrap();
    assert!(
        verdicts(&project)
            .iter()
            .all(|(_, verdict)| verdict.is_none())
    );
}

/// Of a review that another machine ran only the file is here.
#[test]
fn a_verdict_that_a_file_states_is_marked() {
    let cases = [
        ("# Review\n\nVerdict: PASS\n", "PASS?"),
        ("## Verdict\n\n**FAIL**: two issues.\n", "FAIL?"),
        (
            "The verdict of the last review was FAIL.\n\nMy verdict: pass.\n",
            "PASS?",
        ),
        ("The verdict is PASS or FAIL.\n", "?"),
        ("Verdict: PASSED\n", "?"),
        ("PASS\n", "?"),
        ("", "?"),
    ];
    let project = Project::in_state(json!({ "next_phase": null }));
    for (n, (text, _)) in cases.iter().enumerate() {
        project.write(&format!("task-1-review-{}.md", n + 1), text);
    }
    let reviews = project.run(&["status"]).stdout;
    let (_, reviews) = reviews.split_once("code-review task-1  ").unwrap();
    let marks: Vec<&str> = reviews.lines().next().unwrap().split("  ").collect();
    let expected: Vec<String> = cases
        .iter()
        .enumerate()
        .map(|(n, (_, shown))| format!("{} {shown}", n + 1))
        .collect();
    assert_eq!(marks, expected);
    let json = project.run(&["status", "--json"]).json();
    assert_eq!(
        (
            &json["reviews"][0]["verdict"],
            &json["reviews"][0]["stated"]
        ),
        (&json!(null), &json!("PASS"))
    );
}

#[test]
fn what_the_running_cycle_cost() {
    let project = reviewed();
    let cost = || project.run(&["status", "--json"]).json()["cycle"]["spent"]["cost_usd"].clone();
    assert_eq!(cost(), json!(0.002_25));
    // The cycle starts over, and so does another task's.
    project.set_state(json!({}));
    assert_eq!(cost(), json!(null));
    project.set_state(json!({ "current_task": "2" }));
    assert_eq!(cost(), json!(null));
    project.stop();
    assert_eq!(cost(), json!(0.000_75));
    let screen = project.run(&["status"]).stdout;
    assert!(
        screen.contains(
            "code-review of task-2: reviews in this cycle 1 of 8, 0 of 2 clean in a row,"
        ),
        "{screen}"
    );
    assert!(
        screen.contains("progress      0 of 2 tasks done"),
        "{screen}"
    );
}

#[test]
fn the_other_plans_are_named() {
    let project = Project::in_state(json!({}));
    for n in 1..=7 {
        let dir = project.root.join(format!(".taskie/plans/plan-{n}"));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("plan.md"), "# Plan\n").unwrap();
    }
    let screen = project.run(&["status", "--plan", PLAN]).stdout;
    let expected =
        "other plans   plan-1, plan-2, plan-3, plan-4, plan-5 and 2 more (`taskie list`)\n";
    assert!(screen.ends_with(expected), "{screen}");
    let others = project.run(&["status", "--plan", PLAN, "--json"]).json()["others"].clone();
    assert_eq!(others.as_array().unwrap().len(), 7);
}

#[test]
fn a_failed_review_has_no_verdict() {
    let project = plan_in(&json!({}), &Reviewer::pass().exits(1));
    project.stop();
    assert_eq!(
        verdicts(&project),
        [("task-1-review-1.md".to_owned(), None)]
    );
    let warnings = || project.run(&["status", "--json"]).json()["warnings"].clone();
    let failed = "failed: `claude` exited with code 1: {\"verdict\":\"PASS\"}.";
    assert_eq!(warnings(), json!([format!("The last review {failed}")]));
    project.stop();
    assert_eq!(warnings(), json!([format!("The last 2 reviews {failed}")]));
}

#[test]
fn what_is_a_review_follows_from_the_chart() {
    let project = Project::in_state(json!({ "next_phase": null }));
    for name in [
        "task-10-review-1.md",
        "task-2-review-2.md",
        "task-2-review-10.md",
        "task-2-post-review-2.md",
        "task-2-review-02.md",
        "all-code-review-1.md",
        "design-review-1.md",
        "notes-review-1.md",
        "plan-post-review-1.md",
    ] {
        project.write(name, "x");
    }
    let files: Vec<String> = verdicts(&project)
        .into_iter()
        .map(|(file, _)| file)
        .collect();
    assert_eq!(
        files,
        [
            "task-2-review-2.md",
            "task-2-review-10.md",
            "task-10-review-1.md",
            "all-code-review-1.md"
        ]
    );
}

#[test]
fn a_long_history_is_cut() {
    let project =
        Project::in_state(json!({ "current_task": "2", "phase_iteration": 15, "max_reviews": 99 }));
    for task in 1..=9 {
        for n in 1..=(if task == 2 { 15 } else { 2 }) {
            project.write(&format!("task-{task}-review-{n}.md"), "x");
        }
    }
    let text = project.run(&["status"]).stdout;
    let rows: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("reviews"))
        .collect();
    let expected = "\
reviews       code-review: 5 more (--all)
              code-review task-2  … 3 earlier  4 ?  5 ?  6 ?  7 ?  8 ?  9 ?  10 ?  11 ?  12 ?  13 ?
              14 ?  15 ?
              code-review task-7  1 ?  2 ?
              code-review task-8  1 ?  2 ?
              code-review task-9  1 ?  2 ?";
    assert_eq!(rows.join("\n"), expected);
}

#[test]
fn another_chart_has_its_own_words() {
    let project = Project::valid();
    let rename = |text: &str| {
        text.replace("all-code-review", "\u{0}")
            .replace("code-review", "audit")
            .replace('\u{0}', "all-code-review")
            .replace("consecutive_clean", "streak")
            .replace("noun   = \"plan\"", "noun   = \"gate\"")
    };
    let chart = copy_of_chart(&project, rename);
    project.write(
        "state.json",
        rename(&crate::support::state(json!({})).to_string()),
    );
    project.reviewer(&Reviewer::fail());
    let chart = chart.to_str().unwrap();
    project.stop_with(chart);
    let text = project.run(&["--chart", chart, "status"]).stdout;
    for line in [
        "review        audit of task-1: reviews in this cycle 1 of 8, 0 of 2 clean in a row, the next one by",
        "reviews       audit task-1  1 FAIL",
    ] {
        assert!(text.lines().any(|row| row == line), "{line}\n{text}");
    }
    let json = project
        .run(&["--chart", chart, "status", "--json", "--gate", PLAN])
        .json();
    assert_eq!(json["gate"], PLAN);
}

#[test]
fn a_running_review_is_shown_while_its_lock_is_held() {
    let project = Project::in_state(json!({}));
    let slow = Slow::on(&project, "PASS");
    let hook = slow.begin(&project);
    let json = project.run(&["status", "--json"]).json();
    let running = &json["running"];
    assert_eq!(
        (
            &running["cycle"],
            &running["n"],
            &running["by"],
            &running["timeout"]
        ),
        (
            &json!("code-review"),
            &json!(1),
            &json!("opus"),
            &json!(570)
        )
    );
    assert_eq!(
        running["file"],
        format!(".taskie/plans/{PLAN}/task-1-review-1.md")
    );
    assert!(running["seconds"].as_u64().unwrap() < 120);
    assert_eq!(running["last_line"], "reading plan.md");
    assert_eq!(
        (&json["waits_for"], &json["stop"]["does"]),
        (&json!("review"), &json!("allow"))
    );
    let text = project.run(&["status"]).stdout;
    assert!(
        text.contains("\nA review is running: code-review 1 by opus, for "),
        "{text}"
    );
    assert!(
        text.contains(
            " of at most 9 min 30 s\nits log: reading plan.md\n\nat a stop     it is allowed: a review is already running\n"
        ),
        "{text}"
    );
    slow.end(hook);
    assert_eq!(
        project.run(&["status", "--json"]).json()["running"],
        Value::Null
    );
    assert!(!project.lock_file("running").exists());
}

#[test]
fn a_killed_hook_leaves_no_running_review() {
    let project = Project::in_state(json!({}));
    let slow = Slow::on(&project, "PASS");
    let mut hook = slow.begin(&project);
    signal(&hook, Signal::KILL);
    hook.wait().unwrap();
    let running = || project.run(&["status", "--json"]).json()["running"]["n"].clone();
    wait_for("the reviewer to end", || running().is_null().then_some(()));
    assert!(
        project.lock_file("running").exists(),
        "the note is there, and not believed"
    );
    project.reviewer(&Reviewer::fail());
    assert_eq!(project.stop().json()["decision"], "block");
}

#[test]
fn escape_sequences_in_files_do_not_reach_the_screen() {
    let project = Project::valid();
    let nasty = "\u{1b}]0;title\u{7}\u{9b}2Jx\ny";
    project.set_state(json!({ "review_model": nasty }));
    project.write("plan-review-1.md", "x");
    let ended = json!({
        "line": "review", "at": "2026-01-31T12:00:00.000Z", "instance": PLAN, "cycle": "plan-review", "n": 1,
        "file": "plan-review-1.md", "bytes": 1, "verdict": nasty, "error": null, "by": nasty, "seconds": 0,
    });
    let locks = project.root.join(".taskie/.locks");
    fs::create_dir_all(&locks).unwrap();
    let journal = locks.join(format!("{PLAN}.journal"));
    fs::write(&journal, "").unwrap();
    let inode = std::os::unix::fs::MetadataExt::ino(&fs::metadata(&journal).unwrap());
    fs::write(&journal, format!("{{\"inode\":{inode}}}\n{ended}\n")).unwrap();
    let mut command = project.command(["status"]);
    let ran = Ran::of(command.env("CLICOLOR_FORCE", "1").output().unwrap());
    assert_eq!(ran.code, 0);
    let harmless = r"\u{1b}]0;title\u{7}\u{9b}2Jx\ny";
    let is_harmless = |text: &str| {
        text.replace("\u{1b}[", "")
            .chars()
            .all(|char| char == '\n' || !char.is_control())
    };
    assert!(is_harmless(&ran.stdout), "{:?}", ran.stdout);
    assert!(
        ran.stdout.contains(&format!("by {harmless}")),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_watch_ends_with_its_reader() {
    let project = Project::in_state(json!({}));
    let mut child = project.command(["status", "--watch"]).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    // Nothing changes, so nothing more would be written.
    drop(out);
    let status = wait_for("the watch to end", || child.try_wait().unwrap());
    assert!(status.success());
}

#[test]
fn status_does_not_delay_a_review() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    // A note that a killed hook left behind: whoever reads it asks for the lock.
    let note = json!({ "cycle": "code-review", "n": 1, "file": "x", "by": null, "started": 0, "timeout": 1 });
    let locks = project.root.join(".taskie/.locks");
    fs::create_dir_all(&locks).unwrap();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                fs::write(locks.join(format!("{PLAN}.running")), note.to_string()).unwrap();
                project.run(&["status"]);
            }
        });
        for _ in 0..30 {
            project.set_state(json!({}));
            let answer = project.stop().json();
            assert_eq!(answer["decision"], "block", "{answer}");
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// Makes `taskie status --watch` check now, not at the end of its second: the terminal may have a new size.
fn look(child: &Child) {
    signal(child, Signal::WINCH);
}

/// `taskie status --watch` in a pipe, and the lines that it has printed.
fn watch(project: &Project, args: &[&str]) -> (Child, std::sync::mpsc::Receiver<String>) {
    let mut child = project
        .command([&["status", "--watch"], args].concat())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    (child, receiver)
}

#[test]
fn a_pipe_gets_a_line_for_each_change() {
    let project = Project::in_state(json!({}));
    let slow = Slow::on(&project, "FAIL");
    let (mut child, lines) = watch(&project, &[]);
    let next = || lines.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(
        next(),
        format!("{PLAN}: complete-task, code-review due; your turn")
    );
    let look = || look(&child);
    let hook = slow.begin(&project);
    look();
    assert_eq!(next(), format!("{PLAN}: code-review 1 by opus is running"));
    slow.end(hook);
    look();
    assert_eq!(
        next(),
        format!("{PLAN}: code-review, post-code-review due; code-review 1: FAIL; your turn")
    );
    assert_eq!(project.run(&["run", "pause"]).code, 0);
    look();
    assert_eq!(next(), format!("{PLAN}: code-review; your turn"));
    // It checks, nothing has changed, and it prints nothing.
    look();
    assert_eq!(project.run(&["run", "resume"]).code, 0);
    look();
    assert_eq!(
        next(),
        format!("{PLAN}: code-review, post-code-review due; code-review 1: FAIL; your turn")
    );
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(lines.recv().ok(), None);
}

#[test]
fn a_program_gets_an_object_for_each_change() {
    let project = Project::in_state(json!({}));
    let (mut child, lines) = watch(&project, &["--json"]);
    let next = || -> Value {
        serde_json::from_str(&lines.recv_timeout(Duration::from_secs(60)).unwrap()).unwrap()
    };
    assert_eq!(next(), project.run(&["status", "--json"]).json());
    assert_eq!(project.run(&["run", "limit", "3"]).code, 0);
    look(&child);
    assert_eq!(next()["cycle"]["limit"], 3);
    signal(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let project = Project::in_state(json!({}));
    let mut child = project.command(["status", "--watch"]).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(project.run(&["run", "pause"]).code, 0);
    wait_for("it to end", || child.try_wait().unwrap());
}

#[test]
fn a_missing_plan_cannot_be_watched() {
    let project = Project::valid();
    let ran = project.run(&["status", "--watch", "--plan", "test-pla"]);
    assert_eq!(
        ran.all(),
        (
            1,
            "",
            "taskie: there is no plan `test-pla`\n  help: did you mean `test-plan`?\n"
        )
    );
}

/// A command whose stdout is a terminal of this size, and the terminal's other end.
pub fn on_terminal(mut command: Command, columns: u16, rows: u16) -> (Child, fs::File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let other: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&other).unwrap();
    unlockpt(&other).unwrap();
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&other, size).unwrap();
    let path = PathBuf::from(ptsname(&other, Vec::new()).unwrap().into_string().unwrap());
    let terminal = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
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
        assert!(
            widest <= usize::from(columns).min(100),
            "{columns}: {widest}\n{text}"
        );
        assert!(
            text.replace(char::is_whitespace, "").contains("3FAIL"),
            "{columns}: {text}"
        );
    }
}

#[test]
fn a_terminal_is_drawn_in_place() {
    let project = reviewed();
    for (columns, rows, height) in [(80, 40, 20), (40, 8, 7)] {
        let (mut child, mut terminal) =
            on_terminal(project.command(["status", "--watch"]), columns, rows);
        let mut seen = String::new();
        let up = format!("\u{1b}[{height}F");
        let mut buffer = [0; 4096];
        while seen.matches(&up).count() < 2 {
            let count = terminal.read(&mut buffer).unwrap();
            seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
            assert!(seen.len() < 10_000, "{seen:?}");
            look(&child);
        }
        signal(&child, Signal::INT);
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let first = without_escapes(seen.split(&up).next().unwrap());
        assert_eq!(first.lines().count(), height, "{first}");
        assert_eq!(
            first.contains("press Ctrl-C to stop"),
            rows == 40,
            "{first}"
        );
        assert!(first.contains("turn:"), "{first}");
    }
}
