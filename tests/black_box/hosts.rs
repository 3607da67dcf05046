//! The hosts: what each gets for the events that were captured from it, the files that they read of the plugins, and the
//! page that describes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use taskie::host::hosts::HOSTS;

use crate::expected::plan_in;
use crate::support::{Project, Ran, Reviewer, feed, script, silent, timeless};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Set to write the generated files instead of comparing them.
const UPDATE: &str = "TASKIE_UPDATE_DOCS";

/// (captured event, subcommand, what the hook is called with, a variable of its environment)
const EVENTS: &[(&str, &str, &[&str], Option<&str>)] = &[
    ("claude-SessionStart.2.1.330", "session-start", &[], None),
    ("claude-Stop.2.1.330", "stop", &[], None),
    ("codex-SessionStart.0.169.0", "session-start", &[], Some("PLUGIN_ROOT")),
    ("codex-Stop.0.169.0", "stop", &[], None),
    ("copilot-SessionStart.1.0.102", "session-start", &[], Some("COPILOT_PLUGIN_ROOT")),
    ("copilot-Stop.1.0.102", "stop", &[], None),
    ("gemini-SessionStart.0.61.0", "session-start", &["--host", "gemini"], None),
    ("gemini-BeforeAgent.0.61.0", "user-prompt-submit", &[], Some("GEMINI_SESSION_ID")),
    ("gemini-AfterAgent.0.61.0", "stop", &["--host=gemini"], None),
    ("qwen-Stop.0.24.4", "stop", &[], Some("QWEN_PROJECT_DIR")),
    ("droid-SessionStart.0.215.0", "session-start", &["--host", "droid"], None),
    ("droid-Stop.0.215.0", "stop", &[], None),
];

/// A captured event of a session that works in the project.
fn event(name: &str, project: &Project) -> Value {
    let path = format!("{ROOT}/tests/black_box/host-events/{name}.json");
    let mut event: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    event["cwd"] = json!(project.root);
    event["transcript_path"] = Value::Null;
    event
}

/// A plan that the session of `event` has taken up.
fn taken_up(project: &Project, event: &Value) {
    let session = event["session_id"].as_str().unwrap();
    let taken = project.run(&["next", "--session", session]);
    assert_eq!(taken.code, 0, "{}", taken.stderr);
}

fn answer(
    project: &Project,
    event: &Value,
    word: &str,
    options: &[&str],
    variable: Option<&str>,
) -> Ran {
    let words = ["hook", word].into_iter().chain(options.iter().copied());
    let mut command = project.command(words);
    if let Some(variable) = variable {
        command.env(variable, "/somewhere");
    }
    feed(command, event.to_string())
}

/// Each host gets the plan that waits, and a review that failed, in the form that it takes and with the commands that its
/// users can type.
#[test]
fn each_host_gets_what_it_takes() {
    let (mut shown, mut seen) = (String::new(), BTreeSet::new());
    for (name, word, options, variable) in EVENTS {
        let project = plan_in(
            &json!({ "phase": "new-plan", "next_phase": "plan-review", "current_task": null }),
            &Reviewer::fail(),
        );
        let event = event(name, &project);
        taken_up(&project, &event);
        let ran = answer(&project, &event, word, options, *variable);
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{name}");
        // How many sentences, and those that no host before it has got.
        let sentences = ran.stdout.split_inclusive(". ");
        let count = sentences.clone().count();
        let new: String =
            sentences.filter(|sentence| seen.insert((*sentence).to_owned())).collect();
        shown.push_str(&format!("── {name}: {count}\n{}\n", new.trim_end()));
    }
    insta::assert_snapshot!(timeless(&shown));
}

/// Without a mark, an event is Claude Code's.
#[test]
fn a_host_is_known_by_its_marks() {
    let project = Project::valid();
    for (name, _, options, variable) in EVENTS {
        let id = name.split('-').next().unwrap();
        if options.is_empty() && variable.is_none() {
            assert_eq!(taskie::host::hosts::Host::of(&event(name, &project)).id, id, "{name}");
        }
    }
}

#[test]
fn a_host_that_nobody_knows_is_reported() {
    let project = Project::valid();
    let ran = answer(&project, &json!({}), "stop", &["--host", "codeks"], None);
    assert_eq!((ran.code, &*ran.stdout), (1, ""));
    assert!(ran.stderr.contains("'codeks'") && ran.stderr.contains("'codex'"), "{}", ran.stderr);
}

/// What a stop of that host gets, in a plan whose review is due unless `before` says otherwise.
fn stops(host: &str, before: Value, reviewer: &Reviewer) -> (Project, Value) {
    let project = plan_in(&before, reviewer);
    let event = event(host, &project);
    taken_up(&project, &event);
    (project, event)
}

