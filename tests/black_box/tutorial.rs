//! The tutorial, block by block, as a reader types it: a `toml` block changes the chart, an `sh` block is typed, and
//! a `text` block is the output of the block before it.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Project, feed};
use crate::typed::{blocks, texts, typed};

const TUTORIAL: &str = "docs/tutorial.md";

const CHART: &str = "statechart.toml";

/// A chart as sections, each starting with its header line; the part before the first header has none.
fn sections(chart: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    for line in chart.lines() {
        if line.starts_with('[') {
            sections.push(String::new());
        }
        let last = sections.last_mut().unwrap();
        last.push_str(line);
        last.push('\n');
    }
    sections.retain(|section| !section.trim().is_empty());
    sections
}

/// The table that a section is about, or belongs to: `[on.Stop.assign]` belongs to `[[on.Stop]]`.
fn table(section: &str) -> String {
    let header = section.lines().next().unwrap();
    let name = header.trim_matches(['[', ']']);
    match name.starts_with("on.") {
        true => name.split('.').take(2).collect::<Vec<_>>().join("."),
        false => name.to_owned(),
    }
}

/// The chart after a reader has made the change in a block: its tables replace those of the same name, new ones are
/// added.
fn changed(chart: &str, block: &str) -> String {
    let new = sections(block);
    let is_replaced = |section: &String| new.iter().any(|one| table(one) == table(section));
    let mut all = sections(chart);
    all.retain(|section| !is_replaced(section));
    let (head, tables): (Vec<_>, Vec<_>) =
        all.iter().chain(&new).partition(|section| !section.starts_with('['));
    let sections = head.into_iter().chain(tables);
    sections.map(|one| format!("{one}\n")).collect()
}

#[test]
fn a_change_replaces_tables_and_adds_new_ones() {
    let chart =
        "id = \"x\"\n\n[a]\nb = 1\n\n[[on.Stop]]\nallow = true\n\n[on.Stop.assign]\nx = 1\n";
    let block = "[a]\nb = 2\n\n[[on.Stop]]\nabout = \"first\"\n\n[[on.Stop]]\nabout = \"second\"\n";
    let lines = |text: &str| text.replace("\n\n", "\n").replace("\n\n", "\n");
    assert_eq!(
        lines(&changed(chart, block)),
        "id = \"x\"\n[a]\nb = 2\n[[on.Stop]]\nabout = \"first\"\n[[on.Stop]]\nabout = \"second\"\n"
    );
}

#[test]
fn every_block_works_in_order() {
    let project = Project::empty();
    let path = project.root.join(CHART);
    let mut printed = String::new();
    let mut compared = 0;
    for block in blocks(TUTORIAL) {
        match block.language.as_str() {
            "toml" => {
                let chart = fs::read_to_string(&path).unwrap_or_default();
                fs::write(&path, changed(&chart, &block.text)).unwrap();
            }
            "sh" => {
                let ran = typed(&project, &format!("exec 2>&1\n{}", block.text));
                assert_eq!(ran.code, 0, "{}{}", block.text, ran.stdout);
                printed = ran.stdout;
            }
            "text" => {
                assert!(printed.contains(&block.text), "{}\nis not in\n{printed}", block.text);
                compared += 1;
            }
            "json" => {}
            other => panic!("no test reads `{other}`"),
        }
    }
    assert!(compared > 5);
}

/// The settings at its end call the hook with the chart of the project.
#[test]
fn its_settings_call_the_hook() {
    let project = Project::empty();
    fs::write(project.root.join(CHART), &texts(TUTORIAL, "toml")[0]).unwrap();
    let chart = ["--chart", CHART, "enter", "write", "--release", "1.0"];
    assert_eq!(project.run(&chart).code, 0);
    let settings: Value = serde_json::from_str(&texts(TUTORIAL, "json")[0]).unwrap();
    let hook = &settings["hooks"]["Stop"][0]["hooks"][0];
    let line = hook["command"].as_str().unwrap();
    let root = project.root.display();
    let ran = typed(&project, &format!("export CLAUDE_PROJECT_DIR='{root}'\necho '{{}}' | {line}"));
    assert_eq!((ran.code, ran.json()["decision"].as_str()), (0, Some("block")), "{}", ran.stderr);
}

/// The experiment that it suggests: without `entry`, the property is refuted, with a counterexample.
#[test]
fn its_property_can_be_refuted() {
    let mut chart = String::new();
    for block in texts(TUTORIAL, "toml") {
        // The last one extends a part, with a template that is not here.
        if !block.contains("extends") {
            chart = changed(&chart, &block);
        }
    }
    let (before, after) = chart.split_once("[phases.done]\n").unwrap();
    let after = after.replacen("entry = { next_phase = \"{{ none }}\" }\n", "", 1);
    let chart = format!("{before}[phases.done]\n{after}");
    let ran = feed(Project::empty().command(["check-chart", "--format", "json", "-"]), chart);
    let report = ran.json();
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let codes: Vec<_> =
        report["findings"].as_array().unwrap().iter().map(|one| &one["code"]).collect();
    assert!(codes.contains(&&json!("property-refuted")), "{codes:?}");
}
