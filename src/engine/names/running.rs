//! The running cycle: its files, and whether its review is due.

use std::sync::Arc;

use indexmap::IndexSet;
use minijinja::value::Value;
use serde_json::Value as Json;

use super::Names;
use crate::chart::Cycle;
use crate::chart::field::name_part;
use crate::engine::context;
use crate::engine::fault::Fault;
use crate::engine::world::Source;
use crate::expr::single_expression;
use crate::files::pattern::Pattern;

impl Names {
    /// Returns the running cycle: the one that comes next, or whose post phase comes next.
    pub fn running(&self) -> Option<&Cycle> {
        self.cycle_of(&self.next())
    }

    /// Returns the cycle that is not over: the running one, or the one that the user can return to, because a field
    /// remembers one of its phases.
    pub fn unfinished(&self) -> Option<&Cycle> {
        context::unfinished(&self.chart, |name| self.field(name))
    }

    fn cycle_of(&self, phase: &Json) -> Option<&Cycle> {
        context::cycle_of(&self.chart, phase.as_str()?)
    }

    /// Returns the phase that comes next.
    pub(super) fn next(&self) -> Json {
        let field = self.chart.next.as_ref();
        field.map(|field| self.field(field)).unwrap_or_default()
    }

    /// Returns how many reviews the cycle has had; a null count is 0.
    pub fn count(&self, cycle: &Cycle) -> i64 {
        self.field(&cycle.count).as_i64().unwrap_or(0)
    }

    /// Returns a file name of the cycle with its holes filled: `base`, `n`, and context fields that are safe in a name.
    pub fn file_name(&self, cycle: &Cycle, pattern: &Pattern, n: i64) -> Result<String, Fault> {
        cycle.file_name(pattern, &n.to_string(), |hole| self.slug(hole))
    }

    /// Returns the name of all reviews of the cycle, in which `{n}` stands for the number.
    pub fn review_files(&self, cycle: &Cycle) -> Result<String, Fault> {
        cycle.file_name(&cycle.review, "{n}", |hole| self.slug(hole))
    }

    /// Returns the file name as a path from the project's root.
    pub(super) fn file_path(
        &self,
        cycle: &Cycle,
        pattern: &Pattern,
        n: i64,
    ) -> Result<Value, Fault> {
        let name = self.file_name(cycle, pattern, n)?;
        self.path(&name).map(Value::from)
    }

    /// Returns a context field as part of a file name.
    pub fn slug(&self, field: &str) -> Result<String, Fault> {
        let value = self.field(field);
        name_part(&value).ok_or_else(|| {
            Fault::World(match value {
                Json::Null => format!("`{field}` is null, so there is no file name"),
                other => format!(
                    "`{field}` is {other}, which cannot be part of a file name (only letters, digits, _, - and single dots)"
                ),
            })
        })
    }

    /// Returns the files that a review of `cycle` reads; a list without items is an error.
    pub fn subject(self: &Arc<Self>, cycle: &Cycle) -> Result<Vec<String>, Fault> {
        // A list in the chart may name a file as often as its table does.
        let mut files = IndexSet::new();
        for entry in &cycle.subject {
            let Some(expr) = single_expression(&entry.0) else {
                let pattern = Pattern::parse(&entry.0).map_err(Fault::World)?;
                files.insert(self.file_name(cycle, &pattern, self.count(cycle) + 1)?);
                continue;
            };
            let place = format_args!("cycles.{}.subject", cycle.id);
            let names = self.items(place, expr, &self.root())?;
            if names.is_empty() {
                let place = format_args!("cycles.{}.text.empty", cycle.id);
                let why = cycle.text.get("empty");
                let why = why.map(|why| self.text(place, why, &self.root()));
                let why = why.transpose()?;
                return Err(Fault::File(
                    why.unwrap_or_else(|| "there is nothing to review".to_owned()),
                ));
            }
            files.extend(names.iter().map(ToString::to_string));
        }
        Ok(files.into_iter().collect())
    }

    /// Returns the commands that must succeed before a review of `cycle`.
    pub fn gates(self: &Arc<Self>, cycle: &Cycle) -> Result<Vec<String>, Fault> {
        let Some(gates) = &cycle.gates else { return Ok(Vec::new()) };
        let place = format_args!("cycles.{}.gates", cycle.id);
        let commands = self.items(place, &gates.0, &self.root())?;
        Ok(commands.iter().map(ToString::to_string).collect())
    }

    /// Returns whether nothing has changed since the last review of `cycle`.
    pub fn is_unchanged(self: &Arc<Self>, cycle: &Cycle) -> Result<bool, Fault> {
        // One review agrees with itself.
        let rounds = usize::from(self.count(cycle) > 0);
        Ok(self.agree(cycle, rounds)?.is_true())
    }

    /// Returns whether the last `rounds` reviews of `cycle` agree, as [`Source::Stalled`] says.
    pub(super) fn agree(self: &Arc<Self>, cycle: &Cycle, rounds: usize) -> Result<Value, Fault> {
        let (1.., Ok(subject), Ok(files)) = (rounds, self.subject(cycle), self.review_files(cycle))
        else {
            return Ok(Value::from(false));
        };
        let (count, cycle) = (self.count(cycle), cycle.id.clone());
        self.look(&Source::Stalled { cycle, files, count, subject, rounds })
    }

    /// Returns the index of the first open advance target of `cycle`.
    pub fn open_target(self: &Arc<Self>, cycle: &Cycle) -> Result<usize, Fault> {
        for (index, advance) in cycle.advance.iter().enumerate() {
            let place = format_args!("cycles.{}.advance[{index}].guard", cycle.id);
            if self.holds(place, advance.guard.as_ref(), &self.root())? {
                return Ok(index);
            }
        }
        Err(Fault::NowhereToAdvance { cycle: cycle.id.clone() })
    }

    /// Returns whether the cycle's next review is due: it comes next, or its answer already exists.
    pub fn is_due(&self, cycle: &Cycle) -> Result<bool, Fault> {
        Ok(self.next().as_str() == Some(&cycle.id) || self.is_answered(cycle)?)
    }

    /// Returns whether the answer to the last review is on disk, and not older than the review.
    pub fn is_answered(&self, cycle: &Cycle) -> Result<bool, Fault> {
        let n = self.count(cycle);
        let (Ok(answer), Ok(review)) =
            (self.file_name(cycle, &cycle.answer, n), self.file_name(cycle, &cycle.review, n))
        else {
            return Ok(false);
        };
        let answers = Source::Answers { answer, review };
        Ok(n > 0 && self.world.look(&answers)?.is_true())
    }

    /// Returns the question what reviews found, or only those of the cycle that is not over.
    pub(super) fn findings_source(&self, is_of_cycle: bool) -> Source {
        let cycle = self.unfinished();
        Source::Findings {
            files: cycle.and_then(|cycle| self.review_files(cycle).ok()),
            count: cycle.map_or(0, |cycle| self.count(cycle)),
            is_of_cycle,
        }
    }
}
