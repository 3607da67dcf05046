//! The sources of names: what stands here once is seen by the type checker, by decisions, and in the reference.

use minijinja::value::Value;

use super::built_in::{BuiltIn, Lookup};
use super::types::{ChartNames, each, words};
use crate::chart::model::Limited;
use crate::engine::world::Source;
use crate::expr::infer::Scope;
use crate::expr::types::Type;

/// All of them with their names, in the order of the reference. Those with more to them are a file of this folder.
#[rustfmt::skip]
pub const SOURCES: &[(&str, &BuiltIn)] = &[
    ("args", &super::args::SOURCE),
    ("checks", &BuiltIn {
        about: &[("checks.NAME", "the findings of `[[checks.NAME]]`, in order", "")],
        kind: |names| Some(each(names.chart.checks.keys(), &Type::list(Type::Text))),
        value: Lookup::Fields(|names, name| {
            let checks = names.chart.checks.get(name)?;
            let find = || names.find_all(name, checks).map(Value::from);
            Some(names.remembered(&format!("checks.{name}"), find))
        }),
    }),
    ("config", &BuiltIn {
        about: &[("config.NAME", "the setting NAME of `config.json`, else its default", "")],
        kind: |names| {
            let settings = names.chart.config.iter();
            Some(Type::record(settings.map(|(name, field)| (name.clone(), names.typed(field)))))
        },
        value: Lookup::Fields(|names, key| {
            let is_known = names.chart.config.contains_key(key);
            is_known.then(|| names.look(&Source::Config(key.to_owned())))
        }),
    }),
    ("cycle", &super::cycle::SOURCE),
    ("driver", &BuiltIn {
        about: &[("driver", "who drives the instance: `this` session, an `other` one, or none", "")],
        kind: |_| Some(Type::Text.or_none()),
        value: Lookup::One(|names| {
            let session = names.event.session.clone();
            names.look(&Source::Driver { session })
        }),
    }),
    ("drivers", &BuiltIn {
        about: &[("drivers", "the ids of the sessions that drive the instance", "")],
        kind: |_| Some(Type::list(Type::Text)),
        value: Lookup::One(|names| names.look(&Source::Drivers)),
    }),
    ("event", &super::event::SOURCE),
    ("files", &super::files::SOURCE),
    ("findings", &super::findings::SOURCE),
    ("gate", &super::gate::SOURCE),
    ("git", &BuiltIn {
        about: &[
            ("git.dirty", "there are uncommitted changes outside the home; false outside git", ""),
            ("git.base", "the commit up to which reviews of code that passed have seen everything, or at which the instance began; none if that is unknown", ""),
        ],
        kind: |_| Some(Type::record([("dirty", Type::Boolean), ("base", Type::Text.or_none())])),
        value: Lookup::Fields(|names, key| match key {
            "dirty" => Some(names.look(&Source::Dirty)),
            "base" => Some(names.look(&Source::Base)),
            _ => None,
        }),
    }),
    ("reviewers", &BuiltIn {
        about: &[("reviewers", "the names of the tables under `[reviewers]`", "")],
        kind: |names| Some(Type::list(words(names.chart.reviewers.keys()))),
        value: Lookup::One(|names| Ok(names.chart.reviewers.keys().cloned().collect())),
    }),
    ("it", &BuiltIn {
        about: &[
            ("it", "the item of an `each`", "`each`"),
            ("it.id", "the phase that is being entered", "`[phases]`"),
            ("it.cycle", "its cycle, if its name has a `{cycle}` hole", "`[phases]`"),
        ],
        kind: |names| names.it.clone(),
        value: Lookup::It,
    }),
    ("now", &BuiltIn {
        about: &[("now", "the time in UTC, to the second, in a form for file names: `20260203T145212`", "")],
        kind: |_| Some(Type::Text),
        value: Lookup::One(|names| names.look(&Source::Now)),
    }),
    ("postponed", &BuiltIn {
        about: &[("postponed", "until when the reviewer whose turn it is cannot run: `2026-11-26 18:23:00 UTC`; none if it can", "")],
        kind: |_| Some(Type::Text.or_none()),
        value: Lookup::One(|names| names.look(&Source::Postponed(names.next_reviewer()?.0))),
    }),
    ("prompts", &super::prompts::SOURCE),
    ("review", &super::review::SOURCE),
    ("rulings", &BuiltIn {
        about: &[("rulings", "what the user has ruled about findings, one line each", "")],
        kind: |_| Some(Type::list(Type::Text)),
        value: Lookup::One(|names| names.look(&Source::Rulings)),
    }),
    ("scope", &BuiltIn {
        about: &[
            ("scope.started", "the instance has a state", ""),
            ("scope.name", "the name of the instance's directory", ""),
            ("scope.path", "its path from the project's root", ""),
            ("scope.home", "the chart's home", ""),
        ],
        kind: |_| {
            Some(Type::record([
                ("started", Type::Boolean),
                ("name", Type::Text),
                ("path", Type::Text),
                ("home", Type::Text),
            ]))
        },
        value: Lookup::One(|names| names.look(&Source::Scope)),
    }),
    ("session", &BuiltIn {
        about: &[("session", "the session of the event or the command, if it is known", "")],
        kind: |names| {
            // If each session has its own instance, there is always a session.
            Some(match names.chart.scope.is_per_session() {
                true => Type::Text,
                false => Type::Text.or_none(),
            })
        },
        value: Lookup::One(|names| Ok(Value::from(names.event.session.as_deref()))),
    }),
    ("siblings", &super::siblings::SOURCE),
    ("spent", &BuiltIn {
        about: &[
            ("spent.cycle", "what the reviews of the running cycle cost so far; none without a budget", ""),
            ("spent.instance", "what all reviews of the instance cost: `$3.20`, or `$3.20 + 1 unknown`; none without a budget", ""),
            ("spent.failures", "how many of the last reviews of the running cycle have failed in a row, the one that has just run included; 0 without a budget", ""),
            ("spent.over", "the budget that is used up: `failures`, `cycle` or `instance`; none if none is", ""),
            ("spent.next", "the same for the review after the one that has just run", ""),
            ("spent.why", "why the last of these reviews failed; empty if none has", ""),
        ],
        kind: |_| {
            Some(Type::record([
                ("cycle", Type::Text.or_none()),
                ("instance", Type::Text.or_none()),
                ("failures", Type::Integer),
                ("over", Type::word(Limited::ALL.map(Limited::key)).or_none()),
                ("next", Type::word(Limited::ALL.map(Limited::key)).or_none()),
                ("why", Type::Text),
            ]))
        },
        value: Lookup::One(|names| {
            let cycle = names.running();
            let files = cycle.and_then(|cycle| names.review_files(cycle).ok());
            names.look(&Source::Spent {
                cycle: cycle.map(|cycle| cycle.id.clone()),
                files: files.unwrap_or_default(),
                count: cycle.map_or(0, |cycle| names.count(cycle)),
            })
        }),
    }),
    ("tables", &super::tables::SOURCE),
    ("touched", &BuiltIn {
        about: &[("touched", "the paths that the actions of this rule create, rename or remove, in order", "texts of a rule with `actions`")],
        kind: |_| Some(Type::list(Type::Text)),
        value: Lookup::One(|names| Ok(Value::from(names.moving().touched.clone()))),
    }),
];

