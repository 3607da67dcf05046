//! `taskie receipt` and `taskie verify`: what a record proves, and that nothing in it can be changed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{PLAN, Project, Ran, Reviewer, git};

/// The sentence that ends every result.
const UNPROVED: &str = "This does not prove that a model has read anything";

/// A project in git, with a plan whose code review of task 1 and all-code review have passed.
fn reviewed() -> Project {
    let project = Project::valid();
    git(&project.root, &["init", "-q"]);
    fs::write(project.root.join(".gitignore"), ".taskie/.locks\n").unwrap();
    fs::write(project.root.join("a.txt"), "one\n").unwrap();
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-qm", "start"]);
    fs::remove_file(project.plan().join("state.json")).ok();
    ok(&project.run(&["enter", "new-plan", "--plan", PLAN]));
    project.reviewer(&Reviewer::fail());
    ok(&project.stop());
    project.write("plan-post-review-1.md", "# Answer\n");
    ok(&project.run(&["enter", "post-plan-review"]));
    project.reviewer(&Reviewer::pass());
    twice(&project, "plan", 2);
    ok(&project.run(&["enter", "create-tasks"]));
    twice(&project, "tasks", 1);
    fs::write(project.root.join("a.txt"), "two\n").unwrap();
    fs::write(project.root.join("b.txt"), "new\n").unwrap();
    ok(&project.run(&["enter", "complete-task", "--task", "1"]));
    twice(&project, "task-1", 1);
    project
}

