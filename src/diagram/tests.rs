use super::mermaid;
use super::picture::Picture;
use crate::chart::choice::CHARTS;

fn pictures() -> Vec<Picture> {
    let charts = CHARTS.iter().map(|chart| chart.load().unwrap());
    charts.map(|chart| Picture::of(&chart)).collect()
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
