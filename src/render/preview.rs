//! One text, rendered by itself: its rule's guard need not hold.

use std::sync::Arc;

use indexmap::IndexMap;
use minijinja::value::Value;
use serde_json::Value as Json;

use super::suppose::{Review, Supposed, next_help, review_help};
use super::texts::{Stand, Target};
use super::trouble::Trouble;
use crate::chart::model::{Check, Rule};
use crate::chart::{Chart, Cycle};
use crate::engine::context::{self, Context};
use crate::engine::decide::rule;
use crate::engine::decision::{Ended, Invocation, Outcome};
use crate::engine::event::Event;
use crate::engine::fault::Fault;
use crate::engine::names::{Names, Preview};
use crate::engine::world::{Source, World};
use crate::expr::source::Text;
use crate::host::reply::cut;
use crate::shell::snapshot::Snapshot;

/// What a text is rendered for.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) chart: &'a Arc<Chart>,
    /// The chart as its author wrote it.
    pub(crate) toml: &'a str,
    pub(crate) world: Arc<dyn World>,
    pub(crate) supposed: &'a Supposed,
    pub(crate) event: Event,
}

/// A text as it would be sent.
#[derive(Debug)]
pub(crate) struct Rendered {
    pub(crate) text: String,
    /// The host is not given all of it.
    pub(crate) is_cut: bool,
}

/// A snapshot, with what is supposed of `scope`.
#[derive(Debug)]
pub(crate) struct Imagined {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) scope: IndexMap<String, Json>,
}

impl World for Imagined {
    fn context(&self) -> &Context {
        self.snapshot.context()
    }

    fn look(&self, source: &Source) -> Result<Value, Fault> {
        let value = self.snapshot.look(source)?;
        if *source != Source::Scope || self.scope.is_empty() {
            return Ok(value);
        }
        let keys = value
            .try_iter()
            .map_err(|error| Fault::World(error.to_string()))?;
        let actual = keys.filter_map(|key| Some((key.to_string(), value.get_item(&key).ok()?)));
        let supposed = self
            .scope
            .iter()
            .map(|(key, value)| (key.clone(), context::to_value(value)));
        Ok(Value::from_pairs(actual.chain(supposed)))
    }
}

/// The text that `target` is; one for each item where it is a check's, each on a line of its own.
pub(crate) fn render(scene: &Scene<'_>, target: &Target<'_>) -> Result<Rendered, Trouble> {
    let names = Names::new(scene.chart, &scene.world, &scene.event);
    let review = scene
        .supposed
        .review()
        .map_err(|(message, help)| Trouble::new(message, help))?;
    let stand = target.stand();
    let result = set_stage(scene, &names, stand, &review)
        .and_then(|()| {
            names.set_preview(Preview {
                may_lack_review: review == Review::None,
            });
            roots(scene, &names, target)
        })
        .and_then(|roots| {
            roots
                .iter()
                .map(|root| text(&names, target, root))
                .collect::<Result<Vec<_>, _>>()
        });
    let texts = result.map_err(|fault| explain(scene, &names, &fault))?;
    if texts.is_empty() {
        return Err(nothing_found(scene, target));
    }
    let text = texts.join("\n");
    let told = if target.is_told_by_a_hook() {
        cut(&text)
    } else {
        text.clone()
    };
    Ok(Rendered {
        is_cut: told != text,
        text: told,
    })
}

