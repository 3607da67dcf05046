//! `taskie doctor`, with its own home directory, PATH and settings.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{PLAN, Project, Ran, cases, git, state};

/// A machine on which everything is fine, for tests to break.
struct Machine {
    project: Project,
    home: PathBuf,
    /// The only folder on PATH.
    bin: PathBuf,
}

impl Machine {
    fn sound() -> Self {
        let project = Project::in_state(json!({}));
        let base = project.bin.parent().unwrap().to_owned();
        let machine = Self {
            home: base.join("home"),
            bin: base.join("only"),
            project,
        };
        fs::create_dir_all(&machine.bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_taskie"), machine.bin.join("taskie")).unwrap();
        machine.program("claude", "echo '2.1.330 (Claude Code)'");
        let allow = json!({ "allow": ["Bash", "Skill", "Edit"] });
        machine
            .settings(json!({ "enabledPlugins": { "taskie@taskie": true }, "permissions": allow }));
        machine.installed(env!("CARGO_PKG_VERSION"));
        let next = machine.project.run(&["next", "--session", "mine"]);
        assert_eq!(next.code, 0);
        machine
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.bin.join(name);
        let _ = fs::remove_file(&path);
        crate::support::script(path, script);
    }

    fn write(&self, path: &Path, json: &Value) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, json.to_string()).unwrap();
    }

    /// The user's settings.
    fn settings(&self, json: Value) {
        self.write(&self.home.join(".claude/settings.json"), &json);
    }

    fn of_project(&self, name: &str, json: Value) {
        self.write(&self.project.root.join(".claude").join(name), &json);
    }

    /// The plugin, as the host records it.
    fn installed(&self, version: &str) {
        let copy = self.copy();
        fs::create_dir_all(&copy).unwrap();
        let entry = json!([{ "scope": "user", "installPath": copy, "version": version }]);
        let json = json!({ "version": 2, "plugins": { "taskie@taskie": entry } });
        self.write(
            &self.home.join(".claude/plugins/installed_plugins.json"),
            &json,
        );
    }

    fn copy(&self) -> PathBuf {
        self.home.join(".claude/plugins/cache/taskie")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        // The host refuses root its reviewer's flags unless this is set; the tests may run as root.
        command
            .env("PATH", &self.bin)
            .env("HOME", &self.home)
            .env("IS_SANDBOX", "1");
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// Returns the lines that are not ok (level, subject, text, help) and the exit code.
    fn troubles(&self, change: impl FnOnce(&mut Command)) -> (Vec<(String, String, String)>, i32) {
        let mut command = self.command(&["doctor", "--json"]);
        change(&mut command);
        let ran = Ran::of(command.output().unwrap());
        assert_eq!(ran.stderr, "");
        let json = ran.json();
        let lines = json["lines"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|line| line["level"] != "ok");
        let text = |line: &Value, key: &str| {
            line[key]
                .as_str()
                .unwrap()
                .replace(self.home.parent().unwrap().to_str().unwrap(), "BASE")
        };
        let lines: Vec<_> = lines
            .map(|line| {
                (
                    format!("{} {}", text(line, "level"), text(line, "about")),
                    text(line, "text"),
                    text(line, "help"),
                )
            })
            .collect();
        let problems = lines
            .iter()
            .filter(|(level, ..)| level.starts_with("problem"))
            .count();
        assert_eq!(
            (json["version"].clone(), json["problems"].clone()),
            (json!(1), json!(problems))
        );
        assert_eq!(json["warnings"], lines.len() - problems);
        (lines, ran.code)
    }

    /// The one line that is not ok.
    fn trouble(&self, change: impl FnOnce(&mut Command)) -> (String, String, String) {
        let (mut lines, code) = self.troubles(change);
        assert_eq!(lines.len(), 1, "{lines:?}");
        let line = lines.remove(0);
        assert_eq!(code, i32::from(line.0.starts_with("problem")), "{line:?}");
        line
    }
}

fn line(what: &str, text: &str, help: &str) -> (String, String, String) {
    (what.to_owned(), text.to_owned(), help.to_owned())
}

