//! `--set NAME=VALUE`: what a preview supposes instead of what is. A bare name is a context field; everything else
//! carries its source, as in expressions. What follows from the state or is read from files cannot be set.

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use super::texts::Stand;
use crate::chart::Chart;
use crate::chart::field;
use crate::chart::names::{ChartNames, Uses};
use crate::diagnostic::suggest::suggest;
use crate::engine::context::Context;
use crate::engine::decision::Outcome;
use crate::engine::event::Event;
use crate::expr::infer::{self, Scope};
use crate::expr::types::Type;
use crate::host::events::EVENTS;

/// The sources whose names may be set.
const SOURCES: [&str; 5] = ["args", "event", "it", "review", "scope"];

/// The review's names that follow from its number and the running cycle.
const FOLLOWING: [&str; 2] = ["file", "answer"];

/// What is supposed.
#[derive(Debug, Default)]
pub(crate) struct Supposed {
    /// Context fields.
    pub(crate) fields: Context,
    /// `scope`.
    pub(crate) scope: IndexMap<String, Json>,
    /// `it`.
    pub(crate) it: IndexMap<String, Json>,
    event: Map<String, Json>,
    args: IndexMap<String, Json>,
    session: Option<Json>,
    review: IndexMap<String, Json>,
}

/// What is supposed of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Review {
    /// Nothing.
    Unknown,
    /// That none has run.
    None,
    /// That one has ended so; its number, where that is supposed too.
    Ended { outcome: Outcome, n: Option<i64> },
}

/// Why something cannot be supposed, and what to do.
pub(crate) type Refusal = (String, Option<String>);

impl Supposed {
    /// Reads NAME=VALUE pairs for a text that stands there.
    pub(crate) fn read<'p>(
        chart: &Chart,
        stand: Stand<'_>,
        pairs: impl Iterator<Item = &'p (String, String)>,
    ) -> Result<Self, Refusal> {
        let names = names_at(chart, stand);
        let mut supposed = Self::default();
        for (name, text) in pairs {
            supposed.set(chart, &names, name, text)?;
        }
        supposed.review()?;
        Ok(supposed)
    }

    fn set(
        &mut self,
        chart: &Chart,
        names: &ChartNames<'_>,
        name: &str,
        text: &str,
    ) -> Result<(), Refusal> {
        let value =
            |kind: &Type| typed(kind, text).map_err(|wanted| wrong(name, text, &wanted, kind));
        if let Some(field) = chart.context.get(name) {
            let kind = names.name(name).unwrap_or(Type::Any);
            let value = typed(&kind, text)
                .map_err(|_| wrong(name, text, &field::describe(field), &kind))?;
            field::admit(chart, field, &value)
                .map_err(|wanted| wrong(name, text, &wanted, &kind))?;
            self.fields.insert(name.to_owned(), value);
            return Ok(());
        }
        if name == "session" {
            self.session = Some(value(&Type::Text.or_none())?);
            return Ok(());
        }
        let unknown = |known: &[&str], source: &str| {
            let wrong = name.strip_prefix(source).unwrap_or(name);
            let help = match suggest(wrong, known.iter().copied()) {
                Some(close) => format!("did you mean `{source}{close}`?"),
                None => "`taskie render --help` names all that can".to_owned(),
            };
            (
                format!(
                    "`{}` cannot be set: there is no such name",
                    name.escape_debug()
                ),
                Some(help),
            )
        };
        let (source, key) = name.split_once('.').unwrap_or((name, ""));
        if key.is_empty() || !SOURCES.contains(&source) {
            let known = settable(chart);
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            return Err(derived(chart, source).unwrap_or_else(|| unknown(&known, "")));
        }
        let kind = match names.name(source) {
            Some(Type::Record(fields)) => fields.get(key).cloned().ok_or_else(|| {
                let known: Vec<&str> = fields.keys().map(String::as_str).collect();
                unknown(&known, &format!("{source}."))
            })?,
            Some(_) => Type::Any,
            None => {
                let message = format!(
                    "`{name}` cannot be set: there is no `{source}` where this text stands"
                );
                return Err((message, None));
            }
        };
        if source == "review" && FOLLOWING.contains(&key) {
            let message = format!(
                "`{name}` cannot be set: it follows from the number of the review and the running cycle"
            );
            return Err((message, Some(format!("set review.n{}", and_next(chart)))));
        }
        let value = value(&kind)?;
        match source {
            "args" => _ = self.args.insert(key.to_owned(), value),
            "event" => _ = self.event.insert(key.to_owned(), value),
            "it" => _ = self.it.insert(key.to_owned(), value),
            "review" => _ = self.review.insert(key.to_owned(), value),
            _ => _ = self.scope.insert(key.to_owned(), value),
        }
        Ok(())
    }

    /// What is supposed of a review; an error where that goes not together.
    pub(crate) fn review(&self) -> Result<Review, Refusal> {
        let refuse = |message: &str| Err((message.to_owned(), None));
        let given = |key: &str| self.review.get(key).filter(|value| !value.is_null());
        let ok = given("ok").and_then(Json::as_bool);
        let n = given("n").and_then(Json::as_i64);
        if n.is_some_and(|n| n < 1) {
            return refuse(
                "review.n cannot be set to less than 1: the first review has the number 1",
            );
        }
        let verdict = given("verdict").and_then(Json::as_str).map(str::to_owned);
        let outcome = match (given("error").and_then(Json::as_str), ok, verdict) {
            (Some(_), Some(true), _) => {
                return refuse("review.error cannot be set together with review.ok=true");
            }
            (Some(_), _, Some(_)) => {
                return refuse(
                    "a review that failed has no verdict: set review.error or review.verdict",
                );
            }
            (_, Some(false), Some(_)) => {
                return refuse("review.verdict cannot be set together with review.ok=false");
            }
            (Some(why), _, None) => Outcome::Failed(why.to_owned()),
            (None, Some(false), None) => return Ok(Review::None),
            (None, _, verdict) => Outcome::Ran { verdict },
        };
        if self.review.is_empty() {
            Ok(Review::Unknown)
        } else {
            Ok(Review::Ended { outcome, n })
        }
    }

    /// The event that the rules of `list` are read for, with what is supposed of it. What comes from the host has
    /// the fields that the host sends.
    pub(crate) fn event(&self, list: &str, cwd: &str, session: Option<String>) -> Event {
        let session = self
            .session
            .as_ref()
            .map_or(session, |session| session.as_str().map(str::to_owned));
        let mut fields = Map::new();
        if EVENTS.iter().any(|(_, name)| *name == list) {
            fields.insert("hook_event_name".to_owned(), Json::from(list));
            fields.insert("cwd".to_owned(), Json::from(cwd));
            fields.extend(
                session
                    .as_deref()
                    .map(|session| ("session_id".to_owned(), Json::from(session))),
            );
        }
        fields.extend(self.event.clone());
        Event {
            args: self.args.clone(),
            session,
            ..Event::hook(list, Json::Object(fields))
        }
    }
}

