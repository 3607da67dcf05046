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
