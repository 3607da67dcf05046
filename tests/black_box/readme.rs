//! The README is a promise: every block of it is run here. A block or a command that this file does not
//! know fails the test, so that none can be added unproved.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{PLAN, Project, Ran, Reviewer, feed, silent};

/// A fenced block: its language and its text.
struct Block {
    language: String,
    text: String,
}

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap()
}

fn blocks(language: &str) -> Vec<String> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in readme().lines() {
        match (line.strip_prefix("```"), open) {
            (Some(language), false) => {
                blocks.push(Block {
                    language: language.to_owned(),
                    text: String::new(),
                });
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, false) => {}
        }
    }
    assert!(!open, "a block is not closed");
    let known = ["sh", "json", "toml", "text"];
    for block in &blocks {
        assert!(
            known.contains(&block.language.as_str()),
            "no test runs a `{}` block",
            block.language
        );
    }
    blocks
        .into_iter()
        .filter(|block| block.language == language)
        .map(|block| block.text)
        .collect()
}

/// A line as a person would type it, the built binary being `taskie`.
fn shell(project: &Project, line: &str) -> Ran {
    let mut command: Command = project.command(["--version"]);
    let bin = Path::new(env!("CARGO_BIN_EXE_taskie"))
        .parent()
        .unwrap()
        .display()
        .to_string();
    let path = std::env::var("PATH").unwrap();
    let env: Vec<_> = command
        .get_envs()
        .map(|(key, value)| (key.to_owned(), value.map(ToOwned::to_owned)))
        .collect();
    command = Command::new("sh");
    for (key, value) in env {
        match value {
            Some(value) => command.env(key, value),
            None => command.env_remove(key),
        };
    }
    command.env("PATH", format!("{}:{bin}:{path}", project.bin.display()));
    Ran::of(
        command
            .args(["-c", line])
            .current_dir(&project.root)
            .output()
            .unwrap(),
    )
}

