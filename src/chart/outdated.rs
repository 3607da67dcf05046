//! Syntax of earlier versions: it is found here and refused by the loader and the linter. `check-chart --fix` renames the
//! keys that have another name now.
//!
//! Two things have changed so far: a property says `about` for `name`, and `reachable` for what `eventually` meant then;
//! and rules are `[[on.EVENT]]` tables and no longer a list, which has to be rewritten by hand.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::{Flaw, in_order};

/// The keys of a property that have another name now. Only one with a `name` is that old: `eventually` exists again, with
/// another meaning.
const RENAMED: [(&str, &str); 2] = [("name", "about"), ("eventually", "reachable")];

/// Returns the outdated places of the chart in `text`, as findings.
pub(crate) fn flaws(text: &str) -> Vec<Flaw> {
    let (chart, _) = DeTable::parse_recoverable(text);
    let properties = old_properties(chart.get_ref()).filter_map(|property| {
        let (name, _) = property.get_key_value("name")?;
        let help = match property.contains_key("eventually") {
            true => "write `about`, and `reachable` for `eventually`",
            false => "write `about`",
        };
        let help = format!("{help}; `taskie check-chart --fix` renames them");
        let message = "the `name` of a property is now its `about`".to_owned();
        Some(outdated(name.span(), message, help))
    });
    let events = chart.get_ref().get("on");
    let events = events.and_then(|on| on.get_ref().as_table());
    let lists = events.into_iter().flatten().filter_map(|(event, rules)| {
        let items = rules.get_ref().as_array()?;
        let is_inline = |rule: &toml::Spanned<DeValue<'_>>| text[rule.span()].starts_with('{');
        if !items.first().is_none_or(is_inline) {
            return None;
        }
        let name = event.get_ref();
        let help = format!("write each rule as a table of its own: `[[on.{name}]]`");
        let message = format!("the rules of {name} are in a list");
        Some(outdated(event.span(), message, help))
    });
    in_order(properties.chain(lists))
}

/// Returns the chart with today's names of keys; `None` if none is outdated. Everything else stays as it is.
pub(crate) fn fix(text: &str) -> Option<String> {
    let (chart, _) = DeTable::parse_recoverable(text);
    let renamed = old_properties(chart.get_ref()).flat_map(|property| {
        RENAMED.iter().filter_map(|(old, new)| {
            let (key, _) = property.get_key_value(*old)?;
            Some((key.span(), *new))
        })
    });
    let mut renamed: Vec<(Range<usize>, &str)> = renamed.collect();
    renamed.sort_by_key(|(key, _)| key.start);
    let mut fixed = text.to_owned();
    for (key, new) in renamed.iter().rev() {
        // The blanks before the `=` are part of it, so that aligned `=` stay aligned.
        let blanks = text[key.end..].len() - text[key.end..].trim_start_matches(' ').len();
        let width = (key.len() + blanks).max(new.len() + usize::from(blanks > 0));
        fixed.replace_range(key.start..key.end + blanks, &format!("{new:<width$}"));
    }
    (!renamed.is_empty()).then_some(fixed)
}

/// Returns the properties with a `name`.
fn old_properties<'t, 'd>(chart: &'t DeTable<'d>) -> impl Iterator<Item = &'t DeTable<'d>> {
    let properties = chart.get("properties");
    let properties = properties.and_then(|list| list.get_ref().as_array());
    let tables = properties.into_iter().flat_map(|list| list.iter());
    let tables = tables.filter_map(|item| item.get_ref().as_table());
    tables.filter(|property| property.contains_key("name"))
}

fn outdated(span: Range<usize>, message: String, help: String) -> Flaw {
    Flaw::new(Code::OutdatedSyntax, message)
        .help(help)
        .at(Some(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_in_a_list_are_outdated() {
        let places =
            |text: &str| -> Vec<_> { flaws(text).iter().map(|flaw| flaw.position(text)).collect() };
        let old = "[on]\nStop = []\nnext = [{ allow = true }]\n[[on.run]]\nallow = true\n";
        assert_eq!(places(old), [(2, 1), (3, 1)]);
        assert_eq!(fix(old), None);
    }

    #[test]
    fn a_property_with_a_name_is_outdated() {
        let old = "[[properties]]\nname       = \"n\"\neventually = \"a\" # e\n[[properties]]\nname = \"m\"\nnever = \"b\"\n";
        let new = "[[properties]]\nabout      = \"n\"\nreachable  = \"a\" # e\n[[properties]]\nabout = \"m\"\nnever = \"b\"\n";
        assert_eq!(flaws(old).len(), 2);
        assert_eq!(fix(old).as_deref(), Some(new));
        assert_eq!(fix(new), None);
        let todays = "[[properties]]\nabout = \"n\"\neventually = \"a\"\n";
        assert_eq!(fix(todays), None);
    }
}
