//! The control flow of decisions exists twice: each step that [`decide`] makes in a world of files is one of the ways that
//! an event can go over terms, with the same rules fired and the same assignments.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::decide::Decider;
use super::evaluate::{Course, Done};
use super::read::Program;
use super::term::{SOME, Term};
use crate::chart::choice::CHARTS;
use crate::chart::model::FieldType;
use crate::chart::{Chart, load};
use crate::cli::typist::typist;
use crate::engine::context::{Context, initial};
use crate::engine::decide::decide;
use crate::engine::decision::{Answer, Ended, FailedGate, Outcome, Step};
use crate::engine::event::{Event, Trigger};
use crate::engine::possible_world::{Disk, PossibleWorld};
use crate::engine::world::World;
use crate::expr::templates::Templates;
use crate::host::vendors::VERDICTS;
use crate::reviewer::finding::Found;
use crate::scenario::failure::Failure;
use crate::scenario::instance::PlayedInstance;
use crate::scenario::player::Player;
use crate::scenario::script::{ScenarioStep, Script};
use crate::scenario::stage::{ScriptedAnswer, Stage, State};
use crate::store::journal::DecisionLine;

/// Numbers at random, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    fn pick<'p, T>(&mut self, pool: &'p [T]) -> &'p T {
        &pool[self.below(pool.len())]
    }
}

/// A word of those that charts and files are made of here.
fn word(random: &mut Random) -> String {
    (*random.pick(&["1", "2", "alpha", "done", "pending", "Overview"])).to_owned()
}

/// Lays out the files that a chart looks at, or some of them.
fn disk(random: &mut Random, chart: &Chart, context: &Context) -> Disk {
    let mut disk = Disk { now: "20260101T000000".to_owned(), ..Disk::default() };
    let part = |hole: &str| match context.get(hole) {
        Some(Json::String(text)) => Ok(text.clone()),
        Some(Json::Number(number)) => Ok(number.to_string()),
        _ => Err(()),
    };
    for name in ["plan.md", "tasks.md", "task-1.md", "text.md", "notes.md", "chapter-1.md"] {
        if random.below(3) > 0 {
            disk.files.insert(name.to_owned(), (format!("# {name}\n"), 1));
        }
    }
    for table in chart.tables.values() {
        let Ok(file) = table.file.render(part) else { continue };
        let heads: Vec<&str> = table.columns().map(|(_, names)| names[0].as_str()).collect();
        if heads.is_empty() {
            continue;
        }
        let mut text = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
        for _ in 0..random.below(3) {
            let cells: Vec<String> = heads.iter().map(|_| word(random)).collect();
            text += &format!("| {} |\n", cells.join(" | "));
        }
        if random.below(4) > 0 {
            disk.files.insert(file, (text, 1));
        }
    }
    for cycle in chart.cycles.values() {
        let n = context.get(&cycle.count).and_then(Json::as_i64).unwrap_or(0);
        for (pattern, at) in [(&cycle.review, 2), (&cycle.answer, 3)] {
            let name = cycle.file_name(pattern, &n.to_string(), part);
            if let (Ok(name), true) = (name, random.below(4) > 0) {
                disk.files.insert(name, (String::new(), at));
            }
        }
    }
    // Settings are small.
    for (name, field) in &chart.config {
        let least = field.minimum.unwrap_or(0).max(0);
        let value = match field.kind {
            FieldType::Boolean => json!(random.below(2) == 0),
            FieldType::Integer => json!(least + i64::try_from(random.below(3)).unwrap()),
            _ => continue,
        };
        if field.accepts(&chart.phases, &value).is_ok() {
            disk.config.insert(name.clone(), value);
        }
    }
    disk.stalled = random.below(8) == 0;
    disk.dirty = random.below(3) == 0;
    disk.postponed = (random.below(12) == 0).then(|| "18:23 UTC".to_owned());
    disk
}

fn happening(random: &mut Random, chart: &Chart, is_active: bool) -> Event {
    let hooks: Vec<&String> =
        chart.on.keys().filter(|name| !matches!(name.as_str(), "enter" | "run")).collect();
    let phases: Vec<&String> = chart.phases.keys().collect();
    let commands: Vec<&String> = chart.commands.keys().collect();
    let mut fields = Map::new();
    fields.insert("stop_hook_active".to_owned(), json!(is_active));
    fields.insert("last_assistant_message".to_owned(), json!(word(random)));
    let mut happening = match random.below(8) {
        0..4 => event(Trigger::Hook("Stop".to_owned()), fields),
        4 => event(Trigger::Hook((*random.pick(&hooks)).clone()), fields),
        6 if !commands.is_empty() => {
            event(Trigger::Command((*random.pick(&commands)).clone()), Map::new())
        }
        _ => {
            let phase = (*random.pick(&phases)).clone();
            event(Trigger::Enter { phase, force: false }, Map::new())
        }
    };
    happening.session = Some("s1".to_owned());
    for (name, arg) in &chart.args {
        let value = match arg.of.kind {
            FieldType::Boolean => json!(random.below(2) == 0),
            FieldType::Integer => json!(random.below(4)),
            _ => json!(word(random)),
        };
        if arg.default.is_none() || random.below(2) == 0 {
            happening.args.insert(name.clone(), value);
        }
    }
    happening
}

