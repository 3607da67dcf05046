//! Reads the TOML of a chart as its types, and says what does not fit first: its syntax (`toml-syntax`), a key or a value
//! (`misfit`).

use serde::Deserialize as _;
use toml::de::{Deserializer, Error};
use toml::{Spanned, Table};

use super::model::Source;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::did_you_mean;
use crate::diagnostic::toml::Document;

/// Reads a chart. The error is its first flaw: what follows one says little.
pub(crate) fn read(document: &Document<'_>) -> Result<Source, Box<Flaw>> {
    // The lexer's errors come first.
    let first = document.errors.iter().min_by_key(|error| error.span().map(|span| span.start));
    if let Some(error) = first {
        return Err(Box::new(Flaw::new(Code::TomlSyntax, error.message()).at(error.span())));
    }
    Source::deserialize(reader(document)).map_err(|error| Box::new(misfit(&error)))
}

/// Returns the chart as a table that can be written.
pub(super) fn table(document: &Document<'_>) -> Table {
    Table::deserialize(reader(document)).unwrap_or_default()
}

fn reader<'t>(document: &Document<'t>) -> Deserializer<'t> {
    Spanned::new(0..document.text.len(), document.table.clone()).into()
}

/// What serde calls otherwise than TOML does.
const WORDS: [(&str, &str); 5] = [
    ("unknown field", "unknown key"),
    ("missing field", "missing key"),
    ("invalid type:", "this is"),
    ("a sequence", "a list"),
    ("a map", "a table"),
];

/// Returns the flaw that a key or a value does not fit.
fn misfit(error: &Error) -> Flaw {
    // The name that is unknown, and those that are known, are between backticks.
    let mut names = error.message().split('`').skip(1).step_by(2);
    let name = names.next().unwrap_or_default();
    let help = did_you_mean(name, names);
    let message = match &help {
        Some(_) => error.message().split(", expected").next().unwrap_or_default(),
        None => error.message(),
    };
    let message = match message.split_once(", expected struct ") {
        Some((found, _)) => format!("{found}, expected a table"),
        None => message.to_owned(),
    };
    let message = WORDS.iter().fold(message, |message, (serde, ours)| message.replace(serde, ours));
    Flaw::new(Code::Misfit, message).help(help).at(error.span())
}
