//! Charts that are compiled in. A test has checked that they have no flaws, so each part is read and resolved only when
//! it is looked at.

use std::sync::Arc;

use serde::de::Deserialize as _;
use serde::de::value::Error;

use super::fields::name_words;
use super::resolver::Resolver;
use super::{commands, cycles};
use crate::chart::Chart;
use crate::chart::model::{Scope, Source, WordTable, know_vendors, templates_beside};
use crate::chart::node::Node;
use crate::chart::part::Part;
use crate::chart::shipped::CHARTS;
use crate::expr::templates::Templates;

/// Returns the chart that `node` is.
pub fn chart(origin: &str, node: &'static Node, templates: Templates) -> Result<Chart, Error> {
    let source = Arc::new(source(node)?);
    Ok(Chart {
        origin: origin.to_owned(),
        is_default: CHARTS.first().is_some_and(|first| first.id == origin),
        scope: source.scope.clone().of_home(),
        phases: later(&source, |resolver, source| resolver.phases(source)),
        commands: later(&source, |_, source| commands(source)),
        source,
        templates,
    })
}

fn later<T>(source: &Arc<Source>, resolve: fn(&mut Resolver<'_>, &Source) -> T) -> Part<T>
where
    T: 'static,
{
    let source = Arc::clone(source);
    Part::later(move || resolve(&mut Resolver::default(), &source))
}

fn source(node: &'static Node) -> Result<Source, Error> {
    let names = |table| match table {
        WordTable::Reviewers => node.at("reviewers").keys(),
        WordTable::Cycles => node.at("cycles").keys(),
    };
    let words = move |fields: &mut _| name_words(fields, names);
    Ok(Source {
        extends: Option::deserialize(node.at("extends"))?.unwrap_or_default(),
        remove: Vec::new(),
        id: String::deserialize(node.at("id"))?,
        initial: String::deserialize(node.at("initial"))?,
        state: String::deserialize(node.at("state"))?,
        next: Option::deserialize(node.at("next"))?,
        quiet: Option::deserialize(node.at("quiet"))?.unwrap_or_default(),
        templates: Option::deserialize(node.at("templates"))?.unwrap_or_else(templates_beside),
        scope: Scope::deserialize(node.at("scope"))?,
        context: node.edited("context", words),
        config: node.edited("config", words),
        args: node.part("args"),
        files: node.part("files"),
        tables: node.part("tables"),
        lets: node.part("let"),
        prompts: node.part("prompts"),
        phases: node.parts("phases"),
        cycle: None,
        cycles: node.edited("cycles", cycles::name),
        reviewer: None,
        reviewers: node.edited("reviewers", know_vendors),
        on: node.parts("on"),
        commands: node.part("commands"),
        checks: node.part("checks"),
        properties: node.part("properties"),
    })
}
