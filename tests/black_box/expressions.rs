//! `docs/expressions.md` is correct: every line of its examples is evaluated, type-checked, or matched.

use minijinja::value::{Value, ValueKind};
use taskie::diagnostic::code::Code;
use taskie::expr::Expressions;
use taskie::expr::infer::{self, Facts, Scope};
use taskie::expr::source::{Literal, Text};
use taskie::expr::templates::Templates;
use taskie::expr::types::Type;
use taskie::files::pattern::{Capture, Pattern};

use crate::typed::texts;

const PAGE: &str = "docs/expressions.md";

/// The names that the page assumes, as types.
struct Assumed;

impl Scope for Assumed {
    fn name(&self, name: &str) -> Option<Type> {
        Some(match name {
            "phase" => Type::Text,
            "n" => Type::Integer,
            "clean" => Type::Boolean,
            "task" => Type::Text.or_none(),
            "names" => Type::list(Type::Text),
            _ => return None,
        })
    }

    fn names(&self) -> Vec<String> {
        ["phase", "n", "clean", "task", "names"]
            .map(str::to_owned)
            .to_vec()
    }

    fn template(&self, _: &str) -> Option<String> {
        None
    }

    fn used(&self, _: &str) {}

    fn templates_like(&self, _: &str, _: &str) -> Vec<String> {
        Vec::new()
    }
}

/// The same names as values.
fn assumed() -> Value {
    Value::from_pairs([
        ("phase", Value::from("write")),
        ("n", Value::from(3)),
        ("clean", Value::from(true)),
        ("task", Value::from(())),
        ("names", Value::from(vec!["b", "a"])),
    ])
}

/// The lines of the blocks in one language: the part before the arrow and the part after it.
fn examples(language: &str) -> Vec<(String, String)> {
    let lines = texts(PAGE, language);
    let lines = lines.iter().flat_map(|block| block.lines());
    let pairs = lines.map(|line| line.split_once('→').unwrap());
    pairs
        .map(|(left, right)| (left.trim().to_owned(), right.trim().to_owned()))
        .collect()
}

/// A value as the page writes it.
fn shown(value: &Value) -> String {
    match value.kind() {
        ValueKind::None => "none".to_owned(),
        ValueKind::Seq => {
            let items: Vec<String> = value.try_iter().unwrap().map(|item| shown(&item)).collect();
            format!("[{}]", items.join(", "))
        }
        _ => serde_json::to_string(value).unwrap(),
    }
}

#[test]
fn every_expression_has_the_value_that_the_page_gives() {
    let expressions = Expressions::new(Templates::Embedded(&[]));
    let examples = examples("expr");
    assert!(examples.len() > 25);
    for (source, expected) in examples {
        let (_, problems) = infer::expression(&source, &Assumed);
        let found = match problems.is_empty() {
            true => shown(&expressions.value(&source, &assumed()).unwrap()),
            false => "refused".to_owned(),
        };
        assert_eq!(found, expected, "{source}");
    }
}

#[test]
fn every_text_has_the_value_that_the_page_gives() {
    let expressions = Expressions::new(Templates::Embedded(&[]));
    let examples = examples("text-of");
    assert!(examples.len() > 8);
    for (source, expected) in examples {
        let mut problems = infer::text(&source, &Assumed, &Facts::default());
        problems.retain(|problem| problem.code != Code::PrintsNone);
        assert_eq!(problems, [], "{source}");
        let literal = Literal::Text(Text(source.clone()));
        let value = expressions.literal(&literal, &assumed()).unwrap();
        assert_eq!(shown(&value), expected, "{source}");
    }
}

#[test]
fn every_pattern_matches_what_the_page_says() {
    let examples = examples("pattern");
    assert!(examples.len() > 7);
    for (source, expected) in examples {
        let (pattern, name) = source.split_once(' ').unwrap();
        let pattern = Pattern::parse(pattern).unwrap();
        let found = match pattern.matches(name.trim()) {
            None => "no".to_owned(),
            Some(captures) if captures.is_empty() => "yes".to_owned(),
            Some(captures) => captures
                .iter()
                .map(|(hole, capture)| match capture {
                    Capture::Text(text) => format!("{hole} = {text}"),
                    Capture::Integer(number) => format!("{hole} = {number}"),
                })
                .collect::<Vec<_>>()
                .join(", "),
        };
        assert_eq!(found, expected, "{source}");
    }
}
