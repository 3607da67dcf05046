//! A hostile environment: leftovers of killed processes, links that lead out of the project.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::json;

use crate::expected::plan_in;
use crate::support::{PLAN, Project, Ran, Reviewer, feed, git, set_mode, state, validated};

/// Files that a process left behind when it was killed while writing are neither kept nor followed.
#[test]
fn a_state_half_written_is_no_obstacle() {
    for is_link in [false, true] {
        let project = Project::in_state(json!({}));
        let state_file = project.plan().join("state.json");
        set_mode(&state_file, 0o664);
        let elsewhere = project.bin.join("elsewhere");
        fs::write(&elsewhere, "mine").unwrap();
        let left = project.plan().join(".state.json.new");
        if is_link {
            symlink(&elsewhere, &left).unwrap();
        } else {
            fs::write(&left, "{ \"max_rev").unwrap();
        }
        let ran = project.run(&["run", "limit", "3"]);
        assert_eq!(ran.err(), (0, ""));
        assert_eq!(project.state(), state(json!({ "max_reviews": 3 })));
        assert_eq!(
            project.names(),
            ["plan.md", "state.json", "task-1.md", "task-2.md", "tasks.md"]
        );
        assert_eq!(fs::metadata(&state_file).unwrap().permissions().mode() & 0o777, 0o664);
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine");
    }
}

/// A file that may not grow: the old state stays, nothing else is left behind, and the reason is reported.
#[test]
fn a_write_that_does_not_fit_leaves_the_old_state() {
    let project = Project::valid();
    // Longer than the blocks that the process may write: what else is written fits.
    project.set_state(json!({ "note": "x".repeat(5_000) }));
    let before = project.files();
    let line = "ulimit -f 4 && exec taskie limit 3";
    let ran = Ran::of(project.shell(line).output().unwrap());
    let why = format!(
        "taskie: .taskie/plans/{PLAN}/state.json cannot be written: File too large (os error 27)\n  help: fix the cause, \
         and run the command again\n"
    );
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (1, "", why));
    assert_eq!(project.files(), before);
    let ran = project.run(&["run", "limit", "3"]);
    assert_eq!(ran.err(), (0, ""));
    assert_eq!(project.state()["max_reviews"], 3);
}

/// Wherever on the path to a plan a link leads out of the project, nothing is read or written there.
#[test]
fn plans_outside_the_project_are_not_followed() {
    for link in [".taskie", ".taskie/plans", ".taskie/plans/p"] {
        let project = Project::empty();
        let elsewhere = project.bin.join("elsewhere");
        let plan = elsewhere.join(Path::new(".taskie/plans/p").strip_prefix(link).unwrap());
        fs::create_dir_all(&plan).unwrap();
        fs::write(plan.join("plan.md"), "# Theirs\n").unwrap();
        let link = project.root.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&elsewhere, &link).unwrap();

        let message = project.stop().message();
        assert!(
            message.ends_with("is a symbolic link, which is not followed.")
                || message.ends_with("through a symbolic link, which is not followed."),
            "{message}"
        );
        for name in ["p", "new"] {
            if name == "new" && link.ends_with("p") {
                continue;
            }
            let ran = project.run(&["enter", "new-plan", "--plan", name]);
            let error = &ran.stderr;
            assert!(error.contains("leads out of the project through a symbolic link"), "{error}");
            assert!(error.contains("\n  help: use a folder that is only yours"), "{error}");
            assert_eq!(ran.code, 1);
        }
        assert_eq!(fs::read_dir(&plan).unwrap().count(), 1);
        assert!(
            !elsewhere.join("new").exists()
                && !elsewhere.join("plans/new").exists()
                && !elsewhere.join(".locks").exists()
        );
    }
}

#[test]
fn the_bare_program_is_wrong_usage() {
    let ran = Project::empty().run(&[]);
    assert_eq!(ran.out(), (2, ""));
    assert!(ran.stderr.starts_with("An independent reviewer for coding agents"));
    assert!(ran.stderr.lines().count() <= 24, "{}", ran.stderr);
}

/// A block that could not be printed is repeated, and no reviewer is run for it again.
#[test]
fn an_undelivered_block_is_repeated() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    let mut command = project.command(["hook", "stop"]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    command.stdout(full);
    let ran = feed(command, project.stop_event(false));
    assert_eq!(ran.out(), (0, ""));
    assert_eq!(project.state()["next_phase"], "post-code-review");
    let answer = project.stop_active(true).json();
    assert_eq!(answer["decision"], "block");
    assert!(answer["reason"].as_str().unwrap().contains("task-1-review-1.md"));
    assert_eq!(project.stop().json(), validated());
    assert_eq!(project.calls().len(), 1);
}

