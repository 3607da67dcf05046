//! The reviews that an instance has had: which of them count for a cycle, what they cost, and which budget is used up.

use std::time::SystemTime;

use minijinja::value::Value;
use serde::{Deserialize, Serialize};

use crate::chart::Chart;
use crate::reviewer::finding::Found;

/// A dollar, in the unit of a run's cost.
const MILLION: f64 = 1e6;

/// When this many reviews of a cycle in a row have failed, the user decides.
const FAILURES: usize = 3;

const COST: &str = "cost";
const FAILED: &str = "failures";

/// The words of `spent.over`. The first one that is true counts.
pub const OVER: [&str; 2] = [COST, FAILED];

/// The part of a review's line in the journal that decisions depend on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PastReview {
    /// When it ended, in RFC 3339.
    #[serde(default)]
    pub at: String,
    pub instance: String,
    pub cycle: String,
    pub n: i64,
    /// The file that it had to write, in the instance's directory.
    pub file: String,
    /// The verdict, if there is one.
    pub verdict: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// Why it does not count although it has ended.
    #[serde(skip)]
    pub aside: Option<String>,
    /// How many seconds it took.
    #[serde(default)]
    pub seconds: u64,
    /// What it cost, in millionths of a dollar, if known.
    pub cost: Option<u64>,
    /// No reviewer was started.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_started: bool,
    /// Until when every other run would fail too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// What it saw, as a number: the same one means that nothing has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<u64>,
    /// What it found.
    #[serde(flatten)]
    pub found: Found,
}

impl PastReview {
    /// Returns why it was of no use, if that is so.
    pub fn failure(&self) -> Option<&str> {
        self.error.as_deref().or(self.aside.as_deref())
    }

    /// Returns when it ended, if that is known.
    pub fn ended(&self) -> Option<SystemTime> {
        humantime::parse_rfc3339(&self.at).ok()
    }
}

/// The runs of an instance, as budgets see them.
#[derive(Debug, Default)]
pub struct Past {
    /// Oldest first.
    pub runs: Vec<PastReview>,
    /// The last one is being decided on: it was allowed, whatever it cost.
    pub has_run: bool,
    /// When the user last asked for another try, in RFC 3339: failures before that do not count.
    pub retried: Option<String>,
}

/// Returns `spent`. `limit` is what the reviews may cost, in dollars. `of` is the running cycle, the name of its reviews, and
/// how many of them count.
pub fn spent(chart: &Chart, limit: Option<f64>, past: &Past, of: (&str, &str, i64)) -> Value {
    let retried = past.retried.as_deref();
    let runs = match past.runs.split_last() {
        Some((_, earlier)) if past.has_run => earlier,
        _ => &past.runs,
    };
    // A branch can live for years, and have many changes.
    let sum = |runs: &[PastReview]| match chart.scope.is_of_changes() {
        true => Sum::of(of_cycle(runs, of)),
        false => Sum::of(runs),
    };
    let over = |runs: &[PastReview]| {
        let is_spent = limit.is_some_and(|limit| sum(runs).known as f64 >= limit * MILLION);
        let have_failed = failed_of(runs, of, retried).len() >= FAILURES;
        // Where another try is asked for, one must be allowed.
        Value::from(is_spent.then_some(COST).or(have_failed.then_some(FAILED)))
    };
    let all = failed_of(&past.runs, of, retried);
    let why = all.first().and_then(|run| run.failure());
    Value::from_pairs([
        ("cost", Value::from(sum(runs).price())),
        ("failures", Value::from(all.len())),
        ("over", over(runs)),
        ("next", over(&past.runs)),
        ("why", Value::from(why.unwrap_or_default())),
    ])
}

/// Returns the last of these runs, newest first, that failed in a row: those of the cycle, and those of any cycle that were set
/// aside, because what sets them aside can also change the cycle. One that was not started is no loss, and one after which no
/// reviewer could run is not tried again at once.
pub(crate) fn failed<'r>(
    runs: impl Iterator<Item = &'r PastReview>,
    is_of_cycle: impl Fn(&PastReview) -> bool,
    retried: Option<&str>,
) -> Vec<&'r PastReview> {
    let has_failed =
        |run: &&PastReview| run.aside.is_some() || run.error.is_some() && is_of_cycle(run);
    let failed = runs.take_while(has_failed);
    let failed = failed.take_while(|run| retried.is_none_or(|retried| *run.at > *retried));
    failed.filter(|run| !run.not_started && run.until.is_none()).collect()
}

/// Returns the same of the running cycle, as [`of_cycle`] has it.
fn failed_of<'r>(
    runs: &'r [PastReview],
    of: (&str, &str, i64),
    retried: Option<&str>,
) -> Vec<&'r PastReview> {
    let of_cycle = of_cycle(runs, of);
    let is_of_cycle = |run: &PastReview| of_cycle.iter().any(|other| std::ptr::eq(*other, run));
    failed(runs.iter().rev(), is_of_cycle, retried)
}

/// The sums of a number of runs. Some of their costs may be unknown.
#[derive(Debug, Default, Clone, Copy)]
struct Sum {
    /// In millionths of a dollar.
    known: u64,
    unknown: usize,
    runs: usize,
}

impl Sum {
    fn of<'r>(runs: impl IntoIterator<Item = &'r PastReview>) -> Self {
        let mut sum = Self::default();
        for run in runs {
            sum.runs += usize::from(!run.not_started);
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

/// Returns the runs of the running cycle, newest first: those for its review files since it started over. `files` is
/// the name of the cycle's files with `{n}` for the number, and `count` is how many of its reviews count.
pub fn of_cycle<'r>(
    runs: impl IntoIterator<Item = &'r PastReview, IntoIter: DoubleEndedIterator>,
    (cycle, files, count): (&str, &str, i64),
) -> Vec<&'r PastReview> {
    let mut last = count.saturating_add(1);
    let runs = runs.into_iter().rev().filter(|run| run.cycle == cycle);
    runs.take_while(|run| {
        let n = run.n;
        // A first review that has succeeded is followed by a second one, unless its cycle was over after it.
        let is_over = n == 1 && last == 1 && run.failure().is_none();
        let is_of_it = n <= last && !is_over && run.file == files.replace("{n}", &n.to_string());
        last = n;
        is_of_it
    })
    .collect()
}
