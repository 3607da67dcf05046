//! Syntax of earlier versions: it is found here, refused by the loader and the linter, and rewritten by `check-chart
//! --fix`.
//!
//! Two things have changed so far: rules are `[[on.EVENT]]` tables and no longer a list, and a property says
//! `about` for `name` and `reachable` for what `eventually` meant then.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;

/// One place with outdated syntax, and the edits that bring it up to date.
struct Outdated {
    flaw: Flaw,
    edits: Vec<(Range<usize>, String)>,
}

/// Returns the outdated places of the chart in `text`, as findings.
pub(crate) fn flaws(text: &str) -> Vec<Flaw> {
    find(text)
        .into_iter()
        .map(|outdated| outdated.flaw)
        .collect()
}

/// Returns the chart in today's syntax; `None` if nothing is outdated. All other lines stay as they are.
pub(crate) fn fix(text: &str) -> Option<String> {
    let unix = text.replace("\r\n", "\n");
    if unix.len() < text.len()
        && !unix.contains('\r')
        && unix.matches('\n').count() == text.matches("\r\n").count()
    {
        return fix(&unix).map(|fixed| fixed.replace('\n', "\r\n"));
    }
    let found = find(text);
    if found.is_empty() {
        return None;
    }
    let mut edits: Vec<_> = found
        .into_iter()
        .flat_map(|outdated| outdated.edits)
        .collect();
    edits.sort_by_key(|(range, _)| range.start);
    let mut fixed = text.to_owned();
    let mut moved = String::new();
    for (range, replacement) in edits.into_iter().rev() {
        // An insertion at the end of the file comes after everything else.
        if range.start == text.len() {
            moved.insert_str(0, &replacement);
        } else {
            fixed.replace_range(range, &replacement);
        }
    }
    if !moved.is_empty() {
        fixed = format!("{}\n\n{moved}", fixed.trim_end());
    }
    Some(fixed)
}

fn find(text: &str) -> Vec<Outdated> {
    let (table, _) = DeTable::parse_recoverable(text);
    let mut found = properties(text, table.get_ref());
    found.extend(lists_of_rules(text, table.get_ref()));
    found.sort_by_key(|outdated| outdated.flaw.span.as_ref().map(|span| span.start));
    found
}

fn outdated(span: Range<usize>, message: String, help: &str) -> Flaw {
    Flaw::new(Code::OutdatedSyntax, message)
        .help(format!("{help}; `taskie check-chart --fix` rewrites it"))
        .at(Some(span))
}

/// Finds properties with a `name`: they were written before `eventually` had its present meaning.
fn properties(text: &str, chart: &DeTable<'_>) -> Vec<Outdated> {
    let Some(DeValue::Array(items)) = chart.get("properties").map(|value| value.get_ref()) else {
        return Vec::new();
    };
    let tables = items.iter().filter_map(|item| item.get_ref().as_table());
    let named = tables.filter_map(|property| {
        let (name, _) = property.get_key_value("name")?;
        let renamed = [("name", "about"), ("eventually", "reachable")];
        let edits = renamed.iter().filter_map(|(old, new)| {
            let (key, _) = property.get_key_value(*old)?;
            Some(rename(text, key.span(), new))
        });
        let message = "the `name` of a property is now its `about`".to_owned();
        let help = if property.contains_key("eventually") {
            "write `about`, and `reachable` for `eventually`"
        } else {
            "write `about`"
        };
        Some(Outdated {
            edits: edits.collect(),
            flaw: outdated(name.span(), message, help),
        })
    });
    named.collect()
}

/// Returns the edit that renames a key. It includes the spaces before the `=`, so that aligned `=` stay aligned.
fn rename(text: &str, key: Range<usize>, new: &str) -> (Range<usize>, String) {
    let blanks = text[key.end..].len() - text[key.end..].trim_start_matches(' ').len();
    let width = key.len() + blanks;
    let range = key.start..key.end + blanks;
    (
        range,
        format!("{new:<0$}", width.max(new.len() + usize::from(blanks > 0))),
    )
}

