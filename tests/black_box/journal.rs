//! The journal: what was decided, which rules were tried, what they looked at; and the output of `taskie log`.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::expected::plan_in;
use crate::support::{PLAN, Project, Ran, Reviewer, allowed, timeless, validated};

const AT: &str = "2026-01-31T12:00:00.000Z";

fn file(project: &Project) -> PathBuf {
    project.lock_file("journal")
}

/// The lines of the journal. Times and hashes are checked and then replaced.
fn lines(project: &Project) -> Vec<Value> {
    let text = fs::read_to_string(file(project)).unwrap_or_default();
    let mut lines: Vec<Value> = text
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for line in &mut lines {
        assert_eq!(line["at"].as_str().unwrap().len(), AT.len(), "{line}");
        line["at"] = json!(AT);
        assert_eq!(line["instance"], PLAN);
        for number in ["ms", "seconds"] {
            if let Some(number) = line.get_mut(number) {
                assert!(number.as_u64().unwrap() < 60_000);
                *number = json!(0);
            }
        }
        let subject = line.get_mut("subject").and_then(Value::as_object_mut);
        for hash in subject.into_iter().flat_map(|files| files.values_mut()) {
            assert!(hash.is_u64(), "{hash}");
            *hash = json!(1);
        }
    }
    lines
}

#[test]
fn a_review_and_the_rules_around_it() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    assert_eq!(project.stop().json()["decision"], "block");
    let rule = |n: usize, about: &str, fired: bool, saw: Value| json!({ "rule": format!("on.Stop[{n}]"), "about": about, "fired": fired, "saw": saw });
    let review = json!({
        "line": "review", "at": AT, "instance": PLAN, "cycle": "code-review", "n": 1, "file": "task-1-review-1.md",
        "bytes": 9, "verdict": "FAIL", "error": null, "by": "opus", "seconds": 0, "cost": 750, "tokens": null,
        "subject": { "plan.md": 1, "task-1.md": 1 },
    });
    let decision = json!({
        "line": "decision", "at": AT, "instance": PLAN, "event": "Stop", "session": null,
        "rules": [
            rule(0, "another session has claimed the plan: say so once", false, json!({ "session": null })),
            rule(1, "reviews are off: go on to what comes next", false, json!({ "cycle.due": true, "cycle.limit": 8 })),
            rule(2, "a review is due, but has to wait: plan mode, background tasks or the host", false, json!({ "cycle.due": true, "cycle.n": 1, "cycle.limit": 8, "waits": null })),
            rule(3, "a review is due, but no reviewer can run yet", false, json!({ "cycle.due": true, "cycle.n": 1, "cycle.limit": 8, "postponed": null })),
            rule(4, "a review is due: run it", true, json!({
                "cycle.due": true, "cycle.n": 1, "cycle.limit": 8,
                "spent": { "cycle": "$0.00", "failures": 0, "instance": "$0.00", "over": null, "why": "" },
                "stalled": false })),
            rule(5, "the review ran: count it; the next model in the list reviews next", true, json!({ "review.ok": true })),
            rule(6, "enough clean reviews: move on when the user says so", false, json!({ "review.ok": true, "cycle.exit": false })),
            rule(7, "not clean yet: the agent answers the review", true, json!({ "review.ok": true })),
        ],
        "review": { "cycle": "code-review", "n": 1, "verdict": "FAIL", "error": null, "superseded": false },
        "changed": {
            "phase": ["complete-task", "code-review"], "phase_iteration": [0, 1], "review_model": ["opus", "sonnet"],
            "next_phase": ["code-review", "post-code-review"],
        },
        "answer": "block", "ms": 0,
    });
    assert_eq!(lines(&project), [review, decision]);
}

#[test]
fn a_failed_review_says_why() {
    let project = plan_in(&json!({}), &Reviewer::fail().exits(3));
    project.stop();
    let lines = lines(&project);
    let error = lines[0]["error"].as_str().unwrap();
    assert!(error.starts_with("`claude` exited with code 3"), "{error}");
    assert_eq!(
        (
            &lines[0]["verdict"],
            &lines[1]["review"]["error"],
            &lines[1]["changed"],
            &lines[1]["answer"]
        ),
        (
            &Value::Null,
            &lines[0]["error"],
            &json!({}),
            &json!("allow")
        )
    );
}

