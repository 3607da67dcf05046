//! Options that several commands have, those of the chart's phases and commands, and how their values are read.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use indexmap::IndexSet;
use serde_json::Value as Json;

use crate::chart::Chart;
use crate::chart::field::Phases;
use crate::chart::fragments::Fragment;
use crate::chart::model::{self, Field, FieldType, Given};
use crate::commands::place::ASKING;
use crate::hash::IndexMap;

/// The id of the argument that names an instance.
const INSTANCE: &str = "instance";

/// Returns a command that has [`About`] in the chart's words: `--plan`. Where each session has its own instance, none is named.
pub(super) fn in_words_of(chart: &Chart, command: Command) -> Command {
    if !command.get_arguments().any(|arg| arg.get_id() == INSTANCE) {
        return command;
    }
    let asks = ASKING.contains(&command.get_name());
    let noun = chart.scope.noun();
    command.mut_arg(INSTANCE, |arg| match chart.scope.is_per_session() {
        true => arg.hide(true).value_parser(|_: &str| {
            Err::<String, _>("each session has its own: name the session".to_owned())
        }),
        false => {
            let is_change = chart.scope.is_of_changes();
            let arg = arg.long(noun.to_owned()).value_name(noun.to_uppercase());
            let arg = if is_change { arg } else { arg.num_args(1) };
            let or = if is_change || !asks { "" } else { "; --change names a change" };
            arg.help(format!("The {noun} to use [default: what is under review here{or}]"))
        }
    })
}

/// Returns the options that a phase uses.
pub(crate) fn args_of_phase<'c>(chart: &'c Chart, phase: &str) -> Vec<&'c str> {
    let phase = chart.phases.get(phase).map(|entry| &entry.phase);
    let fragments = phase.map_or_else(Vec::new, |phase| phase.fragments());
    collect_args(chart, &fragments)
}

/// Returns the options of a command and of those that it raises. (No command raises itself.)
pub(crate) fn args_of<'c>(chart: &'c Chart, name: &str) -> Vec<&'c str> {
    let Some(command) = chart.commands.get(name) else {
        return Vec::new();
    };
    let own = collect_args(chart, &command.fragments());
    let raised = command.raise.iter();
    let raised = raised.flat_map(|raised| args_of(chart, raised));
    let used: IndexSet<&str> = own.into_iter().chain(raised).collect();
    used.into_iter().collect()
}

/// Returns the chart's options that the texts use as `args.NAME`, directly or through a let, in the chart's order.
fn collect_args<'c>(chart: &'c Chart, fragments: &[Fragment<'c>]) -> Vec<&'c str> {
    let texts = fragments.iter().map(|fragment| fragment.text);
    let names = chart.names_in(texts);
    let options = chart.args.keys().map(String::as_str);
    options.filter(|name| names.contains(&format!("args.{name}"))).collect()
}

/// Parses the value of an option, which must be one of its type. Which phases there are, the event says.
fn value(of: &Field, text: &str) -> Result<Json, String> {
    let given = || Json::from(text);
    let value = match of.kind {
        FieldType::Integer | FieldType::Amount => {
            serde_json::from_str(text).unwrap_or_else(|_| given())
        }
        _ => given(),
    };
    match of.kind {
        FieldType::Phase => Ok(value),
        _ => of
            .accepts(&Phases::default(), &value)
            .map(|()| value)
            .map_err(|it| format!("expected {it}")),
    }
}

pub(super) fn option(name: &str, arg: &model::Arg, may_be_positional: bool) -> Arg {
    let of = Field::from(arg.of.clone());
    let mut option = Arg::new(name.to_owned())
        .value_name(name.to_uppercase())
        .value_parser(move |text: &str| value(&of, text))
        .allow_negative_numbers(arg.of.kind == FieldType::Integer);
    if let Some(about) = &arg.about {
        option = option.help(about.clone());
    }
    if arg.given == Some(Given::F) {
        option = option.short('f');
    }
    let long = name.replace('_', "-");
    if arg.of.kind == FieldType::Boolean {
        return option.long(long).value_parser(value_parser!(bool)).action(ArgAction::SetTrue);
    }
    if arg.given == Some(Given::Argument) && may_be_positional {
        return option.required(arg.default.is_none());
    }
    option.long(long).required(arg.default.is_none())
}

/// Returns the given options, converted to their types.
pub(crate) fn given(chart: &Chart, matches: &ArgMatches) -> IndexMap<String, Json> {
    let mut args = IndexMap::default();
    for (name, arg) in &chart.args {
        // Not every command has every option.
        let value = match arg.of.kind {
            FieldType::Boolean => typed::<bool>(matches, name),
            _ => typed::<Json>(matches, name),
        };
        args.extend(value.map(|value| (name.clone(), value)));
    }
    args
}

fn typed<T: Into<Json> + Clone + Send + Sync + 'static>(
    matches: &ArgMatches,
    name: &str,
) -> Option<Json> {
    let value = matches.try_get_one::<T>(name).ok().flatten();
    value.cloned().map(Into::into)
}
