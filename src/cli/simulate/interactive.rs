//! `taskie simulate --interactive`: lists everything that can happen next, with its effect, and lets the user choose.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

use indexmap::IndexMap;

use super::super::error::CliError;
use super::super::output::Target;
use super::walk::Walk;
use crate::engine::decision;
use crate::page::{self, ACCENT, BAD, FAINT, PLAIN, Page, paint, paint_words};
use crate::scenario::player::Player;
use crate::scenario::script::{Expected, Review, Step};
use crate::store::journal::Decided;
use crate::text::in_words;

const HELP: &str = "A number does that; `taskie …` runs a command; `w NAME TEXT` writes a file, `r NAME` removes it; \
                    `u` takes the last step back, `s FILE` saves the walk, `q` ends.";

/// Lets the user choose, until the end of stdin or `q`.
pub(super) fn run(walk: &mut Walk<'_>) -> Result<ExitCode, CliError> {
    let mut page = Page::new(page::width(), 0);
    page.text(PLAIN, HELP);
    page.print();
    let stdin = std::io::stdin();
    loop {
        let options = options(walk);
        list(&options);
        if stdin.is_terminal() {
            let mut out = anstream::stdout().lock();
            let _ = write!(out, "> ").and_then(|()| out.flush());
        }
        let mut line = String::new();
        let read = stdin.read_line(&mut line);
        if read.map_err(|error| CliError::new(error.to_string()))? == 0 {
            return Ok(ExitCode::SUCCESS);
        }
        let line = line.trim();
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let number = word.parse::<usize>().ok();
        let chosen = number.and_then(|number| options.get(number.checked_sub(1)?));
        let step = match (chosen, word) {
            (Some(option), _) => option.step.clone(),
            (None, "q") => return Ok(ExitCode::SUCCESS),
            (None, "u") => {
                match walk.undo() {
                    true => tell(PLAIN, "The last step is undone."),
                    false => tell(BAD, "There is no step to undo."),
                }
                continue;
            }
            (None, "s") if !rest.is_empty() => {
                match walk.save(&Target::new(Path::new(rest)), "A simulation, step by step.") {
                    Ok(()) => tell(PLAIN, &format!("Saved as {rest}: `taskie test {rest}`.")),
                    Err(CliError::Message { message, .. }) => tell(BAD, &message),
                    Err(other) => return Err(other),
                }
                continue;
            }
            (None, "w") if !rest.is_empty() => {
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                let text = format!("{}\n", text.replace("\\n", "\n"));
                Step {
                    write: IndexMap::from([(name.to_owned(), text)]),
                    ..Step::default()
                }
            }
            (None, "r") if !rest.is_empty() => Step {
                remove: vec![rest.to_owned()],
                ..Step::default()
            },
            (None, "taskie") => command(line),
            _ => {
                tell(PLAIN, HELP);
                continue;
            }
        };
        let played = walk.take(&step);
        match played {
            Ok(()) => walk.player.page.print(),
            Err(failure) => {
                walk.player.page.take_lines();
                tell(BAD, &failure.to_string());
            }
        }
    }
}

/// Something that can happen.
struct Choice {
    label: String,
    /// What it would do.
    effect: String,
    step: Step,
}

/// Returns everything that can happen now: the agent's next step, the ways in which its stop can end, and the commands.
fn options(walk: &Walk<'_>) -> Vec<Choice> {
    let instance = &walk.player.stage;
    let chart = &instance.chart;
    let mut steps: Vec<(String, Step)> = Vec::new();
    steps.extend(
        walk.proposal()
            .ok()
            .map(|step| ("the agent continues".to_owned(), step)),
    );
    let last = walk.last.as_ref().map(|last| last.answer);
    let stop = Step {
        user: (last != Some(Expected::Block)).then(|| "continue".to_owned()),
        event: Some("Stop".to_owned()),
        ..Step::default()
    };
    match instance.foresee(&instance.event("Stop", &stop)) {
        Ok(decision::Step::Invoke(invocation)) if instance.missing(&invocation).is_none() => {
            let invoke = chart.invoke.get(&invocation.name);
            let verdicts = invoke.into_iter().flat_map(|invoke| &invoke.verdicts);
            let gate = (!invocation.gates.commands.is_empty()).then_some("gate");
            for verdict in verdicts.map(String::as_str).chain(["crash"]).chain(gate) {
                let review = Some(Review::of(verdict, String::new()));
                let step = Step {
                    review,
                    ..stop.clone()
                };
                steps.push((format!("stop, review: {verdict}"), step));
            }
        }
        _ => steps.push(("stop".to_owned(), stop)),
    }
    let phases = chart
        .phases
        .keys()
        .map(|phase| format!("taskie enter {phase}"));
    let commands = chart
        .commands
        .keys()
        .map(|name| format!("taskie run {name}"));
    steps.extend(
        phases
            .chain(commands)
            .map(|line| (line.clone(), command(&line))),
    );
    let choices = steps.into_iter().filter_map(|(label, step)| {
        let mut trial = Player::new(chart, instance.clone());
        trial.step(1, &step).ok()?;
        let effect = trial
            .decided
            .iter()
            .map(effect)
            .collect::<Vec<_>>()
            .join(", then ");
        Some(Choice {
            label,
            effect,
            step,
        })
    });
    choices.collect()
}

fn command(line: &str) -> Step {
    Step {
        run: vec![line.to_owned()],
        ..Step::default()
    }
}

/// Returns the effect of a decision, in a few words.
fn effect(decided: &Decided) -> String {
    let mut parts = Vec::new();
    match decided.answer.as_str() {
        "pass" => {}
        word => parts.push(word.to_owned()),
    }
    let changes = decided.changed.iter();
    parts.extend(changes.map(|(name, [_, new])| format!("{name} {}", in_words(new))));
    match parts.is_empty() {
        true => "nothing changes".to_owned(),
        false => parts.join(", "),
    }
}

fn list(options: &[Choice]) {
    let labels: Vec<String> = options
        .iter()
        .enumerate()
        .map(|(index, option)| format!("{:>2}  {}", index + 1, option.label))
        .collect();
    let mut page = Page::labeled(labels.iter().map(String::as_str));
    page.blank();
    for (label, option) in labels.iter().zip(options) {
        page.styled_row(ACCENT, label, &paint_words(FAINT, &option.effect));
    }
    page.print();
}

fn tell(style: anstyle::Style, text: &str) {
    let mut page = Page::new(page::width(), 0);
    page.line(paint(style, text));
    page.print();
}
