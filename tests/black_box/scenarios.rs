//! `taskie simulate` and `taskie test`: a chart is played in memory, and the results are compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::check_chart::{explored, over_base, with_chart};
use crate::support::{PLAN, Project, Ran, cases, write_chart};
use crate::typed::{texts, typed};

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn chart(name: &str) -> String {
    repository().join(name).display().to_string()
}

/// Runs in a project, which must stay as it is.
fn untouched(project: &Project, args: &[&str]) -> Ran {
    let before = project.files();
    let ran = project.run(args);
    assert_eq!(project.files(), before);
    ran
}

#[test]
fn a_plan_is_simulated_from_its_first_phase_to_its_last() {
    let project = Project::empty();
    let ran = untouched(&project, &["simulate", "--verdicts", "FAIL,crash", "--tasks", "1"]);
    assert_eq!(ran.err(), (0, ""));
    insta::assert_snapshot!("simulate", ran.stdout);
    assert_eq!(project.names(), [] as [&str; 0]);
}

#[test]
fn a_simulation_for_programs() {
    let ran = Project::empty().run(&["simulate", "--tasks", "3", "--json"]);
    let object = ran.json();
    assert_eq!(
        (&object["version"], &object["phase"], &object["ended"]),
        (&json!(1), &json!("complete"), &json!("the last phase is reached"))
    );
    let decisions = object["decisions"].as_array().unwrap();
    assert_eq!(
        decisions[0],
        json!({
            "event": "enter new-plan",
            "rules": [
                { "rule": "phases.new-plan", "about": null },
                { "rule": "on.enter[0]", "about": "a review is due" },
            ],
            "review": null, "changed": { "next_phase": [null, "plan-review"] },
            "answer": "pass", "action": null,
        })
    );
    // Six cycles, and all reviews are clean: two of each.
    let reviews = decisions.iter().filter(|decision| !decision["review"].is_null());
    assert_eq!(reviews.count(), 12);
}

#[test]
fn at_the_limit_it_waits_for_the_user() {
    let project = Project::in_state(json!({ "max_reviews": 1 }));
    let args = ["simulate", "--plan", PLAN, "--verdicts", "FAIL"];
    let ran = untouched(&project, &args);
    assert_eq!(ran.err(), (0, ""));
    insta::assert_snapshot!("simulate-plan", ran.stdout);
}

#[test]
fn every_chart_here_can_be_simulated() {
    let nothing = "the chart does not say what comes next";
    let last = "the last phase is reached";
    let cannot = "the agent cannot continue: `taskie enter";
    let ends: &[(&str, Value, &str)] = &[
        ("examples/ralph/statechart", json!("off"), nothing),
        ("examples/release-train/statechart", json!("cut"), nothing),
        ("examples/style-gate/statechart", json!("published"), last),
        ("tests/charts/base", json!("done"), last),
        ("tests/charts/workflows/bug-triage", json!("triage"), "ask: Nothing is due."),
        ("tests/charts/workflows/doc-drift", json!("work"), "drift-check waits for the user"),
        ("tests/charts/workflows/migration", json!("plan"), nothing),
        ("tests/charts/workflows/notebook", json!("idle"), nothing),
        ("tests/charts/workflows/on-call", json!("open"), cannot),
        ("tests/charts/workflows/pr-checklist", json!("draft"), nothing),
        ("tests/charts/workflows/spec-then-code", json!("done"), last),
        ("tests/charts/workflows/test-first", json!("null"), cannot),
    ];
    let paths = ends.iter().map(|(name, ..)| chart(&format!("{name}.toml")));
    let paths: Vec<String> = paths.chain(["dr-done".to_owned()]).collect();
    let dr_done = ("dr-done", json!("off"), "ask: The session is off");
    for (path, (name, phase, ended)) in paths.iter().zip(ends.iter().chain([&dr_done])) {
        let ran = Project::empty().run(&["--chart", path, "simulate", "--json"]);
        let object = ran.json();
        assert_eq!((ran.code, &object["phase"]), (0, phase), "{name}");
        let why = object["ended"].as_str().unwrap();
        assert!(why.starts_with(ended), "{name}: {why}");
    }
}