#[test]
fn commands_leave_a_line_too() {
    let project = Project::in_state(json!({}));
    for (at, (args, event, answer, rules)) in [
        (
            &["run", "pause"] as &[&str],
            "run pause",
            "pass",
            &["commands.pause", "on.run[0]"] as &[&str],
        ),
        (
            &["run", "pause"],
            "run pause",
            "refuse",
            &["commands.pause"],
        ),
        (
            &["enter", "complete-task", "--task", "2"],
            "enter complete-task",
            "pass",
            &[
                "phases.complete-task",
                "on.enter[0]",
                "on.enter[1]",
                "on.enter[2]",
            ],
        ),
        (&["next"], "next", "action", &[]),
    ]
    .into_iter()
    .enumerate()
    {
        project.run(args);
        let lines = lines(&project);
        assert_eq!(lines.len(), at + 1, "{args:?}");
        let line = &lines[at];
        assert_eq!(
            (&line["event"], &line["answer"]),
            (&json!(event), &json!(answer)),
            "{args:?}"
        );
        let tried = line["rules"].as_array().unwrap().iter();
        let tried: Vec<&str> = tried.map(|rule| rule["rule"].as_str().unwrap()).collect();
        assert!(rules.is_empty() || tried == rules, "{tried:?}");
    }
}

#[test]
fn text_by_people_is_not_recorded() {
    let project = Project::in_state(json!({ "next_phase": null }));
    let event = json!({
        "hook_event_name": "Stop", "cwd": project.root, "prompt": "hush", "last_assistant_message": "hush",
    });
    assert_eq!(project.hook_raw("stop", event.to_string()).code, 0);
    let text = fs::read_to_string(file(&project)).unwrap();
    assert!(
        text.contains("on.Stop[13]") && !text.contains("hush"),
        "{text}"
    );
}

#[test]
fn a_session_without_a_claim_leaves_no_trace() {
    let project = Project::in_state(json!({ "next_phase": null }));
    assert_eq!(project.stop_of("stranger").code, 0);
    assert!(!project.root.join(".taskie/.locks").exists());
}

#[test]
fn a_journal_that_cannot_be_written_changes_no_answer() {
    let project = Project::in_state(json!({ "next_phase": null }));
    fs::create_dir_all(file(&project)).unwrap();
    let ran = project.stop();
    assert_eq!((ran.json(), ran.code), (validated(), 0));
    assert_eq!(
        ran.stderr,
        "taskie: the journal cannot be written: Is a directory (os error 21)\n"
    );
}

#[test]
fn hooks_at_once_leave_whole_lines() {
    let project = Project::in_state(json!({ "next_phase": null }));
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| assert_eq!(project.stop().json(), validated()));
        }
    });
    assert_eq!(lines(&project).len(), 32);
}

/// A journal with the times of these lines, oldest first.
fn history(lines: &[Value]) -> Project {
    let project = Project::in_state(json!({}));
    project.run(&["status"]);
    let file = file(&project);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "").unwrap();
    let inode = std::os::unix::fs::MetadataExt::ino(&fs::metadata(&file).unwrap());
    let lines = lines.iter().map(|line| format!("\n{line}"));
    let text: String = std::iter::once(format!("{{\"inode\":{inode}}}"))
        .chain(lines)
        .collect();
    fs::write(&file, text).unwrap();
    project
}

fn review(at: &str, verdict: Value, error: Value) -> Value {
    json!({
        "line": "review", "at": at, "instance": PLAN, "cycle": "plan-review", "n": 1, "file": "plan-review-1.md",
        "bytes": 1, "verdict": verdict, "error": error, "by": "opus", "seconds": 130,
    })
}

fn decision(at: &str, event: &str, answer: &str, changed: Value) -> Value {
    let about = "the plan's files are in order";
    json!({
        "line": "decision", "at": at, "instance": PLAN, "event": event, "session": "s", "changed": changed,
        "rules": [{ "rule": "on.Stop[13]", "about": about, "fired": true }], "answer": answer, "ms": 1,
    })
}

