//! The sources of names: what stands here once is seen by the type checker, by decisions, and in the reference.

use super::built_in::{Asked, BuiltIn};
use super::cycle;
use super::types::ChartNames;
use crate::chart::Chart;
use crate::chart::model::{Arg, FieldType};
use crate::engine::evaluator::Kind;
use crate::expr::has_holes;
use crate::expr::infer::Scope;
use crate::expr::source::Literal;
use crate::expr::types::Type;

/// Lists the sources; each is a file of this folder.
macro_rules! sources {
    ($($module:ident,)*) => {
        /// All of them with their names, in the order of the reference.
        pub const SOURCES: &[(&str, &BuiltIn)] = &[$((stringify!($module), &super::$module::SOURCE),)*];

        /// The name of a source, written as in expressions, for whoever treats some of them in a way of their own.
        #[expect(non_camel_case_types, reason = "they are the names that charts write")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum SourceName { $($module,)* }

        impl SourceName {
            /// Returns the source of that name.
            pub fn of(name: &str) -> Option<Self> {
                $(if name == stringify!($module) {
                    return Some(Self::$module);
                })*
                None
            }
        }
    };
}

sources! {
    args,
    checks,
    config,
    cycle,
    driver,
    drivers,
    event,
    files,
    findings,
    gate,
    git,
    invoke,
    it,
    now,
    postponed,
    prompts,
    review,
    rulings,
    scope,
    session,
    siblings,
    spent,
    tables,
    touched,
}

/// Returns the source of that name, with its name.
pub(super) fn source(name: &str) -> Option<&'static (&'static str, &'static BuiltIn)> {
    SOURCES.iter().find(|(own, _)| *own == name)
}

/// Returns whether a name can have no value, whatever it turns on; `key` is what stands behind its first dot.
pub fn may_fail(chart: &Chart, source: SourceName, key: Option<&str>) -> bool {
    match (source, key) {
        (SourceName::args | SourceName::cycle | SourceName::review, None) => true,
        (SourceName::args, Some(key)) => chart.args.get(key).is_none_or(may_be_refused),
        (SourceName::cycle, Some(key)) => cycle::may_fail(chart, key),
        // The name of the file is made of fields, which can be null.
        (SourceName::review, Some(key)) => key == "answer",
        _ => false,
    }
}

/// Returns what the value of a name turns on; `key` is what stands behind its first dot, and without it, all is asked.
pub fn asked<'c>(chart: &'c Chart, source: SourceName, key: Option<&str>) -> Vec<Asked<'c>> {
    let is_asked = |name: &str| key.is_none_or(|key| key == name);
    match source {
        SourceName::args => {
            let args = chart.args.iter().filter(|(name, _)| is_asked(name));
            let args = args.flat_map(|(_, arg)| {
                let words = arg.one_of.iter().map(|expr| &expr.0);
                let words = words.map(Asked::of(Kind::Items));
                words.chain(default_text(arg).into_iter().map(Asked::of(Kind::Value)))
            });
            args.collect()
        }
        SourceName::cycle => cycle::asked(chart, key),
        SourceName::prompts => {
            let prompts = chart.prompts.iter().filter(|(name, _)| is_asked(name));
            let vars = prompts.flat_map(|(_, vars)| vars.values());
            let vars = vars.map(|expr| &expr.0);
            vars.map(Asked::of(Kind::Value)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns whether an option may be missing or refused, or its default have no value.
fn may_be_refused(arg: &Arg) -> bool {
    arg.one_of.is_some() || arg.default.is_none() || default_text(arg).is_some()
}

/// Returns the default of an option, where that is a text with holes.
fn default_text(arg: &Arg) -> Option<&String> {
    match &arg.default {
        Some(Literal::Text(text)) if has_holes(&text.0) => Some(&text.0),
        _ => None,
    }
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

    fn meaning(&self, name: &str) -> Option<String> {
        let is_field = self.chart.context.contains_key(name);
        let expr = self.chart.lets.get(name).filter(|_| !is_field)?;
        Some(expr.0.clone())
    }

    fn has_items(&self, path: &str) -> bool {
        let setting = path.strip_prefix("config.");
        let setting = setting.and_then(|name| self.chart.config.get(name));
        setting.is_some_and(|field| field.kind == FieldType::List && field.minimum >= Some(1))
    }
}
