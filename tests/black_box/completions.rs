//! `taskie completions`: scripts that the shells accept, and what they complete.

use std::process::Command;

use crate::support::{Project, Ran, feed};

/// Each shell that is installed accepts its script; bash is always there, because CI runs on it.
#[test]
fn the_shells_accept_their_scripts() {
    let project = Project::empty();
    let shells: &[(&str, &[&str])] = &[
        ("bash", &["bash", "-n"]),
        ("zsh", &["zsh", "-n"]),
        ("fish", &["fish", "--no-execute"]),
        ("powershell", &["pwsh", "-NoProfile", "-Command", "-"]),
        ("elvish", &["elvish", "-compileonly"]),
    ];
    for (shell, read) in shells {
        let ran = project.run(&["completions", shell]);
        assert_eq!(ran.err(), (0, ""), "{shell}");
        assert!(ran.stdout.contains("check-chart"), "{shell}");
        let mut reader = Command::new(read[0]);
        reader
            .args(&read[1..])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        if *shell != "bash" && Command::new(read[0]).arg("--version").output().is_err() {
            continue;
        }
        let ran = feed(reader, ran.stdout);
        assert_eq!(ran.err(), (0, ""), "{shell}");
    }
}

#[test]
fn bash_completes_commands_and_those_of_the_chart() {
    let project = Project::empty();
    let script = project.run(&["completions", "bash"]).stdout;
    for (line, expected) in [
        ("taskie ent", "enter"),
        ("taskie run pa", "pause"),
        ("taskie enter post-pl", "post-plan-review"),
        ("taskie completions ba", "bash"),
        ("taskie check-chart --form", "--format"),
    ] {
        let words = line.split(' ').collect::<Vec<_>>();
        let [.., before, last] = words.as_slice() else { panic!("{line}") };
        let typed = format!(
            "{script}\nCOMP_WORDS=({line}); COMP_CWORD={}; _taskie taskie {last} {before}; echo \"${{COMPREPLY[*]}}\"",
            words.len() - 1
        );
        let ran = Ran::of(Command::new("bash").args(["-c", &typed]).output().unwrap());
        assert_eq!((ran.code, ran.stdout.trim_end()), (0, expected), "{line}: {}", ran.stderr);
    }
}

/// The names of the plans that there are when the key is pressed, in the shells that can look them up.
#[test]
fn shells_complete_the_names_of_plans() {
    let project = Project::empty();
    for plan in ["alpha", "beta"] {
        std::fs::create_dir_all(project.root.join(".taskie/plans").join(plan)).unwrap();
    }
    let bash = "taskie completions bash >../script; bash -c '. ../script; COMP_WORDS=(taskie status --plan \"\"); \
                COMP_CWORD=3; _taskie taskie \"\" --plan; echo \"${COMPREPLY[*]}\"'";
    let ran = Ran::of(project.shell(bash).output().unwrap());
    assert_eq!(ran.all(), (0, "alpha beta\n", ""));
    assert_eq!(project.run(&["list", "--names"]).out(), (0, "alpha\nbeta\n"));

    let looks_up = |shell: &str, part: &str| {
        let script = project.run(&["completions", shell]).stdout;
        assert!(script.contains(part), "{shell}");
        assert!(!script.contains("__taskie"), "{shell}");
    };
    looks_up("zsh", ":PLAN:{compadd -- ${(f)\"$(taskie list --names 2>/dev/null)\"}}'");
    looks_up(
        "fish",
        "-l plan -d 'The plan to use [default: what the session works on, or the newest]' -r -f -a \"(taskie list --names 2>/dev/null)\"",
    );
    for shell in ["powershell", "elvish"] {
        looks_up(shell, "--plan");
    }
}

#[test]
fn an_unknown_shell_is_refused_with_the_known_ones() {
    let ran = Project::empty().run(&["completions", "csh"]);
    assert_eq!(ran.out(), (2, ""));
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(ran.stderr.contains(shell), "{}", ran.stderr);
    }
}
