//! `taskie log --why`: explains why a stop was blocked or allowed: each rule in order, and what made its guard false.

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use crate::chart::Chart;
use crate::cli::error::CliError;
use crate::cli::grammar::options::{About, WhichStop};
use crate::cli::output::say_json;
use crate::cli::place;
use crate::engine::decision::{Answer, Step};
use crate::expr::formula::conjuncts;
use crate::expr::syntax::names_in;
use crate::hook::why_elsewhere;
use crate::host::events::is_stop;
use crate::page::{ACCENT, FAINT, PLAIN, Page, STRONG, column, counted, paint_words, width};
use crate::run::asked;
use crate::run::perform::peek_rules;
use crate::run::place::Place;
use crate::run::review::or_called;
use crate::run::under_way;
use crate::store::driver;
use crate::store::journal::{DecisionLine, Line, REVIEW, TriedLine};
use crate::text::shown;
use crate::view::turn::ANY;

/// Explains a stop in the journal, or the next stop.
pub(crate) fn run(
    chart: &Arc<Chart>,
    about: &About,
    is_json: bool,
    stop: WhichStop,
) -> Result<ExitCode, CliError> {
    let session = place::session(&about.of)?;
    let place = place::chosen(chart, about)?;
    let stop = match stop {
        WhichStop::Next => coming(&place, session.as_deref())?,
        WhichStop::FromEnd(n) => recorded(&place, n)?,
    };
    if is_json {
        say_json(stop.to_json(chart));
    } else {
        stop.page(chart, width()).print();
    }
    Ok(ExitCode::SUCCESS)
}

/// A stop, and the rules that were tried.
struct ExplainedStop {
    /// When it was; `None` for the next one.
    at: Option<String>,
    /// A command asked for it.
    is_review: bool,
    answer: String,
    rules: Vec<TriedLine>,
}

/// Returns the `n`th stop from the end.
fn recorded(place: &Place, n: usize) -> Result<ExplainedStop, CliError> {
    let lines = place.journal().read().into_iter();
    let decisions = lines.filter_map(Line::into_decision);
    let stops: Vec<DecisionLine> =
        decisions.filter(|decided| is_stop(&decided.event) || decided.event == REVIEW).collect();
    let (noun, name) = (&place.chart.scope.noun, &place.instance.name);
    let Some(stop) = stops.len().checked_sub(n).and_then(|at| stops.get(at)) else {
        let message = match stops.len() {
            0 => format!("no stop of {noun} `{name}` is recorded"),
            known => format!("{known} stops of {noun} `{name}` are recorded, and not {n}"),
        };
        let help = format!("`{} log --why next` explains the next one", place.chart.program());
        return Err(CliError::with_help(message, help));
    };
    if let Some(stuck) = &stop.stuck
        && stop.answer == "none"
    {
        let message = format!("nothing could be decided: {stuck}");
        let help = format!("`{} log` shows what came before", place.chart.program());
        return Err(CliError::with_help(message, help));
    }
    Ok(ExplainedStop {
        at: Some(stop.at.clone()),
        is_review: stop.event == REVIEW,
        answer: match stop.answer.as_str() {
            "block" => "blocked".to_owned(),
            // If no rule answers, the stop is allowed too.
            _ => "allowed".to_owned(),
        },
        rules: stop.rules.clone(),
    })
}

/// Returns what would happen at the next stop.
fn coming(place: &Place, session: Option<&str>) -> Result<ExplainedStop, CliError> {
    // In a terminal, the stop of the session that drives the instance is meant.
    let drivers = driver::of(place.journal());
    let session = session.or(drivers.first().map(String::as_str));
    let scope = &place.chart.scope;
    let is_unattended = drivers.is_empty() && !scope.is_per_session();
    let session = session.or(is_unattended.then_some(ANY));
    if let Some(why) = why_elsewhere(place, session) {
        return Err(CliError::new(why));
    }
    let stop = asked::as_before(&asked::seeing_stop(place, session), &place.journal().read());
    let (step, tried) = peek_rules(place, &stop)?;
    let answer = match or_called(&stop, step) {
        Step::Invoke(_) if under_way::current(place).is_some() => {
            "allowed, because a review is already running".to_owned()
        }
        Step::Invoke(run) => format!("{} {} runs, and its outcome decides", run.cycle, run.n),
        Step::Done(decision) => match decision.answer {
            Answer::Block(_) => "blocked".to_owned(),
            _ => "allowed".to_owned(),
        },
    };
    let answer = match is_unattended {
        true => format!(
            "allowed, because no session drives the {}. Once one does: {answer}",
            scope.noun
        ),
        false => answer,
    };
    let rules = tried.iter().map(|tried| TriedLine::of(&place.chart, tried));
    Ok(ExplainedStop { at: None, is_review: false, answer, rules: rules.collect() })
}

