//! `taskie validate`: the checks of a chart by hand.

use serde_json::{Value, json};

use crate::bench::copy_of_chart;
use crate::support::{PLAN, Project};

/// A plan with two flaws.
fn flawed() -> Project {
    let project = Project::in_state(json!({}));
    project.write("notes.md", "x");
    project.write("sub/more.md", "x");
    project
}

#[test]
fn each_finding_is_a_line() {
    let project = flawed();
    let before = project.files();
    for args in [&["validate"][..], &["validate", "--plan", PLAN]] {
        let ran = project.run(args);
        let expected = "Invalid filename: notes.md\nFiles found in nested directories\n";
        assert_eq!(ran.all(), (1, expected, ""), "{args:?}");
    }
    assert_eq!(project.files(), before);
}

#[test]
fn it_says_what_the_hook_says() {
    let project = flawed();
    project.set_state(json!({ "next_phase": null }));
    let lines = project.run(&["validate"]).stdout;
    let reason = format!("Plan '{PLAN}': {}", lines.trim_end().replace('\n', "; "));
    assert_eq!(project.stop().json()["reason"], reason);
}

#[test]
fn a_sound_plan_has_no_findings() {
    let project = Project::in_state(json!({}));
    let ran = project.run(&["validate"]);
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr),
        (0, format!("plan {PLAN}: no findings\n"), String::new())
    );
}

#[test]
fn a_state_that_cannot_be_used_fails() {
    let file = format!(".taskie/plans/{PLAN}/state.json");
    let remedy = "No review runs and nothing is written until it is fixed.";
    let cases: &[(&str, &[String])] = &[
        (
            r#"{"phase": "code-reviw", "tdd": 3, "next_phase": null, "max_reviews": -1, "review_model": "opus", "consecutive_clean": 0}"#,
            &[
                format!(
                    "{file}: `max_reviews` is -1, but must be an integer of at least 0. {remedy}"
                ),
                format!(
                    "{file}: `phase` is \"code-reviw\", but must be a phase of the chart; did you mean \"code-review\"?"
                ),
                format!("{file}: `tdd` is 3, but must be a boolean."),
            ],
        ),
        (
            r#"{"phase": "new-plan", "next_phase": null, "tdd": false, "consecutive_clean": 0}"#,
            &[format!(
                "{file} lacks `max_reviews`, `review_model`: the defaults are used."
            )],
        ),
        (
            "{",
            &[format!(
                "{file}: it is not valid JSON: EOF while parsing an object at line 1 column 1. {remedy}"
            )],
        ),
        (
            "[]",
            &[format!(
                "{file}: it contains a list, not an object. {remedy}"
            )],
        ),
    ];
    for (text, warnings) in cases {
        let project = Project::valid();
        project.write("state.json", text);
        let ran = project.run(&["validate"]);
        let lines: String = warnings
            .iter()
            .map(|warning| format!("warning: {warning}\n"))
            .collect();
        // Missing fields have defaults; anything else makes the state unusable.
        let is_usable = lines.contains("the defaults are used");
        let expected = if is_usable {
            format!("{lines}plan {PLAN}: no findings\n")
        } else {
            lines
        };
        assert_eq!(
            (ran.code, ran.stdout, ran.stderr),
            (i32::from(!is_usable), expected, String::new()),
            "{text}"
        );
        assert_eq!(
            project.run(&["validate", "--json"]).json()["warnings"],
            json!(warnings),
            "{text}"
        );
    }
}

#[test]
fn a_pipe_in_the_place_of_the_state_is_not_read() {
    let project = Project::valid();
    let path = project.plan().join("state.json");
    let made = std::process::Command::new("mkfifo")
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    let ran = project.run(&["validate"]);
    assert!(
        ran.code == 1 && ran.stdout.contains("it is not a regular file"),
        "{}",
        ran.stdout
    );
}

#[test]
fn programs_get_one_object() {
    let project = flawed();
    let ran = project.run(&["validate", "--json"]);
    let finding = |text: &str| json!({ "check": "structure", "text": text });
    let expected = json!({
        "version": 1, "plan": PLAN, "directory": format!(".taskie/plans/{PLAN}"),
        "findings": [finding("Invalid filename: notes.md"), finding("Files found in nested directories")],
        "warnings": [],
    });
    assert_eq!((ran.code, ran.json()), (1, expected));
}

#[test]
fn the_option_is_called_what_the_chart_calls_it() {
    let project = flawed();
    let chart = copy_of_chart(&project, |text| {
        text.replace("noun   = \"plan\"", "noun   = \"gate\"")
    });
    let chart = chart.to_str().unwrap();
    let help = project
        .run(&["--chart", chart, "validate", "--help"])
        .stdout;
    assert!(
        help.starts_with("Check the files of a gate")
            && help.contains("--gate <GATE>    The gate to use"),
        "{help}"
    );
    let json: Value = project
        .run(&["--chart", chart, "validate", "--gate", PLAN, "--json"])
        .json();
    assert_eq!(json["gate"], PLAN);
}

#[test]
fn a_plan_that_does_not_exist() {
    let project = flawed();
    let ran = project.run(&["validate", "--plan", "test-pla"]);
    let expected = "taskie: there is no plan `test-pla`\n  help: did you mean `test-plan`?\n";
    assert_eq!(ran.all(), (1, "", expected));
}
