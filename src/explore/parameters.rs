//! What the user sets at any time: settings, and context fields that a command sets to whatever it is given.
//!
//! They are tried at their default, at their least values and around each number with which the chart compares
//! a count. A counter reaches both sides of each of these. A setting that only texts show is tried at its default.

use std::sync::Arc;

use indexmap::IndexSet;
use serde_json::{Value as Json, json};

use super::answer::Answer;
use super::domain::{Domain, config_path};
use crate::chart::field::default_of;
use crate::chart::model::{Field, FieldType};
use crate::chart::uses::{fields_of_the_user, steering};
use crate::hash::IndexMap;

/// A number beyond this is not tried as a setting just because a count is compared with it.
const FAR: i64 = 100;

/// Of more words than this, not every selection is tried.
const WORDS: usize = 6;

/// Returns whether each selection of a list's words is tried.
pub(super) fn is_tried_whole(field: &Field) -> bool {
    let words = field.one_of.as_ref().map(|words| words.list().len());
    field.kind == FieldType::List && words.is_some_and(|count| count <= WORDS)
}

/// Returns selections of `words`: all there are, or of many words none, each one, and all of them.
fn some_of(words: &[String]) -> Vec<Vec<&String>> {
    if words.len() > WORDS {
        let each = words.iter().map(|word| vec![word]);
        let ends = [Vec::new(), words.iter().collect()];
        return ends.into_iter().chain(each).collect();
    }
    let some = |mask: usize| {
        let words = words.iter().enumerate();
        let words = words.filter(|(at, _)| mask >> at & 1 == 1);
        words.map(|(_, word)| word).collect()
    };
    (0..1 << words.len()).map(some).collect()
}

impl Domain {
    /// Returns what the user can set at any time, with the values that are tried.
    pub(super) fn find_parameters(&self) -> IndexMap<usize, Arc<[Answer]>> {
        let chart = &self.chart;
        let free = fields_of_the_user(chart);
        let fields = chart.context.iter().enumerate();
        let free = fields.filter(|(_, (name, _))| free.contains(name.as_str()));
        let values = free.map(|(at, (name, field))| (at, self.values_of(name, field)));
        let steering = steering(chart, &self.expressions);
        let settings = chart.config.iter().map(|(name, field)| {
            let path = config_path(name);
            let mut begins = chart.context.values().filter_map(Field::setting);
            let is_free = steering.contains(&path) || begins.any(|begun| begun == name);
            match is_free {
                true => self.values_of(&path, field),
                false => vec![default_of(chart, field)],
            }
        });
        let all = values.chain((chart.context.len()..).zip(settings));
        let answers = |values: Vec<Json>| values.into_iter().map(Answer::Value).collect();
        all.map(|(at, values)| (at, answers(values))).collect()
    }

    /// Returns the values that are tried for a field, the default first.
    pub(super) fn values_of(&self, name: &str, field: &Field) -> Vec<Json> {
        let chart = &self.chart;
        let unread = self.reading(&|_| Json::Null);
        let mut values: IndexSet<Json> = [default_of(chart, field)].into();
        match field.kind {
            FieldType::Boolean => values.extend([json!(false), json!(true)]),
            FieldType::Integer => {
                let least = field.minimum.unwrap_or(0);
                values.extend([0, 1, 2].map(|more| Json::from(least.saturating_add(more))));
                let numbers = self.dependence.numbers.iter();
                let around = |number: &i64| [-1, 0, 1].map(|side| number.saturating_add(side));
                let sides = numbers.clone().flat_map(around);
                // Below a setting, a counter passes all of them.
                let tried = numbers.clone().filter(|number| **number < FAR);
                let beyond = tried.max().map(|number| number.saturating_add(2));
                let near = sides.chain(beyond);
                let near = near.filter(|number| *number >= least && *number <= FAR + 1);
                values.extend(near.map(Json::from));
                values.extend(unread.integers(name, Some(least), least));
            }
            FieldType::String => match &field.one_of {
                Some(words) => values.extend(words.list().iter().map(|word| json!(word))),
                None => values.extend(unread.texts(name)),
            },
            FieldType::List => match &field.one_of {
                Some(words) => {
                    values.extend(some_of(words.list()).into_iter().map(|some| json!(some)));
                }
                // What another list holds is tried only where an option must be one of its words.
                None => {
                    let mut options = chart.args.values().filter_map(|arg| arg.one_of.as_ref());
                    if options.any(|one_of| one_of.0.trim() == name) {
                        values.insert(Json::Array(unread.texts(name)));
                    }
                }
            },
            FieldType::Phase => values.extend(chart.phases.keys().map(|name| json!(name))),
        }
        if field.nullable {
            values.insert(Json::Null);
        }
        values.retain(|value| field.accepts(&chart.phases, value).is_ok());
        values.into_iter().collect()
    }
}
