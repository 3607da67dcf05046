//! Compares a JSON value with a JSON Schema, as far as the schema of charts uses that language: types, keys, alternatives
//! and limits.
//!
//! A whole implementation of JSON Schema would be a fifth of the program. Tests compare this one with it.

use serde_json::{Map, Value as Json};

use crate::chart::kind::{self, Kind};
use crate::chart::model::{self, Given};
use crate::diagnostic::toml::Step;

/// One thing in a value that does not fit the schema.
#[derive(Debug)]
pub(crate) struct Misfit<'a> {
    /// Where it is.
    pub(crate) path: Vec<Step>,
    /// What is there.
    pub(crate) value: &'a Json,
    pub(crate) what: What<'a>,
}

/// What is wrong with a value.
#[derive(Debug)]
pub(crate) enum What<'a> {
    /// It has keys that it cannot have; with those that it can have.
    Unknown {
        keys: Vec<&'a str>,
        allowed: Vec<&'a str>,
    },
    /// It lacks a key.
    Missing(&'a str),
    /// It is something else than these words say.
    Wrong(String),
}

/// Returns everything in a value that does not fit the schema, in the schema's order.
pub(crate) fn misfits<'a>(schema: &'a Json, value: &'a Json) -> Vec<Misfit<'a>> {
    let mut looking = Looking {
        path: Vec::new(),
        found: Vec::new(),
    };
    looking.at(schema, value);
    looking.found
}

struct Looking<'a> {
    path: Vec<Step>,
    found: Vec<Misfit<'a>>,
}

impl<'a> Looking<'a> {
    fn at(&mut self, schema: &'a Json, value: &'a Json) {
        let Json::Object(schema) = schema else {
            return;
        };
        for (keyword, rule) in schema {
            self.keyword(schema, keyword, rule, value);
        }
    }

    /// Looks at one keyword of a schema. (One that is not here restricts nothing; a test holds the schema to these.)
    fn keyword(
        &mut self,
        schema: &'a Map<String, Json>,
        keyword: &str,
        rule: &'a Json,
        value: &'a Json,
    ) {
        match (keyword, value, rule) {
            ("type", _, Json::String(kind)) if !is_a(value, kind) => {
                self.wrong(value, named(kind).to_owned());
            }
            ("enum", _, Json::Array(options)) if !options.contains(value) => {
                let options: Vec<String> = options.iter().map(Json::to_string).collect();
                let expected = match options.as_slice() {
                    [only] => only.clone(),
                    options => format!("one of {}", options.join(", ")),
                };
                self.wrong(value, expected);
            }
            ("const", ..) if value != rule => self.wrong(value, rule.to_string()),
            ("minimum", Json::Number(number), _) if number.as_f64() < rule.as_f64() => {
                self.wrong(value, format!("{rule} or more"));
            }
            ("pattern", Json::String(text), Json::String(pattern)) => {
                if let Some(expected) = instead(pattern, text) {
                    self.wrong(value, expected);
                }
            }
            ("items", Json::Array(items), _) => {
                for (index, item) in items.iter().enumerate() {
                    self.below(index, rule, item);
                }
            }
            ("required", Json::Object(table), Json::Array(names)) => {
                let names = names.iter().filter_map(Json::as_str);
                for name in names.filter(|name| !table.contains_key(*name)) {
                    self.add(value, What::Missing(name));
                }
            }
            ("properties", Json::Object(table), Json::Object(parts))
                if !schema.contains_key("additionalProperties") =>
            {
                for (name, part) in parts {
                    if let Some(inner) = table.get(name) {
                        self.below(name, part, inner);
                    }
                }
            }
            ("additionalProperties", Json::Object(table), _) => {
                let parts = schema.get("properties").and_then(Json::as_object);
                self.table(parts, rule, value, table);
            }
            ("anyOf" | "oneOf", _, Json::Array(ways)) => self.ways(ways, value),
            _ => {}
        }
    }

    /// Looks at a table whose keys are these, or any that fit `others`.
    fn table(
        &mut self,
        parts: Option<&'a Map<String, Json>>,
        others: &'a Json,
        value: &'a Json,
        table: &'a Map<String, Json>,
    ) {
        let mut keys = Vec::new();
        for (key, inner) in table {
            match parts.and_then(|parts| parts.get(key)) {
                Some(part) => self.below(key, part, inner),
                None if *others == Json::Bool(false) => keys.push(key.as_str()),
                None => self.below(key, others, inner),
            }
        }
        if !keys.is_empty() {
            let allowed = parts.into_iter().flat_map(Map::keys).map(String::as_str);
            let allowed = allowed.collect();
            self.add(value, What::Unknown { keys, allowed });
        }
    }