/// The part of a guard that was false, and the values that this part looked at.
struct Reason {
    part: String,
    values: Vec<(String, Json)>,
}

impl ExplainedStop {
    fn page(&self, chart: &Chart, width: usize) -> Page {
        let labels = self.rules.iter().map(|rule| rule.rule.as_str());
        let mut page = Page::new(width, column(labels));
        let when = match &self.at {
            Some(at) => {
                let at = at.get(..19).unwrap_or(at).replace('T', " ");
                match self.is_review {
                    true => format!("The review of {} UTC", shown(&at)),
                    false => format!("The stop of {} UTC: {}", shown(&at), self.answer),
                }
            }
            None => format!("The next stop: {}", self.answer),
        };
        page.text(STRONG, &when);
        page.blank();
        for rule in &self.rules {
            let about = shown(rule.about.as_deref().unwrap_or_default());
            if rule.fired {
                let text = format!("{} {about}", paint_words(ACCENT, "fired:"));
                page.styled_row(ACCENT, &shown(&rule.rule), text.trim_end());
                continue;
            }
            let reason = reason(chart, rule);
            let values = reason.values.iter();
            let values: Vec<String> =
                values.map(|(name, value)| format!("{name} is {}", read_aloud(value))).collect();
            let mut text = paint_words(PLAIN, &about);
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&paint_words(FAINT, "false:"));
            if !reason.part.is_empty() {
                text.push(' ');
                text.push_str(&shown(&reason.part));
            }
            // `cycle.due is false` is enough.
            let is_plain = matches!(reason.values.as_slice(), [(name, Json::Bool(false))] if *name == reason.part);
            if !values.is_empty() && !is_plain {
                text.push_str(&format!(" ({})", shown(&values.join(", "))));
            }
            page.row(&shown(&rule.rule), &text);
        }
        page
    }

    fn to_json(&self, chart: &Chart) -> Json {
        let rules = self.rules.iter().map(|rule| {
            let mut line = json!({ "rule": rule.rule, "about": rule.about, "fired": rule.fired });
            if !rule.fired {
                let reason = reason(chart, rule);
                line["false"] = json!(reason.part);
                line["values"] = reason.values.into_iter().collect::<Map<_, _>>().into();
            }
            line
        });
        let rules: Vec<Json> = rules.collect();
        json!({ "at": self.at, "answer": self.answer, "rules": rules })
    }
}

/// Returns what made the guard of `rule` false. Evaluation ends with the part that is false, so the name that was
/// looked up last belongs to it. If the chart has changed since then, the part is unknown.
fn reason(chart: &Chart, rule: &TriedLine) -> Reason {
    let everything =
        || Reason { part: String::new(), values: rule.saw.clone().into_iter().collect() };
    let guard =
        chart.guard(&rule.rule).filter(|_| chart.about(&rule.rule) == rule.about.as_deref());
    let (Some(guard), Some((last, _))) = (guard, rule.saw.last()) else {
        return everything();
    };
    let mut found = None;
    for part in conjuncts(&guard.0) {
        let mut names: Vec<String> = names_in(part).into_iter().collect();
        names.sort();
        let is_under = |name: &String, seen: &str| {
            name == seen || name.strip_prefix(seen).is_some_and(|rest| rest.starts_with('.'))
        };
        if !names.iter().any(|name| rule.saw.keys().any(|seen| is_under(name, seen))) {
            // This part was not reached.
            break;
        }
        if names.iter().any(|name| is_under(name, last)) {
            found = Some((part, names));
        }
    }
    let Some((part, names)) = found else {
        return everything();
    };
    let values = names.into_iter().filter_map(|name| {
        let value = value_of(rule, &name)?;
        Some((name, value))
    });
    Reason { part: part.split_whitespace().collect::<Vec<_>>().join(" "), values: values.collect() }
}

/// Returns the value of a dotted name, if the guard has looked at it.
fn value_of(rule: &TriedLine, name: &str) -> Option<Json> {
    if let Some(value) = rule.saw.get(name) {
        return Some(value.clone());
    }
    let (above, field) = name.rsplit_once('.')?;
    value_of(rule, above)?.get(field).cloned()
}

/// Returns a value for a person.
fn read_aloud(value: &Json) -> String {
    match value {
        Json::Null => "none".to_owned(),
        Json::Object(list) if list.contains_key("items") => {
            let items = list["items"].as_u64().unwrap_or_default();
            let first = list.get("first").and_then(Json::as_array);
            let first: Vec<String> = first.into_iter().flatten().map(Json::to_string).collect();
            let more = if (first.len() as u64) < items { ", …" } else { "" };
            match (items, first.is_empty()) {
                (0, _) => "[]".to_owned(),
                (_, true) => counted(items, "item"),
                (_, false) => format!("[{}{more}]", first.join(", ")),
            }
        }
        other => other.to_string(),
    }
}
