//! Bad files, names, events and environments: nothing panics, nothing is written outside the plan, the stop is
//! allowed, and a message says what is wrong and where.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::bench::wait_until_it_can_be_run;
use crate::expected::plan_in;
use crate::support::{
    PLAN, Project, Ran, Reviewer, allowed, blocked, expect_warning, feed, set_mode, silent, state,
    validated,
};

const VALIDATED: &str = "Plan 'test-plan' structure validated successfully";
const STATE: &str = ".taskie/plans/test-plan/state.json";
const UNUSABLE: &str = "No review runs and nothing is written until it is fixed.";

/// The answer to a stop with a state that cannot be used, in a plan without other flaws.
fn unusable(why: &str) -> Value {
    allowed(&format!("{}\n{VALIDATED}", unusable_line(why)))
}

fn unusable_line(why: &str) -> String {
    let stop = if why.ends_with('?') { "" } else { "." };
    format!("{STATE}: {why}{stop} {UNUSABLE}")
}

/// Makes a named pipe.
fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

/// A stop by a user who is bound by file modes: root becomes nobody, in a project that nobody owns.
fn stop_as_someone(project: &Project) -> Ran {
    let mut command = project.command(["hook", "stop"]);
    if rustix::process::geteuid().is_root() {
        let binary = project.bin.join("taskie");
        fs::copy(env!("CARGO_BIN_EXE_taskie"), &binary).unwrap();
        wait_until_it_can_be_run(&binary);
        set_mode(project.bin.parent().unwrap(), 0o755);
        let whole = std::mem::replace(&mut command, Command::new(binary));
        command
            .args(whole.get_args())
            .current_dir(&project.root)
            .uid(65_534)
            .gid(65_534);
        command.envs(
            whole
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let chown = Command::new("chown")
            .args(["-R", "65534:65534"])
            .arg(&project.root)
            .status();
        assert!(chown.unwrap().success());
        let may = Command::new("true").uid(65_534).status();
        assert!(
            may.is_ok_and(|status| status.success()),
            "run the tests as a user who is bound by file modes, or as a root who can become one"
        );
    }
    feed(command, project.stop_event(false))
}

// ── state.json ──────────────────────────────────────────────────────────────────────────

#[test]
fn states_that_cannot_be_used() {
    let whole = state(json!({})).to_string();
    let with = |name: &str, value: &str| {
        whole.replacen('{', &format!("{{\"{name}\": {value}, \"_\": {{}}, "), 1)
    };
    let without = |name: &str| {
        let mut state = state(json!({}));
        state.as_object_mut().unwrap().shift_remove(name);
        state.to_string()
    };
    let field = |name: &str, value: &str| {
        without(name).replacen('{', &format!("{{\"{name}\": {value}, "), 1)
    };
    let big = format!("[{}", "[".repeat(10 * 1024 * 1024));
    let utf16: Vec<u8> = whole.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let integer = "must be an integer of at least 0";
    let largest = "must be an integer of at most 9007199254740991";
    let phase = "must be a phase of the chart, or null";
    let cases: Vec<(&str, Vec<u8>, String)> = vec![
        ("a list", b"[]".to_vec(), "it contains a list, not an object".to_owned()),
        ("a string", b"\"x\"".to_vec(), "it contains a string, not an object".to_owned()),
        ("a number", b"7".to_vec(), "it contains a number, not an object".to_owned()),
        ("null", b"null".to_vec(), "it contains null, not an object".to_owned()),
        ("true", b"true".to_vec(), "it contains a boolean, not an object".to_owned()),
        ("empty", Vec::new(), "it is not valid JSON: EOF while parsing a value at line 1 column 0".to_owned()),
        ("blank", b" \n\n".to_vec(), "it is not valid JSON: EOF while parsing a value at line 3 column 0".to_owned()),
        ("a BOM alone", b"\xef\xbb\xbf".to_vec(), "it is not valid JSON: EOF while parsing a value at line 1 column 0".to_owned()),
        (
            "truncated",
            whole.as_bytes()[..whole.len() / 2].to_vec(),
            format!("it is not valid JSON: EOF while parsing a string at line 1 column {}", whole.len() / 2),
        ),
        (
            "prose",
            b"not json".to_vec(),
            "it is not valid JSON: expected ident at line 1 column 2".to_owned(),
        ),
        (
            "two values",
            format!("{whole}\n{whole}").into_bytes(),
            "it is not valid JSON: trailing characters at line 2 column 1".to_owned(),
        ),
        (
            "a trailing comma",
            b"{\"phase\": \"complete\",}".to_vec(),
            "it is not valid JSON: trailing comma at line 1 column 22".to_owned(),
        ),
        (
            "a comment",
            b"{ // me\n}".to_vec(),
            "it is not valid JSON: key must be a string at line 1 column 3".to_owned(),
        ),
        ("NUL bytes", vec![0; 100], "it is not valid JSON: expected value at line 1 column 1".to_owned()),
        (
            "a NUL byte in a string",
            b"{\"phase\": \"\x00\"}".to_vec(),
            "it is not valid JSON: control character (\\u0000-\\u001F) found while parsing a string at line 1 column 12".to_owned(),
        ),
        ("UTF-16", utf16, "it is not valid JSON: key must be a string at line 1 column 2".to_owned()),
        (
            "not UTF-8",
            b"{\"phase\": \"\xff\"}".to_vec(),
            "it is not valid JSON: invalid unicode code point at line 1 column 12".to_owned(),
        ),
        ("deep nesting", big.into_bytes(), "it contains more than 100000 values".to_owned()),
        (
            "a number too large for anything",
            field("max_reviews", "1e999").into_bytes(),
            "`max_reviews` cannot be read: number out of range at line 1 column 21".to_owned(),
        ),
        ("words for a number", field("phase_iteration", "\"abc\"").into_bytes(), format!("`phase_iteration` is \"abc\", but {integer}, or null")),
        ("a fraction", field("phase_iteration", "1.5").into_bytes(), format!("`phase_iteration` is 1.5, but {integer}, or null")),
        ("a negative number", field("max_reviews", "-1").into_bytes(), format!("`max_reviews` is -1, but {integer}")),
        ("null where none may be", field("max_reviews", "null").into_bytes(), format!("`max_reviews` is null, but {integer}")),
        ("a huge number", field("max_reviews", "1e99").into_bytes(), format!("`max_reviews` is 1e+99, but {largest}")),
        ("one more than is exact", field("phase_iteration", "9007199254740992").into_bytes(), format!("`phase_iteration` is 9007199254740992, but {largest}")),
        ("more than 64 bits", field("consecutive_clean", "18446744073709551616").into_bytes(), format!("`consecutive_clean` is 1.8446744073709552e+19, but {largest}")),
        ("a list", field("consecutive_clean", "[1]").into_bytes(), format!("`consecutive_clean` is [1], but {integer}")),
        ("a string for a boolean", field("tdd", "\"false\"").into_bytes(), "`tdd` is \"false\", but must be a boolean".to_owned()),
        ("a fraction for a task", field("current_task", "1.5").into_bytes(), "`current_task` is 1.5, but must be a string that fits [A-Za-z0-9_-]+, or null".to_owned()),
        (
            "a task that leads elsewhere",
            field("current_task", "\"../../x\"").into_bytes(),
            "`current_task` is \"../../x\", but must be a string that fits [A-Za-z0-9_-]+, or null".to_owned(),
        ),
        (
            "a task with a line end",
            field("current_task", "\"1\\n\"").into_bytes(),
            "`current_task` is \"1\\n\", but must be a string that fits [A-Za-z0-9_-]+, or null".to_owned(),
        ),
        (
            "a task with a letter from elsewhere",
            field("current_task", "\"ü\"").into_bytes(),
            "`current_task` is \"ü\", but must be a string that fits [A-Za-z0-9_-]+, or null".to_owned(),
        ),
        ("an empty task", field("current_task", "\"\"").into_bytes(), "`current_task` is \"\", but must be a string that fits [A-Za-z0-9_-]+, or null".to_owned()),
        (
            "a slip of the pen",
            field("next_phase", "\"code-reveiw\"").into_bytes(),
            format!("`next_phase` is \"code-reveiw\", but {phase}; did you mean \"code-review\"?"),
        ),
        ("a phase that is none", field("next_phase", "\"raedy\"").into_bytes(), format!("`next_phase` is \"raedy\", but {phase}")),
        ("no phase", field("phase", "null").into_bytes(), "`phase` is null, but must be a phase of the chart".to_owned()),
        ("a model that is none", field("review_model", "7").into_bytes(), "`review_model` is 7, but must be a string".to_owned()),
        (
            "a long value",
            field("review_model", &format!("[\"{}\"]", "x".repeat(100_000))).into_bytes(),
            format!("`review_model` is [\"{}…, but must be a string", "x".repeat(58)),
        ),
        ("paused before nothing", with("paused", "\"later\"").into_bytes(), format!("`paused` is \"later\", but {phase}")),
    ];
    for (what, bytes, why) in cases {
        let project = Project::valid();
        project.reviewer(&Reviewer::fail());
        project.write("state.json", &bytes);
        let before = project.files();
        let ran = project.stop();
        assert_eq!((ran.code, ran.json()), (0, unusable(&why)), "{what}");
        assert_eq!(
            ran.stderr,
            format!("taskie: {}\n", unusable_line(&why)),
            "{what}"
        );
        assert_eq!(
            project.stop_active(true).json(),
            allowed(&unusable_line(&why)),
            "{what}"
        );
        // Commands do not write it either.
        let ran = project.run(&["run", "limit", "3"]);
        assert_eq!(ran.out(), (1, ""), "{what}");
        assert_eq!(
            ran.stderr,
            format!("taskie: {STATE}: {why}\n  help: fix the file, or restore it from git\n"),
            "{what}"
        );
        assert!(project.files() == before, "{what}");
        assert!(project.calls().is_empty(), "{what}");
    }
}

#[test]
fn ten_megabytes_of_state() {
    let project = Project::valid();
    let ballast = "x".repeat(10 * 1024 * 1024);
    project.write(
        "state.json",
        state(json!({ "ballast": ballast })).to_string(),
    );
    project.reviewer(&Reviewer::fail());
    assert_eq!(project.stop().json()["decision"], "block");
    assert_eq!(
        project.state()["ballast"].as_str().unwrap().len(),
        ballast.len()
    );
}

/// Odd states that can be used: (case, text, what is said before the rest).
#[test]
fn unusual_states_that_are_accepted() {
    let whole = state(json!({ "next_phase": null })).to_string();
    let lacks = |names: &str| format!("{STATE} lacks {names}: the defaults are used.");
    let cases: Vec<(&str, String, Option<String>)> = vec![
        (
            "empty",
            "{}".to_owned(),
            Some(lacks(
                "`max_reviews`, `phase`, `next_phase`, `review_model`, `consecutive_clean`, `tdd`",
            )),
        ),
        (
            "one field",
            "{\"phase\": \"new-plan\"}".to_owned(),
            Some(lacks(
                "`max_reviews`, `next_phase`, `review_model`, `consecutive_clean`, `tdd`",
            )),
        ),
        (
            "a misspelt key",
            whole.replace("\"phase\"", "\"phse\""),
            Some(lacks("`phase` (is it `phse`?)")),
        ),
        ("a BOM", format!("\u{feff}{whole}"), None),
        ("windows line ends", whole.replace(',', ",\r\n"), None),
        (
            "whole numbers as fractions",
            whole.replace(":8,", ":8.0,"),
            None,
        ),
        (
            "unknown keys",
            whole.replacen('{', "{\"\": null, \"a/b~\": {\"phase\": 7}, ", 1),
            None,
        ),
        (
            "a key twice",
            whole.replacen('{', "{\"phase\": \"complete\", ", 1),
            None,
        ),
        (
            "a schema",
            whole.replacen('{', "{\"$schema\": \"./x.json\", ", 1),
            None,
        ),
        (
            "very large unknown numbers",
            whole.replacen('{', "{\"id\": 12345678901234567890, ", 1),
            None,
        ),
    ];
    for (what, text, said) in cases {
        let project = Project::valid();
        project.write("state.json", &text);
        let before = project.files();
        let ran = project.stop();
        let expected = said
            .as_ref()
            .map_or_else(validated, |said| allowed(&format!("{said}\n{VALIDATED}")));
        assert_eq!((ran.code, ran.json()), (0, expected), "{what}");
        assert_eq!(
            ran.stderr,
            said.map(|said| format!("taskie: {said}\n"))
                .unwrap_or_default(),
            "{what}"
        );
        assert_eq!(project.files(), before, "{what}");
    }
}

#[test]
fn a_state_that_is_not_a_file() {
    let project = Project::valid();
    let path = project.plan().join("state.json");
    let outside = project.bin.join("outside.json");
    fs::write(&outside, state(json!({})).to_string()).unwrap();
    let before = fs::read_to_string(&outside).unwrap();
    project.reviewer(&Reviewer::fail());

    symlink(&outside, &path).unwrap();
    assert_eq!(project.stop().json(), unusable("it is a symbolic link"));
    assert_eq!(project.run(&["enter", "complete", "--force"]).code, 1);
    fs::remove_file(&path).unwrap();

    symlink("nowhere", &path).unwrap();
    assert_eq!(project.stop().json(), unusable("it is a symbolic link"));
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    assert_eq!(project.stop().json(), unusable("it is not a regular file"));
    fs::remove_dir(&path).unwrap();

    pipe(&path);
    assert_eq!(project.stop().json(), unusable("it is not a regular file"));
    assert_eq!(
        (fs::read_to_string(outside).unwrap(), project.calls().len()),
        (before, 0)
    );
}

#[test]
fn a_state_that_may_not_be_read() {
    let project = Project::in_state(json!({}));
    set_mode(project.plan().join("state.json"), 0o000);
    let ran = stop_as_someone(&project);
    assert_eq!(
        (ran.code, ran.json()),
        (
            0,
            unusable("it cannot be read: Permission denied (os error 13)")
        )
    );
}

#[test]
fn a_plan_that_may_not_be_written() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    let before = project.files();
    let folders = [project.root.join(".taskie"), project.plan()];
    let mode = |mode| folders.iter().for_each(|path| set_mode(path, mode));
    mode(0o555);
    let ran = stop_as_someone(&project);
    mode(0o755);
    let why = format!(
        "taskie could not decide about this Stop and allows it: the state cannot be locked: {}: Permission denied (os error 13)",
        project.lock_file("state").display()
    );
    expect_warning(&ran, &why);
    assert_eq!((project.files(), project.calls().len()), (before, 0));
}

