//! Which project, which plan and whose: the home is searched upward, the plan touched last counts, and a plan
//! belongs to the session that drives it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::{PLAN, Project, Ran, Reviewer, allowed, feed, silent, state, validated};

/// A plan with a plan.md and nothing else, in this directory.
fn make_plan(root: &Path, name: &str) -> PathBuf {
    let plan = root.join(".taskie/plans").join(name);
    fs::create_dir_all(&plan).unwrap();
    fs::write(plan.join("plan.md"), "# Plan\n").unwrap();
    plan
}

/// A stop with `cwd` as the session's directory and more environment; the hook itself starts elsewhere.
fn stop_in(project: &Project, cwd: &Path, env: &[(&str, &Path)]) -> Ran {
    let mut command = project.command(["hook", "stop"]);
    command.current_dir("/").envs(env.iter().copied());
    feed(
        command,
        json!({ "session_id": "s", "cwd": cwd }).to_string(),
    )
}

fn validated_as(name: &str) -> Value {
    allowed(&format!("Plan '{name}' structure validated successfully"))
}

// ── the project's root ──────────────────────────────────────────────────────────────────

/// (directories and files to make, home directory, where the agent stands, the plan that is found)
#[test]
fn the_home_is_searched_upward() {
    struct Case {
        what: &'static str,
        /// A name that ends in `/` is a directory; `@name` in a path makes the plan of that name there.
        make: &'static [&'static str],
        home: &'static str,
        cwd: &'static str,
        found: Option<&'static str>,
    }
    let cases = [
        Case {
            what: "here",
            make: &["a/@here"],
            home: "home",
            cwd: "a",
            found: Some("here"),
        },
        Case {
            what: "above",
            make: &["a/@above", "a/b/c/"],
            home: "home",
            cwd: "a/b/c",
            found: Some("above"),
        },
        Case {
            what: "the nearest",
            make: &["a/@far", "a/b/@near", "a/b/c/"],
            home: "home",
            cwd: "a/b/c",
            found: Some("near"),
        },
        Case {
            what: "within the plans",
            make: &["a/@it"],
            home: "home",
            cwd: "a/.taskie/plans/it",
            found: Some("it"),
        },
        Case {
            what: "at the git root",
            make: &["a/.git/", "a/@root", "a/b/"],
            home: "home",
            cwd: "a/b",
            found: Some("root"),
        },
        Case {
            what: "above the git root",
            make: &["a/@above", "a/b/.git/", "a/b/c/"],
            home: "home",
            cwd: "a/b/c",
            found: None,
        },
        Case {
            what: "above a worktree, whose .git is a file",
            make: &["a/@above", "a/b/.git", "a/b/c/"],
            home: "home",
            cwd: "a/b/c",
            found: None,
        },
        Case {
            what: "in a submodule with a home of its own",
            make: &["a/@above", "a/b/.git", "a/b/@own"],
            home: "home",
            cwd: "a/b",
            found: Some("own"),
        },
        Case {
            what: "in the user's home",
            make: &["home/@dotfiles", "home/x/"],
            home: "home",
            cwd: "home/x",
            found: None,
        },
        Case {
            what: "the user's home itself",
            make: &["home/@dotfiles"],
            home: "home",
            cwd: "home",
            found: None,
        },
        Case {
            what: "above the user's home",
            make: &["@all", "home/x/"],
            home: "home",
            cwd: "home/x",
            found: None,
        },
        Case {
            what: "below the user's home",
            make: &["home/x/@mine", "home/x/y/"],
            home: "home",
            cwd: "home/x/y",
            found: Some("mine"),
        },
        Case {
            what: "beside the user's home",
            make: &["@all", "home/", "a/"],
            home: "home",
            cwd: "a",
            found: None,
        },
        Case {
            what: "a home that is not there",
            make: &["a/@here"],
            home: "nowhere",
            cwd: "a",
            found: Some("here"),
        },
        Case {
            what: "a home that is a link",
            make: &["real/@dotfiles", "real/x/", "home->real"],
            home: "home",
            cwd: "real/x",
            found: None,
        },
        Case {
            what: "a working directory that is a link",
            make: &["a/@here", "a/b/", "link->a/b"],
            home: "home",
            cwd: "link",
            found: Some("here"),
        },
        Case {
            what: "a .taskie that is a file",
            make: &["a/@above", "a/b/.taskie"],
            home: "home",
            cwd: "a/b",
            found: Some("above"),
        },
        Case {
            what: "a home without plans is one",
            make: &["a/@above", "a/b/.taskie/"],
            home: "home",
            cwd: "a/b",
            found: None,
        },
        Case {
            what: "none",
            make: &["a/b/"],
            home: "home",
            cwd: "a/b",
            found: None,
        },
    ];
    for case in cases {
        let project = Project::empty();
        let top = &project.root;
        for entry in case.make {
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
        let ran = stop_in(
            &project,
            &top.join(case.cwd),
            &[("HOME", &top.join(case.home))],
        );
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", case.what);
        match case.found {
            Some(name) => assert_eq!(ran.json(), validated_as(name), "{}", case.what),
            None => assert_eq!(ran.stdout, silent(), "{}", case.what),
        }
    }
}

