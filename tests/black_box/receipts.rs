//! `taskie receipt` and `taskie verify`: what a record proves, and that nothing in it can be changed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{PLAN, Project, Ran, Reviewer, feed, git, set_mode};

/// The sentence that ends every result.
const UNPROVED: &str = "This does not prove that a model has read anything";

/// A project in git, with a plan whose code review of task 1 and all-code review have passed.
pub(crate) fn reviewed() -> Project {
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

pub(crate) fn ok(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

/// Two clean reviews in a row; the first one has number `n`.
pub(crate) fn twice(project: &Project, base: &str, n: usize) {
    ok(&project.stop());
    project.write(&format!("{base}-post-review-{n}.md"), "# Answer\n");
    let state = project.state();
    let post = state["next_phase"].as_str().unwrap();
    ok(&project.run(&["enter", post]));
    ok(&project.stop());
}

pub(crate) fn file(project: &Project) -> PathBuf {
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
pub(crate) fn first_flaw(project: &Project) -> (i32, String) {
    let ran = project.run(&["verify", "--json"]);
    let flaws = &ran.json()["receipts"][0]["flaws"];
    (ran.code, flaws[0].as_str().unwrap_or_default().to_owned())
}

fn sha256(text: &str) -> String {
    let hash = Sha256::digest(text);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the lines with all hashes made again, as someone would who knows how.
pub(crate) fn sealed_again(project: &Project, statements: Vec<Value>) {
    let mut previous = Value::Null;
    let lines = statements.into_iter().map(|mut statement| {
        statement["predicate"]["previous"] = previous.clone();
        let text = statement.to_string();
        let sha256 = sha256(&text);
        previous = json!(sha256);
        format!("{{\"statement\":{text},\"sha256\":\"{sha256}\"}}")
    });
    write(project, &lines.collect::<Vec<_>>());
}

pub(crate) fn statements(lines: &[String]) -> Vec<Value> {
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
    let start = "verified: 1 plan, and 2 changed files that count, all as a clean review has seen them\n\
                 plan test-plan: 3 receipts, 7 reviews and 14 decisions made again\n";
    assert!(verified.stdout.starts_with(start), "{}", verified.stdout);
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
                        json!(if entry["verdict"] == "PASS" { "FAIL" } else { "PASS" }),
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
            bad[line]["predicate"]["entries"].as_array_mut().unwrap().remove(at);
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
    git(&clone.root, &["clone", "-q", project.root.to_str().unwrap(), "."]);
    let ran = clone.run(&["verify", "HEAD~1..HEAD", "--json"]);
    let json = ran.json();
    assert_eq!((ran.code, &json["verified"]), (0, &json!(true)), "{json}");
    let review = json!("test-plan/task-1-review-2.md");
    assert_eq!((&json["files"]["a.txt"], &json["files"]["b.txt"]), (&review, &review));
    // The same verdicts as in the original.
    let verdicts = |project: &Project| {
        let json = project.run(&["status", "--all", "--json"]).json();
        let reviews = json["reviews"].as_array().unwrap().clone();
        let reviews =
            reviews.iter().map(|review| json!([review["file"], review["verdict"], review["by"]]));
        reviews.collect::<Vec<_>>()
    };
    assert_eq!(verdicts(&clone), verdicts(&project));
    // A status is set as the work goes on. What a task is, is what a review has read.
    let changed = |text: String| {
        clone.write("tasks.md", &text);
        let json = clone.run(&["status", "--all", "--json"]).json();
        let reviews = json["reviews"].as_array().unwrap().clone();
        let mut of = reviews.iter().filter(|review| review["cycle"] == "tasks-review");
        of.next_back().unwrap()["changed"].clone()
    };
    let tasks = fs::read_to_string(clone.plan().join("tasks.md")).unwrap();
    assert_eq!(changed(tasks.replacen("open", "done", 1)), json!([]));
    assert_eq!(changed(format!("{tasks}Another rule.\n")), json!(["tasks.md"]));
    clone.write("tasks.md", &tasks);

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
    let stale = || {
        let status = project.run(&["status", "--json"]).json();
        let reviews = status["reviews"].as_array().unwrap().clone();
        let mut changed = reviews.iter().map(|review| review["changed"].clone());
        changed.find(|changed| *changed != json!([])).unwrap_or(json!([]))
    };
    assert_eq!(stale(), json!([]));
    fs::write(project.root.join("a.txt"), "three\n").unwrap();
    assert_eq!(stale(), json!(["a.txt"]));
    let said = "No clean review has seen a.txt as it is now: changed since task-1-review-2.md.";
    let status = project.run(&["status", "--json"]).json();
    assert!(status["warnings"].to_string().contains(said), "{status}");
    let page = project.root.join("page.html");
    ok(&project.run(&["report", "--html", page.to_str().unwrap()]));
    assert!(fs::read_to_string(&page).unwrap().contains(said));
    fs::remove_file(page).unwrap();
    let markdown = project.run(&["report", "--markdown"]).stdout;
    assert!(markdown.contains("No clean review has seen a.txt as it is now"), "{markdown}");
    // The first line is about everything: the record is sound.
    let ran = project.run(&["verify"]);
    let start = "not verified: 1 changed file not reviewed\nplan test-plan: 3 receipts, ";
    assert!(ran.stdout.starts_with(start), "{}", ran.stdout);
    let said = "\nNo clean review has seen a.txt as it is.\n";
    assert_eq!((ran.code, ran.stdout.contains(said)), (1, true), "{}", ran.stdout);
    let said = "No clean review has seen a.txt as it is now: changed since task-1-review-2.md.";
    // While the next task is worked on, and at the end.
    let next = || project.run(&["next", "--json"]).json()["stale"].clone();
    assert_eq!(next(), json!(["a.txt"]));
    let shown = project.run(&["next"]).stdout;
    assert!(shown.ends_with(&format!("stale: {said}\n")), "{shown}");
    project.set_state(json!({ "next_phase": "complete" }));
    assert_eq!(next(), json!(["a.txt"]));
    let shown = project.run(&["next"]).stdout;
    assert!(shown.ends_with(&format!("stale: {said}\n")), "{shown}");
    project.set_state(json!({ "next_phase": "complete-task" }));
    // A commit is no change.
    fs::write(project.root.join("a.txt"), "two\n").unwrap();
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-qm", "work"]);
    assert_eq!(stale(), json!([]));
    // Files that `skip` names do not count, from the next review on.
    project.set_for_all(&json!({ "skip": ["*.txt"] }));
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    twice(&project, "task-2", 1);
    fs::write(project.root.join("a.txt"), "four\n").unwrap();
    assert_eq!(stale(), json!([]));
    fs::write(project.root.join("c.rs"), "five\n").unwrap();
    assert_eq!(stale(), json!(["c.rs"]));
}

/// A file is what git keeps of it: its text, whether it may be run, and whether it is a link.
#[test]
fn a_file_of_another_kind_is_another_version() {
    let project = reviewed();
    let file = project.root.join("b.txt");
    let unseen = || {
        let ran = project.run(&["verify", "--json"]);
        let status = project.run(&["status", "--json"]).json();
        let said = status["warnings"].to_string().contains("No clean review has seen b.txt");
        (ran.code, ran.json()["files"]["b.txt"].is_null(), said)
    };
    assert_eq!(unseen(), (0, false, false));
    set_mode(&file, 0o755);
    assert_eq!(unseen(), (1, true, true));
    set_mode(&file, 0o644);
    assert_eq!(unseen(), (0, false, false));
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("new\n", &file).unwrap();
    assert_eq!(unseen(), (1, true, true));
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
        "`taskie limit` with reviews 5 was run neither in a terminal nor in a known session",
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
        ("task-1-review-1.md", "task-1-review-1.md was changed after the review"),
        ("plan-post-review-1.md", "plan-post-review-1.md was changed after the review"),
    ] {
        let project = reviewed();
        project.write(name, "# Other\n");
        assert_eq!(first_flaw(&project), (1, flaw.to_owned()));
        fs::remove_file(project.plan().join(name)).unwrap();
        assert_eq!(first_flaw(&project), (1, format!("{name} is gone")));
    }
}

/// A line that nobody has decided about is no excuse for another text.
#[test]
fn an_edited_review_with_a_line_about_it_is_refused() {
    let name = "task-1-review-1.md";
    let flaw = "task-1-review-1.md was changed after the review".to_owned();
    let project = reviewed();
    let entries = statements(&lines(&project)).into_iter();
    let entries = entries.flat_map(|line| line["predicate"]["entries"].as_array().unwrap().clone());
    let is_it = |entry: &Value| entry["entry"] == "review" && entry["file"] == name;
    let mut entries = entries.skip_while(|entry| !is_it(entry));
    let (mut review, mut decision) = (entries.next().unwrap(), entries.next().unwrap());
    project.write(name, "# Other\n");
    review["review"] = json!(sha256("# Other\n"));
    let open = |lines: &[&Value]| {
        let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
        project.write(".receipts-open.jsonl", &lines);
    };
    open(&[&review]);
    assert_eq!(first_flaw(&project), (1, flaw.clone()), "of the same time");
    review["at"] = json!("2999-01-01T00:00:00Z");
    open(&[&review]);
    assert_eq!(first_flaw(&project), (1, flaw.clone()), "of another time");
    decision["at"] = json!("2999-01-01T00:00:01Z");
    decision["chart"] = json!("0");
    decision["world"] = json!([]);
    open(&[&review, &decision]);
    assert_eq!(first_flaw(&project), (1, flaw), "with another chart");
}

/// A field that is gone has its default.
#[test]
fn a_state_without_its_fields_is_named() {
    for (is_there, said) in [
        (true, "state.json is not as the record has left it: consecutive_clean is missing, not 2"),
        (false, "there is no state.json that can be read, and the record has left one"),
    ] {
        let project = reviewed();
        let mut state = project.state();
        state.as_object_mut().unwrap().remove("consecutive_clean");
        match is_there {
            true => project.write("state.json", state.to_string()),
            false => fs::remove_file(project.plan().join("state.json")).unwrap(),
        }
        let json = project.run(&["verify", "--json"]).json();
        assert_eq!(json["receipts"][0]["remarks"], json!([said]), "{json}");
    }
}

/// What cannot be read is no record that is gone: it is refused, and nothing is written in its place.
#[test]
fn a_record_that_cannot_be_read_is_refused_and_kept() {
    let project = reviewed();
    let aside = project.root.join("aside");
    fs::rename(file(&project), &aside).unwrap();
    std::os::unix::fs::symlink(&aside, file(&project)).unwrap();
    let before = fs::read(&aside).unwrap();
    let (code, flaw) = first_flaw(&project);
    assert_eq!(code, 1);
    assert!(flaw.starts_with("receipts.jsonl cannot be read: "), "{flaw}");
    fs::write(project.root.join("b.txt"), "newer\n").unwrap();
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    twice(&project, "task-2", 1);
    assert!(file(&project).is_symlink() && fs::read(&aside).unwrap() == before);
    fs::rename(&aside, file(&project)).unwrap();
    let sealed = lines(&project).len();
    ok(&project.run(&["enter", "complete-task", "--task", "1"]));
    twice(&project, "task-1", 1);
    let read = lines(&project);
    assert_eq!(read.len(), sealed + 1, "nothing was lost meanwhile");
    let entries = &statements(&read)[sealed]["predicate"]["entries"];
    assert!(entries.to_string().contains("task-2-review-1.md"), "{entries}");
}

#[test]
fn a_signature_holds_for_the_key_that_made_it() {
    let project = reviewed();
    let key = project.bin.with_file_name("key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "me@example.invalid", "-f"])
        .arg(&key)
        .status();
    if !made.is_ok_and(|made| made.success()) {
        // Without OpenSSH there is nothing to test.
        return;
    }
    let key = key.to_str().unwrap();
    let signed = project.run(&["receipt", "--sign", "--key", key]);
    assert_eq!((signed.code, &*signed.stderr), (0, &*format!("signed with {key}\n")));
    let result = |args: &[&str]| {
        let ran = project.run(&[&["verify", "--json"], args].concat());
        (ran.code, ran.json()["receipts"][0].clone())
    };
    let (code, plan) = result(&[]);
    assert_eq!((code, &plan["signatures"]), (0, &json!(["line 3: an unlisted key"])));
    let signers = project.bin.with_file_name("signers");
    let public = fs::read_to_string(format!("{key}.pub")).unwrap();
    fs::write(&signers, format!("me@example.invalid {public}")).unwrap();
    let signers = signers.to_str().unwrap();
    let (code, plan) = result(&["--signers", signers]);
    assert_eq!((code, &plan["signatures"]), (0, &json!(["line 3: me@example.invalid"])));
    // A list that is missing is no list without entries.
    git(&project.root, &["config", "gpg.ssh.allowedSignersFile", "/nowhere/signers"]);
    let (code, plan) = result(&[]);
    let flaw = plan["flaws"][0].as_str().unwrap();
    assert_eq!(code, 1);
    assert!(flaw.ends_with("the list of signers /nowhere/signers is missing"), "{flaw}");
    git(&project.root, &["config", "--unset", "gpg.ssh.allowedSignersFile"]);
    assert_eq!(project.run(&["verify", "--signers", "/nowhere/signers"]).code, 2);
    // Who asks for signatures learns that they were removed.
    let good = lines(&project);
    let mut bare = good.clone();
    let end = bare[2].rfind(",\"signature\"").unwrap();
    bare[2].truncate(end);
    bare[2].push('}');
    write(&project, &bare);
    let (code, plan) = result(&["--signers", signers]);
    let flaw = "the last line is not signed, and --signers asks for that";
    assert_eq!((code, &plan["flaws"]), (1, &json!([flaw])));
    assert_eq!(result(&[]).0, 0);
    // Where one branch has signed a line, git keeps both copies of it when it merges.
    for at in [2, 3] {
        let mut both = good.clone();
        both.insert(at, bare[2].clone());
        write(&project, &both);
        let (code, plan) = result(&["--signers", signers]);
        assert_eq!((code, &plan["flaws"]), (0, &json!([])));
    }
    write(&project, &good);
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
    assert!(flaw.starts_with("line 3: its signature does not hold: "), "{flaw}");
}

#[test]
fn a_receipt_fits_its_schema() {
    let project = reviewed();
    let receipt = project.run(&["receipt"]).json();
    let schema = include_str!("../../schemas/receipt.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for statement in [receipt.clone()].into_iter().chain(statements(&lines(&project))) {
        let errors = schema.iter_errors(&statement).map(|error| error.to_string());
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
        fs::write(&file, format!("extends = [\"taskie\"]\nid = \"mine\"\n{text}")).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let run = |chart: &str| project.run(&["--chart", chart, "test", "--journal", ".taskie/plans"]);
    let same = run(&write(""));
    let file = ".taskie/plans/test-plan/receipts.jsonl";
    assert_eq!(same.out(), (0, &*format!("ok       {file}  14 decisions\n")));
    let other = run(&write("[let]\nneeded = \"3\"\n"));
    assert_eq!(other.code, 1, "{}", other.stderr);
    let text = other.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let start = format!("differs {file} 14 decisions line 1, entry ");
    assert!(text.starts_with(&start), "{text}");
    let what = "the chart's answer is `block`, and the recorded one `allow`";
    assert!(text.contains(what), "{text}");
    // The settings are known, also those that no decision has looked at.
    let asks = "[[on.Stop]]\nid = \"mine\"\nbefore = \"taken-over\"\nguard = \"config.skip == ['x']\"\nallow = true\n";
    assert_eq!(run(&write(asks)).out(), same.out());
    // One that asks something that nobody has recorded cannot be tried.
    let asks = "[[on.Stop]]\nid = \"mine\"\nbefore = \"taken-over\"\nguard = \"git.dirty\"\nallow = true\n";
    let unknown = run(&write(asks));
    assert!(unknown.stdout.contains("the record has no answer to"), "{}", unknown.stdout);
    for none in ["src", "/nowhere"] {
        assert_eq!(project.run(&["test", "--journal", none]).code, 2, "{none}");
    }
}

/// The steps of the GitHub Action, as they are run there.
#[test]
fn the_action_verifies_a_range() {
    let project = reviewed();
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-qm", "work"]);
    let action = include_str!("../../.github/actions/verify/action.yml");
    let steps: Vec<&str> =
        (action.lines()).filter_map(|line| line.trim().strip_prefix("run: ")).collect();
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

/// Returns the message of a stop at which the reviewer's program is elsewhere, and ends with this.
fn stop_with_another(project: &Project, end: &str) -> String {
    let other = project.bin.with_file_name("other");
    fs::create_dir_all(&other).unwrap();
    let text = fs::read_to_string(project.bin.join("claude")).unwrap();
    fs::write(other.join("claude"), text + end).unwrap();
    set_mode(other.join("claude"), 0o755);
    let _ = std::os::unix::fs::symlink(project.bin.join("behaviour"), other.join("behaviour"));
    let mut shell = project.shell("PATH=$OTHER:$PATH taskie hook stop");
    shell.env("OTHER", &other);
    feed(shell, project.stop_event(false)).message()
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
    project.reviewer(&Reviewer::pass());
    let message = stop_with_another(&project, "# Another one\n");
    for expected in [
        "Since the review before: the setting clean changed from 2 to 1; ",
        "; the setting gates changed from [\"true\",\"echo ok\"] to [\"true\"]; ",
        "; task-2-review-1.md was changed after the review; ",
        "other/claude, not ",
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

/// A reviewer that prints this verdict.
fn prints(verdict: &Value, turns: u32) -> Reviewer {
    let printed = json!({ "is_error": false, "num_turns": turns, "structured_output": verdict });
    Reviewer::pass().prints(printed.to_string())
}

/// A PASS on code says what it ran, and whoever reads it learns where it does not.
#[test]
fn a_review_of_code_that_names_no_command_is_named() {
    let ran = |command: &str, exit: i32| json!({ "verdict": "PASS", "ran": [{ "command": command, "exit": exit }] });
    let bare = json!({ "verdict": "PASS" });
    let nothing = "The reviewer passed the code, and names no command that it ran";
    let unrun = "The reviewer passed the code, and does not say that `make check` succeeded";
    let denied = "The reviewer passed the code, and names commands that it ran, but its program reports that none can have run";
    let cases = [
        (&bare, 3, nothing),
        (&ran("ls", 0), 3, unrun),
        (&ran("make check", 1), 3, unrun),
        (&ran("make checks", 0), 3, unrun),
        (&ran("make check || true", 0), 3, unrun),
        (&ran("make check", 0), 1, denied),
        (&ran("make check", 0), 3, ""),
        (&ran("CI=1 make check", 0), 3, ""),
        (&ran("cd . && make check 2>&1 | tail", 0), 3, ""),
        (&ran("cd . && make check | tail -3", 0), 3, ""),
    ];
    for evidence in ["off", "show", "require"] {
        let project = reviewed();
        let task = "# Task 2\n\n- **Must-run commands**: `make check`\n- **Status**: done\n";
        project.write("task-2.md", task);
        project.set_for_all(
            &json!({ "evidence": evidence, "max_reviews": 99, "stall": 0, "clean": 9 }),
        );
        for (verdict, turns, expected) in &cases {
            ok(&project.run(&["enter", "complete-task", "--task", "2"]));
            project.reviewer(&prints(verdict, *turns));
            let message = project.stop().message();
            let expected = match (evidence, *expected) {
                ("off", _) | (_, "") => String::new(),
                ("show", said) => format!("{said}."),
                (_, said) => format!("{said}: its review does not count as clean (`evidence`)."),
            };
            let flat = message.replace('\n', " ");
            match expected.is_empty() {
                true => {
                    assert!(!flat.contains("The reviewer passed"), "{evidence} {verdict}: {flat}")
                }
                false => assert!(flat.contains(&expected), "{evidence} {verdict}: {flat}"),
            }
            let is_clean = evidence != "require" || expected.is_empty();
            assert_eq!(
                project.state()["consecutive_clean"],
                i32::from(is_clean),
                "{evidence} {verdict}"
            );
            ok(&project.run(&["skip"]));
        }
        // It is on record, and decides the same again.
        let receipt = project.run(&["receipt"]).json().to_string();
        assert!(receipt.contains(r#""ran":[{"command":"ls","exit":0}]"#), "{receipt}");
        let checked = project.run(&["verify", "--json"]).json();
        assert_eq!(checked["receipts"][0]["flaws"], json!([]), "{evidence}");
        for (said, count) in [
            ("code-review 1 passed, and names no command that it ran", 1),
            ("code-review 1 passed, and does not say that `make check` succeeded", 4),
            ("code-review 1 passed, and names commands of which its program", 1),
        ] {
            let remarks = checked["receipts"][0]["remarks"].to_string();
            assert_eq!(remarks.matches(said).count(), count, "{evidence}: {remarks}");
        }
        // A review of a plan is about no code.
        project.reviewer(&prints(&bare, 3));
        ok(&project.run(&["enter", "new-plan", "--plan", "other"]));
        fs::write(project.root.join(".taskie/plans/other/plan.md"), "# Plan\n\n## Overview\n")
            .unwrap();
        let stopped = project.stop().stdout;
        assert!(project.root.join(".taskie/plans/other/plan-review-1.md").exists());
        assert!(!stopped.contains("The reviewer passed"), "{stopped}");
    }
}

/// Whatever line is changed: the end of the plan says so, once.
#[test]
fn a_record_that_is_changed_before_its_last_line_is_named() {
    let changes: [fn(&mut Vec<String>); 4] = [
        |lines| drop(lines.remove(0)),
        |lines| lines[1] = lines[1].replace("PASS", "FAIL"),
        |lines| lines.swap(0, 1),
        |lines| drop(lines.drain(..lines.len() - 1)),
    ];
    for change in changes {
        let project = reviewed();
        let mut changed = lines(&project);
        change(&mut changed);
        write(&project, &changed);
        let said = "receipts.jsonl was changed, and not by taskie";
        let ended = project.run(&["enter", "complete", "--force"]);
        ok(&ended);
        assert!(ended.stdout.contains(said), "{}", ended.stdout);
        let status = project.run(&["status"]).stdout;
        let status = status.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(status.matches(said).count(), 1, "{status}");
    }
}

/// Changes fields of the state by hand.
pub(crate) fn edit(project: &Project, changes: &Value) {
    let mut state = project.state();
    for (name, value) in changes.as_object().unwrap() {
        state[name] = value.clone();
    }
    project.write("state.json", state.to_string());
}

/// What changes when no cycle runs is named, too: at the next stop, or with the next review.
#[test]
fn what_changes_between_cycles_is_named() {
    let project = reviewed();
    let by = "(state.json was changed, and not by taskie).";
    edit(&project, &json!({ "max_reviews": 0 }));
    let said =
        format!("The plan was given 0 instead of 8 as the most reviews that a cycle may have {by}");
    assert_eq!(project.stop().message().lines().next(), Some(&*said));
    edit(&project, &json!({ "max_reviews": 8, "next_phase": "complete" }));
    let said = format!(
        "The plan was given 8 instead of 0 as the most reviews that a cycle may have, \
         complete instead of complete-task as the next phase {by}"
    );
    assert_eq!(project.stop().message().lines().next(), Some(&*said));
    edit(&project, &json!({ "phase": "complete", "next_phase": null }));
    let message = project.stop().message();
    assert!(
        message.contains("The plan was given the phase complete instead of code-review"),
        "{message}"
    );
    let verified = project.run(&["verify", "--json"]).json();
    let left =
        "state.json is not as the record has left it: phase is \"complete\", not \"code-review\"";
    assert!(
        verified["receipts"][0]["remarks"]
            .to_string()
            .contains("state.json is not as the record has left it"),
        "{left} {verified}"
    );

    // A cycle that begins in this way begins with the clean reviews of the one before.
    let project = reviewed();
    let begun = json!({
        "phase": "complete-task", "next_phase": "code-review", "current_task": "2", "phase_iteration": 0,
    });
    edit(&project, &begun);
    let said = "The code-review task-2 was given 2 instead of 1 as the current task, the phase \
        complete-task instead of code-review, 0 instead of 2 as reviews run so far in this cycle, \
        code-review instead of complete-task as the next phase";
    let said = format!("{said} {by}");
    assert_eq!(project.stop().message().lines().next(), Some(&*said));

    // Nothing is left of what was known.
    let project = reviewed();
    fs::remove_file(project.plan().join("state.json")).unwrap();
    let said = "Where the plan stands is lost (state.json was removed, and not by taskie).";
    assert_eq!(project.stop().message().lines().next(), Some(said));
    assert!(!project.stop().message().contains("is lost"));
    let project = reviewed();
    fs::remove_file(project.plan().join("state.json")).unwrap();
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    assert_eq!(project.stop().message().lines().next(), Some(said));

    let project = reviewed();
    project.set_for_all(&json!({ "clean": 1, "stall": 0 }));
    project.write("plan-review-1.md", "# Better\n");
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    project.reviewer(&Reviewer::fail());
    let message = stop_with_another(&project, "# Another one\n");
    for expected in [
        "Since the review before: ",
        "the setting clean changed from 2 to 1",
        "plan-review-1.md was changed after the review",
        "other/claude, not ",
    ] {
        assert!(message.contains(expected), "{expected}: {message}");
    }
    // Only once.
    project.write("task-2-post-review-1.md", "# Answer\n");
    ok(&project.run(&["enter", "post-code-review"]));
    let message = stop_with_another(&project, "# Another one\n");
    assert!(!message.contains("Since the review before"), "{message}");
    // But a second edit is another one.
    project.write("task-2-post-review-2.md", "# Answer\n");
    ok(&project.run(&["enter", "post-code-review"]));
    project.write("plan-review-1.md", "# Best\n");
    project.reviewer(&Reviewer::pass());
    let message = stop_with_another(&project, "# Another one\n");
    assert!(
        message.contains("Since the review before: plan-review-1.md was changed after the review."),
        "{message}"
    );
    let json = project.run(&["verify", "--json"]).json();
    let flaws = &json["receipts"][0]["flaws"];
    assert_eq!(*flaws, json!(["plan-review-1.md was changed after the review"]), "{json}");
}

/// A reviewer's program is what its file is, wherever that is.
#[test]
fn a_program_is_the_same_in_another_place_and_another_in_the_same() {
    let project = reviewed();
    let review = |n: usize, end: &str| {
        project.reviewer(&Reviewer::fail());
        let message = stop_with_another(&project, end);
        project.write(&format!("task-2-post-review-{n}.md"), "# Answer\n");
        ok(&project.run(&["enter", "post-code-review"]));
        message
    };
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    let message = review(1, "");
    assert!(!message.contains("Since the review before"), "{message}");
    let message = review(2, "# Patched\n");
    let said = "Since the review before: ";
    let end = "other/claude, the reviewer of code-review 2, was changed.";
    assert!(message.contains(said) && message.contains(end), "{message}");
}

/// A launcher stays the same when it starts another program, and only the version says so.
#[test]
fn another_version_of_a_program_is_named() {
    let project = reviewed();
    project.set_for_all(&json!({ "stall": 0 }));
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    project.reviewer(&Reviewer::fail());
    let mut versions = Vec::new();
    for (n, version, said) in [
        (1, "2.1.330", ""),
        (2, "", "does not say which version it is"),
        (3, "", ""),
        (4, "0.0.1 (stub)", "says that it is version 0.0.1 (stub), not 2.1.330"),
        (5, "0.0.1 (stub)", ""),
    ] {
        fs::write(project.bin.join("version"), format!("{version}\nmore\n")).unwrap();
        let message = project.stop().message();
        let start = format!("Since the review before: the reviewer of code-review {n} ");
        let named = message.split_once(&start);
        let named = named.map_or("", |(_, rest)| rest.split(".\n").next().unwrap());
        assert_eq!(named.trim_end_matches('.'), said, "{message}");
        project.write(&format!("task-2-post-review-{n}.md"), "# Answer\n");
        ok(&project.run(&["enter", "post-code-review"]));
    }
    let receipt = project.run(&["receipt"]).json();
    for entry in receipt["predicate"]["entries"].as_array().unwrap() {
        versions.extend(entry["version"].as_str().map(str::to_owned));
    }
    let expected = ["2.1.330", "0.0.1 (stub)", "0.0.1 (stub)"];
    assert_eq!(versions[versions.len() - 3..], expected);
}

/// The record of a cycle that is not over is a file of the plan. Whoever changes what it says is noticed, and gains nothing.
#[test]
fn a_record_that_is_edited_while_its_cycle_runs_is_named() {
    let project = reviewed();
    let record = project.plan().join(".receipts-open.jsonl");
    let pass = || {
        let text = fs::read_to_string(&record).unwrap();
        let other = text.replace("\"verdict\":\"FAIL\"", "\"verdict\":\"PASS\"");
        assert_ne!(text, other);
        fs::write(&record, other).unwrap();
    };
    let answer = |n: usize| {
        project.write(&format!("task-2-post-review-{n}.md"), "# Answer\n");
        ok(&project.run(&["enter", "post-code-review"]));
    };
    let said = "Since the review before: .receipts-open.jsonl was changed";
    project.set_for_all(&json!({ "stall": 0 }));
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    project.reviewer(&Reviewer::fail());
    ok(&project.stop());
    // Before a command, and before a review.
    pass();
    answer(1);
    for n in [2, 3] {
        let message = project.stop().message();
        assert!(message.contains(&format!("{said}, and not by taskie.")), "{message}");
        answer(n);
        if n == 2 {
            pass();
        }
    }
    assert!(!project.stop().message().contains(said), "once is enough");
    answer(4);
    project.reviewer(&Reviewer::pass());
    twice(&project, "task-2", 5);
    let json = project.run(&["verify", "--json"]).json();
    assert_eq!(json["receipts"][0]["flaws"], json!([]), "{json}");
    let remarks = json["receipts"][0]["remarks"].to_string();
    assert_eq!(remarks.matches(".receipts-open.jsonl was changed").count(), 2, "{json}");
}

/// What is set before the first review is compared with what was set when the plan began.
#[test]
fn a_setting_that_changes_before_the_first_review_is_named() {
    let project = reviewed();
    fs::remove_dir_all(project.plan()).unwrap();
    ok(&project.run(&["enter", "new-plan", "--plan", PLAN]));
    project.write("plan.md", "# Plan\n\n## Overview\n");
    project.set_for_all(&json!({ "clean": 1 }));
    project.reviewer(&Reviewer::fail());
    let message = project.stop().message();
    let said = "Since the plan began: the setting clean changed from 2 to 1.";
    assert!(message.contains(said), "{message}");
}

/// A plan under the name of one that is gone has nothing to do with it, except that a cycle that was left is named.
#[test]
fn a_plan_of_the_same_name_begins_a_record() {
    let project = reviewed();
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    project.reviewer(&Reviewer::fail());
    ok(&project.stop());
    fs::remove_dir_all(project.plan()).unwrap();
    ok(&project.run(&["enter", "new-plan", "--plan", PLAN]));
    project.write("plan.md", "# Plan\n\n## Overview\n");
    let message = project.stop().message();
    let left = "The code-review task-2 was left without having passed, and plan-review comes next (`taskie enter new-plan`)";
    assert!(message.starts_with(left), "{message}");
    assert!(!message.contains("not by taskie"), "{message}");
    ok(&project.run(&["skip"]));
    let json = project.run(&["verify", "--json"]).json();
    assert_eq!(json["receipts"][0]["flaws"], json!([]), "{json}");
    let remarks = json["receipts"][0]["remarks"].as_array().unwrap();
    let left = json!("left without having passed: plan-review");
    assert_eq!((remarks.len(), &remarks[1]), (2, &left), "{json}");
}

/// Another machine goes on where this one was, in the middle of a cycle.
#[test]
fn a_cycle_that_goes_on_in_a_clone_verifies() {
    let project = reviewed();
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    project.reviewer(&Reviewer::fail());
    ok(&project.stop());
    project.write("task-2-post-review-1.md", "# Answer\n");
    ok(&project.run(&["enter", "post-code-review"]));
    let commit = |project: &Project| {
        git(&project.root, &["add", "-A"]);
        git(&project.root, &["commit", "-qm", "work"]);
    };
    commit(&project);
    let clone = Project::empty();
    git(&clone.root, &["clone", "-q", project.root.to_str().unwrap(), "."]);
    clone.reviewer(&Reviewer::pass());
    twice(&clone, "task-2", 2);
    let ran = clone.run(&["verify", "--json"]);
    assert_eq!((ran.code, &ran.json()["receipts"][0]["flaws"]), (0, &json!([])));
    // And back again: what this machine still has is in the receipt.
    commit(&clone);
    git(&project.root, &["pull", "-q", clone.root.to_str().unwrap(), "HEAD"]);
    let message = project.stop().message();
    let said = "The code-review task-2 was left, and complete-task comes next (taskie did that on another machine, in another checkout, or just before it was killed, as its record says).";
    assert!(message.starts_with(said), "{message}");
    project.reviewer(&Reviewer::pass());
    ok(&project.run(&["enter", "all-code-review"]));
    ok(&project.run(&["enter", "continue-task"]));
    let ran = project.run(&["verify", "--json"]);
    assert_eq!((ran.code, &ran.json()["receipts"][0]["flaws"]), (0, &json!([])));
}

/// Between two cycles, what came together with its entries is named as that, and not as an edit.
#[test]
fn what_git_brings_between_two_cycles_is_no_edit() {
    let project = reviewed();
    let commit = |project: &Project| {
        git(&project.root, &["add", "-A"]);
        git(&project.root, &["commit", "-qm", "work"]);
    };
    commit(&project);
    let clone = Project::empty();
    let root = project.root.to_str().unwrap();
    git(&clone.root, &["clone", "-q", root, "."]);
    ok(&clone.run(&["limit", "12"]));
    ok(&clone.run(&["enter", "complete-task", "--task", "2"]));
    commit(&clone);
    git(&project.root, &["pull", "-q", clone.root.to_str().unwrap(), "HEAD"]);
    let message = project.stop().message();
    assert!(!message.contains("was given"), "{message}");
    assert!(
        message.contains("entries were added to the record, and not by taskie in this work tree"),
        "{message}"
    );
}

/// Two branches have each run a cycle of the same plan. Their merge has the lines of both, and the next line unites them.
#[test]
fn branches_that_are_merged_verify() {
    let project = reviewed();
    fs::write(project.root.join(".gitattributes"), "*.jsonl merge=union\n").unwrap();
    let run = |args: &[&str]| git(&project.root, args);
    let commit = || {
        run(&["add", "-A"]);
        run(&["commit", "-qm", "work"]);
    };
    commit();
    let work = |task: &str, file: &str| {
        fs::write(project.root.join(file), "new\n").unwrap();
        ok(&project.run(&["enter", "complete-task", "--task", task]));
        twice(&project, &format!("task-{task}"), 1);
        commit();
    };
    run(&["checkout", "-qb", "other"]);
    work("2", "c.txt");
    run(&["checkout", "-q", "-"]);
    work("1", "d.txt");
    // `state.json` is as the other branch has left it: here, it is what it was before.
    run(&["merge", "-q", "other"]);
    let verified = |lines: usize| {
        let json = project.run(&["verify", "--json"]).json();
        let plan = &json["receipts"][0];
        assert_eq!((&plan["flaws"], &json["verified"]), (&json!([]), &json!(true)), "{json}");
        let said = "line 5: it begins where line 4 does: branches were merged";
        assert!(plan["remarks"].to_string().contains(said), "{json}");
        assert_eq!(plan["receipts"], lines, "{json}");
    };
    verified(5);
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    twice(&project, "task-2", 1);
    verified(6);
    // A branch that is united cannot be left out.
    let good = lines(&project);
    let united = statements(&good);
    assert_eq!(united[5]["predicate"]["merges"].as_array().unwrap().len(), 1);
    for at in [3, 4] {
        let mut bad = good.clone();
        bad.remove(at);
        write(&project, &bad);
        let (code, flaw) = first_flaw(&project);
        let what =
            "line 5: it goes on from no line before it: a line was changed, moved or removed";
        assert_eq!((code, &*flaw), (1, what));
    }
}

/// A review covers code only if the decision about it let it count.
#[test]
fn a_review_without_its_decision_covers_nothing() {
    let project = reviewed();
    fs::write(project.root.join("c.rs"), "new\n").unwrap();
    let blob = git(&project.root, &["hash-object", "c.rs"]);
    let good = statements(&lines(&project));
    let entries = good[2]["predicate"]["entries"].as_array().unwrap().clone();
    let at = entries.iter().position(|entry| entry["entry"] == "review").unwrap();
    let mut invented = entries[at].clone();
    invented["tree"]["files"]["c.rs"] = json!(blob.trim());
    let mut bad = good.clone();
    bad[2]["predicate"]["entries"].as_array_mut().unwrap().insert(at, invented);
    sealed_again(&project, bad);
    let ran = project.run(&["verify", "--json"]);
    let json = ran.json();
    assert_eq!((ran.code, &json["files"]["c.rs"]), (1, &Value::Null));
    // And that it is there is named.
    assert!(
        json["receipts"][0]["flaws"]
            .to_string()
            .contains("its remarks are not those about its entries"),
        "{json}"
    );
    assert!(
        json["receipts"][0]["remarks"]
            .to_string()
            .contains("nothing was decided about a review: code-review 1"),
        "{json}"
    );
    // The same for one that was set aside.
    let mut aside = good.clone();
    for entry in aside[2]["predicate"]["entries"].as_array_mut().unwrap() {
        if entry["is_reviewed"] == true {
            entry["is_superseded"] = json!(true);
        }
    }
    sealed_again(&project, aside);
    assert_eq!(project.run(&["verify", "--json"]).json()["files"]["a.txt"], Value::Null);
}

/// What a line leaves out, or says beside what it must, is refused.
#[test]
fn a_line_says_all_that_it_must_and_nothing_else() {
    let project = reviewed();
    let good = statements(&lines(&project));
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut bad = good.clone();
        bad.iter_mut().for_each(change);
        sealed_again(&project, bad);
        let ran = project.run(&["verify", "--json"]);
        (ran.code, ran.json()["receipts"][0]["flaws"].to_string())
    };
    let in_reviews = |change: &dyn Fn(&mut Value)| {
        changed(&|line| {
            let entries = line["predicate"]["entries"].as_array_mut().unwrap();
            let reviews = entries.iter_mut().filter(|entry| entry["entry"] == "review");
            reviews.for_each(change);
        })
    };
    let without = |review: &mut Value, name: &str| {
        review.as_object_mut().unwrap().remove(name);
    };
    let keys = "it has a key too many, or one is missing";
    for ((code, flaws), said) in [
        (in_reviews(&|review| without(review, "review")), keys),
        (in_reviews(&|review| review["more"] = json!(1)), keys),
        (changed(&|line| line["more"] = json!(1)), keys),
        (in_reviews(&|review| review["review"] = Value::Null), "lacks the hash of its file"),
        (
            in_reviews(&|review| without(review, "answers")),
            "plan-review 2 lacks the hash of plan-post-review-1.md",
        ),
        (
            in_reviews(&|review| {
                if let Some(tree) = review.get_mut("tree") {
                    tree["skips"] = json!(["*"]);
                }
            }),
            "leaves out *, and its settings leave out ",
        ),
        (
            changed(&|line| line["subject"] = json!([])),
            "its subject is not what its last review saw",
        ),
    ] {
        assert_eq!(code, 1, "{said}");
        assert!(flaws.contains(said), "{said}: {flaws}");
    }
    sealed_again(&project, good.clone());
    assert_eq!(first_flaw(&project), (0, String::new()));
}

/// Whatever chart has decided, a reader learns if it is not the one of this program.
#[test]
fn another_chart_in_a_record_is_named() {
    let project = reviewed();
    let version = env!("CARGO_PKG_VERSION");
    for (origin, version, said) in [
        ("mine.toml", version, "line 1: another chart decided: mine.toml"),
        ("taskie", version, "line 1: its chart `taskie` is not the one of taskie"),
        ("taskie", "x", "line 1: its chart `taskie` cannot be compared with that of taskie x"),
    ] {
        let good = statements(&lines(&project));
        let mut bad = good.clone();
        let charts = bad[0]["predicate"]["charts"].as_object_mut().unwrap();
        let (_, mut whole) =
            charts.iter().next().map(|(sha256, whole)| (sha256.clone(), whole.clone())).unwrap();
        charts.clear();
        whole["origin"] = json!(origin);
        whole["text"] = json!(format!("{}\n# mine\n", whole["text"].as_str().unwrap()));
        let mut hash = Sha256::new();
        let mut add = |part: &str| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        add(whole["origin"].as_str().unwrap());
        add(whole["text"].as_str().unwrap());
        for (name, text) in whole["templates"].as_object().unwrap() {
            add(name);
            add(text.as_str().unwrap());
        }
        let sha256: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        charts.insert(sha256.clone(), whole);
        for statement in &mut bad {
            statement["predicate"]["taskie"] = json!(version);
            for entry in statement["predicate"]["entries"].as_array_mut().unwrap() {
                entry["chart"] = json!(sha256);
            }
        }
        sealed_again(&project, bad);
        let json = project.run(&["verify", "--json"]).json();
        let remarks = json["receipts"][0]["remarks"].to_string();
        assert!(remarks.contains(said), "{said}: {json}");
        sealed_again(&project, good);
    }
}

/// The work of each plan counts, from its own beginning on.
#[test]
fn each_of_two_plans_counts() {
    let project = reviewed();
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-qm", "work"]);
    project.set_for_all(&json!({ "skip": ["*.txt"] }));
    let plan = project.root.join(".taskie/plans/z");
    let run = |args: &[&str]| ok(&project.run(&[args, &["--plan", "z"]].concat()));
    run(&["enter", "new-plan"]);
    for name in ["plan.md", "tasks.md", "task-1.md", "task-2.md"] {
        fs::copy(project.plan().join(name), plan.join(name)).unwrap();
    }
    run(&["skip"]);
    run(&["enter", "create-tasks"]);
    run(&["skip"]);
    fs::write(project.root.join("c.rs"), "new\n").unwrap();
    run(&["enter", "complete-task", "--task", "1"]);
    ok(&project.stop());
    run(&["skip"]);
    let ran = project.run(&["verify", "--json"]);
    let json = ran.json();
    assert_eq!(json["receipts"].as_array().unwrap().len(), 2, "{json}");
    assert_eq!(json["files"]["a.txt"], "test-plan/task-1-review-2.md", "{json}");
    assert_eq!(json["files"]["c.rs"], "z/task-1-review-1.md", "{json}");
    fs::write(project.root.join("a.txt"), "three\n").unwrap();
    let ran = project.run(&["verify", "--json"]);
    assert_eq!((ran.code, &ran.json()["files"]["a.txt"]), (1, &Value::Null));
}

/// Other line ends, lines of something else, names that nothing has, and both forms of a range.
#[test]
fn what_a_clone_or_a_typo_does_to_verify() {
    let project = reviewed();
    git(&project.root, &["add", "-A"]);
    git(&project.root, &["commit", "-qm", "work"]);
    let clone = Project::empty();
    let root = project.root.to_str().unwrap();
    git(&clone.root, &["clone", "-q", "-c", "core.autocrlf=true", root, "."]);
    assert!(fs::read_to_string(clone.root.join("b.txt")).unwrap().ends_with("\r\n"));
    let ran = clone.run(&["verify", "HEAD~1...HEAD", "--json"]);
    assert_eq!((ran.code, &ran.json()["receipts"][0]["flaws"]), (0, &json!([])));
    assert_eq!(clone.run(&["verify", "HEAD~1..."]).code, 0);

    let typo = project.run(&["verify", "--plan", "test-plam"]);
    assert_eq!(typo.code, 2);
    assert!(typo.stderr.contains("there is no plan `test-plam`"), "{}", typo.stderr);
    assert!(typo.stderr.contains("test-plan"), "{}", typo.stderr);
    ok(&project.run(&["enter", "new-plan", "--plan", "empty"]));
    assert_eq!(project.run(&["verify", "--plan", "empty"]).code, 3);

    let mut bad = lines(&project);
    bad.insert(1, "<<<<<<< HEAD".to_owned());
    bad.push("x".to_owned());
    write(&project, &bad);
    let flaws = project.run(&["verify", "--json"]).json()["receipts"][0]["flaws"].clone();
    let flaws = flaws.as_array().unwrap();
    assert_eq!(flaws.len(), 2, "{flaws:?}");
    assert!(flaws[0].as_str().unwrap().starts_with("line 2: it is no receipt: "));
    // What comes after them follows the last receipt.
    ok(&project.run(&["enter", "complete-task", "--task", "2", "--plan", PLAN]));
    project.reviewer(&Reviewer::pass());
    twice(&project, "task-2", 1);
    let mut good = lines(&project);
    good.retain(|line| line.starts_with('{'));
    assert_eq!(good.len(), 4);
    write(&project, &good);
    assert_eq!(first_flaw(&project), (0, String::new()));
}

/// What the agent may change in a record, if it makes all hashes again, and no one notices without a signature.
#[test]
fn figures_of_a_record_that_decide_nothing_can_be_made_again() {
    let project = reviewed();
    let good = statements(&lines(&project));
    for (name, value) in [
        ("cost", json!(1)),
        ("seconds", json!(1)),
        ("by", json!("someone")),
        ("prompt", json!("0".repeat(64))),
    ] {
        let mut bad = good.clone();
        let entries = bad[2]["predicate"]["entries"].as_array_mut().unwrap();
        let review = entries.iter_mut().find(|entry| entry["entry"] == "review").unwrap();
        review[name] = value;
        sealed_again(&project, bad);
        assert_eq!(first_flaw(&project), (0, String::new()), "{name}");
    }
}

/// Wherever a record says a setting, that is the one at which its decisions have looked.
#[test]
fn a_setting_that_a_decision_has_looked_at_cannot_be_said_differently() {
    let project = reviewed();
    let good = statements(&lines(&project));
    let mut count = 0;
    for (at, line) in good.iter().enumerate() {
        let predicate = &line["predicate"];
        let entries = predicate["entries"].as_array().unwrap();
        let entries = (0..entries.len()).map(|entry| format!("/entries/{entry}/settings"));
        for place in entries.chain(["/settings".to_owned()]) {
            let Some(said) = predicate.pointer(&place) else {
                continue;
            };
            count += 1;
            let other = json!(said["clean"].as_i64().unwrap() + 1);
            for other in [Some(other), None] {
                let mut bad = good.clone();
                let settings = bad[at]["predicate"].pointer_mut(&place).unwrap();
                match other {
                    Some(other) => settings["clean"] = other,
                    None => drop(settings.as_object_mut().unwrap().remove("clean")),
                }
                sealed_again(&project, bad);
                let (code, flaw) = first_flaw(&project);
                assert_eq!((code, flaw.contains("setting")), (1, true), "{place}: {flaw}");
            }
        }
    }
    assert!(count >= 2 * good.len(), "{count}");
    // All at once, and the one that nobody says.
    let mut bad = good.clone();
    for line in &mut bad {
        let predicate = &mut line["predicate"];
        predicate["settings"]["clean"] = json!(1);
        for entry in predicate["entries"].as_array_mut().unwrap() {
            if !entry["settings"].is_null() {
                entry["settings"]["clean"] = json!(1);
            }
        }
    }
    sealed_again(&project, bad);
    let (code, flaw) = first_flaw(&project);
    assert!(flaw.ends_with("it saw another value of the setting clean than 1"), "{flaw}");
    assert_eq!(code, 1);
}

/// A setting that is changed while a cycle runs, also during a review, is no flaw, and is named once.
#[test]
fn settings_that_change_verify() {
    let project = reviewed();
    let clean = |n: i64| project.set_for_all(&json!({ "clean": n }));
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    clean(3);
    ok(&project.stop());
    project.write("task-2-post-review-1.md", "# Answer\n");
    ok(&project.run(&["enter", "post-code-review"]));
    let file = project.root.join(".taskie/config.json");
    let file = file.to_str().unwrap();
    let during = format!("echo '{{\"clean\": 4}}' >{file}; ");
    project.reviewer(&Reviewer::pass().first(during));
    ok(&project.stop());
    project.reviewer(&Reviewer::pass());
    for n in [2, 3] {
        project.write(&format!("task-2-post-review-{n}.md"), "# Answer\n");
        ok(&project.run(&["enter", "post-code-review"]));
        ok(&project.stop());
    }
    let json = project.run(&["verify", "--json"]).json();
    let plan = &json["receipts"][0];
    assert_eq!((&plan["flaws"], &plan["receipts"]), (&json!([]), &json!(4)), "{json}");
    let remarks = plan["remarks"].to_string();
    assert_eq!(remarks.matches("the setting clean changed").count(), 2, "{remarks}");
}

/// A pseudo-terminal is a terminal, as everywhere.
#[test]
fn a_command_in_a_pseudo_terminal_counts_as_typed() {
    let project = reviewed();
    ok(&project.run(&["enter", "complete-task", "--task", "2"]));
    let mut shell = project.shell("script -qec 'taskie limit 5' /dev/null");
    let Ok(ran) = shell.output() else { return };
    if !ran.status.success() {
        // Without that program there is nothing to test.
        return;
    }
    let receipt = project.run(&["receipt"]).json();
    let said = "`taskie limit` with reviews 5 was run in a terminal";
    assert!(receipt["predicate"]["remarks"].to_string().contains(said), "{receipt}");
}
