//! Gates: commands that check the work before a reviewer reads it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::bench::{signal, wait_for_line, wait_until_gone};
use crate::expected::plan_in;
use crate::support::{PLAN, Project, Ran, Reviewer, cases, finish, git, state};

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

const REST: &str = "Fix the cause, not the gate, and end your turn: the hook runs the gates again, and then the \
     code-review. If the gate itself is wrong, tell the user. (User: `! taskie run pause` stops the review loop.)";

/// Each way to fail: no reviewer is started, nothing counts, and the agent gets what it needs.
#[test]
fn a_gate_that_fails_costs_no_review() {
    for (command, lines, why, output) in
        cases::<(&str, &str, &str, &str)>("gates", "a_gate_that_fails_costs_no_review")
    {
        let project = due(&json!([command]));
        script(&project, lines);
        let before = project.read("state.json");
        let ran = project.stop();
        let output = match output {
            "" => "It printed nothing. ".to_owned(),
            output => format!("The last lines of its output:\n\n{output}\n\n"),
        };
        let expected = format!(
            "The gate `{command}` {why}, so no reviewer has read the work yet. {output}{REST}"
        );
        assert_eq!(block(&ran), expected);
        assert_eq!(ran.stderr, "", "{command}");
        assert!(project.calls().is_empty(), "{command}");
        assert_eq!(project.read("state.json"), before);
    }
}

#[test]
fn gates_that_pass_are_named_in_the_prompt() {
    let project = due(&json!(["true", "./check", "echo ok"]));
    script(&project, "pwd >&2; env > env; echo fine");
    git(&project.root, &["init", "-q"]);
    let ran = project.stop();
    assert!(block(&ran).starts_with("A code review (iteration 1) has been written"));
    let calls = project.calls();
    let prompt = calls[0].last().unwrap();
    let part = "all of them succeeded. Don't run them again:\\n\\n- `true`\\n- `./check`\\n- `echo ok`\\n\\n# Your review";
    assert!(prompt.contains(part), "{prompt}");
    // What a gate starts is no reviewer, and its log is gone and never committed.
    let env = fs::read_to_string(project.root.join("env")).unwrap();
    assert!(!env.contains("TASKIE_REVIEWER"), "{env}");
    assert!(!project.names().contains(&".gates.log".to_owned()));
    let ignored = fs::read_to_string(project.root.join(".taskie/.gitignore")).unwrap();
    assert!(
        ignored.lines().any(|line| line == ".gates.log"),
        "{ignored}"
    );
}

/// Who pauses while a gate runs pays for no review.
#[test]
fn a_pause_during_a_gate_starts_no_reviewer() {
    let project = due(&json!(["./check"]));
    script(
        &project,
        &format!("{} run pause", env!("CARGO_BIN_EXE_taskie")),
    );
    let ran = project.stop();
    assert_eq!(ran.json().get("decision"), None, "{}", ran.stdout);
    assert!(project.calls().is_empty());
    assert_eq!(project.state()["paused"], "code-review");
}

/// Only what is about code is checked, and a project without gates doesn't mention them.
#[test]
fn a_plan_is_reviewed_without_gates() {
    let project = due(&json!(["false"]));
    project.set_state(
        json!({ "phase": "new-plan", "next_phase": "plan-review", "current_task": null }),
    );
    assert!(block(&project.stop()).starts_with("A plan review (iteration 1)"));
    project.set_for_all(&json!({}));
    project.set_state(json!({}));
    block(&project.stop());
    assert!(
        !project
            .calls()
            .iter()
            .flatten()
            .any(|arg| arg.contains("What has already run"))
    );
    assert!(!project.names().contains(&".gates.log".to_owned()));
}

