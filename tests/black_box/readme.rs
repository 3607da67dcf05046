//! Checks the documents: the README's blocks are typed here in order, and its quotations are compared with their source.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::demo::at_once;
use crate::plugin::files_below;
use crate::support::{Project, Reviewer, cases, silent, whole_chart};
use crate::typed::{blocks, texts, typed};

const README: &str = "README.md";
const GUIDE: &str = "docs/guide.md";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A `claude` that prints its version, whatever it is asked.
fn client() -> Reviewer {
    Reviewer::fail().without_review().prints("2.1.330 (Claude Code)")
}

/// An empty project of someone who has a client.
fn installed() -> Project {
    let project = Project::empty();
    project.reviewer(&client());
    project
}

#[test]
fn every_block_is_of_a_language_that_a_test_reads() {
    for block in blocks(README).into_iter().chain(blocks(GUIDE)) {
        let known = ["sh", "json", "yaml", "text"];
        assert!(known.contains(&block.language.as_str()), "`{}`", block.language);
    }
}

/// It is short, and so is all of the documentation.
#[test]
fn the_documentation_is_short() {
    let readme = fs::read_to_string(root().join(README)).unwrap();
    assert!(readme.lines().count() <= 110);
    let mut pages = vec![root().join(README)];
    files_below(&root().join("docs"), &mut pages);
    let words = |path: &PathBuf| fs::read_to_string(path).unwrap().split_whitespace().count();
    let words: usize = pages.iter().map(words).sum();
    assert!(words <= 20_000, "{words}");
}

/// The commands of the README, in order, in an empty folder; those that need a change, and what a review prints, are in the
/// demo.
#[test]
fn the_blocks_of_the_readme_are_true() {
    let project = installed();
    for block in texts(README, "sh") {
        let ran = typed(&project, &block);
        assert_eq!(ran.err(), (0, ""), "{block}{}", ran.stdout);
    }
    let demo = at_once(&project.run(&["demo"]).stdout);
    let [shown, review, reject] = texts(README, "text").try_into().unwrap();
    assert!(demo.contains(shown.trim_end()), "{demo}");
    assert!(demo.contains(review.trim_end()));
    let ran = typed(&project, &format!("git init -q\n{reject}"));
    assert!(ran.stderr.contains("`taskie review` reviews what has changed"), "{}", ran.stderr);
}

/// What the guide has you type before there is a change or a plan, and about a plan that it has begun.
#[test]
fn the_commands_of_the_guide_work() {
    let project = installed();
    let mut typed_lines = 0;
    for block in texts(GUIDE, "sh").into_iter().filter(|block| !is_of_changes(block)) {
        let ran = typed(&project, &block);
        assert_eq!(ran.code, 0, "{block}{}{}", ran.stdout, ran.stderr);
        typed_lines += block.lines().count();
    }
    assert!(typed_lines > 15, "{typed_lines}");
    let state = project.root.join(".taskie/plans/hello/state.json");
    let state: Value = serde_json::from_str(&fs::read_to_string(state).unwrap()).unwrap();
    assert_eq!((&state["max_reviews"], &state["next_phase"]), (&json!(4), &json!("plan-review")));
    for block in texts("docs/settings.md", "sh") {
        assert_eq!(typed(&project, &block).err(), (0, ""), "{block}");
    }
}

fn is_of_changes(block: &str) -> bool {
    block.contains("taskie review") || block.contains("reject change-")
}

/// The guide's commands about a change, in a repository in which something has changed.
#[test]
fn the_commands_of_reviewing_work() {
    let project = Project::empty();
    let found = r#"{"structured_output": {"verdict": "FAIL", "review": "x", "findings": [
        {"severity": "minor", "title": "A"}, {"severity": "minor", "title": "B"}]}}"#;
    project.reviewer(&Reviewer::fail().without_review().prints(found));
    let made = "git init -q -b main; mkdir src; touch src/a; git add .; git -c user.name=n -c user.email=e commit -qm one; echo x > src/a";
    assert_eq!(typed(&project, made).err(), (0, ""));
    let blocks: Vec<String> =
        texts(GUIDE, "sh").into_iter().filter(|one| is_of_changes(one)).collect();
    assert_eq!(blocks.len(), 2);
    for line in blocks.iter().flat_map(|block| block.lines()) {
        let ran = typed(&project, line);
        let reads = line.starts_with("taskie review") && !line.contains("--print-prompt");
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (i32::from(reads), ""),
            "{line}: {}",
            ran.stdout
        );
    }
}