#[test]
fn a_saved_walk_is_a_test() {
    let project = Project::empty();
    let ran = project.run(&["simulate", "--save", "walk.toml"]);
    assert_eq!(ran.err(), (0, ""));
    let ran = untouched(&project, &["test", "walk.toml"]);
    assert_eq!(ran.err(), (0, ""));
    insta::assert_snapshot!("test-passed", ran.stdout);
    // A chart with a different rule behaves differently, and the output says at which step.
    let files = write_chart(&project.root, |text| {
        text.replace("default = [\"opus\", \"sonnet\"]", "default = [\"haiku\"]")
    });
    assert!(files[1].1.contains("haiku"));
    for folder in ["templates", "plugin"] {
        std::os::unix::fs::symlink(repository().join(folder), project.root.join(folder)).unwrap();
    }
    let ran = project.run(&["--chart", "statechart.toml", "test", "walk.toml"]);
    assert_eq!(ran.err(), (1, ""));
    insta::assert_snapshot!(
        "test-failed",
        ran.stdout.lines().take(12).collect::<Vec<_>>().join("\n")
    );
    let ran = project.run(&["--chart", "statechart.toml", "test", "--json", "walk.toml"]);
    let object = ran.json();
    assert_eq!(
        object["scenarios"],
        json!([{
            "file": "walk.toml", "ok": false,
            "why": "step 1: review_model was \"haiku\", not \"opus\"",
        }])
    );
}

