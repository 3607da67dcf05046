use super::mermaid;
use super::picture::{Mark, Picture};
use crate::chart::choice::CHARTS;

fn pictures() -> Vec<Picture> {
    let charts = CHARTS.iter().map(|chart| chart.load().unwrap());
    charts.map(|chart| Picture::of(&chart)).collect()
}

#[test]
fn a_path_marks_what_it_passes_and_draws_what_nothing_else_draws() {
    let mut picture = pictures().remove(0);
    let edges = picture.edges.len();
    let path = ["new-plan", "plan-review", "post-plan-review", "plan-review", "next-task"];
    picture.follow(&path.map(str::to_owned));
    let marked = |mark| {
        let nodes = picture.nodes.iter().filter(|node| node.mark == mark);
        nodes.map(|node| node.name.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(marked(Mark::Visited), ["new-plan", "plan-review"]);
    assert_eq!(marked(Mark::Current), ["next-task"]);
    let taken = picture.edges.iter().filter(|edge| edge.is_taken);
    let taken: Vec<_> = taken
        .map(|edge| {
            let name = |node: usize| picture.nodes[node].name.as_str();
            (name(edge.from), name(edge.to), edge.label.as_str())
        })
        .collect();
    assert_eq!(taken, [("new-plan", "plan-review", ""), ("plan-review", "next-task", "by hand")]);
    assert_eq!(picture.edges.len(), edges + 1);
}

#[test]
fn markup_in_a_chart_stays_text() {
    let mut picture = pictures().remove(0);
    let evil = r#"<b a="1">&'\`#"#;
    picture.nodes[0].notes = vec![evil.to_owned()];
    let written = mermaid(&picture);
    assert!(written.contains("#60;b a=#34;1#34;#62;#38;'#92;#96;#35;"), "{written}");
    assert!(!written.contains("<b a"));
}
