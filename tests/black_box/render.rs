//! `taskie render`: a preview is, byte for byte, what the hook then sends. It writes, locks and runs nothing, and an
//! error in a template is shown at its token.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{CYCLES, Project, Ran, Reviewer, cases, state};

/// The last argument of each call of the scripted reviewer, unchanged.
fn prompts(project: &Project) -> Vec<String> {
    let calls = fs::read_to_string(project.bin.join("calls")).unwrap_or_default();
    let last = |call: &str| call.split_terminator('\0').next_back().unwrap().to_owned();
    calls.split('\u{1e}').skip(1).map(last).collect()
}

/// Renders, and checks that nothing else happens.
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

/// A text that was rendered without any output on stderr.
fn text(project: &Project, args: &[&str]) -> String {
    let ran = render(project, args);
    assert_eq!(ran.err(), (0, ""), "{args:?}");
    ran.stdout
}

fn fails(project: &Project, args: &[&str], stderr: &str) {
    let ran = render(project, args);
    assert_eq!(ran.all(), (1, "", stderr), "{args:?}");
}

fn with_state(changes: Value) -> Project {
    Project::in_state(changes)
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
fn next_is_the_prompt_and_with_a_verdict_the_message_to_the_agent() {
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
        let sent = stop.json()["reason"].as_str().unwrap().to_owned();
        assert_eq!(reason.stdout, sent, "{cycle}");
        assert_eq!(
            reason.stderr,
            format!(
                "{NOBODY}taskie: the next stop is blocked (on.Stop[7]: not clean yet: the agent answers the review); message to the agent:\n"
            )
        );
        // The template is about the due review and, after that review has run, still about the same one.
        assert_eq!(
            (before, text(&project, &message)),
            (sent.clone(), sent),
            "{cycle}"
        );
    }
}

#[test]
fn next_shows_the_command_of_the_review() {
    let project = with_state(json!({}));
    let ran = render(&project, &["--next"]);
    assert_eq!(
        ran.stderr,
        format!(
            "{NOBODY}taskie: code-review 1 is due; the next stop runs this, which writes .taskie/plans/test-plan/task-1-review-1.md:\n  \
             claude --print --model opus --output-format json --json-schema '{}' --dangerously-skip-permissions \
             --no-session-persistence --settings '{{\"disableAllHooks\":true}}' PROMPT\n",
            crate::expected::SCHEMA
        )
    );
    assert!(
        ran.stdout
            .ends_with("\nWrite your review to .taskie/plans/test-plan/task-1-review-1.md"),
        "{}",
        ran.stdout
    );
}

