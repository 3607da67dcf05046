//! Everything that `taskie status` shows, as data and as its documented JSON.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::figures::{Figures, Totals};
use super::finished::finished;
use super::progress::{Progress, progress, progress_json};
use super::turn::{Next, Turn, Waits};
use crate::chart::{Chart, Cycle};
use crate::disk;
use crate::engine::context::{self, Context};
use crate::engine::decision::{Answer, Gates, Invocation, Step};
use crate::engine::fault::Fault;
use crate::engine::inspect::{self, Inspector, Standing};
use crate::engine::spent::of_cycle;
use crate::page;
use crate::process::log;
use crate::project::find;
use crate::project::seen;
use crate::project::state_file::Reading;
use crate::run::place::Place;
use crate::store::journal::{self, Gate, Line};
use crate::store::running::Running;
use crate::text::{self, full_stop};

/// The situation of one instance.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) chart: Arc<Chart>,
    pub(crate) name: String,
    /// The instance's directory, from the project's root.
    pub(crate) dir: String,
    /// There is a `state.json`.
    pub(crate) is_started: bool,
    /// It can be used.
    pub(crate) is_usable: bool,
    pub(crate) stage: Option<String>,
    pub(crate) is_final: bool,
    pub(crate) context: Context,
    pub(crate) cycle: Option<CycleFacts>,
    pub(crate) reviews: Vec<ReviewFacts>,
    /// The progress of the tables with finished rows.
    pub(crate) progress: Vec<Progress>,
    /// The totals of all reviews that this machine ran.
    pub(crate) totals: Totals,
    pub(crate) running: Option<Running>,
    /// The last line of the running reviewer's log.
    pub(crate) last_line: Option<String>,
    /// The names of the other instances.
    pub(crate) others: Vec<String>,
    /// The session that drives the instance.
    pub(crate) owner: Option<String>,
    pub(crate) next: Option<Next>,
    /// The sentence that ends the instance, if it is at its end.
    pub(crate) finished: Option<String>,
    /// The fields that the cycles count, limit and end with, and that say who reviews.
    pub(crate) of_cycles: Vec<String>,
    pub(crate) stop: Stop,
    pub(crate) waits: Waits,
    /// Why the review that is due cannot run.
    pub(crate) obstacle: Option<String>,
    pub(crate) warnings: Vec<String>,
}

/// The running cycle.
#[derive(Debug)]
pub(crate) struct CycleFacts {
    pub(crate) id: String,
    pub(crate) standing: Standing,
    /// Who does the next review.
    pub(crate) by: Option<String>,
    /// How near it is to its end, in words.
    pub(crate) streak: String,
    /// What its reviews came to so far.
    pub(crate) figures: Figures,
}

/// A review on disk.
#[derive(Debug, Serialize)]
pub(crate) struct ReviewFacts {
    pub(crate) cycle: String,
    /// What was reviewed: the stem of the file's name.
    #[serde(rename = "of")]
    pub(crate) base: String,
    pub(crate) n: u64,
    pub(crate) file: String,
    /// The verdict, if it is known for this version of the file.
    pub(crate) verdict: Option<String>,
    /// The verdict that its file states, if this machine knows no other.
    pub(crate) stated: Option<String>,
    pub(crate) by: Option<String>,
    pub(crate) seconds: Option<u64>,
    #[serde(rename = "cost_usd", serialize_with = "page::in_usd")]
    pub(crate) cost: Option<u64>,
    /// What it found, in words.
    pub(crate) found: String,
    /// The file of its answer, below the instance's directory.
    #[serde(skip)]
    pub(crate) answer: String,
    #[serde(rename = "answered")]
    pub(crate) is_answered: bool,
    /// The files that it was about and that have changed since, if it is the last one about them and was content.
    pub(crate) changed: Vec<String>,
    /// It is the last one of a cycle that was left without having passed.
    #[serde(rename = "skipped")]
    pub(crate) is_skipped: bool,
}

/// What the hook does at the next stop.
#[derive(Debug, Serialize)]
pub(crate) struct Stop {
    pub(crate) does: Does,
    pub(crate) text: String,
}

