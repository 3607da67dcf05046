//! What reviewers read. Everything else about `taskie render` is in `tests/transcripts/render.md`.

use serde_json::json;

use crate::support::{CYCLES, Project};

/// What each reviewer reads, whole: nobody sees it but reviewers. All read the same ground rules, so one shows them.
#[test]
fn the_prompts_of_the_reviewers() {
    let rules = include_str!("../../plugin/taskie/ground-rules.md");
    for cycle in CYCLES {
        let project = Project::in_state(json!({ "phase": "new-plan", "next_phase": cycle }));
        let ran = project.run(&["render", "--next"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains(rules), "{}", ran.stdout);
        let prompt = match cycle {
            "plan-review" => ran.stdout,
            _ => ran.stdout.replace(rules, "(The ground rules.)\n"),
        };
        insta::with_settings!({ omit_expression => true }, {
            insta::assert_snapshot!(format!("prompt-{cycle}"), prompt);
        });
    }
}
