//! Charts that extend another: the small changes in `examples/overlays`, checked and played, and what is said about them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::expected::plan_in;
use crate::support::{Project, Reviewer, allowed, report, script};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/overlays").join(name)
}

fn chart(name: &str) -> PathBuf {
    folder(name).join("statechart.toml")
}

/// Each keeps what its base promises, and is as short as a change should be.
#[test]
fn the_examples_are_short_and_have_no_findings() {
    for (name, most) in
        [("one-clean-plan", 3), ("closing", 1), ("approval", 20), ("security-review", 20)]
    {
        let text = fs::read_to_string(chart(name)).unwrap();
        let is_code = |line: &&str| !line.is_empty() && !line.starts_with('#');
        let count = text.lines().filter(is_code).count();
        assert!(count <= most, "{name} has {count} lines");
        let report = report(chart(name).to_str().unwrap(), &text, &folder(name));
        assert_eq!(report["findings"], json!([]), "{name}");
    }
}

#[test]
fn a_template_that_another_one_includes_is_replaced() {
    let project = plan_in(&json!({ "consecutive_clean": 1 }), &Reviewer::pass());
    let message = project.stop_with(chart("closing")).message();
    let start = "Code review passed. Tell the team, then run /taskie:continue-plan. (Next: ";
    assert!(message.contains(start), "{message}");
}