#[test]
fn a_table_and_a_plan_that_may_not_be_read() {
    let project = Project::in_state(json!({ "next_phase": null }));
    set_mode(project.plan().join("tasks.md"), 0o000);
    let ran = stop_as_someone(&project);
    let why = "cannot be read: Permission denied (os error 13)";
    let why = format!(
        "taskie could not decide about this Stop and allows it: .taskie/plans/{PLAN}/tasks.md {why}"
    );
    expect_warning(&ran, &why);
    set_mode(project.plan(), 0o000);
    let ran = stop_as_someone(&project);
    set_mode(project.plan(), 0o755);
    let warning = format!("plan `{PLAN}` cannot be read: Permission denied (os error 13).");
    expect_warning(&ran, &warning);
}

/// After a write, a user's keys, their exact values, their order and the file's mode are unchanged.
#[test]
fn unknown_keys_survive_a_write() {
    let project = Project::valid();
    let text = "{\"zeta\":{\"b\":[1,2.5,null,\"\\u00fc\"],\"a\":1},\"tdd\":false,\"phase\":\"complete-task\",\"alpha\":true,\"next_phase\":\"code-review\",\"max_reviews\":8,\"review_model\":\"opus\",\"consecutive_clean\":0,\"$schema\":\"x\"}";
    project.write("state.json", text);
    let path = project.plan().join("state.json");
    set_mode(&path, 0o640);
    assert_eq!(project.run(&["run", "pause"]).code, 0);
    let expected = "{\n  \"zeta\": {\"b\":[1,2.5,null,\"\\u00fc\"],\"a\":1},\n  \"tdd\": false,\n  \"phase\": \"complete-task\",\n  \"alpha\": true,\n  \"next_phase\": null,\n  \"max_reviews\": 8,\n  \"review_model\": \"opus\",\n  \"consecutive_clean\": 0,\n  \"$schema\": \"x\",\n  \"paused\": \"code-review\"\n}\n";
    assert_eq!(project.read("state.json"), expected);
    assert_eq!(
        fs::metadata(path).unwrap().permissions().mode() & 0o777,
        0o640
    );
}