/// A state file of another user that could be run as that user: the new file gets no more than the permission bits.
#[test]
fn only_permission_bits_are_kept() {
    let project = Project::in_state(json!({}));
    let file = project.plan().join("state.json");
    set_mode(&file, 0o6755);
    assert_eq!(project.run(&["run", "pause"]).code, 0);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o755);
}

/// A review that is written through a link would overwrite the link's target.
#[test]
fn a_review_file_that_is_a_link() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    let precious = project.bin.join("precious");
    fs::write(&precious, "precious").unwrap();
    symlink(&precious, project.plan().join("task-1-review-1.md")).unwrap();
    let answer = project.stop().json();
    let why = format!("Review failed: .taskie/plans/{PLAN}/task-1-review-1.md is a symbolic link.");
    assert!(answer["systemMessage"].as_str().unwrap().starts_with(&why), "{answer}");
    assert_eq!(
        (project.calls().len(), fs::read_to_string(precious).unwrap()),
        (0, "precious".to_owned())
    );
}

/// (file, why it is not read)
#[test]
fn files_that_never_end() {
    for (target, why) in [
        ("/proc/self/pagemap", "it is a symbolic link out of the project"),
        ("/dev/zero", "it is a symbolic link out of the project"),
        ("big", "it is larger than 16 MiB"),
    ] {
        let project = Project::in_state(json!({}));
        let table = project.plan().join("tasks.md");
        fs::remove_file(&table).unwrap();
        if target == "big" {
            fs::File::create(&table).unwrap().set_len(17 * 1024 * 1024).unwrap();
        } else {
            symlink(target, &table).unwrap();
        }
        let answer = project.stop().json();
        let said = answer["systemMessage"].as_str().unwrap();
        assert!(said.contains(&format!("tasks.md cannot be read: {why}")), "{answer}");
    }
}

/// The log of a failed review is only for the user, and nobody commits it by accident.
#[test]
fn logs_are_ignored_by_git() {
    let project = plan_in(&json!({}), &Reviewer::fail().exits(1).warns("secret"));
    git(&project.root, &["init", "-q"]);
    project.stop();
    let log = project.root.join(".taskie/.locks/test-plan.log");
    assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let untracked = git(&project.root, &["status", "--porcelain", "--untracked-files=all"]);
    assert!(!untracked.contains(".log"), "{untracked}");
}

/// Names that refer to names, and templates that include templates, several at each level: each is read once.
#[test]
fn charts_that_double_at_each_level() {
    let project = Project::empty();
    fs::create_dir_all(project.root.join(".x/plans/p")).unwrap();
    fs::write(project.root.join(".x/plans/p/state.json"), "{\"phase\": \"a\"}").unwrap();
    let templates = project.root.join("templates");
    fs::create_dir_all(&templates).unwrap();
    fs::write(templates.join("t0.md"), "x").unwrap();
    for level in 1..10 {
        let text = format!("{{% include 't{}.md' %}}", level - 1).repeat(9);
        fs::write(templates.join(format!("t{level}.md")), text).unwrap();
    }
    let lets = |first: &str, next: &dyn Fn(usize) -> String| {
        let lets = (1..28).map(|level| format!("x{level} = \"{}\"\n", next(level - 1)));
        format!("x0 = \"{first}\"\n{}", lets.collect::<String>())
    };
    let guards = lets("scope.name == ''", &|x| format!("x{x} or x{x} or not x{x} or x{x}"));
    let texts = lets("scope.name", &|x| format!("x{x} ~ x{x} ~ x{x} ~ x{x}"));
    let lists = lets("[scope.name]", &|x| format!("[x{x}, x{x}, x{x}, x{x}]"));
    for (rule, lets, said) in [
        ("guard = \"x27\"\nallow = true", guards.as_str(), "suppressOutput"),
        (
            "guard = \"x27 | flatten | join == 'a'\"\nallow = true",
            lists.as_str(),
            "has more than 1000000 characters or items",
        ),
        (
            "guard = \"x27 == 'a'\"\nallow = true",
            texts.as_str(),
            "has more than 1000000 characters or items",
        ),
        ("block = \"{% include 't9.md' %}\"", "", "more than 500 templates are included in all"),
    ] {
        let chart = project.root.join("statechart.toml");
        let text = format!(
            "id = \"x\"\ninitial = \"a\"\nstate = \"phase\"\n[scope]\nhome = \".x\"\ninstances = \"plans/*\"\n[context.phase]\ntype = \"phase\"\n[phases.a]\n[[on.Stop]]\n{rule}\n[let]\n{lets}"
        );
        fs::write(&chart, text).unwrap();
        let chart = chart.to_str().unwrap();
        let answer = project.stop_with(chart);
        assert!(answer.stdout.contains(said), "{}", answer.stdout);
        let checked = project.run(&["check-chart", chart]);
        assert!((0..=1).contains(&checked.code), "{checked:?}");
    }
}
