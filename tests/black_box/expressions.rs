//! `docs/charts.md` is correct: every line of its examples is evaluated, type-checked, or matched.

use minijinja::value::{Value, ValueKind};
use taskie::expr::Expressions;
use taskie::expr::infer::{self, Scope};
use taskie::expr::source::{Literal, Text};
use taskie::expr::templates::Templates;
use taskie::expr::types::Type;
use taskie::files::pattern::{Capture, Captures, Pattern};

use crate::typed::texts;

const PAGE: &str = "docs/charts.md";

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
        ["phase", "n", "clean", "task", "names"].map(str::to_owned).to_vec()
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
    pairs.map(|(left, right)| (left.trim().to_owned(), right.trim().to_owned())).collect()
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
    assert!(examples.len() > 15);
    for (source, expected) in examples {
        let (_, problems) = infer::expression(&source, &Assumed);
        let found = match problems.is_empty() {
            true => shown(&expressions.value(&source, &assumed()).unwrap()),
            false => "refused".to_owned(),
        };
        assert_eq!(found, expected, "{source}");
    }
}

/// Each with the place of its first problem, what is wrong there, and what to do.
#[test]
fn expressions_are_read_to_the_end() {
    let unexpected = "unexpected character";
    let no_operator = |theirs| format!("there is no operator `{theirs}`");
    let no_braces = "an expression has no `{{ }}` around it: only a text does";
    let cases: &[(&str, &str, &str, &str)] = &[
        ("phase == 'a' $ nope((", "$", unexpected, ""),
        ("phase == 'a' 'b' § clean", "§", unexpected, ""),
        ("phase == 'a' && nope((", "&&", &no_operator("&&"), "write `and`"),
        ("clean || n == 3", "||", &no_operator("||"), "write `or`"),
        ("clean and !clean", "!", &no_operator("!"), "write `not`"),
        ("phase = 'a'", "=", &no_operator("="), "write `==`"),
        ("n <> 3", "<>", &no_operator("<>"), "write `!=`"),
        ("task == null", "null", "unknown name `null`", "write `none`"),
        ("{{ clean }}", "{{ clean }}", no_braces, "write it without them: `clean`"),
    ];
    let expressions = Expressions::new(Templates::Embedded(&[]));
    let first = |problems: Vec<infer::Problem>, source: &str| {
        let problem = problems.into_iter().next().expect(source);
        let place = source.get(problem.span.clone()).map(str::to_owned);
        let help = problem.help.unwrap_or_default();
        (place.unwrap_or_default(), problem.message, help)
    };
    for &(source, place, message, help) in cases {
        let expected = (place.to_owned(), message.to_owned(), help.to_owned());
        let found = first(infer::expression(source, &Assumed).1, source);
        assert_eq!(found, expected, "{source}");
        assert!(expressions.value(source, &assumed()).is_err(), "{source}");
        if message != no_braces {
            let text = format!("{{{{ {source} }}}}");
            let found = first(infer::text(&text, &Assumed), &text);
            assert_eq!(found, expected, "{text}");
        }
    }
    // The lexer doesn't say where these begin.
    for source in ["phase == 'a' 1_", "phase == 'a' 'b", "phase == 'a' 'b' 1__2"] {
        assert_ne!(infer::expression(source, &Assumed).1, [], "{source}");
        assert!(expressions.value(source, &assumed()).is_err(), "{source}");
    }
}

#[test]
fn every_text_has_the_value_that_the_page_gives() {
    let expressions = Expressions::new(Templates::Embedded(&[]));
    let examples = examples("text-of");
    assert!(examples.len() > 4);
    for (source, expected) in examples {
        assert_eq!(infer::text(&source, &Assumed), [], "{source}");
        let literal = Literal::Text(Text(source.clone()));
        let value = expressions.literal(&literal, &assumed()).unwrap();
        assert_eq!(shown(&value), expected, "{source}");
    }
    let error = expressions.strict_text(&Text("Task: {{ task }}".to_owned()), &assumed());
    let message = "`Task: {{ task }}`: this is none, which a text cannot show: ask first, `{% if … is not none %}`";
    assert_eq!(error.unwrap_err().to_string(), message);
}

#[test]
fn every_pattern_matches_what_the_page_says() {
    let examples = examples("pattern");
    assert!(examples.len() > 4);
    for (source, expected) in examples {
        let (pattern, name) = source.split_once(' ').unwrap();
        let pattern = Pattern::parse(pattern).unwrap();
        assert_eq!(captured(pattern.matches(name.trim())), expected, "{source}");
    }
    let examples = self::examples("line");
    assert!(examples.len() > 2);
    for (source, expected) in examples {
        let (pattern, line) = source.split_once("  ").unwrap();
        let pattern = Pattern::line(pattern).unwrap();
        assert_eq!(captured(pattern.matches(line)), expected, "{source}");
    }
}

/// What a pattern captures, as the page writes it.
fn captured(captures: Option<Captures<'_>>) -> String {
    let Some(captures) = captures else {
        return "no".to_owned();
    };
    let captures = captures.iter().map(|(hole, capture)| match capture {
        Capture::Text(text) => format!("{hole} = {text}"),
        Capture::Integer(number) => format!("{hole} = {number}"),
    });
    match captures.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "yes".to_owned(),
        captures => captures,
    }
}
