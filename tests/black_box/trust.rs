//! A project's own chart and settings take effect only after the user has agreed to them.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::support::{Project, Ran, allowed, feed, silent, validated};

const OWN: &str = r#"
id      = "own"
initial = "start"
state   = "phase"

[scope]
home   = ".taskie"
noun   = "plan"
newest = "plans/*"
touch  = ["*.md"]

[context]
phase = { type = "phase" }

[phases.start]

[[on.Stop]]
message = "{% include 'own.md' %}"
allow   = true
"#;

const IGNORED: &str = ".taskie/statechart.toml is ignored until you run `taskie trust`: it is this project's own chart, and you have not trusted it.";

const CHANGED: &str = ".taskie/statechart.toml has changed since you trusted it. No other chart decides in its place, and nothing is decided until you run `taskie trust`.";

fn project() -> Project {
    let project = Project::valid();
    fs::write(project.root.join(".taskie/statechart.toml"), OWN).unwrap();
    fs::create_dir(project.root.join(".taskie/templates")).unwrap();
    fs::write(
        project.root.join(".taskie/templates/own.md"),
        "The project's own chart answers.",
    )
    .unwrap();
    project
}

fn own() -> serde_json::Value {
    allowed("The project's own chart answers.")
}

fn ignored() -> serde_json::Value {
    let message = validated()["systemMessage"].as_str().unwrap().to_owned();
    allowed(&format!("{IGNORED}\n{message}"))
}

fn trust(project: &Project) -> Ran {
    let ran = project.run(&["trust", "--yes"]);
    assert_eq!(ran.err(), (0, ""), "{}", ran.stdout);
    ran
}

#[test]
fn a_projects_own_chart_counts_once_it_is_trusted_as_it_is() {
    let project = project();
    let stop = project.stop();
    assert_eq!((stop.code, stop.json()), (0, ignored()));
    assert_eq!(stop.stderr, format!("taskie: {IGNORED}\n"));
    let next = project.run(&["next"]);
    assert!(next.stderr.contains(IGNORED), "{}", next.stderr);

    let ran = trust(&project);
    for shown in [
        "── .taskie/statechart.toml ──",
        "id      = \"own\"",
        "── .taskie/templates/own.md ──",
    ] {
        assert!(ran.stdout.contains(shown), "{}", ran.stdout);
    }
    assert_eq!(project.stop().json(), own());
    let help = project.run(&["enter", "--help"]);
    assert!(help.stdout.contains("Phases: start"), "{}", help.stdout);
    let again = project.run(&["trust"]);
    assert_eq!(again.code, 0);
    assert!(again.stdout.ends_with("All of this is already trusted.\n"));

    // After any change, taskie asks again.
    for file in ["statechart.toml", "templates/own.md", "templates/new.md"] {
        let path = project.root.join(".taskie").join(file);
        let before = fs::read_to_string(&path).ok();
        fs::write(
            &path,
            format!("{}\n# changed", before.as_deref().unwrap_or_default()),
        )
        .unwrap();
        assert_eq!(project.stop().json(), allowed(CHANGED), "{file}");
        match before {
            Some(text) => fs::write(&path, text).unwrap(),
            None => fs::remove_file(&path).unwrap(),
        }
        assert_eq!(project.stop().json(), own(), "{file}");
    }
    assert_eq!(
        project.run(&["trust", "--revoke"]).stdout,
        "Nothing in this project is trusted anymore.\n"
    );
    assert_eq!(project.stop().json(), ignored());
}

