//! Plays a scenario, shows each step, and compares what happens with what the scenario expects.

use std::collections::HashSet;

use anstyle::Style;
use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use super::error::DemoError;
use super::scenario::{Expected, Review, Scenario, Step};
use super::stage::{Stage, Stop};
use crate::chart::Chart;
use crate::chart::embedded::Embedded;
use crate::chart::model::FieldType;
use crate::engine::context;
use crate::page::{self, ACCENT, ALERT, BAD, FAINT, GOOD, NEW, PLAIN, Page, STRONG, paint};
use crate::shell::journal::Decided;

/// The width of the label column: a step's number, a label and a space.
const LABEL: usize = 10;

/// How many lines of a message are shown when its rule answers for the first time.
const FIRST_TIME: usize = 10;

/// About how many characters of the message are shown after that.
const GLANCE: usize = 80;

/// The most characters shown of a value that is not a name of the chart.
const VALUE_LIMIT: usize = 12;

/// The state of the instance, if there is one yet.
type State = Option<Map<String, Json>>;

/// Plays the scenario in `text` for an embedded chart. With `keep`, its project stays.
pub(crate) fn play(
    embedded: &'static Embedded,
    text: &str,
    chart: &Chart,
    keep: bool,
) -> Result<(), DemoError> {
    let scenario = Scenario::parse(text)?;
    let mut player = Player {
        chart,
        stage: Stage::new(embedded, chart, &scenario, keep)?,
        page: Page::new(page::width(), LABEL),
        seen: HashSet::new(),
        answers: IndexMap::new(),
        verdicts: IndexMap::new(),
        failed: 0,
    };
    player.page.text(STRONG, "taskie demo");
    player.page.text(PLAIN, &scenario.intro);
    player.page.print();
    let played = player.play(&scenario, keep);
    if keep {
        let root = player.stage.root().display().to_string();
        player
            .page
            .text(PLAIN, &format!("The project is in {root}"));
    }
    player.page.print();
    played
}

/// A field of the state that changed.
struct Change {
    name: String,
    old: String,
    new: String,
}

/// A running demo.
struct Player<'c> {
    chart: &'c Chart,
    stage: Stage,
    page: Page,
    /// The rules whose labels, and those whose full messages, have been shown.
    seen: HashSet<String>,
    /// How often the hook gave each answer.
    answers: IndexMap<&'static str, usize>,
    /// How often the reviewer gave each verdict.
    verdicts: IndexMap<String, usize>,
    /// How many reviews failed.
    failed: usize,
}

