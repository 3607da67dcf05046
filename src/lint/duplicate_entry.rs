//! `duplicate-entry`: a string that appears twice in a list.

use toml::de::{DeArray, DeTable, DeValue};

use super::subject::Subject;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;

/// Only a command line may contain the same string twice.
const ARGV: &str = "argv";

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let (table, _) = DeTable::parse_recoverable(subject.text);
    let mut flaws = Vec::new();
    visit_table(table.get_ref(), &mut flaws);
    flaws
}

fn visit_table(table: &DeTable<'_>, flaws: &mut Vec<Flaw>) {
    for (key, value) in table.iter() {
        match value.get_ref() {
            DeValue::Table(table) => visit_table(table, flaws),
            DeValue::Array(items) if key.get_ref() != ARGV => visit_list(items, flaws),
            _ => {}
        }
    }
}

fn visit_list(items: &DeArray<'_>, flaws: &mut Vec<Flaw>) {
    let mut seen: Vec<&str> = Vec::new();
    for item in items.iter() {
        match item.get_ref() {
            DeValue::String(text) if seen.contains(&text.as_ref()) => {
                let flaw =
                    Flaw::new(Code::DuplicateEntry, format!("`{text}` is already in this list"));
                flaws.push(flaw.help("remove one of the two".to_owned()).at(Some(item.span())));
            }
            DeValue::String(text) => seen.push(text.as_ref()),
            DeValue::Table(table) => visit_table(table, flaws),
            _ => {}
        }
    }
}
