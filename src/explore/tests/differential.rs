//! Charts made at random, walked at random: what the checker claims must be so in every world.
//!
//! The worlds know nothing of the values that the checker tries: files, tables, events, options and settings are drawn
//! from pools of their own and are decided by `decide` as the hook calls it. A claim that a walk contradicts fails the
//! test, with the chart and the walk.
//!
//! A few charts are walked in every run. For more:
//! `TASKIE_CHARTS=2000 TASKIE_WALKS=50 cargo test --release --lib differential -- --ignored --nocapture`

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that panics has failed, which is what it should do"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use super::claims::Claims;
use super::random::{Random, files_of, made, one_of, text_of};
use crate::chart::choice::CHARTS;
use crate::chart::model::FieldType;
use crate::chart::{Chart, load};
use crate::engine::context::{Context, initial};
use crate::engine::decide::decide;
use crate::engine::decision::{Answer, Decision, Ended, FailedGate, Outcome, Step as Decided};
use crate::engine::event::{Event, Trigger};
use crate::engine::fault::Fault;
use crate::engine::names::Names;
use crate::engine::possible_world::{Disk, PossibleWorld, Sibling, event};
use crate::engine::world::World;
use crate::explore::budget::Caps;
use crate::explore::explore;
use crate::explore::report::Verdict;
use crate::expr::source::Expr;
use crate::expr::templates::Templates;
use crate::reviewer::finding::{Finding, Found};

/// The greatest integer that an option can be.
const MOST: i64 = (1 << 53) - 1;

// ── walks ──

/// An instance: where it stands, and what has happened to it.
struct Instance {
    context: Context,
    started: bool,
    active: bool,
    blocks: usize,
    /// How many times a gate has failed in the same way.
    gate: u64,
    reviews: BTreeMap<String, i64>,
    limit: i64,
}

impl Instance {
    fn new(chart: &Chart) -> Self {
        Self {
            context: initial(chart),
            started: false,
            active: false,
            blocks: 0,
            gate: 0,
            reviews: BTreeMap::new(),
            limit: 0,
        }
    }
}

/// Two instances in a world that changes at random, each a sibling of the other.
struct Walk<'c> {
    random: &'c mut Random,
    chart: &'c Arc<Chart>,
    claims: &'c Claims,
    own: Instance,
    other: Instance,
    disk: Disk,
    steps: Vec<String>,
}

impl<'c> Walk<'c> {
    fn contradiction(&self, what: &str) -> String {
        format!("{what}\n{}", self.steps.join("\n"))
    }

    /// Compares what happens with what never does.
    fn see(&self, what: String) -> Result<(), String> {
        match self.claims.never_seen.contains(&what) {
            true => Err(self.contradiction(&what)),
            false => Ok(()),
        }
    }

    /// Changes what lies on the disk, or some of it.
    fn change(&mut self) {
        let chart = self.chart;
        if self.random.chance(60) {
            self.disk.files = files_of(self.random, chart, &self.own.context);
        }
        if self.random.chance(30) {
            self.disk.dirty = !self.disk.dirty;
            self.disk.stalled = self.random.chance(50);
        }
        if self.random.chance(30) {
            let drivers = [None, Some("this"), Some("other")];
            self.disk.driver = self.random.pick(&drivers).map(str::to_owned);
            self.disk.postponed = self.random.chance(20).then(|| "18:23 UTC".to_owned());
            let count = self.random.below(3);
            self.disk.rulings = (0..count).map(|_| text_of(self.random)).collect();
            self.disk.drivers = (0..count).map(|_| text_of(self.random)).collect();
        }
        self.disk.now = format!("2026010{}T00000{}", self.random.below(9), self.random.below(9));
        if self.random.chance(15) {
            for (name, field) in &chart.config {
                let value = match field.kind {
                    FieldType::Boolean => json!(self.random.chance(50)),
                    FieldType::Integer => json!(self.random.below(25)),
                    _ => json!(text_of(self.random)),
                };
                if field.accepts(&chart.phases, &value).is_ok() {
                    self.disk.config.insert(name.clone(), value);
                }
            }
        }
        if self.random.chance(40) {
            let count = self.random.below(3);
            self.disk.siblings = (0..count)
                .map(|index| {
                    let mut context = initial(chart);
                    context.insert(chart.state.clone(), json!(one_of(self.random, &chart.phases)));
                    let files = files_of(self.random, chart, &context);
                    Sibling {
                        name: format!("s{index}"),
                        context: self.random.chance(85).then_some(context),
                        files: files.into_iter().map(|(name, (text, _))| (name, text)).collect(),
                        idle_hours: self.random.below(200) as u64,
                    }
                })
                .collect();
            if self.other.started && self.random.chance(70) {
                self.disk.siblings.push(Sibling {
                    name: "other".to_owned(),
                    context: Some(self.other.context.clone()),
                    files: BTreeMap::new(),
                    idle_hours: 0,
                });
            }
        }
    }