#[test]
fn long_numbers_of_the_user_survive_a_write() {
    let project = Project::valid();
    let whole = state(json!({})).to_string();
    project.write(
        "state.json",
        whole.replacen(
            '{',
            "{\"id\": 123456789012345678901234567890, \"pi\": 3.14159265358979323846, ",
            1,
        ),
    );
    assert_eq!(project.run(&["run", "pause"]).code, 0);
    let text = project.read("state.json");
    assert!(
        text.contains("123456789012345678901234567890") && text.contains("3.14159265358979323846"),
        "{text}"
    );
}

// ── tasks.md ────────────────────────────────────────────────────────────────────────────

/// A row whose id cannot be used counts as open, and everything that meets it names it.
#[test]
fn an_id_that_cannot_be_used() {
    let project = Project::valid();
    let table =
        |rows: &str| project.write("tasks.md", format!("| Id | Status |\n|---|---|\n{rows}"));
    let finding = "tasks.md has ids that cannot be used: 2.1 (an id consists of letters, digits, _ and -; a task's file is task-ID.md)";
    project.set_state(
        json!({ "phase": "code-review", "next_phase": "complete-task", "consecutive_clean": 2 }),
    );
    let before = project.read("state.json");
    for status in ["pending", "done"] {
        table(&format!("| 1 | done |\n| 2.1 | {status} |\n"));
        assert_eq!(
            project.stop().json()["reason"],
            format!("Plan 'test-plan': {finding}"),
            "{status}"
        );
        assert!(
            project
                .run(&["validate"])
                .stdout
                .starts_with(&format!("{finding}\n"))
        );
        assert!(project.run(&["next"]).stdout.contains("Next task: 2.1."));
        // The task that is finished is not taken again.
        let ran = project.run(&["enter", "complete-task"]);
        let said = "taskie: --task: `2.1` is not one of 1\n";
        assert!(ran.code == 1 && ran.stderr.contains(said), "{}", ran.stderr);
        let ran = project.run(&["enter", "complete"]);
        let said = "taskie: These tasks are still open: 2.1.\n";
        assert!(ran.code == 1 && ran.stderr.contains(said), "{}", ran.stderr);
        assert_eq!(project.read("state.json"), before);
    }
    table("| 2.1 | pending |\n");
    let ran = project.run(&["enter", "complete"]);
    assert!(
        ran.stderr.contains("These tasks are still open: 2.1."),
        "{}",
        ran.stderr
    );
}

/// (case, tasks.md, next phase after a clean code review of task 1, message about the table)
#[test]
fn tables_as_they_come() {
    let file = ".taskie/plans/test-plan/tasks.md";
    let cases: Vec<(&str, Vec<u8>, &str, Option<String>)> = vec![
        ("windows", b"| Id | Status |\r\n|---|---|\r\n| 1 | done |\r\n| 2 | pending |\r\n".to_vec(), "complete-task", None),
        ("a BOM", "\u{feff}| Id | Status |\n|---|---|\n| 2 | done |\n".as_bytes().to_vec(), "all-code-review", None),
        ("ragged", b"| Id | Status\n|---|\n| 2\n| 3 | done | x | y |\n".to_vec(), "complete-task", None),
        ("escaped pipes", b"| Id | What | Status |\n|---|---|---|\n| 2 | a \\| b \\\\| c | done |\n".to_vec(), "all-code-review", None),
        ("indented", b"   | Id | Status |\n   |---|---|\n   | 2 | pending |\n".to_vec(), "complete-task", None),
        ("dressed up", b"| **Id** | `Status` |\n|:--:|--:|\n| [2](task-2.md) | ~~Done~~ |\n".to_vec(), "all-code-review", None),
        ("columns swapped", b"| STATUS | ID |\n|---|---|\n| completed | 2 |\n".to_vec(), "all-code-review", None),
        ("not UTF-8", b"| Id | Status | What |\n|---|---|---|\n| 2 | pending | \xff\xfe |\n".to_vec(), "complete-task", None),
        ("NUL bytes", b"| Id | Status |\n|---|---|\n| 2 | pend\0ing |\n".to_vec(), "complete-task", None),
        ("an unknown status", b"| Id | Status |\n|---|---|\n| 2 | doing |\n".to_vec(), "complete-task", None),
        ("no status at all", b"| Id |\n|---|\n| 2 |\n".to_vec(), "complete-task", Some(format!("{file}: the table has no column `Status`."))),
        ("an id twice", b"| Id | Status |\n|---|---|\n| 2 | done |\n| 2 | pending |\n".to_vec(), "complete-task", None),
        (
            "ids that are none",
            b"| Id | Status |\n|---|---|\n| ../../x | pending |\n| a b | pending |\n| $(x) | pending |\n| 2 | pending |\n".to_vec(),
            "complete-task",
            Some(format!(
                "{file}: line 3: `../../x` is not an id (letters, digits, _ and -); the row counts as open.\n{file}: line 4: `a b` is not an id (letters, digits, _ and -); the row counts as open.\n{file}: line 5: `$(x)` is not an id (letters, digits, _ and -); the row counts as open."
            )),
        ),
        ("a line of a megabyte", [b"| Id | Status |\n|---|---|\n| 2 | ".to_vec(), vec![b'x'; 1 << 20], b" |\n".to_vec()].concat(), "complete-task", None),
    ];
    for (what, text, next, said) in cases {
        let project = Project::valid();
        project.write("tasks.md", text);
        project.set_state(json!({ "consecutive_clean": 1 }));
        project.reviewer(&Reviewer::pass());
        let ran = project.stop();
        let passed = format!(
            "Code review passed. Run /taskie:continue-plan to proceed. (Next: {next}. Reviews in this cycle: 1.)"
        );
        let message = said
            .as_ref()
            .map_or_else(|| passed.clone(), |said| format!("{said}\n{passed}"));
        assert_eq!((ran.code, ran.json()), (0, allowed(&message)), "{what}");
        let stderr: String = said
            .iter()
            .flat_map(|said| said.lines())
            .map(|line| format!("taskie: {line}\n"))
            .collect();
        assert_eq!(ran.stderr, stderr, "{what}");
        assert_eq!(project.state()["next_phase"], next, "{what}");
    }
}