fn due() -> Value {
    json!({ "phase": "new-plan", "next_phase": "plan-review", "current_task": null })
}

/// A host that waits a minute for a hook starts no review that may take longer, and says what to do.
#[test]
fn no_review_starts_that_the_host_would_not_wait_for() {
    let (project, mut event) = stops("qwen-Stop.0.24.4", due(), &Reviewer::pass());
    let stop = |event: &Value| answer(&project, event, "stop", &["--host", "qwen"], None);
    event["stop_hook_active"] = json!(false);
    assert_eq!(stop(&event).json()["decision"], "block");
    event["stop_hook_active"] = json!(true);
    let message = "The plan-review is still due, and only the agent can run it here: `taskie review --wait 50 ";
    let said = stop(&event).message();
    assert!(said.starts_with(message), "{said}");
    project.set_state(json!({ "phase": "post-plan-review" }));
    assert_eq!(
        stop(&event).json()["decision"],
        "block",
        "it has not been sent back for this review yet"
    );
    assert_eq!(project.calls().len(), 0);
    project.set(&json!({ "review_timeout": 50 }));
    assert_eq!(stop(&event).json()["decision"], "block");
    assert_eq!(project.calls().len(), 1);
}

/// A host that lets the agent stop after some blocks gets none that it would ignore: the user is asked before the next
/// review is paid for. A new turn counts from the start.
#[test]
fn no_review_is_paid_for_whose_block_would_be_ignored() {
    let (project, mut event) = stops("qwen-Stop.0.24.4", due(), &Reviewer::fail());
    project.set(&json!({ "review_timeout": 50 }));
    project.set_state(json!({ "max_reviews": 20 }));
    let stop = |event: &Value| answer(&project, event, "stop", &["--host", "qwen"], None);
    event["stop_hook_active"] = json!(false);
    for n in 1..=7 {
        assert_eq!(stop(&event).json()["decision"], "block", "{n}");
        project.set_state(json!({ "phase": "post-plan-review", "next_phase": "plan-review" }));
        event["stop_hook_active"] = json!(true);
    }
    let message = "The plan-review is due and waits for your answer, such as \"Continue\": Qwen Code sends the agent back only \
                   a few times in one turn.";
    let said = stop(&event).message();
    assert_eq!(said.lines().last(), Some(message), "{said}");
    assert_eq!(project.calls().len(), 7);
    event["stop_hook_active"] = json!(false);
    assert_eq!(stop(&event).json()["decision"], "block");
}

/// A host that shows the user nothing has the agent tell it: with a block, or by one that is for nothing else, once per text.
#[test]
fn the_agent_reports_what_the_host_does_not_show() {
    let reviewer = Reviewer::fail().exits(3);
    let (project, mut event) = stops("copilot-Stop.1.0.102", due(), &reviewer);
    let stop = |event: &Value| answer(&project, event, "stop", &[], None);
    let first = stop(&event);
    let reason = first.json()["reason"].as_str().unwrap().to_owned();
    let start =
        "Tell the user exactly this, do nothing else, and end your turn:\n\nReview failed: ";
    assert!(reason.starts_with(start), "{reason}");
    // The agent has reported it: nothing is decided, and no second review fails at once.
    event["stop_hook_active"] = json!(true);
    assert_eq!(stop(&event).stdout, silent());
    assert_eq!(project.calls().len(), 1);
    // The same text is not reported again in another turn.
    event["stop_hook_active"] = json!(false);
    assert_eq!(stop(&event).json()["decision"], Value::Null);
    assert_eq!(project.calls().len(), 2);
    project.reviewer(&Reviewer::fail());
    let answered = stop(&event).json();
    let reason = answered["reason"].as_str().unwrap();
    assert!(
        reason.starts_with(
            "plan-review 1/8: FAIL by opus (<$0.01), 0 of 2 clean\n\nA plan review (iteration 1)"
        ),
        "{reason}"
    );
    assert_eq!(answered["systemMessage"], Value::Null);
    // The eighth block is kept for what the user must know.
    event["stop_hook_active"] = json!(true);
    project.set_state(json!({ "max_reviews": 20 }));
    let mut last = Value::Null;
    for _ in 0..9 {
        project.set_state(json!({ "phase": "post-plan-review", "next_phase": "plan-review" }));
        let answer = stop(&event).json();
        if answer["decision"] == Value::Null {
            break;
        }
        last = answer["reason"].clone();
    }
    assert!(last.as_str().unwrap().contains("sends the agent back only a few times"), "{last}");
    // The user has asked for something else before the agent could report it: the stop is like any other.
    let (project, mut event) = stops("copilot-Stop.1.0.102", due(), &reviewer);
    event["stop_hook_active"] = json!(false);
    for runs in 1..=2 {
        answer(&project, &event, "stop", &[], None);
        assert_eq!(project.calls().len(), runs);
    }
}

