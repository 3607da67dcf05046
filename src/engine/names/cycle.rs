//! The running cycle: its files, whether its review is due, and `cycle.*` in expressions.

use std::sync::Arc;

use indexmap::IndexSet;
use minijinja::value::Value;
use serde_json::Value as Json;

use super::{Looked, Names};
use crate::chart::Cycle;
use crate::chart::field::name_part;
use crate::chart::model::{Amount, FieldType};
use crate::engine::context;
use crate::engine::fault::Fault;
use crate::engine::world::Source;
use crate::expr::single_expression;
use crate::expr::source::{Expr, Literal};
use crate::files::pattern::Pattern;

impl Names {
    /// Returns the running cycle: the one that comes next, or whose post phase comes next.
    pub fn running(&self) -> Option<&Cycle> {
        self.cycle_of(&self.next())
    }

    /// Returns the cycle that is not over: the running one, or the one that the user can return to, because a field
    /// remembers one of its phases.
    pub fn unfinished(&self) -> Option<&Cycle> {
        let fields = self.chart.context.iter();
        let mut remembered = fields
            .filter(|(name, field)| field.kind == FieldType::Phase && **name != self.chart.state);
        self.running()
            .or_else(|| remembered.find_map(|(name, _)| self.cycle_of(&self.field(name))))
    }

    fn cycle_of(&self, phase: &Json) -> Option<&Cycle> {
        let phase = phase.as_str()?;
        let mut cycles = self.chart.cycles.values();
        cycles.find(|cycle| cycle.id == phase || cycle.post == phase)
    }

    /// Returns the phase that comes next.
    fn next(&self) -> Json {
        let field = self.chart.next.as_ref();
        field.map(|field| self.field(field)).unwrap_or_default()
    }

    /// Returns how many reviews the cycle has had; a null count is 0.
    pub fn count(&self, cycle: &Cycle) -> i64 {
        self.field(&cycle.count).as_i64().unwrap_or(0)
    }

    /// Returns a file name of the cycle with its holes filled: `base`, `n`, and context fields that are safe in a name.
    pub fn file_name(&self, cycle: &Cycle, pattern: &Pattern, n: i64) -> Result<String, Fault> {
        self.file_named(cycle, pattern, &n.to_string())
    }

    /// Returns the name of all reviews of the cycle, in which `{n}` stands for the number.
    pub fn review_files(&self, cycle: &Cycle) -> Result<String, Fault> {
        self.file_named(cycle, &cycle.review, "{n}")
    }

