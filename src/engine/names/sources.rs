//! The sources of names: what stands here once is seen by the type checker, by decisions, and in the reference.

use super::built_in::BuiltIn;
use super::types::ChartNames;
use crate::expr::infer::Scope;
use crate::expr::types::Type;

/// Lists the sources; each is a file of this folder.
macro_rules! sources {
    ($($module:ident,)*) => {
        /// All of them with their names, in the order of the reference.
        pub const SOURCES: &[(&str, &BuiltIn)] = &[$((stringify!($module), &super::$module::SOURCE),)*];
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
