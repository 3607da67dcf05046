//! `taskie render`: a text is, byte for byte, what the agent, the reviewer or the user is then told; nothing is
//! written, locked or run for it; and what cannot be rendered is shown at its token.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Project, Ran, Reviewer, feed, state};

/// The argument that each call of the scripted reviewer ended with, as it came.
fn prompts(project: &Project) -> Vec<String> {
    let calls = fs::read_to_string(project.bin.join("calls")).unwrap_or_default();
    let last = |call: &str| call.split_terminator('\0').next_back().unwrap().to_owned();
    calls.split_terminator('\u{1e}').map(last).collect()
}

/// Renders, and sees to it that nothing else happens.
fn render(project: &Project, args: &[&str]) -> Ran {
    let (files, calls) = (project.files(), project.calls());
    let had_locks = project.root.join(".taskie/.locks").exists();
    let ran = project.run(&[&["render"], args].concat());
    assert_eq!(project.files(), files, "{args:?} wrote");
    assert_eq!(project.calls(), calls, "{args:?} ran the reviewer");
    assert_eq!(
        project.root.join(".taskie/.locks").exists(),
        had_locks,
        "{args:?} locked"
    );
    ran
}

/// A text that was rendered without a word on stderr.
fn text(project: &Project, args: &[&str]) -> String {
    let ran = render(project, args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    ran.stdout
}

fn fails(project: &Project, args: &[&str], stderr: &str) {
    let ran = render(project, args);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (1, "", stderr),
        "{args:?}"
    );
}

fn with_state(changes: Value) -> Project {
    let project = Project::valid();
    project.set_state(changes);
    project
}