    fn event(&mut self) -> Event {
        let chart = self.chart;
        let hooks: Vec<&String> = chart
            .on
            .keys()
            .filter(|name| !matches!(name.as_str(), "enter" | "run" | "next"))
            .collect();
        let mut session = text_of(self.random);
        if chart.scope.is_per_session() && session.is_empty() {
            session = "s1".to_owned();
        }
        let mut fields = Map::new();
        // An agent that does nothing stops again and again, which shows how often a gate blocks.
        let is_idle = self.own.gate > 0 && self.own.blocks > 0 && self.random.chance(90);
        match self.random.below(10) {
            hook if hook <= 5 || is_idle => {
                let name = if is_idle || self.random.chance(70) {
                    "Stop".to_owned()
                } else {
                    (self.random.pick(&hooks)).clone()
                };
                fields.insert("session_id".to_owned(), json!(session));
                for key in ["last_assistant_message", "prompt", "source", "trigger"] {
                    if self.random.chance(70) {
                        fields.insert(key.to_owned(), json!(text_of(self.random)));
                    }
                }
                let tasks: Vec<Json> = (0..self.random.below(4)).map(|_| json!({ "type": self.random.pick(&["alpha", "beta", "shell", "x"]), "id": "1" })).collect();
                fields.insert("background_tasks".to_owned(), json!(tasks));
                if name == "Stop" {
                    fields.insert("stop_hook_active".to_owned(), json!(self.own.active));
                }
                event(Trigger::Hook(name), fields)
            }
            6 | 7 => {
                let phase = one_of(self.random, &chart.phases);
                self.with_options(Trigger::Enter { phase, force: false })
            }
            _ if chart.commands.is_empty() => event(Trigger::Hook("Stop".to_owned()), fields),
            _ => {
                let name = one_of(self.random, &chart.commands);
                self.with_options(Trigger::Command(name))
            }
        }
    }

    fn with_options(&mut self, trigger: Trigger) -> Event {
        let mut event = event(trigger, Map::new());
        let needs_session = self.chart.scope.is_per_session();
        event.session =
            (needs_session || self.random.chance(50)).then(|| format!("s{}", self.random.below(3)));
        for (name, arg) in &self.chart.args {
            if arg.default.is_some() && self.random.chance(50) {
                continue;
            }
            let value = match arg.of.kind {
                FieldType::Boolean => json!(self.random.chance(50)),
                FieldType::Integer => {
                    let least = arg.of.minimum.unwrap_or(-3);
                    match self.random.below(12) {
                        0 => json!(MOST),
                        1 => json!(arg.of.minimum.unwrap_or(-MOST)),
                        _ => json!(least + self.random.below(15) as i64),
                    }
                }
                _ if self.random.chance(10) => {
                    json!(self.random.pick(&["", "no slug", "a/b", "null", "None", "a text"]))
                }
                _ => json!(text_of(self.random)),
            };
            event.args.insert(name.clone(), value);
        }
        event
    }

    fn world(&self) -> Arc<PossibleWorld> {
        Arc::new(PossibleWorld {
            chart: Arc::clone(self.chart),
            context: self.own.context.clone(),
            started: self.own.started,
            disk: self.disk.clone(),
        })
    }

    fn step(&mut self) -> Result<(), String> {
        if self.random.chance(15) {
            std::mem::swap(&mut self.own, &mut self.other);
            self.disk.files.clear();
            self.steps.push("  the other instance".to_owned());
        }
        self.change();
        let event = self.event();
        let world: Arc<dyn World> = self.world();
        self.steps.push(format!(
            "{:?} {} {:?} session {:?}\n  files {:?} config {:?}",
            event.trigger,
            event.fields,
            event.args,
            event.session,
            self.disk.files,
            self.disk.config
        ));
        let decision = match self.decide(&world, &event) {
            Ok(decision) => decision,
            Err(Fault::Argument { .. }) => return Ok(()),
            Err(fault) => {
                let is_misfit = matches!(fault, Fault::Assignment { .. });
                let is_claimed = if is_misfit {
                    self.claims.fits && self.claims.decides
                } else {
                    self.claims.decides
                };
                return if is_claimed {
                    Err(self
                        .contradiction(&format!("every event leads to a decision, but {fault}")))
                } else {
                    Ok(())
                };
            }
        };
        self.look(&event, &decision)?;
        self.own.context.extend(decision.patch.clone());
        self.own.started |= !decision.patch.is_empty();
        self.steps.push(format!(
            "  → {:?} fires {:?}, {:?}, now {:?}",
            decision.answer,
            decision.fired.iter().map(|fired| &fired.place).collect::<Vec<_>>(),
            decision.ended.as_ref().map(|ended| &ended.outcome),
            self.own.context
        ));
        let fired = decision.fired.iter();
        let fired: Vec<&str> = fired.map(|fired| fired.place.as_str()).collect();
        self.look_at_state(&event, &fired)
    }