/// The kinds of answer to a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Does {
    /// A review runs.
    Review,
    /// The stop is blocked.
    Block,
    /// It is allowed.
    Allow,
}

impl ReviewFacts {
    fn is_about_the_same(&self, other: &Self) -> bool {
        self.cycle == other.cycle && self.base == other.base
    }
}

impl CycleFacts {
    /// Gathers the facts about the running `cycle`; `by` is who does its next review.
    fn of(
        chart: &Chart,
        view: &Inspector,
        cycle: &Cycle,
        by: Option<String>,
        journal: &[journal::Review],
    ) -> Self {
        let fields = || {
            let fields = view.fields_in(&cycle.exit.0).into_iter();
            let fields = fields
                .map(|(name, value)| format!("{} {}", name.replace('_', " "), in_words(&value)));
            fields.collect::<Vec<_>>().join(", ")
        };
        let standing = view.standing(cycle);
        let files = standing.files.as_deref().unwrap_or_default();
        let runs = of_cycle(
            journal,
            |run| (&run.cycle, run.n, &run.file, run.error.is_none()),
            &cycle.id,
            files,
            standing.count,
        );
        Self {
            id: cycle.id.clone(),
            figures: Figures::of(chart, runs.into_iter()),
            standing,
            // A setting that cannot be read is reported where it is used.
            streak: view.streak(cycle).ok().flatten().unwrap_or_else(fields),
            by,
        }
    }
}

impl Stop {
    fn allowed(why: &str) -> Self {
        Self {
            does: Does::Allow,
            text: format!("it is allowed: {why}"),
        }
    }
}

impl Facts {
    /// Gathers the facts about the instance at `place`, for this session.
    pub(crate) fn gather(place: &Place, session: Option<&str>) -> Self {
        let chart = &place.chart;
        let snapshot = place.snapshot();
        let world = snapshot.as_world();
        // What cannot be read hides nothing else.
        let mut unread: Vec<String> = Vec::new();
        let journal = place.journal();
        let (lines, journal) = (journal.read(), journal.reviews());
        let Turn {
            waits,
            running,
            owner,
            is_anothers,
            is_unattended,
            next,
            foreseen,
        } = Turn::of(place, &snapshot, &lines, session);
        let next = known(next, &mut unread).flatten();
        let obstacle = foreseen
            .as_ref()
            .ok()
            .and_then(|stop| Some(stop.failure()?.to_owned()));
        let view = Inspector::new(chart, &world);
        let context = snapshot.context().clone();
        let phase = context::text(&context, Some(&chart.state));
        let is_final = phase.is_some_and(|phase| chart.is_final(phase));
        let running_cycle = view.running();
        let stage = stage(chart, running_cycle, phase);
        let (invoke, by) = known(reviewer(chart, &view), &mut unread).unwrap_or_default();
        let cycle =
            running_cycle.map(|cycle| CycleFacts::of(chart, &view, cycle, by.clone(), &journal));
        let is_usable = !matches!(snapshot.state, Reading::Broken(_));
        let due = match &foreseen {
            Ok(Step::Invoke(due)) => Some(&due.gates),
            _ => None,
        };
        let failed_gate = due.and_then(|due| failed_gate(&lines, due));
        let stop = match () {
            () if running.is_some() => Stop::allowed("a review is already running"),
            () if is_anothers => Stop::allowed(&format!(
                "this session does not drive the {}",
                chart.scope.noun
            )),
            () => match foreseen {
                Ok(stop) if is_unattended => Stop::allowed(&format!(
                    "no session drives the {}; once one has taken it up, {}",
                    chart.scope.noun,
                    what(place, stop, by.as_deref()).text
                )),
                Ok(stop) => what(place, stop, by.as_deref()),
                Err(why) => Stop::allowed(&why.to_string()),
            },
        };
        let last_line = running
            .as_ref()
            .filter(|running| !running.log.is_empty())
            .and_then(|running| log::last_line(&place.dir().join(&running.log)));
        let limits = place.unfit_settings();
        let names = known(snapshot.names(), &mut unread).unwrap_or_default();
        Self {
            name: place.instance.name.clone(),
            dir: place.instance.dir.display().to_string(),
            is_usable,
            is_started: !matches!(snapshot.state, Reading::Missing),
            stage,
            is_final,
            cycle,
            reviews: on_disk(place, names, &lines, &journal),
            progress: progress(chart, &snapshot.as_world()),
            totals: Totals::of(chart, &journal),
            running,
            last_line,
            others: others(place),
            owner,
            next,
            stop,
            waits,
            obstacle,
            warnings: (snapshot.warnings().into_iter())
                .chain(unread)
                .chain(running_cycle.and_then(|_| failures(&journal)))
                .chain(failed_gate)
                .chain(limits)
                .collect(),
            of_cycles: of_cycles(chart, &view, invoke.as_deref()),
            finished: is_final.then(|| finished(place)),
            context,
            chart: Arc::clone(chart),
        }
    }

