//! Histories of a record: what git and its user do to it honestly verifies, or is explained; what somebody does to it by hand
//! is refused or named.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::receipts::{edit, file, first_flaw, ok, reviewed, sealed_again, statements, twice};
use crate::support::{PLAN, Project, Reviewer, git};

fn commit(project: &Project) {
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-qm", "work"]);
}

/// A project whose plan is committed, and the same in a clone. The next task's review has failed once in the first.
fn in_mid_cycle() -> Project {
    let project = reviewed();
    let attributes = "*.jsonl merge=union\n";
    fs::write(project.root.join(".gitattributes"), attributes).unwrap();
    commit(&project);
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    project.reviewer(&Reviewer::fail());
    ok(&project.stop());
    project
}

/// Ends the cycle of task 2, whose review has failed once.
fn end_cycle(project: &Project, n: usize) {
    project.write(&format!("task-2-post-review-{n}.md"), "# Answer\n");
    ok(&project.run(&["enter", "post-code-review"]));
    project.reviewer(&Reviewer::pass());
    twice(project, "task-2", n + 1);
}

/// What `verify` says about the first plan: its flaws and remarks.
fn said(project: &Project) -> (Value, String) {
    let json = project.run(&["verify", "--json"]).json();
    let plan = &json["receipts"][0];
    (plan["flaws"].clone(), plan["remarks"].to_string())
}

fn open_file(project: &Project) -> PathBuf {
    project.plan().join(".receipts-open.jsonl")
}

