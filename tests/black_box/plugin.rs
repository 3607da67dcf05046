//! The plugins as data: versions, hooks, references, and whether every command, phase, option and file that their
//! texts name exists. `actions` tests what happens if an agent follows them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{PLAN, Project, Ran, feed, validated, whole_chart};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The most seconds that a hook can have.
const LONGEST_HOOK: u64 = 3600;

/// A plugin that the marketplace lists.
struct Plugin {
    name: String,
    dir: PathBuf,
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path.as_ref())
        .unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

fn json_of(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

fn marketplace() -> Value {
    json_of(Path::new(ROOT).join(".claude-plugin/marketplace.json"))
}

fn plugins() -> Vec<Plugin> {
    let plugins: Vec<Plugin> = marketplace()["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| Plugin {
            name: entry["name"].as_str().unwrap().to_owned(),
            dir: Path::new(ROOT).join(entry["source"].as_str().unwrap()),
        })
        .collect();
    assert!(!plugins.is_empty());
    plugins
}

fn taskie() -> Plugin {
    plugins().remove(0)
}

impl Plugin {
    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Returns the chart that the plugin's hooks run: its own or the default one.
    fn chart(&self) -> toml::Table {
        let own = self.path("statechart.toml");
        match own.exists() {
            true => read(own).parse().unwrap(),
            false => whole_chart(),
        }
    }

    /// Returns (name, text) of the Markdown files in a folder of the plugin, without the engine's templates; "": all.
    fn texts(&self, folder: &str) -> Vec<(String, String)> {
        let mut names = Vec::new();
        files_below(&self.path(folder), &mut names);
        let mut texts: Vec<_> = names
            .into_iter()
            .map(|path| (path.strip_prefix(&self.dir).unwrap().to_owned(), path))
            .filter(|(name, _)| !name.starts_with("templates"))
            .filter(|(name, _)| name.extension().is_some_and(|end| end == "md"))
            .map(|(name, path)| (name.display().to_string(), read(path)))
            .collect();
        texts.sort();
        assert!(!texts.is_empty(), "{folder}");
        texts
    }

    /// The names of the files in a folder, without `.md`.
    fn names(&self, folder: &str) -> BTreeSet<String> {
        let stem = |name: &str| Path::new(name).file_stem().unwrap().to_str().unwrap().to_owned();
        self.texts(folder).iter().map(|(name, _)| stem(name)).collect()
    }
}

/// The files in a folder and all below it.
pub fn files_below(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The words after each `start` in `text`, as long as their characters satisfy `goes_on`.
fn after<'t>(text: &'t str, start: &str, goes_on: impl Fn(char) -> bool) -> Vec<&'t str> {
    text.match_indices(start)
        .map(|(at, _)| {
            let rest = &text[at + start.len()..];
            let end = rest.find(|next| !goes_on(next)).unwrap_or(rest.len());
            rest[..end].trim_end_matches(['.', '-'])
        })
        .collect()
}

fn in_name(next: char) -> bool {
    next.is_ascii_alphanumeric() || next == '-'
}

// ── versions and hooks ──────────────────────────────────────────────────────────────────

#[test]
fn every_manifest_has_the_version_of_the_program() {
    let version = env!("CARGO_PKG_VERSION");
    for entry in marketplace()["plugins"].as_array().unwrap() {
        // The plugin has the version; the marketplace would only repeat it.
        assert_eq!(entry["version"], Value::Null);
    }
    for plugin in plugins() {
        let manifest = json_of(plugin.path(".claude-plugin/plugin.json"));
        assert_eq!(
            (manifest["name"].as_str(), manifest["version"].as_str()),
            (Some(&*plugin.name), Some(version))
        );
    }
}

/// The host kills a hook after `timeout`, so a reviewer that takes longer would be killed without an answer.
#[test]
fn a_reviewer_ends_before_its_hook() {
    for plugin in plugins() {
        let hooks = json_of(plugin.path("hooks/hooks.json"));
        let chart = plugin.chart();
        let Some(processes) = chart.get("reviewers").and_then(|table| table.as_table()) else {
            continue;
        };
        // It says how long it asks for: a review that could take longer is not started.
        let hook = &hooks["hooks"]["Stop"][0]["hooks"][0];
        let asked = hook["timeout"].as_i64().unwrap();
        let line = hook["command"].as_str().unwrap();
        assert!(line.ends_with(&format!(" --timeout {asked}")), "{line}");
        // One host takes more for milliseconds.
        assert!(asked < 1000, "{}", plugin.name);
        assert!(!processes.is_empty());
        // A setting has a largest value.
        let kind = chart["config"]["review_timeout"]["type"].as_str().unwrap();
        let longest: u64 = kind.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(longest < LONGEST_HOOK, "a review may take {longest} s, its hook {LONGEST_HOOK} s");
    }
    assert!(taskie().chart().contains_key("reviewers"));
}

