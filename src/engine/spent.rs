//! What the reviews of an instance cost, and which budget is used up.

use minijinja::value::Value;
use serde::Deserialize;
use serde_json::Value as Json;

use super::fault::Fault;
use crate::chart::Chart;
use crate::chart::model::setting_in;
use crate::expr::source::Text;
use crate::reviewer::finding::Found;

/// The part of a review's line in the journal that decisions depend on.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct PastReview {
    pub instance: String,
    pub cycle: String,
    pub n: i64,
    pub file: String,
    /// In millionths of a dollar, if the reviewer said so.
    pub cost: Option<u64>,
    pub verdict: Option<String>,
    pub error: Option<String>,
    /// What it saw.
    #[serde(default)]
    pub seen: Option<u64>,
    /// What it found.
    #[serde(flatten)]
    pub found: Found,
}

/// Returns `spent`. `setting` gives the value of a setting, and `runs` those that count, oldest first: without a budget
/// nobody asks for them. `cycle` is the running one, `files` the name of its reviews, `count` how many of them count.
pub fn spent(
    chart: &Chart,
    setting: impl Fn(&str) -> Result<Json, Fault>,
    runs: impl FnOnce() -> Vec<PastReview>,
    (cycle, files, count): (Option<&str>, &str, i64),
) -> Result<Value, Fault> {
    let budget = |text: Option<&Text>| -> Result<Option<u64>, Fault> {
        let name = text.and_then(setting_in);
        let Some(name) = name else { return Ok(None) };
        let dollars = setting(name)?.as_u64();
        Ok(dollars.map(|dollars| dollars.saturating_mul(1_000_000)))
    };
    let budgets = chart.budget.parts();
    let budgets = budgets.map(|(name, text)| (name, budget(text)));
    let mut over = None;
    let mut prices = [None, None];
    if budgets
        .iter()
        .any(|(_, budget)| !matches!(budget, Ok(None)))
    {
        let runs = runs();
        let of_cycle = of_cycle(
            &runs,
            |run| (&run.cycle, run.n, &run.file),
            cycle.unwrap_or_default(),
            files,
            count,
        );
        let sums = [Sum::of(of_cycle.into_iter()), Sum::of(runs.iter())];
        for (((name, budget), sum), price) in budgets.into_iter().zip(sums).zip(&mut prices) {
            if budget?.is_some_and(|budget| sum.known >= budget) {
                over = over.or(Some(name));
            }
            *price = Some(sum.price());
        }
    }
    let [of_cycle, of_instance] = prices;
    Ok(Value::from_pairs([
        ("cycle", Value::from(of_cycle)),
        ("instance", Value::from(of_instance)),
        ("over", Value::from(over)),
    ]))
}

/// A sum of costs, of which some may be unknown.
#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    /// In millionths of a dollar.
    known: u64,
    unknown: usize,
    runs: usize,
}

impl Sum {
    fn of<'r>(runs: impl Iterator<Item = &'r PastReview>) -> Self {
        let mut sum = Self::default();
        for run in runs {
            sum.runs += 1;
            sum.known = sum.known.saturating_add(run.cost.unwrap_or(0));
            sum.unknown += usize::from(run.cost.is_none());
        }
        sum
    }

    /// Returns it as a person reads it.
    fn price(self) -> String {
        match self.runs {
            0 => crate::page::dollars(0),
            runs => crate::page::price(self.known, self.unknown, runs),
        }
    }
}

/// Returns the runs of the running cycle, newest first: those for its review files since it started over. `key` gives a run's
/// cycle, number and file; `files` is the name of the cycle's files with `{n}` for the number, and `count` is how many of
/// its reviews count.
pub fn of_cycle<'r, R>(
    runs: &'r [R],
    key: impl Fn(&R) -> (&str, i64, &str),
    cycle: &str,
    files: &str,
    count: i64,
) -> Vec<&'r R> {
    let mut last = count.saturating_add(1);
    let runs = runs.iter().rev().filter(|run| key(run).0 == cycle);
    runs.take_while(|run| {
        let (_, n, file) = key(run);
        let is_of_it = n <= last && file == files.replace("{n}", &n.to_string());
        last = n;
        is_of_it
    })
    .collect()
}
