//! Everything that `taskie status` shows, as data and as its documented JSON.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::figures::Figures;
use super::finished::finished;
use super::progress::{Progress, progress};
use super::reviews::{ReviewFacts, failures, on_disk};
use super::stop::Stop;
use super::turn::{Next, Turn, Waits};
use crate::chart::Chart;
use crate::engine::context::{self, Context};
use crate::engine::fault::Fault;
use crate::engine::inspect::{Inspector, Standing};
use crate::hash::IndexMap;
use crate::project::state_file::Reading;
use crate::run::foresee::obstacle_at_stop;
use crate::run::place::Place;
use crate::store::facts::Running;
use crate::store::journal::{GateLine, Line};

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
    pub(crate) progress: IndexMap<String, Progress>,
    /// The figures of all reviews that this machine ran.
    pub(crate) spent: Figures,
    pub(crate) running: Option<Running>,
    /// The session that drives the instance.
    pub(crate) driver: Option<String>,
    pub(crate) next: Option<Next>,
    /// Why it is unknown what comes next.
    pub(crate) unknown: Option<String>,
    /// The sentence that ends the instance, if it is at its end.
    pub(crate) finished: Option<String>,
    pub(crate) stop: Stop,
    pub(crate) waits: Waits,
    /// What is in the way of the next stop, as a sentence.
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
    /// How near it is to its end, in words; empty if the chart does not say.
    pub(crate) streak: String,
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
        let (lines, journal) = (journal.read(), place.journal().reviews());
        let Turn { waits, running, driver, is_unattended, next, elsewhere, foreseen } =
            Turn::of(place, &snapshot, session);
        let next = known(next, &mut unread).flatten();
        let unknown = unread.first().cloned();
        let obstacle = obstacle_at_stop(&foreseen);
        let view = Inspector::new(chart, &world);
        let context = snapshot.context().clone();
        let phase = context::text(&context, Some(&chart.state));
        let is_final = context::is_over(chart, &context);
        let running_cycle = view.running();
        // Between two cycles, the next phase says more than the review that has ended.
        let stage = running_cycle.and_then(|cycle| cycle.stage.as_ref());
        let stage = stage.or_else(|| chart.stage(phase?)).cloned();
        let cycle = running_cycle.map(|cycle| {
            let by = known(view.next_reviewer(), &mut unread).map(|(_, by)| by);
            CycleFacts {
                id: cycle.id.clone(),
                standing: view.standing(cycle),
                by: by.filter(|by| !by.is_empty()),
                // A setting that cannot be read is reported where it is used.
                streak: view.streak(cycle).ok().flatten().unwrap_or_default(),
            }
        });
        let is_usable = !matches!(snapshot.state, Reading::Broken(_));
        let is_of_branch = chart.scope.is_of_changes() && !place.is_own();
        let stop = match &running {
            Some(_) => Stop::allowed("a review is already running"),
            None if is_of_branch || elsewhere.is_some() => Stop::elsewhere(chart.scope.noun()),
            None => Stop::foreseen(place, foreseen, is_unattended),
        };
        let limits = place.unfit_settings();
        let known_facts = place.journal().facts();
        let on_disk =
            on_disk(place, known(snapshot.names(), &mut unread).unwrap_or_default(), &journal);
        let unstartable = obstacle.clone().filter(|_| waits == Waits::Stop);
        Self {
            name: place.instance.name.clone(),
            dir: place.instance.dir.display().to_string(),
            is_usable,
            is_started: !matches!(snapshot.state, Reading::Missing),
            stage,
            is_final,
            cycle,
            reviews: on_disk,
            progress: progress(chart, &snapshot.as_world()),
            spent: Figures::of(journal.iter().map(|review| &review.run)),
            running,
            driver,
            next,
            unknown,
            stop,
            waits,
            obstacle,
            warnings: (snapshot.warnings().into_iter())
                .chain(unread)
                .chain(
                    running_cycle
                        .and_then(|it| failures(&journal, &it.id, known_facts.retried.as_deref())),
                )
                .chain(known_facts.noted.as_deref().map(|pause| {
                    let call = chart.call(pause);
                    format!("`{call}` takes effect when the review that is running has ended")
                }))
                .chain(running_cycle.and_then(|it| failed_gate(&lines, &it.id)))
                .chain(unstartable)
                .chain(limits)
                .collect(),
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
                "streak": cycle.streak,
            })
        });
        let running = self.running.as_ref().map(|running| {
            json!({
                "cycle": running.cycle, "n": running.n, "file": format!("{}/{}", self.dir, running.file),
                "by": running.by, "started": running.started, "seconds": running.elapsed().as_secs(),
                "timeout": running.timeout, "gate": running.gate,
            })
        });
        let next = self.next.as_ref();
        let next = next.map(|next| json!({ "action": next.action, "why": next.why }));
        json!({
            "chart": self.chart.id, self.chart.scope.noun(): self.name, "directory": self.dir,
            "started": self.is_started, "usable": self.is_usable, "stage": self.stage, "final": self.is_final,
            "phase": self.phase(), "due": self.due(), "driver": self.driver, "cycle": cycle,
            "reviews": self.reviews, "spent": self.spent,
            "progress": self.progress, "running": running,
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

/// Says how the gate failed that has run last for this cycle, if no reviewer has run since.
fn failed_gate(lines: &[Line], cycle: &str) -> Option<String> {
    let last = lines.iter().rfind(|line| !matches!(line, Line::Decision(_)))?;
    match last {
        Line::Gate(GateLine { command, error: Some(why), cycle: of, .. }) if of == cycle => {
            Some(format!("the gate `{command}` {why}"))
        }
        _ => None,
    }
}