#[test]
fn the_log_is_a_timeline() {
    let project = history(&[
        decision(
            "2026-01-30T09:00:00.000Z",
            "enter new-plan",
            "pass",
            json!({ "phase": [null, "new-plan"], "next_phase": [null, "plan-review"] }),
        ),
        json!({ "line": "of a later version" }),
        review("2026-01-30T09:05:00.000Z", json!("FAIL"), json!(null)),
        review(
            "2026-01-30T10:05:00.000Z",
            json!(null),
            json!("`claude` exited with code 1"),
        ),
        decision("2026-01-31T09:00:00.000Z", "Stop", "allow", json!({})),
        decision("2026-01-31T09:01:00.000Z", "Stop", "allow", json!({})),
        decision("2026-01-31T09:02:00.000Z", "Stop", "allow", json!({})),
    ]);
    let whole = "\
2026-01-30 UTC
09:00:00  enter new-plan: the plan's files are in order · phase new-plan · next_phase plan-review
09:05:00  plan-review 1 FAIL by opus in 2 min 10 s
10:05:00  plan-review 1 failed by opus after 2 min 10 s: `claude` exited with code 1
2026-01-31 UTC
09:02:00  Stop allowed: the plan's files are in order (3 times)
";
    assert_eq!(project.run(&["log"]).stdout, whole);
    let ran = project.run(&["log", "--since", "2026-01-30T10:00:00Z"]);
    assert_eq!(ran.stdout.lines().count(), 4, "{}", ran.stdout);
    let ran = project.run(&["log", "--since", "2026-01-31"]);
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stdout);
    let ran = project.run(&["log", "--since", "1h"]);
    assert_eq!(
        ran.stdout,
        format!("nothing is recorded about plan `{PLAN}`\n")
    );
    let ran = project.run(&["log", "--since", "2026-01-31", "--json"]);
    let line: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(line["rules"][0]["rule"], "on.Stop[13]");
    assert_eq!(project.run(&["log", "--since", "soon"]).code, 2);
}

#[test]
fn a_followed_log_shows_new_lines() {
    use std::io::{BufRead as _, BufReader};
    let project = history(&[review(
        "2026-01-30T09:05:00.000Z",
        json!("PASS"),
        json!(null),
    )]);
    project.set_state(json!({ "next_phase": null }));
    let mut child = project.command(["log", "--follow"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert_eq!(next(), "2026-01-30 UTC");
    assert_eq!(next(), "09:05:00  plan-review 1 PASS by opus in 2 min 10 s");
    project.stop();
    assert!(next().ends_with(" UTC"));
    let line = next();
    assert!(
        line.ends_with("Stop allowed: the plan's files are in order"),
        "{line}"
    );
    drop(lines);
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stderr), (0, String::new()));
}

fn fired(project: &Project, args: &[&str]) -> (String, Vec<(String, String)>) {
    let ran = project.run(args);
    assert_eq!(ran.err(), (0, ""), "{}", ran.stdout);
    let json = ran.json();
    let rules = json["rules"].as_array().unwrap().iter();
    let rules = rules.map(|rule| {
        let what = match rule["fired"].as_bool().unwrap() {
            true => "fired".to_owned(),
            false => format!("{} {}", rule["false"].as_str().unwrap(), rule["values"]),
        };
        (rule["rule"].as_str().unwrap().to_owned(), what)
    });
    (json["answer"].as_str().unwrap().to_owned(), rules.collect())
}