    /// Looks at a value that has to fit one of the `ways`, which exclude each other.
    fn ways(&mut self, ways: &'a [Json], value: &'a Json) {
        let mut expected: Vec<String> = Vec::new();
        for way in ways {
            match misfits(way, value)
                .into_iter()
                .next()
                .map(|first| first.what)
            {
                None => return,
                Some(What::Wrong(words)) if !expected.contains(&words) => {
                    expected.push(words);
                }
                Some(_) => {}
            }
        }
        self.wrong(value, one_of(&expected));
    }

    fn below(&mut self, step: impl Into<Step>, schema: &'a Json, value: &'a Json) {
        self.path.push(step.into());
        self.at(schema, value);
        self.path.pop();
    }

    fn wrong(&mut self, value: &'a Json, expected: String) {
        self.add(value, What::Wrong(expected));
    }

    fn add(&mut self, value: &'a Json, what: What<'a>) {
        let path = self.path.clone();
        self.found.push(Misfit { path, value, what });
    }
}

/// Returns whether a value has this type. A number without a fraction is an integer, however it is written.
fn is_a(value: &Json, kind: &str) -> bool {
    match value {
        Json::Null => kind == "null",
        Json::Bool(_) => kind == "boolean",
        Json::Number(number) => {
            let is_whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
            kind == "number" || kind == "integer" && is_whole
        }
        Json::String(_) => kind == "string",
        Json::Array(_) => kind == "array",
        Json::Object(_) => kind == "object",
    }
}

/// Returns a type in the words of TOML.
fn named(kind: &str) -> &str {
    match kind {
        "boolean" => "a boolean",
        "integer" => "an integer",
        "string" => "a string",
        "array" => "a list",
        "object" => "a table",
        other => other,
    }
}

/// Returns what was expected instead of a text that has to match a pattern; `None` if it does. There are two patterns, each of
/// which says to editors what a type of ours reads.
fn instead(pattern: &str, text: &str) -> Option<String> {
    match pattern {
        kind::PATTERN if Kind::parse(text).is_none() => {
            let names: Vec<String> = Kind::names().map(str::to_owned).collect();
            let words = "with `from N to N` for an integer, and `or null` where it may be null";
            Some(format!("a type, which is {}, {words}", one_of(&names)))
        }
        model::GIVEN if !Given::is_one(text) => {
            Some("`argument`, `stdin` or a letter such as `-f`".to_owned())
        }
        _ => None,
    }
}

/// Returns alternatives as a list for people: `a boolean, an integer or a string`.
fn one_of(ways: &[String]) -> String {
    match ways.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => ways.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::statechart;
    use super::*;

    /// The keywords that restrict something here, and those that restrict nothing.
    const KEYWORDS: &[&str] = &[
        "type",
        "enum",
        "const",
        "minimum",
        "items",
        "required",
        "properties",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "$schema",
        "title",
        "description",
        "default",
    ];

    /// Collects what the schema uses.
    fn keywords(schema: &Json, used: &mut Vec<String>) {
        let Json::Object(schema) = schema else {
            return;
        };
        for (keyword, rule) in schema {
            used.push(match keyword.as_str() {
                "type" | "pattern" => format!("{keyword} {rule}"),
                keyword => keyword.to_owned(),
            });
            match (keyword.as_str(), rule) {
                ("properties", Json::Object(parts)) => {
                    parts.values().for_each(|part| keywords(part, used));
                }
                ("anyOf" | "oneOf", Json::Array(ways)) => {
                    ways.iter().for_each(|way| keywords(way, used));
                }
                ("items" | "additionalProperties", rule) => keywords(rule, used),
                _ => {}
            }
        }
    }

    #[test]
    fn the_schema_of_charts_uses_nothing_else() {
        let schema = statechart::of_charts();
        let mut used = Vec::new();
        keywords(&schema, &mut used);
        assert!(used.len() > 500, "{}", used.len());
        for keyword in used {
            let is_type = keyword
                .strip_prefix("type \"")
                .is_some_and(|kind| named(kind.trim_end_matches('"')).contains(' '));
            let patterns = [kind::PATTERN, model::GIVEN];
            let is_known = patterns.map(|pattern| format!("pattern {}", Json::from(pattern)));
            assert!(
                is_type || is_known.contains(&keyword) || KEYWORDS.contains(&keyword.as_str()),
                "{keyword}"
            );
        }
    }
}