fn ok(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// Two clean reviews in a row; the first one has number `n`.
fn twice(project: &Project, base: &str, n: usize) {
    ok(&project.stop());
    project.write(&format!("{base}-post-review-{n}.md"), "# Answer\n");
    let state = project.state();
    let post = state["next_phase"].as_str().unwrap();
    ok(&project.run(&["enter", post]));
    ok(&project.stop());
}

fn file(project: &Project) -> PathBuf {
    project.plan().join("receipts.jsonl")
}

fn lines(project: &Project) -> Vec<String> {
    let text = fs::read_to_string(file(project)).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn write(project: &Project, lines: &[String]) {
    fs::write(file(project), format!("{}\n", lines.join("\n"))).unwrap();
}

/// Returns the first flaw that `verify` reports, and its exit code.
fn first_flaw(project: &Project) -> (i32, String) {
    let ran = project.run(&["verify", "--json"]);
    let flaws = &ran.json()["receipts"][0]["flaws"];
    (ran.code, flaws[0].as_str().unwrap_or_default().to_owned())
}

/// Writes the lines with all hashes made again, as someone would who knows how.
fn sealed_again(project: &Project, statements: Vec<Value>) {
    let mut previous = Value::Null;
    let lines = statements.into_iter().map(|mut statement| {
        statement["predicate"]["previous"] = previous.clone();
        let text = statement.to_string();
        let sha256: String = Sha256::digest(&text)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        previous = json!(sha256);
        format!("{{\"statement\":{text},\"sha256\":\"{sha256}\"}}")
    });
    write(project, &lines.collect::<Vec<_>>());
}

fn statements(lines: &[String]) -> Vec<Value> {
    let statement = |line: &String| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["statement"].clone()
    };
    lines.iter().map(statement).collect()
}

#[test]
fn a_plan_verifies_and_no_line_of_its_record_can_be_changed() {
    let project = reviewed();
    let verified = project.run(&["verify"]);
    assert_eq!(verified.code, 0, "{}{}", verified.stdout, verified.stderr);
    let start = "verified: plan test-plan, 3 receipts, 7 reviews and 14 decisions made again\n";
    assert!(verified.stdout.starts_with(start), "{}", verified.stdout);
    assert!(
        verified
            .stdout
            .contains("reviewed: 2 changed files that count")
    );
    assert!(verified.stdout.replace('\n', " ").contains(UNPROVED));

    let good = lines(&project);
    // A changed word or hash, a line that is gone, comes twice or at another place.
    for (old, new) in [
        ("\"verdict\":\"PASS\"", "\"verdict\":\"FAIL\""),
        ("\"next_phase\":\"post-", "\"next_phase\":\"pre-"),
        ("\"consecutive_clean\":1", "\"consecutive_clean\":2"),
        ("\"sha256\":\"", "\"sha256\":\"0"),
        ("\"previous\":", "\"previous\":0"),
        ("\"tree\":\"", "\"tree\":\"0"),
        ("\"at\":\"2", "\"at\":\"3"),
    ] {
        for at in 0..good.len() {
            if !good[at].contains(old) {
                continue;
            }
            let mut bad = good.clone();
            bad[at] = bad[at].replacen(old, new, 1);
            write(&project, &bad);
            let (code, flaw) = first_flaw(&project);
            assert_eq!(code, 1, "line {at}: {old}");
            let of_line = format!("line {}: ", at + 1);
            assert!(flaw.starts_with(&of_line), "{old}: {flaw}");
        }
    }
    for at in 0..good.len() - 1 {
        let mut gone = good.clone();
        gone.remove(at);
        let mut swapped = good.clone();
        swapped.swap(at, at + 1);
        let mut twice = good.clone();
        twice.insert(at, good[at].clone());
        for bad in [gone, swapped, twice] {
            write(&project, &bad);
            assert_eq!(first_flaw(&project).0, 1, "{at}");
        }
    }

    // Made again with all hashes, what the chart does not allow is still found.
    let good = statements(&good);
    for line in 0..good.len() {
        let entries = good[line]["predicate"]["entries"].as_array().unwrap();
        for (at, entry) in entries.iter().enumerate() {
            let change = |name: &str, value: Value| {
                let mut bad = good.clone();
                bad[line]["predicate"]["entries"][at][name] = value;
                bad
            };
            let cases = match entry["entry"] == "review" {
                true => vec![
                    change(
                        "verdict",
                        json!(if entry["verdict"] == "PASS" {
                            "FAIL"
                        } else {
                            "PASS"
                        }),
                    ),
                    change("n", json!(9)),
                    change("error", json!("none")),
                    change("review", json!("0")),
                ],
                false => vec![
                    change("answer", json!("refuse")),
                    change("fired", json!([])),
                    change("chart", json!("0")),
                    change("changed", json!({ "consecutive_clean": 7 })),
                    change("world", json!([])),
                ],
            };
            for bad in cases {
                // A last line without its review is not noticed by the chart, but by the file of the review.
                sealed_again(&project, bad.clone());
                let (code, flaw) = first_flaw(&project);
                assert_eq!(
                    code, 1,
                    "line {line}, entry {at}: {}",
                    bad[line]["predicate"]["entries"][at]
                );
                assert!(!flaw.is_empty());
            }
            let mut bad = good.clone();
            bad[line]["predicate"]["entries"]
                .as_array_mut()
                .unwrap()
                .remove(at);
            // Without the last decisions, a record is cut short.
            if line + 1 < good.len() || at + 1 < entries.len() {
                sealed_again(&project, bad);
                assert_eq!(first_flaw(&project).0, 1, "line {line}, entry {at}");
            }
        }
    }
    sealed_again(&project, good);
    assert_eq!(first_flaw(&project), (0, String::new()));
}

#[test]
fn a_clone_verifies_without_anything_of_this_machine() {
    let project = reviewed();
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-qm", "work"]);
    let clone = Project::empty();
    git(
        &clone.root,
        &["clone", "-q", project.root.to_str().unwrap(), "."],
    );
    let ran = clone.run(&["verify", "HEAD~1..HEAD", "--json"]);
    let json = ran.json();
    assert_eq!((ran.code, &json["verified"]), (0, &json!(true)), "{json}");
    let review = json!("test-plan/task-1-review-2.md");
    assert_eq!(
        (&json["files"]["a.txt"], &json["files"]["b.txt"]),
        (&review, &review)
    );
    // The same verdicts as in the original.
    let verdicts = |project: &Project| {
        let json = project.run(&["status", "--all", "--json"]).json();
        let reviews = json["reviews"].as_array().unwrap().clone();
        let reviews = reviews
            .iter()
            .map(|review| json!([review["file"], review["verdict"], review["by"]]));
        reviews.collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&clone), verdicts(&project));

    // What comes after the reviews is not reviewed.
    fs::write(clone.root.join("b.txt"), "newer\n").unwrap();
    git(&clone.root, &["commit", "-qam", "more"]);
    let ran = clone.run(&["verify", "HEAD~1..", "--format", "github"]);
    assert_eq!(ran.code, 1);
    let error = "::error file=b.txt,title=taskie::no clean review has seen this file as it is\n";
    assert!(ran.stdout.starts_with(error), "{}", ran.stdout);
    let receipt = clone.run(&["receipt", "HEAD"]).json();
    assert_eq!(receipt["predicate"]["covered"], json!({ "b.txt": null }));
    assert_eq!(receipt["subject"][0]["name"], "commit");
    // A usage error, and nothing to verify.
    assert_eq!(clone.run(&["verify", "nowhere"]).code, 2);
    assert_eq!(Project::empty().run(&["verify"]).code, 3);
}

