//! What `taskie doctor` finds only if it is run by root. Everything else is in `tests/transcripts/doctor.md`.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Project, Ran};

/// The text and the help of what is wrong with this, if anything is.
fn trouble(project: &Project, about: &str) -> Option<[Value; 2]> {
    let mut command = project.command(["doctor", "--json"]);
    let ran = Ran::of(command.env_remove("IS_SANDBOX").output().unwrap());
    let json = ran.json();
    let mut lines = json["lines"].as_array().unwrap().iter();
    let line = lines.find(|line| line["about"] == about && line["level"] == "problem")?;
    Some(["text", "help"].map(|key| line[key].clone()))
}

/// Only root can give a folder to someone else.
#[test]
fn a_home_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let project = Project::in_state(json!({}));
    let home = project.root.join(".taskie");
    let chown = Command::new("chown").arg("65534").arg(&home).status();
    assert!(chown.unwrap().success());
    let text = ".taskie is not used: it belongs to another user (uid 65534, and you are 0)";
    let help = format!("`sudo chown -R 0 {}` makes it yours", home.display());
    assert_eq!(trouble(&project, "settings"), Some([json!(text), json!(help)]));
    let stop = project.stop().message();
    assert!(stop.contains("`sudo chown -R 0 "), "{stop}");
}

/// No other chart decides in place of one that has changed since the user trusted it, and none is reported as sound.
#[test]
fn a_chart_that_has_changed_is_the_problem() {
    let project = Project::in_state(json!({}));
    let chart = project.root.join(".taskie/statechart.toml");
    std::fs::write(&chart, "extends = [\"taskie\"]\n").unwrap();
    assert_eq!(project.run(&["config", "trust", "--yes"]).code, 0);
    assert_eq!(trouble(&project, "chart"), None);
    std::fs::write(&chart, "extends = [\"taskie\"]\n# changed\n").unwrap();
    let [text, _] = trouble(&project, "chart").unwrap();
    let why = ".taskie/statechart.toml has changed since you trusted it. No other chart decides";
    assert!(text.as_str().unwrap().starts_with(why), "{text}");
    let doctor = project.run(&["doctor"]).stdout;
    assert!(!doctor.contains("the chart taskie"), "{doctor}");
    let config = project.run(&["config", "--json"]).json();
    assert_eq!(config["chart"], json!(null));
    assert!(config["refused"].as_str().unwrap().starts_with(why));
}
