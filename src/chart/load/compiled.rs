//! Charts that are compiled in. A test has checked that they have no flaws, so each part is read and resolved only when
//! it is looked at.

use std::sync::Arc;

use serde::de::Deserialize as _;
use serde::de::value::Error;

use super::cycles;
use super::fields::name_words;
use super::resolver::Resolver;
use crate::chart::model::{Scope, Source, know_vendors, templates_beside};
use crate::chart::node::Node;
use crate::chart::part::Part;
use crate::chart::shipped::CHARTS;
use crate::chart::{Chart, PhaseEntry};
use crate::expr::templates::Templates;
use crate::hash::IndexMap;

/// Returns the chart that `node` is.
pub fn chart(origin: &str, node: &'static Node, templates: Templates) -> Result<Chart, Error> {
    let source = Arc::new(source(node)?);
    Ok(Chart {
        origin: origin.to_owned(),
        is_default: CHARTS.first().is_some_and(|first| first.id == origin),
        scope: source.scope.clone().of_home(),
        phases: phases(&source),
        source,
        templates,
    })
}

fn phases(source: &Arc<Source>) -> Part<IndexMap<String, PhaseEntry>> {
    let source = Arc::clone(source);
    Part::later(move || Resolver::default().phases(&source))
}

fn source(node: &'static Node) -> Result<Source, Error> {
    let words = move |settings: &mut _| {
        name_words(settings, || node.at("reviewers").keys(), || node.at("cycles").keys());
    };
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
        context: node.part("context"),
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
