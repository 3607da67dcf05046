//! `taskie next`: how a plan continues, row by row of the routing table.

use crate::support::{PLAN, Project, cases, json_of};

/// Case, changes of the state, files written before, the action, the start of the reason.
type Row =
    (&'static str, &'static str, Vec<(&'static str, &'static str)>, &'static str, &'static str);

#[test]
fn the_routing_row_by_row() {
    for (what, changes, files, action, why) in cases::<Row>("next", "the_routing_row_by_row") {
        let project = Project::in_state(json_of(changes));
        for (name, text) in files {
            if text == "GONE" {
                std::fs::remove_file(project.plan().join(name)).unwrap();
                continue;
            }
            // A plan of many lines counts as complete, whatever its headings.
            project.write(name, text.replace("LONG\n", &"x\n".repeat(51)));
        }
        let before = project.files();
        let ran = project.run(&["next", "--json"]);
        assert_eq!(ran.err(), (0, ""), "{what}");
        assert_eq!(ran.json()["version"], 1);
        assert_eq!(ran.json()["action"], action, "{what}: {}", ran.stdout);
        assert!(ran.json()["why"].as_str().unwrap().starts_with(why), "{what}: {}", ran.stdout);
        assert_eq!(project.files(), before, "{what}: nothing is written where no session is known");
        assert_eq!(project.run(&["status", "--json"]).json()["next"]["action"], action, "{what}");
    }
}

#[test]
fn without_a_state_the_user_is_asked_and_nothing_is_written() {
    let project = Project::valid();
    let before = project.files();
    let ran = project.run(&["next", "--session", "mine"]);
    let why = "There is no usable state.json: read the git history, tell the user where the plan stands, and let the user choose the action. Its last step writes a missing file; only the user fixes a broken one.";
    assert_eq!(
        (ran.code, ran.stdout, ran.stderr),
        (0, format!("next: ask\nwhy:  {why}\nplan: {PLAN}\n"), String::new())
    );
    assert_eq!(project.files(), before);
    for (broken, what) in [
        ("{", "it is not valid JSON: EOF while parsing an object at line 1 column 1"),
        (r#"{"phase": 5}"#, "`phase` is 5, but must be a phase of the chart"),
    ] {
        project.write("state.json", broken);
        let before = project.files();
        let ran = project.run(&["next", "--session", "mine"]);
        let warning = format!(
            "taskie: .taskie/plans/{PLAN}/state.json: {what}. No review of this plan runs and nothing is written until it is fixed.\n"
        );
        assert_eq!(
            (ran.code, ran.stdout, ran.stderr),
            (0, format!("next: ask\nwhy:  {why}\nplan: {PLAN}\n"), warning)
        );
        assert_eq!(project.files(), before);
    }
}
