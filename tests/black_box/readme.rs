//! Checks the documents: the README's blocks are typed here in order, and its quotations are compared with their source.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::check_chart::compiled_in;
use crate::plugin::files_below;
use crate::support::{Project, Reviewer, cases, silent, whole_chart};
use crate::typed::{blocks, texts, typed};

const README: &str = "README.md";
const CHART: &str = "docs/chart.md";
const INSTALL: &str = "docs/install.md";

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A `claude` that prints its version, whatever it is asked.
fn client() -> Reviewer {
    Reviewer::fail().without_review().prints("2.1.330 (Claude Code)")
}

/// An empty project of someone who has saved the settings that the README shows.
fn installed() -> Project {
    let project = Project::empty();
    project.reviewer(&client());
    let settings = project.bin.parent().unwrap().join("home/.claude");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("settings.json"), &texts(README, "json")[0]).unwrap();
    project
}

#[test]
fn every_block_is_of_a_language_that_a_test_reads() {
    for block in blocks(README).into_iter().chain(blocks(CHART)) {
        let known = ["sh", "json", "toml", "text"];
        assert!(known.contains(&block.language.as_str()), "`{}`", block.language);
    }
}

/// In an empty folder, with nothing done between two blocks.
#[test]
fn the_commands_work_in_order_as_typed() {
    let project = installed();
    let mut typed_lines = Vec::new();
    for block in texts(README, "sh") {
        let ran = typed(&project, &block);
        // On stderr, a preview says what it previews.
        let stderr = match block.contains("taskie render --next") {
            true => {
                let of = "taskie: plan-review 1 is due";
                assert!(ran.stderr.contains(of), "{}", ran.stderr);
                assert!(ran.stdout.contains("/hello/plan-review-1.md"));
                ""
            }
            false => ran.stderr.as_str(),
        };
        assert_eq!((ran.code, stderr), (0, ""), "{block}{}", ran.stdout);
        let clients = block.lines().filter_map(|line| line.strip_prefix("claude "));
        typed_lines.extend(clients.map(str::to_owned));
    }
    let called = project.calls().iter().map(|call| call.join(" ")).collect::<Vec<_>>();
    let called: Vec<_> = called.iter().filter(|call| *call != "--version").collect();
    assert_eq!(called, typed_lines.iter().collect::<Vec<_>>(), "the calls of `claude`");
    let state = project.root.join(".taskie/plans/hello/state.json");
    let state: Value = serde_json::from_str(&fs::read_to_string(state).unwrap()).unwrap();
    assert_eq!((&state["max_reviews"], &state["next_phase"]), (&json!(4), &json!("plan-review")));
}

/// The pages about commands and about the chart: each of their commands works in a project with a plan.
#[test]
fn the_commands_of_their_pages_work() {
    let project = installed();
    let plan =
        "mkdir -p .taskie/plans/my-plan && echo '## Overview' > .taskie/plans/my-plan/plan.md";
    let made = typed(&project, &format!("{plan}\ntaskie enter new-plan"));
    assert_eq!(made.err(), (0, ""));
    let blocks = [texts("docs/commands.md", "sh"), texts(CHART, "sh")].concat();
    assert!(blocks.len() > 3);
    for line in blocks.iter().flat_map(|block| block.lines()) {
        // It runs until its user ends it.
        let line = line.replace("--follow", "--follow --help");
        let ran = typed(&project, &line);
        assert_eq!(ran.code, 0, "{line}: {}{}", ran.stdout, ran.stderr);
    }
}

/// The page about reviews of any change, in a repository in which something has changed.
#[test]
fn the_commands_of_reviewing_work() {
    let project = Project::empty();
    let found = r#"{"structured_output": {"verdict": "FAIL", "review": "x", "findings": [
        {"severity": "minor", "title": "A"}, {"severity": "minor", "title": "B"}]}}"#;
    project.reviewer(&Reviewer::fail().without_review().prints(found));
    let made = "git init -q -b main; mkdir src; touch src/a; git add .; git -c user.name=n -c user.email=e commit -qm one; echo x > src/a";
    assert_eq!(typed(&project, made).err(), (0, ""));
    let blocks = texts("docs/review.md", "sh");
    assert_eq!(blocks.len(), 3);
    for line in blocks.iter().flat_map(|block| block.lines()) {
        let ran = typed(&project, line);
        let waits = ["--print-prompt", "--at-stop"].iter().any(|option| line.contains(option));
        let reads = line.starts_with("taskie review") && !waits;
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (i32::from(reads), ""),
            "{line}: {}",
            ran.stdout
        );
    }
}

/// The page about installing, block by block.
#[test]
fn the_ways_of_installing_work() {
    let project = installed();
    let blocks = texts(INSTALL, "sh");
    assert!(blocks.len() > 2);
    for block in blocks {
        let ran = typed(&project, &block);
        assert_eq!(ran.err(), (0, ""), "{block}{}", ran.stdout);
    }
    let script =
        project.bin.parent().unwrap().join("home/.local/share/bash-completion/completions/taskie");
    assert!(fs::read_to_string(script).unwrap().contains("check-chart"));
}

