//! `taskie chart test`: a chart is played in memory, and the results are compared.

use std::fs;
use std::path::Path;

use crate::support::{Project, Ran, cases, write_chart};
use crate::typed::texts;

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
fn a_changed_chart_fails_a_test() {
    let project = Project::empty();
    let walk = "[[step]]\nrun = [\"taskie enter new-plan\"]\nstate = { review_model = \"opus\" }\n";
    fs::write(project.root.join("walk.toml"), walk).unwrap();
    let ran = untouched(&project, &["chart", "test", "walk.toml"]);
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
    let ran = project.run(&["--chart", "statechart.toml", "chart", "test", "walk.toml"]);
    assert_eq!(ran.err(), (1, ""));
    insta::assert_snapshot!(
        "test-failed",
        ran.stdout.lines().take(12).collect::<Vec<_>>().join("\n")
    );
}

/// What the demo shows with processes and files happens in memory too.
#[test]
fn the_demo_is_a_scenario() {
    let demo = chart("examples/demo.toml");
    let ran = Project::empty().run(&["chart", "test", &demo]);
    assert_eq!(ran.err(), (0, ""));
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
        let ran = project.run(&["chart", "test", "case.toml"]);
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = match expected {
            "" => (0, "ok case.toml".to_owned()),
            why => (1, words(&format!("failed case.toml: {why}"))),
        };
        assert_eq!(ran.code, expected.0, "{text}");
        assert!(words(&ran.stdout).starts_with(&expected.1), "{text}\n{}", ran.stdout);
    }
}

#[test]
fn a_scenario_that_is_none() {
    let project = Project::empty();
    fs::write(project.root.join("odd.toml"), "[[step]]\nstep = 1\n").unwrap();
    let ran = project.run(&["chart", "test", "odd.toml", "absent.toml"]);
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
        let args = ["--chart", &name, "chart", "test"].map(str::to_owned);
        let ran = Ran::of(project.command(args).args(files).output().unwrap());
        assert_eq!(ran.err(), (0, ""), "{}", ran.stdout);
    }
}

/// The scenario in the documentation passes.
#[test]
fn the_example_of_a_scenario_is_true() {
    let page = "docs/charts.md";
    let project = Project::empty();
    let mut blocks = texts(page, "toml").into_iter();
    let example = blocks.find(|block| block.contains("[[step]]")).unwrap();
    fs::write(project.root.join("example.toml"), example).unwrap();
    let ran = project.run(&["chart", "test", "example.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}
