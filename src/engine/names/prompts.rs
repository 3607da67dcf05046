//! `prompts`: texts that the user may replace.

use std::sync::Arc;

use minijinja::value::Value;

use super::built_in::{BuiltIn, Lookup};
use super::types::each;
use super::{Looked, Names};
use crate::engine::fault::Fault;
use crate::engine::world::Source;
use crate::expr::types::Type;
use crate::expr::{self, prompt};

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("prompts.NAME", "the prompt NAME: the user's own file, else the template, with its holes filled", ""),
    ],
    kind: |names| Some(each(names.chart.prompts.keys(), &Type::Text)),
    value: Lookup::Fields(value),
};

/// Returns the user's prompt of that name, or else the template, with its holes filled.
fn value(names: &Arc<Names>, name: &str) -> Looked {
    let vars = names.chart.prompts.get(name)?;
    let value_of = |hole: &str| {
        let source = &vars.get(hole)?.0;
        let value = names.expressions.value(source, &names.root());
        let text = value.and_then(|value| expr::shown(source, &value));
        Some(text.map_err(Fault::at(format_args!("prompts.{name}.{hole}"))))
    };
    Some(names.remembered(&format!("prompts.{name}"), || {
        let own = names.look(&Source::Prompt(name.to_owned()))?;
        let text = match own.as_str() {
            Some(text) => text.to_owned(),
            None => names.chart.prompt_template(name).map_err(Fault::World)?,
        };
        prompt::fill(&text, value_of).map(Value::from)
    }))
}