    fn file_named(&self, cycle: &Cycle, pattern: &Pattern, n: &str) -> Result<String, Fault> {
        pattern.render(|hole| match hole {
            "base" => cycle.base.render(|hole| self.slug(hole)),
            "n" => Ok(n.to_owned()),
            other => self.slug(other),
        })
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
                    "`{field}` is {other}, which cannot be part of a file name (only letters, digits, _ and -)"
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
                let place = format_args!("cycles.{}.empty", cycle.id);
                let why = cycle.empty.as_ref();
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

    /// Returns how many reviews in a row may change nothing; 0: any number.
    fn rounds(self: &Arc<Self>, cycle: &Cycle) -> Result<usize, Fault> {
        let rounds = match &cycle.stall {
            None => return Ok(0),
            Some(Amount::Fixed(rounds)) => Value::from(*rounds),
            Some(Amount::Setting(text)) => {
                let place = format_args!("cycles.{}.stall", cycle.id);
                self.literal(place, &Literal::Text(text.clone()), &self.root())?
            }
        };
        let number = rounds.as_usize();
        number.ok_or_else(|| {
            let place = format_args!("cycles.{}.stall", cycle.id);
            Fault::World(format!("{place} is {rounds}, not a number of reviews"))
        })
    }

    /// Returns the index of the first open advance target of `cycle`.
    pub fn open_target(self: &Arc<Self>, cycle: &Cycle) -> Result<usize, Fault> {
        for (index, advance) in cycle.advance.iter().enumerate() {
            let place = format_args!("cycles.{}.advance[{index}].guard", cycle.id);
            if self.holds(place, advance.guard.as_ref(), &self.root())? {
                return Ok(index);
            }
        }
        Err(Fault::NowhereToAdvance {
            cycle: cycle.id.clone(),
        })
    }

    /// Returns whether the cycle's next review is due: it comes next, or its answer already exists.
    pub fn is_due(&self, cycle: &Cycle) -> Result<bool, Fault> {
        Ok(self.next().as_str() == Some(&cycle.id) || self.is_answered(cycle)?)
    }

    /// Returns whether the answer to the last review is on disk, and not older than the review.
    pub fn is_answered(&self, cycle: &Cycle) -> Result<bool, Fault> {
        let n = self.count(cycle);
        let (Ok(answer), Ok(review)) = (
            self.file_name(cycle, &cycle.answer, n),
            self.file_name(cycle, &cycle.review, n),
        ) else {
            return Ok(false);
        };
        let answers = Source::Answers { answer, review };
        Ok(n > 0 && self.world.look(&answers)?.is_true())
    }

    /// Returns the question what reviews cost.
    pub(super) fn spent(&self) -> Source {
        let cycle = self.running();
        Source::Spent {
            cycle: cycle.map(|cycle| cycle.id.clone()),
            files: cycle
                .and_then(|cycle| self.review_files(cycle).ok())
                .unwrap_or_default(),
            count: cycle.map_or(0, |cycle| self.count(cycle)),
        }
    }

    /// Returns the question what reviews found, or only those of the cycle that is not over.
    pub(super) fn all_findings(&self, is_of_cycle: bool) -> Source {
        let cycle = self.unfinished();
        Source::Findings {
            files: cycle.and_then(|cycle| self.review_files(cycle).ok()),
            count: cycle.map_or(0, |cycle| self.count(cycle)),
            is_of_cycle,
        }
    }

    /// Looks up `cycle.KEY`.
    pub(super) fn cycle_value(self: &Arc<Self>, key: &str) -> Looked {
        let Some(cycle) = self.running() else {
            return self.without_cycle(key);
        };
        let n = self.count(cycle);
        let holds = |expr: Option<&Expr>| {
            let place = format_args!("cycles.{}.{key}", cycle.id);
            self.holds(place, expr, &self.root()).map(Value::from)
        };
        Some(match key {
            "id" => Ok(Value::from(cycle.id.as_str())),
            "post" => Ok(Value::from(cycle.post.as_str())),
            "stage" => Ok(Value::from(cycle.stage.clone())),
            "resume" => Ok(Value::from(cycle.resume.clone())),
            "n" => Ok(Value::from(n + 1)),
            "limit" => Ok(context::to_value(&self.field(&cycle.limit))),
            "due" => self.is_due(cycle).map(Value::from),
            "answered" => self.is_answered(cycle).map(Value::from),
            "owed" => {
                let is_post = self.next().as_str() == Some(&cycle.post);
                let is_answered = self.is_answered(cycle);
                is_answered.map(|is_answered| Value::from(is_post && !is_answered))
            }
            "stalled" => self.nested("cycle.stalled", || {
                let rounds = self.rounds(cycle)?;
                let (1.., Ok(subject)) = (rounds, self.subject(cycle)) else {
                    return Ok(Value::from(false));
                };
                self.world.look(&Source::Stalled {
                    cycle: cycle.id.clone(),
                    files: self.review_files(cycle)?,
                    count: n,
                    subject,
                    rounds,
                })
            }),
            "findings" => self.world.look(&self.all_findings(true)),
            "exit" => self.nested("cycle.exit", || holds(Some(&cycle.exit))),
            "ready" => self.nested("cycle.ready", || holds(cycle.ready.as_ref())),
            "next" => self.nested("cycle.next", || {
                let index = self.open_target(cycle)?;
                Ok(Value::from(cycle.advance[index].target.as_str()))
            }),
            "review" => self.file_path(cycle, &cycle.review, n + 1),
            "last" => self.file_path(cycle, &cycle.review, n).and_then(|review| {
                let answer = self.file_path(cycle, &cycle.answer, n)?;
                Ok(Value::from_pairs([("review", review), ("answer", answer)]))
            }),
            "subject" => self.nested("cycle.subject", || {
                let files = self.subject(cycle)?;
                let paths = files.iter().map(|file| self.path(file));
                paths.collect::<Result<Vec<_>, _>>().map(Value::from)
            }),
            "text" => self.nested("cycle.text", || {
                let texts = cycle.text.iter().map(|(name, text)| {
                    let place = format_args!("cycles.{}.text", cycle.id);
                    let text = self.text(place, text, &self.root())?;
                    Ok((name.as_str(), Value::from(text)))
                });
                texts.collect::<Result<Vec<_>, _>>().map(Value::from_pairs)
            }),
            _ => return None,
        })
    }

    /// Looks up `cycle.KEY` while no cycle is running. A let may ask whether one is running; a text that uses the
    /// data of a cycle needs a running one.
    fn without_cycle(&self, key: &str) -> Looked {
        let value = match key {
            "due" | "owed" | "answered" | "exit" | "ready" | "stalled" => {
                return Some(Ok(Value::from(false)));
            }
            "n" | "limit" => Value::from(0),
            "id" | "post" | "resume" | "last" | "next" | "review" | "stage" => Value::from(()),
            "text" | "subject" | "findings" => Value::from(Vec::<Value>::new()),
            _ => return None,
        };
        let moving = self.moving();
        let is_needed = moving.preview.is_some() && moving.making.is_empty();
        let why = || format!("no cycle is running, so there is no `cycle.{key}`");
        Some(match is_needed {
            true => Err(Fault::World(why())),
            false => Ok(value),
        })
    }
}
