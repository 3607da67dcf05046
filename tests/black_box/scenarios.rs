//! `taskie simulate` and `taskie test`: a chart is played in memory, and the results are compared.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

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

#[test]
fn the_stories_of_the_charts_are_true() {
    let project = Project::empty();
    let folders = fs::read_dir(repository().join("tests/stories")).unwrap();
    for folder in folders {
        let folder = folder.unwrap();
        let files = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().path());
        let name = folder.file_name().into_string().unwrap();
        let args = ["--chart", &name, "test"].map(str::to_owned);
        let ran = Ran::of(project.command(args).args(files).output().unwrap());
        assert_eq!(ran.err(), (0, ""), "{}", ran.stdout);
    }
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
