//! What the program knows about a compiled-in chart before it is loaded, which chart `--chart` means, and the commands of charts.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use super::node::Node;
use super::{Chart, load};
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::{ChartError, Flaw};
use crate::diagnostic::quote::quoted;
use crate::diagnostic::suggest::hint;
use crate::disk;
use crate::expr::templates::Templates;

pub use super::shipped::{CHARTS, Embedded};

/// Returns the chart whose instances are changes: the first one whose home is in the git directory.
pub fn of_changes() -> Option<&'static Embedded> {
    CHARTS.iter().find(|chart| chart.home().starts_with("{git}/"))
}

impl Embedded {
    /// Returns the chart's `scope.home`. Like the other keys here, it is known before the chart is loaded.
    pub fn home(&self) -> &'static str {
        self.of_scope("home")
    }

    /// Returns the folder of the chart's instances, below its home.
    pub fn folder(&self) -> &'static str {
        self.of_scope("instances").rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    fn of_scope(&self, key: &str) -> &'static str {
        match self.chart.at("scope").at(key) {
            Node::Text(text) => text,
            _ => "",
        }
    }

    /// Returns the chart whose files of settings this one uses: that of plans if this one is of changes, or else itself.
    pub(crate) fn of_settings(&'static self) -> &'static Self {
        match of_changes() {
            Some(changes) if changes.id == self.id => &CHARTS[0],
            _ => self,
        }
    }

    /// Returns whether the chart has rules for an event.
    pub(crate) fn has_rules(&self, event: &str) -> bool {
        !matches!(self.chart.at("on").at(event), Node::Absent)
    }

    /// Returns whether each session has an instance of its own.
    pub fn is_per_session(&self) -> bool {
        self.of_scope("instances").ends_with("/{session}")
    }

    /// Returns the chart's `quiet`.
    pub fn quiet(&self) -> bool {
        matches!(self.chart.at("quiet"), Node::Boolean(true))
    }

    /// Returns the chart. Its parts are read when they are looked at.
    pub fn load(&'static self) -> Result<Arc<Chart>, ChartError> {
        let templates = Templates::Embedded(self.templates);
        load::compiled::chart(self.id, &self.chart, templates)
            .map(Arc::new)
            .map_err(|error| ChartError::unreadable(self.id, error.to_string()))
    }
}

/// The program's own commands, which have their meaning with every chart.
pub(crate) const OWN: &[&str] = &[
    "review",
    "status",
    "log",
    "findings",
    "verify",
    "report",
    "config",
    "doctor",
    "demo",
    "chart",
    "check-chart",
    "render",
    "schema",
    "validate",
    "hook",
    "enter",
    "next",
    "run",
];

/// Returns the words with which a command of a chart is run, after the program's name.
pub(crate) fn words_of(command: &str) -> String {
    match OWN.contains(&command) {
        true => format!("run {command}"),
        false => command.to_owned(),
    }
}

impl Chart {
    /// Returns what a user types to run one of the chart's commands.
    pub(crate) fn call(&self, command: &str) -> String {
        format!("{} {}", self.program(), words_of(command))
    }

    /// Returns how a user runs this program for this chart: with `--chart`, unless commands find it by what is under review.
    pub fn program(&self) -> String {
        let name = env!("CARGO_PKG_NAME");
        let is_of_changes = of_changes().is_some_and(|changes| changes.id == self.origin);
        match self.is_default || is_of_changes {
            true => name.to_owned(),
            false => format!("{name} --chart {}", quoted(&self.origin)),
        }
    }

    /// Returns the plugin whose commands the chart's texts name: its own, or that of the chart whose settings it uses.
    pub fn plugin(&self) -> &str {
        self.of_settings().map_or(&self.id, |chart| chart.id)
    }

    /// Returns the chart whose files of settings count for this one, which reviews changes; `None` if they are its own.
    pub(crate) fn of_settings(&self) -> Option<&'static Embedded> {
        self.scope.is_of_changes().then_some(&CHARTS[0])
    }

    /// Returns the command that only cancels a running review, if the chart has one.
    pub fn cancels(&self) -> Option<&str> {
        let mut commands = self.commands.iter();
        let found = commands.find(|(_, command)| {
            let mut actions = command.actions.iter();
            // One that does more leaves the review's cycle.
            command.assign.is_empty()
                && !command.advance
                && actions.any(|action| action.cancel.is_some())
        });
        found.map(|(name, _)| name.as_str())
    }
}

/// The chart that a command line means.
#[derive(Debug, Clone, Copy)]
pub enum Choice<'a> {
    Embedded(&'static Embedded),
    File(&'a Path),
}

impl<'a> Choice<'a> {
    /// Returns the chart with the id `name`, otherwise the path `name`; without a name, the first chart.
    pub fn of(name: Option<&'a str>) -> Self {
        let Some(name) = name else {
            return Self::Embedded(&CHARTS[0]);
        };
        CHARTS
            .iter()
            .find(|chart| chart.id == name)
            .map_or(Self::File(Path::new(name)), Self::Embedded)
    }

    /// Returns the chart's text as its author wrote it; `None` if it cannot be read.
    pub fn text(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Embedded(chart) => Some(Cow::Borrowed(chart.text)),
            Self::File(path) => disk::named_text(path).ok().map(Cow::Owned),
        }
    }

    /// Returns the error for a name that is neither a file nor a chart that is compiled in.
    pub fn unknown(path: &Path) -> ChartError {
        let name = path.display().to_string();
        let known = CHARTS.iter().map(|chart| chart.id);
        let mut flaw = Flaw::new(
            Code::Unreadable,
            "the chart cannot be read: there is no such file or chart".to_owned(),
        );
        if !name.contains('/') {
            flaw.help = hint(&name, known);
        }
        ChartError::new(&name, "", vec![flaw])
    }
}
