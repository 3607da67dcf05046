//! Plays a scenario on a stage, and compares what happens with what the scenario expects.

use serde_json::Value as Json;

use super::failure::Failure;
use super::script::{Expected, ScenarioStep, Script, ScriptedReview};
use super::stage::{ScriptedAnswer, Stage};
use crate::chart::Chart;
use crate::store::journal::{DecisionLine, TriedLine};
use crate::text::in_words;

/// A scenario that is being played.
pub(crate) struct Player<'c, S> {
    chart: &'c Chart,
    pub(crate) stage: S,
    /// What was decided in the last step, one for each command and event.
    pub(crate) decided: Vec<DecisionLine>,
}

impl<'c, S: Stage> Player<'c, S> {
    /// Returns a player of scenarios of `chart`.
    pub(crate) fn new(chart: &'c Chart, stage: S) -> Self {
        Self { chart, stage, decided: Vec::new() }
    }

    /// Plays all steps. `done` gets each one, and how its event was answered if it has one.
    pub(crate) fn play(
        &mut self,
        script: &Script,
        mut done: impl FnMut(&Self, &ScenarioStep, Option<&ScriptedAnswer>),
    ) -> Result<(), Failure> {
        for (index, step) in script.steps.iter().enumerate() {
            let answer = self.step(index + 1, step)?;
            done(self, step, answer.as_ref());
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
    fn step(
        &mut self,
        number: usize,
        step: &ScenarioStep,
    ) -> Result<Option<ScriptedAnswer>, Failure> {
        self.decided.clear();
        if step.user.is_some() {
            self.stage.begin_turn();
        }
        self.stage.arrange(step)?;
        for (name, [from, to]) in &step.edit {
            self.stage.edit(name, from, to)?;
        }
        for (name, text) in &step.write {
            self.stage.write(name, text)?;
        }
        for name in &step.remove {
            self.stage.remove(name)?;
        }
        for line in &step.run {
            match self.stage.run(line, step) {
                Err(Failure::Refused(_)) if step.answer.as_deref() == Some("refuse") => {}
                ran => ran?,
            }
            self.decided.extend(self.stage.decisions());
        }
        let answer = step.event().map(|event| self.stage.send(event, step)).transpose()?;
        self.decided.extend(answer.iter().filter_map(|answer| answer.decision.clone()));
        self.expected(number, step, answer.as_ref())?;
        Ok(answer)
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
                details: answer.map(ScriptedAnswer::in_words).unwrap_or_default(),
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