/// Returns the source of that name, with its name.
pub(super) fn source(name: &str) -> Option<&'static (&'static str, &'static BuiltIn)> {
    SOURCES.iter().find(|(own, _)| *own == name)
}

/// Returns whether a name can stand alone; the others stand before a dot.
pub fn stands_alone(name: &str) -> bool {
    built_in().any(|(known, ..)| *known == name)
}

/// Returns the built-in names with their fields, as [`BuiltIn::about`].
pub fn built_in() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    SOURCES.iter().flat_map(|(_, source)| source.about)
}

impl Scope for ChartNames<'_> {
    fn name(&self, name: &str) -> Option<Type> {
        if let Some(own) = self.field(name).or_else(|| self.let_type(name)) {
            return Some(own);
        }
        (source(name)?.1.kind)(self)
    }

    fn names(&self) -> Vec<String> {
        let own = self.chart.context.keys().chain(self.chart.lets.keys());
        let sources = SOURCES.iter().map(|(name, _)| *name);
        let sources = sources.filter(|name| *name != "it" || self.it.is_some());
        own.cloned().chain(sources.map(str::to_owned)).collect()
    }

    fn used(&self, path: &str) {
        self.uses.borrow_mut().insert(path.to_owned());
    }

    fn template(&self, name: &str) -> Option<String> {
        self.chart.template(name).ok()
    }

    fn templates_like(&self, start: &str, end: &str) -> Vec<String> {
        let names = self.chart.templates.names();
        names.into_iter().filter(|name| name.starts_with(start) && name.ends_with(end)).collect()
    }
}
