//! Which project, which plan and whose: the home is searched upward, the plan that was modified last counts, and a
//! plan belongs to the session that drives it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::expected::plan_in;
use crate::support::{
    PLAN, Project, Ran, Reviewer, allowed, cases, feed, git, nobodys, set_mode, set_modified,
    silent, state, validated,
};

/// A plan with a plan.md and nothing else, in this directory.
fn make_plan(root: &Path, name: &str) -> PathBuf {
    let plan = root.join(".taskie/plans").join(name);
    fs::create_dir_all(&plan).unwrap();
    fs::write(plan.join("plan.md"), "# Plan\n").unwrap();
    plan
}

/// A stop with `cwd` as the session's directory and additional environment variables; the hook itself starts
/// elsewhere.
fn stop_in(project: &Project, cwd: &Path, env: &[(&str, &Path)]) -> Ran {
    let mut command = project.command(["hook", "stop"]);
    command.current_dir("/").envs(env.iter().copied());
    feed(command, json!({ "cwd": cwd }).to_string())
}

fn validated_as(name: &str) -> Value {
    allowed(&format!("Plan '{name}' structure validated successfully"))
}

/// No event can name such a folder, but a hook can be started in it.
#[test]
#[cfg(target_os = "linux")]
fn a_project_whose_path_is_not_utf_8() {
    use std::os::unix::ffi::OsStrExt as _;

    let project = plan_in(&json!({}), &Reviewer::fail());
    let name = std::ffi::OsStr::from_bytes(b"pro\xffject");
    let root = project.root.with_file_name(name);
    fs::rename(&project.root, &root).unwrap();
    let run = |args: &[&str]| {
        let mut command = project.command(args);
        command.current_dir(&root);
        feed(command, "{}")
    };
    let stop = run(&["hook", "stop"]);
    assert_eq!((stop.code, &stop.json()["decision"]), (0, &json!("block")));
    let answer = format!(".taskie/plans/{PLAN}/task-1-post-review-1.md");
    fs::write(root.join(answer), "# Answer\n").unwrap();
    let commands: [&[&str]; 9] = [
        &["enter", "post-code-review"],
        &["next"],
        &["status"],
        &["log"],
        &["log", "--why", "next"],
        &["list"],
        &["validate"],
        &["run", "limit", "3"],
        &["render", "--next"],
    ];
    for command in commands {
        assert_eq!(run(command).code, 0, "{command:?}");
    }
}

// ── the project's root ──────────────────────────────────────────────────────────────────

#[test]
fn the_home_is_searched_upward() {
    type Case = (
        &'static str,
        Vec<&'static str>,
        &'static str,
        &'static str,
        &'static str,
    );
    let cases: Vec<Case> = cases("project_root", "the_home_is_searched_upward");
    for (what, make, home, cwd, found) in cases {
        let project = Project::empty();
        let top = &project.root;
        for entry in make {
            if let Some((link, target)) = entry.split_once("->") {
                std::os::unix::fs::symlink(top.join(target), top.join(link)).unwrap();
            } else if let Some((dir, plan)) = entry.split_once('@') {
                make_plan(&top.join(dir), plan);
            } else if entry.ends_with('/') {
                fs::create_dir_all(top.join(entry)).unwrap();
            } else {
                fs::create_dir_all(top.join(entry).parent().unwrap()).unwrap();
                fs::write(top.join(entry), "gitdir: elsewhere\n").unwrap();
            }
        }
        let ran = stop_in(&project, &top.join(cwd), &[("HOME", &top.join(home))]);
        assert_eq!(ran.err(), (0, ""), "{what}");
        match found {
            "" => assert_eq!(ran.stdout, silent(), "{what}"),
            name => assert_eq!(ran.json(), validated_as(name), "{what}"),
        }
    }
}