fn outcome(random: &mut Random, chart: &Chart) -> Outcome {
    match random.below(8) {
        0 => Outcome::Failed("it crashed".to_owned()),
        1 => Outcome::Ran { verdict: None, found: Found::default() },
        2 if chart.has_gates() => Outcome::Gate(FailedGate {
            command: "make".to_owned(),
            why: "exited with code 1".to_owned(),
            output: String::new(),
            times: 1 + random.below(5),
        }),
        _ => Outcome::Ran {
            verdict: Some((*random.pick(&VERDICTS)).to_owned()),
            found: Found::default(),
        },
    }
}

/// Returns a value as a state over terms holds it.
fn abstracted(decider: &mut Decider, at: usize, value: &Json) -> Term {
    let chart = Arc::clone(&decider.program.chart);
    let field = &chart.context[at];
    let is_free = field.one_of.is_none() && field.kind == FieldType::String;
    let is_minded = *value == json!("") && Program::minds_empty(field);
    match value {
        Json::Array(_) => SOME,
        Json::String(_) if is_free && !is_minded => SOME,
        value => {
            let known = decider.program.terms.known(value.clone());
            match decider.program.only_counts(at) {
                true => decider.program.held(at, known),
                false => known,
            }
        }
    }
}

/// Returns why a way is not what was decided: other rules fire, or a field has another value afterwards.
fn differs(
    decider: &mut Decider,
    done: &Done,
    real: &[&str],
    before: &Context,
    after: &Context,
) -> Option<String> {
    let fired: Vec<&str> = done.fired.iter().map(|place| decider.places[*place].as_str()).collect();
    if fired != real {
        return Some(format!("fires {fired:?}, not {real:?}"));
    }
    let chart = Arc::clone(&decider.program.chart);
    chart.context.iter().enumerate().find_map(|(at, (name, field))| {
        let (before, real) = (&before[name], &after[name]);
        let assigned = done.assigned.iter().find(|(field, _)| *field == at);
        let term = assigned.map_or_else(|| abstracted(decider, at, before), |(_, term)| *term);
        let expected = abstracted(decider, at, real);
        let is_tried = |number: i64| decider.program.numbers.tried(field).contains(&number);
        let is_beyond = real.as_i64().is_some_and(|number| !is_tried(number));
        (term != expected && !is_beyond)
            .then(|| format!("{name} becomes {}, not {real}", decider.program.terms.text(term)))
    })
}

/// Asserts that what was decided is one of the ways of an event.
fn assert_is_a_way(
    decider: &mut Decider,
    trigger: &Trigger,
    (before, started): (&Context, bool),
    fired: &[&str],
    after: &Context,
) {
    let fields: Vec<Term> =
        before.values().enumerate().map(|(at, value)| abstracted(decider, at, value)).collect();
    let (ways, _) = decider.ways(trigger, Course::new(&Rc::new(fields), started));
    let why: Vec<String> = ways
        .iter()
        .map(|(done, _)| differs(decider, done, fired, before, after).unwrap_or_default())
        .collect();
    assert!(
        why.iter().any(String::is_empty),
        "{}: no way of {trigger} in {before:?} is what was decided: {fired:?} {after:?}\n{}",
        decider.program.chart.id,
        why.join("\n")
    );
}

/// Walks through a chart, and compares each step.
fn walk(chart: &Arc<Chart>, seed: u64, steps: usize) -> usize {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut decider = Decider::of(chart);
    let (mut context, mut started, mut is_active) = (initial(chart), false, false);
    let mut compared = 0;
    for _ in 0..steps {
        let disk = disk(&mut random, chart, &context);
        let event = happening(&mut random, chart, is_active);
        let world: Arc<dyn World> = Arc::new(PossibleWorld {
            chart: Arc::clone(chart),
            context: context.clone(),
            started,
            disk,
        });
        let mut step = decide(chart, &world, &event, None);
        if let Ok(Step::Invoke(invocation)) = &step {
            let outcome = outcome(&mut random, chart);
            let ended = Ended::new((**invocation).clone(), outcome);
            step = decide(chart, &world, &event, Some(ended));
        }
        let Ok(Step::Done(decision)) = step else { continue };
        if matches!(decision.answer, Answer::Refuse(_)) || decision.is_set_aside() {
            continue;
        }
        let fired: Vec<&str> = decision.fired.iter().map(|fired| fired.place.as_str()).collect();
        let before = context.clone();
        context.extend(decision.patch.clone());
        assert_is_a_way(&mut decider, &event.trigger, (&before, started), &fired, &context);
        compared += 1;
        started |= !decision.patch.is_empty();
        is_active = matches!(decision.answer, Answer::Block(_));
        if chart.is_final(context[&chart.state].as_str().unwrap_or_default()) {
            (context, started) = (initial(chart), false);
        }
    }
    compared
}

