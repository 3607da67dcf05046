//! `taskie chart draw`: the picture of a chart.

use std::fs;

use crate::support::Project;

#[test]
fn a_chart_is_drawn() {
    let project = Project::empty();
    let ran = project.run(&["chart", "draw", "--chart", "dr-done"]);
    assert_eq!(ran.err(), (0, ""));
    insta::assert_snapshot!("diagram-mermaid", ran.stdout);
    assert_eq!(project.names(), [] as [&str; 0]);
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
