//! The reviewers that rules can start.

use super::resolver::Resolver;
use crate::chart::known::REVIEW_TIMEOUT;
use crate::chart::model::Source;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::at;
use crate::host::hosts::LONGEST_HOOK;

impl Resolver<'_> {
    /// Checks the processes.
    pub(super) fn processes(&mut self, source: &Source) {
        self.deadline(source);
        for (name, invoke) in &source.reviewers {
            if invoke.program().is_empty() {
                let message = "`argv` is missing: there is no program to run";
                self.flaw(Code::MissingKey, at!["reviewers", name, "argv"], message, "");
            }
        }
    }

    /// Checks that a review ends before the host ends the hook.
    fn deadline(&mut self, source: &Source) {
        let Some(setting) = source.config.get(REVIEW_TIMEOUT) else { return };
        let path = at!["config", REVIEW_TIMEOUT, "type"];
        let longest = setting.maximum.and_then(|longest| u64::try_from(longest).ok());
        let Some(longest) = longest.filter(|_| setting.minimum >= Some(0)) else {
            let message = "the time of a review has no limits";
            let help = "write a type such as `number of seconds from 1 to 900`";
            self.flaw(Code::WrongType, path, message, help);
            return;
        };
        if longest >= LONGEST_HOOK {
            let message = format!(
                "a review may take {longest} seconds, but the host ends the hook after {LONGEST_HOOK}"
            );
            let help = "use a shorter time, so that the hook can write the outcome";
            self.flaw(Code::DeadlineTooLong, path, message, help);
        }
    }
}
