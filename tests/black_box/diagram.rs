//! `taskie chart draw`: the picture of a chart.

use crate::support::Project;

#[test]
fn a_chart_is_drawn() {
    let project = Project::empty();
    let ran = project.run(&["chart", "draw", "--chart", "dr-done"]);
    assert_eq!(ran.err(), (0, ""));
    insta::assert_snapshot!("diagram-mermaid", ran.stdout);
    assert_eq!(project.names(), [] as [&str; 0]);
}