/// `render --next` predicts what the next stop then does.
fn is_next(project: &Project, args: &[&str], active: bool, stderr: &str) {
    let next = render(project, &[&["--next"], args].concat());
    let answer = project.stop_active(active).json();
    let sent = answer
        .get("reason")
        .or(answer.get("systemMessage"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    assert_eq!(next.all(), (0, sent, format!("{NOBODY}{stderr}").as_str()));
}

/// The plan of these tests is not driven by any session, and the stops name none.
const NOBODY: &str =
    "taskie: no session drives the plan, so a stop does nothing until one has taken it up\n";

#[test]
fn next_is_the_answer_if_no_review_is_due() {
    let nothing = json!({ "next_phase": null });
    let in_order = "taskie: the next stop is allowed (on.Stop[13]: the plan's files are in order); message to the user:\n";
    is_next(&with_state(nothing.clone()), &[], false, in_order);

    let flawed = with_state(nothing.clone());
    flawed.write("notes.md", "");
    let to_the_agent = "taskie: the next stop is blocked (on.Stop[14]: a flaw in the plan's files: ask the agent to fix it, once per turn); message to the agent:\n";
    is_next(&flawed, &[], false, to_the_agent);
    let to_the_user = "taskie: the next stop is allowed (on.Stop[15]: the flaw is still there: the user decides); message to the user:\n";
    is_next(
        &flawed,
        &["--set", "event.stop_hook_active=true"],
        true,
        to_the_user,
    );

    let silent = "taskie: the next stop is allowed (on.Stop[12]: the agent was blocked in this turn already, and the files are in order), without a message\n";
    is_next(
        &with_state(nothing),
        &["--set", "event.stop_hook_active=true"],
        true,
        silent,
    );

    is_next(
        &with_state(json!({ "phase_iteration": 8 })),
        &[],
        false,
        in_order,
    );
    let off = "taskie: the next stop is allowed (on.Stop[1]: reviews are off: go on to what comes next); message to the user:\n";
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
fn next_with_an_outcome_is_the_answer_after_such_a_review() {
    let project = with_state(json!({ "consecutive_clean": 1 }));
    project.reviewer(&Reviewer::pass());
    let passed = "taskie: the next stop is allowed (on.Stop[6]: enough clean reviews: move on when the user says so); message to the user:\n";
    is_next(&project, &["--set", "review.verdict=PASS"], false, passed);

    let project = with_state(json!({}));
    project.reviewer(&Reviewer::pass().exits(1));
    let why = "`claude` exited with code 1: {\"verdict\":\"PASS\"}";
    let failed = "taskie: the next stop is allowed (on.Stop[13]: the plan's files are in order); message to the user:\n";
    is_next(
        &project,
        &["--set", &format!("review.error={why}")],
        false,
        failed,
    );
}

#[test]
fn next_needs_a_review_that_is_due_and_a_plan() {
    fails(
        &with_state(json!({ "next_phase": null })),
        &["--next", "--set", "review.verdict=PASS"],
        &format!("{NOBODY}taskie: no review is due, so none can end\n  help: {ASSUME_CYCLE}\n"),
    );
    let empty = Project::empty();
    let none = format!(
        "taskie: there is no .taskie in {}\n  help: start one with `taskie enter new-plan --plan NAME`\n",
        empty.root.display()
    );
    fails(&empty, &["--next"], &none);
}

const ASSUME_CYCLE: &str =
    "assume one with --set next_phase=plan-review|tasks-review|code-review|all-code-review";

const NO_REVIEW: &str = "  × no review has run, so there is no `review.n`
   ╭─[passed.md:1:154]
 1 │ …#} (Next: {{ cycle.next }}. Reviews in this cycle: {{ review.n }}.)
   ·                                                        ────────
 2 │ {%- set put_off = cycle.findings | selectattr('state', 'eq', 'defer…
   ╰────
  help: assume one with --set review.verdict=PASS|FAIL or --set
        review.error=REASON

";

#[test]
fn a_template_about_a_review_needs_one() {
    let project = with_state(json!({}));
    fails(&project, &["passed.md"], NO_REVIEW);
    let of_prompt = "taskie: post-review.md: `{{ prompts['post-review'] }}`: prompts.vars.number: `review.n`: no review has run, so there is no `review.n`\n  help: assume one with --set review.verdict=PASS|FAIL or --set review.error=REASON\n";
    fails(&project, &["post-review.md"], of_prompt);
    assert_eq!(
        text(&project, &["passed.md", "--set", "review.verdict=PASS"]),
        "Code review passed. Run /taskie:continue-plan to proceed. (Next: complete-task. Reviews in this cycle: 1.)"
    );
}

#[test]
fn a_template_about_a_cycle_needs_one() {
    let project = with_state(json!({ "next_phase": null }));
    fails(
        &project,
        &["review.md"],
        "  × no cycle is running, so there is no `cycle.subject`
   ╭─[review.md:2:7]
 1 │ {% set subject -%}
 2 │ {% if cycle.subject | join(\"\\n- \") | length > 60000 -%}
   ·       ─────────────
 3 │ - {{ cycle.subject | reject(\"startingwith\", scope.path ~ \"/task-\") | join(\"\\n- \") }}
   ╰────
  help: assume one with --set next_phase=plan-review|tasks-review|code-review|
        all-code-review

",
    );
    fails(
        &project,
        &["passed.md", "--set", "review.verdict=PASS"],
        &format!(
            "taskie: no cycle is running that a review could belong to\n  help: {ASSUME_CYCLE}\n"
        ),
    );
}

#[test]
fn assumed_values_count() {
    let project = with_state(json!({}));
    for (sets, expected) in [
        (
            &[
                "max_reviews=3",
                "phase_iteration=3",
                "next_phase=plan-review",
            ][..],
            "Max review limit (3) reached for plan-review. Edit state.json to adjust max_reviews or set next_phase manually. \
             (`! taskie run limit N` allows more; `! taskie run skip` moves on to create-tasks.)\n\
             Plan 'test-plan' structure validated successfully",
        ),
        (
            &["max_reviews=0"],
            "Reviews are off (max_reviews is 0). Run /taskie:continue-plan to proceed (next: complete-task).",
        ),
    ] {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        let args: Vec<&str> = ["--next"].into_iter().chain(sets).collect();
        let ran = render(&project, &args);
        assert_eq!(ran.out(), (0, expected), "{args:?}");
    }
    let prompt = text(
        &project,
        &[
            "review.md",
            "--set",
            "current_task=2",
            "--set",
            "phase_iteration=4",
        ],
    );
    assert!(
        prompt.ends_with("\nWrite your review to .taskie/plans/test-plan/task-2-review-5.md"),
        "{prompt}"
    );
}

#[test]
fn the_state_in_another_file() {
    let project = with_state(json!({}));
    let file = project.bin.join("state.json");
    fs::write(
        &file,
        state(json!({ "current_task": "2", "phase_iteration": 4 })).to_string(),
    )
    .unwrap();
    let sent = text(
        &project,
        &[
            "post-review.md",
            "--state",
            file.to_str().unwrap(),
            "--set",
            "review.verdict=FAIL",
        ],
    );
    assert!(sent.starts_with("A code review (iteration 5) has been written to .taskie/plans/test-plan/task-2-review-5.md by"), "{sent}");

    let shown = file.display().to_string();
    fs::write(&file, r#"{ "phase": "complete-tsk" }"#).unwrap();
    let wrong = "`phase` is \"complete-tsk\", but must be a phase of the chart; did you mean \"complete-task\"?";
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
    let ran = render(&project, &["review.md", "--state", &shown]);
    assert!(ran.stdout.ends_with("task-1-review-1.md"), "{}", ran.stdout);
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
        "taskie: .taskie/plans/test-plan/state.json: it contains a list, not an object\n  help: fix the file, or use another one with --state FILE\n",
    );
}

#[test]
fn without_a_plan_one_that_has_not_started_is_shown() {
    let project = Project::empty();
    let ran = render(
        &project,
        &[
            "post-review.md",
            "--set",
            "next_phase=plan-review",
            "--set",
            "review.verdict=FAIL",
        ],
    );
    assert_eq!(
        ran.err(),
        (
            0,
            "taskie: no plan found; showing a plan `PLAN` that has not started\n"
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
        named.err(),
        (
            1,
            "taskie: there is no plan `tst-plan`\n  help: did you mean `test-plan`?\n"
        )
    );
    let stderr = "  × `current_task` is null, so there is no file name
   ╭─[review.md:2:7]
 1 │ {% set subject -%}
 2 │ {% if cycle.subject | join(\"\\n- \") | length > 60000 -%}
   ·       ─────────────
 3 │ - {{ cycle.subject | reject(\"startingwith\", scope.path ~ \"/task-\") | join(\"\\n- \") }}
   ╰────

";
    fails(
        &with_state(json!({ "current_task": null })),
        &["review.md"],
        stderr,
    );
}

#[test]
fn an_unknown_template() {
    let project = with_state(json!({}));
    for (wanted, help) in [
        ("pst-review.md", "did you mean `post-review.md`?"),
        ("x", "run `taskie render --list` to see all of them"),
        ("../x", "run `taskie render --list` to see all of them"),
    ] {
        fails(
            &project,
            &[wanted],
            &format!("taskie: unknown template `{wanted}`\n  help: {help}\n"),
        );
    }
}

#[test]
fn values_that_cannot_be_set() {
    let project = with_state(json!({}));
    for (set, stderr) in cases::<(&str, &str)>("render", "values_that_cannot_be_set") {
        fails(
            &project,
            &["review.md", "--set", set],
            &format!("taskie: {stderr}\n"),
        );
    }
}

#[test]
fn exactly_one_preview_at_a_time() {
    let project = with_state(json!({}));
    for args in [
        &[][..],
        &["review.md", "--next"],
        &["--list", "--next"],
        &["--list", "--set", "a=b"],
        &["review.md", "--set", "a"],
    ] {
        let ran = render(&project, args);
        assert_eq!(ran.out(), (2, ""), "{args:?}");
    }
    let none = render(&project, &[]);
    assert_eq!(
        none.stderr,
        "error: the following required arguments were not provided:\n  <TEMPLATE|--next|--list>\n\nUsage: taskie render \
         <TEMPLATE|--next|--list>\n\nFor more information, try '--help'.\n"
    );
}

/// A chart that has nothing in common with the default one. Its second rule counts and continues.
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
brew = { about = "Brew", say = "{% include 'pour.md' %}" }
look = { about = "Look", say = "{{ first }} is first." }

[checks]
pot = [{ each = "files.md", guard = "it.stem != 'tea'", say = "{{ it.stem }} is no tea" }]
"#;

/// A project with that chart next to it, and its path.
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
        ("pour.md", "Pour {{ args.kind }} tea."),
        ("drink.md", "Cup {{ cups }} of {{ scope.name }}.\n\n"),
    ];
    for (name, text) in usual.iter().chain(texts) {
        fs::write(folder.join("texts").join(name), text).unwrap();
    }
    let chart = folder.join("statechart.toml").to_str().unwrap().to_owned();
    (project, chart)
}

/// The output, with `CHART` for the chart's folder.
fn shown(text: &str, chart: &str) -> String {
    text.replace(
        Path::new(chart).parent().unwrap().to_str().unwrap(),
        "CHART",
    )
}

#[test]
fn any_chart_can_be_previewed() {
    let (project, chart) = tea(&[]);
    let text = |args: &[&str]| text(&project, &[&["--chart", &chart], args].concat());
    // The rules before it have counted a cup. The text has only its own line breaks.
    let next = project.run(&["--chart", &chart, "render", "--next"]);
    let stop = project.stop_with(&chart);
    assert_eq!(
        (next.stdout.as_str(), &stop.json()["reason"]),
        ("Cup 1 of blue.", &json!("Cup 1 of blue."))
    );
    assert_eq!(
        next.stderr,
        format!(
            "{}taskie: the next stop is blocked (on.Stop[2]: drink); message to the agent:\n",
            NOBODY.replace("plan", "pot")
        )
    );
    assert_eq!(text(&["drink.md"]), "Cup 1 of blue.");
    assert_eq!(text(&["drink.md", "--set", "cups=6"]), "Cup 6 of blue.");
    assert_eq!(
        text(&["ask.md", "--set", "due=tasting"]),
        "Taste it.\nWrite to .tea/pots/blue/cup-2.md"
    );
    assert_eq!(
        text(&["pour.md", "--set", "args.kind=green"]),
        "Pour green tea."
    );
}

#[test]
fn the_list_of_any_chart() {
    let (project, chart) = tea(&[("unused.md", "{{ cups }}"), ("other.txt", "")]);
    let ran = render(&project, &["--chart", &chart, "--list"]);
    assert_eq!(ran.err(), (0, ""));
    insta::assert_snapshot!("list", ran.stdout);
}

#[test]
fn an_error_is_shown_in_its_template() {
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
  help: assume one with --set due=tasting

",
    );
    fails(
        &["pour.md"],
        "  × --kind: is missing
   ╭─[CHART/texts/pour.md:1:9]
 1 │ Pour {{ args.kind }} tea.
   ·         ─────────
   ╰────
  help: give it with --set args.kind=VALUE

",
    );
    fails(
        &["x"],
        "taskie: unknown template `x`\n  help: run `taskie --chart CHART/statechart.toml render --list` to see all of them\n",
    );
}

#[test]
fn an_unknown_name() {
    let (project, chart) = tea(&[("drink.md", "Cup\n  {{ cusp }}!\n")]);
    let ran = render(&project, &["--chart", &chart, "drink.md"]);
    assert_eq!(ran.out(), (1, ""));
    assert_eq!(
        shown(&ran.stderr, &chart),
        "unknown-name

  × unknown name `cusp`
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
fn a_message_that_is_too_long_for_the_host_is_cut_as_the_hook_cuts_it() {
    let (project, chart) = tea(&[("drink.md", &"tea ".repeat(3000))]);
    let ran = render(&project, &["--chart", &chart, "--next"]);
    let stop = project.stop_with(&chart);
    assert_eq!(Value::from(ran.stdout.as_str()), stop.json()["reason"]);
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
fn everything_on_the_list_can_be_rendered() {
    let project = with_state(json!({}));
    let list = render(&project, &["--list"]).stdout;
    let names: Vec<&str> = list
        .lines()
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert!(names.len() > 5 && names.contains(&"review.md"), "{names:?}");
    for name in names {
        let outcome = match name {
            "gate.md" => "gate.output=1 test failed",
            _ => "review.verdict=PASS",
        };
        let ran = render(&project, &[name, "--set", outcome]);
        assert_eq!(ran.err(), (0, ""), "{name}");
        // Nothing has been put off, and nothing waits for an answer.
        assert_eq!(
            ran.stdout.is_empty(),
            matches!(name, "put-off.md" | "unanswered.md"),
            "{name}"
        );
    }
}

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
