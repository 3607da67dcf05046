//! Evaluates the expressions and texts of a chart, with minijinja. [`infer`] checks them.
//!
//! An expression is evaluated against one root object, the names of a decision. Evaluation is strict: an undefined
//! name is an error, and so is a condition that is neither a boolean nor a list.

pub(crate) mod formula;
pub mod infer;
pub mod prompt;
pub mod source;
pub mod syntax;
pub mod templates;
pub mod types;
pub mod vocabulary;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Environment, ErrorKind, Expression, UndefinedBehavior};

use self::source::{Literal, Text};
use self::templates::Templates;

/// How deeply names may refer to names: each level uses some of the stack.
pub const MAX_DEPTH: usize = 32;

/// The most steps of one evaluation, in millions. A chart's own take some thousands.
const STEPS: u64 = 10;
const MILLION: u64 = 1_000_000;

/// The most characters of a list that the filter `brief` joins; the host truncates texts above 10,000.
const BRIEF_LIMIT: usize = 8_000;

/// Why a text that shows none is an error: a reader would take it for a word.
const NONE_SHOWN: &str =
    "this is none, which a text cannot show: ask first, `{% if … is not none %}`";

/// Why an expression or a text gave no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExprError {
    /// The expression or text, or the name of the template in which it happened.
    pub source: String,
    /// What went wrong, in one line.
    pub detail: String,
    /// The line, if it happened in a template file.
    pub line: Option<usize>,
    /// Why the lookup of a name failed.
    pub cause: Option<Cause>,
    /// Its bytes in the expression, the text or the template, if known.
    pub span: Option<Range<usize>>,
}

/// An error from the lookup of names, carried through an evaluation and returned unchanged.
///
/// The box makes it one word: an [`ExprError`] is in every `Result` of the engine.
#[derive(Debug, Clone)]
pub struct Cause(Arc<Box<dyn std::error::Error + Send + Sync>>);

impl Cause {
    /// Wraps `error`.
    pub fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(Box::new(error)))
    }

    /// Returns the wrapped error, if it is an `E`.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl std::error::Error for Cause {}

/// Two causes are equal if they read the same.
impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Cause {}

impl ExprError {
    fn new(source: &str, detail: String) -> Self {
        Self { source: source.to_owned(), detail, line: None, cause: None, span: None }
    }
}

impl fmt::Display for ExprError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.source, self.detail),
            None => write!(out, "`{}`: {}", self.source, self.detail),
        }
    }
}

/// Evaluates a chart's expressions and renders its templates.
pub struct Expressions {
    templates: Templates,
    /// Knows the functions that most stops need. To prepare all of them takes longer than to evaluate some guards.
    few: Environment<'static>,
    /// Knows all functions.
    all: OnceLock<Environment<'static>>,
    /// The same, but none cannot be shown.
    strict: OnceLock<Environment<'static>>,
}

/// Compiles an expression.
fn compiled<'e>(
    env: &'e Environment<'static>,
    source: &'e str,
) -> Result<Expression<'e, 'e>, minijinja::Error> {
    // Every stop does this, and the parser loses nothing before the first string.
    let is_quote = |byte| matches!(byte, b'\'' | b'"');
    if let Some(at) = source.bytes().position(is_quote) {
        syntax::read_to_the_end(&source[at..], true)?;
    }
    env.compile_expression(source)
}

impl fmt::Debug for Expressions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Expressions")
    }
}

impl Expressions {
    /// Returns an evaluator that compiles expressions and reads templates when they are needed.
    pub fn new(templates: Templates) -> Self {
        let mut few = Environment::empty();
        few.add_filter("map", minijinja::filters::map);
        few.add_test("none", minijinja::tests::is_none);
        let few = prepared(few, &templates);
        Self { templates, few, all: OnceLock::new(), strict: OnceLock::new() }
    }

