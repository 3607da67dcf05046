//! `docs/reference.md` is what the code says.

use std::fs;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference.md");

#[test]
fn the_reference_is_fresh() {
    let fresh = taskie::chart::reference::markdown().unwrap();
    if std::env::var_os("TASKIE_UPDATE_DOCS").is_some() {
        fs::write(PAGE, &fresh).unwrap();
    }
    let stored = fs::read_to_string(PAGE).unwrap_or_default();
    let mut lines = stored.lines().zip(fresh.lines());
    let differs = lines.find(|(old, new)| old != new);
    assert!(
        stored == fresh,
        "docs/reference.md is stale, first at {differs:?}\n\
         update it: TASKIE_UPDATE_DOCS=1 cargo test --test black_box reference"
    );
}

/// A filter or a test of the tables is one that expressions know.
#[test]
fn every_filter_and_test_is_known() {
    use taskie::expr::templates::Templates;
    use taskie::expr::vocabulary::{FILTERS, TESTS, names};
    let unknown = |expression: &str, code: &str| {
        let chart = include_str!("../charts/base.toml").replacen(
            "free = \"cycle.id is none\"",
            &format!("free = \"cycle.id is none\"\ntried = \"{expression}\""),
            1,
        );
        let templates = |_: &[String]| Templates::Folders(Vec::new());
        let flaws = taskie::lint::run("chart.toml", &chart, templates, None).flaws;
        flaws.iter().any(|flaw| flaw.code.as_str() == code)
    };
    for filter in names(FILTERS) {
        assert!(
            !unknown(&format!("files.chapters | {filter}"), "unknown-filter"),
            "{filter}"
        );
    }
    for test in names(TESTS) {
        assert!(
            !unknown(&format!("files.chapters is {test}(1)"), "unknown-test"),
            "{test}"
        );
    }
    assert!(unknown("files.chapters | lenght", "unknown-filter"));
    assert!(unknown("files.chapters is nonne", "unknown-test"));
}
