//! Reads a chart place by place, and follows what goes from inputs into fields.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Compared, Dependence, Kind, Openness, Term, Val, as_list, root_of};
use crate::chart::Chart;
use crate::chart::fragments::Role;
use crate::chart::model::FieldType;
use crate::chart::uses::fields_of_the_user;
use crate::engine::names::types::{ChartNames, Uses};
use crate::expr::infer;
use crate::expr::pieces::{Piece, pieces};
use crate::expr::syntax::parse_expr;
use crate::expr::types::Type;
use crate::expr::{has_holes, single_expression};

/// How a let is read: its name, whether in a text, whether in one that is shown, and under which open inputs.
type LetUse = (String, bool, bool, BTreeSet<String>);

/// Reads the expressions of a chart, and keeps what it finds.
pub(super) struct Reader<'c> {
    pub(super) chart: &'c Chart,
    pub(super) types: ChartNames<'c>,
    untried: &'c BTreeSet<String>,
    pub(super) found: Dependence,
    /// What `it` and the variables of a text stand for, and their types.
    pub(super) scopes: Vec<(String, Val, Type)>,
    /// A variable of the text has the name of something else.
    pub(super) hides_names: bool,
    pub(super) lets: Vec<String>,
    /// What lets stand for, and what is open about them.
    pub(super) known_lets: HashMap<LetUse, (Val, Openness)>,
    /// What the expression that is being read may fail on, and looks at.
    pub(super) own: Openness,
    /// Where what is read is evaluated or not, as these inputs say.
    pub(super) under_open: BTreeSet<String>,
    /// How many branches what is read stands in.
    pub(super) branches: usize,
    /// The names that are evaluated whatever the branches.
    pub(super) evaluated: BTreeSet<String>,
    /// A text is read, of which only matters whether it can be made.
    pub(super) in_text: bool,
    /// No expression looks at that text.
    pub(super) is_shown: bool,
    flows: Vec<(String, String)>,
    pub(super) links: Vec<(String, String)>,
    /// The templates that are being read.
    pub(super) templates: HashSet<String>,
}

impl Dependence {
    /// Reads all expressions and texts of `chart`, where these fields are known to be clouded or derived, to which it adds.
    /// The `untried` inputs have too many values to try them all.
    pub fn of(chart: &Chart, untried: &BTreeSet<String>, known: &Self) -> Self {
        let mut reader = Reader {
            chart,
            types: ChartNames::new(chart, &Uses::default()),
            untried,
            found: Self {
                clouded: known.clouded.clone(),
                derived: known.derived.clone(),
                ..Self::default()
            },
            scopes: Vec::new(),
            hides_names: false,
            lets: Vec::new(),
            known_lets: HashMap::new(),
            own: Openness::default(),
            under_open: BTreeSet::new(),
            branches: 0,
            evaluated: BTreeSet::new(),
            in_text: false,
            is_shown: false,
            flows: Vec::new(),
            links: Vec::new(),
            templates: HashSet::new(),
        };
        reader.chart();
        reader.spread();
        reader.found
    }
}