#[test]
fn a_sound_installation() {
    let machine = Machine::sound();
    let before = machine.project.files();
    let ran = machine.run(&["doctor"]);
    let exe = Path::new(env!("CARGO_BIN_EXE_taskie"))
        .canonicalize()
        .unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let clone = env!("CARGO_MANIFEST_DIR");
    // Paths are long and lines are wrapped, so only the words are compared.
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = format!(
        "ok taskie {version}, {}, built in {clone} → `git -C {clone} pull`, then build it again ok `taskie` on PATH is this one ok claude 2.1.330, {}/claude ok no settings file turns hooks off \
         ok the plugin taskie@taskie is enabled \
         → `claude plugin marketplace update taskie`, then `claude plugin update taskie@taskie` \
         ok the settings allow what a loop needs \
         ok 8 blocked stops in a row are allowed, and a cycle has at most 8 reviews (max_reviews) \
         ok the chart taskie has no findings ok the schema of state.json is valid ok the settings are valid ok sessions, costs and the journal are kept in .taskie/.locks ok plan {PLAN}: its state.json is valid No problems found.",
        exe.display(),
        machine.bin.display()
    );
    assert_eq!(
        (ran.code, words(&ran.stdout), ran.stderr.as_str()),
        (0, words(&expected), "")
    );
    assert_eq!(machine.project.files(), before);
    assert_eq!(machine.troubles(|_| {}), (vec![], 0));
}

/// The rules that the documentation gives are the ones that are checked.
#[test]
fn permission_rules_for_a_loop() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/install.md");
    let docs = fs::read_to_string(docs).unwrap();
    let (_, rules) = docs.split_once("## Permission rules").unwrap();
    let (_, rules) = rules.split_once("```json\n").unwrap();
    let rules: Value = serde_json::from_str(rules.split_once("```").unwrap().0).unwrap();
    let all = rules["permissions"]["allow"].as_array().unwrap();
    let machine = Machine::sound();
    let enabled = json!({ "taskie@taskie": true });
    let found = |rules: &[Value]| {
        let allow = json!({ "allow": rules });
        machine.settings(json!({ "enabledPlugins": enabled, "permissions": allow }));
        let json = machine.run(&["doctor", "--json"]).json();
        let lines = json["lines"].as_array().unwrap();
        let line = lines.iter().find(|line| line["about"] == "permissions");
        let line = line.unwrap();
        ["level", "text", "help"].map(|key| line[key].as_str().unwrap_or_default().to_owned())
    };
    let says = |level: &str, text: &str, help: &str| [level, text, help].map(str::to_owned);
    let none = says(
        "ok",
        "a session may ask before it uses `taskie enter`, `taskie next`, `taskie findings`, `git add`, `git commit`, \
         the skills of taskie, edits of .taskie/plans/**",
        "to be asked no more, add \"Bash(taskie enter:*)\", \"Bash(taskie next:*)\", \"Bash(taskie findings:*)\", \
         \"Bash(git add:*)\", \"Bash(git commit:*)\", \"Skill(taskie:*)\", \"Edit(.taskie/plans/**)\" to \"permissions\", \"allow\" in .claude/settings.json",
    );
    let some = says(
        "warning",
        "a part of what a loop needs is allowed, but not `git commit`, the skills of taskie, edits of .taskie/plans/**",
        "to be asked no more, add \"Bash(git commit:*)\", \"Skill(taskie:*)\", \"Edit(.taskie/plans/**)\" to \"permissions\", \"allow\" in .claude/settings.json",
    );
    let whole = says("ok", "the settings allow what a loop needs", "");
    assert_eq!(
        (found(&[]), found(&all[..4]), found(all)),
        (none, some, whole)
    );
}

