//! Plays a scenario on a stage, shows each step, and compares what happens with what the scenario expects.

use std::collections::HashSet;

use anstyle::Style;
use serde_json::Value as Json;

use super::failure::Failure;
use super::script::{Expected, ScenarioStep, Script, ScriptedReview};
use super::stage::{ScriptedAnswer, Stage, State};
use crate::chart::Chart;
use crate::chart::model::FieldType;
use crate::engine::context;
use crate::hash::IndexMap;
use crate::page::{self, ACCENT, ALERT, BAD, FAINT, GOOD, NEW, Page, STRONG, paint};
use crate::store::journal::{DecisionLine, TriedLine};
use crate::text::{cut, in_words};

/// The width of the label column: a step's number, a label and a space.
const LABEL: usize = 10;

/// How many lines of a message are shown when its rule answers for the first time.
const FIRST_TIME: usize = 10;

/// About how many characters of the message are shown after that.
const GLANCE: usize = 80;

/// The most characters shown of a value that is not a name of the chart.
const VALUE_LIMIT: usize = 12;

/// A field of the state that changed.
struct FieldChange {
    name: String,
    old: String,
    new: String,
}

/// A scenario that is being played.
pub(crate) struct Player<'c, S> {
    chart: &'c Chart,
    pub(crate) stage: S,
    /// The output.
    pub(crate) page: Page,
    /// The rules whose labels, and those whose full messages, have been shown.
    seen: HashSet<String>,
    /// How often the hook gave each answer.
    answers: IndexMap<&'static str, usize>,
    /// How often the reviewer gave each verdict.
    verdicts: IndexMap<String, usize>,
    /// How many reviews failed.
    failed: usize,
    /// What was decided in the last step, one for each command and event.
    pub(crate) decided: Vec<DecisionLine>,
    /// Whether the last step had no event.
    is_open: bool,
}

impl<'c, S: Stage> Player<'c, S> {
    /// Returns a player of scenarios of `chart`.
    pub(crate) fn new(chart: &'c Chart, stage: S) -> Self {
        Self {
            chart,
            stage,
            page: Page::new(page::width(), LABEL),
            seen: HashSet::new(),
            answers: IndexMap::default(),
            verdicts: IndexMap::default(),
            failed: 0,
            decided: Vec::new(),
            is_open: false,
        }
    }