/// What the demo shows with processes and files happens in memory too.
#[test]
fn the_demo_is_a_scenario() {
    let demo = chart("examples/demo.toml");
    let ran = Project::empty().run(&["test", "--json", &demo]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let object = ran.json();
    assert_eq!(object["scenarios"], json!([{ "file": demo, "ok": true, "why": null }]));
    let missing = object["coverage"]["missing"].as_array().unwrap();
    assert!(missing.contains(&json!("commands.skip")) && !missing.contains(&json!("on.Stop[5]")));
    let (all, covered) = (&object["coverage"]["all"], &object["coverage"]["covered"]);
    let covered = covered.as_u64().unwrap() + missing.len() as u64;
    assert_eq!(all, &json!(covered));
}

#[test]
fn what_differs_from_a_scenario() {
    let project = Project::empty();
    for (text, expected) in cases::<(&str, &str)>("scenarios", "what_differs_from_a_scenario") {
        let written = "[[step]]\nrun = [\"taskie enter new-plan\"]\n[[step]]\nwrite = { \"plan.md\" = \"x\" }\n";
        let whole = match text.contains("[[step]]") {
            true => text.to_owned(),
            false => format!("{written}{text}"),
        };
        fs::write(project.root.join("case.toml"), whole).unwrap();
        let ran = project.run(&["test", "--json", "case.toml"]);
        let why = ran.json()["scenarios"][0]["why"].clone();
        let expected = match expected {
            "" => Value::Null,
            expected => json!(expected),
        };
        assert_eq!((why, ran.code), (expected.clone(), i32::from(!expected.is_null())), "{text}");
    }
}

#[test]
fn a_scenario_that_is_none() {
    let project = Project::empty();
    fs::write(project.root.join("odd.toml"), "[[step]]\nstep = 1\n").unwrap();
    let ran = project.run(&["test", "odd.toml", "absent.toml"]);
    assert_eq!(ran.err(), (1, ""));
    insta::assert_snapshot!("test-odd", ran.stdout.split("\n\n").next().unwrap());
}

/// Plays all scenarios in a folder.
pub fn played(project: &Project, chart: &str, dir: &str) -> Ran {
    let files = fs::read_dir(project.root.join(dir)).unwrap();
    let files = files.map(|file| file.unwrap().path().display().to_string());
    let mut files: Vec<String> = files.collect();
    files.sort();
    let args = ["--chart", chart, "test", "--json"].map(str::to_owned);
    let ran = Ran::of(project.command(args).args(&files).output().unwrap());
    assert_eq!(ran.stderr, "");
    ran
}

#[test]
fn every_part_of_the_charts_compiled_in_has_a_scenario() {
    let (project, _, printed) = explored();
    assert_eq!(
        printed,
        "\n81 scenarios in suite/taskie; covered: 81 of 81 phases, rules, commands and refusals (100%)\n\
         \n44 scenarios in suite/dr-done; covered: 44 of 44 phases, rules, commands and refusals (100%)\n\
         \n37 scenarios in suite/change; covered: 37 of 37 phases, rules, commands and refusals (100%)\n"
    );
    for chart in ["taskie", "dr-done", "change"] {
        let ran = played(project, chart, &format!("suite/{chart}"));
        let coverage = &ran.json()["coverage"];
        assert_eq!((ran.code, &coverage["missing"]), (0, &json!([])));
        let count = ran.json()["scenarios"].as_array().unwrap().len();
        assert_eq!(coverage["all"], count, "{chart}");
    }
    let text = fs::read_to_string(project.root.join("suite/taskie/on.Stop.6.toml")).unwrap();
    insta::assert_snapshot!("walk", text);
}

/// The scenarios of every shipped chart and example are committed, so that a change of a chart shows what it does.
#[test]
fn the_committed_scenarios_are_fresh() {
    const SUITES: &str = "tests/scenarios";
    let (shipped, ..) = explored();
    let examples = Project::empty();
    let charts = ["ralph", "release-train", "style-gate"]
        .map(|name| chart(&format!("examples/{name}/statechart.toml")));
    let args = ["check-chart", "--format=concise", "--scenarios", "suite"].map(str::to_owned);
    let ran = Ran::of(examples.command(args).args(&charts).output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    let mut fresh = suites(&shipped.root.join("suite"));
    fresh.extend(suites(&examples.root.join("suite")));
    let folder = repository().join(SUITES);
    if std::env::var_os("TASKIE_UPDATE_DOCS").is_some() {
        let _ = fs::remove_dir_all(&folder);
        for (name, text) in &fresh {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    let stored = suites(&folder);
    let names = stored.keys().chain(fresh.keys());
    let stale: Vec<&String> = names.filter(|name| stored.get(*name) != fresh.get(*name)).collect();
    assert!(
        stale.is_empty(),
        "{SUITES} is stale: {stale:?}\n\
         update it, and read what has changed: TASKIE_UPDATE_DOCS=1 cargo test --test black_box scenarios"
    );
}

/// The files that are played for a chart: those that `check-chart` writes, and those that people wrote, which say what
/// the written ones leave open.
pub fn committed(chart: &str) -> Vec<String> {
    let folders = ["scenarios", "stories"].map(|name| repository().join("tests").join(name));
    let files = folders.map(|folder| fs::read_dir(folder.join(chart)).into_iter().flatten());
    let files = files.into_iter().flatten();
    let mut files: Vec<String> =
        files.map(|file| file.unwrap().path().display().to_string()).collect();
    files.sort();
    files
}

#[test]
fn the_stories_of_the_charts_are_true() {
    let project = Project::empty();
    let folders = fs::read_dir(repository().join("tests/stories")).unwrap();
    for folder in folders {
        let name = folder.unwrap().file_name().into_string().unwrap();
        let files = committed(&name);
        let args = ["--chart", &name, "test"].map(str::to_owned);
        let ran = Ran::of(project.command(args).args(&files).output().unwrap());
        assert_eq!(ran.err(), (0, ""), "{}", ran.stdout);
    }
}

/// The files of each folder in a folder, with their texts.
fn suites(folder: &Path) -> BTreeMap<String, String> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let files = entries(folder).into_iter().flat_map(|chart| entries(&chart));
    let file = |path: PathBuf| {
        let name = path.strip_prefix(folder).unwrap().components();
        let name: Vec<_> = name.map(|part| part.as_os_str().to_string_lossy()).collect();
        (name.join("/"), fs::read_to_string(&path).unwrap())
    };
    files.map(file).collect()
}

#[test]
fn what_no_walk_reaches_has_no_scenario() {
    let rule = "[[on.Stop]]\nabout = \"nothing\"\nguard = \"not scope.started and reviews > 0\"\nallow = true\n";
    let project = with_chart(&over_base(rule));
    let args = ["check-chart", "--format=concise", "--scenarios", "suite", "chart.toml"];
    let ran = project.run(&args);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert_eq!(
        ran.stderr,
        "16 scenarios in suite; covered: 16 of 17 phases, rules, commands and refusals (94%)\n\
         No scenario could be written for:\n  on.Stop[0]  nothing\n"
    );
    // What is there is never overwritten.
    let before = project.files();
    let ran = project.run(&args);
    assert_eq!(
        ran.all(),
        (
            1,
            "",
            "taskie: suite is not empty\n  help: name a new folder, or remove the files: scenarios are not overwritten\n"
        )
    );
    assert_eq!(project.files(), before);
    // A chart that cannot be explored has no walks, and keeps no other chart from its scenarios.
    fs::write(project.root.join("odd.toml"), "id = 3\n").unwrap();
    let args = ["check-chart", "--format=concise", "--scenarios", "new"];
    let ran = project.run(&[&args[..], &["odd.toml", "chart.toml"]].concat());
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            1,
            "No scenarios for odd.toml: fix the findings first.\n\
             16 scenarios in new/text; covered: 16 of 17 phases, rules, commands and refusals (94%)\n\
             No scenario could be written for:\n  on.Stop[0]  nothing\n"
        )
    );
    // Two charts of one name would share a folder.
    let ran = project.run(&["check-chart", "--scenarios", "twice", "chart.toml", "chart.toml"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            1,
            "taskie: two charts have their scenarios in twice/text\n  \
             help: give each chart an `id` of its own, or check one at a time\n"
        )
    );
}

/// The page about scenarios: its commands work as typed, and its example passes.
#[test]
fn the_page_about_scenarios_is_true() {
    let page = "docs/scenarios.md";
    let project = Project::empty();
    for block in texts(page, "sh") {
        let ran = typed(&project, &block);
        assert_eq!(ran.err(), (0, ""), "{block}{}", ran.stdout);
    }
    let [example] = texts(page, "toml").try_into().unwrap();
    fs::write(project.root.join("example.toml"), example).unwrap();
    let ran = project.run(&["test", "example.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}