#[test]
fn the_final_review_waits_for_the_user() {
    let due = json!({
        "phase": "code-review", "next_phase": "all-code-review", "current_task": "1",
        "phase_iteration": 0, "consecutive_clean": 0,
    });
    let project = plan_in(&due, &Reviewer::pass());
    let chart = chart("approval");
    let waits =
        "The final review waits for your approval. In a terminal of your own: `taskie approve`.";
    assert_eq!(project.stop_with(&chart).json(), allowed(waits));
    assert!(project.calls().is_empty());
    let chart = chart.to_str().unwrap();
    let ran = project.run(&["--chart", chart, "run", "approve"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    project.stop_with(chart);
    assert_eq!(project.calls().len(), 1);
    assert_eq!(project.state()["next_phase"], "post-all-code-review");
    // Each final review starts as all cycles do, and waits again.
    let project = plan_in(
        &json!({ "consecutive_clean": 1, "phase_iteration": 4, "approved": true }),
        &Reviewer::pass(),
    );
    project.write("tasks.md", "| Id | Status |\n|---|---|\n| 1 | done |\n");
    project.stop_with(chart);
    let state = project.state();
    assert_eq!(state["next_phase"], "all-code-review", "{state}");
    assert_eq!(
        (&state["approved"], &state["phase_iteration"], &state["consecutive_clean"]),
        (&json!(false), &json!(0), &json!(0))
    );
}

#[test]
fn another_reviewer_looks_at_the_security_of_each_task() {
    let project = plan_in(&json!({ "consecutive_clean": 1 }), &Reviewer::pass());
    let chart = chart("security-review");
    project.stop_with(&chart);
    assert_eq!(project.state()["next_phase"], "security-review");
    let review = project.plan().join("task-1-security-review-1.md");
    script(
        project.bin.join("codex"),
        &format!(
            "printf '%s' \"$*\" > \"{0}\"\necho '# Review' > \"{1}\"\necho '{{\"verdict\": \"PASS\"}}'",
            project.bin.join("asked").display(),
            review.display(),
        ),
    );
    let ran = project.stop_with(&chart);
    assert_eq!(project.state()["phase"], "security-review", "{}", ran.stdout);
    let asked = fs::read_to_string(project.bin.join("asked")).unwrap();
    assert!(asked.contains("Look for security problems"), "{asked}");
    assert!(ran.stdout.contains("/taskie:post-code-review"), "{}", ran.stdout);
}

/// The chart of a project, which extends the built-in one.
fn with_own(text: &str) -> Project {
    let project = Project::valid();
    fs::write(project.root.join(".taskie/statechart.toml"), text).unwrap();
    project
}

/// What a change breaks is found where it stands: in the chart below.
#[test]
fn findings_point_into_the_file_where_the_text_stands() {
    let project = with_own("extends = [\"taskie\"]\nremove = [\"let.planned\"]\n");
    let ran = project.run(&["check-chart", "--format", "concise"]);
    let own = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("statechart.toml"));
    let own = own.unwrap();
    let line = own.lines().position(|line| line.starts_with("ready   = \"planned\""));
    let place = format!("taskie:{}:", line.unwrap() + 1);
    assert!(ran.stdout.lines().any(|line| line.starts_with(&place)), "{}", ran.stdout);
    for (text, place, message) in [
        (
            "extends = [\"taskie\"]\nremove = [\"commands.skpi\"]\n",
            ".taskie/statechart.toml:2:11: overrides-nothing: ",
            "there is no place `commands.skpi` to change",
        ),
        (
            "extends = [\"tasky\"]\n",
            ".taskie/statechart.toml:1:12: unreadable: ",
            "`tasky` cannot be extended: there is no such chart",
        ),
        (
            "extends = [\"taskie\"]\n\n[[on.Stop]]\nid = \"revue\"\nguard = \"free\"\n",
            ".taskie/statechart.toml:4:6: overrides-nothing: ",
            "there is no entry with the id `revue` to change",
        ),
    ] {
        let project = with_own(text);
        let ran = project.run(&["check-chart", "--format", "concise"]);
        assert!(ran.stdout.starts_with(&format!("{place}{message}")), "{}", ran.stdout);
    }
}

#[test]
fn a_name_that_was_meant_to_change_another_one() {
    let ran = with_own("extends = [\"taskie\"]\n\n[let]\nneded = \"3\"\n").run(&["check-chart"]);
    assert!(ran.stdout.contains("help: did you mean `needed`?"), "{}", ran.stdout);
}

#[test]
fn what_is_printed_is_a_whole_chart() {
    let project = with_own(
        "extends = [\"taskie\"]\n\n[cycles.plan-review]\nexit = \"consecutive_clean >= 1\"\n",
    );
    let ran = project.run(&["chart", "print"]);
    assert_eq!(ran.err(), (0, ""));
    let printed: toml::Table = ran.stdout.parse().unwrap();
    assert_eq!(printed["cycles"]["plan-review"]["exit"].as_str(), Some("consecutive_clean >= 1"));
    // It runs: of the charts that it extends, nothing but the templates is left.
    let project = with_own(&ran.stdout);
    assert_eq!(project.run(&["chart", "print"]).stdout, ran.stdout);
    let found = project.run(&["check-chart", "--format", "concise"]).stdout;
    assert!(found.lines().all(|line| line.contains(": unused-name: ")), "{found}");
}

/// A chart of the project's own may extend another file of the project, which needs trust too.
#[test]
fn a_chart_extends_a_file_of_the_project() {
    let project = with_own("extends = [\"team.toml\"]\n");
    let team = project.root.join(".taskie/team.toml");
    fs::write(&team, "extends = [\"taskie\"]\n[config.clean]\ndefault = 7\n").unwrap();
    let ran = project.run(&["config", "trust", "--yes"]);
    assert!(ran.stdout.contains("── .taskie/team.toml ──"), "{}", ran.stdout);
    let ran = project.run(&["config", "--json"]);
    assert_eq!(ran.json()["settings"]["clean"]["value"], 7);
    assert_eq!(ran.stderr, "");
    fs::write(&team, "extends = [\"taskie\"]\n[config.clean]\ndefault = 1\n").unwrap();
    let message = project.stop().message();
    assert!(message.contains("has changed since you trusted it"), "{message}");
    // A file outside the project is no part of it.
    fs::write(project.root.join(".taskie/statechart.toml"), "extends = [\"../../x.toml\"]\n")
        .unwrap();
    let ran = project.run(&["config", "trust", "--yes"]);
    assert!(ran.stderr.contains("which is outside the project"), "{}", ran.stderr);
}

/// A chart that extends a shipped one can change, move and remove each of its rules, checks and properties.
#[test]
fn each_rule_that_is_shipped_can_be_named() {
    let charts = ["statechart.toml", "plugin/dr-done/statechart.toml"].map(str::to_owned);
    let parts = ["change", "plans", "policy", "reviewers", "stops"];
    let parts = parts.map(|name| format!("parts/{name}/statechart.toml"));
    let mut nameless = Vec::new();
    for name in charts.iter().chain(&parts) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        let chart: toml::Table = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let of_tables = |key: &str| {
            let tables = chart.get(key).and_then(toml::Value::as_table);
            tables.into_iter().flatten().map(|(_, list)| list)
        };
        let lists = of_tables("on").chain(of_tables("checks"));
        for list in lists.chain(chart.get("properties")) {
            let entries = list.as_array().unwrap().iter();
            let lacking = entries.filter(|entry| entry.get("id").is_none());
            nameless.extend(lacking.map(|entry| format!("{name}: {entry:?}")));
        }
    }
    assert_eq!(nameless, Vec::<String>::new());
}

/// A chart of one's own has the reviewers of the shipped part.
#[test]
fn a_chart_has_the_shipped_reviewers() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/second-opinion/statechart.toml");
    let text = fs::read_to_string(&file).unwrap();
    let report = report(file.to_str().unwrap(), &text, file.parent().unwrap());
    assert_eq!(report["findings"], json!([]));
    let project = Project::empty();
    project.reviewer(&Reviewer::pass());
    let folder = project.root.join(".texts/texts/one");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("text.md"), "A text.\n").unwrap();
    let chart = file.to_str().unwrap();
    let ran = project.run(&["--chart", chart, "enter", "write", "--text", "one"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = project.stop_with(chart);
    assert_eq!(ran.message(), "The text has passed after 1 reviews.", "{}", ran.stdout);
    let prompt = project.calls()[0].last().unwrap().clone();
    assert!(prompt.starts_with("You are an independent reviewer."), "{prompt}");
    assert!(prompt.contains("- .texts/texts/one/text.md"), "{prompt}");
}