#[test]
fn a_plugin_whose_files_are_gone() {
    let machine = Machine::sound();
    fs::remove_dir(machine.copy()).unwrap();
    assert_eq!(
        machine.trouble(|_| {}),
        line(
            "problem plugin",
            "the plugin taskie@taskie is enabled, but ~/.claude/plugins/cache/taskie is missing",
            "`claude plugin uninstall taskie@taskie`, then `claude plugin install taskie@taskie`"
        )
    );
    let file = machine.home.join(".claude/plugins/installed_plugins.json");
    machine.write(&file, &json!({ "plugins": { "taskie@taskie": "0.1.0" } }));
    assert_eq!(
        machine.trouble(|_| {}),
        line(
            "problem plugin",
            "the plugin taskie@taskie is enabled in ~/.claude/settings.json, but not installed",
            "`claude plugin install taskie@taskie`"
        )
    );
}

#[test]
fn a_settings_file_that_cannot_be_read_is_reported() {
    let machine = Machine::sound();
    let file = machine.project.root.join(".claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let made = Command::new("mkfifo").arg(&file).status().unwrap();
    assert!(made.success());
    let (what, text, _) = machine.trouble(|_| {});
    assert_eq!(what, "warning settings");
    assert!(
        text.ends_with("cannot be read: it is not a regular file"),
        "{text}"
    );
    let ran = machine.run(&["doctor"]);
    assert!(
        ran.stdout
            .contains("ok       no settings file that can be read turns hooks off"),
        "{}",
        ran.stdout
    );
}

#[test]
fn this_program_and_path() {
    let machine = Machine::sound();
    let folder = Path::new(env!("CARGO_BIN_EXE_taskie"))
        .parent()
        .unwrap()
        .display()
        .to_string();
    machine.program("taskie", "echo taskie 0.0.9");
    assert_eq!(
        machine.trouble(|_| {}),
        line(
            "problem path",
            "hooks and the agent find a different one: taskie 0.0.9, BASE/only/taskie",
            &format!("replace it, or put {folder} before it on PATH")
        )
    );
    machine.program(
        "taskie",
        &format!("echo taskie {}", env!("CARGO_PKG_VERSION")),
    );
    assert_eq!(machine.trouble(|_| {}).0, "warning path");
    machine.program("taskie", "echo broken >&2; exit 3");
    assert!(
        machine
            .trouble(|_| {})
            .1
            .ends_with("which does not print its version: broken")
    );
    fs::remove_file(machine.bin.join("taskie")).unwrap();
    assert_eq!(
        machine.trouble(|_| {}),
        line(
            "problem path",
            "`taskie` is not on PATH, so neither hooks nor the agent can find it",
            &format!("add {folder} to PATH where Claude Code is started")
        )
    );
}

#[test]
fn the_reviewer_s_program() {
    let machine = Machine::sound();
    for (script, level, text) in cases::<(&str, &str, &str)>("doctor", "the_reviewer_s_program") {
        machine.program("claude", script);
        let found = machine.trouble(|_| {});
        assert_eq!(
            (found.0, found.1.as_str()),
            (format!("{level} program"), text)
        );
    }
    fs::remove_file(machine.bin.join("claude")).unwrap();
    let found = machine.trouble(|_| {});
    assert_eq!(
        (found.0.as_str(), found.1.as_str()),
        (
            "problem program",
            "`claude` is not on PATH, so it cannot review"
        )
    );
    // Only the one that reviews has to be there.
    let file = machine.home.join(".config/taskie/taskie.json");
    machine.write(&file, &json!({ "reviewer": "codex" }));
    assert_eq!(
        machine.trouble(|_| {}).1,
        "`codex` is not on PATH, so it cannot review"
    );
    machine.program("codex", "echo codex-cli 0.169.0");
    assert_eq!(machine.troubles(|_| {}), (vec![], 0));
    let cases = [
        (json!(["codex:gpt-5", "gemini"]), "gemini"),
        (json!(["codex:gpt-5", "sonnet"]), "claude"),
    ];
    for (models, missing) in cases {
        machine.write(&file, &json!({ "models": models }));
        let (all, _) = machine.troubles(|_| {});
        let texts: Vec<_> = all.into_iter().map(|(_, text, _)| text).collect();
        let expected = format!("`{missing}` is not on PATH, so it cannot review");
        assert_eq!(texts, [expected], "{models}");
    }
    machine.write(&file, &json!({ "models": ["codex:gpt-5"] }));
    let lines = machine.run(&["doctor", "--json"]).json();
    let lines = lines["lines"].as_array().unwrap().iter();
    let programs = lines.filter(|line| line["about"] == "program");
    let texts: Vec<_> = programs
        .map(|line| line["text"].as_str().unwrap())
        .collect();
    let path = machine.bin.join("codex");
    assert_eq!(texts, [format!("codex 0.169.0, {}", path.display())]);
}

#[test]
fn only_root_needs_a_sandbox() {
    let machine = Machine::sound();
    if rustix::process::geteuid().is_root() {
        let found = machine.trouble(|command| _ = command.env_remove("IS_SANDBOX"));
        assert_eq!(found.0, "problem program");
        assert!(found.2.ends_with("set IS_SANDBOX=1"), "{found:?}");
        let file = machine.project.root.join(".taskie/config.json");
        machine.write(&file, &json!({ "permissions": "restricted" }));
        let found = machine.troubles(|command| _ = command.env_remove("IS_SANDBOX"));
        assert_eq!(found, (Vec::new(), 0));
    } else {
        let found = machine.troubles(|command| _ = command.env_remove("IS_SANDBOX"));
        assert_eq!(found, (Vec::new(), 0));
    }
}

#[test]
fn a_reviewer_s_environment() {
    for (value, how) in [("1", ""), ("", " to an empty text, which counts")] {
        let found = Machine::sound().trouble(|command| _ = command.env("TASKIE_REVIEWER", value));
        let text =
            format!("TASKIE_REVIEWER is set{how}, so every hook and command here does nothing");
        assert_eq!(
            found,
            line("problem environment", &text, "unset TASKIE_REVIEWER")
        );
    }
}

/// Nothing in the project runs because of its name, also if PATH has the project's folders.
#[test]
fn programs_of_the_project_are_not_run() {
    let machine = Machine::sound();
    let root = &machine.project.root;
    let tools = root.join("node_modules/.bin");
    fs::create_dir_all(&tools).unwrap();
    fs::create_dir_all(root.join("src")).unwrap();
    fs::create_dir(root.join(".git")).unwrap();
    for name in ["claude", "codex", "taskie"] {
        crate::support::script(tools.join(name), "touch \"$0.ran\"; echo 9.9.9");
    }
    for folder in [tools.to_str().unwrap(), ".", "../node_modules/.bin"] {
        let path = format!("{folder}:{}", machine.bin.display());
        for below in [root.clone(), root.join("src")] {
            let found = machine.troubles(|command| {
                command.env("PATH", &path).current_dir(&below);
            });
            assert_eq!(found, (Vec::new(), 0), "{folder}");
        }
    }
    let names = fs::read_dir(&tools).unwrap().count();
    assert_eq!(names, 3);
}

#[test]
fn hooks_that_are_off_in_any_settings_file() {
    for (name, shown) in [
        ("user", "~/.claude/settings.json"),
        ("settings.json", "BASE/project/.claude/settings.json"),
        (
            "settings.local.json",
            "BASE/project/.claude/settings.local.json",
        ),
    ] {
        let machine = Machine::sound();
        let off = json!({ "disableAllHooks": true, "enabledPlugins": { "taskie@taskie": true } });
        match name {
            "user" => machine.settings(off),
            name => machine.of_project(name, off),
        }
        let expected = line(
            "problem hooks",
            &format!("{shown} turns all hooks off, so nothing is reviewed"),
            "remove \"disableAllHooks\" from it",
        );
        assert_eq!(machine.trouble(|_| {}), expected);
        // This also works from a subdirectory of the repository.
        git(&machine.project.root, &["init", "-q"]);
        let sub = machine.project.root.join("sub");
        fs::create_dir(&sub).unwrap();
        assert_eq!(
            machine.trouble(|command| _ = command.current_dir(sub)),
            expected
        );
    }
    let machine = Machine::sound();
    machine.of_project("settings.json", json!({ "disableAllHooks": false }));
    assert_eq!(machine.troubles(|_| {}).0, []);
}

#[test]
fn another_config_folder() {
    let machine = Machine::sound();
    let config = machine.home.join("elsewhere");
    machine.write(
        &config.join("settings.json"),
        &json!({ "disableAllHooks": true }),
    );
    let (found, _) = machine.troubles(|command| _ = command.env("CLAUDE_CONFIG_DIR", config));
    let about: Vec<&str> = found.iter().map(|(what, ..)| what.as_str()).collect();
    assert_eq!(about, ["problem hooks", "problem plugin"]);
}

#[test]
fn a_settings_file_that_cannot_be_read() {
    let machine = Machine::sound();
    let path = machine.project.root.join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "{,}").unwrap();
    let found = machine.trouble(|_| {});
    assert_eq!(found.0, "warning settings");
    assert!(
        found.1.starts_with(
            "BASE/project/.claude/settings.json cannot be read: it is not valid JSON: "
        ),
        "{found:?}"
    );
}

