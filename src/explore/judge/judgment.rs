//! What all judgments share: how a result is put, the settings of parameters, and that every event leads to a sound
//! state.

use std::collections::HashSet;

use super::place::path_of_fault;
use crate::chart::Chart;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Step;
use crate::engine::fault::Fault;
use crate::explore::graph::{Way, way_to};
use crate::explore::moves::{Actor, Edge};
use crate::explore::plain::plain;
use crate::explore::report::{PropertyResult, Verdict};
use crate::explore::search::{Arrow, LONGEST_TEXT, Search};
use crate::explore::state::number;
use crate::explore::trace::Trace;

pub(super) struct Judge<'s> {
    pub(super) chart: &'s Chart,
    pub(super) search: &'s Search,
    /// The combinations of what a user can set.
    pub(super) settings: Vec<Setting>,
}

/// What the parameters are, all of them or one.
#[derive(Debug)]
pub(super) struct Setting {
    /// Fields and their values.
    pub(super) values: Vec<(usize, u32)>,
    /// Per edge, whether it needs nothing else.
    pub(super) fits: Vec<bool>,
    /// `, max_reviews being 0`.
    pub(super) words: String,
}

impl Setting {
    pub(super) fn allows(&self, arrow: &Arrow) -> bool {
        self.fits[arrow.edge()]
    }
}

impl<'s> Judge<'s> {
    pub(super) fn of(chart: &'s Chart, search: &'s Search) -> Self {
        Self {
            chart,
            search,
            settings: settings(search),
        }
    }

    /// What no state has refuted.
    pub(super) fn holds(&self, detail: String) -> Verdict {
        if !self.search.complete {
            return self.cut_off();
        }
        match self.untried(&detail) {
            Some(verdict) => verdict,
            None => Verdict::Proved { detail },
        }
    }

    /// What was seen nowhere: where the search was cut off, that says nothing.
    pub(super) fn absent(&self, claim: String, path: Vec<Step>) -> Verdict {
        if let Some(verdict) = self.untried(&claim) {
            return verdict;
        }
        if self.search.complete {
            Verdict::Refuted {
                trace: Trace::absent(claim),
                path,
            }
        } else {
            self.cut_off()
        }
    }

    /// Where guards compute something of an input, or compare it with what it was not tried with, not all that
    /// can come of it is seen: that something was seen nowhere neither proves nor refutes it.
    pub(super) fn untried(&self, claim: &str) -> Option<Verdict> {
        let domain = &self.search.moves.tree.ground.domain;
        if !domain.computed.is_empty() {
            return Some(untried_of(claim, &domain.computed));
        }
        (!domain.untried.is_empty()).then(|| Verdict::Bounded {
            why: format!(
                "{claim}, as far as was tried; not every value of {} was",
                domain.untried.join(", ")
            ),
        })
    }

    /// Refuted in a state.
    pub(super) fn at(&self, claim: String, state: usize, path: Vec<Step>) -> Verdict {
        self.along(claim, &way_to(self.search, state), path)
    }

    /// Refuted by a way.
    pub(super) fn along(&self, claim: String, way: &Way, path: Vec<Step>) -> Verdict {
        Verdict::Refuted {
            trace: Trace::along(self.search, claim, way),
            path,
        }
    }

    /// Refuted by a way whose end leads back to one of its steps, by its number.
    pub(super) fn endless(
        &self,
        claim: String,
        (way, again): &(Way, usize),
        path: Vec<Step>,
    ) -> Verdict {
        let trace = Trace {
            again: Some(*again),
            ..Trace::along(self.search, claim, way)
        };
        Verdict::Refuted { trace, path }
    }

    pub(super) fn cut_off(&self) -> Verdict {
        if self.search.outgrown {
            return Verdict::Bounded {
                why: format!(
                    "states with a text of more than {LONGEST_TEXT} bytes were not looked at"
                ),
            };
        }
        Verdict::Bounded {
            why: format!(
                "only the first {} states were looked at",
                self.search.looked_at()
            ),
        }
    }

    pub(super) fn edge(&self, arrow: &Arrow) -> &Edge {
        &self.search.edges[arrow.edge()].0
    }

    pub(super) fn actor(&self, arrow: &Arrow) -> Actor {
        self.search.moves.all[self.edge(arrow).mover].actor
    }

    pub(super) fn phase(&self, state: usize) -> &str {
        let field = self.search.field(&self.chart.state);
        field
            .and_then(|field| self.search.value(state, field).as_str())
            .unwrap_or_default()
    }