#[test]
fn a_clean_review_is_stale_when_the_code_changes() {
    let project = reviewed();
    let next = || project.run(&["next", "--json"]).json();
    assert_eq!(next()["stale"], json!([]));
    fs::write(project.root.join("a.txt"), "three\n").unwrap();
    assert_eq!(next()["stale"], json!(["a.txt"]));
    let said = "No review has seen a.txt as it is now: changed since task-1-review-2.md.";
    let shown = project.run(&["next"]).stdout;
    assert!(shown.ends_with(&format!("stale: {said}\n")), "{shown}");
    let status = project.run(&["status", "--json"]).json();
    let reviews = status["reviews"].as_array().unwrap();
    let stale: Vec<_> = reviews
        .iter()
        .filter(|review| review["changed"] != json!([]))
        .collect();
    assert_eq!(stale.len(), 1);
    assert_eq!(
        (&stale[0]["n"], &stale[0]["changed"]),
        (&json!(2), &json!(["a.txt"]))
    );
    assert!(status["warnings"].to_string().contains(said), "{status}");
    let page = project.root.join("page.html");
    ok(&project.run(&["report", "--html", page.to_str().unwrap()]));
    assert!(fs::read_to_string(page).unwrap().contains(said));
    assert_eq!(project.run(&["verify"]).code, 1);

    // Files that `skip` names do not count, from the next review on; and a commit changes no file.
    fs::remove_file(project.root.join("page.html")).unwrap();
    fs::write(project.root.join("a.txt"), "two\n").unwrap();
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-qm", "work"]);
    assert_eq!(next()["stale"], json!([]));
    project.set_for_all(&json!({ "skip": ["*.txt"] }));
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    twice(&project, "task-2", 1);
    fs::write(project.root.join("a.txt"), "four\n").unwrap();
    assert_eq!(next()["stale"], json!([]));
    fs::write(project.root.join("c.rs"), "five\n").unwrap();
    assert_eq!(next()["stale"], json!(["c.rs"]));
}

#[test]
fn a_reader_learns_what_let_a_cycle_end() {
    let project = reviewed();
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    project.reviewer(&Reviewer::fail());
    ok(&project.stop());
    project.set_state(json!({ "consecutive_clean": 1 }));
    ok(&project.run(&["limit", "5"]));
    ok(&project.run(&["skip"]));
    let ran = project.run(&["verify", "--json"]);
    let json = ran.json();
    let remarks = json["receipts"][0]["remarks"].to_string();
    for expected in [
        "state.json was changed, and not by taskie: ",
        "`taskie limit` reviews=5 was run neither in a terminal nor in a known session",
        "`taskie skip` was run neither in a terminal nor in a known session",
    ] {
        assert!(remarks.contains(expected), "{expected}: {remarks}");
    }
    let flaw = json["receipts"][0]["flaws"][0].as_str().unwrap();
    assert_eq!(ran.code, 1);
    assert!(flaw.contains("was changed from "), "{flaw}");
    assert!(flaw.ends_with(", and not by a decision"), "{flaw}");
}