#[test]
fn the_plugin() {
    let key = "taskie@taskie";
    let machine = Machine::sound();
    machine.installed("9.9.9");
    let found = machine.trouble(|_| {});
    assert_eq!(found.0, "warning plugin");
    assert_eq!(
        found.1,
        format!(
            "the plugin {key} is version 9.9.9, this program is {}",
            env!("CARGO_PKG_VERSION")
        )
    );

    machine.installed(env!("CARGO_PKG_VERSION"));
    machine.of_project("settings.json", json!({ "enabledPlugins": { key: false } }));
    assert_eq!(
        machine.trouble(|_| {}),
        line(
            "problem plugin",
            &format!("the plugin {key} is disabled in BASE/project/.claude/settings.json"),
            &format!("`claude plugin enable {key}`")
        )
    );
    machine.of_project(
        "settings.local.json",
        json!({ "enabledPlugins": { key: true } }),
    );
    assert_eq!(
        machine.troubles(|_| {}).0,
        [],
        "the project's local settings have the last word"
    );

    let machine = Machine::sound();
    machine.settings(json!({}));
    assert_eq!(
        machine.trouble(|_| {}).1,
        format!("the plugin {key} is installed, but not enabled")
    );

    let machine = Machine::sound();
    fs::remove_dir_all(machine.home.join(".claude/plugins")).unwrap();
    assert_eq!(
        machine.trouble(|_| {}).2,
        format!("`claude plugin install {key}`")
    );

    fs::remove_dir_all(machine.home.join(".claude")).unwrap();
    let found = machine.trouble(|_| {});
    assert_eq!(found.0, "problem plugin");
    assert!(
        found.1.starts_with("nothing calls the Stop hook")
            && found.2.ends_with(&format!("`claude plugin install {key}`")),
        "{found:?}"
    );
}