/// The first gate that fails ends it, and its output stays in the log.
#[test]
fn gates_run_in_order() {
    let project = due(&json!([
        "sh -c 'echo one >> order'",
        "./check",
        "sh -c 'echo three >> order'"
    ]));
    script(&project, "echo two >> order; echo 'it is broken'; exit 1");
    block(&project.stop());
    let order = fs::read_to_string(project.root.join("order")).unwrap();
    assert_eq!(order, "one\ntwo\n");
    assert_eq!(project.read(".gates.log"), "it is broken\n");
    let mode = fs::metadata(project.plan().join(".gates.log"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// The same failure more than three times in a row is for the user; numbers don't make it another one.
#[test]
fn the_same_failure_again_and_again_ends_the_loop() {
    let project = due(&json!(["./check"]));
    let fails = |text: &str| script(&project, &format!("echo \"{text} in $$ ms\"; exit 1"));
    fails("2 tests failed");
    let before = project.read("state.json");
    for _ in 0..3 {
        block(&project.stop_active(true));
    }
    let asks = |times: u32| {
        format!(
            "The gate `./check` exited with code 1, {times} times in a row, so no reviewer was \
             started. The next stop runs it again. (Fix it or change `gates`; `! taskie run skip` moves on to \
             complete-task without a review.)"
        )
    };
    for times in [4, 5] {
        let said = project.stop_active(true).message();
        assert_eq!(said.lines().next().unwrap(), asks(times));
    }
    // Another failure is progress, and a gate that passes starts over.
    fails("another test failed");
    block(&project.stop());
    fails("2 tests failed");
    block(&project.stop());
    assert_eq!(
        (project.calls().len(), project.read("state.json")),
        (0, before)
    );
    script(&project, "exit 0");
    assert!(block(&project.stop()).starts_with("A code review (iteration 1)"));
    // The user goes on without.
    project.set_state(json!({}));
    fails("2 tests failed");
    for _ in 0..3 {
        block(&project.stop());
    }
    assert!(project.stop().message().starts_with(&asks(4)));
    assert_eq!(project.run(&["run", "skip"]).code, 0);
    assert_eq!(project.state()["next_phase"], "complete-task");
}

/// However often the output differs, the user is asked at last.
#[test]
fn a_failure_that_looks_different_each_time_ends_the_loop() {
    let project = due(&json!(["./check"]));
    let fails = |text: &str| script(&project, &format!("echo '{text}'; exit 1"));
    // What changes from run to run by itself is no other failure.
    for text in [
        "panic at 0x7ffe01ab in /tmp/tmp.Qw3rTy/a",
        "panic at 0xdeadbeef in /tmp/tmp.aBcDeF/a",
        "panic at 0x1 in /tmp/tmp.Zz/a",
    ] {
        fails(text);
        block(&project.stop());
    }
    fails("panic at 0xff in /tmp/tmp.xyz/a");
    let said = project.stop().message();
    assert!(
        said.contains("exited with code 1, 4 times in a row"),
        "{said}"
    );
    for word in ["a", "b", "c"] {
        fails(word);
        block(&project.stop());
    }
    fails("d");
    let said = project.stop().message();
    assert!(
        said.contains("exited with code 1, 8 times in a row"),
        "{said}"
    );
    assert!(project.calls().is_empty());
}

/// A gate can do anything. What it has changed is not reviewed, and nobody pays for it.
#[test]
fn a_gate_that_changes_the_plan_starts_no_reviewer() {
    let plan = format!(".taskie/plans/{PLAN}");
    let state = "state.json was changed while the gates ran";
    let cases = [
        (format!("sed -i s/opus/haiku/ {plan}/state.json"), state),
        (format!("echo x > {plan}/state.json"), state),
        (format!("rm {plan}/state.json"), state),
        (format!("rm {plan}/task-1.md"), "task-1.md does not exist"),
    ];
    for (edit, why) in cases {
        let project = due(&json!(["./check"]));
        script(&project, &edit);
        let ran = project.stop();
        assert!(ran.message().contains(why), "{edit}: {}", ran.stdout);
        assert!(project.calls().is_empty(), "{edit}");
    }
}

/// The agent can change its task file, so it is the one that is told.
#[test]
fn a_gate_that_needs_a_shell() {
    for (command, why) in cases::<(&str, &str)>("gates", "a_gate_that_needs_a_shell") {
        let project = due(&json!(["must-run"]));
        assert_eq!(project.run(&["trust", "--yes"]).code, 0);
        script(&project, "touch ran");
        project.write(
            "task-1.md",
            format!("- **Must-run commands**: `{command}`\n"),
        );
        let reason = block(&project.stop());
        let expected =
            format!("The gate `{command}` could not be started: {why}, so no reviewer has");
        assert!(reason.starts_with(&expected), "{reason}");
        assert!(project.calls().is_empty(), "{command}");
        assert!(!project.root.join("ran").exists(), "{command}");
    }
}

/// Gates that run nothing are not silent.
#[test]
fn a_task_without_must_run_commands_is_named() {
    let project = due(&json!(["must-run"]));
    assert_eq!(project.run(&["trust", "--yes"]).code, 0);
    project.write("task-1.md", "# Task\n");
    let ran = project.stop();
    block(&ran);
    let said = "`gates` has `must-run`, but task-1.md has no must-run command, so none was run. (A line that has some: \
                ``- **Must-run commands**: `make check` ``.)";
    assert_eq!(ran.message(), said);
    project.set_state(json!({ "next_phase": "all-code-review", "phase": "complete-task" }));
    project.write(
        "task-1.md",
        "- **Must-run commands**: `./check a/b`, `true`\n",
    );
    script(&project, "true");
    let ran = project.stop();
    block(&ran);
    let left = "The code-review was left, and all-code-review comes next: state.json was changed, and not by taskie on this machine.";
    assert_eq!(ran.message(), left);
    let call = project.calls().pop().unwrap();
    assert!(
        call.last().unwrap().contains("- `./check a/b`\\n- `true`"),
        "{call:?}"
    );
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
    names
        .map(|name| wait_for_line(&project.root.join(name)))
        .to_vec()
}

/// One that hangs is killed with what it has started, and so is what one leaves behind.
#[test]
fn no_process_of_a_gate_is_left() {
    // On a busy machine, the first limit may pass before the gate has started anything.
    for limit in [1, 5, 30] {
        let project = due(&json!([]));
        project.set_for_all(
            &json!({ "gates": ["true", "./check", "echo ok"], "gate_timeout": limit }),
        );
        script(&project, &format!("{STUBBORN}\nsleep 600"));
        let reason = block(&project.stop());
        if !project.root.join("started").exists() {
            continue;
        }
        let why = format!(" all gates together may take {limit} s, so no reviewer has");
        assert!(
            reason.contains("was killed after ") && reason.contains(&why),
            "{reason}"
        );
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

/// A gate that is running is shown with the last line of its output, and ends with its hook, however that ends.
#[test]
fn a_gate_that_is_running() {
    for kill in ["TERM", "KILL"] {
        let project = due(&json!(["./check 1"]));
        script(&project, &format!("{STUBBORN}\nsleep 600"));
        let before = project.read("state.json");
        let hook = project.start_stop();
        let pids = pids(&project);
        let running = &project.run(&["status", "--json"]).json()["running"];
        let shown = ["gate", "cycle", "n", "timeout", "last_line"].map(|key| running[key].clone());
        let expected = json!(["./check 1", "code-review", 1, 270, "waiting"]);
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

/// The must-run commands of the current task, where the user says so, and of all tasks at the end.
#[test]
fn the_must_run_commands_of_a_task() {
    let project = due(&json!(["must-run", "true"]));
    let commands = |text: &str| format!("# Task\n\n- **Must-run commands**: {text}\n");
    project.write("task-1.md", commands("`sh -c 'exit 5'`, `true`"));
    project.write("task-2.md", commands("`sh -c 'exit 6'`"));
    // The project's files say what they are, so each project needs trust.
    let file = project
        .bin
        .with_file_name("home/.config/taskie/taskie.json");
    let file = file.display();
    let ran = project.stop();
    assert!(block(&ran).starts_with("A code review"), "{}", ran.stdout);
    let ignored = format!("{file}: `gates` is ignored until you run `taskie trust`.");
    assert!(ran.message().starts_with(&ignored), "{}", ran.stdout);
    let gates = || project.run(&["config", "--json"]).json()["settings"]["gates"].clone();
    assert_eq!(
        gates(),
        json!({
            "value": ["true"],
            "from": file.to_string(),
            "held_back": {
                "value": ["must-run", "true"],
                "from": file.to_string(),
                "why": "it needs trust in each project",
            },
        })
    );
    assert_eq!(project.run(&["trust", "--yes"]).code, 0);
    assert_eq!(gates()["held_back"], Value::Null);
    project.set_state(json!({}));
    assert!(block(&project.stop()).starts_with("The gate `sh -c 'exit 5'` exited with code 5"));
    project.write("task-1.md", commands("`true`"));
    assert!(block(&project.stop()).starts_with("A code review"));
    let call = project.calls().pop().unwrap();
    assert!(
        call.last()
            .unwrap()
            .contains("again:\\n\\n- `true`\\n- `true`\\n"),
        "{call:?}"
    );
    project.set_state(json!({ "next_phase": "all-code-review", "phase": "complete-task" }));
    assert!(block(&project.stop()).starts_with("The gate `sh -c 'exit 6'` exited with code 6"));
    // Without them, nobody runs what a task file says.
    project.set_for_all(&json!({ "gates": ["true"] }));
    assert!(block(&project.stop()).starts_with("An all-code review"));
}

/// What a repository brings runs only once the user has agreed to it.
#[test]
fn a_projects_gates_need_trust() {
    let project = due(&json!([]));
    let config = project.root.join(".taskie/config.json");
    fs::write(&config, json!({ "gates": ["touch ran"] }).to_string()).unwrap();
    let ran = project.stop();
    assert!(block(&ran).starts_with("A code review"));
    let ignored = ".taskie/config.json: `gates` is ignored until you run `taskie trust`.";
    assert!(ran.message().starts_with(ignored), "{}", ran.stdout);
    assert!(!project.root.join("ran").exists());
    let trusted = project.run(&["trust", "--yes"]);
    let shown = "── .taskie/config.json: gates ──\n[\"touch ran\"]\n";
    assert!(trusted.stdout.starts_with(shown), "{}", trusted.stdout);
    project.set_state(json!({}));
    block(&project.stop());
    assert!(project.root.join("ran").exists());
    // So does one that turns the user's own off.
    project.set_for_all(&json!({ "gates": ["false"] }));
    fs::write(&config, json!({ "gates": [] }).to_string()).unwrap();
    project.set_state(json!({}));
    assert!(block(&project.stop()).starts_with("The gate `false`"));
}

/// The journal has each run, never its output.
#[test]
fn what_is_recorded_and_shown() {
    let project = due(&json!(["true", "./check"]));
    script(&project, "echo a secret; exit 3");
    block(&project.stop());
    let lines = project.run(&["log", "--json"]).stdout;
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let gates: Vec<&Value> = lines.iter().filter(|line| line["line"] == "gate").collect();
    let shown: Vec<_> = gates
        .iter()
        .map(|gate| {
            (
                &gate["command"],
                &gate["exit"],
                &gate["error"],
                gate["output"].is_null(),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (&json!("true"), &json!(0), &Value::Null, true),
            (
                &json!("./check"),
                &json!(3),
                &json!("exited with code 3"),
                false
            ),
        ]
    );
    assert!(!lines.iter().any(|line| line["line"] == "review"));
    let decided = lines.last().unwrap();
    assert_eq!(decided["review"]["gate"], "./check");
    let journal = project.lock_file("journal");
    let journal = fs::read_to_string(journal).unwrap();
    assert!(!journal.contains("a secret"), "{journal}");
    let log = project.run(&["log"]).stdout;
    for part in [
        "gate true passed in ",
        "gate ./check failed after ",
        ": exited with code 3",
        "Stop blocked: a gate failed",
    ] {
        assert!(log.contains(part), "{part}\n{log}");
    }
    let why = project.run(&["log", "--why"]).stdout;
    assert!(
        why.contains("fired: a gate failed: the agent fixes that"),
        "{why}"
    );
    let status = project.run(&["status"]).stdout;
    let words: Vec<&str> = status.split_whitespace().collect();
    assert!(
        words
            .join(" ")
            .contains("after the gates (`true`, `./check`), code-review 1"),
        "{status}"
    );
}

/// Without gates, nothing about a plan changes.
#[test]
fn without_gates_everything_is_as_before() {
    let project = due(&json!([]));
    block(&project.stop());
    let expected = state(json!({
        "phase": "code-review", "phase_iteration": 1, "next_phase": "post-code-review", "review_model": "sonnet",
    }));
    assert_eq!(project.state(), expected);
    let journal = project.run(&["log", "--json"]).stdout;
    assert!(!journal.contains("gate\":"), "{journal}");
}