#[test]
fn the_hosts_project_directory() {
    let project = Project::empty();
    let top = &project.root;
    let (here, there) = (top.join("here"), top.join("there"));
    make_plan(&there, "there");
    fs::create_dir_all(here.join("deep")).unwrap();
    fs::create_dir_all(top.join("empty")).unwrap();
    let stop = |cwd: &Path, dir: &Path| stop_in(&project, cwd, &[("CLAUDE_PROJECT_DIR", dir)]);
    assert_eq!(stop(&here, &there).json(), validated_as("there"));
    // Outside git, no directory above it is searched.
    fs::create_dir_all(there.join("below")).unwrap();
    assert_eq!(stop(&here, &there.join("below")).stdout, silent());
    fs::create_dir_all(there.join(".git")).unwrap();
    assert_eq!(
        stop(&here, &there.join("below")).json(),
        validated_as("there")
    );
    assert_eq!(stop(&here, &top.join("empty")).stdout, silent());
    assert_eq!(stop(&here, Path::new("")).stdout, silent());
    // Elsewhere, the agent's directory comes first.
    make_plan(&here, "here");
    assert_eq!(stop(&here, &there).json(), validated_as("here"));
    assert_eq!(
        stop(&here.join("deep"), &there).json(),
        validated_as("there")
    );
}

/// An agent that has changed to a dependency's directory: the dependency's files don't belong to the project.
#[test]
fn a_dependency_with_a_home_of_its_own() {
    for git in [None, Some(".git"), Some("node_modules/evil/.git")] {
        let project = Project::in_state(json!({ "next_phase": null }));
        let dependency = project.root.join("node_modules/evil");
        let evil = make_plan(&dependency, "evil");
        fs::write(evil.join("state.json"), state(json!({})).to_string()).unwrap();
        if let Some(git) = git {
            fs::create_dir_all(project.root.join(git)).unwrap();
        }
        project.reviewer(&Reviewer::fail());
        let env = [("CLAUDE_PROJECT_DIR", project.root.as_path())];
        assert_eq!(stop_in(&project, &dependency, &env).json(), validated());
        // Without a plan of its own, the project has none.
        fs::remove_dir_all(project.root.join(".taskie")).unwrap();
        assert_eq!(stop_in(&project, &dependency, &env).stdout, silent());
        assert_eq!(project.calls().len(), 0);
    }
}

/// Whoever can write to a home or a plan decides what the user's reviewer reads and does.
#[test]
fn what_others_may_write_to_is_not_used() {
    for dir in [".taskie".to_owned(), format!(".taskie/plans/{PLAN}")] {
        let project = plan_in(&json!({}), &Reviewer::fail());
        let path = project.root.join(&dir);
        set_mode(&path, 0o757);
        let why = format!(
            "every user of this machine may write to it; `chmod o-w {}` changes that",
            path.display()
        );
        assert_eq!(
            project.stop().json(),
            allowed(&format!("{dir} is not used: {why}."))
        );
        let ran = project.run(&["run", "pause"]);
        assert_eq!(
            (ran.code, ran.stderr),
            (1, format!("taskie: {dir} is not used: {why}\n"))
        );
        assert_eq!(project.calls().len(), 0);
    }
}

#[test]
fn a_review_runs_in_the_projects_root_wherever_the_agent_is() {
    let project = plan_in(&json!({}), &Reviewer::fail().first("pwd > \"$here/pwd\""));
    let below = project.root.join("src");
    fs::create_dir(&below).unwrap();
    fs::create_dir(project.root.join(".git")).unwrap();
    assert_eq!(stop_in(&project, &below, &[]).json()["decision"], "block");
    assert_eq!(
        fs::read_to_string(project.bin.join("pwd")).unwrap(),
        format!("{}\n", project.root.display())
    );
    project.write("task-1-post-review-1.md", "# Answer\n");
    let mut command = project.command(["enter", "post-code-review"]);
    let ran = Ran::of(command.current_dir(&below).output().unwrap());
    assert_eq!(ran.err(), (0, ""));
    assert_eq!(project.state()["phase"], "post-code-review");
}

