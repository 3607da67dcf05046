//! Values that the search does not try, guessed so that a step becomes real that rests on an assumption.
//!
//! What an expression asks of its inputs is often near what it names: a part of one of its texts, a small number, a text of
//! some length. A guess proves nothing by itself: the step is replayed with it.

use super::{Position, Replay};
use crate::explore::answer::Answer;
use crate::explore::decision_tree::Witness;
use crate::explore::dependence::root_of;
use crate::explore::domain::Choice;
use crate::explore::imagined_world::Question;
use crate::explore::search::Transition;
use crate::expr::syntax::{parse_expr, parts};
use indexmap::IndexSet;
use minijinja::machinery::ast::Expr;
use serde_json::{Value as Json, json};

/// The most decisions that are made on guesses for one step.
const MOST: usize = 2_000;

/// Each number up to this one is tried, and a text of each such length.
const SMALL: usize = 40;

/// The longest text of which each part is tried.
const LONG: usize = 24;

/// A question, and an answer that is tried for it.
type Guess = (u32, Json);

impl Replay<'_> {
    /// Takes a step for real with values that the search does not try, of inputs of which a witness assumes something.
    pub(crate) fn guess(&mut self, before: &Position, at: Transition) -> Option<Position> {
        let before = &self.set_for(before, &self.search.edges[at.edge])?;
        let mut left = MOST;
        for known in self.witnesses(at, false) {
            let assumed = self.moves.tree.assumed_by(&known);
            let guesses = assumed.flat_map(|source| self.guesses_for(before, source));
            let guesses: IndexSet<Vec<Guess>> = guesses.collect();
            for guesses in guesses {
                left = left.checked_sub(1)?;
                if self.search.moves.tree.budget.is_exhausted() {
                    return None;
                }
                let after = self.try_guesses(before, at, &known, guesses);
                if after.is_some() {
                    return after;
                }
            }
        }
        None
    }

    /// Returns guesses for one of the inputs of an expression, then for two of them that are what it names.
    fn guesses_for(&self, before: &Position, source: &str) -> Vec<Vec<Guess>> {
        let mut named = IndexSet::new();
        if let Ok(expr) = parse_expr(source) {
            add_literals(&expr, &mut named);
        }
        let near = self.guesses(before, source, &Vec::from_iter(named.iter().cloned()));
        let pairs = near.iter().flat_map(|first| {
            let others = near.iter().filter(|second| second.0 > first.0);
            others.map(|second| vec![first.clone(), second.clone()])
        });
        let one = self.guesses(before, source, &samples(named)).into_iter();
        let one = one.map(|guess| vec![guess]);
        one.chain(pairs).take(MOST).collect()
    }

    /// Returns how an instance stands after a step with these guesses, where that is real.
    fn try_guesses(
        &mut self,
        before: &Position,
        at: Transition,
        witness: &Witness,
        guesses: Vec<Guess>,
    ) -> Option<Position> {
        let mut witness = witness.clone();
        let mut before = before.clone();
        for (question, value) in guesses {
            let tree = &mut self.moves.tree;
            if let Some(field) = tree.field_asked(question) {
                before.set(&tree.name_of(field), &value)?;
            }
            let answer = tree.answer_id(&Answer::Value(value));
            witness.retain(|(asked, _)| *asked != question);
            witness.push((question, answer));
        }
        self.decide(&before, at, &witness)
    }

    /// Returns the guesses for each input that an expression looks at, one after the other, with these values among them.
    fn guesses(&self, before: &Position, source: &str, more: &[Json]) -> Vec<Guess> {
        let tree = &self.moves.tree;
        let domain = &tree.domain;
        let open = domain.open(source);
        let is_asked = |root: &str| open.is_some_and(|open| open.looks.contains(root));
        let held = |field: &str| before.context.get(field).cloned().unwrap_or_default();
        let mut all = Vec::new();
        for (question, asked) in (0..).zip(&tree.questions) {
            let values = match &**asked {
                Question::Choice(Choice::Findings(_)) => continue,
                Question::Choice(choice) if is_asked(root_of(&choice.name())) => {
                    domain.reading(&held).and(more).of(choice)
                }
                Question::Field(field) => {
                    let name = tree.name_of(*field);
                    let setting = name.strip_prefix("config.").filter(|_| is_asked(&name));
                    let field = setting.and_then(|name| self.chart.config.get(name));
                    let accepts = |value: &&Json| {
                        field.is_some_and(|it| it.accepts(&self.chart.phases, value).is_ok())
                    };
                    more.iter().filter(accepts).cloned().collect()
                }
                _ => continue,
            };
            all.extend(values.into_iter().map(|value| (question, value)));
        }
        all
    }
}

/// Returns what an expression may ask of its inputs: what it names, the parts of its texts, all of these together, small
/// numbers, and texts of small lengths.
fn samples(named: IndexSet<Json>) -> Vec<Json> {
    let mut all = named.clone();
    let texts = || named.iter().filter_map(Json::as_str);
    for text in texts().filter(|text| text.len() <= LONG) {
        let starts = || text.char_indices().map(|(at, _)| at);
        for start in starts() {
            let ends = starts().filter(|end| *end > start).chain([text.len()]);
            all.extend(ends.map(|end| json!(text[start..end])));
        }
    }
    all.insert(json!(texts().collect::<String>()));
    all.extend((0..=SMALL).map(|length| json!("x".repeat(length))));
    all.extend((0..=SMALL).map(|number| json!(number)));
    all.into_iter().collect()
}

/// Adds the literals of an expression.
fn add_literals(expr: &Expr<'_>, named: &mut IndexSet<Json>) {
    if let Expr::Const(constant) = expr {
        match serde_json::to_value(&constant.value) {
            Ok(Json::Array(items)) => named.extend(items),
            value => named.extend(value),
        }
    }
    let parts = parts(expr).into_iter();
    parts.for_each(|part| add_literals(part, named));
}
