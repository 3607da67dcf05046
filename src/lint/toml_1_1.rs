//! `toml-1-1`: syntax of TOML 1.1, which this reader accepts and other tools don't: inline tables on several lines or
//! with a comma at their end, `\e` and `\x`.

use toml::de::{DeTable, DeValue};

use super::subject::Subject;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let (table, _) = DeTable::parse_recoverable(subject.text);
    let mut flaws = Vec::new();
    for (_, value) in table.get_ref().iter() {
        visit(subject.text, value.span(), value.get_ref(), &mut flaws);
    }
    flaws
}

fn visit(text: &str, span: std::ops::Range<usize>, value: &DeValue<'_>, flaws: &mut Vec<Flaw>) {
    let source = text.get(span.clone()).unwrap_or_default();
    let mut tell = |what: &str| {
        let help = "charts are TOML 1.0, so that every editor and tool reads them".to_owned();
        flaws.push(
            Flaw::new(Code::Toml11, format!("{what} is TOML 1.1"))
                .help(help)
                .at(Some(span.clone())),
        );
    };
    match value {
        DeValue::Table(table) => {
            if source.starts_with('{') {
                // Strings and arrays inside it may contain line breaks in TOML 1.0 too.
                let mut outside = source.to_owned();
                for (_, inner) in table.iter() {
                    if let Some(inner) = text.get(inner.span()).filter(|inner| inner.contains('\n'))
                    {
                        outside = outside.replacen(inner, "", 1);
                    }
                }
                if outside.contains('\n') {
                    tell("an inline table on several lines");
                } else if outside.trim_end_matches('}').trim_end().ends_with(',') {
                    tell("a comma at the end of an inline table");
                }
            }
            for (_, inner) in table.iter() {
                visit(text, inner.span(), inner.get_ref(), flaws);
            }
        }
        DeValue::Array(items) => {
            for inner in items.iter() {
                visit(text, inner.span(), inner.get_ref(), flaws);
            }
        }
        DeValue::String(_) if source.starts_with('"') => {
            let escapes = source.replace("\\\\", "");
            if escapes.contains("\\e") || escapes.contains("\\x") {
                tell("the escape `\\e` or `\\x`");
            }
        }
        _ => {}
    }
}
