//! What a chart can say: its texts, each at its place, and the templates that they are made of.

use std::cell::RefCell;
use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};

use crate::chart::Chart;
use crate::chart::model::{Check, Rule};
use crate::chart::names::{ChartNames, Uses};
use crate::diagnostic::suggest::suggest;
use crate::expr::infer::{self, Scope};
use crate::expr::source::Text;
use crate::expr::types::Type;
use crate::expr::{Expressions, has_holes};
use crate::host::events::EVENTS;

/// A text of a chart.
#[derive(Debug, Clone)]
pub(crate) struct ChartText<'c> {
    /// `on.Stop[5].block`.
    pub(crate) place: String,
    pub(crate) text: &'c Text,
    pub(crate) stand: Stand<'c>,
}

/// What a text sees besides the state.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stand<'c> {
    /// What the earlier rules of this list have assigned.
    Rule { list: &'c str, index: usize },
    /// The phase that is entered, as `it`, and the cycle that it was made from.
    Phase { id: &'c str, cycle: Option<&'c str> },
    /// Each item that the check finds, as `it`.
    Check(&'c Check),
    /// Nothing.
    Plain,
}

/// What is to be rendered.
#[derive(Debug, Clone)]
pub(crate) enum Target<'c> {
    /// A template, and the first text that it is part of.
    Template {
        name: String,
        first: Option<ChartText<'c>>,
    },
    Text(ChartText<'c>),
}

impl<'c> Target<'c> {
    /// How a person calls it.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Template { name, .. } => name,
            Self::Text(text) => &text.place,
        }
    }

    /// The rule, the check or the like that it stands in.
    pub(crate) fn rule(&self) -> &str {
        self.in_chart()
            .and_then(|text| text.place.rsplit_once('.'))
            .map_or("", |(rule, _)| rule)
    }

    /// What it sees: a template the same as the first text that it is part of.
    pub(crate) fn stand(&self) -> Stand<'c> {
        self.in_chart().map_or(Stand::Plain, |text| text.stand)
    }

    /// True for what a hook says: the host shows no more of it than it has room for.
    pub(crate) fn is_told_by_a_hook(&self) -> bool {
        self.in_chart().is_some_and(|text| match text.stand {
            Stand::Rule { list, .. } => {
                text.place.starts_with("on.") && EVENTS.iter().any(|(_, event)| *event == list)
            }
            Stand::Phase { .. } | Stand::Check(_) | Stand::Plain => false,
        })
    }

    fn in_chart(&self) -> Option<&ChartText<'c>> {
        match self {
            Self::Template { first, .. } => first.as_ref(),
            Self::Text(text) => Some(text),
        }
    }
}

/// A template of a chart.
#[derive(Debug, Default)]
pub(crate) struct Template {
    /// The texts and the templates that include it.
    pub(crate) users: Vec<String>,
    /// The templates that it includes.
    pub(crate) includes: IndexSet<String>,
    /// The names that it and what it includes look at.
    pub(crate) needs: BTreeSet<String>,
}

/// All texts, in the chart's order.
pub(crate) fn texts(chart: &Chart) -> Vec<ChartText<'_>> {
    let mut texts = Vec::new();
    let mut add = |place: String, text, stand| texts.push(ChartText { place, text, stand });
    for (id, entry) in &chart.phases {
        if let Some(text) = &entry.phase.otherwise {
            let stand = Stand::Phase {
                id,
                cycle: entry.cycle.as_deref(),
            };
            add(format!("phases.{id}.else"), text, stand);
        }
    }
    for (id, cycle) in &chart.cycles {
        for (word, text) in &cycle.text {
            add(format!("cycles.{id}.text.{word}"), text, Stand::Plain);
        }
    }
    for (name, invoke) in &chart.invoke {
        let stand = invoking(chart, name);
        for (index, text) in invoke.argv.iter().enumerate() {
            add(format!("invoke.{name}.argv[{index}]"), text, stand);
        }
        if let Some(by) = &invoke.by {
            add(format!("invoke.{name}.by"), by, stand);
        }
    }
    for (list, rules) in &chart.on {
        for (index, rule) in rules.iter().enumerate() {
            for (key, text) in of_rule(rule) {
                add(
                    format!("on.{list}[{index}].{key}"),
                    text,
                    Stand::Rule { list, index },
                );
            }
        }
    }
    for (name, command) in &chart.commands {
        for (key, text) in of_rule(&command.rule) {
            add(format!("commands.{name}.{key}"), text, Stand::Plain);
        }
        if let Some(text) = &command.otherwise {
            add(format!("commands.{name}.else"), text, Stand::Plain);
        }
    }
    for (name, checks) in &chart.checks {
        for (index, check) in checks.iter().enumerate() {
            add(
                format!("checks.{name}[{index}].say"),
                &check.say,
                Stand::Check(check),
            );
        }
    }
    texts
}

