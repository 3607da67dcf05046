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

/// What serde calls otherwise than TOML does: how its messages begin, and what it expects.
const FOUND: [(&str, &str); 6] = [
    ("invalid type: map", "this is a table"),
    ("invalid type: sequence", "this is a list"),
    ("unknown field", "unknown key"),
    ("missing field", "missing key"),
    ("invalid type:", "this is"),
    ("unknown variant", "unknown value"),
];
const EXPECTED: [(&str, &str); 3] =
    [("a sequence", "a list"), ("a map", "a table"), ("struct ", "a table")];

/// Returns the flaw that a key or a value does not fit.
fn misfit(error: &Error) -> Flaw {
    let message = error.message();
    let (found, expected) = message.rsplit_once(", expected ").unwrap_or((message, ""));
    // The name that is unknown, and those that are known, are between backticks.
    let name = found.split('`').nth(1).unwrap_or_default();
    let help = did_you_mean(name, expected.split('`').skip(1).step_by(2));
    let begins = FOUND.iter().find_map(|(serde, ours)| Some((ours, found.strip_prefix(serde)?)));
    let mut message =
        begins.map_or_else(|| found.to_owned(), |(ours, rest)| ours.to_string() + rest);
    if help.is_none() && !expected.is_empty() {
        let ours = EXPECTED.iter().find(|(serde, _)| expected.starts_with(serde));
        message += &format!(", expected {}", ours.map_or(expected, |(_, ours)| ours));
    }
    Flaw::new(Code::Misfit, message).help(help).at(error.span())
}