fn lists_of_rules(text: &str, chart: &DeTable<'_>) -> Vec<Outdated> {
    let events = chart.get("on").and_then(|on| on.get_ref().as_table());
    let mut found = Vec::new();
    for (event, rules) in events.into_iter().flatten() {
        let list = rules.span();
        let is_list = match rules.get_ref() {
            DeValue::Array(items) => match items.first() {
                Some(rule) => text[rule.span()].starts_with('{'),
                None => true,
            },
            _ => false,
        };
        if !is_list {
            continue;
        }
        let key = event.span();
        let line = text[..key.start].rfind('\n').map_or(0, |end| end + 1);
        let end = text[list.end..]
            .find('\n')
            .map_or(text.len(), |length| list.end + length);
        let name = event.get_ref();
        let (comment, tables) = tables(name, &text[list.clone()], &text[list.end..end]);
        // In a table `[on]`, the rules replace the list. A dotted key belongs to another table.
        let edits = if text[line..key.start].trim().is_empty() {
            let is_behind_another =
                text[..line].ends_with("]\n") && !text[..line].ends_with("[on]\n");
            let gap = if is_behind_another { "\n" } else { "" };
            vec![(line..end, format!("{gap}{comment}{}", tables.trim_end()))]
        } else {
            let end = (end + 1).min(text.len());
            vec![(line..end, comment), (text.len()..text.len(), tables)]
        };
        let help = format!("write each rule as a table of its own: `[[on.{name}]]`");
        found.push(Outdated {
            flaw: outdated(key, format!("the rules of {name} are in a list"), &help),
            edits,
        });
    }
    // Without its lists, the table `[on]` is empty.
    if let (Some(first), Some(header)) = (found.first_mut(), header(text)) {
        first.edits.push((header, String::new()));
    }
    found
}

/// Returns the place of the header `[on]`, without its comment.
fn header(text: &str) -> Option<Range<usize>> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some(rest) = line.strip_prefix("[on]") {
            let comment = rest.find('#').unwrap_or(rest.len());
            return Some(start..start + "[on]".len() + comment);
        }
        start += line.len();
    }
    None
}

/// Returns the rules of a list as tables, and the comments before the first one. `behind` is the text after the list
/// on its last line. A comment at the end of a rule's first line was the rule's name.
fn tables(event: &str, list: &str, behind: &str) -> (String, String) {
    let inside = list
        .strip_prefix('[')
        .and_then(|list| list.strip_suffix(']'));
    let mut rules: Vec<(String, Vec<(String, String)>)> = Vec::new();
    let (mut first, mut comments) = (String::new(), String::new());
    let mut begins = false;
    // What follows a list of several lines is not about its last rule.
    let end = list.contains('\n').then_some(Part::Line);
    for part in parts(inside.unwrap_or_default())
        .into_iter()
        .chain(end)
        .chain(parts(behind))
    {
        match (part, rules.last_mut()) {
            (Part::Line, _) => begins = false,
            (Part::Comment(comment), Some((above, keys))) if begins => {
                let is_frame = |sign: char| matches!(sign, '#' | '.') || sign.is_whitespace();
                let name = serde_json::Value::from(comment.trim_matches(is_frame));
                if keys.iter().any(|(key, _)| key == "about") {
                    above.push_str(&format!("{comment}\n"));
                } else {
                    keys.insert(0, ("about".to_owned(), name.to_string()));
                }
            }
            (Part::Comment(comment), None) => first.push_str(&format!("{comment}\n")),
            (Part::Comment(comment), Some(_)) => comments.push_str(&format!("{comment}\n")),
            (Part::Item(rule), _) => {
                let inside = rule
                    .strip_prefix('{')
                    .and_then(|rule| rule.strip_suffix('}'));
                let mut keys = Vec::new();
                for part in parts(inside.unwrap_or_default()) {
                    match part {
                        Part::Item(pair) => {
                            keys.extend(pair.split_once('=').map(|(key, value)| {
                                (key.trim().to_owned(), value.trim().to_owned())
                            }))
                        }
                        Part::Comment(comment) => comments.push_str(&format!("{comment}\n")),
                        Part::Line => {}
                    }
                }
                rules.push((std::mem::take(&mut comments), keys));
                begins = true;
            }
        }
    }
    let tables = rules.into_iter().map(|(comments, keys)| {
        let width = keys.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
        let keys = keys
            .iter()
            .map(|(key, value)| format!("{key:width$} = {value}\n"));
        format!("{comments}[[on.{event}]]\n{}", keys.collect::<String>())
    });
    (first, tables.collect::<Vec<_>>().join("\n") + &comments)
}