fn of_rule(rule: &Rule) -> impl Iterator<Item = (&'static str, &Text)> {
    [
        ("message", &rule.message),
        ("say", &rule.say),
        ("block", &rule.block),
        ("action", &rule.action),
    ]
    .into_iter()
    .filter_map(|(key, text)| Some((key, text.as_ref()?)))
}

/// Where an invocation's texts are made: at the first rule that runs it.
fn invoking<'c>(chart: &'c Chart, name: &str) -> Stand<'c> {
    let mut rules = chart.on.iter().flat_map(|(list, rules)| {
        rules
            .iter()
            .enumerate()
            .map(move |(index, rule)| (list, index, rule))
    });
    rules
        .find(|(_, _, rule)| rule.invoke.as_deref() == Some(name))
        .map_or(Stand::Plain, |(list, index, _)| Stand::Rule { list, index })
}

/// The template or the text that `wanted` names; the error says what it may have meant.
pub(crate) fn find<'c>(chart: &'c Chart, wanted: &str) -> Result<Target<'c>, (String, String)> {
    let texts = texts(chart);
    if let Some(text) = texts.iter().find(|text| text.place == wanted) {
        return Ok(Target::Text(text.clone()));
    }
    if matches!(chart.templates.get(wanted), Ok(Some(_))) {
        let first = first_user(chart, &texts, wanted);
        return Ok(Target::Template {
            name: wanted.to_owned(),
            first,
        });
    }
    let below = |head: &str| -> Vec<&ChartText<'c>> {
        let is_below = |place: &str| {
            place
                .strip_prefix(head)
                .is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        texts.iter().filter(|text| is_below(&text.place)).collect()
    };
    // Of a command line's words, only those that are made are worth a look.
    let mut inside = below(wanted);
    inside.retain(|text| !text.place.starts_with("invoke.") || has_holes(&text.text.0));
    if let [only] = inside.as_slice() {
        return Ok(Target::Text((*only).clone()));
    }
    let list = |texts: &[&ChartText<'_>]| {
        let places: Vec<String> = texts
            .iter()
            .take(12)
            .map(|text| format!("`{}`", text.place))
            .collect();
        let more = if texts.len() > places.len() {
            ", …"
        } else {
            ""
        };
        format!("{}{more}", places.join(", "))
    };
    let shown = wanted.escape_debug();
    if !inside.is_empty() {
        return Err((
            format!("`{shown}` has more than one text"),
            format!("name one of {}", list(&inside)),
        ));
    }
    let message = format!("there is no template and no text `{shown}`");
    let parent = wanted
        .rfind(['.', '['])
        .map(|end| below(&wanted[..end]))
        .unwrap_or_default();
    let templates = chart.templates.names();
    let known = templates
        .iter()
        .map(String::as_str)
        .chain(texts.iter().map(|text| text.place.as_str()));
    let help = match (parent.as_slice(), suggest(wanted, known)) {
        ([only], _) => format!("did you mean `{}`?", only.place),
        (_, Some(close)) => format!("did you mean `{close}`?"),
        ([], None) => "`taskie render --list` shows all of them".to_owned(),
        (several, None) => format!("there are {}", list(several)),
    };
    Err((message, help))
}

fn first_user<'c>(
    chart: &'c Chart,
    texts: &[ChartText<'c>],
    template: &str,
) -> Option<ChartText<'c>> {
    let includes = Includes::new(chart);
    texts
        .iter()
        .find(|text| includes.below(&text.text.0).contains(template))
        .cloned()
}

