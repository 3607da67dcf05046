//! `taskie codex install`: prompts for a host without hooks, made of the plugin's own files.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::bench::copy_of_chart;
use crate::support::{PLAN, Project, Ran};

const NAMES: [&str; 2] = ["taskie-continue-plan.md", "taskie-new-plan.md"];

const IN_CODEX: &str = "In Codex: /prompts:taskie-continue-plan, /prompts:taskie-new-plan. No hooks run there, so no review starts by itself.\n";

fn install(project: &Project, home: &Path, args: &[&str]) -> Ran {
    let mut command = project.command([&["codex", "install"], args].concat());
    command.env("CODEX_HOME", home);
    Ran::of(command.output().unwrap())
}

/// A line for each prompt, with what was done about it.
fn said(home: &Path, done: [&str; 2]) -> String {
    let line = |(name, done): (&str, &str)| {
        format!("{}: {done}\n", home.join("prompts").join(name).display())
    };
    NAMES.into_iter().zip(done).map(line).collect()
}

fn home_of(project: &Project) -> PathBuf {
    project.bin.join("codex home")
}

#[test]
fn it_says_what_it_does_and_does_it_once() {
    let project = Project::empty();
    let home = home_of(&project);
    let ran = install(&project, &home, &["--dry-run"]);
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr.as_str()),
        (0, said(&home, ["would be written"; 2]), "")
    );
    assert!(!home.exists());
    let ran = install(&project, &home, &[]);
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr.as_str()),
        (0, said(&home, ["written"; 2]) + IN_CODEX, "")
    );
    let mut names: Vec<_> = fs::read_dir(home.join("prompts"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, NAMES, "nothing else is left there");
    let path = home.join("prompts").join(NAMES[1]);
    let before = fs::metadata(&path).unwrap();
    assert_eq!(before.permissions().mode() & 0o777, 0o644);
    let ran = install(&project, &home, &[]);
    assert_eq!(
        (ran.code, ran.stdout),
        (0, said(&home, ["is up to date"; 2]) + IN_CODEX)
    );
    assert_eq!(
        fs::metadata(&path).unwrap().modified().unwrap(),
        before.modified().unwrap()
    );
    assert!(project.files().is_empty(), "nothing in the project");
}

#[test]
fn a_file_of_the_user_s_is_left_as_it_is() {
    let project = Project::empty();
    let home = home_of(&project);
    fs::create_dir_all(home.join("prompts")).unwrap();
    let mine = home.join("prompts").join(NAMES[0]);
    fs::write(&mine, "mine\n").unwrap();
    fs::set_permissions(&mine, fs::Permissions::from_mode(0o600)).unwrap();
    let help = "taskie: a prompt that is there already differs: an earlier version, or someone has changed it\n  help: --force replaces it\n";
    let ran = install(&project, &home, &["--dry-run"]);
    let expected = said(
        &home,
        ["differs, would be left as it is", "would be written"],
    );
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr.as_str()),
        (1, expected, help)
    );
    let ran = install(&project, &home, &[]);
    let expected = said(&home, ["differs, left as it is", "written"]);
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr.as_str()),
        (1, expected, help)
    );
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine\n");
    let ran = install(&project, &home, &["--force"]);
    let expected = said(&home, ["replaced", "is up to date"]) + IN_CODEX;
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr.as_str()),
        (0, expected, "")
    );
    assert_ne!(fs::read_to_string(&mine).unwrap(), "mine\n");
    assert_eq!(
        fs::metadata(&mine).unwrap().permissions().mode() & 0o777,
        0o600,
        "its rights stay"
    );
}

#[test]
fn a_link_stays_a_link() {
    let project = Project::empty();
    let home = home_of(&project);
    let dotfiles = project.bin.join("dotfiles");
    fs::create_dir_all(home.join("prompts")).unwrap();
    fs::create_dir_all(&dotfiles).unwrap();
    fs::write(dotfiles.join("x.md"), "old\n").unwrap();
    let link = home.join("prompts").join(NAMES[1]);
    symlink(dotfiles.join("x.md"), &link).unwrap();
    assert_eq!(install(&project, &home, &["--force"]).code, 0);
    assert!(link.is_symlink());
    // What a link leads to may be away for a while.
    fs::rename(&dotfiles, project.bin.join("away")).unwrap();
    let ran = install(&project, &home, &[]);
    assert_eq!(
        (ran.code, ran.stdout),
        (1, said(&home, ["is up to date", "differs, left as it is"]))
    );
    assert!(link.is_symlink());
    fs::rename(project.bin.join("away"), &dotfiles).unwrap();
    assert!(
        fs::read_to_string(dotfiles.join("x.md"))
            .unwrap()
            .contains("taskie enter new-plan")
    );
}