#[test]
fn a_table_of_a_hundred_thousand_rows() {
    let project = Project::valid();
    let rows: String = (1..=100_000)
        .map(|id| {
            format!(
                "| {id} | {} |\n",
                if id < 99_999 { "done" } else { "pending" }
            )
        })
        .collect();
    project.write("tasks.md", format!("| Id | Status |\n|---|---|\n{rows}"));
    project.set_state(json!({ "consecutive_clean": 1 }));
    project.reviewer(&Reviewer::pass());
    assert_eq!(project.stop().code, 0);
    assert_eq!(project.state()["next_phase"], "complete-task");
    assert_eq!(project.run(&["enter", "complete-task"]).code, 0);
    assert_eq!(project.state()["current_task"], "99999");
}

#[test]
fn a_task_that_is_in_no_table() {
    let project = Project::valid();
    let rows: String = (1..=30).map(|id| format!("| {id} | pending |\n")).collect();
    project.write("tasks.md", format!("| Id | Status |\n|---|---|\n{rows}"));
    project.set_state(json!({}));
    let ran = project.run(&["enter", "complete-task", "--task", "31", "--force"]);
    let twenty: Vec<String> = (1..=20).map(|id| id.to_string()).collect();
    let stderr = format!(
        "taskie: --task: `31` is not one of {}, …; did you mean `3`?\n",
        twenty.join(", ")
    );
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (1, "", stderr));
}

#[test]
fn twenty_thousand_rows_without_a_usable_id() {
    let project = Project::valid();
    let rows: String = (1..=20_000)
        .map(|id| format!("| ../{id} | pending |\n"))
        .collect();
    project.write("tasks.md", format!("| Id | Status |\n|---|---|\n{rows}"));
    project.set_state(json!({ "next_phase": "tasks-review" }));
    let ran = project.stop();
    let file = ".taskie/plans/test-plan/tasks.md";
    let mut lines: Vec<String> =
        (1..=5).map(|id| format!("{file}: line {}: `../{id}` is not an id (letters, digits, _ and -); the row counts as open.", id + 2)).collect();
    lines.push(format!("{file}: and 19995 more rows count as open."));
    let why = "tasks.md lists no tasks: /taskie:create-tasks";
    let message = format!(
        "{}\nReview failed: {why}. The next stop tries again.",
        lines.join("\n")
    );
    let answer = ran.json();
    assert_eq!(answer["systemMessage"], message);
    let reason = answer["reason"].as_str().unwrap();
    assert!(
        reason.len() < 9_000 && reason.contains(": ../1, ../2, "),
        "{reason}"
    );
    let stderr: String = lines
        .iter()
        .map(|line| format!("taskie: {line}\n"))
        .collect();
    assert_eq!(
        ran.stderr,
        format!("{stderr}taskie: the review failed: {why}\n")
    );
}

#[test]
fn a_table_that_is_not_a_file() {
    let project = Project::in_state(json!({ "next_phase": null }));
    let path = project.plan().join("tasks.md");
    let undecided = |why: &str| {
        let start = "taskie could not decide about this Stop and allows it";
        allowed(&format!(
            "{start}: .taskie/plans/{PLAN}/tasks.md cannot be read: {why}"
        ))
    };
    fs::remove_file(&path).unwrap();
    type Make = fn(&Path);
    let cases: [(Make, Option<&str>); 5] = [
        (
            |path| fs::create_dir(path).unwrap(),
            Some("it is not a regular file"),
        ),
        (
            |path| symlink("/dev/zero", path).unwrap(),
            Some("it is a symbolic link out of the project"),
        ),
        (
            |path| symlink("nowhere", path).unwrap(),
            Some("it is a symbolic link to a file that does not exist"),
        ),
        (|path| symlink("tasks.md", path).unwrap(), None),
        (pipe, Some("it is not a regular file")),
    ];
    for (make, why) in cases {
        make(&path);
        let in_a_loop = || fs::metadata(&path).unwrap_err().to_string();
        let why = why.map_or_else(in_a_loop, str::to_owned);
        assert_eq!(project.stop().json(), undecided(&why));
        fs::remove_file(&path)
            .or_else(|_| fs::remove_dir(&path))
            .unwrap();
    }
}

// ── names ───────────────────────────────────────────────────────────────────────────────

#[test]
fn odd_file_names_are_only_reported() {
    let names: &[&[u8]] = &[
        b"a b.md",
        b"a'b.md",
        b"a\"b.md",
        b"a\nb.md",
        b"$(touch x).md",
        b"`id`.md",
        b"a;b.md",
        b"{{ 7 * 7 }}.md",
        b"{% raw %}.md",
        b"\xff\xfe.md",
        b"\xc3\xbc.md",
        b"\x1b[31mred.md",
        b"-rf.md",
        b".md",
        b"..md",
        b"plan.md.md",
        b"Plan.md",
        b"plan-review-0x1.md",
        b"plan-review-01.md",
        b"task-.md",
        b"task-a b.md",
        b"plan-review-99999999999999999999.md",
        b"x-review-1.md",
        b"\\.md",
    ];
    for name in names {
        let project = Project::in_state(json!({ "next_phase": null }));
        fs::write(project.plan().join(OsStr::from_bytes(name)), "x").unwrap();
        let before = project.files();
        let ran = project.stop();
        let text = String::from_utf8_lossy(name);
        let shown = if text.chars().any(char::is_control) {
            text.escape_debug().to_string()
        } else {
            text.into_owned()
        };
        let reason = format!("Plan '{PLAN}': Invalid filename: {shown}");
        assert_eq!((ran.code, ran.json()), (0, blocked(&reason)), "{shown}");
        assert!(
            !ran.stdout.contains('\u{1b}') && ran.stdout.lines().count() == 1,
            "{shown}"
        );
        assert_eq!(
            (ran.stderr.as_str(), project.files()),
            ("", before),
            "{shown}"
        );
    }
}