/// Each hook is one shell line, because not every host passes `args`. It starts the plugin's launcher, which starts
/// the program with the name of the event.
#[test]
fn hooks_call_existing_commands() {
    let project = Project::empty();
    for plugin in plugins() {
        let hooks = json_of(plugin.path("hooks/hooks.json"));
        for (event, groups) in hooks["hooks"].as_object().unwrap() {
            for hook in groups
                .as_array()
                .unwrap()
                .iter()
                .flat_map(|group| group["hooks"].as_array().unwrap())
            {
                let line = hook["command"].as_str().unwrap();
                assert_eq!(hook["args"], Value::Null, "{event}");
                let mut command = project.shell(line);
                command
                    .env("CLAUDE_PLUGIN_ROOT", &plugin.dir)
                    .env("CLAUDE_PLUGIN_DATA", project.bin.join("data"));
                let ran = feed(command, json!({ "hook_event_name": event }).to_string());
                assert_eq!(ran.err(), (0, ""), "{event}: {line}");
                let word = event.chars().fold(String::new(), |mut word, next| {
                    if next.is_ascii_uppercase() && !word.is_empty() {
                        word.push('-');
                    }
                    word.push(next.to_ascii_lowercase());
                    word
                });
                assert!(
                    line.split(" --timeout").next().unwrap().ends_with(&format!(
                        "/bin/taskie\"{} hook {word}",
                        if plugin.name == "taskie" { "" } else { " --chart dr-done" }
                    )),
                    "{event}: {line}"
                );
                let chosen = project.bin.join(format!("data/taskie-{}", env!("CARGO_PKG_VERSION")));
                let built = Path::new(env!("CARGO_BIN_EXE_taskie"));
                assert_eq!(chosen.canonicalize().unwrap(), built.canonicalize().unwrap());
            }
        }
    }
}

// ── files that are named ────────────────────────────────────────────────────────────────

#[test]
fn files_named_in_the_plugin_exist() {
    for plugin in plugins() {
        let mut named = 0;
        let mut files = Vec::new();
        files_below(&plugin.dir, &mut files);
        for file in files {
            for name in after(&read(&file), "${CLAUDE_PLUGIN_ROOT}/", |next| {
                in_name(next) || "./_".contains(next)
            }) {
                // `**` grants reading all files; the agent replaces ACTION by a name.
                if name.is_empty() || name.contains("ACTION") {
                    continue;
                }
                named += 1;
                assert!(plugin.path(name).is_file(), "{} names {name}", file.display());
            }
        }
        assert!(named > 0, "{}", plugin.name);
    }
}

/// A command begins with the ground rules, then the persona if the work is test first, then its action. The
/// quotation marks are for paths with spaces: the host attaches nothing without them.
#[test]
fn a_command_attaches_the_ground_rules_and_its_action() {
    let plugin = taskie();
    let actions = plugin.names("actions");
    for (file, text) in plugin.texts("commands") {
        let name = Path::new(&file).file_stem().unwrap().to_str().unwrap();
        // Those rules are about plans.
        if name == "review" {
            continue;
        }
        let mut expected = vec!["ground-rules.md".to_owned()];
        if name.ends_with("-tdd") || name == "continue-task" {
            expected.push("personas/tdd.md".to_owned());
        }
        if actions.contains(name) {
            expected.push(format!("actions/{name}.md"));
        }
        let (frontmatter, body) =
            text.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
        let attached: Vec<&str> = body.lines().filter(|line| line.starts_with('@')).collect();
        let expected: Vec<String> =
            expected.iter().map(|name| format!("@\"${{CLAUDE_PLUGIN_ROOT}}/{name}\"")).collect();
        assert_eq!(attached, expected, "{file}");
        assert!(body.starts_with(&format!("{}\n", expected[0])), "{file}");
        let keys: Vec<&str> =
            frontmatter.lines().map(|line| line.split_once(": ").unwrap().0).collect();
        assert_eq!(keys, ["description", "argument-hint", "allowed-tools"], "{file}");
        // Attached files are read without asking; a session that is not allowed to would stop there.
        assert!(frontmatter.contains("Read(/${CLAUDE_PLUGIN_ROOT}/**)"), "{file}");
    }
}

/// `continue-plan`, `review` and `status` follow the program's output; every other command has an action with its own text.
#[test]
fn there_is_a_command_for_each_action_and_each_phase() {
    let plugin = taskie();
    let (commands, mut expected) = (plugin.names("commands"), plugin.names("actions"));
    expected.extend(["continue-plan", "review", "status"].map(str::to_owned));
    assert_eq!(commands, expected);
    assert_eq!(commands.len(), 19);
    let mut phases = phases();
    // Continuing the plan enters the last phase, which has no work.
    assert!(phases.remove("complete"));
    let expected: BTreeSet<String> =
        plugin.names("actions").into_iter().filter(|name| name != "add-task").collect();
    assert_eq!(phases, expected);
}

