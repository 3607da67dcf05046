//! The reviewers that rules can start.

use super::resolver::Resolver;
use crate::chart::model::{Amount, Source};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::{Segment, at};
use crate::host::hosts::LONGEST_HOOK;

impl Resolver<'_> {
    /// Checks the processes.
    pub(super) fn processes(&mut self, source: &Source) {
        for (name, invoke) in &source.reviewers {
            if invoke.program().is_empty() {
                let message = "`argv` is missing: there is no program to run";
                self.flaw(Code::MissingKey, at!["reviewers", name, "argv"], message, "");
            }
            self.deadline(at!["reviewers", name, "timeout"], &invoke.timeout, source);
        }
    }

    /// Checks that a process ends before the host ends the hook.
    fn deadline(&mut self, path: &[Segment], timeout: &Amount, source: &Source) {
        let Some(longest) = timeout.longest(&source.config) else {
            let message = "the timeout has no upper limit";
            let help = "write a number without quotes, or `{{ config.NAME }}`: a setting of a type such as `number of seconds from 1 to 900`";
            self.flaw(Code::WrongType, path, message, help);
            return;
        };
        if longest >= LONGEST_HOOK {
            let message = format!(
                "a process may take {longest} seconds, but the host ends the hook after {LONGEST_HOOK}"
            );
            let help = "use a shorter timeout, so that the hook has time to write the outcome";
            self.flaw(Code::DeadlineTooLong, path, message, help);
        }
    }
}