    /// Returns the result of `evaluate` with the few functions, or with all of them if it needs another.
    fn with<T>(
        &self,
        source: &str,
        evaluate: impl Fn(&Environment<'static>) -> Result<T, minijinja::Error>,
    ) -> Result<T, ExprError> {
        let few = || match self.all.get() {
            None => Some(evaluate(&self.few)).filter(|result| !is_unknown(result)),
            Some(_) => None,
        };
        let all = || prepared(Environment::new(), &self.templates);
        few()
            .unwrap_or_else(|| evaluate(self.all.get_or_init(all)))
            .map_err(|error| explain(source, &error))
    }

    /// Returns the value of a bare expression.
    pub fn value(&self, expr: &str, names: &Value) -> Result<Value, ExprError> {
        match looked_up(expr, names) {
            Some(value) => Ok(value),
            None => self.with(expr, |env| compiled(env, expr)?.eval(names)),
        }
    }

    /// Returns whether a condition is true: a boolean, or a list that has items. What comes after a part that is false is
    /// not even compiled.
    pub fn holds(&self, expr: &str, names: &Value) -> Result<bool, ExprError> {
        for part in formula::conjuncts(expr) {
            let holds = self.value(part, names);
            match holds.and_then(|value| condition(part, &value)) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                // The error is about the whole condition.
                Err(_) => return condition(expr, &self.value(expr, names)?),
            }
        }
        Ok(true)
    }

    /// Returns those of the items for which the guard is true, each as a root object made by `names_of`.
    pub fn select(
        &self,
        guard: Option<&str>,
        items: Vec<Value>,
        names_of: impl Fn(Value) -> Value,
    ) -> Result<Vec<Value>, ExprError> {
        let Some(guard) = guard else {
            return Ok(items.into_iter().map(names_of).collect());
        };
        let values = self.with(guard, |env| {
            let guard = compiled(env, guard)?;
            let value = |item: &Value| {
                let names = names_of(item.clone());
                Ok((guard.eval(&names)?, names))
            };
            items.iter().map(value).collect::<Result<Vec<_>, _>>()
        })?;
        let mut selected = Vec::new();
        for (value, names) in values {
            if condition(guard, &value)? {
                selected.push(names);
            }
        }
        Ok(selected)
    }

    /// Returns the items of a list expression.
    pub fn items(&self, expr: &str, names: &Value) -> Result<Vec<Value>, ExprError> {
        let value = self.value(expr, names)?;
        items(&value).map_err(|detail| ExprError::new(expr, detail))
    }

    /// Returns a text with its holes filled.
    pub fn text(&self, text: &Text, names: &Value) -> Result<String, ExprError> {
        if !has_holes(&text.0) {
            return Ok(text.0.clone());
        }
        self.with(&text.0, |env| fill(env, text, names))
    }

    /// Returns the same for a reviewer, or as the name of a file: none is an error there, not a word.
    pub fn strict_text(&self, text: &Text, names: &Value) -> Result<String, ExprError> {
        if !has_holes(&text.0) {
            return Ok(text.0.clone());
        }
        let strict = || {
            let mut env = Environment::new();
            env.set_formatter(|out, state, value| {
                if value.is_none() {
                    return Err(minijinja::Error::new(ErrorKind::InvalidOperation, NONE_SHOWN));
                }
                minijinja::escape_formatter(out, state, value)
            });
            prepared(env, &self.templates)
        };
        let filled = fill(self.strict.get_or_init(strict), text, names);
        filled.map_err(|error| explain(&text.0, &error))
    }

    /// Returns a literal's value: a text that is exactly one `{{ … }}` keeps its type.
    pub fn literal(&self, literal: &Literal, names: &Value) -> Result<Value, ExprError> {
        Ok(match literal {
            Literal::Boolean(value) => Value::from(*value),
            Literal::Integer(value) => Value::from(*value),
            Literal::List(items) => items.iter().map(String::as_str).collect(),
            Literal::Text(text) => match single_expression(&text.0) {
                Some(expr) => self.value(expr, names)?,
                None => Value::from(self.text(text, names)?),
            },
        })
    }
}