/// The action texts are included in a template, the reviewer's prompt, so they must not look like templates.
#[test]
fn no_text_looks_like_a_template() {
    for (file, text) in taskie().texts("") {
        for sign in ["{{", "{%", "{#"] {
            assert!(!text.contains(sign), "{file} holds {sign}");
        }
    }
}

// ── commands, phases and options that are named ─────────────────────────────────────────

fn schema() -> Value {
    Project::empty().run(&["schema", "state"]).json()
}

fn phases() -> BTreeSet<String> {
    schema()["properties"]["phase"]["enum"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase.as_str().unwrap().to_owned())
        .collect()
}

/// All strings in `value`, one per line.
fn strings(value: &toml::Value, found: &mut String) {
    match value {
        toml::Value::String(text) => {
            found.push_str(text);
            found.push('\n');
        }
        toml::Value::Array(values) => values.iter().for_each(|value| strings(value, found)),
        toml::Value::Table(table) => table.values().for_each(|value| strings(value, found)),
        _ => {}
    }
}

/// Every text of the default workflow that the agent, the reviewer or the user may read.
fn everything_said() -> Vec<(String, String)> {
    let mut texts = taskie().texts("");
    // Its values, because comments are for people who read the chart.
    let mut values = String::new();
    strings(&toml::Value::Table(taskie().chart()), &mut values);
    texts.push(("statechart.toml".to_owned(), values));
    texts.push(("README.md".to_owned(), read(Path::new(ROOT).join("README.md"))));
    for entry in fs::read_dir(Path::new(ROOT).join("templates")).unwrap() {
        let path = entry.unwrap().path();
        texts.push((path.display().to_string(), read(path)));
    }
    texts
}

#[test]
fn every_slash_command_that_is_named_exists() {
    let commands = taskie().names("commands");
    let mut named = BTreeSet::new();
    for (file, text) in everything_said() {
        for name in after(&text, "/taskie:", in_name) {
            if name == "ACTION" || name.is_empty() {
                continue;
            }
            assert!(commands.contains(name), "{file} names /taskie:{name}");
            named.insert(name.to_owned());
        }
        // `Skill(taskie:…)` grants; `*` is any.
        for name in after(&text, "Skill(taskie:", in_name) {
            assert!(name.is_empty() || commands.contains(name), "{file} grants {name}");
        }
    }
    assert!(named.len() > 10, "{named:?}");
}

/// Returns the command lines in a text: what begins with `taskie`, in back quotes or indented.
fn command_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text
        .lines()
        .filter_map(|line| {
            let code = line.trim_start();
            (line.len() - code.len() >= 4 && code.starts_with("taskie ")).then(|| code.to_owned())
        })
        .collect();
    // With `!` before it, the user types it at the host's prompt.
    let starts = ["`taskie ", "`! taskie "].into_iter();
    let starts = starts.flat_map(|start| text.match_indices(start));
    for (at, start) in starts {
        let rest = &text[at + start.len() - "taskie ".len()..];
        lines.extend(rest.split_once('`').map(|(code, _)| code.replace('\n', " ")));
    }
    // In a shell line, as `! taskie …` at the host's prompt.
    lines.retain(|line| !line.contains('…'));
    lines
}

/// Each is run for real, in a reviewer's session, which parses the command line and changes nothing.
#[test]
fn every_command_line_that_is_named_is_one() {
    let project = Project::in_state(json!({}));
    let before = project.files();
    let mut seen = BTreeSet::new();
    for (file, text) in everything_said() {
        for line in command_lines(&text) {
            // Filled in by the engine.
            let filled = line
                .replace("{{ cycle.post }}", "post-plan-review")
                .replace("{{ cycle.next }}", "complete-task")
                .replace("{{ step }}", "complete-task")
                .replace("{{ ' --task ' ~ task if task != '' else '' }}", " --task 1")
                .replace("{{steps}}", "/taskie:post-plan-review")
                .replace("{{action}}", "post-plan-review")
                .replace("{{ tables.tasks.open[0].id }}", "1")
                .replace("{{plan}}", PLAN)
                .replace("{{ scope.name }}", PLAN);
            let mut words: Vec<String> = filled
                .split_whitespace()
                .skip(1)
                .map(|word| word.trim_end_matches(',').to_owned())
                .collect();
            for word in &mut words {
                let value = match word.as_str() {
                    "PHASE" => "create-tasks",
                    "PLAN" => PLAN,
                    "NAME" => "pause",
                    "actions/ACTION.md" => "actions/create-tasks.md",
                    "commands/ACTION.md" => "commands/create-tasks.md",
                    "ID" => "1",
                    "accept|reject" => "accept",
                    "N" => "4",
                    _ => continue,
                };
                value.clone_into(word);
            }
            if let [word] = words.as_slice()
                && !["next", "status", "--version"].contains(&word.as_str())
            {
                // A command that is only named.
                words.push("--help".to_owned());
            }
            if let [enter, phase, ..] = words.as_slice()
                && enter == "enter"
                && phase != "--help"
            {
                assert!(phases().contains(phase), "{file}: `{line}` enters {phase}");
            }
            let mut command = project.command(&words);
            let ran = Ran::of(command.env("TASKIE_REVIEWER", "1").output().unwrap());
            assert_eq!(ran.err(), (0, ""), "{file}: `{line}` as {words:?}");
            seen.insert(line);
        }
    }
    for line in [
        "taskie enter complete-task --plan PLAN --task ID",
        "taskie add-task --plan PLAN --task ID",
        "taskie limit N",
    ] {
        assert!(seen.contains(line), "{line} is not among {seen:?}");
    }
    assert_eq!(project.files(), before);
}

