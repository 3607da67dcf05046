//! Transcripts: what someone types at a shell in a project, and all that is printed, in one Markdown file per topic
//! (`tests/transcripts`). `INSTA_UPDATE=always` writes what is printed now into the files: read the diff.
//!
//! A heading of the third level begins a case, which has a project of its own. What stands before the first case of a
//! group, or of the file, is typed at the start of each of its cases. `> ` continues a command, `! ` begins what was
//! printed on stderr, and `[1]` is an exit code. `CASE=NAME` plays the cases with this name only. `prelude.sh` has the commands that are not programs.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use crate::support::{Project, Ran, script, timeless};

/// Where the transcripts are.
pub const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/transcripts");

/// One test for each file.
macro_rules! transcripts {
    ($($topic:ident)+) => {
        const TOPICS: &[&str] = &[$(stringify!($topic)),+];
        $(#[test] fn $topic() { check(stringify!($topic)); })+
    };
}

transcripts! {
    bad_input budget doctor dr_done every_stop findings gates journal loop_of_reviews meanwhile project_root record render review reviewer security
    settings silence status trust validate verify workflow
}

#[test]
fn each_file_has_a_test() {
    let names = fs::read_dir(FOLDER).unwrap().flatten();
    let mut names: Vec<String> = names
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".md")?.to_owned()))
        .collect();
    names.sort();
    assert_eq!(names, TOPICS);
}

/// A heading and what stands below it, up to the next one.
#[derive(Default)]
struct Section {
    level: usize,
    name: String,
    /// The lines of the file.
    text: String,
    blocks: Vec<Block>,
}

enum Block {
    Prose(String),
    /// The lines of a command.
    Command(Vec<String>),
}

/// Splits a file. What was printed is left out.
fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines() {
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        if level > 0 {
            let name = line[level..].trim().to_owned();
            sections.push(Section { level, name, ..Section::default() });
        }
        let section = sections.last_mut().expect("a file begins with a heading");
        section.text += line;
        section.text.push('\n');
        let blocks = &mut section.blocks;
        match (line.strip_prefix("    "), blocks.last_mut()) {
            (Some(line), Some(Block::Command(lines))) if line.starts_with("> ") => {
                lines.push(line[2..].to_owned());
            }
            (Some(line), _) if line.starts_with("$ ") => {
                blocks.push(Block::Command(vec![line[2..].to_owned()]));
            }
            (Some(_), _) => {}
            (None, Some(Block::Command(_))) if line.is_empty() => {}
            (None, _) => blocks.push(Block::Prose(line.to_owned())),
        }
    }
    sections
}

impl Section {
    fn commands(&self) -> impl Iterator<Item = &Vec<String>> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Command(lines) => Some(lines),
            Block::Prose(_) => None,
        })
    }

    /// The section as it is when its commands have printed this.
    fn with(&self, printed: impl IntoIterator<Item = String>) -> String {
        let (mut text, mut printed) = (String::new(), printed.into_iter());
        let mut was_command = false;
        for block in &self.blocks {
            match block {
                Block::Prose(line) => {
                    let gap = if was_command { "\n" } else { "" };
                    writeln!(text, "{gap}{line}").unwrap();
                }
                Block::Command(lines) => {
                    let lines = lines.join("\n    > ");
                    let printed = printed.next().unwrap_or_default();
                    write!(text, "    $ {lines}\n{printed}").unwrap();
                }
            }
            was_command = matches!(block, Block::Command(_));
        }
        text
    }
}