#[test]
fn ten_thousand_odd_files() {
    let project = Project::in_state(json!({ "next_phase": null }));
    project.write_empty((0..10_000).map(|index| format!("notes-{index:05}.md")));
    for active in [false, true] {
        let ran = project.stop_active(active);
        let json = ran.json();
        let key = if active { "systemMessage" } else { "reason" };
        let text = json[key].as_str().unwrap();
        assert!(text.chars().count() < 10_000, "{}", text.chars().count());
        let findings: Vec<&str> = text
            .strip_prefix("Plan 'test-plan': ")
            .unwrap()
            .split("; ")
            .collect();
        let (more, named) = findings.split_last().unwrap();
        for (index, finding) in named.iter().enumerate() {
            assert_eq!(*finding, format!("Invalid filename: notes-{index:05}.md"));
        }
        assert_eq!(*more, format!("and {} more", 10_000 - named.len()));
        assert!(named.len() > 100, "{}", named.len());
    }
}

#[test]
fn files_with_names_as_long_as_they_get() {
    let project = Project::in_state(json!({ "next_phase": null }));
    project.write_empty((0..100).map(|index| format!("{}{index:02}.md", "ü".repeat(125))));
    let json = project.stop().json();
    let text = json["reason"].as_str().unwrap();
    assert!(
        text.chars().count() < 10_000 && text.ends_with(" more"),
        "{text}"
    );
}

/// Names that a plan cannot have: the plan is skipped with a message, and nothing is done in it.
#[test]
fn odd_plan_names() {
    let rule = "a name has letters, digits, `_`, `-` and single dots only, and does not start with `-` or `.`";
    let cases: &[(&[u8], &str)] = &[
        (b"a b", "a b"),
        (b"it's", "it's"),
        (b"say \"x\"", "say \"x\""),
        (b"two\nlines", "two\\nlines"),
        (b"$(touch x)", "$(touch x)"),
        (b"`id`", "`id`"),
        (b"{{ 7 * 7 }}", "{{ 7 * 7 }}"),
        (b"-rf", "-rf"),
        (b"a..b", "a..b"),
        (b"\xff", "\u{fffd}"),
        (b"\xc3\xbc", "ü"),
        (b"\x1b[31m", "\\u{1b}[31m"),
    ];
    for (name, shown) in cases {
        let project = Project::empty();
        let plan = project
            .root
            .join(".taskie/plans")
            .join(OsStr::from_bytes(name));
        fs::create_dir_all(&plan).unwrap();
        fs::write(plan.join("state.json"), state(json!({})).to_string()).unwrap();
        fs::write(plan.join("notes.md"), "").unwrap();
        project.reviewer(&Reviewer::fail());
        let before = project.files();
        let warning = format!("plan `{shown}` is skipped: {rule}. Rename the directory.");
        let ran = project.stop();
        expect_warning(&ran, &warning);
        let ran = project.run(&["run", "skip"]);
        assert_eq!(ran.out(), (1, ""), "{shown}");
        let mut command = project.command(["run", "skip", "--plan"]);
        let ran = Ran::of(command.arg(OsStr::from_bytes(name)).output().unwrap());
        assert_ne!(ran.code, 0, "{shown}");
        assert_eq!(
            (project.files(), project.calls().len()),
            (before, 0),
            "{shown}"
        );
    }
}

#[test]
fn plans_named_on_the_command_line_stay_below_the_home() {
    let project = Project::in_state(json!({}));
    let before = project.files();
    for name in [
        "../../x",
        "/tmp/x",
        "..",
        ".",
        "",
        "a/b",
        "test-plan/",
        "./test-plan",
        "test-plan/../test-plan",
        "a\nb",
    ] {
        for command in [
            &["enter", "new-plan"][..],
            &["enter", "complete", "--force"],
            &["run", "skip"],
        ] {
            let ran = project.run(&[command, &["--plan", name]].concat());
            assert_eq!(ran.out(), (1, ""), "{name:?} {command:?}");
            let rule = "a name has letters, digits, `_`, `-` and single dots only, and does not start with `-` or `.`";
            assert_eq!(
                ran.stderr,
                format!(
                    "taskie: `{}` cannot be the name of a plan: {rule}\n",
                    name.escape_debug()
                ),
                "{name:?}"
            );
            assert_eq!(project.files(), before, "{name:?}");
        }
    }
    assert!(!project.root.parent().unwrap().join("x").exists());
}

// ── links that lead outside ─────────────────────────────────────────────────────────────

#[test]
fn a_plan_that_is_a_link_to_outside_is_not_followed() {
    let project = Project::in_state(json!({ "next_phase": null }));
    let outside = project.bin.join("plan");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("state.json"), state(json!({})).to_string()).unwrap();
    fs::write(outside.join("plan.md"), "# Plan").unwrap();
    symlink(&outside, project.root.join(".taskie/plans/zz")).unwrap();
    project.reviewer(&Reviewer::fail());
    let before = fs::read_to_string(outside.join("state.json")).unwrap();
    let warning = "plan `zz` is a symbolic link out of the project, which is not followed.";
    let ran = project.stop();
    assert_eq!(ran.json(), allowed(&format!("{warning}\n{VALIDATED}")));
    assert_eq!(ran.stderr, format!("taskie: {warning}\n"));
    let ran = project.run(&["enter", "complete", "--plan", "zz", "--force"]);
    assert_eq!(
        ran.err(),
        (
            1,
            "taskie: plan `zz` leads out of the project through a symbolic link\n"
        )
    );
    assert_eq!(
        fs::read_to_string(outside.join("state.json")).unwrap(),
        before
    );
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 2);
    assert!(project.calls().is_empty());
}

#[test]
fn a_plan_that_is_a_link_within_the_project_is_one() {
    let project = Project::in_state(json!({}));
    fs::create_dir(project.root.join("docs")).unwrap();
    fs::rename(project.plan(), project.root.join("docs/plan")).unwrap();
    symlink("../../docs/plan", project.plan()).unwrap();
    project.reviewer(&Reviewer::fail());
    assert_eq!(project.stop().json()["decision"], "block");
    assert_eq!(project.state()["next_phase"], "post-code-review");
}

#[test]
fn many_links_that_lead_outside() {
    let project = Project::in_state(json!({ "next_phase": null }));
    for index in 0..1_000 {
        symlink(
            &project.bin,
            project.root.join(format!(".taskie/plans/link-{index}")),
        )
        .unwrap();
    }
    let ran = project.stop();
    let message = ran.message();
    let lines: Vec<&str> = message.lines().collect();
    let [named @ .., more, last] = lines.as_slice() else {
        panic!("{message}")
    };
    assert_eq!(named.len(), 5, "{message}");
    for line in named {
        let rest = "` is a symbolic link out of the project, which is not followed.";
        assert!(
            line.starts_with("plan `link-") && line.ends_with(rest),
            "{message}"
        );
    }
    assert_eq!(
        (*more, *last),
        (
            "And 995 more symbolic links out of the project are not followed.",
            VALIDATED
        )
    );
    assert_eq!(ran.stderr.lines().count(), 6);
}