fn base() -> Arc<Chart> {
    let templates = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/charts/templates");
    let text = include_str!("../../../tests/charts/base.toml");
    Arc::new(load::from_text("base.toml", text, Templates::folders(vec![templates])).unwrap())
}

#[test]
fn nothing_is_found_in_charts_that_are_right() {
    for chart in [base(), CHARTS[1].load().unwrap()] {
        let report = super::follow(&chart, &super::Limits::default());
        let found: Vec<&String> = report.findings.iter().map(|it| &it.message).collect();
        assert_eq!((found, &report.cut), (Vec::new(), &None), "{}", chart.id);
    }
}

#[test]
fn each_step_of_a_walk_is_a_way_over_terms() {
    let shipped = CHARTS.iter().map(|chart| chart.load().unwrap());
    let charts: Vec<Arc<Chart>> = shipped.chain([base()]).collect();
    for chart in &charts {
        let compared: usize = (1..4).map(|seed| walk(chart, seed, 60)).sum();
        assert!(compared > 40, "{}: {compared}", chart.id);
    }
}

/// A stage in memory on which each step is compared.
struct Compared {
    instance: PlayedInstance,
    decider: Decider,
    count: usize,
}

impl Compared {
    fn compare(&mut self, before: (Context, bool), lines: &[DecisionLine]) {
        let (mut before, mut started) = before;
        for line in lines.iter().filter(|line| line.answer != "refuse") {
            let (verb, rest) = line.event.split_once(' ').unwrap_or(("", &line.event));
            let trigger = match verb {
                "enter" => Trigger::Enter { phase: rest.to_owned(), force: false },
                "run" => Trigger::Command(rest.to_owned()),
                _ => Trigger::Hook(rest.to_owned()),
            };
            let fired = line.rules.iter().filter(|rule| rule.fired);
            let fired: Vec<&str> = fired.map(|rule| rule.rule.as_str()).collect();
            let mut after = before.clone();
            let changed = line.changed.iter();
            after.extend(changed.map(|(name, [_, value])| (name.clone(), value.clone())));
            assert_is_a_way(&mut self.decider, &trigger, (&before, started), &fired, &after);
            self.count += 1;
            (before, started) = (after, true);
        }
    }

    fn now(&self) -> (Context, bool) {
        (self.instance.context.clone(), self.instance.started)
    }
}

impl Stage for Compared {
    fn begin_turn(&mut self) {
        self.instance.begin_turn();
    }

    fn arrange(&mut self, step: &ScenarioStep) -> Result<(), Failure> {
        self.instance.arrange(step)
    }

    fn read(&self, name: &str) -> Result<String, Failure> {
        self.instance.read(name)
    }

    fn write(&mut self, name: &str, text: &str) -> Result<(), Failure> {
        self.instance.write(name, text)
    }

    fn remove(&mut self, name: &str) -> Result<(), Failure> {
        self.instance.remove(name)
    }

    fn run(&mut self, line: &str, step: &ScenarioStep) -> Result<(), Failure> {
        let before = self.now();
        let ran = self.instance.run(line, step);
        self.compare(before, &self.instance.decisions());
        ran
    }

    fn send(&mut self, event: &str, step: &ScenarioStep) -> Result<ScriptedAnswer, Failure> {
        let before = self.now();
        let answer = self.instance.send(event, step)?;
        self.compare(before, answer.decision.as_slice());
        Ok(answer)
    }

    fn state(&self) -> State {
        self.instance.state()
    }

    fn decisions(&self) -> Vec<DecisionLine> {
        self.instance.decisions()
    }
}