#[test]
fn the_settings_call_the_hook() {
    let blocks = texts(GUIDE, "json");
    let settings = blocks.iter().find(|block| block.contains("\"hooks\"")).unwrap();
    let settings: Value = serde_json::from_str(settings).unwrap();
    let hook = &settings["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!((&hook["type"], &hook["timeout"]), (&json!("command"), &json!(600)));
    let project = Project::empty();
    let ran = typed(&project, &format!("echo '{{}}' | {}", hook["command"].as_str().unwrap()));
    assert_eq!(ran.out(), (0, silent()));
}

/// The review counts match the chart: one cycle each for the plan, the tasks and all code, and one for each task.
#[test]
fn the_cost_is_counted_right() {
    let readme = fs::read_to_string(root().join(GUIDE)).unwrap();
    let chart = whole_chart();
    let cycles: Vec<_> = chart["cycles"].as_table().unwrap().keys().collect();
    assert_eq!(cycles, ["plan-review", "tasks-review", "code-review", "all-code-review"]);
    let limit = chart["config"]["max_reviews"]["default"].as_integer().unwrap();
    assert_eq!(
        chart["cycles"]["code-review"]["exit"].as_str(),
        Some("consecutive_clean >= needed")
    );
    assert_eq!(chart["let"]["needed"].as_str(), Some("config.clean"));
    assert_eq!(chart["config"]["clean"]["default"].as_integer(), Some(2));
    let tasks = 5;
    for line in [
        format!("2 × (N + 3) reviews: {} for five tasks", 2 * (tasks + 3)),
        format!(
            "limit × (N + 3) reviews: {} for five tasks with the default limit of {limit}",
            limit * (tasks + 3)
        ),
    ] {
        assert!(readme.contains(&line), "{line}");
    }
}

/// Links to files of this repository work, in every document.
#[test]
fn links_lead_to_files() {
    let mut documents = vec![root().join(README), root().join("CONTRIBUTING.md")];
    for folder in ["docs", "plugin"] {
        files_below(&root().join(folder), &mut documents);
    }
    documents.retain(|path| path.extension().is_some_and(|end| end == "md"));
    let mut seen = 0;
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        for link in text.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            seen += 1;
            let to = document.parent().unwrap().join(target);
            assert!(to.exists(), "{} links to {target}", document.display());
        }
    }
    assert!(seen > 20, "{seen}");
}

/// Files of this repository that a document names in back quotes exist; if a name contains capitals
/// (`src/check/lint/CODE.rs`), the reader fills them in.
#[test]
fn files_that_are_named_exist() {
    let folders = ["src/", "tests/", "docs/", "plugin/", "templates/", "examples/", ".ci/"];
    let mut named = 0;
    for document in
        [README, "CONTRIBUTING.md", "docs/architecture.md", "docs/commands.md", "docs/charts.md"]
    {
        let text = fs::read_to_string(root().join(document)).unwrap();
        let prose: String = text.split("```").step_by(2).collect();
        for name in prose.split('`').skip(1).step_by(2) {
            let is_hole = name.contains(|sign: char| sign.is_ascii_uppercase() || sign == ' ');
            if is_hole || !folders.iter().any(|folder| name.starts_with(folder)) {
                continue;
            }
            named += 1;
            assert!(root().join(name).exists(), "{document} names {name}");
        }
    }
    assert!(named > 20, "{named}");
}

#[test]
fn the_events_are_listed() {
    let page = fs::read_to_string(root().join("docs/charts.md")).unwrap();
    let table = page.split("| Event | When |").nth(1).unwrap();
    let table = table.split("\n\n").next().unwrap();
    let cells = table.lines().filter_map(|row| row.split('|').nth(1));
    let listed: Vec<_> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let hooks = taskie::host::events::EVENTS.iter().map(|(_, name)| *name);
    let events: Vec<_> =
        hooks.chain(["enter", "next", "run", taskie::host::events::UNCLAIMED]).collect();
    assert_eq!(listed, events);
    for (word, event) in taskie::host::events::EVENTS {
        let row = table.lines().find(|row| row.starts_with(&format!("| `{event}` ")));
        let call = format!("| `taskie hook {word}` |");
        assert!(row.unwrap().ends_with(&call), "{event}");
    }
}

/// What has been removed is removed everywhere: in documents, texts of plugins, charts, schemas and the help.
#[test]
fn nothing_names_what_is_gone() {
    let folders = ["docs", "plugin", "templates", "parts", "schemas", "examples", "packaging"];
    let own = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "statechart.toml"];
    let mut files: Vec<PathBuf> = own.iter().map(|name| root().join(name)).collect();
    for folder in folders {
        files_below(&root().join(folder), &mut files);
    }
    let texts = files.into_iter().filter_map(|path| {
        let text = fs::read_to_string(&path).ok()?;
        Some((path.display().to_string(), text))
    });
    let project = Project::empty();
    let help = |args: &[&str]| (format!("taskie {}", args.join(" ")), project.run(args).stdout);
    let all = help(&["--help"]).1;
    let commands = all.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let commands = commands.filter(|name| !name.is_empty() && !name.starts_with('-'));
    let helps = commands.map(|name| help(&[name, "--help"]));
    let gone: Vec<&str> = cases("readme", "gone");
    let mut named = Vec::new();
    for (place, text) in texts.chain([help(&["--help"])]).chain(helps) {
        let found = gone.iter().filter(|word| text.contains(**word));
        named.extend(found.map(|word| format!("{place}: {word}")));
    }
    assert_eq!(named, Vec::<String>::new());
}