/// Whatever an event calls its session: one that drives nothing starts nothing. An event without one is about the newest
/// plan.
#[test]
fn a_session_by_any_name_starts_only_what_it_drives() {
    for (field, runs) in [("session_id", 0), ("sessionId", 0), ("conversation_id", 0), ("other", 1)]
    {
        let project = plan_in(&due(), &Reviewer::fail());
        let event = json!({ "cwd": project.root, field: "stranger", "stop_hook_active": false });
        assert_eq!(answer(&project, &event, "stop", &[], None).code, 0);
        assert_eq!(project.calls().len(), runs, "{field}");
    }
    let project = plan_in(&due(), &Reviewer::fail());
    project.run(&["next", "--session", "its-own"]);
    let event = json!({ "cwd": project.root, "sessionId": "its-own", "stop_hook_active": false });
    assert_eq!(answer(&project, &event, "stop", &[], None).json()["decision"], "block");
}

/// The marks of each host's shell: what only the user may do is refused there.
#[test]
fn no_agent_agrees_for_the_user() {
    let project = Project::valid();
    project.set(&json!({ "gates": ["true"] }));
    for mark in [
        "CLAUDECODE",
        "CODEX_THREAD_ID",
        "COPILOT_CLI",
        "GEMINI_CLI",
        "QWEN_CODE",
        "FACTORY_EXEC_TARGET_AUTONOMY",
    ] {
        let mut trust = project.command(["config", "trust", "--yes"]);
        trust.env(mark, "1");
        let refused = "taskie: an agent's session cannot agree for the user\n  help: in a terminal of your own: `taskie config trust`\n";
        assert_eq!(Ran::of(trust.output().unwrap()).err(), (1, refused), "{mark}");
    }
    assert_eq!(project.run(&["config", "trust", "--yes"]).code, 0);
}

/// On a host with a sandbox, its own program reviews inside of it.
#[test]
fn a_reviewer_has_no_more_rights_than_a_session_in_a_sandbox() {
    let (project, event) = stops("codex-Stop.0.169.0", due(), &Reviewer::fail());
    project.set_for_all(&json!({ "models": ["codex"] }));
    script(project.bin.join("codex"), "echo \"$@\" > ../words; exit 1");
    answer(&project, &event, "stop", &[], None);
    let words = fs::read_to_string(project.root.join("../words")).unwrap();
    assert!(words.contains("--sandbox workspace-write "), "{words}");
}

/// A reviewer of another vendor: its program, its arguments, and a verdict at the end of what it says.
#[test]
fn programs_of_other_vendors_review() {
    let mut shown = String::new();
    for (permissions, model) in [
        ("bypass", "codex"),
        ("restricted", "codex:gpt-5"),
        ("bypass", "copilot:a:b"),
        ("restricted", "copilot:gpt-5"),
        ("bypass", "gemini"),
        ("restricted", "gemini:gemini-pro"),
    ] {
        let project = Project::valid();
        let program = model.split(':').next().unwrap();
        project.set_state(json!({ "review_model": model }));
        project
            .write("task-1.md", "# Task 1\n\n- **Must-run commands**: `make test`, `make lint`\n");
        // The user's own settings need no trust.
        let chosen = json!({ "permissions": permissions, "models": [model] });
        project.set_for_all(&chosen);
        let file = project.bin.join(program);
        fs::write(
            &file,
            "#!/bin/sh\nfor word; do last=$word; done\nfile=${last##*Write your review to }\nfile=${file%%.md*}.md\n\
             echo '# Review' > \"$file\"\n[ \"$1\" != --silent ] || shift\necho \"$@\" | head -n 1 > ../words\n\
             case $0 in *gemini) printf '%s\\n' '{\"response\": \"I read it all: {a}.\\n```json\\n{\\\"verdict\\\": \\\"PASS\\\"}\\n```\", \"stats\": {}}'; exit ;; esac\n\
             echo 'I read it all: {a}.'\necho '```json'\necho '{\"verdict\": \"PASS\"}'\necho '```'\n",
        )
        .unwrap();
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&file, executable).unwrap();
        let stop = project.stop();
        assert_eq!(
            (project.state()["consecutive_clean"].clone(), &*stop.stderr),
            (json!(1), ""),
            "{}",
            stop.stdout
        );
        let words = fs::read_to_string(project.root.join("../words")).unwrap();
        let (options, _) = words.split_once(" You are").unwrap();
        let log = project.run(&["log", "--json"]).stdout;
        let mut lines = log.lines().map(|line| serde_json::from_str(line).unwrap());
        let review: Value = lines.find(|line: &Value| line["line"] == "review").unwrap();
        shown.push_str(&format!(
            "{permissions}, {model}: {program} {options}\n  by {}\n",
            review["by"]
        ));
    }
    insta::assert_snapshot!(shown);
}