#[test]
fn the_default_place_is_below_the_home_directory() {
    let project = Project::empty();
    let ran = project.run(&["codex", "install"]);
    let home = project.bin.parent().unwrap().join("home/.codex");
    assert_eq!(
        (ran.code, ran.stdout),
        (0, said(&home, ["written"; 2]) + IN_CODEX)
    );
    let mut command = project.command(["codex", "install"]);
    let ran = Ran::of(command.env_remove("HOME").output().unwrap());
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            1,
            "taskie: neither CODEX_HOME nor HOME is set\n  help: set CODEX_HOME to where Codex keeps its files\n"
        )
    );
}

#[test]
fn what_cannot_be_written_is_named() {
    let project = Project::empty();
    let home = project.bin.join("file");
    fs::write(&home, "").unwrap();
    let ran = install(&project, &home, &[]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.starts_with(&format!(
            "taskie: {}",
            home.join("prompts").join(NAMES[0]).display()
        )),
        "{}",
        ran.stderr
    );
}

/// The prompts, as installed.
fn prompts() -> [String; 2] {
    let project = Project::empty();
    let home = home_of(&project);
    assert_eq!(install(&project, &home, &[]).code, 0);
    NAMES.map(|name| fs::read_to_string(home.join("prompts").join(name)).unwrap())
}

#[test]
fn they_are_made_of_the_plugin_s_files() {
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/taskie");
    let text = |name: &str| {
        fs::read_to_string(plugin.join(name))
            .unwrap()
            .trim_end()
            .to_owned()
    };
    let [resume, new] = prompts();
    for prompt in [&resume, &new] {
        assert!(
            prompt.starts_with("---\ndescription: ") && prompt.ends_with('\n'),
            "{prompt}"
        );
        assert!(prompt.contains(&text("ground-rules.md")));
        assert!(prompt.contains("**No review runs by itself**"));
        // That host fills in whatever follows a dollar sign, and knows none of the other one's names.
        assert_eq!(
            prompt.matches('$').count(),
            prompt.matches("$ARGUMENTS").count()
        );
        assert_eq!(prompt.matches("$ARGUMENTS").count(), 1);
        assert!(
            !prompt.contains("CLAUDE_") && !prompt.contains("{%") && !prompt.contains("{{"),
            "{prompt}"
        );
    }
    assert!(new.contains(&text("actions/new-plan.md")));
}

/// The lines of a prompt that are commands, at the depth of a code block.
fn commands(prompt: &str) -> Vec<&str> {
    let lines = prompt.lines().map(str::trim_start);
    lines
        .filter(|line| line.starts_with("taskie ") && !line.contains('`'))
        .collect()
}

#[test]
fn the_commands_that_they_name_work() {
    let [resume, new] = prompts();
    let project = Project::with(&[("plan.md", "# Plan\n\n## Overview\n\nDo it.\n")]);
    let last: Vec<String> = commands(&new)
        .iter()
        .map(|line| line.replace("PLAN", PLAN))
        .collect();
    assert_eq!(
        last,
        [
            format!("taskie validate {PLAN}"),
            format!("taskie enter new-plan --plan {PLAN}")
        ]
    );
    for line in last {
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        assert_eq!(project.run(&words).code, 0, "{line}");
    }
    assert_eq!(
        commands(&resume),
        [
            "taskie next",
            "taskie render actions/ACTION.md",
            "taskie render commands/ACTION.md"
        ]
    );
    let help = project.run(&["enter", "--help"]).stdout;
    let phases = help
        .split("Phases: ")
        .nth(1)
        .unwrap()
        .split_whitespace()
        .collect::<String>();
    // Whatever `next` names has both files, a phase that only ends something aside.
    for action in phases.split(',').filter(|phase| *phase != "complete") {
        for folder in ["actions", "commands"] {
            let ran = project.run(&["render", &format!("{folder}/{action}.md")]);
            assert_eq!(
                (ran.code, ran.stderr.as_str()),
                (0, ""),
                "{folder}/{action}"
            );
            assert!(
                folder == "actions" || ran.stdout.contains("\nPerform the action "),
                "{action}"
            );
        }
    }
    for line in [
        "taskie render personas/tdd.md",
        "taskie run skip --help",
        "taskie run pause --help",
        "taskie enter complete --plan PLAN",
    ] {
        assert!(
            resume
                .replace('\n', " ")
                .contains(line.trim_end_matches(" --help")),
            "{line}"
        );
    }
    assert_eq!(project.run(&["render", "personas/tdd.md"]).code, 0);
}

#[test]
fn a_chart_of_one_s_own_may_have_prompts() {
    let project = Project::empty();
    let home = home_of(&project);
    let chart = copy_of_chart(&project, |text| text.to_owned());
    let folder = chart.parent().unwrap().join("plugin/taskie/codex");
    fs::write(folder.join("mine.md"), "{% include 'ground-rules.md' %}\n").unwrap();
    let chart = chart.to_str().unwrap();
    let ran = install(&project, &home, &["--chart", chart]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        fs::read_to_string(home.join("prompts/mine.md"))
            .unwrap()
            .starts_with("These rules hold")
    );
    fs::remove_dir_all(folder).unwrap();
    let ran = install(&project, &home, &["--chart", chart]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("has no prompts for Codex\n  help: "),
        "{}",
        ran.stderr
    );
}
