//! Prints output outside pages. Whatever is printed has its harmful characters escaped here, wherever it comes from.

use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use serde_json::Value as Json;

use super::error::CliError;
use crate::chart::Chart;
use crate::files::json::versioned;
use crate::host::events::REVIEWER;
use crate::host::hosts;
use crate::page::{Page, columns, columns_of_stderr, fitted, is_out};
use crate::text::{shown_json, shown_lines, styled_lines};

/// What a command has found. This is the one place that prints it.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// What a person reads.
    page: Page,
    /// The JSON that a program reads in its place, if it has asked.
    json: Option<String>,
    code: ExitCode,
}

impl Output {
    /// Returns what a person reads.
    pub(crate) fn of(page: Page) -> Self {
        Self { page, ..Self::default() }
    }

    /// Returns one sentence, or a text of several lines.
    pub(crate) fn text(text: &str) -> Self {
        let mut page = Page::default();
        page.say(text);
        Self::of(page)
    }

    /// Returns such a text that has styles.
    pub(crate) fn styled(text: &str) -> Self {
        let mut page = Page::default();
        page.styled(text);
        Self::of(page)
    }

    /// Returns an exit code alone.
    pub(crate) fn exit(code: ExitCode) -> Self {
        Self { code, ..Self::default() }
    }

    /// Returns the fields of an object, for programs.
    pub(crate) fn json(fields: Json) -> Self {
        Self::json_text(versioned(fields).to_string())
    }

    /// Returns a JSON text, for programs.
    pub(crate) fn json_text(text: String) -> Self {
        Self { json: Some(text), ..Self::default() }
    }

    /// Returns the same with the exit code for what went well, or not.
    pub(crate) fn well(self, is_well: bool) -> Self {
        self.with_code(u8::from(!is_well))
    }

    /// Returns the same with an exit code.
    pub(crate) fn with_code(self, code: u8) -> Self {
        Self { code: ExitCode::from(code), ..self }
    }

    /// Prints it. A reader that is gone is not an error.
    pub(crate) fn print(mut self) -> ExitCode {
        self.is_printed();
        self.code
    }

    /// Prints it; returns whether it is out, and leaves the exit code.
    pub(crate) fn is_printed(&mut self) -> bool {
        match self.json.take() {
            Some(json) => {
                let mut out = std::io::stdout().lock();
                is_out(writeln!(out, "{}", shown_json(&json)).and_then(|()| out.flush()))
            }
            None => self.page.print(),
        }
    }
}

/// Returns what a command that changes something answers in a reviewer's session.
pub(crate) fn of_reviewer() -> Option<Output> {
    std::env::var_os(REVIEWER)?;
    let text = "taskie: this is a reviewer's session, which changes no state: nothing was done.";
    Some(Output::text(text))
}

/// Refuses a command of the user's in an agent's session; `what` is what an agent cannot do.
pub(crate) fn refuse_agents(what: &str, command: &str) -> Result<(), CliError> {
    if hosts::around().is_none() {
        return Ok(());
    }
    Err(CliError::with_help(
        format!("an agent's session cannot {what} for the user"),
        format!("in a terminal of your own: `{command}`"),
    ))
}

/// Prints a line to stdout. A reader that is gone is not an error.
pub(crate) fn say(line: &str) {
    let line = shown_lines(line);
    let _ = writeln!(std::io::stdout().lock(), "{}", fitted(&line, columns()));
}

/// Returns a text of a chart, with its commands as they are typed on the host around this process.
pub(crate) fn renamed(chart: &Chart, text: &str) -> String {
    match hosts::around() {
        Some(host) => host.rename_commands(text, chart.plugin()),
        None => text.to_owned(),
    }
}

/// Prints warnings to stderr.
pub(crate) fn warn(warnings: impl IntoIterator<Item = impl Display>) {
    for warning in warnings {
        tell(&format!("taskie: {warning}"));
    }
}

/// Prints why a command failed.
pub(crate) fn tell_error(error: &CliError) {
    match error {
        CliError::Chart(error) => {
            for report in error.reports() {
                tell_styled(&format!("{report:?}"));
            }
        }
        CliError::Report(report) => tell_styled(&format!("{report:?}")),
        CliError::Message { message, help, .. } => {
            tell(&format!("taskie: {message}"));
            if let Some(help) = help {
                tell(&format!("  help: {help}"));
            }
        }
    }
}

/// Returns whether somebody watches stderr.
pub(crate) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

/// Prints a line to stderr.
pub(crate) fn tell(line: &str) {
    let line = shown_lines(line);
    let line = fitted(&line, columns_of_stderr());
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Prints a report with styles in it to stderr.
pub(crate) fn tell_styled(report: &str) {
    let report = styled_lines(report);
    let report = fitted(&report, columns_of_stderr());
    let _ = writeln!(anstream::stderr().lock(), "{report}");
}