/// The plugins' folders, as the marketplace lists them.
fn plugins() -> Vec<(String, std::path::PathBuf)> {
    let text = fs::read_to_string(format!("{ROOT}/.claude-plugin/marketplace.json")).unwrap();
    let market: Value = serde_json::from_str(&text).unwrap();
    let entries = market["plugins"].as_array().unwrap().iter();
    entries
        .map(|entry| {
            (
                entry["name"].as_str().unwrap().to_owned(),
                Path::new(ROOT).join(entry["source"].as_str().unwrap()),
            )
        })
        .collect()
}

/// What the file at `path` holds is `fresh`.
fn is_fresh(path: &Path, fresh: &str) {
    if std::env::var_os(UPDATE).is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, fresh).unwrap();
    }
    let stored = fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == fresh,
        "{} is stale; update it: {UPDATE}=1 cargo test --test black_box hosts",
        path.display()
    );
}

/// Where Gemini CLI keeps the extension in `plugin`, and so the plugin `taskie`.
const GEMINI: &str = "~/.gemini/extensions/taskie/taskie";

/// Each command is a skill for the hosts that read skills, and one of Gemini's commands: how the agent reads the
/// command's own text there.
#[test]
fn each_command_has_a_form_for_other_hosts() {
    for (plugin, dir) in plugins() {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir.join("commands")).unwrap().flatten() {
            let text = fs::read_to_string(entry.path()).unwrap();
            let name = entry.path().file_stem().unwrap().to_string_lossy().into_owned();
            let description =
                text.lines().find_map(|line| line.strip_prefix("description: ")).unwrap();
            is_fresh(
                &dir.join("agent-skills").join(&name).join("SKILL.md"),
                &skill(&plugin, &name, description),
            );
            if GEMINI.ends_with(&format!("/{plugin}")) {
                let path = format!("{ROOT}/plugin/commands/{plugin}/{name}.toml");
                is_fresh(Path::new(&path), &gemini_command(&plugin, &name, description));
            }
            names.push(name);
        }
        names.sort();
        assert_eq!(stems(&dir.join("agent-skills")), names, "{plugin}");
        if GEMINI.ends_with(&format!("/{plugin}")) {
            let commands = Path::new(ROOT).join("plugin/commands").join(&plugin);
            assert_eq!(stems(&commands), names, "{plugin}");
        }
    }
}

/// Returns the names of the files and folders in a folder, without extensions.
fn stems(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let stem = |path: std::path::PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut stems: Vec<_> = entries.map(|entry| stem(entry.path())).collect();
    stems.sort();
    stems
}

