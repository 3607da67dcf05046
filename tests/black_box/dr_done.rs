//! dr-done's files: what its plugin has beside the chart. What the program does is in `tests/transcripts/dr_done.md`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Project, json_of};

fn plugin(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin/dr-done").join(file)
}

fn json_in(file: &str) -> Value {
    json_of(&fs::read_to_string(plugin(file)).unwrap())
}

#[test]
fn plugin_structure() {
    let manifest: Value = json_in(".claude-plugin/plugin.json");
    assert_eq!(manifest["name"], "dr-done");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    for template in ["loop.md", "review.md"] {
        assert!(plugin("templates").join(template).is_file());
    }
    let market: Value = json_in("../../.claude-plugin/marketplace.json");
    let mut sources = market["plugins"].as_array().unwrap().iter();
    assert!(sources.any(|one| one["name"] == "dr-done" && one["source"] == "./plugin/dr-done"));
}

/// The plugin installs hooks for exactly those events that the chart has rules for.
#[test]
fn hooks_json_is_valid() {
    let hooks: Value = json_in("hooks/hooks.json");
    let hooks = hooks["hooks"].as_object().unwrap();
    let words = [
        ("Stop", "stop"),
        ("UserPromptSubmit", "user-prompt-submit"),
        ("PreCompact", "pre-compact"),
        ("SessionStart", "session-start"),
    ];
    for (event, word) in words {
        let hook = &hooks[event][0]["hooks"][0];
        let line = format!("\"${{CLAUDE_PLUGIN_ROOT}}/bin/taskie\" --chart dr-done hook {word}");
        assert_eq!(hook["command"], line);
    }
    assert_eq!(hooks.len(), 4);
}

#[test]
fn schemas_are_fresh() {
    for what in ["state", "config"] {
        let fresh = Project::empty().run(&["--chart", "dr-done", "schema", what]);
        let stored = fs::read_to_string(plugin(&format!("schemas/{what}.schema.json"))).unwrap();
        assert_eq!(
            fresh.stdout, stored,
            "generate it again: cargo run -- --chart dr-done schema {what} > plugin/dr-done/schemas/{what}.schema.json"
        );
    }
    let schema: Value = json_in("schemas/config.schema.json");
    for (config, fits) in [
        (json!({}), true),
        (json!({ "$schema": "x", "gitCommit": false, "maxIterations": 1 }), true),
        (json!({ "maxIterations": 0 }), false),
        (json!({ "gitCommit": "no" }), false),
        (json!({ "maxIteration": 5 }), false),
    ] {
        assert_eq!(jsonschema::draft7::is_valid(&schema, &config), fits, "{config}");
    }
}

/// There is a slash command for each command of the chart that a user types, with a description; only the user can start, take over
/// or delete.
#[test]
fn slash_commands() {
    let commands =
        ["add", "adopt", "cleanup", "do", "start", "status", "stop", "templates", "unstick"];
    let mut files: Vec<String> = fs::read_dir(plugin("commands"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, commands.map(|name| format!("{name}.md")));
    let help = Project::empty().run(&["--chart", "dr-done", "run", "--help"]).stdout;
    for name in commands {
        assert!(help.contains(&format!("\n  {name} ")), "{name}");
        let text = fs::read_to_string(plugin(&format!("commands/{name}.md"))).unwrap();
        // taskie has a command of its own with this name.
        let run = if name == "status" { "run " } else { "" };
        let call = format!("taskie --chart dr-done {run}{name} ");
        assert!(text.contains(&call) && text.starts_with("---\ndescription: "), "{name}");
        assert!(text.contains("--session \"${CLAUDE_SESSION_ID}\""), "{name}");
        let is_users = text.contains("\ndisable-model-invocation: true\n");
        let starts = ["adopt", "cleanup", "do", "start", "unstick"].contains(&name);
        assert_eq!(is_users, starts, "{name}");
    }
}
