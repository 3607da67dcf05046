//! The steps played so far, and the simulated agent that continues.

use std::sync::Arc;

use super::super::error::CliError;
use super::super::output::Target;
use crate::chart::Chart;
use crate::scenario::agent::Agent;
use crate::scenario::failure::Failure;
use crate::scenario::instance::Instance;
use crate::scenario::player::Player;
use crate::scenario::save;
use crate::scenario::script::Step;
use crate::scenario::stage::{Answer, Stage as _, State};

/// A walk through a chart.
pub(super) struct Walk<'c> {
    pub(super) player: Player<'c, Instance>,
    /// The answer to the last event.
    pub(super) last: Option<Answer>,
    agent: Agent,
    begins: State,
    /// The files that existed before.
    found: Option<Step>,
    /// The steps, with their results as expectations.
    steps: Vec<Step>,
    /// The situation before each step.
    before: Vec<(Instance, Agent, Option<Answer>, usize)>,
    /// The number of the next event.
    number: usize,
}

impl<'c> Walk<'c> {
    /// Returns a walk that begins at `instance`.
    pub(super) fn new(chart: &'c Arc<Chart>, instance: Instance, agent: Agent) -> Self {
        let mut files: Vec<_> = instance.disk.files.iter().collect();
        files.sort_by_key(|(_, (_, written))| *written);
        let files = files
            .into_iter()
            .map(|(name, (text, _))| (name.clone(), text.clone()));
        let found = Step {
            write: files.collect(),
            config: instance.disk.config.clone(),
            ..Step::default()
        };
        Self {
            begins: instance.state(),
            found: (!found.write.is_empty()).then_some(found),
            player: Player::new(chart, instance),
            last: None,
            agent,
            steps: Vec::new(),
            before: Vec::new(),
            number: 1,
        }
    }

    /// Returns what the agent does next; the error says why it does nothing.
    pub(super) fn proposal(&self) -> Result<Step, String> {
        self.agent.next(&self.player.stage, self.last.as_ref())
    }

    /// Plays a step, and records its results.
    pub(super) fn take(&mut self, step: &Step) -> Result<(), Failure> {
        let (agent, last) = (self.agent.clone(), self.last.clone());
        let before = (self.player.stage.clone(), agent, last, self.number);
        let state = self.player.stage.state();
        let answer = self.player.step(self.number, step)?;
        self.before.push(before);
        let after = self.player.stage.state();
        let decided = &self.player.decided;
        self.steps
            .push(save::expecting(step, decided, &after, &state));
        self.agent.has_seen(step, self.last.as_ref());
        if let Some(answer) = answer {
            self.number += 1;
            self.last = Some(answer);
        }
        Ok(())
    }

    /// Undoes the last step; returns false if there is none.
    pub(super) fn undo(&mut self) -> bool {
        let Some((instance, agent, last, number)) = self.before.pop() else {
            return false;
        };
        self.steps.pop();
        (self.player.stage, self.agent) = (instance, agent);
        (self.last, self.number) = (last, number);
        true
    }

    /// Saves it as a scenario.
    pub(super) fn save(&self, file: &Target, about: &str) -> Result<(), CliError> {
        let steps: Vec<Step> = self.found.iter().chain(&self.steps).cloned().collect();
        let text = save::write(about, None, self.begins.as_ref(), &steps);
        file.write(&text)
    }
}
