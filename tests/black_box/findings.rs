//! What reviews find, as data: severities, counts, answers, rulings, and loops that do not converge.

use serde_json::{Value, json};

use crate::support::{Project, Ran, Reviewer};

/// A reviewer that finds this.
fn finds(verdict: &'static str, findings: &Value) -> Reviewer {
    let answer = json!({ "verdict": verdict, "findings": findings });
    let stdout = json!({ "is_error": false, "total_cost_usd": 0.84, "structured_output": answer });
    Reviewer {
        verdict,
        stdout: Some(stdout.to_string()),
        ..Reviewer::default()
    }
}

fn finding(severity: &str, title: &str) -> Value {
    json!({ "severity": severity, "file": "src/a.rs", "line": 12, "title": title })
}

/// The session that works on the plan stops.
fn stop(project: &Project, reviewer: &Reviewer) -> Ran {
    project.reviewer(reviewer);
    let event = json!({ "hook_event_name": "Stop", "cwd": project.root, "session_id": "mine" });
    project.hook_raw("stop", event.to_string())
}

/// A project with a plan whose code review is due, and a session that works on it.
fn project() -> Project {
    let project = Project::valid();
    project.set_state(json!({}));
    assert_eq!(project.run(&["next", "--session", "mine"]).code, 0);
    project
}

fn message(ran: &Ran) -> String {
    ran.json()["systemMessage"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn findings_are_counted_by_severity() {
    let majors = json!([
        finding("minor", "a"),
        finding("major", "b"),
        finding("major", "c")
    ]);
    let odd = json!([finding("minor", "a"), finding("awful", "b"), 7]);
    let cases = [
        ("FAIL", majors, "FAIL: 2 major, 1 minor (opus, $0.84)"),
        ("PASS", json!([]), "PASS by opus ($0.84), 1 of 2 clean"),
        (
            "PASS",
            json!([finding("minor", "a")]),
            "PASS: 1 minor (opus, $0.84), 1 of 2 clean",
        ),
        ("FAIL", odd, "FAIL: 1 minor, 2 unreadable (opus, $0.84)"),
        ("FAIL", json!("many"), "FAIL: 1 unreadable (opus, $0.84)"),
        ("FAIL", json!(null), "FAIL by opus ($0.84), 0 of 2 clean"),
    ];
    for (verdict, findings, expected) in cases {
        let project = project();
        let ran = stop(&project, &finds(verdict, &findings));
        assert_eq!(message(&ran), format!("code-review 1/8: {expected}"));
        assert_eq!(ran.json()["decision"], "block", "{expected}");
    }
}

#[test]
fn history_shows_what_was_found() {
    let project = project();
    let title = "b\u{1b}[31m\u{202e} <script>\nsays: run `rm`";
    let findings = json!([finding("minor", "a"), finding("major", title)]);
    stop(&project, &finds("FAIL", &findings));
    let log = project.run(&["log", "--json"]).stdout;
    let line = log
        .lines()
        .find(|line| line.contains("\"line\":\"review\""));
    let line: Value = serde_json::from_str(line.unwrap()).unwrap();
    let plain = finding("major", "b <script> says: run `rm`");
    assert_eq!(line["findings"], json!([finding("minor", "a"), plain]));
    let log = project.run(&["log"]).stdout;
    assert!(
        log.contains("code-review task-1 1 FAIL by opus in 0 s ($0.84): 1 major, 1 minor"),
        "{log}"
    );
    let stats = project.run(&["stats"]).stdout;
    assert!(
        stats.contains("100 % found something: 1 major, 1 minor"),
        "{stats}"
    );
    let json: Value = serde_json::from_str(&project.run(&["stats", "--json"]).stdout).unwrap();
    assert_eq!(json["all"]["findings"], json!({ "major": 1, "minor": 1 }));
    let json: Value = serde_json::from_str(&project.run(&["status", "--json"]).stdout).unwrap();
    assert_eq!(json["reviews"][0]["found"], "1 major, 1 minor");
    assert_eq!(project.run(&["report", "--html", "a.html"]).code, 0);
    let html = std::fs::read_to_string(project.root.join("a.html")).unwrap();
    assert!(html.contains("($0.84): 1 major, 1 minor, not answered"));
}

/// What a setting says about whether a review is clean.
#[test]
fn a_setting_says_what_is_clean() {
    let minor = json!([finding("minor", "a")]);
    let major = json!([finding("minor", "a"), finding("major", "b")]);
    let nothing = json!([]);
    let cases = [
        (json!({}), "PASS", &major, true),
        (json!({}), "FAIL", &minor, false),
        (json!({ "clean_means": "no-major" }), "FAIL", &minor, true),
        (json!({ "clean_means": "no-major" }), "PASS", &major, false),
        (
            json!({ "clean_means": "no-major" }),
            "FAIL",
            &nothing,
            false,
        ),
        (json!({ "clean_means": "none" }), "PASS", &minor, false),
        (json!({ "clean_means": "none" }), "PASS", &nothing, true),
        (json!({ "strict_rounds": 3 }), "FAIL", &minor, false),
        (json!({ "strict_rounds": 2 }), "FAIL", &minor, true),
        (json!({ "strict_rounds": 2 }), "FAIL", &major, false),
    ];
    for (settings, verdict, findings, is_clean) in cases {
        let project = project();
        project.set_state(json!({ "phase_iteration": 2 }));
        let file = project.root.join(".taskie/config.json");
        std::fs::write(file, settings.to_string()).unwrap();
        stop(&project, &finds(verdict, findings));
        let clean = project.state()["consecutive_clean"].clone();
        assert_eq!(
            clean,
            u64::from(is_clean),
            "{settings} {verdict} {findings}"
        );
    }
}
