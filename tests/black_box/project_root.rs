//! What a terminal does to a plan that no session drives. Which project and which plan it is, and whose, is in
//! `tests/transcripts/project_root.md`.

use serde_json::json;

use crate::expected::plan_in;
use crate::support::Reviewer;

/// A plain terminal has no session: it changes the state, says so, and claims nothing.
#[test]
fn a_terminal_claims_nothing() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    let undriven = "The code-review is due, but no session is working on this plan: run /taskie:continue-plan in a session to start the review.\n";
    let typed = |args: &[&str]| {
        use std::io::Read as _;

        let (mut child, mut terminal) = crate::status::on_terminal(project.command(args), 200, 24);
        assert!(child.wait().unwrap().success());
        let mut text = Vec::new();
        // A terminal that nobody writes to any more ends with an error.
        let _ = terminal.read_to_end(&mut text);
        String::from_utf8_lossy(&text).replace('\r', "")
    };
    for args in [&["run", "limit", "4"][..], &["enter", "complete-task", "--task", "1"]] {
        let shown = typed(args);
        assert!(shown.ends_with(undriven), "{shown}");
        // A script is no terminal.
        assert!(!project.run(args).stdout.contains("drives"));
    }
    assert_eq!(project.stop_of("mine").json().get("decision"), None);
    assert_eq!(project.run(&["next", "--session", "mine"]).code, 0);
    let shown = typed(&["run", "limit", "5"]);
    assert!(!shown.contains("drives"), "{shown}");
    assert_eq!(project.stop_of("mine").json()["decision"], "block");
}
