//! `taskie upgrade`: what is installed, and how to update it. A library test covers where a program came from.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::bench::wait_until_it_can_be_run;
use crate::support::{Project, Ran};

#[test]
fn each_installed_part_is_listed_with_its_update() {
    let project = Project::empty();
    let home = project.bin.parent().unwrap().join("home");
    // Where the plugin's launcher keeps it.
    let data = home.join(".claude/plugins/data/taskie-taskie");
    let version = env!("CARGO_PKG_VERSION");
    let copy = data.join(version).join("taskie");
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    let built = Path::new(env!("CARGO_BIN_EXE_taskie"));
    if fs::hard_link(built, &copy).is_err() {
        fs::copy(built, &copy).unwrap();
        wait_until_it_can_be_run(&copy);
    }
    symlink(&copy, data.join(format!("taskie-{version}"))).unwrap();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(data.join(format!("taskie-{version}")));
        command.args(args).env_clear().current_dir(&project.root);
        command.env("HOME", &home).env("PATH", &project.bin);
        Ran::of(command.output().unwrap())
    };
    let program = format!(
        "program  taskie {version}, ~/.claude/plugins/data/taskie-taskie/{version}/taskie, downloaded by the plugin\n         → nothing to do: it is replaced when the plugin is updated\n"
    );
    let expected = format!("{program}plugin   none is installed in Claude Code\n");
    let ran = run(&["upgrade"]);
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr),
        (0, expected, String::new())
    );

    let plugins = json!({ "version": 2, "plugins": {
        "taskie@taskie": [{ "version": version }],
        "other@market": [{ "version": "3.0.0" }],
    } });
    fs::write(
        home.join(".claude/plugins/installed_plugins.json"),
        plugins.to_string(),
    )
    .unwrap();
    let expected = format!(
        "{program}plugin   taskie@taskie {version} in Claude Code\n         → `claude plugin marketplace update taskie`, then `claude plugin update taskie@taskie`\n"
    );
    let ran = run(&["upgrade"]);
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr),
        (0, expected, String::new())
    );
    // A program that only the plugin knows is fine.
    let doctor = run(&["doctor"]).stdout;
    assert!(doctor.contains("the plugin starts this one"), "{doctor}");
}