    pub(super) fn decisions(&self) -> Vec<PropertyResult> {
        let name = "every event leads to a decision";
        let code = Code::NoDecision;
        let moves = &self.search.moves;
        let mut met: Vec<(u32, (usize, usize))> = self
            .search
            .faults
            .iter()
            .map(|(fault, at)| (*fault, *at))
            .collect();
        met.sort_by_key(|(_, at)| *at);
        let mut results: Vec<PropertyResult> = Vec::new();
        for (fault, (state, edge)) in met {
            let fault = &moves.faults[fault as usize];
            let mut way = way_to(self.search, state);
            way.push((state, edge));
            let verdict = self.along(fault.to_string(), &way, path_of_fault(self.chart, fault));
            results.push(match fault {
                Fault::Assignment { .. } => PropertyResult::new(
                    "every assignment fits its field",
                    Code::AssignmentMisfit,
                    verdict,
                ),
                _ => PropertyResult::new(name, code, verdict),
            });
        }
        let mut reported: HashSet<(String, usize)> = HashSet::new();
        for (list, index, fault) in moves.tree.ground.faults_of_checks() {
            if !reported.insert((list.clone(), index)) {
                continue;
            }
            let verdict = Verdict::Refuted {
                trace: Trace::absent(fault.to_string()),
                path: steps!["checks", &list, index],
            };
            results.push(PropertyResult::new(name, code, verdict));
        }
        if results.is_empty() {
            let detail = format!(
                "{} states, {} kinds of move",
                self.search.states.len(),
                moves.all.len()
            );
            results.push(PropertyResult::new(name, code, self.holds(detail)));
        }
        results
    }

    /// Assignments are admitted one by one; targets are phases. What a state holds must fit all the same.
    pub(super) fn schema(&self) -> PropertyResult {
        let misfit = self
            .misfit()
            .map(|(state, key, claim)| self.at(claim, state, steps!["context", key]));
        let verdict =
            misfit.unwrap_or_else(|| self.holds(format!("{} fields", self.chart.context.len())));
        PropertyResult::new(
            "every state fits the schema",
            Code::AssignmentMisfit,
            verdict,
        )
    }

    /// The first state that holds what its field may not, the field, and what that is.
    pub(super) fn misfit(&self) -> Option<(usize, &String, String)> {
        let tree = &self.search.moves.tree;
        let mut seen: HashSet<(usize, u32)> = HashSet::new();
        for (state, situation) in self.search.states.iter().enumerate() {
            for (field, value) in situation.fields().iter().enumerate() {
                if !seen.insert((field, *value)) {
                    continue;
                }
                let (key, kind) = self.chart.context.get_index(field)?;
                if let Err(expected) = kind.accepts(&self.chart.phases, tree.value(*value)) {
                    let claim = format!(
                        "`{key}` is {expected}, and it becomes {}",
                        plain(tree.value(*value))
                    );
                    return Some((state, key, claim));
                }
            }
        }
        None
    }
}

/// A claim that holds for what was tried, which is not all that can come of these inputs.
pub(super) fn untried_of(claim: &str, inputs: &[String]) -> Verdict {
    Verdict::Bounded {
        why: format!(
            "{claim}, as far as was tried; a guard computes something of {}",
            inputs.join(", ")
        ),
    }
}

/// So many combinations of parameters are looked at one by one; of more, each parameter by itself.
const SETTINGS: usize = 64;

/// The combinations of what a user can set, the defaults first.
fn settings(search: &Search) -> Vec<Setting> {
    let tree = &search.moves.tree;
    let parameters = tree.ground.domain.parameters.iter();
    let parameters: Vec<(usize, Vec<u32>)> = parameters
        .filter_map(|(name, values)| {
            // A value that was never looked at makes no difference.
            let known = values
                .iter()
                .filter_map(|value| tree.values.get_index_of(value))
                .map(number);
            Some((search.field(name)?, known.collect::<Vec<u32>>()))
        })
        .filter(|(field, _)| {
            search
                .edges
                .iter()
                .any(|(edge, _)| edge.needs.iter().any(|(needed, _)| needed == field))
        })
        .collect();
    let defaults: Vec<(usize, u32)> = parameters
        .iter()
        .filter_map(|(field, values)| Some((*field, *values.first()?)))
        .collect();
    let count = parameters
        .iter()
        .map(|(_, values)| values.len())
        .try_fold(1_usize, usize::checked_mul);
    let mut all: Vec<Vec<(usize, u32)>> = vec![Vec::new()];
    if count.is_some_and(|count| count <= SETTINGS) {
        for (field, values) in &parameters {
            all = values
                .iter()
                .flat_map(|value| {
                    all.iter()
                        .map(move |setting| [setting.as_slice(), &[(*field, *value)]].concat())
                })
                .collect();
        }
    } else {
        all = vec![defaults.clone()];
        for (index, (field, values)) in parameters.iter().enumerate() {
            for value in values.iter().skip(1) {
                let mut setting = defaults.clone();
                setting[index] = (*field, *value);
                all.push(setting);
            }
        }
    }
    let name = |field: usize| tree.default_of(field).map_or("", |(name, _)| name);
    let made = all.into_iter().map(|values| {
        let fits = |edge: &Edge| edge.needs.iter().all(|need| values.contains(need));
        let words = values.iter().map(|(field, value)| {
            format!(", {} being {}", name(*field), plain(tree.value(*value)))
        });
        Setting {
            fits: search.edges.iter().map(|(edge, _)| fits(edge)).collect(),
            words: words.collect(),
            values,
        }
    });
    made.collect()
}