    /// Plays all steps. After each one `done` gets the page, which it may print.
    pub(crate) fn play(
        &mut self,
        script: &Script,
        mut done: impl FnMut(&mut Self),
    ) -> Result<(), Failure> {
        for (index, step) in script.steps.iter().enumerate() {
            let played = self.step(index + 1, step);
            done(self);
            played?;
        }
        let phase = self.phase();
        match &script.ends {
            Some(ends) if *ends != phase => Err(Failure::Unexpected {
                what: format!("it ended in {phase}, not in {ends}"),
                details: String::new(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns the phase that the instance is in.
    pub(crate) fn phase(&self) -> String {
        let state = self.stage.state().unwrap_or_default();
        in_words(state.get(&self.chart.state).unwrap_or(&Json::Null))
    }

    /// Plays one step, and returns how its event was answered, if it has one.
    pub(crate) fn step(
        &mut self,
        number: usize,
        step: &ScenarioStep,
    ) -> Result<Option<ScriptedAnswer>, Failure> {
        self.decided.clear();
        // Steps without an event belong to the next event.
        if !std::mem::take(&mut self.is_open) {
            self.page.blank();
        }
        if let Some(title) = &step.chapter {
            self.page.heading(title);
        }
        if let Some(prompt) = &step.user {
            self.stage.begin_turn();
            self.row("user", &paint(STRONG, prompt));
        }
        self.stage.arrange(step)?;
        self.work(step)?;
        let Some(event) = step.event() else {
            self.is_open = true;
            self.expected(number, step, None)?;
            return Ok(None);
        };
        let before = self.stage.state();
        let answer = self.stage.send(event, step)?;
        self.decided.extend(answer.decision.clone());
        let after = self.stage.state();
        let mut rules = self.rules(answer.decision.as_ref());
        let label = match event {
            "Stop" => format!("{number:>2} stop"),
            _ => {
                rules = format!("{event}  {rules}");
                format!("{number:>2} event")
            }
        };
        self.page.row(&label, &rules);
        self.review(&answer, step.review.as_ref());
        let changes = self.changes(&before, &after);
        let changes = changes.iter().map(|change| {
            let FieldChange { name, old, new } = change;
            self.change(&format!("{name} {old} → "), new)
        });
        let changes = match changes.collect::<Vec<_>>() {
            none if none.is_empty() => paint(FAINT, "unchanged"),
            some => some.join(&separator()),
        };
        self.row("state", &changes);
        self.answer(&answer);
        self.expected(number, step, Some(&answer))?;
        Ok(Some(answer))
    }

    /// Does what the agent does before the event.
    fn work(&mut self, step: &ScenarioStep) -> Result<(), Failure> {
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
        if !text.is_empty() {
            self.row("agent", text.trim_start());
        }
        for line in &step.run {
            let before = self.stage.state();
            let is_refused = match self.stage.run(line, step) {
                Err(Failure::Refused(_)) if step.answer.as_deref() == Some("refuse") => true,
                ran => {
                    ran?;
                    false
                }
            };
            self.decided.extend(self.stage.decisions());
            let after = self.stage.state();
            let mut text = self.page.whole(&format!("$ {line}"));
            let changes = self.changes(&before, &after);
            // If the command line already shows a change, it isn't shown again.
            let unsaid =
                |change: &&FieldChange| line.split_whitespace().all(|word| word != change.new);
            let changes = changes
                .iter()
                .filter(unsaid)
                .map(|change| self.change(&format!("{} ", change.name), &change.new));
            let changes: Vec<String> = changes.collect();
            if !changes.is_empty() {
                let arrow = paint(FAINT, "→\u{a0}");
                text.push_str(&format!(" {arrow}{}", changes.join(&separator())));
            }
            if is_refused {
                text.push_str(&format!(" {}", paint(BAD, "refused")));
            }
            self.row("", &text);
        }
        Ok(())
    }

    /// Returns the rules that fired, in order. A label that was shown before is omitted, except for the last rule,
    /// which is the one that answers.
    fn rules(&mut self, decision: Option<&DecisionLine>) -> String {
        let mut fired = decision.into_iter().flat_map(DecisionLine::fired).peekable();
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
    fn review(&mut self, stop: &ScriptedAnswer, review: Option<&ScriptedReview>) {
        let Some(call) = &stop.call else { return };
        let by = call.model.as_deref().unwrap_or("the reviewer");
        let file = call.file.rsplit('/').next().unwrap_or_default();
        let words = match review {
            Some(ScriptedReview::Verdict { text, .. }) => text.lines().next().unwrap_or_default(),
            _ => "",
        };
        let text = match stop.verdict() {
            Some(verdict) => {
                *self.verdicts.entry(verdict.to_owned()).or_default() += 1;
                let verdict = paint(self.style_of(verdict), verdict);
                let words = match words {
                    "" => String::new(),
                    words => format!(": {}", paint(FAINT, format!("“{words}”"))),
                };
                format!("{verdict} by {by} in {file}{words}")
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
    fn answer(&mut self, stop: &ScriptedAnswer) {
        *self.answers.entry(stop.answer.word()).or_default() += 1;
        let texts = [&stop.reason, &stop.message].into_iter().flatten();
        let text = texts.map(String::as_str).collect::<Vec<_>>().join("\n");
        let is_new = self.seen.insert(format!("the message of {:?}", stop.rule()));
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
    fn changes(&self, before: &State, after: &State) -> Vec<FieldChange> {
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
            given.or_else(|| defaults.get(name)).cloned().unwrap_or_default()
        };
        let is_first = |name: &str| before.is_none() && after.is_some() && name == self.chart.state;
        let mut changes = Vec::new();
        for name in names {
            let (old, new) = (value(before, name), value(after, name));
            if old != new || is_first(name) {
                let text = |value| match is_phase(name) {
                    true => in_words(value),
                    false => cut(in_words(value), VALUE_LIMIT),
                };
                changes.push(FieldChange { name: name.clone(), old: text(&old), new: text(&new) });
            }
        }
        changes
    }

    /// Returns a change as it is shown: the start, and the new value.
    fn change(&self, head: &str, new: &str) -> String {
        let (head, new) = (self.page.whole(head), self.page.whole(new));
        format!("{}{}", paint(FAINT, head), paint(NEW, new))
    }

    /// Prints how it ended: the phase, and how often each answer was given; `files` too, if there are any.
    pub(crate) fn sum_up(&mut self, files: Option<&str>) {
        let list = |counts: Vec<(String, usize)>| {
            let sum: usize = counts.iter().map(|(_, count)| count).sum();
            let parts = counts.iter().map(|(word, count)| format!("{count} {word}"));
            format!("{sum}: {}", parts.collect::<Vec<_>>().join(", "))
        };
        let answers = self.answers.iter().map(|(word, count)| (format!("{word}ed"), *count));
        let answers = list(answers.collect());
        let verdicts = self.verdicts.iter().map(|(word, count)| (word.clone(), *count));
        let mut verdicts = list(verdicts.collect());
        if self.failed > 0 {
            verdicts.push_str(&format!("; {} more failed and did not count", self.failed));
        }
        let phase = self.phase();
        self.page.blank();
        self.page.heading("The end");
        self.row("phase", &paint(GOOD, phase));
        self.row("stops", &answers);
        if !self.verdicts.is_empty() || self.failed > 0 {
            self.row("review", &verdicts);
        }
        if let Some(files) = files {
            self.row("files", files);
        }
    }

    /// Compares a step with what the scenario says about it.
    fn expected(
        &self,
        number: usize,
        step: &ScenarioStep,
        answer: Option<&ScriptedAnswer>,
    ) -> Result<(), Failure> {
        let of_answer = answer.and_then(|answer| unlike(step, answer));
        let what = of_answer.or_else(|| {
            let last = self.decided.last();
            let answered = last.map_or("", |decided| decided.answer.as_str());
            if let Some(expected) = step.answer.as_deref().filter(|word| *word != answered) {
                return Some(format!("the answer was {answered}, not {expected}"));
            }
            let fired: Vec<&TriedLine> = last.into_iter().flat_map(DecisionLine::fired).collect();
            let is_meant = |(rule, word): (&&TriedLine, &String)| {
                rule.rule == *word || rule.about.as_ref() == Some(word)
            };
            let are_meant = |rules: &&Vec<String>| {
                rules.len() == fired.len() && fired.iter().zip(*rules).all(is_meant)
            };
            let fired: Vec<&str> = fired.iter().map(|rule| rule.rule.as_str()).collect();
            if let Some(rules) = step.rules.as_ref().filter(|rules| !are_meant(rules)) {
                let list = |rules: &[&str]| match rules {
                    [] => "no rule".to_owned(),
                    some => some.join(", "),
                };
                let wanted: Vec<&str> = rules.iter().map(String::as_str).collect();
                return Some(format!("{} fired, not {}", list(&fired), list(&wanted)));
            }
            let state = self.stage.state().unwrap_or_default();
            let nulls = step.null.iter().map(|name| (name, &Json::Null));
            let mut fields = step.state.iter().chain(nulls);
            let (name, wanted) =
                fields.find(|(name, wanted)| state.get(*name).unwrap_or(&Json::Null) != *wanted)?;
            let found = state.get(name).unwrap_or(&Json::Null);
            Some(format!("{name} was {found}, not {wanted}"))
        });
        match what {
            None => Ok(()),
            Some(what) => Err(Failure::Unexpected {
                what: format!("step {number}: {what}"),
                details: answer.map(|answer| answer.transcript.clone()).unwrap_or_default(),
            }),
        }
    }
}

/// Returns what is wrong with the answer to a stop.
fn unlike(step: &ScenarioStep, stop: &ScriptedAnswer) -> Option<String> {
    let word = |verdict: Option<&str>| verdict.unwrap_or("none").to_owned();
    match (&step.review, &stop.call) {
        (None, Some(_)) => Some("a review was run, and none was due".to_owned()),
        (Some(ScriptedReview::Gate(_)), None) if stop.gate().is_none() => {
            Some("no gate has failed".to_owned())
        }
        (Some(review), None) if !matches!(review, ScriptedReview::Gate(_)) => {
            Some("no review was run, and one was due".to_owned())
        }
        _ if step.stop.is_some_and(|expected| expected != stop.answer) => Some(format!(
            "the answer was {}, not {}",
            stop.answer.word(),
            step.stop.map_or("", Expected::word)
        )),
        (Some(ScriptedReview::Verdict { verdict, .. }), _)
            if stop.verdict() != verdict.as_deref() =>
        {
            Some(format!(
                "the verdict was {}, not {}",
                word(stop.verdict()),
                word(verdict.as_deref())
            ))
        }
        (Some(ScriptedReview::Crash(_)), _) if stop.verdict().is_some() => {
            Some("the review counted, and should have failed".to_owned())
        }
        _ => lacks(step, stop),
    }
}

/// Returns what the texts of an answer lack.
fn lacks(step: &ScenarioStep, stop: &ScriptedAnswer) -> Option<String> {
    let texts = [&stop.reason, &stop.message].map(|text| text.as_deref().unwrap_or_default());
    let is_absent = |part: &&String| !texts.iter().any(|text| text.contains(part.as_str()));
    let part = step.contains.iter().find(is_absent)?;
    Some(format!("the answer lacks {part:?}: {}", texts.join("\n").trim()))
}

/// Returns the separator between two changes: a line may end with the dot, and the next one may start with a change.
fn separator() -> String {
    paint(FAINT, "\u{a0}· ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::stage::Call;
    use crate::store::journal::Counted;

    fn step(stop: Expected, review: Option<ScriptedReview>) -> ScenarioStep {
        ScenarioStep { stop: Some(stop), review, ..ScenarioStep::default() }
    }

    fn stop(answer: Expected, is_called: bool, verdict: Option<&str>) -> ScriptedAnswer {
        let call = Call { model: None, file: String::new() };
        ScriptedAnswer {
            answer,
            reason: None,
            message: None,
            decision: Some(DecisionLine {
                review: Some(Counted { verdict: verdict.map(str::to_owned), ..Counted::default() }),
                ..DecisionLine::default()
            }),
            call: is_called.then_some(call),
            transcript: String::new(),
        }
    }

    #[test]
    fn what_happens_is_compared_with_the_scenario() {
        use Expected::{Allow, Block};
        let pass = || Some(ScriptedReview::of("PASS", String::new()));
        let crash = || Some(ScriptedReview::Crash(String::new()));
        let cases = [
            (step(Allow, None), stop(Allow, false, None), ""),
            (step(Block, pass()), stop(Block, true, Some("PASS")), ""),
            (step(Allow, crash()), stop(Allow, true, None), ""),
            (step(Allow, None), stop(Block, false, None), "the answer was block, not allow"),
            (step(Block, None), stop(Block, true, None), "a review was run, and none was due"),
            (step(Block, pass()), stop(Block, false, None), "no review was run, and one was due"),
            (
                step(Block, pass()),
                stop(Block, true, Some("FAIL")),
                "the verdict was FAIL, not PASS",
            ),
            (step(Block, pass()), stop(Block, true, None), "the verdict was none, not PASS"),
            (
                step(Allow, crash()),
                stop(Allow, true, Some("PASS")),
                "the review counted, and should have failed",
            ),
        ];
        for (step, stop, flaw) in cases {
            assert_eq!(unlike(&step, &stop).unwrap_or_default(), flaw);
        }
    }
}