#[test]
fn plans_in_a_folder_that_is_a_link_to_outside_are_not_followed() {
    for folder in [".taskie", ".taskie/plans"] {
        let project = Project::in_state(json!({}));
        let outside = project.bin.join("elsewhere");
        fs::rename(project.root.join(folder), &outside).unwrap();
        symlink(&outside, project.root.join(folder)).unwrap();
        project.reviewer(&Reviewer::fail());
        assert_ne!(project.stop().json()["decision"], "block", "{folder}");
        assert!(project.calls().is_empty(), "{folder}");
    }
}

/// A project may come from anyone: no link in it makes one of our locks empty a file elsewhere.
#[test]
fn locks_are_not_written_through_links() {
    let folder_error = "its folder is a symbolic link";
    let file_error = "it is a symbolic link";
    for (link, why) in [
        (".taskie/.locks", folder_error),
        (".taskie/.locks/test-plan.state", file_error),
    ] {
        let project = Project::in_state(json!({ "next_phase": null }));
        let link = project.root.join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        let target = project.bin.join("target");
        if link.ends_with(".locks") {
            fs::create_dir(&target).unwrap();
        } else {
            fs::write(&target, "precious\n").unwrap();
        }
        symlink(&target, &link).unwrap();
        let before = project.read("state.json");
        let ran = project.run(&["run", "limit", "3"]);
        let lock = project.lock_file("state");
        assert_eq!(ran.out(), (1, ""));
        assert_eq!(
            ran.stderr,
            format!(
                "taskie: the state cannot be locked: {}: {why}\n",
                lock.display()
            )
        );
        assert_eq!(project.read("state.json"), before);
        if target.is_dir() {
            assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
        } else {
            assert_eq!(fs::read_to_string(&target).unwrap(), "precious\n");
        }
    }
}

#[test]
fn locks_that_cannot_be_taken() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    fs::write(project.root.join(".taskie/.locks"), "a file").unwrap();
    let before = project.files();
    let lock = project.lock_file("state");
    let why = format!(
        "taskie could not decide about this Stop and allows it: the state cannot be locked: {}: its folder is not a directory; remove what is there",
        lock.display()
    );
    let ran = project.stop();
    expect_warning(&ran, &why);
    assert_eq!((project.files(), project.calls().len()), (before, 0));
}

// ── the home ────────────────────────────────────────────────────────────────────────────

#[test]
fn a_home_that_is_a_file() {
    let project = Project::empty();
    fs::write(project.root.join(".taskie"), "x").unwrap();
    let ran = project.stop();
    assert_eq!(ran.all(), (0, silent(), ""));
    let ran = project.run(&["enter", "new-plan", "--plan", "p"]);
    let plan = project.root.join(".taskie/plans/p");
    assert_eq!(ran.out(), (1, ""));
    assert_eq!(
        ran.stderr,
        format!(
            "taskie: {} cannot be made: Not a directory (os error 20)\n",
            plan.display()
        )
    );
    assert_eq!(project.files().len(), 1);
}

#[test]
fn homes_without_a_plan() {
    for make in [
        |root: &Path| fs::create_dir_all(root.join(".taskie")),
        |root: &Path| fs::create_dir_all(root.join(".taskie/plans")),
        |root: &Path| fs::create_dir_all(root.join(".taskie/plans/empty")),
        |root: &Path| {
            fs::create_dir_all(root.join(".taskie/plans"))
                .and_then(|()| fs::write(root.join(".taskie/plans/a"), "x"))
        },
        |root: &Path| {
            fs::create_dir_all(root.join(".taskie/plans/.hidden"))
                .and_then(|()| fs::write(root.join(".taskie/plans/.hidden/x.md"), "x"))
        },
    ] {
        let project = Project::empty();
        make(&project.root).unwrap();
        let ran = project.stop();
        assert_eq!(ran.all(), (0, silent(), ""));
        let ran = project.run(&["run", "skip"]);
        let home = project.root.join(".taskie");
        assert_eq!(
            (ran.code, ran.stderr),
            (
                1,
                format!(
                    "taskie: there is no plan in {}\n  help: start one with `taskie enter new-plan --plan NAME`\n",
                    home.display()
                )
            )
        );
    }
}

// ── the event ───────────────────────────────────────────────────────────────────────────

/// Input that is not an event: exit code 2 for a stop, and 1 for every other event.
#[test]
fn stdin_that_is_not_an_event() {
    let cases: &[(&str, &[u8], &str)] = &[
        ("empty", b"", "EOF while parsing a value at line 1 column 0"),
        (
            "prose",
            b"invalid json",
            "expected value at line 1 column 1",
        ),
        (
            "half",
            b"{\"cwd\":",
            "EOF while parsing a value at line 1 column 7",
        ),
        (
            "not UTF-8",
            b"{\"cwd\": \"\xff\"}",
            "invalid unicode code point at line 1 column 10",
        ),
        ("two", b"{} {}", "trailing characters at line 1 column 4"),
        ("a list", b"[]", "a hook event is an object"),
        ("null", b"null", "a hook event is an object"),
        ("a string", b"\"{}\"", "a hook event is an object"),
        ("a number", b"7", "a hook event is an object"),
    ];
    let project = plan_in(&json!({}), &Reviewer::fail());
    let before = project.files();
    for (what, stdin, why) in cases {
        for (event, code) in [
            ("stop", 1),
            ("subagent-stop", 1),
            ("user-prompt-submit", 1),
            ("pre-compact", 1),
            ("session-start", 1),
        ] {
            let ran = project.hook_raw(event, stdin);
            let stderr = format!("taskie: Invalid JSON on stdin: {why}\n");
            assert_eq!(
                (ran.code, ran.stdout.as_str(), ran.stderr),
                (code, "", stderr),
                "{what} for {event}"
            );
        }
    }
    let many = project.hook_raw("stop", "[".repeat(1_000_000));
    let why = "taskie: The event on stdin cannot be used: it contains more than 100000 values\n";
    assert_eq!(many.err(), (1, why));
    let deep = "[".repeat(50_000);
    let ran = project.hook_raw("stop", &deep);
    assert_eq!(
        ran.err(),
        (
            1,
            "taskie: Invalid JSON on stdin: recursion limit exceeded at line 1 column 128\n"
        )
    );
    assert_eq!((project.files(), project.calls().len()), (before, 0));
}

#[test]
fn an_event_of_ten_megabytes() {
    let project = Project::in_state(json!({ "next_phase": null }));
    let event =
        json!({ "cwd": project.root, "last_assistant_message": "x".repeat(10 * 1024 * 1024) });
    assert_eq!(
        project.hook_raw("stop", event.to_string()).json(),
        validated()
    );
}