/// Runs commands in a new project, in one shell, and returns what each printed.
fn play(commands: &[&Vec<String>]) -> Vec<String> {
    let project = Project::empty();
    let base = project.bin.parent().unwrap();
    let folder = base.join(".transcript");
    let file = |at: usize, kind: &str| folder.join(format!("{at}.{kind}"));
    fs::create_dir(&folder).unwrap();
    let mut lines = format!("REPO={}\n. {FOLDER}/prelude.sh\n", env!("CARGO_MANIFEST_DIR"));
    for (at, command) in commands.iter().enumerate() {
        let [out, err, code] = ["out", "err", "code"].map(|kind| file(at, kind));
        let (command, out, err) = (command.join("\n"), out.display(), err.display());
        let code = code.display();
        write!(lines, "{{\n{command}\n}} >{out} 2>{err}\necho $? >{code}\n").unwrap();
    }
    let path = folder.join("script");
    script(&path, &lines);
    let ran = Ran::of(project.shell(&format!(". {}", path.display())).output().unwrap());
    let all = ran.stdout + &ran.stderr;
    assert!(all.is_empty(), "the shell says: {all}\n{lines}");
    let plain = |text: &str| {
        timeless(text)
            .replace(project.root.to_str().unwrap(), "[ROOT]")
            .replace(base.to_str().unwrap(), "[BASE]")
            .replace(env!("CARGO_MANIFEST_DIR"), "[REPO]")
    };
    let printed = |at: usize| {
        let read = |kind| String::from_utf8_lossy(&fs::read(file(at, kind)).unwrap()).into_owned();
        let mut text = indented("", &plain(&read("out"))) + &indented("! ", &plain(&read("err")));
        match read("code").trim() {
            "0" => {}
            code => writeln!(text, "    [{code}]").unwrap(),
        }
        text
    };
    (0..commands.len()).map(printed).collect()
}

/// Returns what was printed in the form that a file has.
fn indented(mark: &str, text: &str) -> String {
    let mut lines = String::new();
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, ""),
            None => (line, " (no line end)"),
        };
        let line = line.replace('\r', "\\r").replace('\u{1b}', "\\e");
        // What looks like a command is none.
        let is_marked = ["$ ", "> "].iter().any(|mark| line.starts_with(mark));
        let escape = if is_marked { "\\" } else { "" };
        let line = format!("    {mark}{escape}{line}{end}");
        writeln!(lines, "{}", line.trim_end()).unwrap();
    }
    lines
}

/// Plays the cases of a file, two at a time.
fn check(topic: &str) {
    let path = PathBuf::from(FOLDER).join(format!("{topic}.md"));
    let text = fs::read_to_string(&path).unwrap();
    let sections = sections(&text);
    let only = std::env::var("CASE").ok();
    let mut setup: [Vec<&Vec<String>>; 2] = Default::default();
    let mut cases: Vec<(usize, Vec<&Vec<String>>)> = Vec::new();
    for (at, section) in sections.iter().enumerate() {
        match section.level {
            1 => setup[0] = section.commands().collect(),
            2 => setup[1] = section.commands().collect(),
            _ if only.as_ref().is_some_and(|only| *only != section.name) => {}
            _ => cases.push((at, setup.concat())),
        }
    }
    let queue = Mutex::new(cases.into_iter());
    let played: Mutex<Vec<(usize, String)>> = Mutex::default();
    std::thread::scope(|scope| {
        let work = || {
            loop {
                let next = queue.lock().unwrap().next();
                let Some((at, before)) = next else { return };
                let section = &sections[at];
                let all: Vec<_> = before.iter().copied().chain(section.commands()).collect();
                let mut printed = play(&all);
                let own = printed.split_off(before.len());
                let silent = printed.iter().all(String::is_empty);
                assert!(silent, "{}: at its start: {printed:?}", section.name);
                played.lock().unwrap().push((at, section.with(own)));
            }
        };
        let other = scope.spawn(work);
        work();
        other.join().unwrap();
    });
    let mut now: Vec<String> = sections.iter().map(|one| one.text.clone()).collect();
    for (at, text) in played.into_inner().unwrap() {
        // The last line of a section is empty, unless it is the file's last.
        let end = if at + 1 < sections.len() { "\n" } else { "" };
        now[at] = text + end;
    }
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        fs::write(path, now.concat()).unwrap();
        return;
    }
    let mut failed = String::new();
    for (section, now) in sections.iter().zip(now) {
        if section.text != now {
            writeln!(failed, "{topic}: {}\n{}", section.name, diff(&section.text, &now)).unwrap();
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

/// The lines that differ, with some around them.
fn diff(expected: &str, now: &str) -> String {
    let folder = crate::support::temporary();
    let [a, b] = ["expected", "now"].map(|name| folder.path().join(name));
    fs::write(&a, expected).unwrap();
    fs::write(&b, now).unwrap();
    let output = Command::new("diff")
        .args(["-U3", "--label", "expected", "--label", "now"])
        .args([a, b])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}