/// A state in which a review of each cycle is due.
fn due() -> [(&'static str, Value); 4] {
    [
        (
            "plan-review",
            json!({ "phase": "new-plan", "next_phase": "plan-review", "current_task": null }),
        ),
        (
            "tasks-review",
            json!({ "phase": "create-tasks", "next_phase": "tasks-review", "current_task": null }),
        ),
        (
            "code-review",
            json!({ "phase_iteration": 2, "review_model": "sonnet", "current_task": "2" }),
        ),
        (
            "all-code-review",
            json!({ "phase": "code-review", "next_phase": "all-code-review" }),
        ),
    ]
}

#[test]
fn next_is_what_the_reviewer_is_given_and_then_what_the_agent_is_told() {
    for (cycle, state) in due() {
        let project = with_state(state);
        project.reviewer(&Reviewer::fail());
        let prompt = render(&project, &["--next"]);
        assert_eq!(prompt.code, 0, "{cycle}");
        let reason = render(&project, &["--next", "--set", "review.verdict=FAIL"]);
        let message = ["post-review.md", "--set", "review.verdict=FAIL"];
        let before = text(&project, &message);
        assert_eq!(text(&project, &["review.md"]), prompt.stdout, "{cycle}");

        let stop = project.stop();
        assert_eq!(prompts(&project), [prompt.stdout], "{cycle}");
        let told = stop.json()["reason"].as_str().unwrap().to_owned();
        assert_eq!(reason.stdout, told, "{cycle}");
        assert_eq!(
            reason.stderr,
            "taskie: the next stop is blocked (on.Stop[5]: not clean yet: the agent answers the review); the agent is told:\n"
        );
        // Once the review has run, it is that review, and not the next one, which the message speaks of.
        assert_eq!(
            (before, text(&project, &message)),
            (told.clone(), told),
            "{cycle}"
        );
    }
}

#[test]
fn next_says_what_would_be_run() {
    let project = with_state(json!({}));
    let ran = render(&project, &["--next"]);
    assert_eq!(
        ran.stderr,
        "taskie: code-review 1 is due: the next stop runs this, and it writes .taskie/plans/test-plan/task-1-review-1.md\n  \
         claude --print --model opus --output-format json --json-schema '{\"type\":\"object\",\"properties\":{\"verdict\":\
         {\"type\":\"string\",\"enum\":[\"PASS\",\"FAIL\"]}},\"required\":[\"verdict\"]}' --dangerously-skip-permissions \
         --no-session-persistence --settings '{\"disableAllHooks\":true}' PROMPT\n"
    );
    assert!(
        ran.stdout
            .ends_with("\nWrite your review to .taskie/plans/test-plan/task-1-review-1.md"),
        "{}",
        ran.stdout
    );
}

/// What `render --next` says of a project is what its next stop then is.
fn is_next(project: &Project, args: &[&str], active: bool, stderr: &str) {
    let next = render(project, &[&["--next"], args].concat());
    let answer = project.stop_active(active).json();
    let told = answer
        .get("reason")
        .or(answer.get("systemMessage"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    assert_eq!(
        (next.code, next.stdout.as_str(), next.stderr.as_str()),
        (0, told, stderr)
    );
}

#[test]
fn next_is_the_answer_where_nothing_is_to_be_run() {
    let nothing = json!({ "next_phase": null });
    let in_order = "taskie: the next stop goes through (on.Stop[9]: the plan's files are in order); the user is told:\n";
    is_next(&with_state(nothing.clone()), &[], false, in_order);

    let flawed = with_state(nothing.clone());
    flawed.write("notes.md", "");
    let to_the_agent = "taskie: the next stop is blocked (on.Stop[10]: a flaw in the plan's files: the agent fixes it, once a turn); the agent is told:\n";
    is_next(&flawed, &[], false, to_the_agent);
    let to_the_user = "taskie: the next stop goes through (on.Stop[11]: it is still there: the user decides); the user is told:\n";
    is_next(
        &flawed,
        &["--set", "event.stop_hook_active=true"],
        true,
        to_the_user,
    );

    let silent = "taskie: the next stop goes through (on.Stop[8]: the agent was blocked in this turn already, and the files are in order); nothing is said\n";
    is_next(
        &with_state(nothing),
        &["--set", "event.stop_hook_active=true"],
        true,
        silent,
    );
    let other = with_state(json!({ "owner": "someone-else" }));
    let silent = "taskie: the next stop goes through (on.Stop[0]: another session drives this plan); nothing is said\n";
    is_next(&other, &["--session", "s"], false, silent);

    is_next(
        &with_state(json!({ "phase_iteration": 8 })),
        &[],
        false,
        in_order,
    );
    let off = "taskie: the next stop goes through (on.Stop[1]: no reviews wanted: straight on); the user is told:\n";
    is_next(&with_state(json!({ "max_reviews": 0 })), &[], false, off);
    is_next(
        &with_state(json!({ "current_task": "7" })),
        &[],
        false,
        in_order,
    );
    is_next(
        &with_state(json!({ "current_task": null })),
        &[],
        false,
        in_order,
    );

    let broken = Project::valid();
    broken.write("state.json", "{ \"phase\": 3 }");
    is_next(&broken, &[], false, in_order);
    let bare = Project::valid();
    bare.write("state.json", "{}");
    is_next(&bare, &[], false, in_order);
}

#[test]
fn next_with_an_outcome_is_what_the_stop_says_after_such_a_review() {
    let project = with_state(json!({ "consecutive_clean": 1 }));
    project.reviewer(&Reviewer::pass());
    let passed = "taskie: the next stop goes through (on.Stop[4]: enough clean reviews: move on when the user says so); the user is told:\n";
    is_next(&project, &["--set", "review.verdict=PASS"], false, passed);

    let project = with_state(json!({}));
    project.reviewer(&Reviewer {
        exit: 1,
        ..Reviewer::pass()
    });
    let why = "`claude` exited with code 1: {\"verdict\":\"PASS\"}";
    let failed = "taskie: the next stop goes through (on.Stop[9]: the plan's files are in order); the user is told:\n";
    is_next(
        &project,
        &["--set", &format!("review.error={why}")],
        false,
        failed,
    );
}

#[test]
fn next_is_about_the_review_that_is_due() {
    let project = with_state(json!({}));
    fails(
        &project,
        &["--next", "--set", "review.n=3"],
        "taskie: review.n cannot be set here: it follows from the state\n",
    );
    let due = "(or tasks-review, code-review, all-code-review)";
    fails(
        &project,
        &[
            "--next",
            "--set",
            "next_phase=null",
            "--set",
            "review.verdict=PASS",
        ],
        &format!(
            "taskie: no review is due that could have ended so\n  help: suppose that one is: --set next_phase=plan-review {due}\n"
        ),
    );
    let empty = Project::empty();
    let none = format!(
        "taskie: there is no .taskie in {} or above\n  help: `taskie enter new-plan --plan NAME` starts one\n",
        empty.root.display()
    );
    fails(&empty, &["--next"], &none);
}

const NO_REVIEW: &str = "  × no review has run, so there is no `review.n`
   ╭─[post-review.md:1:37]
 1 │ …me }} (iteration {{ review.n }}) has been written to {{ review.f…
   ·                      ────────
   ╰────
  help: suppose that one has: --set review.verdict=PASS (or FAIL), or that it
        failed: --set review.error=WHY

";

#[test]
fn a_text_of_a_review_needs_one() {
    let project = with_state(json!({}));
    fails(&project, &["post-review.md"], NO_REVIEW);
    fails(&project, &["on.Stop[5].block"], NO_REVIEW);
    // That there is none may be just what is meant.
    assert_eq!(
        text(&project, &["on.Stop[6]", "--set", "review.ok=false"]),
        "Review failed: None. It is tried again at the next stop."
    );
    assert_eq!(
        text(
            &project,
            &["on.Stop[6].message", "--set", "review.error=It has gone"]
        ),
        "Review failed: It has gone. It is tried again at the next stop."
    );
    assert_eq!(
        text(&project, &["passed.md", "--set", "review.n=4"]),
        "Code review passed. Run /taskie:continue-plan to proceed. (Next: complete-task. Reviews in this cycle: 4.)"
    );
}

#[test]
fn a_text_of_a_cycle_needs_one() {
    let project = with_state(json!({ "next_phase": null }));
    fails(
        &project,
        &["review.md"],
        "  × no cycle is running, so there is no `cycle.subject`
   ╭─[review.md:6:7]
 5 │ 
 6 │ {% if cycle.subject | join(\"\\n- \") | length > 60000 -%}
   ·       ─────────────
 7 │ - {{ cycle.subject | reject(\"startingwith\", scope.path ~ \"/task-\") | join(\"\\n- \") }}
   ╰────
  help: suppose that one is: --set next_phase=plan-review (or tasks-review,
        code-review, all-code-review)

",
    );
    let help = "suppose that one is: --set next_phase=plan-review (or tasks-review, code-review, all-code-review)";
    fails(
        &project,
        &["passed.md", "--set", "review.n=1"],
        &format!("taskie: no cycle is running that a review could belong to\n  help: {help}\n"),
    );
    // What asks whether a cycle is running does not need one.
    assert_eq!(
        text(&project, &["phases.complete.else"]),
        "These tasks are still open: 1, 2."
    );
}

#[test]
fn what_is_supposed_counts() {
    let project = with_state(json!({ "paused": "code-review" }));
    let limit = "reached for plan-review. Edit state.json to adjust max_reviews or set next_phase manually. (`taskie run limit N` \
        allows more, `taskie run skip` goes on to create-tasks without.)";
    for (args, expected) in [
        (
            &["on.Stop[9].message", "--set", "scope.name=other"][..],
            "Plan 'other' structure validated successfully",
        ),
        (
            &[
                "on.Stop[7]",
                "--set",
                "max_reviews=3",
                "--set",
                "next_phase=plan-review",
            ],
            &format!("Max review limit (3) {limit}"),
        ),
        (
            &[
                "on.SessionStart",
                "--set",
                "next_phase=null",
                "--set",
                "paused=plan-review",
            ],
            "[taskie] Plan 'test-plan' waits: paused before plan-review. /taskie:continue-plan takes it up.",
        ),
        (
            &["phases.post-code-review.else", "--set", "phase=complete"],
            "No code-review waits for an answer: the phase is complete, and code-review comes next.",
        ),
        (&["cycles.code-review.text.about"], "task 1"),
        (&["commands.pause.else"], "Nothing is due."),
        (&["commands.pause"], "Nothing is due."),
        (&["invoke.review.argv[3]"], "opus"),
        (
            &[
                "checks.structure[3].say",
                "--set",
                "it.name=a",
                "--set",
                "it.base=plan",
            ],
            "a requires plan.md",
        ),
    ] {
        assert_eq!(text(&project, args), expected, "{args:?}");
    }
    project.write("b.md", "");
    project.write("a.md", "");
    assert_eq!(
        text(&project, &["checks.structure[1].say"]),
        "Invalid filename: a.md\nInvalid filename: b.md"
    );
}

#[test]
fn the_state_of_another_file() {
    let project = with_state(json!({}));
    let file = project.bin.join("state.json");
    fs::write(
        &file,
        state(json!({ "current_task": "2", "phase_iteration": 4 })).to_string(),
    )
    .unwrap();
    let told = text(
        &project,
        &[
            "post-review.md",
            "--state",
            file.to_str().unwrap(),
            "--set",
            "review.verdict=FAIL",
        ],
    );
    assert!(told.starts_with("A code review (iteration 5) has been written to .taskie/plans/test-plan/task-2-review-5.md by"), "{told}");

    let shown = file.display().to_string();
    fs::write(&file, r#"{ "phase": "complete-tsk" }"#).unwrap();
    let wrong = "`phase` is \"complete-tsk\", and must be a phase of the chart; did you mean \"complete-task\"?";
    fails(
        &project,
        &["review.md", "--state", &shown],
        &format!("taskie: {shown}: {wrong}\n"),
    );
    fs::write(
        &file,
        r#"{ "phase": "complete-task", "next_phase": "code-review", "current_task": "1" }"#,
    )
    .unwrap();
    let ran = render(&project, &["on.enter[1].say", "--state", &shown]);
    assert_eq!(
        ran.stdout,
        "The code-review is due: end your turn, the Stop hook runs it."
    );
    assert_eq!(
        ran.stderr,
        format!(
            "taskie: {shown} lacks `max_reviews`, `review_model`, `consecutive_clean`, `tdd`: the defaults are used.\n"
        )
    );
    fs::remove_file(&file).unwrap();
    fails(
        &project,
        &["review.md", "--state", &shown],
        &format!("taskie: {shown} cannot be read: No such file or directory (os error 2)\n"),
    );

    project.write("state.json", "[]");
    fails(
        &project,
        &["review.md"],
        "taskie: .taskie/plans/test-plan/state.json: it holds a list, not an object\n  help: mend the file, or give another state: --state FILE\n",
    );
}

#[test]
fn without_a_plan_a_name_stands_for_one() {
    let project = Project::empty();
    let ran = render(
        &project,
        &[
            "post-review.md",
            "--set",
            "next_phase=plan-review",
            "--set",
            "review.n=1",
        ],
    );
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            0,
            "taskie: there is no plan here: `PLAN` stands for one that has not begun\n"
        )
    );
    assert!(
        ran.stdout.starts_with(
            "A plan review (iteration 1) has been written to .taskie/plans/PLAN/plan-review-1.md by"
        ),
        "{}",
        ran.stdout
    );
    assert_eq!(project.files().len(), 0);
    let named = render(&with_state(json!({})), &["review.md", "--plan", "tst-plan"]);
    assert_eq!(
        (named.code, named.stderr.as_str()),
        (
            1,
            "taskie: there is no plan `tst-plan`\n  help: did you mean `test-plan`?\n"
        )
    );
    let stderr = "  × `current_task` is null, so there is no file of its name
   ╭─[review.md:6:7]
 5 │ 
 6 │ {% if cycle.subject | join(\"\\n- \") | length > 60000 -%}
   ·       ─────────────
 7 │ - {{ cycle.subject | reject(\"startingwith\", scope.path ~ \"/task-\") | join(\"\\n- \") }}
   ╰────
  help: suppose a value: --set current_task=VALUE

";
    fails(
        &with_state(json!({ "current_task": null })),
        &["review.md"],
        stderr,
    );
}

#[test]
fn what_there_is_not() {
    let project = with_state(json!({}));
    for (wanted, stderr) in [
        (
            "pst-review.md",
            "there is no template and no text `pst-review.md`\n  help: did you mean `post-review.md`?",
        ),
        (
            "on.Stop[5].guard",
            "there is no template and no text `on.Stop[5].guard`\n  help: did you mean `on.Stop[5].block`?",
        ),
        (
            "on.Stpo[5].block",
            "there is no template and no text `on.Stpo[5].block`\n  help: did you mean `on.Stop[5].block`?",
        ),
        (
            "x",
            "there is no template and no text `x`\n  help: `taskie render --list` shows all of them",
        ),
        (
            "../x",
            "there is no template and no text `../x`\n  help: `taskie render --list` shows all of them",
        ),
        (
            "cycles.code-review.text",
            "`cycles.code-review.text` has more than one text\n  help: name one of `cycles.code-review.text.name`, \
             `cycles.code-review.text.title`, `cycles.code-review.text.about`, `cycles.code-review.text.fix`, \
             `cycles.code-review.text.last`",
        ),
        (
            "invoke.review",
            "`invoke.review` has more than one text\n  help: name one of `invoke.review.argv[3]`, `invoke.review.argv[12]`, `invoke.review.by`",
        ),
    ] {
        fails(&project, &[wanted], &format!("taskie: {stderr}\n"));
    }
    for (place, name) in [
        ("checks.structure[1].say", "checks.structure[1].say"),
        ("checks.structure[4]", "checks.structure[4].say"),
    ] {
        fails(
            &project,
            &[place],
            &format!(
                "taskie: nothing that `{name}` speaks of is found in this plan\n  help: suppose something: --set it.NAME=VALUE\n"
            ),
        );
    }
}

#[test]
fn what_cannot_be_supposed() {
    let project = with_state(json!({}));
    let follows = "it follows from the number of the review and the running cycle\n  help: set review.n and next_phase";
    for (set, stderr) in [
        (
            "curent_task=1",
            "`curent_task` cannot be set: there is no such name\n  help: did you mean `current_task`?",
        ),
        (
            "event.stop_hook=true",
            "`event.stop_hook` cannot be set: there is no such name\n  help: did you mean `event.stop_hook_active`?",
        ),
        (
            "review.verdct=PASS",
            "`review.verdct` cannot be set: there is no such name\n  help: did you mean `review.verdict`?",
        ),
        (
            "x.y=1",
            "`x.y` cannot be set: there is no such name\n  help: `taskie render --help` names all that can",
        ),
        (
            "cycle.n=2",
            "`cycle` cannot be set: it follows from the state\n  help: set what is due: --set next_phase=plan-review (or tasks-review, code-review, all-code-review)",
        ),
        (
            "files.md=x",
            "`files` cannot be set: it is read from the plan's files",
        ),
        (
            "checks.structure=x",
            "`checks` cannot be set: it is what the chart finds in the plan's files",
        ),
        (
            "free=true",
            "`free` cannot be set: it stands for an expression\n  help: set what that looks at: cycle.id is none",
        ),
        (
            "review=PASS",
            "`review` cannot be set as a whole\n  help: set review.NAME",
        ),
        (
            "it.name=x",
            "`it.name` cannot be set: there is no `it` where this text stands",
        ),
        (
            "review.file=x",
            &format!("`review.file` cannot be set: {follows}"),
        ),
        (
            "review.verdict=pass",
            "`review.verdict` cannot be set to `pass`: it is one of FAIL, PASS, or none\n  help: it is one of FAIL, PASS",
        ),
        (
            "review.n=0",
            "review.n cannot be set to less than 1: the first review has the number 1",
        ),
        (
            "review.n=two",
            "`review.n` cannot be set to `two`: it is an integer",
        ),
        (
            "max_reviews=-1",
            "`max_reviews` cannot be set to `-1`: it is an integer of at least 0",
        ),
        (
            "max_reviews=many",
            "`max_reviews` cannot be set to `many`: it is an integer of at least 0",
        ),
        (
            "current_task=a/b",
            "`current_task` cannot be set to `a/b`: it is a string that fits [A-Za-z0-9_-]+, or null",
        ),
        (
            "phase=code-reviw",
            "`phase` cannot be set to `code-reviw`: it is a phase of the chart\n  help: did you mean `code-review`?",
        ),
        ("tdd=1", "`tdd` cannot be set to `1`: it is a boolean"),
        (
            "event.stop_hook_active=1",
            "`event.stop_hook_active` cannot be set to `1`: it is a boolean",
        ),
    ] {
        fails(
            &project,
            &["review.md", "--set", set],
            &format!("taskie: {stderr}\n"),
        );
    }
    for (sets, stderr) in [
        (
            ["review.error=x", "review.verdict=PASS"],
            "a review that failed has no verdict: set review.error or review.verdict",
        ),
        (
            ["review.error=x", "review.ok=true"],
            "review.error cannot be set together with review.ok=true",
        ),
        (
            ["review.ok=false", "review.verdict=PASS"],
            "review.verdict cannot be set together with review.ok=false",
        ),
    ] {
        fails(
            &project,
            &["review.md", "--set", sets[0], "--set", sets[1]],
            &format!("taskie: {stderr}\n"),
        );
    }
}

#[test]
fn one_thing_is_asked_for() {
    let project = with_state(json!({}));
    for args in [
        &[][..],
        &["review.md", "--next"],
        &["--list", "--next"],
        &["--list", "--set", "a=b"],
        &["review.md", "--set", "a"],
    ] {
        let ran = render(&project, args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
    }
    let none = render(&project, &[]);
    assert_eq!(
        none.stderr,
        "error: the following required arguments were not provided:\n  <TEMPLATE|--next|--list>\n\nUsage: taskie render \
         <TEMPLATE|--next|--list>\n\nFor more information, try '--help'.\n"
    );
}

/// A chart that has nothing in common with the default one. Its second rule counts and goes on.
const CHART: &str = r#"
id = "tea"
initial = "cold"
state = "is"
next = "due"
templates = ["texts"]

[scope]
home = ".tea"
noun = "pot"
newest = "pots/*"
touch = ["*.md"]

[context]
is   = { type = "phase" }
due  = { type = "phase", nullable = true, optional = true }
cups = { type = "integer", minimum = 0, default = 0 }
most = { type = "integer", minimum = 0, default = 3 }

[args]
kind = { type = "string" }

[files]
md = ["{stem}.md"]

[let]
first = "files.md[0].stem"

[phases]
cold         = {}
"{cycle}"    = {}
"after-{cycle}" = { else = "{{ it.id }} comes after {{ it.cycle }}, not after {{ is }}." }
empty        = { type = "final" }

[cycle]
count  = "cups"
limit  = "most"
exit   = "review.verdict == 'GOOD'"
entry  = { cups = 0 }
base   = "cup"
review = "{base}-{n}.md"
answer = "{base}-{n}-more.md"
post   = "after-{cycle}"

[cycles.tasting]
advance = [{ target = "empty" }]

[invoke.taster]
argv     = ["taster", "{% include 'ask.md' %}"]
verdicts = ["GOOD", "BAD"]
verdict  = ["/verdict"]
timeout  = 10
log      = ".taster-{n}.log"

[[on.Stop]]
guard = "files.md | length > 9"
allow = true

[[on.Stop]]
assign = { cups = "{{ cups + 1 }}" }

[[on.Stop]]
about = "drink"
block = "{% include 'drink.md' %}"

[commands]
brew = { about = "Brew", say = "A pot of {{ args.kind }}." }
look = { about = "Look", say = "{{ first }} is first." }

[checks]
pot = [{ each = "files.md", guard = "it.stem != 'tea'", say = "{{ it.stem }} is no tea" }]
"#;

/// A project with that chart beside it, and its path.
fn tea(texts: &[(&str, &str)]) -> (Project, String) {
    let project = Project::empty();
    let folder = project.bin.join("chart");
    fs::create_dir_all(folder.join("texts")).unwrap();
    fs::create_dir_all(project.root.join(".tea/pots/blue")).unwrap();
    fs::write(project.root.join(".tea/pots/blue/tea.md"), "").unwrap();
    fs::write(folder.join("statechart.toml"), CHART).unwrap();
    let usual = [
        ("ask.md", "Taste it.\n{% include 'foot.md' %}\n"),
        ("foot.md", "Write to {{ cycle.review }}\n"),
        ("drink.md", "Cup {{ cups }} of {{ scope.name }}.\n\n"),
    ];
    for (name, text) in usual.iter().chain(texts) {
        fs::write(folder.join("texts").join(name), text).unwrap();
    }
    let chart = folder.join("statechart.toml").to_str().unwrap().to_owned();
    (project, chart)
}

/// What is printed, with the chart's folder as `CHART`.
fn shown(text: &str, chart: &str) -> String {
    text.replace(
        Path::new(chart).parent().unwrap().to_str().unwrap(),
        "CHART",
    )
}

#[test]
fn any_chart_will_do() {
    let (project, chart) = tea(&[]);
    let text = |args: &[&str]| text(&project, &[&["--chart", &chart], args].concat());
    // What the earlier rules have assigned, as `decide` would have it, and no line end but the text's own.
    assert_eq!(text(&["drink.md"]), "Cup 1 of blue.");
    assert_eq!(
        text(&["on.Stop[2]", "--set", "cups=6", "--set", "scope.name=red"]),
        "Cup 7 of red."
    );
    let event = json!({ "cwd": project.root, "session_id": "s" }).to_string();
    let next = project.run(&["--chart", &chart, "render", "--next"]);
    let stop = feed(project.command(["--chart", &chart, "hook", "stop"]), event);
    assert_eq!(
        (next.stdout.as_str(), &stop.json()["reason"]),
        ("Cup 1 of blue.", &json!("Cup 1 of blue."))
    );
    assert_eq!(
        next.stderr,
        "taskie: the next stop is blocked (on.Stop[2]: drink); the agent is told:\n"
    );

    // The stop has counted a cup.
    assert_eq!(
        text(&["ask.md", "--set", "due=tasting"]),
        "Taste it.\nWrite to .tea/pots/blue/cup-2.md"
    );
    assert_eq!(
        text(&[
            "invoke.taster.argv[1]",
            "--set",
            "due=tasting",
            "--set",
            "cups=4"
        ]),
        "Taste it.\nWrite to .tea/pots/blue/cup-5.md"
    );
    assert_eq!(
        text(&["phases.after-tasting.else"]),
        "after-tasting comes after tasting, not after cold."
    );
    assert_eq!(
        text(&["commands.brew.say", "--set", "args.kind=green tea"]),
        "A pot of green tea."
    );
    assert_eq!(
        text(&["checks.pot[0]", "--set", "it.stem=coffee"]),
        "coffee is no tea"
    );
}

#[test]
fn the_list_of_any_chart() {
    let (project, chart) = tea(&[("unused.md", "{{ cups }}"), ("other.txt", "")]);
    let ran = render(&project, &["--chart", &chart, "--list"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    insta::assert_snapshot!("list", ran.stdout);
}

#[test]
fn what_goes_wrong_is_shown_where_it_is() {
    let (project, chart) = tea(&[]);
    let fails = |args: &[&str], expected: &str| {
        let ran = render(&project, &[&["--chart", &chart], args].concat());
        assert_eq!(
            (
                ran.code,
                ran.stdout.as_str(),
                shown(&ran.stderr, &chart).as_str()
            ),
            (1, "", expected)
        );
    };
    fails(
        &["ask.md"],
        "  × no cycle is running, so there is no `cycle.review`
   ╭─[CHART/texts/foot.md:1:13]
 1 │ Write to {{ cycle.review }}
   ·             ────────────
   ╰────
  help: suppose that one is: --set due=tasting

",
    );
    fails(
        &["commands.brew"],
        "  × --kind: is missing
    ╭─[CHART/statechart.toml:67:45]
 66 │ [commands]
 67 │ brew = { about = \"Brew\", say = \"A pot of {{ args.kind }}.\" }
    ·                                             ─────────
 68 │ look = { about = \"Look\", say = \"{{ first }} is first.\" }
    ╰────
  help: give it: --set args.kind=VALUE

",
    );
    fs::remove_file(project.root.join(".tea/pots/blue/tea.md")).unwrap();
    fails(
        &["commands.look", "--pot", "blue"],
        "  × an undefined name: `files.md[0]` is undefined
    ╭─[CHART/statechart.toml:27:18]
 26 │ [let]
 27 │ first = \"files.md[0].stem\"
    ·                  ────────
    ╰────
  help: `commands.look.say` looks at this

",
    );
}

#[test]
fn a_name_that_is_nowhere() {
    let (project, chart) = tea(&[("drink.md", "Cup\n  {{ cusp }}!\n")]);
    let ran = render(&project, &["--chart", &chart, "drink.md"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert_eq!(
        shown(&ran.stderr, &chart),
        "unknown-name

  × there is no name `cusp` here
   ╭─[CHART/texts/drink.md:2:6]
 1 │ Cup
 2 │   {{ cusp }}!
   ·      ────
   ╰────
  help: did you mean `cups`?

"
    );
}

#[test]
fn a_text_that_is_too_long_for_the_host_is_cut_as_the_hook_cuts_it() {
    let (project, chart) = tea(&[("drink.md", &"tea ".repeat(3000))]);
    let ran = render(&project, &["--chart", &chart, "drink.md"]);
    let stop = feed(
        project.command(["--chart", &chart, "hook", "stop"]),
        json!({ "cwd": project.root }).to_string(),
    );
    assert_eq!(Value::from(ran.stdout.as_str()), stop.json()["reason"]);
    assert_eq!(
        ran.stderr,
        "taskie: this text is too long for the host, which is given so much of it\n"
    );
    assert!(ran.stdout.ends_with("… (cut)"));
    let prompt = tea(&[("foot.md", &"tea ".repeat(3000))]);
    assert_eq!(
        text(
            &prompt.0,
            &["--chart", &prompt.1, "ask.md", "--set", "due=tasting"]
        )
        .len(),
        12_009
    );
}

#[test]
fn all_that_the_list_names_can_be_rendered() {
    let project = with_state(json!({}));
    let list = render(&project, &["--list"]).stdout;
    let names: Vec<&str> = list
        .lines()
        .filter_map(|line| {
            line.strip_prefix("  ")
                .filter(|line| !line.starts_with(' '))
        })
        .map(|line| line.split_whitespace().next().unwrap())
        .filter(|name| *name != "not")
        .collect();
    assert!(
        names.len() > 30 && names.contains(&"review.md") && names.contains(&"on.Stop[5].block"),
        "{names:?}"
    );
    for name in names {
        let it = [
            "--set",
            "it.name=x",
            "--set",
            "it.base=plan",
            "--set",
            "it.n=1",
        ];
        let has_it = name.starts_with("checks.structure[1]")
            || name.starts_with("checks.structure[3]")
            || name.starts_with("checks.structure[4]");
        let sets = match name {
            _ if has_it && name.contains("[4]") => &it[..],
            _ if has_it => &it[..if name.contains("[1]") { 2 } else { 4 }],
            "on.Stop[6].message" => &["--set", "review.error=x"],
            _ => &["--set", "review.verdict=PASS"],
        };
        let ran = render(&project, &[&[name], sets].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{name}");
        assert!(!ran.stdout.is_empty(), "{name}");
    }
}