/// Where a new plan is created: (what to create, home directory, working directory, the plan's path).
#[test]
fn a_new_plan_is_made_where_it_will_be_found() {
    let cases: &[(&[&str], &str, &str, Option<&str>)] = &[
        (&["a/"], "home", "a", Some("a")),
        (&["a/.git/", "a/b/"], "home", "a/b", Some("a")),
        (
            &["a/.git/", "a/b/.taskie/", "a/b/c/"],
            "home",
            "a/b/c",
            Some("a/b"),
        ),
        (
            &["home/.git/", "home/x/y/"],
            "home",
            "home/x/y",
            Some("home/x/y"),
        ),
        (
            &["home/.git/", "home/x/.git/", "home/x/y/"],
            "home",
            "home/x/y",
            Some("home/x"),
        ),
        (&["home/"], "home", "home", None),
        (&["home/x/"], "home/x", "home", None),
    ];
    for (make, home, cwd, expected) in cases {
        let project = Project::empty();
        let top = &project.root;
        for entry in *make {
            fs::create_dir_all(top.join(entry)).unwrap();
        }
        let mut command = project.command(["enter", "new-plan", "--plan", "p"]);
        let ran = Ran::of(
            command
                .current_dir(top.join(cwd))
                .env("HOME", top.join(home))
                .output()
                .unwrap(),
        );
        let Some(expected) = expected else {
            let stderr = format!(
                "taskie: {} is your home directory or above it, where no plan can be\n  help: start the plan in the directory of a project\n",
                top.join(cwd).display()
            );
            assert_eq!(
                (ran.code, ran.stdout.as_str(), ran.stderr),
                (1, "", stderr),
                "{cwd}"
            );
            assert!(project.files().is_empty(), "{cwd}");
            continue;
        };
        assert_eq!(ran.err(), (0, ""), "{cwd}");
        let states: Vec<String> = project
            .files()
            .into_keys()
            .filter(|name| name.ends_with("state.json"))
            .collect();
        assert_eq!(states, [format!("{expected}/.taskie/plans/p/state.json")]);
        // And the hook finds it.
        fs::write(top.join(expected).join(".taskie/plans/p/notes.md"), "").unwrap();
        let ran = stop_in(&project, &top.join(cwd), &[("HOME", &top.join(home))]);
        assert_eq!(ran.json()["decision"], "block", "{cwd}");
    }
}

// ── the newest plan ─────────────────────────────────────────────────────────────────────

fn age(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 - seconds);
    set_modified(path, time);
}

#[test]
fn the_plan_modified_last_is_used() {
    for (what, files, expected) in
        cases::<(&str, Vec<(&str, u64)>, &str)>("project_root", "the_plan_modified_last_is_used")
    {
        let project = Project::empty();
        let plans = project.root.join(".taskie/plans");
        for (name, seconds) in files {
            let path = plans.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = match path.file_name().unwrap().to_str().unwrap() {
                "tasks.md" => "| Id | Status |\n".to_owned(),
                "state.json" => state(json!({ "next_phase": null })).to_string(),
                _ => "# Plan\n".to_owned(),
            };
            fs::write(&path, text).unwrap();
            age(&path, seconds);
        }
        assert_eq!(project.stop().json(), validated_as(expected), "{what}");
    }
}

#[test]
fn commands_use_the_plan_modified_last_unless_one_is_named() {
    let project = Project::in_state(json!({ "next_phase": "code-review" }));
    let other = make_plan(&project.root, "other");
    fs::write(other.join("state.json"), state(json!({})).to_string()).unwrap();
    for name in [
        "plan.md",
        "state.json",
        "tasks.md",
        "task-1.md",
        "task-2.md",
    ] {
        age(&project.plan().join(name), 50);
    }
    let paused = "Paused: `taskie run resume` returns to it.\n";
    let (mine, other) = (project.plan(), project.plan().with_file_name("other"));
    let is_paused = |plan: &Path| {
        let text = fs::read_to_string(plan.join("state.json")).unwrap();
        let state: Value = serde_json::from_str(&text).unwrap();
        state["paused"] == "code-review"
    };
    let ran = project.run(&["run", "pause"]);
    assert_eq!(ran.all(), (0, paused, ""));
    assert_eq!((is_paused(&mine), is_paused(&other)), (false, true));
    let ran = project.run(&["run", "pause", "--plan", PLAN]);
    assert_eq!(ran.all(), (0, paused, ""));
    assert!(is_paused(&mine));
    let ran = project.run(&["run", "pause", "--plan", "othr"]);
    assert_eq!(
        ran.err(),
        (
            1,
            "taskie: there is no plan `othr`\n  help: did you mean `other`?\n"
        )
    );
    // A write modifies the plan: the named one is the newest now.
    let ran = project.run(&["run", "resume"]);
    let nobodys = nobodys("code-review");
    let resumed = format!("Resumed: the loop goes on where it was.\n{nobodys}\n");
    assert_eq!(ran.out(), (0, resumed.as_str()));
    assert_eq!((is_paused(&mine), is_paused(&other)), (false, true));
}

#[test]
fn a_thousand_plans() {
    let project = Project::in_state(json!({ "next_phase": null }));
    for index in 0..1_000 {
        let plan = make_plan(&project.root, &format!("plan-{index}"));
        age(&plan.join("plan.md"), 100);
    }
    assert_eq!(project.stop().json(), validated());
}