/// The names that a text sees there.
fn names_at<'c>(chart: &'c Chart, stand: Stand<'_>) -> ChartNames<'c> {
    let uses = Uses::default();
    match stand {
        Stand::Phase { .. } => ChartNames::with_it(
            chart,
            &uses,
            Type::record([("id", Type::Text), ("cycle", Type::Text.or_none())]),
        ),
        Stand::Check(check) => {
            let names = ChartNames::new(chart, &uses);
            match check
                .each
                .as_ref()
                .map(|each| infer::expression(&each.0, &names).0)
            {
                Some(Type::List(item)) => ChartNames::with_it(chart, &uses, *item),
                Some(_) => ChartNames::with_it(chart, &uses, Type::Any),
                None => names,
            }
        }
        Stand::Rule { .. } | Stand::Plain => ChartNames::new(chart, &uses),
    }
}

/// All names that can be set, but for those of `it`, which differ from text to text.
pub(crate) fn settable(chart: &Chart) -> Vec<String> {
    let names = ChartNames::new(chart, &Uses::default());
    let fields = chart.context.keys().cloned();
    let dotted = SOURCES.iter().flat_map(|source| match names.name(source) {
        Some(Type::Record(fields)) => fields.keys().map(|key| format!("{source}.{key}")).collect(),
        _ => Vec::new(),
    });
    let following = |name: &String| {
        FOLLOWING
            .iter()
            .any(|key| name.strip_prefix("review.") == Some(key))
    };
    fields
        .chain(dotted.filter(|name| !following(name)))
        .chain(["session".to_owned()])
        .collect()
}