impl Player<'_> {
    fn play(&mut self, scenario: &Scenario, keep: bool) -> Result<(), DemoError> {
        for (index, step) in scenario.steps.iter().enumerate() {
            let played = self.step(index + 1, step);
            self.page.print();
            played?;
        }
        let state = self.stage.state().unwrap_or_default();
        let phase = shown(state.get(&self.chart.state).unwrap_or(&Json::Null));
        if phase != scenario.ends {
            return Err(DemoError::Unexpected {
                what: format!("it ended in {phase}, not in {}", scenario.ends),
                details: String::new(),
            });
        }
        self.sum_up(scenario, &phase, keep);
        Ok(())
    }

    fn step(&mut self, number: usize, step: &Step) -> Result<(), DemoError> {
        self.page.blank();
        if let Some(title) = &step.chapter {
            self.page.heading(title);
        }
        if let Some(prompt) = &step.user {
            self.stage.begin_turn();
            self.row("user", &paint(STRONG, prompt));
        }
        self.work(step)?;
        let before = self.stage.state();
        let stop = self.stage.stop(&step.agent, step.review.as_ref())?;
        let after = self.stage.state();
        let rules = self.rules(stop.decision.as_ref());
        self.page.row(&format!("{number:>2} stop"), &rules);
        self.review(&stop, step.review.as_ref());
        let changes = self.changes(&before, &after);
        let changes = changes.iter().map(|change| {
            let Change { name, old, new } = change;
            self.change(&format!("{name} {old} → "), new)
        });
        let changes = match changes.collect::<Vec<_>>() {
            none if none.is_empty() => paint(FAINT, "unchanged"),
            some => some.join(&separator()),
        };
        self.row("state", &changes);
        self.answer(&stop);
        expected(number, step, &stop)
    }

    /// Does what the agent does before it stops.
    fn work(&mut self, step: &Step) -> Result<(), DemoError> {
        let mut files = Vec::new();
        for (name, [from, to]) in &step.edit {
            self.stage.edit(name, from, to)?;
            files.push(format!("~ {name}"));
        }
        for (name, text) in &step.write {
            self.stage.write(name, text)?;
            files.push(format!("+ {name}"));
        }
        for name in &step.remove {
            self.stage.remove(name)?;
            files.push(format!("- {name}"));
        }
        let mut text = step.agent.clone();
        for file in files {
            let file = self.page.whole(&file.replace(" /", " "));
            text.push_str(&format!("  {}", paint(FAINT, file)));
        }
        self.row("agent", &text);
        for line in &step.run {
            let before = self.stage.state();
            self.stage.run(line)?;
            let after = self.stage.state();
            let mut text = self.page.whole(&format!("$ {line}"));
            let changes = self.changes(&before, &after);
            // If the command line already shows a change, it isn't shown again.
            let unsaid = |change: &&Change| line.split_whitespace().all(|word| word != change.new);
            let changes = changes
                .iter()
                .filter(unsaid)
                .map(|change| self.change(&format!("{} ", change.name), &change.new));
            let changes: Vec<String> = changes.collect();
            if !changes.is_empty() {
                let arrow = paint(FAINT, "→\u{a0}");
                text.push_str(&format!(" {arrow}{}", changes.join(&separator())));
            }
            self.row("", &text);
        }
        Ok(())
    }

    /// Returns the rules that fired, in order. A label that was shown before is omitted, except for the last rule,
    /// which is the one that answers.
    fn rules(&mut self, decision: Option<&Decided>) -> String {
        let mut fired = decision.into_iter().flat_map(Decided::fired).peekable();
        let mut list = "";
        let mut rules = Vec::new();
        while let Some(rule) = fired.next() {
            let place = rule.rule.as_str();
            // Of several rules in one list, only the first names the list: `on.Stop[2] → [3]`.
            let (of, index) = place.split_at(place.find('[').unwrap_or(place.len()));
            let short = if of == list { index } else { place };
            list = of;
            let is_new = self.seen.insert(place.to_owned());
            let label = rule.about.as_deref().unwrap_or_default();
            rules.push(match is_new || fired.peek().is_none() {
                true if !label.is_empty() => format!("{}\u{a0}{label}", paint(ACCENT, short)),
                _ => paint(ACCENT, short),
            });
        }
        rules.join(" →\u{a0}")
    }

    /// Shows what the reviewer did, if it ran.
    fn review(&mut self, stop: &Stop, review: Option<&Review>) {
        let Some(call) = &stop.call else { return };
        let by = call.model.as_deref().unwrap_or("the reviewer");
        let file = call.file.rsplit('/').next().unwrap_or_default();
        let words = match review {
            Some(Review::Verdict { text, .. }) => text.lines().next().unwrap_or_default(),
            _ => "",
        };
        let text = match stop.verdict() {
            Some(verdict) => {
                *self.verdicts.entry(verdict.to_owned()).or_default() += 1;
                let verdict = paint(self.style_of(verdict), verdict);
                let words = paint(FAINT, format!("“{words}”"));
                format!("{verdict} by {by} in {file}: {words}")
            }
            None => {
                self.failed += 1;
                format!("{} from {by}: it failed", paint(BAD, "none"))
            }
        };
        self.row("review", &text);
    }

    /// Returns the style of a verdict.
    fn style_of(&self, verdict: &str) -> Style {
        match self.chart.is_best_verdict(verdict) {
            true => GOOD,
            false => BAD,
        }
    }

    /// Shows the answer to the host.
    fn answer(&mut self, stop: &Stop) {
        *self.answers.entry(stop.answer.word()).or_default() += 1;
        let texts = [&stop.reason, &stop.message].into_iter().flatten();
        let text = texts.map(String::as_str).collect::<Vec<_>>().join("\n");
        let is_new = self
            .seen
            .insert(format!("the message of {:?}", stop.rule()));
        let style = match stop.answer {
            Expected::Allow => GOOD,
            Expected::Block => ALERT,
        };
        let most = match is_new {
            true => FIRST_TIME,
            false => GLANCE.div_ceil(self.page.text_width()),
        };
        let text = self.page.shortened(&text, most, is_new);
        let label = format!("   {}", stop.answer.word());
        self.page.styled_row(style, &label, &text);
    }

    /// Adds a row without a number.
    fn row(&mut self, label: &str, text: &str) {
        self.page.row(&format!("   {label}"), text);
    }

    /// Returns the fields that changed, phases first. If there was no state before: the phase, and the fields that
    /// differ from their defaults.
    fn changes(&self, before: &State, after: &State) -> Vec<Change> {
        let defaults = context::initial(self.chart);
        let is_phase = |name: &str| {
            let field = self.chart.context.get(name);
            field.is_some_and(|field| field.kind == FieldType::Phase)
        };
        let (mut names, others): (Vec<_>, Vec<_>) =
            defaults.keys().partition(|name| is_phase(name));
        names.extend(others);
        let value = |state: &State, name: &str| {
            let given = state.as_ref().and_then(|state| state.get(name));
            given
                .or_else(|| defaults.get(name))
                .cloned()
                .unwrap_or_default()
        };
        let is_first = |name: &str| before.is_none() && after.is_some() && name == self.chart.state;
        let mut changes = Vec::new();
        for name in names {
            let (old, new) = (value(before, name), value(after, name));
            if old != new || is_first(name) {
                let text = |value| match is_phase(name) {
                    true => shown(value),
                    false => cut(shown(value)),
                };
                changes.push(Change {
                    name: name.clone(),
                    old: text(&old),
                    new: text(&new),
                });
            }
        }
        changes
    }

    /// Returns a change as it is shown: the start, and the new value.
    fn change(&self, head: &str, new: &str) -> String {
        let (head, new) = (self.page.whole(head), self.page.whole(new));
        format!("{}{}", paint(FAINT, head), paint(NEW, new))
    }

    fn sum_up(&mut self, scenario: &Scenario, phase: &str, keep: bool) {
        let list = |counts: Vec<(String, usize)>| {
            let sum: usize = counts.iter().map(|(_, count)| count).sum();
            let parts = counts.iter().map(|(word, count)| format!("{count} {word}"));
            format!("{sum}: {}", parts.collect::<Vec<_>>().join(", "))
        };
        let answers = self
            .answers
            .iter()
            .map(|(word, count)| (format!("{word}ed"), *count));
        let answers = list(answers.collect());
        let verdicts = self
            .verdicts
            .iter()
            .map(|(word, count)| (word.clone(), *count));
        let mut verdicts = list(verdicts.collect());
        if self.failed > 0 {
            verdicts.push_str(&format!("; {} more failed and did not count", self.failed));
        }
        let names = self.stage.names();
        let fate = if keep {
            "kept"
        } else {
            "removed; `--keep` keeps it"
        };
        let files = format!(
            "{} in {} (the project is {fate})",
            names.len(),
            scenario.dir
        );
        self.page.blank();
        self.page.heading("The end");
        self.row("phase", &paint(GOOD, phase));
        self.row("stops", &answers);
        self.row("review", &verdicts);
        self.row("files", &files);
        self.page.blank();
        self.page.text(PLAIN, &scenario.outro);
    }
}