// ── who drives a plan ───────────────────────────────────────────────────────────────────

/// `taskie ARGS` as a tool of this session.
fn as_session(project: &Project, session: &str, args: &[&str]) -> Ran {
    Ran::of(
        project
            .command(args)
            .env("CLAUDE_CODE_SESSION_ID", session)
            .output()
            .unwrap(),
    )
}

/// The answer to a session whose plan another one has taken over.
fn taken_over(name: &str) -> Value {
    allowed(&format!(
        "Another session has taken over plan '{name}': from now on, every stop of this session is allowed. /taskie:continue-plan takes the plan back."
    ))
}

/// The whole answer to a stop of a session that has claimed nothing.
fn is_left_alone(project: &Project, session: &str) {
    let before = project.files();
    let calls = project.calls().len();
    let ran = project.stop_of(session);
    assert_eq!(ran.all(), (0, silent(), ""), "{session}");
    assert_eq!((project.files(), project.calls().len()), (before, calls));
}

/// The same where nobody drives the plan, and its review is due: the user is told once.
fn is_told_and_left_alone(project: &Project, session: &str) {
    let before = project.files();
    let calls = project.calls().len();
    let ran = project.stop_of(session);
    let told = format!(
        "Plan '{PLAN}' waits for its code-review, but this session has not taken it up: /taskie:continue-plan"
    );
    assert_eq!(
        (ran.code, ran.json(), ran.stderr.as_str()),
        (0, allowed(&told), "")
    );
    assert_eq!((project.files(), project.calls().len()), (before, calls));
    is_left_alone(project, session);
}

#[test]
fn a_stop_acts_on_the_plan_that_its_session_claimed() {
    for take_up in [
        &["enter", "complete-task", "--task", "1"][..],
        &["next"],
        &["run", "limit", "4"],
    ] {
        let project = plan_in(&json!({}), &Reviewer::fail());
        // A session that has never used the plan, whatever is wrong or due there.
        project.write("notes.md", "");
        is_told_and_left_alone(&project, "mine-1");
        fs::remove_file(project.plan().join("notes.md")).unwrap();
        is_left_alone(&project, "mine-1");
        assert_eq!(as_session(&project, "mine-1", take_up).code, 0);
        assert!(project.state().get("owner").is_none());
        is_left_alone(&project, "other-2");
        assert_eq!(project.stop_of("mine-1").json()["decision"], "block");
        project.write("task-1-post-review-1.md", "# Answer\n");
        // Another session claims it: the old one gets one message about it.
        assert_eq!(
            as_session(&project, "other-2", &["enter", "post-code-review"]).code,
            0
        );
        assert_eq!(project.stop_of("mine-1").json(), taken_over(PLAN));
        is_left_alone(&project, "mine-1");
        assert_eq!(project.stop_of("other-2").json()["decision"], "block");
        // And the other way round.
        assert_eq!(as_session(&project, "mine-1", &["next"]).code, 0);
        assert_eq!(project.stop_of("other-2").json(), taken_over(PLAN));
        is_left_alone(&project, "other-2");
    }
}

#[test]
fn refused_commands_claim_nothing() {
    let project = Project::in_state(json!({}));
    assert_eq!(as_session(&project, "mine", &["run", "resume"]).code, 1);
    assert_eq!(
        as_session(&project, "mine", &["enter", "next-task"]).code,
        1
    );
    assert_eq!(as_session(&project, "mine", &["status"]).code, 0);
    is_told_and_left_alone(&project, "mine");
}

/// A command that takes up no plan leaves it to the session that drives it.
#[test]
fn a_command_takes_no_plan_over() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    assert_eq!(as_session(&project, "mine", &["next"]).code, 0);
    for command in [&["limit", "5"][..], &["pause"], &["resume"]] {
        let command = [&["run"], command].concat();
        assert_eq!(as_session(&project, "other", &command).err(), (0, ""));
    }
    is_left_alone(&project, "other");
    assert_eq!(project.stop_of("mine").json()["decision"], "block");
}