    fn decide(&mut self, world: &Arc<dyn World>, event: &Event) -> Result<Decision, Fault> {
        let mut step = decide(self.chart, world, event, None)?;
        if let Decided::Invoke(invocation) = &step {
            let invoke = &self.chart.invoke[&invocation.name];
            // While the agent does nothing, a gate fails as it has failed before.
            let fails_again = self.own.gate > 0 && self.own.blocks > 0;
            let has_gates = self.chart.gates.is_some();
            let fails = has_gates && (fails_again || self.random.below(4) == 0);
            self.own.gate = match fails {
                true if fails_again || self.random.chance(50) => self.own.gate + 1,
                true => 1,
                false => 0,
            };
            let outcome = match self.random.below(6) {
                _ if fails => Outcome::Gate(FailedGate {
                    command: text_of(self.random),
                    why: text_of(self.random),
                    output: text_of(self.random),
                    times: self.own.gate,
                }),
                0 => Outcome::Failed(format!("it failed: {}", text_of(self.random))),
                1 => Outcome::Ran { verdict: None, found: Found::default() },
                _ => Outcome::Ran {
                    verdict: Some(self.random.pick(&invoke.verdicts)),
                    found: self.found(),
                },
            };
            let ended = Ended::new((**invocation).clone(), outcome);
            step = decide(self.chart, world, event, Some(ended))?;
        }
        match step {
            Decided::Done(decision) => Ok(decision),
            Decided::Invoke(_) => unreachable!("a call with an outcome asks for no run"),
        }
    }

    /// Nothing, or a finding of some severity.
    fn found(&mut self) -> Found {
        let mut found = Found::default();
        let severities = &self.chart.findings.severities;
        if !severities.is_empty() && self.random.below(2) == 0 {
            found.findings.push(Finding {
                severity: self.random.pick(severities),
                file: None,
                line: None,
                title: text_of(self.random),
            });
        }
        found
    }

    /// Compares one decision with the claims.
    fn look(&mut self, event: &Event, decision: &Decision) -> Result<(), String> {
        for fired in &decision.fired {
            self.see(format!("{} fires", fired.place))?;
            if let Some((cycle, index)) = &fired.advance {
                self.see(format!("cycles.{cycle}.advance[{index}] is taken"))?;
            }
        }
        let is_stop = event.trigger == Trigger::Hook("Stop".to_owned());
        let blocks = matches!(decision.answer, Answer::Block(_));
        if is_stop {
            self.own.active = blocks;
        }
        // What the agent or the user does is no longer doing nothing.
        match (&event.trigger, blocks) {
            (Trigger::Hook(_), true) => self.own.blocks += 1,
            (Trigger::Hook(_), false) if !is_stop => {}
            _ => self.own.blocks = 0,
        }
        let limits = self
            .chart
            .cycles
            .values()
            .filter_map(|cycle| self.own.context.get(&cycle.limit)?.as_i64());
        self.own.limit = self.own.limit.max(limits.max().unwrap_or(0));
        for cycle in self.chart.cycles.values() {
            let starts = decision.fired.iter().any(|fired| {
                let entered = fired
                    .place
                    .strip_prefix("phases.")
                    .and_then(|name| self.chart.phases.get(name));
                let armed = entered.and_then(|entry| entry.phase.arms.as_ref()) == Some(&cycle.id);
                let led = fired.advance.as_ref().is_some_and(|(from, index)| {
                    self.chart.cycles[from].advance[*index].target == cycle.id
                });
                armed || led
            });
            if starts
                || !matches!(event.trigger, Trigger::Hook(_))
                    && decision.patch.contains_key(&cycle.count)
            {
                self.own.reviews.remove(&cycle.id);
                self.own.limit = 0;
            }
        }
        if let Some(Ended { invocation, outcome: Outcome::Ran { .. }, .. }) = &decision.ended {
            let reviews = self.own.reviews.entry(invocation.cycle.clone()).or_default();
            *reviews += 1;
            if self.claims.cycles && *reviews > self.own.limit {
                let reviews = *reviews;
                return Err(self.contradiction(&format!(
                    "{} has {reviews} reviews, the limit was {} at most",
                    invocation.cycle, self.own.limit
                )));
            }
        }
        Ok(())
    }

