//! What was tried, for a person.

use serde_json::Value as Json;

use super::answer::plain;
use super::domain::{Choice, Domain, item_in_words};
use super::imagined_world::Question;
use super::moves::Moves;
use crate::chart::model::FieldType;
use crate::engine::event::Trigger;
use indexmap::IndexSet;

impl Domain {
    /// Returns the values of `choice` in words. A text that is not compared with anything is one of many.
    pub(crate) fn in_words(&self, choice: &Choice) -> String {
        let is_text = match choice {
            Choice::Event(_) | Choice::Session => true,
            Choice::Arg(name) => {
                let arg = self.chart.args.get(name);
                arg.is_some_and(|arg| arg.of.kind == FieldType::String)
            }
            _ => false,
        };
        // A context field that a text is compared with is shown as what it holds.
        let held = |field: &str| Json::from(format!("the value of {field}"));
        let inputs = self.reading(&held);
        let values = inputs.of(choice);
        let known = inputs.known_texts(&choice.name());
        let is_other =
            |value: &&Json| is_text && value.as_str().is_some_and(|text| !known.contains(text));
        let (others, own): (Vec<&Json>, Vec<&Json>) = values.iter().partition(is_other);
        let parts = inputs.parts(&choice.name()).into_iter();
        let parts = parts.map(|part| format!("a text with {part}"));
        let own = own.into_iter().map(value_in_words);
        let mut words: IndexSet<String> = own.chain(parts).collect();
        if !others.is_empty() {
            let any = match words.is_empty() {
                true => "any text",
                false => "any other text",
            };
            words.insert(any.to_owned());
        }
        let words: Vec<String> = words.into_iter().collect();
        let between = match values.iter().any(Json::is_array) {
            true => "; or ",
            false => ", ",
        };
        format!("{}: {}", choice.title(), words.join(between))
    }
}

/// Returns a value in words; of a list, how many there are of one kind of item.
fn value_in_words(value: &Json) -> String {
    match value.as_array().map(Vec::as_slice) {
        Some([]) => "none".to_owned(),
        Some([item]) => item_in_words(item),
        Some([item, others @ ..]) if others.iter().all(|other| other == item) => {
            format!("{} times {}", 1 + others.len(), item_in_words(item))
        }
        Some(_) => "several of these".to_owned(),
        None if value.is_null() => "none".to_owned(),
        None => plain(value),
    }
}

impl Moves {
    /// Returns what was tried, one line for each input and each kind of move.
    pub(crate) fn domain_in_words(&self) -> Vec<String> {
        let chart = &self.tree.chart;
        let domain = &self.tree.domain;
        let parameters = domain.parameters.iter();
        let parameters = parameters.map(|(field, values)| {
            let words: Vec<String> = values.iter().map(|it| plain(it.value())).collect();
            let (name, words) = (self.tree.name_of(*field), words.join(", "));
            format!("{name}: {words}, set by the user at any time")
        });
        let mut lines: Vec<String> = parameters.collect();
        // Each question is there once.
        lines.extend(self.tree.questions.iter().filter_map(|question| {
            let Question::Choice(choice) = &**question else {
                return None;
            };
            Some(domain.in_words(choice))
        }));
        for (name, invoke) in &chart.invoke {
            let verdicts = invoke.verdicts.join(", ");
            lines.push(format!("{name}: {verdicts}, no verdict, failed"));
        }
        let gates = domain.gate();
        let times: Vec<String> = gates.map(|gate| gate.times.to_string()).collect();
        if !times.is_empty() {
            let times = times.join(", ");
            lines.push(format!("gates: all pass, one fails ({times} in a row)"));
        }
        let hooks = self.all.iter().filter_map(|one| match &one.trigger {
            Some(Trigger::Hook(name)) => Some(name.as_str()),
            _ => None,
        });
        let hooks: Vec<&str> = hooks.collect();
        lines.push(format!("events: {}", hooks.join(", ")));
        let answers = match chart.cycles.is_empty() {
            true => "",
            false => ", writes the answer to a review or does not",
        };
        lines.push(format!(
            "the agent: enters any phase whose guard holds{answers}, does nothing and stops again"
        ));
        if !chart.commands.is_empty() {
            let commands: Vec<&str> = chart.commands.keys().map(String::as_str).collect();
            lines.push(format!("the user: runs {}", commands.join(", ")));
        }
        lines.push("files and tables: chosen again at every event".to_owned());
        lines
    }
}