/// Each host passes the session in a variable of its own; `--session` takes precedence over all of them.
#[test]
fn where_the_session_is_named() {
    for variable in [
        "CLAUDE_CODE_SESSION_ID",
        "CODEX_SESSION_ID",
        "COPILOT_AGENT_SESSION_ID",
    ] {
        let project = Project::in_state(json!({ "next_phase": null }));
        let next = |args: &[&str]| {
            let ran = project.command(args).env(variable, "env").output().unwrap();
            assert!(ran.status.success());
        };
        next(&["next", "--session", "option"]);
        is_left_alone(&project, "env");
        assert_eq!(project.stop_again_of("option").json(), validated());
        next(&["next"]);
        assert_eq!(project.stop_again_of("env").json(), validated());
    }
}

/// A plain terminal has no session: it changes the state, says so, and claims nothing.
#[test]
fn a_terminal_claims_nothing() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    let undriven = "The code-review is due, but no session is working on this plan: run /taskie:continue-plan in a session to start the review.\n";
    let typed = |args: &[&str]| {
        use std::io::Read as _;

        let (mut child, mut terminal) = crate::status::on_terminal(project.command(args), 200, 24);
        assert!(child.wait().unwrap().success());
        let mut text = Vec::new();
        // A terminal that nobody writes to any more ends with an error.
        let _ = terminal.read_to_end(&mut text);
        String::from_utf8_lossy(&text).replace('\r', "")
    };
    for args in [
        &["run", "limit", "4"][..],
        &["enter", "complete-task", "--task", "1"],
    ] {
        let shown = typed(args);
        assert!(shown.ends_with(undriven), "{shown}");
        // A script is no terminal.
        assert!(!project.run(args).stdout.contains("drives"));
    }
    is_told_and_left_alone(&project, "mine");
    assert_eq!(as_session(&project, "mine", &["next"]).code, 0);
    let shown = typed(&["run", "limit", "5"]);
    assert!(!shown.contains("drives"), "{shown}");
    assert_eq!(project.stop_of("mine").json()["decision"], "block");
}

/// The plan that a session claimed last counts, however old it is, whatever directory the agent is in, and in its own
/// project.
#[test]
fn a_session_with_two_plans() {
    let project = Project::in_state(json!({ "next_phase": null }));
    let other = make_plan(&project.root, "other");
    fs::write(
        other.join("state.json"),
        state(json!({ "next_phase": null })).to_string(),
    )
    .unwrap();
    for name in [PLAN, "other", PLAN] {
        assert_eq!(
            as_session(&project, "mine", &["next", "--plan", name]).code,
            0
        );
        // A newer plan, from `git pull` or from another session, changes nothing.
        make_plan(&project.root, "newest");
        fs::write(project.root.join(".taskie/plans/newest/plan.md"), name).unwrap();
        assert_eq!(project.stop_again_of("mine").json(), validated_as(name));
        // A command without a plan's name uses the same plan.
        let ran = as_session(&project, "mine", &["next"]);
        assert!(
            ran.stdout.ends_with(&format!("plan: {name}\n")),
            "{}",
            ran.stdout
        );
    }
    let dependency = project.root.join("node_modules/evil");
    make_plan(&dependency, "evil");
    let mut command = project.command(["hook", "stop"]);
    command.env("CLAUDE_PROJECT_DIR", &project.root);
    let event = json!({ "session_id": "mine", "cwd": dependency, "stop_hook_active": true });
    assert_eq!(feed(command, event.to_string()).json(), validated());
    // A plan that is gone has no driver, which is said once.
    fs::remove_dir_all(project.plan()).unwrap();
    assert!(project.stop_of("mine").message().contains("is gone"));
    is_left_alone(&project, "mine");
}