    fn look_at_state(&mut self, event: &Event, fired: &[&str]) -> Result<(), String> {
        let phase = self.own.context[&self.chart.state].as_str().unwrap_or_default();
        self.see(format!("phases.{phase} is reached"))?;
        for (name, field) in &self.chart.context {
            if let (true, Err(why)) =
                (self.claims.fits, field.accepts(&self.chart.phases, &self.own.context[name]))
            {
                return Err(self.contradiction(&format!("{name} is {why}")));
            }
        }
        let world: Arc<dyn World> = self.world();
        let names = Names::new(self.chart, &world, event);
        for property in &self.claims.properties {
            if let Some(step) = &property.step {
                let places = self.chart.places_of(step);
                if !fired.iter().any(|fired| places.iter().any(|place| place == fired)) {
                    continue;
                }
            }
            for (expr, expected) in [(&property.always, true), (&property.never, false)] {
                if let Some(Expr(expr)) = expr
                    && names.expressions.holds(expr, &names.root()) != Ok(expected)
                {
                    return Err(self.contradiction(&format!("`{expr}` is not {expected}")));
                }
            }
        }
        for (list, checks) in &self.chart.checks {
            for (index, check) in checks.iter().enumerate() {
                let mut found = Vec::new();
                if names.find(check, &mut found).is_ok() && !found.is_empty() {
                    self.see(format!("checks.{list}[{index}] finds something"))?;
                }
            }
        }
        Ok(())
    }
}

/// How much was tried.
#[derive(Debug, Default)]
struct Tally {
    charts: usize,
    walks: usize,
    steps: usize,
    proved: usize,
    refuted: usize,
    open: usize,
}

/// Explores a chart and walks it; the contradiction, where there is one.
fn compare(chart: &Arc<Chart>, seed: u64, walks: usize, tally: &mut Tally) -> Result<(), String> {
    let report =
        explore(chart, &Caps { states: 3_000, time: Duration::from_secs(3), ..Caps::default() });
    for result in &report.results {
        match result.verdict {
            Verdict::Proved(_) => tally.proved += 1,
            Verdict::Refuted { .. } => tally.refuted += 1,
            Verdict::Undecided(_) => tally.open += 1,
        }
    }
    let claims = Claims::of(chart, &report);
    tally.charts += 1;
    let mut random = Random::new(seed);
    for _ in 0..walks {
        let mut walk = Walk {
            own: Instance::new(chart),
            other: Instance::new(chart),
            random: &mut random,
            chart,
            claims: &claims,
            disk: Disk::default(),
            steps: Vec::new(),
        };
        tally.walks += 1;
        for _ in 0..24 {
            tally.steps += 1;
            walk.step()?;
        }
    }
    Ok(())
}

fn run(seeds: impl Iterator<Item = u64>, walks: usize) -> (Tally, BTreeSet<u64>) {
    let mut tally = Tally::default();
    let mut failed = BTreeSet::new();
    for seed in seeds {
        let Some((chart, text)) = made(seed) else {
            continue;
        };
        if let Err(why) = compare(&chart, seed, walks, &mut tally) {
            if failed.is_empty() || std::env::var_os("TASKIE_ALL").is_some() {
                let lines: Vec<&str> = why.lines().collect();
                let last = lines.len().saturating_sub(14);
                eprintln!("chart {seed}: {}\n…\n{}\n{text}", lines[0], lines[last..].join("\n"));
            } else {
                eprintln!("chart {seed}: {}", why.lines().next().unwrap_or_default());
            }
            failed.insert(seed);
        }
    }
    (tally, failed)
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn no_walk_contradicts_a_claim() {
    let (tally, failed) = run(0..60, 8);
    assert!(failed.is_empty(), "charts {failed:?}");
    assert!(tally.charts > 10 && tally.proved > 50, "{tally:?}");
}

#[test]
fn no_walk_of_the_shipped_charts_contradicts_a_claim() {
    let mut tally = Tally::default();
    for embedded in CHARTS {
        let chart = Arc::new(embedded.load().unwrap_or_else(|error| panic!("{error}")));
        if let Err(why) = compare(&chart, 1, 30, &mut tally) {
            panic!("{}: {why}", chart.id);
        }
    }
    let text = include_str!("../../../examples/ralph/statechart.toml");
    let templates = Templates::folders(vec![Path::new("examples/ralph").to_owned()]);
    let chart = Arc::new(load::from_text("ralph", text, templates).unwrap());
    compare(&chart, 1, 100, &mut tally).unwrap_or_else(|why| panic!("ralph: {why}"));
}

#[test]
#[ignore = "takes minutes"]
fn no_walk_of_many_contradicts_a_claim() {
    let first = number("TASKIE_SEED", 1_000);
    let (tally, failed) =
        run(first..first + number("TASKIE_CHARTS", 2_000), number("TASKIE_WALKS", 50) as usize);
    eprintln!("{tally:?}");
    assert!(failed.is_empty(), "{} charts: {failed:?}", failed.len());
}
