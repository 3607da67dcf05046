//! `args`: the options of commands.

use std::sync::Arc;

use minijinja::value::Value;

use super::built_in::{BuiltIn, Lookup};
use super::{Looked, Names};
use crate::diagnostic::suggest::did_you_mean;
use crate::engine::context;
use crate::engine::fault::Fault;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("args.NAME", "the option NAME: the given value, else its default", "commands, `enter`"),
    ],
    kind: |names| {
        let args = names.chart.args.iter();
        Some(Type::record(args.map(|(name, arg)| (name.clone(), names.of(arg.of.kind)))))
    },
    value: Lookup::Fields(value),
};

fn value(names: &Arc<Names>, name: &str) -> Looked {
    let arg = names.chart.args.get(name)?;
    Some(names.remembered(&format!("args.{name}"), || {
        let wrong = |detail: String| Fault::Argument { name: name.to_owned(), detail };
        let value = match (names.event.args.get(name), &arg.default) {
            (Some(given), _) => context::to_value(given),
            (None, Some(default)) => {
                let place = format_args!("args.{name}.default");
                names.literal(place, default, &names.root())?
            }
            (None, None) => return Err(wrong("is missing".to_owned())),
        };
        if let Some(one_of) = &arg.one_of {
            let allowed = names.expressions.items(&one_of.0, &names.root());
            let allowed = allowed.map_err(Fault::at(format_args!("args.{name}.one_of")))?;
            if !allowed.contains(&value) {
                return Err(wrong(not_one_of(&value, &allowed)));
            }
        }
        Ok(value)
    }))
}

fn not_one_of(value: &Value, allowed: &[Value]) -> String {
    let names: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    if value.is_none() {
        return match names.is_empty() {
            true => "has no value to choose from yet".to_owned(),
            false => format!("is missing: one of {}", names.join(", ")),
        };
    }
    let text = value.to_string();
    let shown = text.escape_debug();
    if names.is_empty() {
        return format!("`{shown}` is not allowed: there are no values to choose from");
    }
    let hint = did_you_mean(&text, names.iter().map(String::as_str));
    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    let more = if names.len() > 20 { ", …" } else { "" };
    let known = names[..names.len().min(20)].join(", ");
    format!("`{shown}` is not one of {known}{more}{hint}")
}