fn open_lines(project: &Project) -> Vec<Value> {
    let text = fs::read_to_string(open_file(project)).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

fn write_open(project: &Project, lines: &[Value]) {
    let lines = lines.iter().map(|line| format!("{line}\n"));
    fs::write(open_file(project), lines.collect::<String>()).unwrap();
}

/// One clone leaves a cycle in one branch for another branch, where it runs the same cycle, and comes back.
#[test]
fn a_branch_change_in_mid_cycle_verifies() {
    let project = reviewed();
    commit(&project);
    let run = |args: &[&str]| git(&project.root, args);
    run(&["checkout", "-qb", "other"]);
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    project.reviewer(&Reviewer::fail());
    ok(&project.stop());
    commit(&project);
    run(&["checkout", "-q", "-"]);
    ok(&project.run(&["enter", "complete-task", "--task", "1"]));
    ok(&project.stop());
    commit(&project);
    // In the middle of both, to the first branch and back again.
    run(&["checkout", "-q", "other"]);
    end_cycle(&project, 1);
    let (flaws, remarks) = said(&project);
    assert_eq!(flaws, json!([]), "{remarks}");
    let elsewhere = "the folder is from another checkout";
    assert!(remarks.contains(elsewhere), "{remarks}");
    assert!(!remarks.contains("not by taskie"), "{remarks}");
    commit(&project);
    run(&["checkout", "-q", "-"]);
    project.write("task-1-post-review-1.md", "# Answer\n");
    ok(&project.run(&["enter", "post-code-review"]));
    project.reviewer(&Reviewer::pass());
    twice(&project, "task-1", 2);
    let (flaws, remarks) = said(&project);
    assert_eq!(flaws, json!([]), "{remarks}");
    assert!(!remarks.contains("not by taskie"), "{remarks}");
    let text = fs::read_to_string(file(&project)).unwrap();
    assert!(!text.contains("task-2-review-1.md"), "of the other branch");
}

/// A branch that has ended a cycle is merged in the middle of one of this branch, with the state of either.
#[test]
fn a_merge_in_mid_cycle_verifies() {
    for theirs in [false, true] {
        let project = reviewed();
        let attributes = "*.jsonl merge=union\n";
        fs::write(project.root.join(".gitattributes"), attributes).unwrap();
        commit(&project);
        let run = |args: &[&str]| git(&project.root, args);
        run(&["checkout", "-qb", "other"]);
        ok(&project.run(&["enter", "complete-task", "--task", "1"]));
        twice(&project, "task-1", 1);
        commit(&project);
        run(&["checkout", "-q", "-"]);
        ok(&project.run(&["enter", "complete-task", "--task", "2"]));
        project.reviewer(&Reviewer::fail());
        ok(&project.stop());
        commit(&project);
        let side = if theirs { "theirs" } else { "ours" };
        run(&["merge", "-q", "-X", side, "other"]);
        let (flaws, remarks) = said(&project);
        assert_eq!(flaws, json!([]), "{side}: {remarks}");
        if theirs {
            let state = format!(".taskie/plans/{PLAN}/state.json");
            run(&["checkout", "-q", "other", "--", &state]);
            ok(&project.run(&["enter", "complete-task", "--task", "2"]));
            project.reviewer(&Reviewer::fail());
            ok(&project.stop());
        }
        end_cycle(&project, 1);
        let (flaws, remarks) = said(&project);
        assert_eq!(flaws, json!([]), "{side}: {remarks}");
        assert!(!remarks.contains("not by taskie"), "{side}: {remarks}");
        let forks = remarks.matches("branches were merged").count();
        assert_eq!(forks, 1, "{side}: {remarks}");
        let from = "state.json came from a branch that was merged";
        assert_eq!(remarks.contains(from), theirs, "{side}: {remarks}");
    }
}

/// A line unites branches, and takes no state from a line that is before it anyway.
#[test]
fn a_line_that_unites_one_before_it_is_refused() {
    let project = reviewed();
    let text = fs::read_to_string(file(&project)).unwrap();
    let mut lines = statements(&text.lines().map(str::to_owned).collect::<Vec<_>>());
    let first = lines[1]["predicate"]["previous"].clone();
    lines[2]["predicate"]["merges"] = json!([first]);
    sealed_again(&project, lines);
    let flaw = "line 3: it unites a line from which it goes on already";
    assert_eq!(first_flaw(&project), (1, flaw.to_owned()));
}

/// What git does to commits and folders does nothing to a record.
#[test]
fn rewritten_commits_and_other_folders_verify() {
    let project = in_mid_cycle();
    let run = |args: &[&str]| git(&project.root, args);
    let code = |project: &Project| {
        let ran = project.run(&["verify", "--json"]);
        (ran.code, ran.json().to_string())
    };
    let is_verified = |project: &Project, what: &str| {
        let (code, json) = code(project);
        assert_eq!(code, 0, "{what}: {json}");
    };
    end_cycle(&project, 1);
    is_verified(&project, "uncommitted");
    commit(&project);
    run(&["commit", "-q", "--amend", "-m", "another"]);
    is_verified(&project, "amended");
    run(&["worktree", "add", "-q", "../tree"]);
    let tree = project.root.join("../tree");
    let ran = project.shell("cd ../tree && taskie verify").output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{ran:?} {}", tree.display());
    // A base that has moved, with other files.
    run(&["checkout", "-q", "-b", "moved", "HEAD~2"]);
    fs::write(project.root.join("z.txt"), "else\n").unwrap();
    commit(&project);
    run(&["cherry-pick", "master~1", "master"]);
    let ran = project.run(&["verify", "HEAD~2..", "--json"]);
    assert_eq!(ran.code, 0, "cherry-picked: {}", ran.stdout);
    let (code, json) = code(&project);
    assert_eq!(code, 1, "{json}");
    assert!(json.contains(r#""z.txt":null"#), "{json}");
    run(&["checkout", "-q", "master"]);
    run(&["rebase", "-q", "--onto", "moved~2", "HEAD~2"]);
    let ran = project.run(&["verify", "HEAD~2..", "--json"]);
    assert_eq!(ran.code, 0, "rebased: {}", ran.stdout);
    // A plan may get another name, and `verify` says which one its record has.
    let plans = project.root.join(".taskie/plans");
    fs::rename(plans.join(PLAN), plans.join("renamed")).unwrap();
    let json = project.run(&["verify", "--json"]).json();
    let receipts = &json["receipts"][0];
    let named = format!("its last receipt is about `{PLAN}`");
    assert!(receipts["remarks"].to_string().contains(&named), "{json}");
    assert_eq!(receipts["flaws"], json!([]));
}

/// Whoever undoes reviewed work changes it.
#[test]
fn work_that_is_undone_is_named() {
    let project = reviewed();
    let undone = |file: &str| {
        let status = project.run(&["status", "--json"]).json();
        let verified = project.run(&["verify", "--json"]);
        let page = project.run(&["report", "--markdown"]).stdout;
        let is_refused = verified.code == 1 && verified.json()["files"][file].is_null();
        let said = format!("No clean review has seen {file} as it is now");
        let is_named = status["warnings"].to_string().contains(&said) && page.contains(&said);
        (is_named, is_refused)
    };
    git(&project.root, &["checkout", "-q", "a.txt"]);
    assert_eq!(undone("a.txt"), (true, true));
    fs::write(project.root.join("a.txt"), "two\n").unwrap();
    fs::remove_file(project.root.join("b.txt")).unwrap();
    assert_eq!(undone("b.txt"), (true, true));
    fs::write(project.root.join("b.txt"), "new\n").unwrap();
    assert!(!undone("b.txt").0);
    assert_eq!(project.run(&["verify"]).code, 0);
    // A range that has the whole work in it, and one that has not.
    commit(&project);
    git(&project.root, &["revert", "--no-edit", "HEAD"]);
    git(&project.root, &["checkout", "-q", "HEAD~1", "--", ".taskie"]);
    let code = |range: &str| project.run(&["verify", range]).code;
    assert_eq!((code("HEAD~2.."), code("HEAD~2..HEAD~1")), (1, 0));
    git(&project.root, &["reset", "-q", "--hard", "HEAD~1"]);
    // An earlier version that another review has seen is not what the last one has.
    fs::write(project.root.join("a.txt"), "three\n").unwrap();
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    project.reviewer(&Reviewer::pass());
    twice(&project, "task-2", 1);
    assert_eq!(project.run(&["verify"]).code, 0);
    fs::write(project.root.join("a.txt"), "two\n").unwrap();
    assert_eq!(undone("a.txt"), (true, true));
    // What no longer counts may be undone.
    project.set_for_all(&json!({ "skip": ["a.*"] }));
    ok(&project.run(&["enter", "complete-task", "--task", "1"]));
    twice(&project, "task-1", 1);
    git(&project.root, &["checkout", "-q", "HEAD~1", "--", "a.txt"]);
    assert_eq!(project.run(&["verify"]).code, 0);
}

/// A line that this machine has not written explains no change of the state, and is named.
#[test]
fn a_line_that_is_added_to_an_open_record_is_named() {
    let project = in_mid_cycle();
    let mut lines = open_lines(&project);
    let mut added = lines.last().unwrap().clone();
    let mut state = project.state();
    let fields = added["state"].as_object().unwrap().clone();
    let names: Vec<String> = fields.keys().cloned().collect();
    for name in &names {
        if let Some(value) = state.get(name) {
            added["state"][name] = value.clone();
        }
    }
    let at = added["at"].as_str().unwrap().replace("20", "29");
    added["at"] = json!(at);
    added["changed"] = json!({ "next_phase": null, "phase": "complete-task", "max_reviews": 0 });
    lines.push(added);
    write_open(&project, &lines);
    for (name, value) in [("next_phase", json!(null)), ("max_reviews", json!(0))] {
        state[name] = value;
    }
    edit(&project, &state);
    // Without what this machine keeps, the chart shows it.
    let (flaws, _) = said(&project);
    let flaw = flaws[0].as_str().unwrap();
    assert!(flaw.starts_with("since the last receipt, entry "), "{flaw}");
    let message = project.stop().message();
    let by = "(state.json was changed, and not by taskie).";
    assert!(message.contains(by), "{message}");
    edit(&project, &json!({ "max_reviews": 8 }));
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    let message = project.stop().message();
    let added = "entries were added to the record, and not by taskie in this work tree";
    assert!(message.contains(added), "{message}");
    let receipt = project.run(&["receipt"]).json();
    let remarks = receipt["predicate"]["remarks"].to_string();
    assert_eq!(remarks.matches(added).count(), 1, "{remarks}");
}

/// Each place of a value in some JSON.
fn places(value: &Value, at: &mut Vec<String>, found: &mut Vec<String>) {
    let mut inside = |name: String, value: &Value| {
        at.push(name);
        places(value, at, found);
        at.pop();
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => (fields.iter())
            .for_each(|(name, value)| inside(name.replace('~', "~0").replace('/', "~1"), value)),
        Value::Array(items) if !items.is_empty() => {
            (items.iter().enumerate()).for_each(|(name, value)| inside(name.to_string(), value))
        }
        _ => found.push(format!("/{}", at.join("/"))),
    }
}

/// Another value of the same kind.
fn other(value: &Value) -> Value {
    match value {
        Value::Bool(value) => json!(!value),
        Value::Number(_) => json!(97),
        Value::String(text) if text == "FAIL" => json!("PASS"),
        Value::String(text) if text == "PASS" => json!("FAIL"),
        Value::String(text) => json!(format!("{text}x")),
        Value::Null => json!("x"),
        _ => json!({ "x": 1 }),
    }
}

/// What decides nothing in a record: no chart asks for it, and nothing is compared with it.
const IDLE: [&str; 20] = [
    "at",
    "by",
    "seconds",
    "cost",
    "tokens",
    "prompt",
    "program",
    "program_sha256",
    "subject",
    "without_status",
    "answers",
    "tree",
    "head",
    "gates",
    "ran",
    "chart",
    "session",
    "settings",
    "fields",
    "previous",
];

/// Every value of the record of a cycle that runs, changed alone: without what this machine keeps, `verify` refuses or names
/// what the chart would have decided otherwise. This machine names any of them, also those that decide nothing.
#[test]
fn no_value_of_an_open_record_can_be_changed() {
    let project = in_mid_cycle();
    project.write("task-2-post-review-1.md", "# Answer\n");
    ok(&project.run(&["enter", "post-code-review"]));
    let good = open_lines(&project);
    let before = said(&project);
    assert_eq!(before.0, json!([]), "{}", before.1);
    let is_noticed = |lines: &[Value]| {
        write_open(&project, lines);
        said(&project) != before
    };
    let mut unnoticed = Vec::new();
    for (at, line) in good.iter().enumerate() {
        let mut found = Vec::new();
        places(line, &mut Vec::new(), &mut found);
        for place in found {
            let is_idle = place.split('/').any(|part| IDLE.contains(&part));
            if is_idle || place.starts_with("/world") {
                continue;
            }
            let mut bad = good.clone();
            let value = bad[at].pointer_mut(&place).unwrap();
            *value = other(value);
            if !is_noticed(&bad) {
                unnoticed.push(format!("{at} {place}"));
            }
        }
        let mut gone = good.clone();
        gone.remove(at);
        if !is_noticed(&gone) {
            unnoticed.push(format!("{at} is gone"));
        }
    }
    assert_eq!(unnoticed, Vec::<String>::new());
    let mut bad = good.clone();
    bad[1]["cost"] = json!(97);
    bad[2]["at"] = json!("2999-01-01T00:00:00.000000000Z");
    bad.swap(0, 1);
    write_open(&project, &bad);
    let message = project.stop().message();
    for said in [
        ".receipts-open.jsonl was changed, and not by taskie",
        "entries were added to the record, and not by taskie in this work tree",
    ] {
        assert!(message.contains(said), "{message}");
    }
}

/// A pause or another limit during a review is no change by another hand, and exempts nothing else.
#[test]
fn what_is_run_during_a_review_verifies() {
    let project = reviewed();
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    let program = env!("CARGO_BIN_EXE_taskie");
    let user = |line: &str| format!("env -u TASKIE_REVIEWER {program} {line} --plan {PLAN} >&2; ");
    let first = user("limit 12") + &user("pause");
    project.reviewer(&Reviewer::fail().first(first));
    let message = project.stop().message();
    assert!(message.contains("`taskie pause` takes effect now"), "{message}");
    ok(&project.run(&["resume"]));
    end_cycle(&project, 1);
    let (flaws, remarks) = said(&project);
    assert_eq!(flaws, json!([]), "{remarks}");
    assert!(!remarks.contains("not by taskie"), "{remarks}");
    let text = fs::read_to_string(file(&project)).unwrap();
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let good = statements(&lines);
    let last = good.len() - 1;
    let entries = good[last]["predicate"]["entries"].as_array().unwrap();
    let paused = entries.iter().position(|entry| entry["pause"] == "pause");
    let paused = paused.unwrap();
    let seen = entries[paused]["seen"].as_object().unwrap();
    assert_eq!(seen["next_phase"], "code-review", "{seen:?}");
    for (place, value) in [
        ("/seen/max_reviews", json!(99)),
        ("/seen/consecutive_clean", json!(1)),
        ("/changed/next_phase", json!("complete")),
        ("/changed/consecutive_clean", json!(1)),
        ("/changed/paused", json!("complete")),
        ("/changed/max_reviews", json!(99)),
        ("/answer", json!("block")),
        ("/pause", json!("resume")),
        ("/is_clean", json!(true)),
    ] {
        let mut bad = good.clone();
        let entry = &mut bad[last]["predicate"]["entries"][paused];
        let (parent, name) = place.rsplit_once('/').unwrap();
        entry.pointer_mut(parent).unwrap()[name] = value;
        sealed_again(&project, bad);
        assert_eq!(first_flaw(&project).0, 1, "{place}");
    }
}

/// With `evidence` set to `require`, a PASS that was not counted covers no code.
#[test]
fn a_pass_that_was_not_counted_covers_nothing() {
    for (evidence, is_covered) in [("require", false), ("show", true)] {
        let project = reviewed();
        let task = "# Task 2\n\n- **Must-run commands**: `make check`\n- **Status**: done\n";
        project.write("task-2.md", task);
        project.set_for_all(&json!({ "evidence": evidence, "stall": 0 }));
        fs::write(project.root.join("c.rs"), "new\n").unwrap();
        ok(&project.run(&["enter", "complete-task", "--task", "2"]));
        ok(&project.stop());
        ok(&project.run(&["skip"]));
        let ran = project.run(&["verify", "--json"]);
        let json = ran.json();
        let is_seen = !json["files"]["c.rs"].is_null();
        assert_eq!(json["receipts"][0]["flaws"], json!([]), "{json}");
        assert_eq!((is_seen, ran.code == 0), (is_covered, is_covered), "{json}");
        let receipt = project.run(&["receipt"]).json();
        let entries = receipt["predicate"]["entries"].as_array().unwrap();
        let last = entries.iter().rfind(|entry| entry["is_reviewed"] == true);
        assert_eq!(last.unwrap()["is_clean"] == true, is_covered);
    }
}

/// Git takes the text of a public key, too: the user's ssh agent has its other half.
#[test]
fn a_key_of_the_ssh_agent_signs() {
    let project = reviewed();
    let key = project.bin.with_file_name("key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
        .arg(&key)
        .status();
    if !made.is_ok_and(|made| made.success()) {
        // Without OpenSSH there is nothing to test.
        return;
    }
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    let public = public.trim();
    for text in [public.to_owned(), format!("key::{public}")] {
        git(&project.root, &["config", "user.signingkey", &text]);
        let unsigned = project.run(&["receipt", "--sign"]);
        assert_eq!(unsigned.code, 1, "{}", unsigned.stdout);
        let what = "(`ssh-add` gives the agent a key)";
        assert!(unsigned.stderr.contains(what), "{}", unsigned.stderr);
        let line = "ssh-agent sh -c 'ssh-add -q \"$KEY\" && taskie receipt --sign'";
        let signed = project.shell(line).env("KEY", &key).output().unwrap();
        let stderr = String::from_utf8(signed.stderr).unwrap();
        assert!(signed.status.success(), "{stderr}");
        let said = format!("signed with the key {public} of the ssh agent\n");
        assert!(stderr.ends_with(&said), "{stderr}");
        let json = project.run(&["verify", "--json"]).json();
        let signatures = &json["receipts"][0]["signatures"];
        assert_eq!(*signatures, json!(["line 3: an unlisted key"]), "{json}");
    }
}

/// Who takes state and record back to what they were before a review looks like git, and is named.
#[test]
fn a_record_that_is_taken_back_is_named() {
    let project = reviewed();
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    let files = ["state.json", ".receipts-open.jsonl"].map(|name| project.plan().join(name));
    let before = files.clone().map(|file| fs::read(file).unwrap());
    project.reviewer(&Reviewer::fail());
    ok(&project.stop());
    for (file, text) in files.iter().zip(before) {
        fs::write(file, text).unwrap();
    }
    fs::remove_file(project.plan().join("task-2-review-1.md")).unwrap();
    project.reviewer(&Reviewer::pass());
    let message = project.stop().message();
    let elsewhere = "the folder is from another checkout";
    assert!(message.contains(elsewhere), "{message}");
    let (flaws, remarks) = said(&project);
    assert_eq!(flaws, json!([]), "{remarks}");
    assert!(remarks.contains(elsewhere), "{remarks}");
}

/// How long `verify` takes for a plan of 30 tasks and 264 reviews, each about 300 changed files:
/// `cargo test --release --test black_box a_large_record -- --ignored --nocapture`.
#[test]
#[ignore = "it measures"]
#[expect(clippy::print_stdout, reason = "these are the figures")]
fn a_large_record_is_verified_in_a_second() {
    let project = reviewed();
    project.set_for_all(&json!({ "stall": 0, "max_reviews": 20 }));
    for n in 0..300 {
        let file = project.root.join(format!("file-{n}.rs"));
        fs::write(file, format!("{n}\n")).unwrap();
    }
    for _ in 0..2 {
        ok(&project.run(&["enter", "complete-task", "--task", "1"]));
        project.reviewer(&Reviewer::fail());
        ok(&project.stop());
        for n in 1..7 {
            project.write(&format!("task-1-post-review-{n}.md"), "# Answer\n");
            ok(&project.run(&["enter", "post-code-review"]));
            ok(&project.stop());
        }
        project.reviewer(&Reviewer::pass());
        project.write("task-1-post-review-7.md", "# Answer\n");
        ok(&project.run(&["enter", "post-code-review"]));
        twice(&project, "task-1", 8);
    }
    let text = fs::read_to_string(file(&project)).unwrap();
    let mut lines = statements(&text.lines().map(str::to_owned).collect::<Vec<_>>());
    // The same cycle again and again: it begins in the state in which it has ended.
    let last = lines.pop().unwrap();
    lines.extend(std::iter::repeat_n(last, 28));
    sealed_again(&project, lines);
    let times = [(); 5].map(|()| {
        let start = Instant::now();
        let ran = project.run(&["verify", "--json"]);
        let json = ran.json();
        assert_eq!(json["receipts"][0]["flaws"], json!([]));
        (start.elapsed(), json["receipts"][0]["reviews"].clone())
    });
    let size = fs::metadata(file(&project)).unwrap().len();
    println!("{size} bytes: {times:?}");
}