/// (cwd, why we cannot change to it)
#[test]
fn directories_that_cannot_be_entered() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    let before = project.files();
    let file = project.plan().join("plan.md").display().to_string();
    let cases = [
        (
            "/no/such/directory",
            "No such file or directory (os error 2)",
        ),
        (
            "no-such-directory",
            "No such file or directory (os error 2)",
        ),
        ("", "No such file or directory (os error 2)"),
        (&file, "Not a directory (os error 20)"),
        ("/tmp/\u{0}x", "file name contained an unexpected NUL byte"),
    ];
    for (cwd, why) in cases {
        let stderr = format!("taskie: Cannot change to the session's directory {cwd:?}: {why}\n");
        let ran = project.hook_raw(
            "stop",
            json!({ "cwd": cwd, "stop_hook_active": false }).to_string(),
        );
        assert_eq!(ran.all(), (1, "", stderr.as_str()));
        for event in [
            "user-prompt-submit",
            "pre-compact",
            "session-start",
            "session-end",
            "subagent-stop",
        ] {
            let ran = project.hook_raw(event, json!({ "cwd": cwd }).to_string());
            assert_eq!(ran.all(), (1, "", stderr.as_str()), "{event}");
        }
    }
    assert_eq!((project.files(), project.calls().len()), (before, 0));
}

#[test]
fn a_relative_directory_counts_from_where_the_hook_runs() {
    let project = Project::in_state(json!({ "next_phase": null }));
    assert_eq!(
        project.hook_raw("stop", r#"{"cwd": ".taskie/.."}"#).json(),
        validated()
    );
    assert_eq!(
        project
            .hook_raw("stop", r#"{"cwd": "./.taskie/../."}"#)
            .json(),
        validated()
    );
}

/// Fields of wrong types are treated as missing.
#[test]
fn event_fields_of_wrong_types() {
    let fields = [
        "cwd",
        "stop_hook_active",
        "session_id",
        "hook_event_name",
        "background_tasks",
        "last_assistant_message",
        "prompt",
        "source",
    ];
    for field in fields {
        for value in [
            json!(null),
            json!(7),
            json!([]),
            json!({}),
            json!([{ "x": null }]),
        ] {
            if field == "session_id" && !value.is_null() {
                // Whose stop it is must be known, or known to be nobody's.
                continue;
            }
            let project = Project::in_state(json!({ "next_phase": null }));
            let mut event: Value = serde_json::from_str(&project.stop_event(false)).unwrap();
            event[field] = value.clone();
            let ran = project.hook_raw("stop", event.to_string());
            assert_eq!(
                (ran.code, ran.json(), ran.stderr.as_str()),
                (0, validated(), ""),
                "{field} {value}"
            );
        }
    }
    for value in [json!("true"), json!(1), json!(null), json!("")] {
        let project = Project::valid();
        project.write("notes.md", "");
        let ran = project.hook_raw("stop", json!({ "stop_hook_active": value }).to_string());
        assert_eq!(ran.json()["decision"], "block", "{value}");
    }
}

/// An empty session id is treated as a missing one.
#[test]
fn empty_session_ids() {
    for session in [json!(null), json!("")] {
        let project = Project::in_state(json!({ "next_phase": null }));
        let event = json!({ "cwd": project.root, "session_id": session });
        assert_eq!(
            project.hook_raw("stop", event.to_string()).json(),
            validated(),
            "{session}"
        );
    }
}

// ── the environment ─────────────────────────────────────────────────────────────────────

#[test]
fn broken_environments() {
    let project = Project::in_state(json!({ "next_phase": null }));
    let stop = |change: &dyn Fn(&mut Command)| {
        let mut command = project.command(["hook", "stop"]);
        change(&mut command);
        feed(command, project.stop_event(false))
    };
    type Change<'a> = &'a dyn Fn(&mut Command);
    let changes: &[(&str, Change<'_>)] = &[
        ("no HOME", &|command| _ = command.env_remove("HOME")),
        ("an empty HOME", &|command| _ = command.env("HOME", "")),
        ("a HOME that is not UTF-8", &|command| {
            _ = command.env("HOME", OsStr::from_bytes(b"/\xff"))
        }),
        ("a HOME that is a relative path", &|command| {
            _ = command.env("HOME", ".")
        }),
        ("no environment at all", &|command| _ = command.env_clear()),
        ("no such TMPDIR", &|command| {
            _ = command.env("TMPDIR", "/no/such/folder")
        }),
        ("a project directory that is none", &|command| {
            _ = command.env("CLAUDE_PROJECT_DIR", "/no/such/folder")
        }),
        ("variables that are not UTF-8", &|command| {
            _ = command.env("CLAUDE_CODE_SESSION_ID", OsStr::from_bytes(b"\xff"))
        }),
        ("colours wanted", &|command| {
            _ = command.env("CLICOLOR_FORCE", "1").env("FORCE_COLOR", "1")
        }),
    ];
    for (what, change) in changes {
        let ran = stop(change);
        assert_eq!(
            (ran.code, ran.json(), ran.stderr.as_str()),
            (0, validated(), ""),
            "{what}"
        );
    }
}

#[test]
fn a_review_without_a_folder_for_temporary_files() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    let before = project.files();
    let mut command = project.command(["hook", "stop"]);
    command.env("TMPDIR", "/no/such/folder");
    let ran = feed(command, project.stop_event(false));
    let message = ran.message();
    assert!(
        message.starts_with("Review failed: no temporary file can be created in /no/such/folder: "),
        "{message}"
    );
    assert_eq!((ran.code, project.files()), (0, before));
}

#[test]
fn a_hook_whose_directory_was_removed() {
    let project = Project::empty();
    let script = format!(
        "mkdir gone && cd gone && rmdir ../gone && exec {} hook stop",
        env!("CARGO_BIN_EXE_taskie")
    );
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", &script])
        .current_dir(&project.root)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let ran = feed(command, "{}");
    assert_eq!(ran.all(), (0, silent(), ""));
}

#[test]
fn a_reader_that_has_gone_away() {
    let project = Project::in_state(json!({ "next_phase": null }));
    let taskie = env!("CARGO_BIN_EXE_taskie");
    for args in ["hook stop", "schema state", "--help"] {
        let script = format!("{{ echo '{{}}' | {taskie} {args}; echo $? >&2; }} | true");
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", &script])
            .current_dir(&project.root)
            .env("HOME", &project.bin);
        command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let ran = feed(command, "");
        assert!(!ran.stderr.contains("panicked"), "{args}: {}", ran.stderr);
    }
}

// ── the command line ────────────────────────────────────────────────────────────────────

/// Exit code 2 blocks on the host: a hook that is called incorrectly must not return it.
#[test]
fn a_hook_that_is_called_incorrectly_does_not_block() {
    let cases: &[&[&str]] = &[
        &["hook"],
        &["hook", "stop", "--no-such-option"],
        &["hook", "stop", "now"],
        &["hook", "Stop"],
        &["hook", "--", "Stop"],
        &["hook", "-x", "stop"],
        &["--no-such-option", "hook", "stop"],
        &["hook", "stop", "--chart"],
        &["--chart", "taskie", "hook"],
        &["hook", "stop", "stop"],
    ];
    let project = Project::in_state(json!({}));
    for args in cases {
        let ran = feed(project.command(*args), project.stop_event(false));
        assert_eq!(ran.out(), (1, ""), "{args:?}: {}", ran.stderr);
        assert_ne!(ran.stderr, "", "{args:?}");
    }
    let mut command = project.command(["hook", "stop"]);
    command.arg(OsStr::from_bytes(b"\xff"));
    assert_eq!(feed(command, project.stop_event(false)).code, 1);
}

#[test]
fn charts_that_cannot_be_used() {
    let project = Project::in_state(json!({}));
    let folder = project.bin.join("charts");
    fs::create_dir(&folder).unwrap();
    let whole =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("statechart.toml")).unwrap();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty", Vec::new(), ": the chart has no `id`, and 5 more"),
        ("prose", b"not toml".to_vec(), ":1:"),
        (
            "not-utf8",
            b"id = \"\xff\"".to_vec(),
            ": the chart cannot be read: stream did not contain valid UTF-8",
        ),
        ("nul", vec![0; 64], ":1:"),
        ("json", b"{}".to_vec(), ":1:"),
        (
            "half",
            whole
                .split_inclusive("[phases.create")
                .next()
                .unwrap()
                .into(),
            ", expected `",
        ),
        (
            "deep",
            format!("x = {}", "[".repeat(100_000)).into_bytes(),
            ":1:",
        ),
        (
            "unknown-key",
            format!("surprise = 1\n{whole}").into_bytes(),
            ":1:1: unknown key `surprise`",
        ),
        (
            "no-such-phase",
            whole
                .replacen("\"new-plan\"", "\"newplan\"", 1)
                .into_bytes(),
            ": unknown phase `newplan` (did you mean `new-plan`?)",
        ),
    ];
    for (name, text, said) in cases {
        let path = folder.join(format!("{name}.toml"));
        fs::write(&path, text).unwrap();
        let ran = project.stop_with(&path);
        let message = ran.message();
        let start = format!(
            "taskie could not decide about this Stop and allows it: the chart cannot be used: {}:",
            path.display()
        );
        assert_eq!((ran.code, &ran.json()), (0, &allowed(&message)), "{name}");
        assert!(
            message.starts_with(&start) && message.contains(said),
            "{name}: {message}"
        );
        let ran = project.run(&["--chart", path.to_str().unwrap(), "run", "skip"]);
        assert_eq!(ran.out(), (1, ""), "{name}");
        assert!(!ran.stderr.contains("panicked"), "{name}: {}", ran.stderr);
    }
    for path in ["/no/such/chart.toml", folder.to_str().unwrap(), ""] {
        let ran = project.stop_with(path);
        assert_eq!(ran.code, 0, "{path}");
        assert!(
            ran.message().contains("the chart cannot be read: "),
            "{path}: {}",
            ran.stdout
        );
    }
}