#[test]
fn every_stop_says_that_a_trusted_chart_has_changed() {
    let project = project();
    let event = json!({ "cwd": project.root, "session_id": "without-a-plan" }).to_string();
    let stop = || project.hook_raw("stop", &event);
    // Whoever clones a repository with a chart is not asked at each stop.
    assert_eq!(stop().all(), (0, silent(), ""));
    trust(&project);
    assert_eq!(stop().all(), (0, silent(), ""));
    let chart = project.root.join(".taskie/statechart.toml");
    fs::write(chart, format!("{OWN}\n# changed")).unwrap();
    assert_eq!(stop().json(), allowed(CHANGED));
    // Nor does a command act for another chart.
    for command in [&["next"][..], &["run", "pause"], &["status"]] {
        let ran = project.run(command);
        assert_eq!(ran.out(), (1, ""), "{command:?}");
        assert!(
            ran.stderr.contains("No other chart decides"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(project.run(&["config"]).code, 0);
}

/// Whoever removes a chart that is stricter than the built-in one does not get the built-in one.
#[test]
fn nothing_decides_in_place_of_a_trusted_chart_that_is_gone() {
    let project = project();
    trust(&project);
    fs::remove_file(project.root.join(".taskie/statechart.toml")).unwrap();
    let gone = ".taskie/statechart.toml, the chart that you trusted for this project, is gone. No other chart decides in its place: restore it, or run `taskie trust --revoke`.";
    assert_eq!(project.stop().json(), allowed(gone));
    assert_eq!(project.run(&["next"]).code, 1);
    project.run(&["trust", "--revoke"]);
    assert_eq!(project.stop().json(), validated());
}

#[test]
fn a_chart_named_on_the_command_line_needs_no_trust() {
    let project = project();
    let chart = project.root.join(".taskie/statechart.toml");
    assert_eq!(project.stop_with(&chart).json(), own());
}

/// The program, the script of an interpreter, and the value of an option.
#[test]
fn the_projects_files_that_argv_names_are_part_of_what_is_trusted() {
    for (argv, shown) in [
        (r#"["./review.sh"]"#, "./review.sh"),
        (r#"["sh", "review.sh", "x"]"#, "review.sh"),
        (r#"["sh", "--rcfile=review.sh"]"#, "review.sh"),
    ] {
        let project = project();
        let script = project.root.join("review.sh");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        let invoke = format!(
            "\n[invoke.review]\nargv = {argv}\nverdicts = [\"PASS\"]\nverdict = [\"/v\"]\ntimeout = 1\nlog = \"log\"\n"
        );
        fs::write(
            project.root.join(".taskie/statechart.toml"),
            format!("{OWN}{invoke}"),
        )
        .unwrap();
        let ran = trust(&project);
        assert!(ran.stdout.contains(&format!("── {shown} ──")), "{argv}");
        assert_eq!(project.stop().json(), own(), "{argv}");
        fs::write(&script, "#!/bin/sh\nrm -rf /\n").unwrap();
        assert_eq!(project.stop().json(), allowed(CHANGED), "{argv}");
    }
}

#[test]
fn without_a_terminal_nobody_agrees() {
    let project = project();
    let ran = project.run(&["trust"]);
    assert_eq!(
        ran.err(),
        (
            1,
            "taskie: there is nobody to ask: stdin is not a terminal\n  help: run `taskie trust` in a terminal, or \
             `taskie trust --yes` after you have read the text above\n"
        )
    );
    assert_eq!(project.stop().json(), ignored());
}

#[test]
fn an_agent_cannot_agree() {
    let project = project();
    for variable in [
        "CLAUDE_CODE_SESSION_ID",
        "CODEX_SESSION_ID",
        "COPILOT_AGENT_SESSION_ID",
    ] {
        let mut command = project.command(["trust", "--yes"]);
        command.env(variable, "s");
        let ran = Ran::of(command.output().unwrap());
        assert_eq!(
            ran.err(),
            (
                1,
                "taskie: an agent's session cannot agree for the user\n  help: run `taskie trust` in a terminal of your own\n"
            )
        );
    }
    assert_eq!(project.stop().json(), ignored());
}

#[test]
fn trust_applies_to_one_place_on_this_machine() {
    let project = project();
    trust(&project);
    let copy = project.root.with_file_name("copy");
    let copied = Command::new("cp")
        .arg("-a")
        .args([&project.root, &copy])
        .status()
        .unwrap();
    assert!(copied.success());
    let event = json!({ "cwd": copy, "stop_hook_active": false }).to_string();
    assert_eq!(project.hook_raw("stop", event).json(), ignored());
}

/// A repository that contains its own consent.
#[test]
fn a_state_directory_inside_the_project_is_not_trusted() {
    let project = project();
    trust(&project);
    let home = project.bin.parent().unwrap().join("home");
    let brought = project.root.join("state");
    fs::rename(home.join(".local/state"), &brought).unwrap();
    let link = home.join("link");
    std::os::unix::fs::symlink(&brought, &link).unwrap();
    let with = |state: &Path| {
        let mut command = project.command(["hook", "stop"]);
        command.env("XDG_STATE_HOME", state);
        feed(command, json!({ "cwd": project.root }).to_string()).json()
    };
    assert_eq!(with(&brought), ignored());
    assert_eq!(with(&link), ignored());
    fs::rename(&brought, home.join("state")).unwrap();
    assert_eq!(with(&home.join("state")), own());
    // Nor is a way through the project to where the user's own yes is: the project can turn it elsewhere.
    std::os::unix::fs::symlink(home.join("state"), &brought).unwrap();
    assert_eq!(with(&brought), ignored());
}

#[test]
fn a_chart_uses_a_thousand_files_at_most() {
    let project = project();
    let templates = project.root.join(".taskie/templates");
    // With the chart and its own template that makes a thousand.
    for n in 0..998 {
        fs::write(templates.join(format!("{n}.md")), "").unwrap();
    }
    trust(&project);
    assert_eq!(project.stop().json(), own());
    fs::write(templates.join("one-more.md"), "").unwrap();
    let why = "it uses more than 1000 files";
    let ran = project.run(&["trust", "--yes"]);
    assert_eq!((ran.code, ran.stderr), (1, format!("taskie: {why}\n")));
    let stderr = project.stop().stderr;
    assert!(
        stderr.contains(&format!("cannot be used: {why}.")),
        "{stderr}"
    );
}

#[test]
fn links_and_large_files_are_refused() {
    let project = project();
    let chart = project.root.join(".taskie/statechart.toml");
    let elsewhere = project.bin.join("chart.toml");
    fs::rename(&chart, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &chart).unwrap();
    let why = ".taskie/statechart.toml is a symbolic link, or is inside one";
    let ran = project.run(&["trust", "--yes"]);
    assert_eq!((ran.code, ran.stderr), (1, format!("taskie: {why}\n")));
    assert!(
        project
            .stop()
            .stderr
            .contains(&format!("is ignored: {why}."))
    );
    fs::remove_file(&chart).unwrap();
    fs::write(&chart, vec![b'#'; 17 << 20]).unwrap();
    let ran = project.run(&["trust", "--yes"]);
    assert_eq!(
        ran.err(),
        (
            1,
            "taskie: .taskie/statechart.toml cannot be read: it is larger than 16 MiB\n"
        )
    );
}

#[test]
fn nothing_to_trust() {
    let ran = Project::valid().run(&["trust"]);
    assert_eq!(
        ran.all(),
        (0, "This project contains nothing that needs trust.\n", "")
    );
}
