//! What the user sets: settings, and context fields that commands alone assign.
//!
//! They are tried at their default, at their least values and around each number that a count of the chart is held
//! against. A counter comes to both sides of each of these.

use indexmap::{IndexMap, IndexSet};
use serde_json::{Value as Json, json};

use super::domain::{Domain, assigns_arg, config_path};
use crate::chart::Chart;
use crate::chart::field::default_of;
use crate::chart::model::{Field, FieldType};
use crate::expr::source::Literal;

/// Beyond this a number is not tried as a setting only because a count is held against it.
const FAR: i64 = 100;

impl Domain {
    /// The context fields that are set by commands alone, to what their options or the chart itself say.
    pub(super) fn find_parameters(&self) -> IndexMap<String, Vec<Json>> {
        let chart = &self.chart;
        let commands = || {
            chart
                .commands
                .values()
                .flat_map(|command| &command.rule.assign)
        };
        let free = fields_of_the_user(chart);
        let free = chart
            .context
            .iter()
            .filter(|(name, _)| free.contains(name.as_str()));
        let values = free.map(|(name, field)| {
            let mut values: IndexSet<Json> = self.parameter(name, field).into_iter().collect();
            values.extend(commands().filter(|(field, _)| *field == name).filter_map(
                |(_, literal)| match literal {
                    Literal::Boolean(value) => Some(json!(value)),
                    Literal::Integer(value) => Some(json!(value)),
                    Literal::Text(_) | Literal::Null => None,
                },
            ));
            (name.clone(), values.into_iter().collect())
        });
        let settings = chart.config.iter().map(|(name, field)| {
            let path = config_path(name);
            let values = self.parameter(&path, field);
            (path, values)
        });
        values.chain(settings).collect()
    }

    /// The default first.
    pub(super) fn parameter(&self, name: &str, field: &Field) -> Vec<Json> {
        let chart = &self.chart;
        let mut values: IndexSet<Json> = [default_of(chart, field)].into();
        match field.kind {
            FieldType::Boolean => values.extend([json!(false), json!(true)]),
            FieldType::Integer => {
                let least = field.minimum.unwrap_or(0);
                values.extend([0, 1, 2].map(|more| Json::from(least.saturating_add(more))));
                let numbers = self.dependence.numbers.iter();
                let sides =
                    numbers.flat_map(|number| [-1, 0, 1].map(|side| number.saturating_add(side)));
                let near = sides.filter(|number| *number >= least && *number <= FAR);
                values.extend(near.map(Json::from));
                values.extend(self.integers(name, Some(least), least, &mut |_| Json::Null));
            }
            FieldType::String => values.extend(self.texts(name, &mut |_| Json::Null)),
            FieldType::Phase => values.extend(chart.phases.keys().map(|name| json!(name))),
        }
        if field.nullable {
            values.insert(Json::Null);
        }
        values
            .into_iter()
            .filter(|value| field.accepts(&chart.phases, value).is_ok())
            .collect()
    }
}

/// The context fields that commands alone set, to what their options or the chart itself say.
pub(super) fn fields_of_the_user(chart: &Chart) -> IndexSet<&str> {
    let own = [Some(&chart.state), chart.next.as_ref()];
    let mut assigned: IndexSet<&str> = own.into_iter().flatten().map(String::as_str).collect();
    let phases = chart.phases.values().map(|entry| &entry.phase.entry);
    let cycles = chart.cycles.values().map(|cycle| &cycle.entry);
    let rules = chart.on.values().flatten().map(|rule| &rule.assign);
    assigned.extend(
        phases
            .chain(cycles)
            .chain(rules)
            .flat_map(IndexMap::keys)
            .map(String::as_str),
    );
    let commands = || {
        chart
            .commands
            .values()
            .flat_map(|command| &command.rule.assign)
    };
    let is_computed = |literal: &Literal| {
        !matches!(literal, Literal::Boolean(_) | Literal::Integer(_))
            && !chart.args.keys().any(|arg| assigns_arg(literal, arg))
    };
    assigned.extend(
        commands()
            .filter(|(_, literal)| is_computed(literal))
            .map(|(field, _)| field.as_str()),
    );
    let fields = chart.context.keys().map(String::as_str);
    fields.filter(|name| !assigned.contains(name)).collect()
}
