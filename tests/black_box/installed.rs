//! `taskie doctor`: what is installed, and how to update it. A library test covers where a program came from.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::bench::wait_until_it_can_be_run;
use crate::support::{Project, Ran};

#[test]
fn the_copy_of_a_plugin_says_who_updates_it() {
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
        "ok       taskie {version}, ~/.claude/plugins/data/taskie-taskie/{version}/taskie, downloaded by the plugin\n         → nothing to do: it is replaced when the plugin is updated\n"
    );
    let path = "ok       the plugin starts this one\n";
    let doctor = run(&["doctor"]).stdout;
    let expected = format!("{program}{path}");
    assert!(doctor.starts_with(&expected), "{doctor}");
}