/// Returns the value of an expression that is a name, or `not` before one, and has a value. Most guards are, and every stop looks at
/// many: to compile one takes longer.
fn looked_up(expr: &str, names: &Value) -> Option<Value> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    let name = expr.strip_prefix("not ").unwrap_or(expr);
    if !name.starts_with(|first: char| first.is_ascii_lowercase()) || !name.bytes().all(is_part) {
        return None;
    }
    let is_one = |it: &Value| !matches!(it.kind(), ValueKind::Undefined | ValueKind::Invalid);
    let look = |of: Value, part| of.get_attr(part).ok().filter(is_one);
    let value = name.split('.').try_fold(names.clone(), look)?;
    Some(if name == expr { value } else { Value::from(!value.is_true()) })
}

/// Returns a text with its holes filled.
fn fill(
    env: &Environment<'static>,
    text: &Text,
    names: &Value,
) -> Result<String, minijinja::Error> {
    let filled = env.template_from_named_str("text", &text.0)?.render(names)?;
    Ok(filled.trim_end().to_owned())
}

/// Returns an environment with what all charts share.
fn prepared(mut env: Environment<'static>, templates: &Templates) -> Environment<'static> {
    let templates = templates.clone();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_debug(true);
    env.set_fuel(Some(STEPS * MILLION));
    env.set_loader(move |name| templates.get(name).map(|text| text.map(Cow::into_owned)));
    env.add_filter("after", after);
    env.add_filter("brief", brief);
    env.add_filter("flatten", flatten);
    env.add_filter("set", set);
    env
}

/// Returns the innermost cause of minijinja's error.
fn innermost(error: &minijinja::Error) -> &minijinja::Error {
    let source = std::error::Error::source(error);
    let inner = source.and_then(|inner| inner.downcast_ref::<minijinja::Error>());
    inner.map_or(error, innermost)
}

/// Returns whether a function was needed that the environment does not have.
fn is_unknown<T>(result: &Result<T, minijinja::Error>) -> bool {
    let kind = result.as_ref().err().map(|error| innermost(error).kind());
    matches!(
        kind,
        Some(ErrorKind::UnknownFilter | ErrorKind::UnknownTest | ErrorKind::UnknownFunction)
    )
}

/// Returns the expression inside a text that is one `{{ … }}` and nothing else.
pub fn single_expression(text: &str) -> Option<&str> {
    let inside = text.trim().strip_prefix("{{")?.strip_suffix("}}")?;
    (!inside.contains("{{") && !inside.contains("}}")).then(|| inside.trim())
}

/// Returns the value of `source` as a prompt shows it.
pub fn shown(source: &str, value: &Value) -> Result<String, ExprError> {
    if value.is_none() {
        return Err(ExprError::new(source, NONE_SHOWN.to_owned()));
    }
    Ok(value.to_string())
}

/// Returns whether a text contains anything but plain text.
pub fn has_holes(text: &str) -> bool {
    text.contains("{{") || text.contains("{%") || text.contains("{#")
}

fn condition(expr: &str, value: &Value) -> Result<bool, ExprError> {
    match value.kind() {
        ValueKind::Bool => Ok(value.is_true()),
        ValueKind::Seq | ValueKind::Iterable => {
            Ok(value.try_iter().is_ok_and(|mut items| items.next().is_some()))
        }
        other => {
            let why = "a condition must be a boolean or a list, but this is";
            Err(ExprError::new(expr, format!("{why} {}", article(other))))
        }
    }
}

fn items(value: &Value) -> Result<Vec<Value>, String> {
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            value.try_iter().map(Iterator::collect).map_err(|error| error.to_string())
        }
        other => Err(format!("expected a list, but this is {}", article(other))),
    }
}