#[test]
fn a_hook_in_a_settings_file() {
    let hook = |timeout: u64| json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "taskie hook stop", "timeout": timeout }] }] } });
    let machine = Machine::sound();
    fs::remove_dir_all(machine.home.join(".claude")).unwrap();
    machine.of_project("settings.json", hook(600));
    assert_eq!(machine.troubles(|_| {}).0, []);
    machine.of_project("settings.json", hook(60));
    let found = machine.trouble(|_| {});
    assert_eq!(
        (found.0.as_str(), found.2.as_str()),
        ("problem plugin", "set its \"timeout\" to 600 or more")
    );

    // The events that a chart of one's own asks for.
    let chart = crate::bench::copy_of_chart(&machine.project, str::to_owned);
    let chart = chart.to_str().unwrap();
    let call = |event: &str| {
        let command = format!("taskie --chart {chart} hook {event}");
        json!([{ "hooks": [{ "type": "command", "command": command, "timeout": 600 }] }])
    };
    let unheard = |hooks: Value| {
        machine.of_project("settings.json", json!({ "hooks": hooks }));
        let all = machine.run(&["--chart", chart, "doctor", "--json"]).json();
        let lines = all["lines"].as_array().unwrap().clone();
        let lines = lines.into_iter().filter(|line| line["level"] != "ok");
        lines
            .map(|line| (line["text"].clone(), line["help"].clone()))
            .collect::<Vec<_>>()
    };
    let text = "no settings file calls the rules that the chart has for SessionStart";
    let help =
        format!("add `taskie --chart {chart} hook session-start` to the hooks of SessionStart");
    assert_eq!(
        unheard(json!({ "Stop": call("stop") })),
        [(json!(text), json!(help))]
    );
    let both = json!({ "Stop": call("stop"), "SessionStart": call("session-start") });
    assert_eq!(unheard(both), []);

    let machine = Machine::sound();
    machine.of_project("settings.json", hook(600));
    let found = machine.trouble(|_| {});
    assert_eq!(found.0, "warning plugin");
    assert!(
        found
            .1
            .ends_with("calls the Stop hook too, so it runs twice at each stop"),
        "{found:?}"
    );
}