fn skill(plugin: &str, name: &str, description: &str) -> String {
    format!(
        r#"---
name: {name}
description: {description}
---
Read `../../commands/{name}.md` (the path starts at this file's folder) and do what it says. It is written for Claude Code. Here:

- A line `@"${{CLAUDE_PLUGIN_ROOT}}/…"` stands for the text of the file `../../…`: read all of it before you go on.
- `${{CLAUDE_PLUGIN_ROOT}}` is the folder `../..`. `$ARGUMENTS` is what the user wrote beside the name of this skill.
- `/{plugin}:…` is the skill of that name of this plugin. To perform it, read `../…/SKILL.md` and follow it.
- If there is no `taskie` on PATH, run the `../../bin/taskie` of this plugin instead.
- Leave `--session "${{CLAUDE_SESSION_ID}}"` as it is: the shell makes it empty, and taskie finds the session by itself. Anywhere
  else, `${{CLAUDE_SESSION_ID}}` is the value of `$CODEX_SESSION_ID` or `$COPILOT_AGENT_SESSION_ID`.
"#
    )
}

/// (The agent's tool for files may not read an extension's folder, but the shell can.)
fn gemini_command(plugin: &str, name: &str, description: &str) -> String {
    assert!(!description.contains(['"', '\\']), "{description}");
    format!(
        r#"description = "{description}"
prompt = """
Run `cat {GEMINI}/commands/{name}.md` and do what that text says. It is written for Claude Code. Here:

- `${{CLAUDE_PLUGIN_ROOT}}` is the folder `{GEMINI}`. A line `@"${{CLAUDE_PLUGIN_ROOT}}/…"` stands for the text of that file: \
read all of it with `cat` before you go on.
- `/{plugin}:NAME` is another command. To perform it, `cat` its file NAME.md in the same folder and follow it in the same way.
- If there is no `taskie` on PATH, run `{GEMINI}/bin/taskie` instead.
- Add `--session ID` to every `taskie` command. ID is the id of this session, which a hook names beside the prompt.
- `$ARGUMENTS` is what the user wrote: {{{{args}}}}
"""
"#
    )
}

/// Gemini's extension says what the plugin for Claude Code says, and calls the same hooks: events have other names there,
/// and times are in milliseconds.
#[test]
fn the_extension_for_gemini_agrees_with_the_plugin() {
    let extension = Path::new(ROOT).join("plugin");
    let json = |file: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(extension.join(file)).unwrap()).unwrap()
    };
    let pretty = |json: &Value| format!("{}\n", serde_json::to_string_pretty(json).unwrap());
    let plugin = json("taskie/.claude-plugin/plugin.json");
    let manifest = json!({
        "name": plugin["name"],
        "version": plugin["version"],
        "description": plugin["description"],
    });
    is_fresh(&extension.join("gemini-extension.json"), &pretty(&manifest));
    let claude = json("taskie/hooks/hooks.json");
    let hook = |event: &str, timeout: &Value, word: &str| {
        let hook = &claude["hooks"][event][0]["hooks"][0];
        let command = hook["command"].as_str().unwrap();
        let (program, rest) = command.split_once(" hook ").unwrap();
        let options = rest.find(' ').map_or("", |at| &rest[at..]);
        let program = program.replace("${CLAUDE_PLUGIN_ROOT}", "${extensionPath}/taskie");
        let timeout = timeout.as_u64().or(hook["timeout"].as_u64()).unwrap();
        json!([{ "hooks": [{
            "name": "taskie",
            "type": "command",
            "command": format!("{program} hook {word}{options}"),
            "timeout": timeout * 1000,
        }] }])
    };
    let hooks = json!({ "hooks": {
        "SessionStart": hook("SessionStart", &Value::Null, "session-start"),
        // Names the session: the shell doesn't know it.
        "BeforeAgent": hook("SessionStart", &json!(60), "user-prompt-submit"),
        "AfterAgent": hook("Stop", &Value::Null, "stop"),
        "SessionEnd": hook("SessionEnd", &Value::Null, "session-end"),
    } });
    is_fresh(&extension.join("hooks/hooks.json"), &pretty(&hooks));
}

/// The manifests for Codex and Copilot say what the one for Claude Code says, and where the skills and hooks are.
#[test]
fn the_manifests_agree() {
    for (plugin, dir) in plugins() {
        let text = fs::read_to_string(dir.join(".claude-plugin/plugin.json")).unwrap();
        let claude: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
        for (file, more) in [
            (
                ".codex-plugin/plugin.json",
                json!({ "skills": "./agent-skills/", "hooks": "./hooks/hooks.json" }),
            ),
            (
                ".github/plugin/plugin.json",
                json!({ "skills": "./agent-skills/", "commands": [], "hooks": "./hooks/hooks.json" }),
            ),
        ] {
            let mut manifest = claude.clone();
            manifest.extend(more.as_object().unwrap().clone());
            let fresh = format!("{}\n", serde_json::to_string_pretty(&manifest).unwrap());
            is_fresh(&dir.join(file), &fresh);
        }
        assert!(!plugin.is_empty());
    }
}

/// The page's table is what the program goes by.
#[test]
fn the_page_says_what_the_table_of_hosts_says() {
    let text = fs::read_to_string(format!("{ROOT}/docs/hosts.md")).unwrap();
    let rows: BTreeMap<&str, &str> =
        text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | ")).collect();
    for host in HOSTS {
        let row =
            rows.get(host.id).unwrap_or_else(|| panic!("docs/hosts.md has no row for {}", host.id));
        let cells: Vec<&str> = row.trim_end_matches(" |").split(" | ").collect();
        let command = host.rename_commands("/taskie:new-plan", "taskie");
        let blocks = host.blocks.map_or_else(|| "no limit".to_owned(), |blocks| blocks.to_string());
        let longest = format!("{} seconds", host.longest_hook);
        assert_eq!(
            cells[..4],
            [host.name, &format!("`{command}`"), &blocks, &longest],
            "{}",
            host.id
        );
    }
}