fn article(kind: ValueKind) -> String {
    match kind {
        ValueKind::Undefined => "undefined".to_owned(),
        ValueKind::None => "none".to_owned(),
        other => format!("a {other}"),
    }
}

/// Returns the items of the list, or the set, that a filter is given.
fn input(list: &Value) -> Result<Vec<Value>, minijinja::Error> {
    if list.kind() == ValueKind::Map {
        return Ok(list.try_iter()?.collect());
    }
    items(list).map_err(|detail| minijinja::Error::new(ErrorKind::InvalidOperation, detail))
}

/// Implements the filter `brief(separator)`: joins a list, and ends it with "and N more" before it gets too long.
fn brief(list: &Value, separator: &str) -> Result<String, minijinja::Error> {
    let list = input(list)?;
    let mut text = String::new();
    let mut length = 0;
    for (index, item) in list.iter().enumerate() {
        let item = item.to_string();
        length += item.chars().count() + separator.chars().count();
        if length > BRIEF_LIMIT && index > 0 {
            return Ok(format!("{text}{separator}and {} more", list.len() - index));
        }
        if index > 0 {
            text.push_str(separator);
        }
        text.push_str(&item);
    }
    Ok(text)
}

/// Implements the filter `flatten`: the items of the lists in a list.
fn flatten(list: &Value) -> Result<Vec<Value>, minijinja::Error> {
    let lists = input(list)?;
    let parts = lists.iter().map(input).collect::<Result<Vec<_>, _>>()?;
    Ok(parts.into_iter().flatten().collect())
}

/// Implements the filter `after`: the item of a list that comes after this one, or the first one if there is none.
fn after(value: &Value, list: &Value) -> Result<Value, minijinja::Error> {
    let mut items = input(list)?;
    if items.is_empty() {
        return Ok(Value::from(()));
    }
    let next = items.iter().position(|item| item == value).map(|at| at + 1);
    let at = next.filter(|next| *next < items.len()).unwrap_or(0);
    Ok(items.swap_remove(at))
}

/// Implements the filter `set`: the items of a list as a set, in which `in` is fast even with many items.
fn set(list: &Value) -> Result<Value, minijinja::Error> {
    let items = input(list)?.into_iter();
    Ok(Value::from_pairs(items.map(|item| (item.clone(), item))))
}

/// Returns the innermost cause of minijinja's error, in one line.
fn explain(source: &str, error: &minijinja::Error) -> ExprError {
    let inner = innermost(error);
    let cause = std::error::Error::source(inner).and_then(|cause| cause.downcast_ref::<Cause>());
    let cause = cause.cloned();
    let template = inner.name().filter(|name| !matches!(*name, "<expression>" | "text"));
    let mut detail = match inner.kind() {
        ErrorKind::UndefinedError => "an undefined name".to_owned(),
        ErrorKind::OutOfFuel => {
            format!("it takes more than {STEPS} million steps: let its loops go over fewer items")
        }
        kind => kind.to_string(),
    };
    if let Some(more) = inner.detail() {
        detail = match inner.kind() {
            ErrorKind::InvalidOperation => more.to_owned(),
            _ => format!("{detail}: {more}"),
        };
    }
    ExprError {
        source: template.unwrap_or(source).to_owned(),
        detail,
        line: template.and(inner.line()),
        cause,
        span: inner.range(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_template_goes_on_forever() {
        let nested =
            ("nested.md", "{% for a in list %}{% for b in list %}{% endfor %}{% endfor %}");
        let templates = Templates::Embedded(Box::leak(Box::new([nested])));
        let names = Value::from_pairs([("list", Value::from((0..10_000).collect::<Vec<_>>()))]);
        let text = Text("{% include 'nested.md' %}".to_owned());
        let error = Expressions::new(templates).text(&text, &names).unwrap_err();
        let why =
            "nested.md:1: it takes more than 10 million steps: let its loops go over fewer items";
        assert_eq!(error.to_string(), why);
    }
}