#[test]
fn the_hosts_project_directory_is_the_last_resort() {
    let project = Project::empty();
    let top = &project.root;
    let (here, there) = (top.join("here"), top.join("there"));
    make_plan(&there, "there");
    fs::create_dir_all(here.join("deep")).unwrap();
    fs::create_dir_all(top.join("empty")).unwrap();
    let stop = |cwd: &Path, dir: &Path| stop_in(&project, cwd, &[("CLAUDE_PROJECT_DIR", dir)]);
    assert_eq!(stop(&here, &there).json(), validated_as("there"));
    // It is taken as it is: nothing is searched above it.
    fs::create_dir_all(there.join("below")).unwrap();
    assert_eq!(stop(&here, &there.join("below")).stdout, silent());
    assert_eq!(stop(&here, &top.join("empty")).stdout, silent());
    assert_eq!(stop(&here, Path::new("")).stdout, silent());
    // What is found upward comes first.
    make_plan(&here, "here");
    assert_eq!(
        stop(&here.join("deep"), &there).json(),
        validated_as("here")
    );
    // The git root ends the search, and not the last resort.
    fs::create_dir_all(here.join("deep/.git")).unwrap();
    assert_eq!(
        stop(&here.join("deep"), &there).json(),
        validated_as("there")
    );
}

