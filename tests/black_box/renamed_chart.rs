//! The binary contains no word of a workflow: a chart with different names everywhere works just as well, and so does
//! one that has nothing in common with the default chart.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::bench::copy_of_chart;
use crate::support::{PLAN, Project, Ran, Reviewer, allowed, blocked, feed, state};

/// New names for one cycle and for one field of the context, wherever they occur.
fn renamed(text: &str) -> String {
    text.replace("all-code", "\u{0}")
        .replace("code-review", "work-review")
        .replace("code review", "work review")
        .replace("Code review", "Work review")
        .replace('\u{0}', "all-code")
        .replace("consecutive_clean", "streak")
}

/// A whole implementation, driven by the default chart or a renamed copy: everything that was said, written and asked
/// of the reviewer.
fn drive(rename: fn(&str) -> String, copied: bool) -> Vec<String> {
    let project = Project::valid();
    let chart = copied.then(|| copy_of_chart(&project, rename));
    let chart: Vec<&str> =
        chart.iter().flat_map(|path| ["--chart", path.to_str().unwrap()]).collect();
    let mut seen = Vec::new();
    // A command that is reported names the chart that it was run with.
    let named = chart.join(" ");
    let mut note = |ran: Ran| {
        let state = project.read("state.json");
        let said = (ran.stdout + &ran.stderr).replace(&format!("taskie {named} "), "taskie ");
        seen.push(format!("exit {}\n{said}{state}", ran.code));
    };
    let stop = |verdict: &'static str, active: bool| {
        project.reviewer(&Reviewer::of(verdict));
        feed(project.command([&["hook", "stop"][..], &chart].concat()), project.stop_event(active))
    };
    let taskie = |args: &[&str]| {
        let args: Vec<String> = args.iter().map(|arg| rename(arg)).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        project.run(&[&chart, &args[..]].concat())
    };
    let start = |changes: Value| project.write("state.json", rename(&state(changes).to_string()));
    start(json!({}));
    for args in [
        &["enter", "complete"][..],
        &["enter", "plan-review"],
        &["enter", "post-code-review"],
        &["enter", "code-reviewx"],
    ] {
        note(taskie(args));
    }
    note(stop("FAIL", false));
    note(taskie(&["enter", "complete-task", "--task", "1"]));
    project.write("task-1-post-review-1.md", "");
    note(taskie(&["enter", "post-code-review", "--plan", PLAN]));
    note(stop("PASS", true));
    note(stop("PASS", true));
    project.write("task-1-post-review-2.md", "");
    note(stop("PASS", true));
    note(taskie(&["enter", "complete-task-tdd", "--task", "2"]));
    note(taskie(&["run", "pause"]));
    note(stop("PASS", false));
    note(taskie(&["run", "resume"]));
    note(taskie(&["run", "limit", "1"]));
    project.write("tasks.md", "| Id | Status |\n|---|---|\n| 1 | done |\n| 2 | done |\n");
    note(stop("FAIL", false));
    project.write("task-2-post-review-1.md", "");
    note(stop("FAIL", true));
    note(taskie(&["run", "skip"]));
    note(taskie(&["run", "limit", "0"]));
    note(stop("FAIL", false));
    note(taskie(&["enter", "complete"]));
    note(taskie(&["enter", "code-review"]));
    note(taskie(&["schema", "state"]));
    start(json!({ "consecutive_clean": -1 }));
    note(stop("PASS", false));
    start(json!({ "next_phase": "code-reviewx" }));
    note(stop("PASS", false));
    project.write("state.json", "{}");
    note(stop("PASS", false));
    seen.extend(project.calls().into_iter().map(|call| call.join("\n")));
    seen.push(project.names().join("\n"));
    seen
}