#[test]
fn the_host_s_block_cap() {
    let machine = Machine::sound();
    machine.project.set_state(json!({ "max_reviews": 20 }));
    assert_eq!(
        machine.trouble(|_| {}),
        line(
            "warning blocks",
            "a cycle may have 20 reviews (max_reviews), but an agent that uses no tool in between may stop after 8 blocks",
            "set CLAUDE_CODE_STOP_HOOK_BLOCK_CAP to 20 under \"env\" in settings.json"
        )
    );
    for cap in ["20", "0", " 30 "] {
        assert_eq!(
            machine
                .troubles(|command| _ = command.env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", cap))
                .0,
            [],
            "{cap}"
        );
    }
    machine.of_project(
        "settings.json",
        json!({ "env": { "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "25" } }),
    );
    assert_eq!(
        machine
            .troubles(|command| _ = command.env("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "1"))
            .0,
        []
    );
    machine.of_project(
        "settings.json",
        json!({ "env": { "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "many" } }),
    );
    assert_eq!(
        machine.trouble(|_| {}).1,
        "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP is \"many\", which is not a number"
    );
}

#[test]
fn the_current_plan() {
    let machine = Machine::sound();
    machine.project.write("notes.md", "x");
    assert_eq!(
        machine.trouble(|_| {}),
        line(
            "warning instance",
            "plan test-plan: its files have 1 finding",
            "`taskie validate test-plan` shows them"
        )
    );
    let cases = [
        (json!({ "phase": "nowhere" }), "problem instance"),
        (json!({ "tdd": "yes" }), "problem instance"),
    ];
    for (changes, what) in cases {
        let machine = Machine::sound();
        machine
            .project
            .write("state.json", state(changes).to_string());
        assert_eq!(machine.trouble(|_| {}).0, what);
    }
    let machine = Machine::sound();
    machine
        .project
        .write("state.json", r#"{"phase": "new-plan", "next_phase": null}"#);
    let found = machine.trouble(|_| {});
    assert_eq!(found.0, "warning instance");
    assert!(
        found
            .1
            .ends_with("lacks `max_reviews`, `review_model`, `consecutive_clean`, `tdd`"),
        "{found:?}"
    );

    fs::remove_file(machine.project.plan().join("state.json")).unwrap();
    assert_eq!(
        machine.trouble(|_| {}).1,
        "plan test-plan has no state.json, so no review is ever due"
    );
    fs::remove_dir_all(machine.project.root.join(".taskie")).unwrap();
    assert_eq!(machine.troubles(|_| {}).0, []);
    assert!(
        machine
            .run(&["doctor"])
            .stdout
            .contains("there is no plan here, so hooks allow everything")
    );
}

/// The other hosts that the user has: each line says where the Stop hook is called there, or what is missing.
#[test]
fn the_other_hosts() {
    let machine = Machine::sound();
    let lines = || -> Vec<String> {
        let ran = machine.run(&["doctor", "--json"]);
        let lines = ran.json()["lines"].as_array().unwrap().clone();
        let lines = lines.iter().filter(|line| line["about"] == "host");
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let line = |line: &Value| {
            let [level, what, help] = ["level", "text", "help"].map(|key| text(&line[key]));
            format!("{level}: {what} / {help}")
        };
        lines.map(line).collect()
    };
    assert_eq!(lines(), [""; 0], "only Claude Code is here");

    let config = machine.home.join(".codex/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    let nothing = "ok: nothing calls the Stop hook in Codex / to use it there, in a clone of the repository: \
                   `codex plugin marketplace add ./` and `codex plugin add taskie@taskie`";
    assert_eq!(lines(), [nothing]);
    machine.program("codex", "echo codex-cli 0.169.0");
    let installed = "[plugins.\"taskie@taskie\"]\nenabled = true\n";
    fs::write(&config, installed.replace("true", "false")).unwrap();
    assert_eq!(lines(), [nothing]);
    fs::write(&config, installed).unwrap();
    assert_eq!(
        lines(),
        [
            "problem: Codex 0.169.0 doesn't trust the Stop hook of the plugin taskie@taskie yet, so it doesn't run it \
             / start `codex` once, and trust the hooks"
        ]
    );
    let trusted =
        "[hooks.state.\"taskie@taskie:hooks/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:0\"\n";
    fs::write(&config, format!("{installed}{trusted}")).unwrap();
    let fine = "ok: Codex 0.169.0 runs the Stop hook of the plugin taskie@taskie / -";
    assert_eq!(lines(), [fine]);
    machine.program("codex", "echo codex-cli 0.131.9");
    assert_eq!(
        lines(),
        ["problem: Codex 0.131.9 runs no hooks of plugins / update it: 0.132.0 or later does"]
    );

    // The user has added the hook by hand as well. Codex names it by its file.
    machine.program("codex", "echo codex-cli 0.169.0");
    let hook = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "taskie hook stop" }] }] } });
    machine.write(&machine.home.join(".codex/hooks.json"), &hook);
    let untrusted = "problem: Codex 0.169.0 doesn't trust the Stop hook in ~/.codex/hooks.json yet, so it doesn't run it \
                     / start `codex` once, and trust the hooks";
    let twice = "warning: Codex runs the Stop hook in ~/.codex/hooks.json too, so there are two at each stop \
                 / remove one of the two";
    assert_eq!(lines(), [untrusted, twice]);
    fs::remove_dir_all(machine.home.join(".codex")).unwrap();
    fs::remove_file(machine.bin.join("codex")).unwrap();

    // One hook is enough, whichever host calls it.
    machine.settings(json!({}));
    fs::remove_dir_all(machine.home.join(".claude/plugins")).unwrap();
    let (troubles, _) = machine.troubles(|_| {});
    assert_eq!(troubles[0].0, "problem plugin");
    for (folder, file, host) in [
        (".copilot", "hooks/mine.json", "GitHub Copilot CLI"),
        (".gemini", "settings.json", "Gemini CLI"),
        (".qwen", "settings.json", "Qwen Code"),
    ] {
        let folder = machine.home.join(folder);
        machine.write(&folder.join(file), &hook);
        let shown = folder
            .join(file)
            .strip_prefix(&machine.home)
            .unwrap()
            .display()
            .to_string();
        assert_eq!(
            lines(),
            [format!("ok: {host} runs the Stop hook in ~/{shown} / -")]
        );
        assert_eq!(machine.troubles(|_| {}), (vec![], 0));
        fs::remove_dir_all(folder).unwrap();
    }
    let enabled = json!({ "enabledPlugins": { "taskie@taskie": true, "other@market": true } });
    machine.write(&machine.home.join("elsewhere/settings.json"), &enabled);
    let elsewhere = machine.home.join("elsewhere");
    let found = machine.troubles(|command| _ = command.env("COPILOT_HOME", &elsewhere));
    assert_eq!(found, (vec![], 0));
}

#[test]
fn a_chart_of_your_own() {
    let machine = Machine::sound();
    let chart = crate::bench::copy_of_chart(&machine.project, |text| {
        text.replace("[let]\n", "[let]\nspare = \"free\"\n")
    });
    let ran = machine.run(&["--chart", chart.to_str().unwrap(), "doctor", "--json"]);
    let lines = ran.json()["lines"].clone();
    let of = |about: &str| {
        lines
            .as_array()
            .unwrap()
            .iter()
            .find(|line| line["about"] == about)
            .unwrap()
            .clone()
    };
    assert_eq!(of("chart")["level"], "warning", "{lines}");
    assert!(
        of("chart")["help"]
            .as_str()
            .unwrap()
            .starts_with("`taskie check-chart /")
    );
    assert_eq!(
        of("plugin")["text"],
        "no settings file calls the Stop hook for this chart"
    );
    assert_eq!(ran.code, 1);
}

/// Whether a comment ignores a finding that only exploring shows is left to `check-chart`.
#[test]
fn a_finding_that_is_ignored_is_not_counted() {
    let machine = Machine::sound();
    let chart = crate::bench::copy_of_chart(&machine.project, |text| {
        text.replace("[let]\n", "# taskie: ignore[dead-end] known\n[let]\n")
    });
    let chart = chart.to_str().unwrap();
    let ran = machine.run(&["--chart", chart, "doctor"]);
    let words: Vec<&str> = ran.stdout.split_whitespace().collect();
    assert!(
        words.join(" ").contains("statechart.toml has no findings"),
        "{}",
        ran.stdout
    );
}

#[test]
fn help_lines_name_the_chart_that_the_user_gave() {
    let machine = Machine::sound();
    let chart = crate::bench::copy_of_chart(&machine.project, str::to_owned);
    let chart = chart.to_str().unwrap();
    fs::remove_file(machine.project.plan().join("state.json")).unwrap();
    let ran = machine.run(&["--chart", chart, "doctor", "--json"]);
    let help = format!("write it with `taskie --chart {chart} enter PHASE --plan test-plan`");
    assert!(
        ran.json()["lines"]
            .as_array()
            .unwrap()
            .iter()
            .any(|line| line["help"] == help),
        "{}",
        ran.stdout
    );
    let ran = machine.run(&["--chart", chart, "next", "--plan", "tset"]);
    assert!(
        ran.stderr.contains("there is no plan `tset`"),
        "{}",
        ran.stderr
    );
    fs::remove_dir_all(machine.project.root.join(".taskie")).unwrap();
    let ran = machine.run(&["--chart", chart, "next"]);
    let help = format!("start one with `taskie --chart {chart} enter new-plan --plan NAME`");
    assert!(ran.stderr.contains(&help), "{}", ran.stderr);
}

/// Nothing reviews a plan that no session drives.
#[test]
fn a_plan_that_no_session_drives() {
    let machine = Machine::sound();
    fs::remove_dir_all(machine.project.root.join(".taskie/.locks")).unwrap();
    let expected = line(
        "warning instance",
        "no session drives plan test-plan, so a stop does nothing about it",
        "Plan 'test-plan' waits for its code-review, but this session has not taken it up: /taskie:continue-plan",
    );
    assert_eq!(machine.trouble(|_| {}), expected);
}

/// Hooks that name no chart serve the project's own one.
#[test]
fn a_trusted_chart_of_the_project() {
    let machine = Machine::sound();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let home = machine.project.root.join(".taskie");
    for name in ["statechart.toml", "templates", "plugin/taskie"] {
        let to = home.join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        let copied = Command::new("cp")
            .args(["-r", &format!("{root}{name}")])
            .arg(&to)
            .status();
        assert!(copied.unwrap().success());
    }
    assert_eq!(machine.run(&["trust", "--yes"]).code, 0);
    assert_eq!(machine.troubles(|_| {}), (Vec::new(), 0));
}

/// Only root can give a folder to someone else.
#[test]
fn a_home_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let machine = Machine::sound();
    let home = machine.project.root.join(".taskie");
    let chown = Command::new("chown").arg("65534").arg(&home).status();
    assert!(chown.unwrap().success());
    let expected = line(
        "problem project",
        ".taskie is not used: it belongs to another user (uid 65534, and you are 0)",
        "`sudo chown -R 0 BASE/project/.taskie` makes it yours",
    );
    assert_eq!(machine.trouble(|_| {}), expected);
    let stop = machine.project.stop().message();
    assert!(stop.contains("`sudo chown -R 0 "), "{stop}");
}