#[test]
fn a_review_runs_in_the_projects_root_wherever_the_agent_stands() {
    let project = Project::valid();
    project.set_state(json!({}));
    project.reviewer(&Reviewer {
        first: "pwd > \"$here/pwd\"".to_owned(),
        ..Reviewer::default()
    });
    let below = project.root.join("src");
    fs::create_dir(&below).unwrap();
    assert_eq!(stop_in(&project, &below, &[]).json()["decision"], "block");
    assert_eq!(
        fs::read_to_string(project.bin.join("pwd")).unwrap(),
        format!("{}\n", project.root.display())
    );
    let mut command = project.command(["enter", "post-code-review"]);
    let ran = Ran::of(command.current_dir(&below).output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(project.state()["phase"], "post-code-review");
}

/// Where a new plan is made: (to make, home directory, working directory, where the plan is).
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
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{cwd}");
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
    fs::File::options()
        .append(true)
        .open(path)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

/// (files with their ages in seconds, the plan that is meant)
#[test]
fn the_plan_touched_last_is_meant() {
    type Ages<'a> = &'a [(&'a str, u64)];
    let cases: &[(&str, Ages<'_>, &str)] = &[
        (
            "the younger one",
            &[("a/plan.md", 10), ("b/plan.md", 20)],
            "a",
        ),
        (
            "the youngest file counts",
            &[("a/plan.md", 10), ("b/plan.md", 20), ("b/tasks.md", 5)],
            "b",
        ),
        (
            "the state counts",
            &[("a/plan.md", 10), ("b/plan.md", 20), ("b/state.json", 5)],
            "b",
        ),
        (
            "of equals the last name",
            &[("b/plan.md", 10), ("a/plan.md", 10), ("c/plan.md", 10)],
            "c",
        ),
        (
            "bytes, not numbers",
            &[("plan-9/plan.md", 10), ("plan-10/plan.md", 10)],
            "plan-9",
        ),
        (
            "other files do not count",
            &[
                ("a/plan.md", 10),
                ("b/plan.md", 20),
                ("b/notes.txt", 1),
                ("b/.review-1.log", 1),
            ],
            "a",
        ),
        (
            "subfolders do not count",
            &[("a/plan.md", 10), ("b/plan.md", 20), ("b/sub/x.txt", 1)],
            "a",
        ),
        (
            "hidden plans do not count",
            &[("a/plan.md", 10), (".b/plan.md", 1)],
            "a",
        ),
        (
            "files beside the plans do not count",
            &[("a/plan.md", 10), ("b.md", 1)],
            "a",
        ),
        (
            "long ago",
            &[("a/plan.md", 999_999_999), ("b/plan.md", 1_000_000_000)],
            "a",
        ),
    ];
    for (what, files, expected) in cases {
        let project = Project::empty();
        let plans = project.root.join(".taskie/plans");
        for (name, seconds) in *files {
            let path = plans.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = match path.file_name().unwrap().to_str().unwrap() {
                "tasks.md" => "| Id | Status |\n".to_owned(),
                "state.json" => state(json!({ "next_phase": null })).to_string(),
                _ => "# Plan\n".to_owned(),
            };
            fs::write(&path, text).unwrap();
            age(&path, *seconds);
        }
        assert_eq!(project.stop().json(), validated_as(expected), "{what}");
    }
}

#[test]
fn commands_mean_the_plan_touched_last_unless_one_is_named() {
    let project = Project::valid();
    project.set_state(json!({ "next_phase": "code-review" }));
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
    let ran = project.run(&["run", "pause"]);
    assert_eq!(
        ran.stdout,
        ".taskie/plans/other/state.json: phase \"complete-task\", next_phase null\n"
    );
    let ran = project.run(&["run", "pause", "--plan", PLAN]);
    assert_eq!(
        ran.stdout,
        format!(".taskie/plans/{PLAN}/state.json: phase \"complete-task\", next_phase null\n")
    );
    let ran = project.run(&["run", "pause", "--plan", "othr"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            1,
            "taskie: there is no plan `othr`\n  help: did you mean `other`?\n"
        )
    );
    // A write touches: what was named is the newest now.
    let ran = project.run(&["run", "resume"]);
    assert_eq!(
        ran.stdout,
        format!(
            ".taskie/plans/{PLAN}/state.json: phase \"complete-task\", next_phase \"code-review\"\n"
        )
    );
}

#[test]
fn a_thousand_plans() {
    let project = Project::valid();
    project.set_state(json!({ "next_phase": null }));
    for index in 0..1_000 {
        let plan = make_plan(&project.root, &format!("plan-{index}"));
        age(&plan.join("plan.md"), 100);
    }
    assert_eq!(project.stop().json(), validated());
}

// ── the owner ───────────────────────────────────────────────────────────────────────────

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

fn stop_of(project: &Project, session: &str) -> Ran {
    project.hook_raw(
        "stop",
        json!({ "session_id": session, "cwd": project.root }).to_string(),
    )
}

#[test]
fn a_plan_belongs_to_the_session_that_enters_a_phase() {
    let project = Project::valid();
    project.set_state(json!({}));
    project.reviewer(&Reviewer::fail());
    assert_eq!(
        as_session(
            &project,
            "mine-1",
            &["enter", "complete-task", "--task", "1"]
        )
        .code,
        0
    );
    assert_eq!(project.state()["owner"], "mine-1");
    let before = project.files();
    // An unrelated terminal: no review, no block, not even the structure.
    project.write("notes.md", "");
    let ran = stop_of(&project, "other-2");
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, silent(), "")
    );
    fs::remove_file(project.plan().join("notes.md")).unwrap();
    assert_eq!((project.files(), project.calls().len()), (before, 0));
    // The owner's own: a review.
    assert_eq!(stop_of(&project, "mine-1").json()["decision"], "block");
    assert_eq!(
        (project.state()["owner"].as_str(), project.calls().len()),
        (Some("mine-1"), 1)
    );
    // Another session that takes it up owns it from then on.
    assert_eq!(
        as_session(&project, "other-2", &["enter", "post-code-review"]).code,
        0
    );
    assert_eq!(project.state()["owner"], "other-2");
    assert_eq!(stop_of(&project, "mine-1").stdout, silent());
    assert_eq!(stop_of(&project, "other-2").json()["decision"], "block");
}

#[test]
fn without_an_owner_any_session_counts() {
    for owner in [json!({}), json!({ "owner": null })] {
        for session in ["", "any"] {
            let project = Project::valid();
            project.set_state(owner.clone());
            project.reviewer(&Reviewer::fail());
            assert_eq!(stop_of(&project, session).json()["decision"], "block");
        }
    }
}

/// A plain terminal has no session: it enters phases and takes nothing away.
#[test]
fn a_terminal_without_a_session_leaves_the_owner() {
    let project = Project::valid();
    project.set_state(json!({ "owner": "mine" }));
    assert_eq!(project.run(&["enter", "continue-task"]).code, 0);
    assert_eq!(project.state()["owner"], "mine");
    assert_eq!(
        as_session(&project, "", &["enter", "continue-task"]).code,
        0
    );
    assert_eq!(project.state()["owner"], "mine");
    // The option comes before the environment.
    assert_eq!(
        as_session(
            &project,
            "env",
            &["enter", "continue-task", "--session", "option"]
        )
        .code,
        0
    );
    assert_eq!(project.state()["owner"], "option");
}

#[test]
fn sessions_that_are_no_names() {
    let project = Project::valid();
    project.set_state(json!({}));
    let before = project.files();
    for session in ["a b", "../x", "$(x)", "a\nb", "ü", "a/b", "a.b"] {
        for ran in [
            as_session(&project, session, &["enter", "continue-task"]),
            project.run(&["enter", "continue-task", "--session", session]),
            project.run(&["run", "pause", "--session", session]),
        ] {
            let stderr = format!(
                "taskie: invalid session id `{}`: expected letters, digits, _ and -\n  help: pass --session \"${{CLAUDE_SESSION_ID}}\"\n",
                session.escape_debug()
            );
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr), (1, "", stderr));
            assert_eq!(project.files(), before, "{session}");
        }
    }
}

/// Two sessions with a plan each: what one of them writes last must not keep the other's review from running.
#[test]
fn two_sessions_with_a_plan_each() {
    let project = Project::valid();
    project.set_state(json!({ "owner": "mine" }));
    project.reviewer(&Reviewer::fail());
    let other = make_plan(&project.root, "other");
    fs::write(
        other.join("state.json"),
        state(json!({ "owner": "theirs", "next_phase": null })).to_string(),
    )
    .unwrap();
    assert_eq!(stop_of(&project, "mine").json()["decision"], "block");
}