    /// Returns the current phase.
    pub(crate) fn phase(&self) -> Option<&str> {
        context::text(&self.context, Some(&self.chart.state))
    }

    /// Returns the phase that is due.
    pub(crate) fn due(&self) -> Option<&str> {
        context::text(&self.context, self.chart.next.as_ref())
    }

    /// Returns the reviews of each thing that was reviewed, and the first one of them.
    pub(crate) fn groups(&self) -> Vec<(&ReviewFacts, &[ReviewFacts])> {
        let groups = self.reviews.chunk_by(ReviewFacts::is_about_the_same);
        let groups = groups.filter_map(|group| Some((group.first()?, group)));
        groups.collect()
    }

    /// Returns the facts as JSON, for programs; without the version.
    pub(crate) fn to_json(&self) -> Json {
        let cycle = self.cycle.as_ref().map(|cycle| {
            json!({
                "id": cycle.id, "of": cycle.standing.base, "count": cycle.standing.count,
                "limit": cycle.standing.limit, "due": cycle.standing.is_due, "by": cycle.by,
                "streak": cycle.streak, "spent": cycle.figures,
            })
        });
        let running = self.running.as_ref().map(|running| {
            json!({
                "cycle": running.cycle, "n": running.n, "file": format!("{}/{}", self.dir, running.file),
                "by": running.by, "started": running.started, "seconds": running.elapsed().as_secs(),
                "timeout": running.timeout, "gate": running.gate, "last_line": self.last_line,
            })
        });
        let next = self.next.as_ref();
        let next = next.map(|next| json!({ "action": next.action, "why": next.why }));
        json!({
            "chart": self.chart.id, self.chart.scope.noun.as_str(): self.name, "directory": self.dir,
            "started": self.is_started, "usable": self.is_usable, "stage": self.stage, "final": self.is_final,
            "phase": self.phase(), "due": self.due(), "owner": self.owner, "cycle": cycle,
            "reviews": self.reviews, "spent": self.totals.all,
            "progress": progress_json(&self.progress), "running": running, "others": self.others,
            "next": next, "stop": self.stop, "waits_for": self.waits, "context": self.context,
            "warnings": self.warnings,
        })
    }
}

/// Returns what is known, and adds the reason if it is not.
fn known<T>(result: Result<T, Fault>, unread: &mut Vec<String>) -> Option<T> {
    let kept = result.map_err(|fault| {
        let why = fault.to_string();
        if !unread.contains(&why) {
            unread.push(why);
        }
    });
    kept.ok()
}

/// Returns the process that does reviews, and the reviewer.
fn reviewer(chart: &Chart, view: &Inspector) -> Result<(Option<String>, Option<String>), Fault> {
    let mut rules = chart.on.values().flatten();
    let Some(invoke) = rules.find_map(|rule| rule.invoke.as_deref()) else {
        return Ok((None, None));
    };
    let invoke = view.invocation(invoke)?;
    let by = view.by(&invoke)?;
    Ok((Some(invoke), by))
}

/// Returns a field's value as a person reads it.
pub(crate) fn in_words(value: &Json) -> String {
    match value {
        Json::Bool(true) => "yes".to_owned(),
        Json::Bool(false) => "no".to_owned(),
        other => text::in_words(other),
    }
}