/// Compares a stop with the expectations of the scenario.
fn expected(number: usize, step: &Step, stop: &Stop) -> Result<(), DemoError> {
    let verdict = stop.verdict().unwrap_or("none");
    let what = match (&step.review, &stop.call) {
        _ if stop.answer != step.stop => {
            format!(
                "the answer was {}, not {}",
                stop.answer.word(),
                step.stop.word()
            )
        }
        (None, Some(_)) => "a review was run, and none was due".to_owned(),
        (Some(_), None) => "no review was run, and one was due".to_owned(),
        (
            Some(Review::Verdict {
                verdict: wanted, ..
            }),
            _,
        ) if verdict != wanted => {
            format!("the verdict was {verdict}, not {wanted}")
        }
        (Some(Review::Crash(_)), _) if stop.verdict().is_some() => {
            "the review counted, and should have failed".to_owned()
        }
        _ => return Ok(()),
    };
    Err(DemoError::Unexpected {
        what: format!("stop {number}: {what}"),
        details: stop.transcript.clone(),
    })
}

/// Returns the separator between two changes: a line may end with the dot, and the next one may start with a change.
fn separator() -> String {
    paint(FAINT, "\u{a0}· ")
}

/// Returns a value for a person: a string without quotes.
fn shown(value: &Json) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn cut(text: String) -> String {
    match text.char_indices().nth(VALUE_LIMIT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::reviewer::Call;
    use crate::shell::journal::Counted;

    fn step(stop: Expected, review: Option<Review>) -> Step {
        Step {
            chapter: None,
            user: None,
            agent: String::new(),
            write: IndexMap::new(),
            edit: IndexMap::new(),
            remove: Vec::new(),
            run: Vec::new(),
            review,
            stop,
        }
    }

    fn stop(answer: Expected, is_called: bool, verdict: Option<&str>) -> Stop {
        let call = Call {
            model: None,
            file: String::new(),
        };
        Stop {
            answer,
            reason: None,
            message: None,
            decision: Some(Decided {
                review: Some(Counted {
                    verdict: verdict.map(str::to_owned),
                    ..Counted::default()
                }),
                ..Decided::default()
            }),
            call: is_called.then_some(call),
            transcript: String::new(),
        }
    }

    #[test]
    fn what_happens_is_compared_with_the_scenario() {
        use Expected::{Allow, Block};
        let pass = || {
            Some(Review::Verdict {
                verdict: "PASS".to_owned(),
                text: String::new(),
            })
        };
        let crash = || Some(Review::Crash(String::new()));
        let cases = [
            (step(Allow, None), stop(Allow, false, None), ""),
            (step(Block, pass()), stop(Block, true, Some("PASS")), ""),
            (step(Allow, crash()), stop(Allow, true, None), ""),
            (
                step(Allow, None),
                stop(Block, false, None),
                "the answer was block, not allow",
            ),
            (
                step(Block, None),
                stop(Block, true, None),
                "a review was run, and none was due",
            ),
            (
                step(Block, pass()),
                stop(Block, false, None),
                "no review was run, and one was due",
            ),
            (
                step(Block, pass()),
                stop(Block, true, Some("FAIL")),
                "the verdict was FAIL, not PASS",
            ),
            (
                step(Block, pass()),
                stop(Block, true, None),
                "the verdict was none, not PASS",
            ),
            (
                step(Allow, crash()),
                stop(Allow, true, Some("PASS")),
                "the review counted, and should have failed",
            ),
        ];
        for (step, stop, flaw) in cases {
            let found = expected(7, &step, &stop)
                .err()
                .map(|error| error.to_string());
            let wanted = (!flaw.is_empty()).then(|| format!("the demo went wrong: stop 7: {flaw}"));
            assert_eq!(found, wanted);
        }
    }
}
