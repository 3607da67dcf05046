//! `taskie chart draw`: the picture of a chart, and the path of a plan.

use std::fs;

use serde_json::json;

use crate::support::{PLAN, Project, Reviewer};

/// What is printed about the plan of the tests, or without `args` about the chart.
fn drawn(project: &Project, args: &[&str]) -> String {
    let ran = project.run(&[&["chart", "draw"], args].concat());
    assert_eq!(ran.err(), (0, ""));
    ran.stdout
}

#[test]
fn a_chart_is_drawn() {
    let project = Project::empty();
    insta::assert_snapshot!("diagram-mermaid", drawn(&project, &["--chart", "dr-done"]));
    assert_eq!(project.names(), [] as [&str; 0]);
}

#[test]
fn the_path_of_a_plan() {
    let project = Project::with(&[("plan.md", "# Plan\n\n## Overview\n")]);
    let of_plan = ["--plan", PLAN];
    let marked = |args: &[&str]| {
        let picture = drawn(&project, args);
        let lines = picture.lines().map(str::trim);
        let lines = lines.filter(|line| line.contains("#bc4c00") || line.starts_with("title:"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(marked(&of_plan), [format!("title: \"plan {PLAN}: not started\"")]);
    assert_eq!(project.run(&["enter", "new-plan", "--plan", PLAN]).code, 0);
    project.reviewer(&Reviewer::fail());
    assert_eq!(project.stop().json()["decision"], "block");
    insta::assert_snapshot!("diagram-path", marked(&of_plan).join("\n"));
    // Without a plan on the command line there is no path.
    assert_eq!(marked(&[]), ["title: \"taskie\""]);
    // Of another machine only the phase is known.
    fs::remove_file(project.lock_file("jsonl")).unwrap();
    project.set_state(json!({ "phase": "create-tasks" }));
    let current = "style n2 stroke:#bc4c00,stroke-width:4px".to_owned();
    assert_eq!(marked(&of_plan), [format!("title: \"plan {PLAN}: create-tasks\""), current]);
}

#[test]
fn a_plan_that_does_not_exist() {
    let ran = Project::valid().run(&["chart", "draw", "--plan", "nowhere"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.lines().next()),
        (1, "", Some("taskie: there is no plan `nowhere`"))
    );
}

/// A chart in which a text may be read eight times, although its property says seven.
fn chart_with_a_counterexample(project: &Project) {
    let base = include_str!("../charts/base.toml").replace("default = 3 }", "default = 8 }");
    let property = "\n[[properties]]\nabout = \"a text is read at most seven times\"\nnever = \"reviews == 8\"\n";
    fs::write(project.root.join("chart.toml"), base + property).unwrap();
    fs::create_dir(project.root.join("templates")).unwrap();
    fs::write(project.root.join("templates/review.md"), "Review the text.\n").unwrap();
}

#[test]
fn a_counterexample_is_short() {
    let project = Project::empty();
    chart_with_a_counterexample(&project);
    let ran = project.run(&["check-chart", "chart.toml"]);
    assert_eq!(ran.err(), (1, ""));
    insta::assert_snapshot!("counterexample", ran.stdout);
}