#[test]
fn an_edited_review_or_answer_is_refused() {
    for (name, flaw) in [
        (
            "task-1-review-1.md",
            "task-1-review-1.md was changed after the review",
        ),
        (
            "plan-post-review-1.md",
            "plan-post-review-1.md was changed after the review",
        ),
    ] {
        let project = reviewed();
        project.write(name, "# Other\n");
        assert_eq!(first_flaw(&project), (1, flaw.to_owned()));
        fs::remove_file(project.plan().join(name)).unwrap();
        assert_eq!(first_flaw(&project), (1, format!("{name} is gone")));
    }
}

#[test]
fn a_signature_holds_for_the_key_that_made_it() {
    let project = reviewed();
    let key = project.bin.with_file_name("key");
    let made = Command::new("ssh-keygen")
        .args([
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-C",
            "me@example.invalid",
            "-f",
        ])
        .arg(&key)
        .status();
    if !made.is_ok_and(|made| made.success()) {
        // Without OpenSSH there is nothing to test.
        return;
    }
    let key = key.to_str().unwrap();
    let signed = project.run(&["receipt", "--sign", "--key", key]);
    assert_eq!(
        (signed.code, &*signed.stderr),
        (0, &*format!("signed with {key}\n"))
    );
    let result = |args: &[&str]| {
        let ran = project.run(&[&["verify", "--json"], args].concat());
        (ran.code, ran.json()["receipts"][0].clone())
    };
    let (code, plan) = result(&[]);
    assert_eq!(
        (code, &plan["signatures"]),
        (0, &json!(["line 3: an unlisted key"]))
    );
    let signers = project.bin.with_file_name("signers");
    let public = fs::read_to_string(format!("{key}.pub")).unwrap();
    fs::write(&signers, format!("me@example.invalid {public}")).unwrap();
    let signers = signers.to_str().unwrap();
    let (code, plan) = result(&["--signers", signers]);
    assert_eq!(
        (code, &plan["signatures"]),
        (0, &json!(["line 3: me@example.invalid"]))
    );
    // Made again, the record loses its signature or has one that does not hold.
    let mut bad = lines(&project);
    let signature = bad[2][bad[2].rfind(",\"signature\"").unwrap()..].to_owned();
    let mut other = statements(&bad);
    other[2]["predicate"]["settings"]["clean"] = json!(9);
    sealed_again(&project, other);
    bad = lines(&project);
    let end = bad[2].len() - 1;
    bad[2].replace_range(end.., &signature);
    write(&project, &bad);
    let (code, plan) = result(&[]);
    let flaw = plan["flaws"][0].as_str().unwrap();
    assert_eq!(code, 1);
    assert!(
        flaw.starts_with("line 3: its signature does not hold: "),
        "{flaw}"
    );
}