#[test]
fn why_names_what_was_false() {
    let project = Project::in_state(json!({}));
    let before = project.files();
    let rule = |n: usize, what: &str| (format!("on.Stop[{n}]"), what.to_owned());
    let now = fired(&project, &["log", "--why", "next", "--json"]);
    let due = [
        rule(0, r#"session is not none {"session":null}"#),
        rule(1, r#"cycle.limit == 0 {"cycle.limit":8}"#),
        rule(2, r#"waits is not none {"waits":null}"#),
        rule(3, r#"postponed is not none {"postponed":null}"#),
        rule(4, "fired"),
    ];
    assert_eq!(
        now,
        (
            "code-review 1 runs, and its outcome decides".to_owned(),
            due.to_vec()
        )
    );
    assert_eq!(project.files(), before);
    let ran = project.run(&["log", "--why"]);
    assert_eq!(
        ran.err(),
        (
            1,
            "taskie: no stop of plan `test-plan` is recorded\n  help: `taskie log --why next` explains the next one\n"
        )
    );

    project.reviewer(&Reviewer::fail());
    project.stop();
    project.write("stray.md", "x");
    project.stop();
    let (answer, rules) = fired(&project, &["log", "--why", "2", "--json"]);
    assert_eq!(answer, "blocked");
    assert_eq!(rules[..5], due);
    assert_eq!(
        rules[5..],
        [
            rule(5, "fired"),
            rule(6, r#"cycle.exit {"cycle.exit":false}"#),
            rule(7, "fired"),
        ]
    );
    let (answer, rules) = fired(&project, &["log", "--why", "--json"]);
    let last = fired(&project, &["log", "--why", "1", "--json"]);
    assert_eq!(last, (answer.clone(), rules.clone()));
    assert_eq!(answer, "blocked");
    assert_eq!(
        rules[9..],
        [
            rule(9, r#"gate.failed {"gate.failed":false}"#),
            rule(10, r#"gate.failed {"gate.failed":false}"#),
            rule(11, r#"cycle.due {"cycle.due":false}"#),
            rule(
                12,
                r#"event.stop_hook_active {"event.stop_hook_active":false}"#
            ),
            rule(
                13,
                r#"not checks.structure {"checks.structure":{"items":1,"first":["Invalid filename: stray.md"]}}"#
            ),
            rule(14, "fired"),
        ]
    );
    let ran = project.run(&["log", "--why"]);
    let end = "\
on.Stop[13]  the plan's files are in order
             false: not checks.structure (checks.structure is [\"Invalid filename: stray.md\"])
on.Stop[14]  fired: a flaw in the plan's files: ask the agent to fix it, once per turn
";
    assert!(ran.stdout.ends_with(end), "{}", ran.stdout);
}

fn priced(n: usize, instance: &str, verdict: &str, by: &str, cost: Value) -> Value {
    json!({
        "line": "review", "at": AT, "instance": instance, "cycle": "plan-review", "n": n,
        "file": format!("plan-review-{n}.md"), "bytes": 1, "verdict": verdict, "error": null, "by": by, "seconds": 65,
        "cost": cost, "tokens": 10,
    })
}

#[test]
fn stats_sum_up_the_reviews() {
    let project = history(&[
        priced(1, PLAN, "FAIL", "opus", json!(210_000)),
        priced(2, PLAN, "PASS", "sonnet", json!(40_000)),
        priced(3, PLAN, "PASS", "opus", json!(null)),
        priced(1, "gone", "PASS", "opus", json!(1_000)),
        review(
            "2026-01-30T10:05:00.000Z",
            json!(null),
            json!("`claude` exited with code 1"),
        ),
    ]);
    let whole = "\
5 reviews in 6 min 30 s, cost $0.25 + 2 unknown, 25 % found something

cycle        reviews  PASS  FAIL  failed        time               cost
plan-review        5     3     1       1  6 min 30 s  $0.25 + 2 unknown

reviewer  reviews  PASS  FAIL  failed        time               cost
opus            4     2     1       1  5 min 25 s  $0.21 + 2 unknown
sonnet          1     1     0       0  1 min 05 s              $0.04

Reviews until the first clean one, on average: plan-review 1.5
";
    assert_eq!(project.run(&["stats"]).stdout, whole);
    let ran = project.run(&["stats", "--plan", "gone", "--json"]);
    assert_eq!(
        ran.json()["all"],
        json!({
            "reviews": 1, "verdicts": { "PASS": 1 }, "failed": 0, "found_percent": 0, "findings": {}, "seconds": 65, "cost_usd": 0.001, "unpriced": 0,
        })
    );
    assert_eq!(
        Project::valid().run(&["stats"]).stdout,
        "no review is recorded\n"
    );
}

#[test]
fn the_list_shows_all_plans() {
    let project = history(&[
        priced(1, PLAN, "FAIL", "opus", json!(210_000)),
        priced(2, PLAN, "PASS", "sonnet", json!(40_000)),
    ]);
    let tasks = project
        .read("tasks.md")
        .replace("| 1 | pending", "| 1 | done");
    project.write("tasks.md", tasks);
    fs::create_dir_all(project.root.join(".taskie/plans/another")).unwrap();
    let whole = "\
plan       phase          next         done  reviews   cost  driver
another    -              -               -        0      -       -
test-plan  complete-task  code-review   1/2        2  $0.25       -
";
    assert_eq!(project.run(&["list"]).stdout, whole);
    let json = project.run(&["list", "--json"]).json();
    assert_eq!(
        json["list"][1]["progress"],
        json!({ "tasks": { "done": 1, "all": 2 } })
    );
    let status = project.run(&["status"]).stdout;
    assert!(status.contains("1 of 2 tasks done"), "{status}");
    assert!(
        status.contains("2 reviews in 2 min 10 s, cost $0.25, 50 % found something"),
        "{status}"
    );
}

#[test]
fn what_a_review_cost_is_kept() {
    let project = Project::in_state(json!({}));
    let stdout = json!({
        "is_error": false, "structured_output": { "verdict": "PASS" }, "total_cost_usd": 0.2134567,
        "usage": { "input_tokens": 100, "output_tokens": 10, "cache_read_input_tokens": 1 },
    });
    project.reviewer(&Reviewer::pass().prints(stdout.to_string()));
    project.stop();
    assert_eq!(
        (&lines(&project)[0]["cost"], &lines(&project)[0]["tokens"]),
        (&json!(213_457), &json!(111))
    );
    let printed = project.run(&["log", "--json"]).stdout;
    let review: Value = serde_json::from_str(printed.lines().next().unwrap()).unwrap();
    assert_eq!(review["cost_usd"], json!(0.213_457));
    let log = timeless(&project.run(&["log"]).stdout);
    assert!(log.contains("PASS by opus in 0 s ($0.21)"), "{log}");
}

#[test]
fn a_session_is_told_each_verdict_once() {
    let project = Project::in_state(json!({}));
    assert_eq!(project.run(&["next", "--session", "mine"]).code, 0);
    let stop = |verdict: &str, cost: Value| {
        let stdout = json!({
            "is_error": false, "structured_output": { "verdict": verdict }, "total_cost_usd": cost,
        });
        project.reviewer(&Reviewer::fail().prints(stdout.to_string()));
        project.stop_of("mine").json()
    };
    let answer = |n: usize| {
        project.write(&format!("task-1-post-review-{n}.md"), "answered\n");
        let args = ["enter", "post-code-review", "--session", "mine"];
        assert_eq!(project.run(&args).code, 0);
    };
    let verdict_reaches = |answer: &Value, verdict: &str, message: &str| {
        assert_eq!(answer["systemMessage"], message);
        let reason = answer["reason"].as_str().unwrap();
        let words = format!("by an independent reviewer. Its verdict is {verdict}. Read");
        assert!(reason.contains(&words), "{reason}");
    };
    let first = stop("FAIL", json!(0.84));
    verdict_reaches(
        &first,
        "FAIL",
        "code-review 1/8: FAIL by opus ($0.84), 0 of 2 clean",
    );
    // The agent is working on it: the verdict is not new, only the answer is missing.
    let unanswered = format!(
        ".taskie/plans/{PLAN}/task-1-review-1.md has not been answered: /taskie:continue-plan"
    );
    assert_eq!(stop("FAIL", json!(0)), allowed(&unanswered));
    answer(1);
    let second = stop("PASS", json!(null));
    verdict_reaches(
        &second,
        "PASS",
        "code-review 2/8: PASS by sonnet, 1 of 2 clean",
    );
    answer(2);
    let message = "code-review 3/8: PASS by opus ($0.00), 2 of 2 clean\nCode review passed. Run \
                   /taskie:continue-plan to proceed. (Next: complete-task. Reviews in this cycle: 3.)";
    let third = stop("PASS", json!(0));
    assert_eq!(third, allowed(message));

    let started = project.hook_raw("session-start", r#"{"hook_event_name":"SessionStart"}"#);
    let waits = format!(
        "Plan '{PLAN}' is waiting: complete-task comes next. Session mine drives it; if that one has ended, /taskie:continue-plan takes it over."
    );
    assert_eq!(
        started.json(),
        json!({
            "systemMessage": waits,
            "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": format!("[taskie] {waits}") },
        })
    );
}