/// Part of the content of a list or an inline table.
enum Part<'t> {
    /// The text between two commas.
    Item(&'t str),
    Comment(&'t str),
    /// The end of a line.
    Line,
}

/// Splits the text between brackets. Commas inside strings and inner brackets do not count.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut at, mut start, mut depth) = (0, 0, 0_usize);
    let item = |start: usize, end: usize| {
        Some(text[start..end].trim())
            .filter(|item| !item.is_empty())
            .map(Part::Item)
    };
    while let Some(sign) = text[at..].chars().next() {
        let rest = &text[at..];
        let length = match sign {
            '"' | '\'' => string(rest),
            '#' => rest.find('\n').unwrap_or(rest.len()),
            other => other.len_utf8(),
        };
        match sign {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.extend(item(start, at));
                start = at + 1;
            }
            // A comment or the end of a line between two items. Inside an item, both are part of it.
            '#' if depth == 0 => {
                parts.extend(item(start, at));
                parts.push(Part::Comment(rest[..length].trim_end()));
                start = at + length;
            }
            '\n' if depth == 0 && text[start..at].trim().is_empty() => {
                parts.push(Part::Line);
                start = at + 1;
            }
            _ => {}
        }
        at += length;
    }
    parts.extend(item(start, at));
    parts
}

/// Returns the length of the string at the start of `text`, its quotes included.
fn string(text: &str) -> usize {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let close = if text.starts_with(&triple) {
        &triple
    } else {
        quote
    };
    let mut at = close.len();
    while let Some(sign) = text[at..].chars().next() {
        if text[at..].starts_with(close) {
            // Up to two quotes may precede the closing ones.
            let run = text[at..].len() - text[at..].trim_start_matches(quote).len();
            return at + if close.len() == 3 { run.min(5) } else { 1 };
        }
        let is_escape = sign == '\\' && quote == "\"";
        let escaped = text[at + 1..].chars().next().filter(|_| is_escape);
        at += sign.len_utf8() + escaped.map_or(0, char::len_utf8);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_rules_become_tables() {
        let old = r##"id = "x"

# What is said.
[on]                  # at other times
next = [              # what to do
  { guard = "a, b", say = "# no comment }" },     # the first ...
  # The second one follows.
  { action = "ask", assign = { x = "{{ none }}", y = [1, 2] }, about = "mine" }, # stays
]
run = [{ allow = true }]   # one

[commands]
"##;
        let new = r##"id = "x"

# What is said.
# at other times
# what to do
[[on.next]]
about = "the first"
guard = "a, b"
say   = "# no comment }"

# The second one follows.
# stays
[[on.next]]
action = "ask"
assign = { x = "{{ none }}", y = [1, 2] }
about  = "mine"

[[on.run]]
about = "one"
allow = true

[commands]
"##;
        assert_eq!(fix(old).as_deref(), Some(new));
        assert_eq!(fix(new), None);
        let flaws = flaws(old);
        assert_eq!(flaws.len(), 2, "{flaws:?}");
        assert_eq!(flaws[0].position(old), (5, 1));
    }

    #[test]
    fn line_ends_and_a_comment_behind_the_list_stay() {
        let old = "[on]\nStop = [\n  { allow = true } ]  # end\n";
        let new = "[[on.Stop]]\nallow = true\n# end\n";
        assert_eq!(fix(old).as_deref(), Some(new));
        let windows = |text: &str| text.replace('\n', "\r\n");
        assert_eq!(fix(&windows(old)), Some(windows(new)));
    }

    #[test]
    fn what_cannot_stay_in_its_place_goes_to_the_end() {
        let old = "on.Stop = [{ allow = true }]\nid = \"x\"\n[scope]\nhome = \"h\"\n";
        let new = "id = \"x\"\n[scope]\nhome = \"h\"\n\n[[on.Stop]]\nallow = true\n";
        assert_eq!(fix(old).as_deref(), Some(new));
    }

    #[test]
    fn a_property_with_a_name_is_outdated() {
        let old = "[[properties]]\nname       = \"n\"\neventually = \"a\" # e\n[[properties]]\nname = \"m\"\nnever = \"b\"\n";
        let new = "[[properties]]\nabout      = \"n\"\nreachable  = \"a\" # e\n[[properties]]\nabout = \"m\"\nnever = \"b\"\n";
        assert_eq!(fix(old).as_deref(), Some(new));
        assert_eq!(fix(new), None);
        let todays = "[[properties]]\nabout = \"n\"\neventually = \"a\"\n";
        assert_eq!(fix(todays), None);
    }
}