/// Why a name that there is cannot be set.
fn derived(chart: &Chart, name: &str) -> Option<Refusal> {
    let why = match name {
        "cycle" => {
            let help = next_example(chart).map(|example| format!("set what is due: {example}"));
            (
                "`cycle` cannot be set: it follows from the state".to_owned(),
                help,
            )
        }
        "config" | "driver" | "git" | "now" | "prompts" | "siblings" | "touched" => (
            format!("`{name}` cannot be set: it is as it is in the project"),
            None,
        ),
        "files" | "tables" => (
            format!(
                "`{name}` cannot be set: it is read from the {}'s files",
                chart.scope.noun
            ),
            None,
        ),
        "checks" => (
            format!(
                "`{name}` cannot be set: it is what the chart finds in the {}'s files",
                chart.scope.noun
            ),
            None,
        ),
        "args" | "event" | "it" | "review" | "scope" => (
            format!("`{name}` cannot be set as a whole"),
            Some(format!("set {name}.NAME")),
        ),
        _ => {
            let expr = chart.lets.get(name)?;
            let message = format!("`{name}` cannot be set: it stands for an expression");
            (message, Some(format!("set what that looks at: {}", expr.0)))
        }
    };
    Some(why)
}

/// How to suppose that a cycle runs.
pub(crate) fn next_help(chart: &Chart) -> Option<String> {
    next_example(chart).map(|example| format!("suppose that one is: {example}"))
}

fn next_example(chart: &Chart) -> Option<String> {
    let next = chart.next.as_ref()?;
    let mut cycles = chart.cycles.keys();
    let first = cycles.next()?;
    let others: Vec<&str> = cycles.map(String::as_str).collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!(" (or {})", others.join(", "))
    };
    Some(format!("--set {next}={first}{others}"))
}

/// How to suppose that a review has run.
pub(crate) fn review_help(chart: &Chart) -> String {
    let mut verdicts: IndexMap<&str, ()> = IndexMap::new();
    verdicts.extend(
        chart
            .invoke
            .values()
            .flat_map(|invoke| &invoke.verdicts)
            .map(|verdict| (verdict.as_str(), ())),
    );
    let mut verdicts = verdicts.keys();
    let Some(first) = verdicts.next() else {
        return "suppose that one has: --set review.n=1".to_owned();
    };
    let others: Vec<&str> = verdicts.copied().collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!(" (or {})", others.join(", "))
    };
    format!(
        "suppose that one has: --set review.verdict={first}{others}, or that it failed: --set review.error=WHY"
    )
}

fn and_next(chart: &Chart) -> String {
    chart
        .next
        .as_ref()
        .map(|next| format!(" and {next}"))
        .unwrap_or_default()
}

fn wrong(name: &str, text: &str, wanted: &str, kind: &Type) -> Refusal {
    let help = match kind.some() {
        Type::Word(words) => suggest(text, words.iter().map(String::as_str))
            .map(|word| format!("did you mean `{word}`?"))
            .or_else(|| {
                Some(format!(
                    "it is one of {}",
                    words
                        .iter()
                        .map(String::as_str)
                        .collect::<Vec<_>>()
                        .join(", ")
                ))
            }),
        _ => None,
    };
    (
        format!(
            "`{name}` cannot be set to `{}`: it is {wanted}",
            text.escape_debug()
        ),
        help,
    )
}

/// A value of that type; the error says what it may be.
fn typed(kind: &Type, text: &str) -> Result<Json, String> {
    let wanted = || kind.to_string();
    match kind {
        Type::Optional(_) | Type::None if matches!(text, "null" | "none") => Ok(Json::Null),
        Type::Optional(inner) => typed(inner, text).map_err(|_| wanted()),
        Type::None => Err(wanted()),
        Type::Boolean => text.parse::<bool>().map(Json::from).map_err(|_| wanted()),
        Type::Integer => text.parse::<i64>().map(Json::from).map_err(|_| wanted()),
        Type::Text => Ok(Json::from(text)),
        Type::Word(words) if words.contains(text) => Ok(Json::from(text)),
        Type::Word(_) => Err(wanted()),
        Type::List(_) => serde_json::from_str::<Json>(text)
            .ok()
            .filter(Json::is_array)
            .ok_or_else(|| format!("{} in JSON", wanted())),
        Type::Any | Type::Record(_) => {
            Ok(serde_json::from_str(text).unwrap_or_else(|_| Json::from(text)))
        }
    }
}
