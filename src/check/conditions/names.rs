//! What the checker knows about the built-in names: of the review that has run, of the running cycle, and of the instance.

use std::rc::Rc;

use serde_json::json;

use super::evaluate::{Outcome, Path, STARTED};
use super::term::{FALSE, NULL, Node, TRUE, Term};
use crate::engine::names::rows::at_rest;

impl Path<'_> {
    /// Returns the value of a built-in name, or the name where it is unknown.
    pub(super) fn named(&mut self, term: Term, name: &str, ask: bool) -> Option<Term> {
        let (source, key) = name.split_once('.').unwrap_or((name, ""));
        match (source, key) {
            ("scope", "started") => {
                self.looked |= 1 << STARTED;
                Some(if self.course.started { TRUE } else { FALSE })
            }
            ("review" | "gate", key) => {
                Some(self.of_review(source, key).unwrap_or_else(|| self.settled(term)))
            }
            ("cycle", key) => self.of_cycle(key, ask),
            // What reviews have cost depends on the cycle.
            ("spent", _) => {
                let cycle = self.running();
                let n = cycle.map_or(0, |at| self.count_of(at));
                let at = cycle.unwrap_or(usize::MAX);
                let term = self.program.terms.of(Node::OfCycle(name.to_owned(), at, n));
                Some(self.settled(term))
            }
            ("checks", key) if !key.is_empty() && !key.contains('.') => {
                let finds = self.truth(term, ask)?;
                Some(if finds { term } else { self.program.terms.known(json!([])) })
            }
            _ => Some(self.settled(term)),
        }
    }

    /// Returns what the review says that has run; `None` where it is unknown.
    fn of_review(&mut self, source: &str, key: &str) -> Option<Term> {
        let done = Rc::clone(&self.course.done);
        let is_gate = |outcome: &Outcome| *outcome == Outcome::Gate;
        let review = done.review.as_ref();
        let Some((_, outcome, n)) = review.filter(|it| (source == "gate") == is_gate(&it.1)) else {
            return at_rest(source, key).map(|value| self.program.terms.known(value));
        };
        let ran = matches!(outcome, Outcome::Ran(_));
        match (key, outcome) {
            ("failed", _) => Some(TRUE),
            ("command" | "why", _) | ("error", Outcome::Failed) => self.given(source, key),
            ("ok", _) => Some(if ran { TRUE } else { FALSE }),
            ("n", _) => Some(self.program.terms.known(*n)),
            ("verdict", Outcome::Ran(Some(verdict))) => Some(*verdict),
            ("worst", Outcome::Ran(Some(_))) => None,
            ("nothing", _) if !ran => Some(FALSE),
            ("findings", _) if !ran => Some(self.program.terms.known(json!([]))),
            ("until", _) if !ran => None,
            ("error" | "verdict" | "worst" | "until", _) => Some(NULL),
            _ => None,
        }
    }

    /// Notes that a name is not none here, though its type says that it can be.
    fn given(&mut self, source: &str, key: &str) -> Option<Term> {
        let term = self.program.terms.of(Node::Name(format!("{source}.{key}")));
        self.course.facts.entry(term).none = Some(false);
        None
    }

    /// Returns the running cycle.
    pub(super) fn running(&mut self) -> Option<usize> {
        let next = self.field(self.program.next?);
        self.program.cycles.get(&next).copied()
    }

    /// Returns how many reviews a cycle has had.
    pub(super) fn count_of(&mut self, cycle: usize) -> i64 {
        let count = self.program.chart.cycles[cycle].count.clone();
        let count = self.field_named(&count);
        self.program.terms.number(count).unwrap_or(0)
    }

    /// Returns whether the names of a cycle's files have all their parts.
    pub(super) fn has_files(&mut self, cycle: usize) -> bool {
        let base = &self.program.chart.cycles[cycle].base;
        let holes: Vec<String> = base.holes().map(|(hole, _)| hole.to_owned()).collect();
        holes.iter().all(|hole| self.field_named(hole) != NULL)
    }

    /// Returns `cycle.KEY`.
    pub(super) fn of_cycle(&mut self, key: &str, ask: bool) -> Option<Term> {
        let Some(at) = self.running() else {
            return Some(self.program.terms.known(at_rest("cycle", key)));
        };
        let chart = std::sync::Arc::clone(&self.program.chart);
        let cycle = &chart.cycles[at];
        let n = self.count_of(at);
        let yes = |is_so: bool| if is_so { TRUE } else { FALSE };
        let word = |path: &mut Self, word: Option<&String>| {
            word.map_or(NULL, |word| path.program.terms.known(word.as_str()))
        };
        Some(match key {
            "id" => word(self, Some(&cycle.id)),
            "post" => word(self, Some(&cycle.post)),
            "stage" => word(self, cycle.stage.as_ref()),
            "resume" => word(self, cycle.resume.as_ref()),
            "n" => self.program.terms.known(n.saturating_add(1)),
            "limit" => self.field_named(&cycle.limit),
            "due" | "owed" | "answered" => {
                let next = chart.next.as_ref().map_or(NULL, |next| self.field_named(next));
                let next = self.program.terms.value(next).and_then(|it| it.as_str());
                match (key, next == Some(&cycle.id)) {
                    ("due", true) => TRUE,
                    ("owed", true) => FALSE,
                    ("owed", false) => yes(!self.is_so_after_review("answered", at, n, ask)?),
                    _ => yes(self.is_so_after_review("answered", at, n, ask)?),
                }
            }
            "of_code" => yes(cycle.is_of_code()),
            "stalled" | "unchanged" => yes(self.is_so_after_review(key, at, n, ask)?),
            "exit" | "ready" => match self.program.behind(cycle, key).first() {
                Some(condition) => yes(self.truth(*condition, ask)?),
                None => TRUE,
            },
            "next" => {
                let target = self.open_target(at, ask)?;
                word(self, target.map(|target| &cycle.advance[target].target))
            }
            key if key.starts_with("text.") => match self.program.behind(cycle, key).first() {
                Some(text) => self.value(*text, ask)?,
                None => NULL,
            },
            key => self.unknown_of_cycle(key, at, n),
        })
    }

    /// Returns a name that depends on a cycle and the number of its last review.
    fn unknown_of_cycle(&mut self, key: &str, cycle: usize, n: i64) -> Term {
        let term = self.program.terms.of(Node::OfCycle(format!("cycle.{key}"), cycle, n));
        self.settled(term)
    }

    /// Returns what the files of a review say that has run.
    fn is_so_after_review(&mut self, key: &str, cycle: usize, n: i64, ask: bool) -> Option<bool> {
        if n == 0 || !self.has_files(cycle) {
            return Some(false);
        }
        let answered = self.unknown_of_cycle(key, cycle, n);
        self.is_true(answered, ask)
    }

    /// Returns the first open target of a cycle: none without one.
    pub(super) fn open_target(&mut self, cycle: usize, ask: bool) -> Option<Option<usize>> {
        let chart = std::sync::Arc::clone(&self.program.chart);
        for (index, advance) in chart.cycles[cycle].advance.iter().enumerate() {
            let Some(guard) = &advance.guard else { return Some(Some(index)) };
            let guard = self.program.expr(&guard.0, None);
            if self.truth(guard, ask)? {
                return Some(Some(index));
            }
        }
        Some(None)
    }
}