#[test]
fn each_step_of_a_scenario_is_a_way_over_terms() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &Path| std::fs::read_to_string(file).unwrap();
    let files = walkdir::WalkDir::new(root.join("tests/stories"));
    let files = files.into_iter().flatten().map(|entry| entry.into_path());
    let files = files.filter(|path| path.is_file()).chain([root.join("examples/demo.toml")]);
    let mut scripts: Vec<(String, bool)> = files.map(|file| (read(&file), true)).collect();
    let cases = read(&root.join("tests/cases/scenarios.toml"));
    let mut cases: HashMap<String, Vec<(String, String)>> = toml::from_str(&cases).unwrap();
    // What these expect is compared elsewhere.
    for (text, _) in cases.remove("what_differs_from_a_scenario").unwrap() {
        let begin =
            "[[step]]\nrun = ['taskie enter new-plan']\n[[step]]\nwrite = { 'plan.md' = 'x' }\n";
        let begin = if text.contains("[[step]]") { "" } else { begin };
        scripts.push((format!("{begin}{text}"), false));
    }
    let chart = CHARTS[0].load().unwrap();
    let mut counts = Vec::new();
    for (script, is_right) in scripts {
        let Ok(script) = Script::parse(&script) else { continue };
        let Ok(instance) = PlayedInstance::of(&chart, typist(&chart), &script) else { continue };
        let stage = Compared { instance, decider: Decider::of(&chart), count: 0 };
        let mut player = Player::new(&chart, stage);
        let played = player.play(&script, |_, _, _| {});
        assert!(!is_right || played.is_ok() && player.stage.count > 0, "{played:?}");
        counts.push(player.stage.count);
    }
    assert!(counts.iter().filter(|count| **count > 0).count() > 18, "{counts:?}");
}

/// A small chart: what it has beside what all of them have, or the edits that make it out of another one, by number.
#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Small {
    text: String,
    session: bool,
    like: usize,
    #[serde(rename = "as")]
    edits: Vec<(String, String)>,
    /// A code, what is replaced, with what, and where the finding is, if not there: a part of that line, and which one.
    faults: Vec<Vec<String>>,
}

impl Small {
    fn whole(&self, all: &[Self]) -> String {
        if self.like > 0 {
            let like = all[self.like - 1].whole(all);
            return self.edits.iter().fold(like, |text, (from, to)| {
                assert!(text.contains(from), "{from}");
                text.replacen(from, to, 1)
            });
        }
        if self.text.starts_with("extends") {
            return self.text.clone();
        }
        let instances = match self.session {
            true => "sessions/{session}",
            false => "things/*",
        };
        let mut head = format!(
            "id = \"small\"\ntemplates = []\n\
             scope = {{ home = \".small\", instances = \"{instances}\" }}\n"
        );
        let mut tail = "";
        if !self.text.contains("state = ") {
            head += "state = \"phase\"\n";
            if !self.text.contains("\nphase = ") {
                tail = "[context.phase]\ntype = \"phase\"\n";
            }
        }
        head + &self.text + tail
    }
}

#[test]
fn small_charts_have_no_finding_and_each_fault_is_found() {
    let text = include_str!("../../../tests/charts/small.toml");
    let mut all: HashMap<String, Vec<Small>> = toml::from_str(text).unwrap();
    let all = all.remove("chart").unwrap();
    assert_eq!(all.len(), 15);
    let folder = tempfile::tempdir().unwrap();
    let path = |number: usize| folder.path().join(format!("right-{number:02}.toml"));
    for (chart, number) in all.iter().zip(1..) {
        std::fs::write(path(number), chart.whole(&all)).unwrap();
    }
    // What extends taskie would take seconds.
    let limits = super::Limits { states: 300, ..super::Limits::default() };
    let found = |number: usize, chart: &str| {
        let none = |_: &[String]| Templates::folders(Vec::new());
        let origin = path(number);
        let origin = origin.to_str().unwrap();
        let flaws = crate::check::lint::run(origin, chart, none, Some(&limits)).flaws;
        let place = |flaw: &crate::diagnostic::flaw::Flaw| {
            (flaw.code.as_str().to_owned(), flaw.position(chart).0, flaw.message.clone())
        };
        flaws.iter().map(place).collect::<Vec<_>>()
    };
    let mut wrong = String::new();
    for (chart, number) in all.iter().zip(1..) {
        let right = chart.whole(&all);
        let flaws = found(number, &right);
        if !flaws.is_empty() {
            wrong += &format!("{number}: {flaws:?}\n");
        }
        for fault in &chart.faults {
            let [code, from, to, rest @ ..] = fault.as_slice() else { panic!("{fault:?}") };
            let at = right.find(from).unwrap_or_else(|| panic!("{number} has no {from}"));
            let edited = right.replacen(from, to, 1);
            let line = match rest {
                [] => right[..at].matches('\n').count() + 1,
                [part, nth @ ..] => {
                    let nth = nth.first().map_or(1, |nth| nth.parse().unwrap());
                    let mut lines = edited.lines().zip(1..).filter(|(line, _)| line.contains(part));
                    lines.nth(nth - 1).unwrap().1
                }
            };
            let after = found(number, &edited);
            if !matches!(&after[..], [(found, at, _)] if found == code && *at == line) {
                wrong +=
                    &format!("{number}, {from:?} -> {to:?}: {code} at {line}, not {after:?}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// An event as it comes, with nothing but what is given.
fn event(trigger: Trigger, fields: Map<String, Json>) -> Event {
    Event { trigger, ..Event::hook("", json!(fields)) }
}