/// All templates: those that the chart uses, by name, then those that it does not.
pub(crate) fn templates(chart: &Chart) -> (IndexMap<String, Template>, Vec<String>) {
    let includes = Includes::new(chart);
    let mut used: IndexMap<String, Template> = IndexMap::new();
    let mut ahead: Vec<String> = Vec::new();
    for text in texts(chart) {
        for name in includes.of(&text.text.0) {
            used.entry(name.clone())
                .or_default()
                .users
                .push(text.place.clone());
            ahead.push(name);
        }
    }
    let mut seen = BTreeSet::new();
    while let Some(name) = ahead.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let text = includes.text(&name);
        for inner in includes.of(&text) {
            used.entry(inner.clone())
                .or_default()
                .users
                .push(name.clone());
            used.entry(name.clone())
                .or_default()
                .includes
                .insert(inner.clone());
            ahead.push(inner);
        }
        let needs = includes.needs(&text);
        used.entry(name).or_default().needs = needs;
    }
    // A prompt is no template of the engine's: it includes nothing, and needs what [prompts.vars] has.
    for name in &chart.prompts.names {
        let template = used.entry(Chart::prompt_file(name)).or_default();
        template.users.push(format!("prompts.{name}"));
    }
    used.sort_keys();
    for template in used.values_mut() {
        template.users.sort();
        template.includes.sort();
    }
    let unused = chart
        .templates
        .names()
        .into_iter()
        .filter(|name| !used.contains_key(name))
        .collect();
    (used, unused)
}

/// What the texts of a chart include and look at.
#[derive(Debug)]
pub(crate) struct Includes<'c> {
    names: ChartNames<'c>,
    expressions: Expressions,
}

impl<'c> Includes<'c> {
    pub(crate) fn new(chart: &'c Chart) -> Self {
        Self {
            names: ChartNames::new(chart, &Uses::default()),
            expressions: Expressions::new(chart.templates.clone()),
        }
    }

    fn text(&self, template: &str) -> String {
        self.names.template(template).unwrap_or_default()
    }

    /// The templates that a text includes itself.
    pub(crate) fn of(&self, text: &str) -> IndexSet<String> {
        if !has_holes(text) {
            return IndexSet::new();
        }
        let looking = Looking {
            names: &self.names,
            found: RefCell::new(IndexSet::new()),
        };
        // What is wrong with a text was told when the chart was loaded.
        infer::text(text, &looking);
        looking.found.into_inner()
    }

    /// The templates that a text is made of.
    fn below(&self, text: &str) -> IndexSet<String> {
        let mut all = self.of(text);
        let mut next = 0;
        while let Some(name) = all.get_index(next).cloned() {
            all.extend(self.of(&self.text(&name)));
            next += 1;
        }
        all
    }

    /// The names that a text looks at itself.
    pub(crate) fn own_needs(&self, text: &str) -> BTreeSet<String> {
        if has_holes(text) {
            self.expressions.names_in(text).into_iter().collect()
        } else {
            BTreeSet::new()
        }
    }

    /// The names that a text and what it includes look at.
    fn needs(&self, text: &str) -> BTreeSet<String> {
        let below = self.below(text);
        let texts = below
            .iter()
            .map(|name| self.text(name))
            .chain([text.to_owned()]);
        texts.flat_map(|text| self.own_needs(&text)).collect()
    }
}

/// Notes the templates that are asked for. They are given as empty ones, so that nobody walks into them.
struct Looking<'n, 'c> {
    names: &'n ChartNames<'c>,
    found: RefCell<IndexSet<String>>,
}

impl Scope for Looking<'_, '_> {
    fn name(&self, name: &str) -> Option<Type> {
        self.names.name(name)
    }

    fn names(&self) -> Vec<String> {
        self.names.names()
    }

    fn template(&self, name: &str) -> Option<String> {
        self.names.template(name).map(|_| {
            self.found.borrow_mut().insert(name.to_owned());
            String::new()
        })
    }

    fn used(&self, _: &str) {}

    fn templates_like(&self, start: &str, end: &str) -> Vec<String> {
        self.names.templates_like(start, end)
    }
}
