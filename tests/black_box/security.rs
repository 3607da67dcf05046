//! What docs/security.md says about attacks: each row of its list is backed by tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::support::cases;

/// What an agent, a reviewer, a gate or a repository can try.
#[derive(Deserialize)]
struct Row {
    who: String,
    does: String,
    result: Outcome,
    /// The tests that show it: `topic::name`.
    tests: Vec<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Prevented,
    Named,
    Neither,
}

/// What is before and after the part that is made of the rows.
const START: &str = "<!-- This part is made of tests/cases/security.toml. -->\n\n";
const END: &str = "\n\n<!-- The end of this part. -->";

fn rows() -> Vec<Row> {
    cases("security", "row")
}

/// `TASKIE_UPDATE_DOCS=1` writes the list again.
#[test]
fn the_page_lists_what_is_not_prevented() {
    let of = |result| {
        let rows = rows().into_iter().filter(move |row| row.result == result);
        let rows = rows.map(|row| format!("\n- The {} {}", row.who, row.does));
        rows.collect::<String>()
    };
    let table = format!(
        "It has an effect, and you get a message:\n{}\n\nIt has an effect, and no message says so:\n{}",
        of(Outcome::Named),
        of(Outcome::Neither)
    );
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/security.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(START).expect("the page has the start");
    let (found, after) = rest.split_once(END).expect("the page has the end");
    if std::env::var_os("TASKIE_UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{START}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(
        found, table,
        "to update the page: TASKIE_UPDATE_DOCS=1 cargo test --test black_box security"
    );
}

#[test]
fn each_row_has_tests_that_exist() {
    let listed = Command::new(std::env::current_exe().unwrap())
        .args(["--list", "--format", "terse"])
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut existing: BTreeSet<String> =
        listed.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect();
    for file in fs::read_dir(crate::transcripts::FOLDER).unwrap().flatten() {
        let name = file.file_name().into_string().unwrap();
        if let Some(topic) = name.strip_suffix(".md") {
            let text = fs::read_to_string(file.path()).unwrap();
            let cases = text.lines().filter_map(|line| line.strip_prefix("### "));
            existing.extend(cases.map(|case| format!("{topic}::{case}")));
        }
    }
    for row in rows() {
        assert!(!row.tests.is_empty(), "no test: {}", row.does);
        for test in &row.tests {
            assert!(existing.contains(test), "no test `{test}`: {}", row.does);
        }
    }
}
