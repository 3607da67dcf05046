//! The processes that rules can start: what they share filled in, and their keys checked.

use super::resolver::{Resolver, given};
use crate::chart::Invoke;
use crate::chart::model::{Amount, InvokeSource, Source};
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::{Segment, at, below};
use crate::hash::IndexMap;
use crate::host::hosts::LONGEST_HOOK;

impl Resolver<'_> {
    /// Resolves the processes. A required key that is missing is reported, and replaced by something valid.
    pub(super) fn invokes(&mut self, source: &Source) -> IndexMap<String, Invoke> {
        let tables = source.invoke.iter();
        tables.map(|(name, own)| (name.clone(), self.invoke(name, own, source))).collect()
    }

    fn invoke(&mut self, name: &str, own: &InvokeSource, source: &Source) -> Invoke {
        let shared = &source.invocation;
        macro_rules! required {
            ($key:ident, $instead:expr) => {
                given!(own, shared, $key).unwrap_or_else(|| {
                    let mut all = source.invoke.values();
                    let is_in_none = all.len() > 1 && all.all(|invoke| invoke.$key.is_none());
                    let (path, key) = (at!["invoke", name], stringify!($key));
                    let names = source.invoke.keys().map(String::as_str);
                    self.missing("invocation", path, key, is_in_none, names);
                    $instead
                })
            };
        }
        Invoke {
            argv: required!(argv, Vec::new()),
            verdicts: required!(verdicts, Vec::new()),
            verdict: required!(verdict, Vec::new()),
            timeout: required!(timeout, Amount::Fixed(1)),
            answer: given!(own, shared, answer).unwrap_or_default(),
            findings: given!(own, shared, findings).unwrap_or_default(),
            ran: given!(own, shared, ran).unwrap_or_default(),
            text: given!(own, shared, text).unwrap_or_default(),
            error: given!(own, shared, error),
            reason: given!(own, shared, reason).unwrap_or_default(),
            cost: given!(own, shared, cost),
            tokens: given!(own, shared, tokens).unwrap_or_default(),
            status: given!(own, shared, status),
            by: given!(own, shared, by),
        }
    }

    /// Checks the processes.
    pub(super) fn processes(&mut self, source: &Source) {
        let shared = (at!["invocation"].to_vec(), "invocation", &*source.invocation);
        let own = source.invoke.iter();
        let own = own.map(|(name, invoke)| (at!["invoke", name].to_vec(), name.as_str(), invoke));
        for (path, name, invoke) in std::iter::once(shared).chain(own) {
            self.process(&path, name, invoke, source);
        }
    }

    fn process(&mut self, path: &[Segment], name: &str, invoke: &InvokeSource, source: &Source) {
        let at = |key: &str| below(path, key);
        let lists = [
            ("verdict", &invoke.verdict),
            ("findings", &invoke.findings),
            ("ran", &invoke.ran),
            ("text", &invoke.text),
            ("reason", &invoke.reason),
            ("tokens", &invoke.tokens),
        ];
        for (key, pointers) in lists {
            for (index, pointer) in pointers.iter().flatten().enumerate() {
                self.pointer(&[path, at![key, index]].concat(), pointer);
            }
        }
        let single = [("error", &invoke.error), ("cost", &invoke.cost), ("status", &invoke.status)];
        for (key, pointer) in single {
            if let Some(pointer) = pointer {
                self.pointer(&at(key), pointer);
            }
        }
        if invoke.argv.as_ref().is_some_and(Vec::is_empty) {
            let message = format!("`argv` of `{name}` is empty: there is no program to run");
            self.flaw(Code::MissingKey, &at("argv"), message, "");
        }
        if invoke.verdicts.as_ref().is_some_and(Vec::is_empty) {
            let message = format!("`verdicts` of `{name}` is empty: no run could count");
            self.flaw(Code::MissingKey, &at("verdicts"), message, "");
        }
        let has_findings = invoke.findings.as_ref().is_some_and(|list| !list.is_empty());
        if has_findings && source.findings.severities.is_empty() {
            let message = format!("`findings` of `{name}` has no effect: no severity is known");
            let help = "list the severities: `[findings] severities = [\"major\", \"minor\"]`";
            self.flaw(Code::MissingKey, &at("findings"), message, help);
        }
        if let Some(timeout) = &invoke.timeout {
            self.deadline(&at("timeout"), name, timeout, source);
        }
    }

    /// Checks that a process ends before the host ends the hook.
    fn deadline(&mut self, path: &[Segment], name: &str, timeout: &Amount, source: &Source) {
        let Some(longest) = timeout.longest(&source.config) else {
            let message = format!("the timeout of `{name}` has no upper limit");
            let help = "write a number without quotes, or `{{ config.NAME }}`: a setting of a type such as `number of seconds from 1 to 900`";
            self.flaw(Code::WrongType, path, message, help);
            return;
        };
        if longest >= LONGEST_HOOK {
            let message = format!(
                "`{name}` may take {longest} seconds, but the host ends the hook after {LONGEST_HOOK}"
            );
            let help = "use a shorter timeout, so that the hook has time to write the outcome";
            self.flaw(Code::DeadlineTooLong, path, message, help);
        }
    }

    fn pointer(&mut self, path: &[Segment], pointer: &str) {
        if !pointer.is_empty() && !pointer.starts_with('/') {
            let message = format!("`{pointer}` is not a JSON pointer: it must start with `/`");
            self.flaw(Code::BadPattern, path, message, format!("write `/{pointer}`"));
        }
    }
}