#[test]
fn a_chart_with_other_names_works_just_as_well() {
    let original = drive(str::to_owned, false);
    let copy = drive(renamed, true);
    assert_eq!(original.len(), copy.len());
    for (original, copy) in original.iter().zip(&copy) {
        assert_eq!(renamed(original), *copy);
    }
    // The renaming worked: the words are gone from everything that a user sees.
    let all = copy.join("\n").replace("all-code-review", "");
    assert!(!all.contains("code-review") && !all.contains("consecutive_clean"), "{all}");
    assert!(all.contains("\"phase\": \"work-review\"") && all.contains("\"streak\": 2"));
}

/// A chart without cycles, with other fields and another home: a gate that opens once a file is there.
const GATE: &str = r#"
id      = "gate"
initial = "shut"
state   = "where"
quiet   = true
templates = ["texts"]

[scope]
home      = ".gates"
instances = "gates/*"

[context]
where = { type = "phase" }
tries = { type = "integer", default = 0, about = "How often it was tried" }
note  = { type = "string or null or absent" }

[args]
text = { type = "string", about = "What to note", given = "argument" }

[files]
keys = ["{metal}.key"]

[let]
ajar = "files.keys and where == 'shut'"

[phases]
shut = {}
open = { type = "final", guard = "files.keys", else = "There is no key in {{ scope.path }}." }

[[on.Stop]]
guard  = "ajar"
target = "open"
assign = { tries = "{{ tries + 1 }}" }
message = "Opened by {{ files.keys | map(attribute='name') | join(', ') }} after {{ tries }} tries."
allow  = true

[[on.Stop]]
guard  = "where == 'shut'"
assign = { tries = "{{ tries + 1 }}" }
block  = "{% include 'shut.md' %}"

[[on.UserPromptSubmit]]
guard = "event.prompt == 'where?'"
say   = "{{ scope.name }}: {{ where }}"

[[on.SessionStart]]
guard = "event.source == 'compact'"
say   = "The gate {{ scope.name }} is {{ where }}."

[commands]
note = { about = "Note something", assign = { note = "{{ args.text }}" }, say = "Noted for {{ scope.name }}: {{ args.text }}" }
"#;

struct Gate {
    project: Project,
    chart: PathBuf,
}

impl Gate {
    fn new() -> Self {
        let project = Project::empty();
        let folder = project.bin.join("gate");
        fs::create_dir_all(folder.join("texts")).unwrap();
        fs::write(
            folder.join("texts/shut.md"),
            "Write {{ scope.path }}/NAME.key first.\n\nTried {{ tries }} times.\n",
        )
        .unwrap();
        let chart = folder.join("gate.toml");
        fs::write(&chart, GATE).unwrap();
        Self { project, chart }
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.project.run(&[&["--chart", self.chart.to_str().unwrap()], args].concat())
    }

    fn stop(&self) -> Ran {
        self.project.stop_with(&self.chart)
    }

    fn state(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.dir().join("state.json")).unwrap()).unwrap()
    }

    fn dir(&self) -> PathBuf {
        self.project.root.join(".gates/gates/front")
    }
}

#[test]
fn a_chart_without_cycles() {
    let gate = Gate::new();
    // Nothing exists yet, so nothing is said.
    let ran = gate.stop();
    assert_eq!(ran.all(), (0, "", ""));
    let ran = gate.run(&["enter", "shut", "--gate", "front"]);
    assert_eq!(ran.all(), (0, "Entered shut in gate 'front'.\n", ""));
    assert_eq!(gate.state(), json!({ "where": "shut", "tries": 0 }));
    let ran = gate.run(&["enter", "open"]);
    let why = "taskie: There is no key in .gates/gates/front.";
    let help = "nothing was written; `taskie --chart ";
    let start = format!("{why}\n  help: {help}");
    assert!(ran.stderr.starts_with(&start), "{}", ran.stderr);
    let end = "gate.toml status --gate front` says what comes next\n";
    assert!(ran.stderr.ends_with(end), "{}", ran.stderr);
    for tries in 0..3 {
        let reason = format!("Write .gates/gates/front/NAME.key first.\n\nTried {tries} times.");
        assert_eq!(gate.stop().json(), blocked(&reason));
        assert_eq!(gate.state(), json!({ "where": "shut", "tries": tries + 1 }));
    }
    fs::write(gate.dir().join("brass.key"), "").unwrap();
    assert_eq!(gate.stop().json(), allowed("Opened by brass.key after 3 tries."));
    assert_eq!(gate.state(), json!({ "where": "open", "tries": 4 }));
    // Quiet: an allow without a message prints nothing.
    let ran = gate.stop();
    assert_eq!(ran.all(), (0, "", ""));
    let ran = gate.run(&["run", "note", "a {{ b }} 'c'"]);
    assert_eq!(ran.all(), (0, "Noted for front: a {{ b }} 'c'\n", ""));
    assert_eq!(gate.state(), json!({ "where": "open", "tries": 4, "note": "a {{ b }} 'c'" }));
}

