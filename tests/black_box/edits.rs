//! How much of what can go wrong in a chart is noticed: single edits that change what a chart means, each tried by
//! `check-chart` and by the committed scenarios.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use crate::scenarios::committed;
use crate::support::{Project, chart_files, temporary, write_chart};

/// Words of expressions and values, and what stands there after the edit.
const WORDS: &[(&str, &str)] = &[
    (" and ", " or "),
    (" or ", " and "),
    (" == ", " != "),
    (" != ", " == "),
    (" <= ", " < "),
    (" < ", " <= "),
    (" >= ", " > "),
    (" > ", " >= "),
    (" + 1", " + 2"),
    ("not ", ""),
    ("= true", "= false"),
    ("= false", "= true"),
];

/// Keys whose values decide something. The others have texts, and patterns of what may be written where.
const DECIDING: &[&str] = &[
    "guard", "assign", "clear", "entry", "target", "allow", "advance", "arms", "turn", "exit",
    "limit", "count", "gates", "base", "finished", "ready", "due", "one_of", "initial", "answered",
    "raise", "waits",
    // Of a property, what is claimed stays: a weaker claim is still true.
];

/// One edit: what is replaced, and by what.
struct Edit {
    place: Range<usize>,
    new: String,
}

impl Edit {
    /// Returns the edited text.
    fn of(&self, text: &str) -> String {
        let mut text = text.to_owned();
        text.replace_range(self.place.clone(), &self.new);
        text
    }

    /// Returns the line of the edit before and after it.
    fn shown(&self, text: &str) -> String {
        let start = text[..self.place.start].rfind('\n').map_or(0, |at| at + 1);
        let line = |text: &str, end: usize| {
            let end = text[end..].find('\n').map_or(text.len(), |at| end + at);
            text[start..end].trim().replace('\n', "\\n")
        };
        let number = text[..start].matches('\n').count() + 1;
        let old = line(text, self.place.end);
        let new = line(&self.of(text), self.place.start + self.new.len());
        format!("{number}: {old}\n     → {new}")
    }
}

/// Returns the edits of a chart's text: a word of an expression, a number, a key that is left out, a rule that is left out.
fn edits(text: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut start = 0;
    let (mut section, mut key) = ("", "");
    for line in text.split_inclusive('\n') {
        let begin = start;
        start += line.len();
        let code = line.split(" #").next().unwrap_or(line);
        if let Some(head) = code.strip_prefix('[') {
            section = head.trim_start_matches('[');
            continue;
        }
        if code.trim_start().starts_with('#') {
            continue;
        }
        if let Some((name, _)) = code.split_once('=')
            && name.trim().chars().all(|sign| sign.is_alphanumeric() || "_.-".contains(sign))
            && !code.starts_with(' ')
        {
            key = name.trim();
            let is_whole = !code.contains("\"\"\"") && !code.trim_end().ends_with(['[', '{']);
            if is_whole && ["guard", "assign", "clear", "target", "when"].contains(&key) {
                edits.push(Edit { place: begin..start, new: String::new() });
            }
        }
        // A let that is a text has its words in quotes of its own, with a space.
        let is_text = code.contains("{{") || code.contains("{%");
        let decides = DECIDING.contains(&key) || section.starts_with("let") && !code.contains("' ");
        if is_text || !decides {
            continue;
        }
        for (word, new) in WORDS {
            let places = code.match_indices(word);
            edits.extend(places.map(|(at, word)| Edit {
                place: begin + at..begin + at + word.len(),
                new: (*new).to_owned(),
            }));
        }
        if let Some((_, value)) = code.split_once("= ")
            && let Ok(number) = value.trim().parse::<i64>()
        {
            let at = begin + code.find(value.trim()).unwrap_or_default();
            edits.push(Edit { place: at..at + value.trim().len(), new: (number + 1).to_string() });
        }
    }
    // Whole rules.
    let heads: Vec<usize> = text.match_indices("\n[[on.").map(|(at, _)| at + 1).collect();
    edits.extend(heads.into_iter().map(|at| {
        let rest = &text[at + 1..];
        let end = ["\n[", "\n# ──"].iter().filter_map(|next| rest.find(next)).min();
        Edit { place: at..end.map_or(text.len(), |end| at + 1 + end + 1), new: String::new() }
    }));
    edits.sort_by_key(|edit| (edit.place.start, edit.place.end));
    edits
}

/// How an edit was noticed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Noticed {
    ByCheck,
    ByScenario,
    Not,
}

