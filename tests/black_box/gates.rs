//! Gates that are running, and what they leave behind. Everything else about gates is in `tests/transcripts/gates.md`.

use serde_json::{Value, json};

use crate::bench::{signal, wait_for_line, wait_until_gone};
use crate::expected::plan_in;
use crate::support::{PLAN, Project, Ran, Reviewer, feed, finish};

/// A project whose next stop reviews the code of task 1, after these gates of the user.
fn due(gates: &Value) -> Project {
    let project = plan_in(&json!({}), &Reviewer::fail());
    project.set_for_all(&json!({ "gates": gates }));
    project
}

/// Writes a script `check` in the project's root.
fn script(project: &Project, lines: &str) {
    crate::support::script(project.root.join("check"), lines);
}

fn block(ran: &Ran) -> String {
    let json = ran.json();
    assert_eq!(json["decision"], "block", "{}", ran.stdout);
    json["reason"].as_str().unwrap().to_owned()
}

/// A child, one that ignores SIGTERM, and the gate itself, which then goes on or ends. Each records its id.
const STUBBORN: &str = "\
echo $$ > leader
sleep 600 & echo $! > child
(trap '' TERM; sleep 600) & echo $! > stubborn
echo waiting
echo started > started";

fn pids(project: &Project) -> Vec<String> {
    wait_for_line(&project.root.join("started"));
    let names = ["leader", "child", "stubborn"];
    names.map(|name| wait_for_line(&project.root.join(name))).to_vec()
}

/// One that hangs is killed with what it has started, and so is what one leaves behind.
#[test]
fn no_process_of_a_gate_is_left() {
    // On a busy machine, the first limit may pass before the gate has started anything.
    for limit in [6, 30] {
        let project = due(&json!([]));
        project
            .set_for_all(&json!({ "gates": ["true", "./check", "echo ok"], "review_timeout": 1 }));
        script(&project, &format!("{STUBBORN}\nsleep 600"));
        // A reviewer has the other half of the hook's time.
        let stop = project.command(["hook", "stop", "--timeout", &(2 * limit).to_string()]);
        let reason = block(&feed(stop, project.stop_event(false)));
        if !project.root.join("started").exists() {
            continue;
        }
        let why = format!(" all gates together may take {limit} s. No reviewer has");
        assert!(reason.contains("was killed after ") && reason.contains(&why), "{reason}");
        assert!(reason.contains("\n\nwaiting\n\n"), "{reason}");
        for pid in pids(&project) {
            wait_until_gone(&pid);
        }
        break;
    }
    let project = due(&json!(["./check"]));
    script(&project, STUBBORN);
    assert!(block(&project.stop()).starts_with("A code review"));
    for pid in pids(&project) {
        wait_until_gone(&pid);
    }
}

/// A gate that is running is shown, and ends with its hook, however that ends.
#[test]
fn a_gate_that_is_running() {
    for kill in ["TERM", "KILL"] {
        let project = due(&json!(["./check 1"]));
        script(&project, &format!("{STUBBORN}\nsleep 600"));
        let before = project.read("state.json");
        let hook = project.start_stop();
        let pids = pids(&project);
        let running = &project.run(&["status", "--json"]).json()["running"];
        let shown = ["gate", "cycle", "n", "timeout"].map(|key| running[key].clone());
        let expected = json!(["./check 1", "code-review", 1, 270]);
        assert_eq!(json!(shown), expected);
        let status = project.run(&["status"]).stdout;
        let line = "A review is running: the gate `./check 1` before code-review 1, for";
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&status).contains(line), "{status}");
        // Nobody else reviews in the meantime.
        let other = project.stop().message();
        assert!(
            other.starts_with(&format!("A review of plan `{PLAN}` is already running")),
            "{other}"
        );
        signal(kill, hook.id());
        finish(hook);
        for pid in pids {
            wait_until_gone(&pid);
        }
        assert_eq!(project.read("state.json"), before);
        assert!(project.calls().is_empty());
        let status = project.run(&["status", "--json"]).json();
        assert_eq!(status["running"], Value::Null);
    }
}