#[test]
fn every_command_works() {
    let project = Project::valid();
    project.reviewer(&Reviewer::fail());
    let event = json!({ "session_id": "s", "cwd": project.root, "stop_hook_active": false });
    fs::write(project.root.join("event.json"), event.to_string()).unwrap();
    for line in blocks("sh").iter().flat_map(|block| block.lines()) {
        // What has happened in a plan before a person or an agent types this.
        let state = |changes: Value| {
            let dir = project.root.join(".taskie/plans/my-plan");
            let mut state: Value =
                serde_json::from_str(&fs::read_to_string(dir.join("state.json")).unwrap()).unwrap();
            state
                .as_object_mut()
                .unwrap()
                .extend(changes.as_object().unwrap().clone());
            fs::write(dir.join("state.json"), state.to_string()).unwrap();
        };
        let line = match line {
            "cargo run --release -- demo" => "taskie demo",
            // This is it.
            "cargo test" => continue,
            // What it installs is the package whose binary all of this runs.
            "cargo install --path ." => {
                assert_eq!(env!("CARGO_PKG_NAME"), "taskie");
                continue;
            }
            "taskie enter new-plan --plan my-plan" => line,
            "taskie enter post-plan-review" => {
                state(
                    json!({ "phase": "plan-review", "next_phase": "post-plan-review", "phase_iteration": 1 }),
                );
                line
            }
            "taskie enter create-tasks" => {
                state(json!({ "phase": "plan-review", "next_phase": "create-tasks" }));
                line
            }
            "taskie enter complete-task --task 1" => {
                let dir = project.root.join(".taskie/plans/my-plan");
                fs::copy(project.plan().join("tasks.md"), dir.join("tasks.md")).unwrap();
                state(json!({ "phase": "tasks-review", "next_phase": "complete-task" }));
                line
            }
            "taskie status"
            | "taskie next"
            | "taskie check-chart"
            | "taskie check-chart --explain unknown-name" => line,
            "taskie validate" => {
                let dir = project.root.join(".taskie/plans/my-plan");
                fs::copy(project.plan().join("plan.md"), dir.join("plan.md")).unwrap();
                line
            }
            "taskie render --next" => {
                let dir = project.root.join(".taskie/plans/my-plan");
                fs::copy(project.plan().join("task-1.md"), dir.join("task-1.md")).unwrap();
                line
            }
            "taskie run limit 4" | "taskie run pause" | "taskie run resume" | "taskie run skip" => {
                line
            }
            "TASKIE_TRACE=trace.jsonl taskie hook stop < event.json" => line,
            other => panic!("no test runs `{other}`"),
        };
        let ran = shell(&project, line);
        // A preview says what it is of beside what it shows.
        let stderr = match line {
            "taskie render --next" => {
                assert!(ran.stdout.contains("task-1-review-1.md"), "{}", ran.stdout);
                assert!(
                    ran.stderr
                        .starts_with("taskie: code-review 1 is due: the next stop runs this"),
                    "{}",
                    ran.stderr
                );
                ""
            }
            _ => ran.stderr.as_str(),
        };
        assert_eq!((ran.code, stderr), (0, ""), "{line}: {}", ran.stdout);
    }
    let trace = fs::read_to_string(project.root.join("trace.jsonl")).unwrap();
    assert_eq!(trace.lines().count(), 1);
    let state = fs::read_to_string(project.root.join(".taskie/plans/my-plan/state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(
        (&state["max_reviews"], &state["next_phase"]),
        (&json!(4), &json!("complete-task"))
    );
}

#[test]
fn the_settings_call_the_hook() {
    let blocks = blocks("json");
    let [settings] = blocks.as_slice() else {
        panic!("one block of settings")
    };
    let settings: Value = serde_json::from_str(settings).unwrap();
    let hook = &settings["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(
        (&hook["type"], &hook["timeout"]),
        (&json!("command"), &json!(600))
    );
    let project = Project::empty();
    let ran = shell(
        &project,
        &format!("echo '{{}}' | {}", hook["command"].as_str().unwrap()),
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (0, silent()));
}

#[test]
fn the_chart_is_quoted_as_it_is() {
    let chart =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("statechart.toml")).unwrap();
    let blocks = blocks("toml");
    assert!(blocks.len() >= 5);
    for block in blocks {
        assert!(
            chart.contains(block.trim_end()),
            "statechart.toml does not hold\n{block}"
        );
    }
}

#[test]
fn the_picture_the_message_and_the_proof_are_true() {
    let blocks = blocks("text");
    let [picture, message, proof] = blocks.as_slice() else {
        panic!("a picture of the loop, a message, and a part of the proof")
    };
    let project = Project::valid();
    let proved = project.run(&["check-chart"]).stdout;
    assert!(proved.contains(proof.as_str()), "{proved}");
    for word in picture
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("/taskie:"))
    {
        let help = project.run(&["enter", "--help"]).stdout;
        assert!(help.contains(word), "{word}");
    }
    project.reviewer(&Reviewer::fail());
    project.set_state(json!({ "phase": "new-plan", "next_phase": "plan-review" }));
    assert_eq!(project.stop().json()["decision"], "block");
    for file in picture
        .split_whitespace()
        .filter(|word| word.ends_with(".md"))
    {
        assert!(project.plan().join(file).exists(), "{file} in {PLAN}");
    }

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let chart = fs::read_to_string(root.join("statechart.toml"))
        .unwrap()
        .replace("cycle.limit == 0", "cycle.limt == 0");
    fs::write(project.root.join("statechart.toml"), chart).unwrap();
    for folder in ["templates", "plugin"] {
        std::os::unix::fs::symlink(root.join(folder), project.root.join(folder)).unwrap();
    }
    let ran = project.run(&["--chart", "statechart.toml", "schema", "state"]);
    // Line numbers move with the chart.
    let shape = |text: &str| {
        text.trim_end()
            .replace(|sign: char| sign.is_ascii_digit(), "#")
    };
    assert_eq!((ran.code, shape(&ran.stderr)), (1, shape(message)));
    let ran = feed(
        project.command(["--chart", "statechart.toml", "hook", "stop"]),
        "{}",
    );
    assert_eq!(ran.code, 0, "a broken chart blocks nobody");
}