/// Returns the context fields that belong to the cycles, for which there are other words.
fn of_cycles(chart: &Chart, view: &Inspector, invoke: Option<&str>) -> Vec<String> {
    let by = invoke.and_then(|invoke| chart.invoke.get(invoke)?.by.as_ref());
    let by = by.map(|by| view.fields_in(&by.0)).unwrap_or_default();
    let cycles = chart.cycles.values().flat_map(|cycle| {
        let ends = view.fields_in(&cycle.exit.0).into_iter();
        [cycle.count.clone(), cycle.limit.clone()]
            .into_iter()
            .chain(ends.map(|(name, _)| name))
    });
    cycles.chain(by.into_iter().map(|(name, _)| name)).collect()
}

/// Returns the names of the other instances. What another session does is its own.
fn others(place: &Place) -> Vec<String> {
    let scope = &place.chart.scope;
    if scope.is_per_session() {
        return Vec::new();
    }
    let mut names = find::names(&place.root, scope).unwrap_or_default();
    names.retain(|name| *name != place.instance.name);
    names
}

/// Says how many reviews have failed since the last one that ended, if any, and why the last of them did.
fn failures(journal: &[journal::Review]) -> Option<String> {
    let errors = journal.iter().rev().map_while(|ended| ended.error.as_ref());
    let errors: Vec<&String> = errors.collect();
    let why = errors.first()?;
    let failed = match errors.len() {
        1 => "The last review failed".to_owned(),
        many => format!("The last {many} reviews failed"),
    };
    Some(format!("{failed}: {why}{}", full_stop(why)))
}

/// Says how many times in a row the same gate has failed, if more than once, and why; only one of those that are `due`.
fn failed_gate(lines: &[Line], due: &Gates) -> Option<String> {
    let gates = lines.iter().rev().filter_map(|line| match line {
        Line::Gate(gate) => Some(gate),
        Line::Decision(_) | Line::Review(_) => None,
    });
    let mut gates = gates.peekable();
    let is_due = |gate: &&&Gate| due.commands.contains(&gate.command);
    let last = *gates.peek().filter(is_due)?;
    let why = last.error.as_ref()?;
    let is_same = |gate: &&Gate| gate.error.is_some() && gate.command == last.command;
    let times = gates.take_while(is_same).count();
    (times > 1).then(|| {
        format!(
            "The gate `{}` has failed {times} times in a row: it {why}{}",
            last.command,
            full_stop(why)
        )
    })
}

/// Returns the stage that an instance is in. Between two cycles, the next phase says more than the review that has ended.
fn stage(chart: &Chart, running: Option<&Cycle>, phase: Option<&str>) -> Option<String> {
    let of_phase = || chart.stage(phase?);
    let of_cycle = || {
        let posted = || {
            chart
                .cycles
                .values()
                .find(|cycle| Some(cycle.post.as_str()) == phase)
        };
        chart.cycles.get(phase?).or_else(posted)?.stage.as_ref()
    };
    let stage = running.and_then(|cycle| cycle.stage.as_ref());
    stage.or_else(of_phase).or_else(of_cycle).cloned()
}

