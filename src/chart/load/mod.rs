//! Turns TOML into a [`Chart`]: parses it, fills in what cycles share, makes one phase per cycle, and resolves every
//! name that a chart can mention. All flaws are collected, each with its place in the file.

pub mod compiled;
mod cycles;
mod fields;
mod files;
mod resolver;
mod scope;
mod targets;

use std::path::Path;
use std::sync::Arc;

use crate::chart::Chart;
use crate::chart::extend::Extended;
use crate::chart::model::{Source, know_vendors};
use crate::chart::shipped::CHARTS;
use crate::chart::structure;
use crate::diagnostic::flaw::{ChartError, Flaw, in_order};
use crate::diagnostic::toml::Document;
use crate::disk;
use crate::expr::templates::Templates;
use fields::name_words;
use resolver::Resolver;

/// Loads the chart at `path`, of which `check` returns the flaws that its TOML does not show. Its template folders are
/// looked up next to the file.
pub fn from_path(
    path: &Path,
    check: fn(&Chart, &Document<'_>) -> Vec<Flaw>,
) -> Result<Chart, ChartError> {
    let origin = path.display().to_string();
    let text = disk::named_text(path).map_err(|error| {
        ChartError::unreadable(&origin, format!("the chart cannot be read: {error}"))
    })?;
    let beside = path.parent().unwrap_or(Path::new("."));
    let extended = Extended::of(&origin, &text);
    let document = extended.document();
    let chart = chart(&extended, &document, |folders| Templates::beside(beside, folders))?;
    let flaws = check(&chart, &document);
    match flaws.is_empty() {
        true => Ok(chart),
        false => Err(extended.error(flaws)),
    }
}

fn chart(
    extended: &Extended<'_>,
    document: &Document<'_>,
    templates: impl FnOnce(&[String]) -> Templates,
) -> Result<Chart, ChartError> {
    if !extended.flaws.is_empty() {
        return Err(extended.error(extended.flaws.clone()));
    }
    let source = structure::read(document).map_err(|flaw| extended.error(vec![*flaw]))?;
    let templates = extended.over(templates(&source.templates));
    let (chart, flaws) = resolve_all(extended.origin, source, document, templates);
    match flaws.is_empty() {
        true => Ok(chart),
        false => Err(extended.error(flaws)),
    }
}

/// Resolves as much as possible: a chart with flaws is still checked for more.
pub fn resolve_all(
    origin: &str,
    source: Source,
    document: &Document<'_>,
    templates: Templates,
) -> (Chart, Vec<Flaw>) {
    let mut resolver = Resolver { document: Some(document), flaws: Vec::new() };
    let chart = resolver.chart(origin, source, templates);
    (chart, in_order(resolver.flaws))
}

impl Resolver<'_> {
    fn chart(&mut self, origin: &str, mut source: Source, templates: Templates) -> Chart {
        let reviewers: Vec<String> = source.reviewers.keys().cloned().collect();
        let of_cycles: Vec<String> = source.cycles.keys().cloned().collect();
        source.config.edit(|fields| name_words(fields, || reviewers.clone(), || of_cycles.clone()));
        source.cycles.edit(cycles::name);
        source.reviewers.edit(know_vendors);
        let source = Arc::new(source);
        self.names(&source);
        self.properties(&source);
        self.cycles(&source);
        let phases = self.phases(&source);
        self.fields(&source, &phases);
        self.targets(&source, &phases);
        self.files(&source);
        self.tables(&source);
        self.scope(&source.scope);
        Chart {
            origin: origin.to_owned(),
            is_default: CHARTS.first().is_some_and(|first| first.id == origin),
            scope: source.scope.clone().of_home(),
            phases: phases.into(),
            source,
            templates,
        }
    }
}

/// Loads a chart from its TOML. `origin` names it in messages.
#[cfg(test)]
pub(crate) fn from_text(
    origin: &str,
    text: &str,
    templates: Templates,
) -> Result<Chart, ChartError> {
    let extended = Extended::of(origin, text);
    chart(&extended, &extended.document(), |_| templates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::choice::CHARTS;
    use crate::engine::check;

    #[test]
    fn compiled_in_charts_have_no_flaw() {
        for embedded in CHARTS {
            let chart = embedded.load().unwrap_or_else(|error| panic!("{error}"));
            let extended = Extended::of(embedded.id, embedded.text);
            let flaws = check::inspect(&chart, &extended.document()).flaws;
            assert_eq!(flaws, [], "{}", embedded.id);
            let from_toml = from_text(embedded.id, embedded.text, chart.templates.clone());
            let mut from_toml = from_toml.unwrap_or_else(|error| panic!("{error}"));
            // The templates of what it extends are among its own.
            from_toml.templates = chart.templates.clone();
            assert_eq!(format!("{chart:?}"), format!("{from_toml:?}"), "{}", embedded.id);
        }
    }
}