/// Tries one edited chart. The scenarios come first: they are faster.
fn tried(path: &str, scenarios: &[String]) -> Noticed {
    let project = Project::empty();
    let mut args = vec!["--chart", path, "test"];
    args.extend(scenarios.iter().map(String::as_str));
    if project.run(&args).code != 0 {
        return Noticed::ByScenario;
    }
    match project.run(&["check-chart", "--format=concise", path]).code {
        0 => Noticed::Not,
        _ => Noticed::ByCheck,
    }
}

/// Tries each `nth` edit of a chart. Returns how many were tried, how many the scenarios noticed, how many only
/// `check-chart`, and a line for each that nobody did.
fn figures(id: &str, nth: usize) -> (usize, usize, usize, String) {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = match id {
        "taskie" => "statechart.toml".to_owned(),
        "change" => "parts/change/statechart.toml".to_owned(),
        "dr-done" => "plugin/dr-done/statechart.toml".to_owned(),
        example => format!("examples/{example}/statechart.toml"),
    };
    let files = match id {
        "taskie" => chart_files(),
        _ => vec![(path.clone(), std::fs::read_to_string(repository.join(&path)).unwrap())],
    };
    let edits: Vec<(usize, Edit)> = files
        .iter()
        .enumerate()
        .flat_map(|(file, (_, text))| edits(text).into_iter().map(move |edit| (file, edit)))
        .step_by(nth)
        .collect();
    let scenarios = committed(id);
    let next = AtomicUsize::new(0);
    let results = Mutex::new(vec![Noticed::Not; edits.len()]);
    let worker = || {
        while let Some((index, (file, edit))) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            edits.get(index).map(|edit| (index, edit))
        } {
            let folder = temporary();
            let text = &files[*file].1;
            let chart = if id == "taskie" {
                let written = write_chart(folder.path(), |own| {
                    if own == text { edit.of(own) } else { own.to_owned() }
                });
                // Without them, each edit would be noticed.
                for name in ["templates", "plugin"] {
                    let beside = folder.path().join(name);
                    std::os::unix::fs::symlink(repository.join(name), beside).unwrap();
                }
                written[0].0.clone()
            } else {
                beside(&repository.join(&path), folder.path(), &edit.of(text))
            };
            results.lock().unwrap()[index] = tried(&chart, &scenarios);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, usize::from) {
            scope.spawn(worker);
        }
    });
    let results = results.into_inner().unwrap();
    let count = |how| results.iter().filter(|result| **result == how).count();
    let mut missed = String::new();
    for ((file, edit), _) in
        edits.iter().zip(&results).filter(|(_, result)| **result == Noticed::Not)
    {
        let (name, text) = &files[*file];
        let _ = writeln!(missed, "{name}:{}", edit.shown(text));
    }
    (edits.len(), count(Noticed::ByScenario), count(Noticed::ByCheck), missed)
}

/// Writes an edited chart into a folder in which everything else is as beside the chart. Returns its path.
fn beside(path: &Path, folder: &Path, text: &str) -> String {
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "statechart.toml" {
            std::os::unix::fs::symlink(entry.path(), folder.join(entry.file_name())).unwrap();
        }
    }
    let chart = folder.join("statechart.toml");
    std::fs::write(&chart, text).unwrap();
    chart.display().to_string()
}

/// Some edits of the smaller charts: at least four fifths are noticed.
#[test]
fn most_edits_are_noticed() {
    for (id, nth) in [("dr-done", 8), ("ralph", 4), ("release-train", 4), ("style-gate", 4)] {
        let (all, played, checked, missed) = figures(id, nth);
        assert!(all >= 4, "{id}: only {all} edits");
        assert!(
            (checked + played) * 5 >= all * 4,
            "{id}: {played} and {checked} of {all}\n{missed}"
        );
    }
}

/// All edits of all charts. It takes long.
#[test]
#[expect(clippy::print_stdout, reason = "these are the figures")]
#[ignore = "a long run: prints how many edits of each chart are noticed, and those that are not"]
fn every_edit() {
    let charts = std::env::var("TASKIE_CHARTS")
        .unwrap_or_else(|_| "taskie dr-done change ralph release-train style-gate".to_owned());
    let nth = std::env::var("TASKIE_NTH").map_or(1, |nth| nth.parse().unwrap());
    for id in charts.split_whitespace() {
        let (all, played, checked, missed) = figures(id, nth);
        println!(
            "{id}: {} of {all} noticed, {played} by scenarios, {checked} by check-chart only\n{missed}",
            checked + played
        );
    }
}