/// Returns the reviews on disk, with everything that this machine knows about them; `names` are sorted.
fn on_disk(
    place: &Place,
    names: &[String],
    lines: &[Line],
    journal: &[journal::Review],
) -> Vec<ReviewFacts> {
    let skipped = skipped(&place.chart, lines);
    let files = inspect::reviews(&place.chart, names.iter().map(String::as_str));
    let dir = place.dir();
    let with_ending = |file: inspect::ReviewFile| {
        let size = std::fs::metadata(dir.join(&file.name))
            .map(|meta| meta.len())
            .ok();
        // The last run that wrote a file of this name, unless the file has changed since.
        let ended = journal
            .iter()
            .rfind(|ended| ended.file == file.name && ended.error.is_none())
            .filter(|ended| Some(ended.bytes) == size);
        let verdict = ended.and_then(|ended| ended.verdict.clone());
        let stated = match verdict {
            Some(_) => None,
            None => disk::read(&place.root, &dir.join(&file.name))
                .ok()
                .flatten()
                .and_then(|text| stated(&place.chart, &String::from_utf8_lossy(&text))),
        };
        let review = ReviewFacts {
            verdict,
            stated,
            by: ended.and_then(|ended| ended.by.clone()),
            seconds: ended.map(|ended| ended.seconds),
            cost: ended.and_then(|ended| ended.cost),
            found: ended
                .map(|ended| ended.found.in_words(&place.chart.findings.severities))
                .unwrap_or_default(),
            answer: file.answer.clone(),
            is_answered: names.binary_search(&file.answer).is_ok(),
            is_skipped: skipped.contains(&*file.name),
            file: format!("{}/{}", place.instance.dir.display(), file.name),
            cycle: file.cycle,
            base: file.base,
            n: file.n,
            changed: Vec::new(),
        };
        (review, ended)
    };
    let mut reviews: Vec<_> = files.into_iter().map(with_ending).collect();
    for group in reviews.chunk_by_mut(|(a, _), (b, _)| a.is_about_the_same(b)) {
        if let Some((last, Some(ended))) = group.last_mut()
            && let Some(verdict) = &last.verdict
            && place.chart.is_best_verdict(verdict)
        {
            last.changed = seen::changed(&place.chart, &place.root, &dir, &ended.subject);
        }
    }
    reviews.into_iter().map(|(review, _)| review).collect()
}

/// Returns the files of the reviews after which a cycle was left that they had not ended.
fn skipped<'l>(chart: &Chart, lines: &'l [Line]) -> HashSet<&'l str> {
    let mut last = None;
    let ends = |line: &'l Line| match line {
        Line::Review(review) if review.error.is_none() => {
            last = Some(&*review.file);
            None
        }
        Line::Decision(decided) if decided.fired().any(|tried| chart.advances(&tried.rule)) => {
            last.take().filter(|_| decided.review.is_none())
        }
        _ => None,
    };
    lines.iter().filter_map(ends).collect()
}

/// Returns the verdict that the text of a review states: the only one on its last line about a verdict, or on the line
/// after that.
fn stated(chart: &Chart, text: &str) -> Option<String> {
    let known = chart.verdicts();
    let in_line = |line: &str| {
        let says = |verdict: &&&str| {
            let mut words = line.split(|sign: char| !sign.is_alphanumeric());
            words.any(|word| word.eq_ignore_ascii_case(verdict))
        };
        let mut found = known.iter().filter(says);
        // Both words on one line are a choice, not a verdict.
        found.next().filter(|_| found.next().is_none()).copied()
    };
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let is_about_it = |line: &&str| line.to_lowercase().contains("verdict");
    let at = lines.iter().rposition(is_about_it)?;
    let next = lines.get(at + 1).copied().unwrap_or_default();
    in_line(lines[at])
        .or_else(|| in_line(next))
        .map(str::to_owned)
}

/// Returns in one line what the hook would do.
fn what(place: &Place, step: Step, by: Option<&str>) -> Stop {
    let (does, text) = match step {
        Step::Invoke(invocation) => (Does::Review, runs(place, &invocation, by)),
        Step::Done(decision) => {
            let said = decision.messages.join(" ");
            match decision.answer {
                Answer::Block(reason) => (Does::Block, format!("the agent is sent back: {reason}")),
                _ if said.is_empty() => (Does::Allow, "it is allowed".to_owned()),
                _ => (Does::Allow, format!("it is allowed: {said}")),
            }
        }
    };
    Stop { does, text }
}

fn runs(place: &Place, invocation: &Invocation, by: Option<&str>) -> String {
    let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
    let gates = match invocation.gates.commands.as_slice() {
        [] => String::new(),
        commands => format!("after the gates (`{}`), ", commands.join("`, `")),
    };
    format!(
        "{gates}{} {}{by} runs and writes {}",
        invocation.cycle,
        invocation.n,
        place.instance.dir.join(&invocation.file).display()
    )
}