impl Reader<'_> {
    /// Reads the chart, place by place.
    fn chart(&mut self) {
        let chart = self.chart;
        for (name, field) in &chart.context {
            // A field can begin with what a setting says.
            if let Some(setting) = field.setting() {
                let is_free = fields_of_the_user(chart).contains(name.as_str());
                if field.kind != FieldType::Boolean && !is_free {
                    self.found.derived.insert(name.clone());
                }
                self.flows.push((format!("config.{setting}"), name.clone()));
            }
        }
        for fragment in chart.fragments() {
            if let Some(each) = fragment.each {
                let items = self.list(each);
                let item = infer::expression(each, &self.types).0.item();
                self.scopes.push(("it".to_owned(), as_list(items, false), item));
            }
            match fragment.role {
                Role::Let if !self.types.is_boolean(fragment.text) => {}
                Role::Condition | Role::Let => self.condition_of(fragment.text),
                Role::List => drop(self.list(fragment.text)),
                Role::Assigned(field) => self.assign(field, fragment.text),
                Role::Shown => self.text(fragment.text, true),
                Role::Named => self.text(fragment.text, false),
                Role::Printed => self.text(&format!("{{{{ {} }}}}", fragment.text), true),
                Role::Default => {}
            }
            self.scopes.clear();
        }
    }

    /// Reads something by itself, and keeps what is open about it.
    fn alone(&mut self, source: &str, read: impl FnOnce(&mut Self) -> Val) -> Val {
        self.own = Openness::default();
        self.under_open.clear();
        self.hides_names = false;
        self.evaluated.clear();
        self.templates.clear();
        let value = read(self);
        self.own.inputs.clone_from(&value.computed);
        let known = self.found.open.entry(source.to_owned()).or_default();
        known.merge(&self.own);
        value
    }

    /// Reads a condition.
    fn condition_of(&mut self, source: &str) {
        self.alone(source, |reader| {
            let value = reader.source(source);
            reader.truth(value)
        });
    }

    /// Reads a list.
    fn list(&mut self, source: &str) -> Val {
        self.alone(source, |reader| reader.source(source))
    }

    /// Reads a text, of which only matters whether it can be made.
    fn text(&mut self, text: &str, is_shown: bool) {
        if !has_holes(text) {
            return;
        }
        let chart = self.chart;
        (self.in_text, self.is_shown) = (true, is_shown);
        self.alone(text, |reader| reader.template(text));
        self.pieces(&pieces(text, &|name| chart.template(name).ok()));
        (self.in_text, self.is_shown) = (false, false);
    }

    /// Reads the pieces of a text, each by itself.
    fn pieces(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                // What it shows does not matter, and a field can be assigned the same.
                Piece::Hole(hole) => drop(self.alone(hole, |reader| {
                    reader.template(hole);
                    Val::default()
                })),
                Piece::If(test, then, otherwise) => {
                    self.condition_of(test);
                    self.pieces(then);
                    self.pieces(otherwise);
                }
            }
        }
    }

    /// Reads what a field is assigned.
    fn assign(&mut self, field: &str, text: &str) {
        let value = match single_expression(text) {
            Some(expr) => {
                let value = self.alone(text, |reader| reader.source(expr));
                if let Ok(expr) = parse_expr(expr) {
                    self.counts_up(field, &expr);
                }
                value
            }
            None if !has_holes(text) => return,
            None => self.alone(text, |reader| {
                let mut value = reader.template(text);
                value.computed.extend(reader.own.fails.iter().cloned());
                value.terms = vec![Term::Settled];
                value
            }),
        };
        self.goes_into(field, value, text);
    }

    /// Notes where the value of a field comes from.
    fn goes_into(&mut self, field: &str, value: Val, source: &str) {
        let mut computed = value.computed;
        let declared = self.chart.context.get(field);
        let takes_slugs = declared.is_some_and(|field| field.is_id);
        for term in value.terms {
            match term {
                Term::Input { path, list } => {
                    let kind = self.kind(&path);
                    if list || matches!(kind, Kind::Untried | Kind::List) {
                        computed.insert(root_of(&path).to_owned());
                        continue;
                    }
                    // What only the user sets is tried at numbers of its own, whatever is made of them.
                    let is_number =
                        kind == Kind::Integer && fields_of_the_user(self.chart).contains(field);
                    if kind != Kind::Boolean && !is_number {
                        self.found.derived.insert(field.to_owned());
                    }
                    self.note(&path).slug |= takes_slugs;
                    self.flows.push((path, field.to_owned()));
                }
                Term::Field(other) if other != field => {
                    self.note(&other).slug |= takes_slugs;
                    if self.is_derived(&other) {
                        self.found.derived.insert(field.to_owned());
                    }
                    self.flows.push((other, field.to_owned()));
                }
                _ => {}
            }
        }
        let open = self.found.open.get(source);
        if open.is_some_and(|open| !open.looks.is_disjoint(self.untried)) {
            self.found.clouded.insert(field.to_owned());
        }
        if !computed.is_empty() {
            // What the field is compared with may come out of it all the same.
            for input in &computed {
                if self.kind(input) == Kind::Text {
                    self.flows.push((input.clone(), field.to_owned()));
                }
            }
            self.found.clouded.insert(field.to_owned());
            let open = self.found.open.entry(source.to_owned()).or_default();
            open.inputs.extend(computed);
        }
    }

    /// Compares a value that goes into a field with everything that the field is compared with.
    fn spread(&mut self) {
        let mut grows = true;
        while grows {
            grows = false;
            let flows = self.flows.iter().map(|(from, to)| (from, to));
            let links = self.links.iter();
            let links = links.flat_map(|(one, other)| [(one, other), (other, one)]);
            for (from, to) in flows.chain(links) {
                let other = self.found.compared.get(to).cloned().unwrap_or_default();
                let own = self.found.compared.entry(from.clone()).or_default();
                grows |= own.absorb(&other);
            }
        }
    }

    /// Returns what an input or a field is compared with, to add to it.
    pub(super) fn note(&mut self, path: &str) -> &mut Compared {
        self.found.compared.entry(path.to_owned()).or_default()
    }
}