// ── the ground rules, and how the engine reads them ─────────────────────────────────────

fn ground_rules() -> String {
    read(taskie().path("ground-rules.md"))
}

#[test]
fn the_ground_rules_list_the_fields_and_the_phases() {
    let rules = ground_rules();
    let (_, table) = rules.split_once("| Field | Type | Meaning |\n").unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .take_while(|line| line.starts_with('|'))
        .skip(1)
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let schema = schema();
    let properties = schema["properties"].as_object().unwrap();
    let listed: Vec<&str> = rows.iter().map(|row| row[1].trim_matches('`')).collect();
    let fields: Vec<&str> =
        properties.keys().map(String::as_str).filter(|name| *name != "$schema").collect();
    assert_eq!(BTreeSet::from_iter(listed), BTreeSet::from_iter(fields));
    for row in &rows {
        let name = row[1].trim_matches('`');
        let property = properties[name].to_string();
        assert_eq!(row[2].contains("or null"), property.contains("null"), "{name}: {property}");
    }
    let all = rules.split_once("\nThe phases are ").unwrap().1;
    let all = all.split_once(".\n").unwrap().0;
    let listed: BTreeSet<String> = all.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(listed, phases());
}

/// The blocks of the ground rules, in order: the directory, the table of tasks, a subtask.
fn samples() -> [String; 3] {
    let rules = ground_rules();
    let blocks: Vec<String> = rules.split("```\n").skip(1).step_by(2).map(str::to_owned).collect();
    blocks.try_into().unwrap()
}

#[test]
fn every_file_of_the_directory_structure_may_be_there() {
    let [directory, ..] = samples();
    let mut names = BTreeSet::new();
    for word in directory.split_whitespace() {
        if word.contains('.') && !word.starts_with('.') {
            names.insert(word.replace("ID", "2").replace("-N.md", "-1.md"));
        }
    }
    assert_eq!(names.len(), 15, "{names:?}");
    assert!(names.contains("state.json"));
    let project = Project::in_state(json!({ "next_phase": null }));
    for name in &names {
        if !["state.json", "tasks.md"].contains(&name.as_str()) {
            project.write(name, "# Some\n");
        }
    }
    assert_eq!(project.stop().json(), validated());
    // And nothing else is allowed.
    project.write("notes.md", "");
    assert_eq!(project.stop().json()["decision"], "block");
}

/// The engine reads the sample table and the sample subtask.
#[test]
fn the_samples_are_what_the_engine_reads() {
    let [_, tasks, subtask] = samples();
    let project = Project::with(&[("plan.md", "# Plan\n\n## Overview\n"), ("tasks.md", &tasks)]);
    project.set_state(
        json!({ "phase": "tasks-review", "next_phase": "complete-task", "current_task": null }),
    );
    let ran = project.run(&["next"]);
    // Of the two tasks the first is done.
    let expected = format!(
        "next: complete-task\nwhy:  The tasks-review was left without having passed. Next task: 2.\nplan: {PLAN}\n"
    );
    assert_eq!((ran.code, ran.stdout), (0, expected));
    project.set_state(json!({ "current_task": "2" }));
    let action = |text: &str| {
        project.write("task-2.md", format!("# Task 2\n\n{text}"));
        project.run(&["next", "--json"]).json()["action"].clone()
    };
    assert_eq!(action(&subtask), "continue-task");
    let pending = "- **Status**: pending\n";
    assert_eq!(subtask.matches(pending).count(), 1);
    let done = subtask.replace(pending, "- **Status**: done\n");
    assert_eq!(action(&done), "stop");
    assert_eq!(
        action(&format!("{done}\n{}", done.replace("done", "in-progress"))),
        "continue-task"
    );
}