/// The plugins and the marketplace that it names are in this repository.
#[test]
fn what_is_installed_exists() {
    let marketplace = root().join(".claude-plugin/marketplace.json");
    let marketplace: Value =
        serde_json::from_str(&fs::read_to_string(marketplace).unwrap()).unwrap();
    let market = marketplace["name"].as_str().unwrap();
    let plugins = marketplace["plugins"].as_array().unwrap();
    let ids: Vec<_> = plugins
        .iter()
        .map(|plugin| format!("{}@{market}", plugin["name"].as_str().unwrap()))
        .collect();
    let pages = [README, INSTALL].map(|page| fs::read_to_string(root().join(page)).unwrap());
    let pages = pages.concat();
    let words = pages.split([' ', '`', '\n', '.']);
    let named: Vec<_> = words.filter(|word| word.ends_with(&format!("@{market}"))).collect();
    assert!(named.len() > 3, "{named:?}");
    for word in named {
        assert!(ids.iter().any(|id| id == word), "{word}");
    }
    for verb in ["update", "remove"] {
        assert!(pages.contains(&format!("claude plugin marketplace {verb} {market}\n")));
    }
}

#[test]
fn the_settings_call_the_hook() {
    let blocks = texts(README, "json");
    let [settings] = blocks.as_slice() else { panic!("one block of settings") };
    let settings: Value = serde_json::from_str(settings).unwrap();
    let hook = &settings["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!((&hook["type"], &hook["timeout"]), (&json!("command"), &json!(600)));
    let project = Project::empty();
    let ran = typed(&project, &format!("echo '{{}}' | {}", hook["command"].as_str().unwrap()));
    assert_eq!(ran.out(), (0, silent()));
}

#[test]
fn the_chart_is_quoted_as_it_is() {
    let chart = fs::read_to_string(root().join("statechart.toml")).unwrap();
    let blocks = texts(CHART, "toml");
    assert!(blocks.len() >= 4);
    for block in blocks {
        assert!(chart.contains(block.trim_end()), "statechart.toml does not contain\n{block}");
    }
}

/// The review counts match the chart: one cycle each for the plan, the tasks and all code, and one for each task.
#[test]
fn the_cost_is_counted_right() {
    let readme = fs::read_to_string(root().join(README)).unwrap();
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

#[test]
fn the_loop_the_message_and_the_bound_are_true() {
    let blocks = [texts(README, "text"), texts(CHART, "text")].concat();
    let [picture, command, message, bound] = blocks.as_slice() else {
        panic!("a picture of the loop, a command, a message, and what bounds the reviews")
    };
    let project = Project::valid();
    let printed = compiled_in();
    assert!(printed.contains(bound.as_str()), "{printed}");
    let plugin = root().join("plugin/taskie/commands");
    let words = picture.split_whitespace().chain(command.split_whitespace());
    for word in words.filter_map(|word| word.strip_prefix("/taskie:")) {
        assert!(plugin.join(format!("{word}.md")).is_file(), "{word}");
    }
    project.reviewer(&Reviewer::fail());
    project.set_state(json!({ "phase": "new-plan", "next_phase": "plan-review" }));
    assert_eq!(project.stop().json()["decision"], "block");
    for file in picture.split_whitespace().filter(|word| word.ends_with(".md")) {
        assert!(project.plan().join(file).exists(), "{file}");
    }

    let chart = fs::read_to_string(root().join("statechart.toml"))
        .unwrap()
        .replace("cycle.limit == 0", "cycle.limt == 0");
    fs::write(project.root.join("statechart.toml"), chart).unwrap();
    for folder in ["templates", "plugin"] {
        std::os::unix::fs::symlink(root().join(folder), project.root.join(folder)).unwrap();
    }
    let ran = project.run(&["--chart", "statechart.toml", "schema", "state"]);
    // Line numbers change with the chart.
    let shape = |text: &str| text.trim_end().replace(|sign: char| sign.is_ascii_digit(), "#");
    assert_eq!((ran.code, shape(&ran.stderr)), (1, shape(message)));
    let ran = project.stop_with("statechart.toml");
    assert_eq!(ran.code, 0, "a broken chart blocks nobody");
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
    for document in [
        README,
        "CONTRIBUTING.md",
        "docs/architecture.md",
        "docs/glossary.md",
        "docs/commands.md",
        "docs/chart-files.md",
    ] {
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
    let page = fs::read_to_string(root().join("docs/chart-files.md")).unwrap();
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
    let settings = &texts("docs/chart-files.md", "json")[0];
    let settings: Value = serde_json::from_str(settings).unwrap();
    let hook = &settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"];
    assert!(hook.as_str().unwrap().ends_with(" hook user-prompt-submit"));
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