/// A repository cannot say who drives a plan.
#[test]
fn records_that_came_with_a_project_are_not_trusted() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    assert_eq!(as_session(&project, "mine", &["next"]).code, 0);
    let copy = project.root.join("copy");
    let status = std::process::Command::new("cp")
        .args(["-R", "-p"])
        .arg(project.root.join(".taskie"))
        .arg(project.bin.join("kept"))
        .status();
    assert!(status.unwrap().success());
    fs::create_dir(&copy).unwrap();
    fs::rename(project.bin.join("kept"), copy.join(".taskie")).unwrap();
    let event = json!({ "session_id": "mine", "cwd": copy }).to_string();
    let told = project.hook_raw("stop", event).message();
    assert!(
        told.ends_with("but this session has not taken it up: /taskie:continue-plan"),
        "{told}"
    );
    assert_eq!(project.calls().len(), 0);
    // In the project itself they count, unless git tracks them.
    git(&project.root, &["init", "-q"]);
    git(&project.root, &["add", "-f", ".taskie/.locks"]);
    git(&project.root, &["commit", "-q", "-m", "Records"]);
    let why = "No review was started: .taskie/.locks is tracked by git, so its records of sessions are not trusted. `git rm -rf --cached .taskie/.locks` removes it from the repository.";
    assert_eq!(project.stop_of("mine").json(), allowed(why));
    let next = as_session(&project, "mine", &["next"]).stderr;
    let flaw = why.strip_prefix("No review was started: ").unwrap();
    assert_eq!(next, format!("taskie: {flaw}\n"));
    assert_eq!(project.calls().len(), 0);
    assert!(
        project
            .run(&["doctor", "--json"])
            .stdout
            .contains("its records of sessions are not trusted")
    );
    git(
        &project.root,
        &["rm", "-r", "-q", "-f", "--cached", ".taskie/.locks"],
    );
    assert_eq!(project.stop_of("mine").json()["decision"], "block");
}

/// (event, what the due review is waiting for)
#[test]
fn no_review_in_plan_mode_or_beside_background_work() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    let before = project.files();
    let task = json!({ "id": "b", "type": "shell", "status": "running", "description": "d", "command": "sleep 3" });
    for (fields, what) in [
        (json!({ "permission_mode": "plan" }), "until plan mode ends"),
        (
            json!({ "background_tasks": [task] }),
            "for background tasks to end",
        ),
    ] {
        for active in [false, true] {
            let mut event = json!({ "cwd": project.root, "stop_hook_active": active });
            event
                .as_object_mut()
                .unwrap()
                .extend(fields.as_object().unwrap().clone());
            assert_eq!(
                project.hook_raw("stop", event.to_string()).json(),
                allowed(&format!("The code-review is due and waits {what}."))
            );
        }
    }
    assert_eq!((project.files(), project.calls().len()), (before, 0));
    let event =
        json!({ "cwd": project.root, "permission_mode": "acceptEdits", "background_tasks": [] });
    assert_eq!(
        project.hook_raw("stop", event.to_string()).json()["decision"],
        "block"
    );
}

/// A session id may have a dot, for commands and for the hook.
#[test]
fn a_session_with_a_dot_in_its_id() {
    let project = plan_in(&json!({}), &Reviewer::fail());
    is_told_and_left_alone(&project, "a.b");
    assert_eq!(as_session(&project, "a.b", &["next"]).code, 0);
    assert_eq!(project.stop_of("a.b").json()["decision"], "block");
}

/// Whose stop it is must be known: an event with an id that is none is not one without an id.
#[test]
fn a_session_id_that_is_no_text() {
    let project = Project::in_state(json!({}));
    let before = project.files();
    for id in [json!(5), json!(["s"]), json!(true)] {
        let event = json!({ "session_id": id, "cwd": project.root }).to_string();
        let ran = project.hook_raw("stop", event);
        let why = "taskie: Invalid JSON on stdin: the session_id of an event is a string\n";
        assert_eq!(ran.all(), (1, "", why));
        assert_eq!(project.files(), before);
    }
}

#[test]
fn a_file_in_place_of_the_lock_folder_is_named() {
    let project = Project::in_state(json!({}));
    fs::write(project.root.join(".taskie/.locks"), "").unwrap();
    let ran = project.run(&["enter", "continue-task"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains(
            "/.taskie/.locks/test-plan.state: its folder is not a directory; remove what is there"
        ),
        "{}",
        ran.stderr
    );
}

#[test]
fn sessions_with_invalid_names() {
    let project = Project::in_state(json!({}));
    let before = project.files();
    for session in ["a b", "../x", "$(x)", "a\nb", "ü", "a/b", "a..b"] {
        for ran in [
            as_session(&project, session, &["enter", "continue-task"]),
            project.run(&["enter", "continue-task", "--session", session]),
            project.run(&["run", "pause", "--session", session]),
        ] {
            let stderr = format!(
                "taskie: `{}` cannot be the id of a session: a name has letters, digits, `_`, `-` and single dots only, and does not start with `-` or `.`\n  help: pass --session \"${{CLAUDE_SESSION_ID}}\"\n",
                session.escape_debug()
            );
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (1, "", stderr));
            assert_eq!(project.files(), before, "{session}");
        }
    }
}