/// The review that is supposed to have run, and what the rules before that of the text have made of it.
fn set_stage(
    scene: &Scene<'_>,
    names: &Arc<Names>,
    stand: Stand<'_>,
    review: &Review,
) -> Result<(), Fault> {
    let mut is_counted = false;
    if let Review::Ended { outcome, n } = review {
        let cycle = names
            .running()
            .ok_or_else(|| Fault::World(NO_CYCLE.to_owned()))?;
        // Where the answer to the last review is owed, it is that one, and the rules have made of it what they would.
        is_counted = !names.is_due(cycle)?;
        let n = n.unwrap_or_else(|| (names.count(cycle) + i64::from(!is_counted)).max(1));
        names.set_review(Arc::new(ended(names, cycle, outcome.clone(), n)?));
    }
    match stand {
        Stand::Rule { list, index } if !is_counted => {
            let rules = scene
                .chart
                .on
                .get(list)
                .and_then(|rules| rules.get(..index))
                .unwrap_or_default();
            // An event that comes as far as this text has passed over what answers or invokes before it.
            let falls_through = |rule: &Rule| {
                !rule.allow
                    && rule.block.is_none()
                    && rule.action.is_none()
                    && rule.invoke.is_none()
            };
            for (index, before) in rules
                .iter()
                .enumerate()
                .filter(|(_, rule)| falls_through(rule))
            {
                rule(Arc::clone(names), list, index, before, None)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

const NO_CYCLE: &str = "no cycle is running that a review could belong to";

fn ended(names: &Names, cycle: &Cycle, outcome: Outcome, n: i64) -> Result<Ended, Fault> {
    let invocation = Invocation {
        name: String::new(),
        cycle: cycle.id.clone(),
        n,
        file: names.file_name(cycle, &cycle.review, n)?,
        subject: Vec::new(),
        argv: Vec::new(),
        log: String::new(),
    };
    Ok(Ended {
        invocation,
        outcome,
        superseded: false,
    })
}

/// The names that the text sees, once for each time that it would be made.
fn roots(scene: &Scene<'_>, names: &Arc<Names>, target: &Target<'_>) -> Result<Vec<Value>, Fault> {
    let supposed = scene
        .supposed
        .it
        .iter()
        .map(|(name, value)| (name.clone(), context::to_value(value)));
    match target.stand() {
        Stand::Phase { id, cycle } => {
            let it = [
                ("id".to_owned(), Value::from(id)),
                ("cycle".to_owned(), Value::from(cycle)),
            ];
            Ok(vec![names.root_with(Value::from_pairs(
                it.into_iter().chain(supposed),
            ))])
        }
        Stand::Check(Check {
            each: Some(each),
            guard,
            ..
        }) if scene.supposed.it.is_empty() => {
            let at = |key: &str| Fault::at(format!("{}.{key}", target.rule()));
            let items = names
                .expressions
                .items(&each.0, &names.root())
                .map_err(at("each"))?;
            let guard = guard.as_ref().map(|guard| guard.0.as_str());
            names
                .expressions
                .select(guard, items, |it| names.root_with(it))
                .map_err(at("guard"))
        }
        Stand::Check(Check { each: Some(_), .. }) => {
            Ok(vec![names.root_with(Value::from_pairs(supposed))])
        }
        Stand::Check(_) | Stand::Rule { .. } | Stand::Plain => Ok(vec![names.root()]),
    }
}

fn text(names: &Names, target: &Target<'_>, root: &Value) -> Result<String, Fault> {
    match target {
        Target::Template { name, .. } => match names.chart.prompt_of(name) {
            // Rendered as the agent gets it, from the user's own file where there is one.
            Some(prompt) => {
                let whole = Text(format!("{{{{ prompts.{prompt} }}}}"));
                names.expressions.text(&whole, root)
            }
            None => names.expressions.template(name, root),
        },
        Target::Text(text) => names.expressions.text(text.text, root),
    }
    // Not `Fault::at`: an option that is missing is shown where the text asks for it.
    .map_err(|error| Fault::Expression {
        place: target.name().to_owned(),
        error,
    })
}

fn nothing_found(scene: &Scene<'_>, target: &Target<'_>) -> Trouble {
    let message = format!(
        "nothing that `{}` speaks of is found in this {}",
        target.name(),
        scene.chart.scope.noun
    );
    Trouble::new(message, "suppose something: --set it.NAME=VALUE".to_owned())
}

/// The fault at its place, and which name would have to be set.
fn explain(scene: &Scene<'_>, names: &Names, fault: &Fault) -> Trouble {
    let chart = scene.chart;
    Trouble::of(chart, scene.toml, fault).with_help(|message, token| {
        let speaks_of = |name: &str| [message, token].iter().any(|text| text.contains(name));
        let word = |rest: &str| {
            rest.chars()
                .take_while(|sign| sign.is_alphanumeric() || matches!(sign, '_' | '-'))
                .collect::<String>()
        };
        if message == NO_CYCLE || names.running().is_none() && speaks_of("cycle.") {
            return next_help(chart);
        }
        if !names.has_review() && speaks_of("review.") {
            return Some(review_help(chart));
        }
        if let Some(name) = token.split_once("args.").map(|(_, rest)| word(rest)) {
            return Some(format!("give it: --set args.{name}=VALUE"));
        }
        if let Some(name) = token.strip_prefix("it.").map(word) {
            return Some(format!("suppose one: --set it.{name}=VALUE"));
        }
        let null = chart.context.keys().find(|field| {
            names.field(field).is_null() && message.contains(&format!("`{field}` is null"))
        });
        null.map(|field| format!("suppose a value: --set {field}=VALUE"))
    })
}