#[test]
fn a_receipt_fits_its_schema() {
    let project = reviewed();
    let receipt = project.run(&["receipt"]).json();
    let schema = include_str!("../../schemas/receipt.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for statement in [receipt.clone()]
        .into_iter()
        .chain(statements(&lines(&project)))
    {
        let errors = schema
            .iter_errors(&statement)
            .map(|error| error.to_string());
        assert_eq!(errors.collect::<Vec<_>>(), Vec::<String>::new());
    }
    assert_eq!(receipt["subject"][0]["name"], "work tree");
    let mut other = receipt;
    other["predicate"]["entries"][0]["entry"] = json!("else");
    assert!(!schema.is_valid(&other));
}

/// What a changed chart would have decided in real runs.
#[test]
fn real_runs_are_played_on_a_changed_chart() {
    let project = reviewed();
    let chart = project.bin.with_file_name("chart");
    fs::create_dir_all(&chart).unwrap();
    let write = |text: &str| {
        let file = chart.join("statechart.toml");
        fs::write(
            &file,
            format!("extends = [\"taskie\"]\nid = \"mine\"\n{text}"),
        )
        .unwrap();
        file.to_str().unwrap().to_owned()
    };
    let run = |chart: &str| project.run(&["--chart", chart, "test", "--journal", ".taskie/plans"]);
    let same = run(&write(""));
    let file = ".taskie/plans/test-plan/receipts.jsonl";
    assert_eq!(
        same.out(),
        (0, &*format!("ok       {file}  14 decisions\n"))
    );
    let other = run(&write("[let]\nneeded = \"3\"\n"));
    assert_eq!(other.code, 1, "{}", other.stderr);
    let text = other
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let start = format!("differs {file} 14 decisions line 1, entry ");
    assert!(text.starts_with(&start), "{text}");
    // It would send the agent back, with a message that nobody has needed then.
    let what = "on.Stop[9].block";
    assert!(text.contains(what), "{text}");
    // One that asks something that nobody has recorded cannot be tried.
    let asks = "[[on.Stop]]\nid = \"mine\"\nbefore = \"taken-over\"\nguard = \"git.dirty\"\nallow = true\n";
    let unknown = run(&write(asks));
    assert!(
        unknown.stdout.contains("the record has no answer to"),
        "{}",
        unknown.stdout
    );
    let none = project.run(&["test", "--journal", "src"]);
    assert_eq!(none.code, 1);
}

/// The steps of the GitHub Action, as they are run there.
#[test]
fn the_action_verifies_a_range() {
    let project = reviewed();
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-qm", "work"]);
    let action = include_str!("../../.github/actions/verify/action.yml");
    let steps: Vec<&str> = (action.lines())
        .filter_map(|line| line.trim().strip_prefix("run: "))
        .collect();
    let run = |range: &str| {
        let mut shell = project.shell(steps[0]);
        shell.env("RANGE", range).env("SIGNERS", "");
        Ran::of(shell.output().unwrap())
    };
    assert_eq!(steps.len(), 1);
    let verified = run("HEAD~1..HEAD");
    assert_eq!(verified.code, 0, "{}", verified.stderr);
    let end = format!("::notice title=taskie::verified. {UNPROVED}");
    assert!(verified.stdout.contains(&end), "{}", verified.stdout);
    fs::write(project.root.join("b.txt"), "newer\n").unwrap();
    git(&project.root, &["commit", "-qam", "more"]);
    assert_eq!(run("HEAD~1..HEAD").code, 1);
}

/// What changes between two reviews is said once, with the next of them, and is on record.
#[test]
fn what_changes_between_reviews_is_said_with_the_next_one() {
    let project = reviewed();
    project.set_for_all(&json!({ "gates": ["true", "echo ok"] }));
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    project.reviewer(&Reviewer::fail());
    ok(&project.stop());
    project.write("task-2-post-review-1.md", "# Answer\n");
    ok(&project.run(&["enter", "post-code-review"]));
    project.set_for_all(&json!({ "gates": ["true"], "clean": 1 }));
    project.write("task-2-review-1.md", "# Better\n");
    let other = project.bin.with_file_name("other");
    fs::create_dir_all(&other).unwrap();
    fs::copy(project.bin.join("claude"), other.join("claude")).unwrap();
    std::os::unix::fs::symlink(project.bin.join("behaviour"), other.join("behaviour")).unwrap();
    let path = format!(
        "{}:{}",
        other.display(),
        project
            .shell("")
            .get_envs()
            .find_map(|(name, value)| {
                (name == "PATH").then(|| value.unwrap().to_str().unwrap().to_owned())
            })
            .unwrap()
    );
    project.reviewer(&Reviewer::pass());
    let mut shell = project.shell("taskie hook stop");
    shell.env("PATH", path);
    let stopped = crate::support::feed(shell, project.stop_event(false));
    let message = stopped.message();
    for expected in [
        "Since the review before: the setting clean changed from 2 to 1; ",
        "; the setting gates changed from [\"true\",\"echo ok\"] to [\"true\"]; ",
        "; task-2-review-1.md was changed after the review; ",
        "other/claude, not ",
        "; `echo ok` no longer ran before code-review 2.",
    ] {
        assert!(message.contains(expected), "{expected}: {message}");
    }
    let json = project.run(&["verify", "--json"]).json();
    let remarks = json["receipts"][0]["remarks"].as_array().unwrap().clone();
    assert_eq!(remarks.len(), 5, "{json}");
}

/// What `verify` says that it does not prove.
#[test]
fn a_record_that_was_cut_short_verifies() {
    let project = reviewed();
    let good = lines(&project);
    write(&project, &good[..2]);
    git(&project.root, &["checkout", "-q", "a.txt"]);
    fs::remove_file(project.root.join("b.txt")).unwrap();
    assert_eq!(first_flaw(&project), (0, String::new()));
}