#[test]
fn other_events_of_another_chart() {
    let gate = Gate::new();
    assert_eq!(gate.run(&["enter", "shut", "--gate", "front"]).code, 0);
    let cases = [
        ("user-prompt-submit", json!({ "prompt": "where?" }), "front: shut\n"),
        ("user-prompt-submit", json!({ "prompt": "hello" }), ""),
        ("user-prompt-submit", json!({}), ""),
        ("session-start", json!({ "source": "compact" }), "The gate front is shut.\n"),
        ("session-start", json!({ "source": "startup" }), ""),
        ("pre-compact", json!({ "trigger": "auto" }), ""),
        ("subagent-stop", json!({}), ""),
    ];
    for (event, fields, expected) in cases {
        let args = ["hook", event, "--chart", gate.chart.to_str().unwrap()];
        let ran = feed(gate.project.command(args), fields.to_string());
        assert_eq!(ran.all(), (0, expected, ""), "{event} {fields}");
    }
}

/// Templates: the first folder wins. A missing template, a name that leads outside, and a template that includes
/// itself are errors that name the template, and the stop is allowed.
#[test]
fn templates_of_another_chart() {
    let gate = Gate::new();
    assert_eq!(gate.run(&["enter", "shut", "--gate", "front"]).code, 0);
    let folder = gate.chart.parent().unwrap();
    let text = fs::read_to_string(&gate.chart).unwrap();
    let say = |include: &str| {
        fs::write(&gate.chart, text.replace("'shut.md'", &format!("'{include}'"))).unwrap();
        let ran = gate.stop();
        assert_eq!(ran.code, 0, "{include}");
        let json = ran.json();
        json["reason"]
            .as_str()
            .or_else(|| json["systemMessage"].as_str())
            .unwrap_or_default()
            .to_owned()
    };
    let undecided =
        "No decision could be made about this Stop, so it is allowed: the chart cannot be used: ";
    let texts = folder.join("texts").display().to_string();
    fs::write(folder.join("texts/loop.md"), "{% include 'loop.md' %}").unwrap();
    fs::write(folder.join("texts/broken.md"), "first\n{{ nope }}\n").unwrap();
    fs::write(folder.join("secret.md"), "secret").unwrap();
    assert_eq!(
        say("loop.md"),
        format!("{undecided}{texts}/loop.md:1:1: template `loop.md` includes itself")
    );
    assert_eq!(
        say("broken.md"),
        format!("{undecided}{texts}/broken.md:2:4: unknown name `nope` (did you mean `note`?)")
    );
    for name in ["none.md", "../secret.md", "/etc/passwd"] {
        let message = say(name);
        assert!(message.starts_with(undecided) && message.contains(name), "{name}: {message}");
        assert!(!message.contains("secret\n") && !message.contains("root:"), "{name}: {message}");
    }
    assert_eq!(gate.state()["tries"], 0);
    let first = folder.join("first");
    fs::create_dir(&first).unwrap();
    fs::write(first.join("shut.md"), "The first folder.").unwrap();
    fs::write(&gate.chart, text.replace("[\"texts\"]", "[\"first\", \"texts\"]")).unwrap();
    assert_eq!(gate.stop().json()["reason"], "The first folder.");
}
