use super::Format;
use super::picture::{Mark, Picture};
use crate::chart::choice::CHARTS;

fn pictures() -> Vec<Picture> {
    let charts = CHARTS.iter().map(|chart| chart.load().unwrap());
    charts.map(|chart| Picture::of(&chart)).collect()
}

/// The value of an attribute, wherever it is in a line.
fn number(line: &str, name: &str) -> Option<usize> {
    let value = line.split_once(&format!(" {name}=\""))?.1;
    value.split('"').next()?.parse().ok()
}

#[test]
fn a_text_is_inside_its_box_and_boxes_are_apart() {
    for picture in pictures() {
        let svg = Format::Svg.write(&picture);
        let mut boxes = Vec::new();
        for line in svg.lines() {
            let [x, y] = ["x", "y"].map(|name| number(line, name));
            if line.starts_with("<rect class=\"box") && !line.contains("rx=\"5\"") {
                let (x, y) = (x.unwrap(), y.unwrap());
                let end = (x + number(line, "width").unwrap(), y + number(line, "height").unwrap());
                assert!(boxes.last().is_none_or(|(_, (_, bottom))| *bottom < y));
                boxes.push(((x, y), end));
            } else if let (true, Some(((left, top), (right, bottom)))) =
                (line.starts_with("<text"), boxes.last())
            {
                let text = line.split(['<', '>']).nth(2).unwrap().replace("&gt;", ">");
                // The widest of the usual fonts has 0.62 of the height.
                let width = text.chars().count() * 81 / 10;
                let (start, end) = match line.contains("text-anchor") {
                    true => (x.unwrap() - width, x.unwrap()),
                    false => (x.unwrap(), x.unwrap() + width),
                };
                assert!(start > *left && end < *right, "{line}");
                assert!(y.unwrap() > *top && y.unwrap() < *bottom, "{line}");
            }
        }
        assert_eq!(boxes.len(), picture.nodes.len());
    }
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
    let expected = [
        (Format::Mermaid, "#60;b a=#34;1#34;#62;#38;'#92;#96;#35;"),
        (Format::Svg, r"&lt;b a=&quot;1&quot;&gt;&amp;'\`#"),
        (Format::Html, r"&lt;b a=&quot;1&quot;&gt;&amp;'\`#"),
    ];
    for (format, text) in expected {
        let written = format.write(&picture);
        assert!(written.contains(text), "{written}");
        assert!(!written.contains("<b a"));
    }
}