/// Names in a chart that refer to themselves: an error at once, without a stack overflow or a busy hook.
#[test]
fn charts_that_refer_to_themselves() {
    let project = Project::empty();
    fs::create_dir_all(project.root.join(".tiny/jobs/a")).unwrap();
    fs::write(
        project.root.join(".tiny/jobs/a/state.json"),
        r#"{"phase": "open", "due": "look", "n": 0, "most": 2}"#,
    )
    .unwrap();
    let chart = project.bin.join("tiny.toml");
    let chain = |first: u32, last: &str| -> String {
        (first..=60)
            .map(|n| format!("l{n} = \"l{} and true\"\n", n + 1))
            .collect::<String>()
            + last
    };
    let check = "[checks]\nf = [{ guard = \"checks.f\", say = \"x\" }]\n";
    // (guard of the Stop rule, exit, more keys of [cycle], guard of the advance, names, checks, what is said)
    let cases = [
        (
            "cycle.exit",
            "cycle.exit",
            "",
            "true",
            "",
            "",
            "24:8: `cycle.exit` refers to itself: cycle.exit → cycle.exit",
        ),
        (
            "cycle.ready",
            "true",
            "ready = \"cycle.ready\"",
            "true",
            "",
            "",
            "29:9: `cycle.ready` refers to itself: cycle.ready → cycle.ready",
        ),
        (
            "cycle.next == 'open'",
            "true",
            "",
            "cycle.next == 'open'",
            "",
            "",
            "21:2: `cycle.next` refers to itself: cycle.next → cycle.next",
        ),
        (
            "cycle.text.a == ''",
            "true",
            "text = { a = \"{{ cycle.text.a }}\" }",
            "true",
            "",
            "",
            "29:1: `cycle.text` refers to itself: cycle.text → cycle.text",
        ),
        (
            "cycle.subject",
            "true",
            "subject = [\"{{ cycle.subject }}\"]",
            "true",
            "",
            "",
            "29:1: `cycle.subject` refers to itself: cycle.subject → cycle.subject",
        ),
        (
            "me",
            "true",
            "",
            "true",
            "me = \"me\"\n",
            "",
            "17:6: `me` refers to itself: me → me",
        ),
        (
            "ping",
            "true",
            "",
            "true",
            "ping = \"pong\"\npong = \"ping\"\n",
            "",
            "17:8: `ping` refers to itself: ping → pong → ping",
        ),
        (
            "checks.f",
            "true",
            "",
            "true",
            "",
            check,
            "34:1: `checks.f` refers to itself: checks.f → checks.f",
        ),
        (
            "l1",
            "true",
            "",
            "true",
            &chain(1, "l61 = \"true\"\n"),
            "",
            "17:6: `l1` refers to other names more than 32 levels deep",
        ),
        (
            "l40",
            "true",
            "",
            "true",
            &chain(40, "l61 = \"nope\"\n"),
            "",
            "38:8: unknown name `nope`",
        ),
    ];
    for (guard, exit, more, open, names, checks, said) in cases {
        let text = format!(
            r#"
id = "tiny"
initial = "open"
state = "phase"
next = "due"
[scope]
home = ".tiny"
noun = "job"
newest = "jobs/*"
touch = ["*.json"]
[context]
phase = {{ type = "phase" }}
due = {{ type = "phase or null" }}
n = {{ type = "integer", default = 0 }}
most = {{ type = "integer", default = 2 }}
[let]
{names}[phases]
open = {{}}
"{{cycle}}" = {{}}
"post-{{cycle}}" = {{}}
[cycle]
count = "n"
limit = "most"
exit = "{exit}"
entry = {{ n = 0 }}
post = "post-{{cycle}}"
review = "r-{{n}}.md"
answer = "a-{{n}}.md"
{more}
advance = [{{ target = "open", guard = "{open}" }}]
[cycles.look]
base = "x"
{checks}[[on.Stop]]
guard = "{guard}"
block = "never"
"#
        );
        fs::write(&chart, text).unwrap();
        let mut ran = project.stop_with(&chart);
        // The list of names is not the point here.
        for text in [&mut ran.stdout, &mut ran.stderr] {
            if let Some((start, rest)) = text.split_once(" (the known names are ") {
                let (_, end) = rest.split_once(')').unwrap();
                *text = format!("{start}{end}");
            }
        }
        let why = format!(
            "taskie could not decide about this Stop and allows it: the chart cannot be used: {}:{said}",
            chart.display()
        );
        expect_warning(&ran, &why);
    }
}
