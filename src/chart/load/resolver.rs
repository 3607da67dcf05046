//! Collects flaws while names are resolved, and resolves what every part of a chart has: names and file patterns.

use std::ops::Range;

use crate::chart::field::Phases;
use crate::chart::model::Source;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::{did_you_mean, hint};
use crate::diagnostic::toml::{Document, Segment};
use crate::files::is_below;
use crate::files::pattern::Pattern;

/// The hole in a phase's name that makes one phase per cycle.
pub(super) const CYCLE_HOLE: &str = "{cycle}";

/// Collects flaws while names are resolved.
#[derive(Default)]
pub(super) struct Resolver<'t> {
    pub(super) document: Option<&'t Document<'t>>,
    pub(super) flaws: Vec<Flaw>,
}

impl Resolver<'_> {
    /// Reports what is wrong at `path`, and what to do; if `help` is empty, there is no help.
    pub(super) fn flaw(
        &mut self,
        code: Code,
        path: &[Segment],
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let help = Some(help.into()).filter(|help| !help.is_empty());
        let flaw = Flaw::new(code, message).help(help);
        self.flaws.push(flaw.at(self.locate(path)));
    }

    fn locate(&self, path: &[Segment]) -> Option<Range<usize>> {
        self.document?.locate(path)
    }

    /// Reports a flaw unless `name` is one of `known`.
    pub(super) fn known<'k>(
        &mut self,
        path: &[Segment],
        code: Code,
        name: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) {
        if known.clone().any(|other| other == name) {
            return;
        }
        let place = self.locate(path);
        // What several cycles share is reported once.
        if self.flaws.iter().all(|flaw| (flaw.code, &flaw.span) != (code, &place)) {
            let flaw = Flaw::new(code, format!("unknown {} `{name}`", noun(code)));
            self.flaws.push(flaw.help(hint(name, known)).at(place));
        }
    }

    /// Reports a flaw unless `name` is a phase.
    pub(super) fn phase(&mut self, path: &[Segment], name: &str, phases: &Phases) {
        let known = phases.keys().map(String::as_str);
        self.known(path, Code::UnknownPhase, name, known);
    }

    pub(super) fn pattern(&mut self, path: &[Segment], source: &str) -> Option<Pattern> {
        Pattern::parse(source)
            .map_err(|message| self.flaw(Code::BadPattern, path, message, ""))
            .ok()
    }

    /// Checks a pattern that renders a name: it has no wildcard, and its holes are `known`.
    pub(super) fn name_pattern(
        &mut self,
        path: &[Segment],
        source: &str,
        pattern: &Pattern,
        known: &[&str],
    ) {
        for (hole, _) in pattern.holes().filter(|(hole, _)| !known.contains(hole)) {
            let message = format!("nothing fills the hole `{{{hole}}}` of `{source}`");
            let help = did_you_mean(hole, known.iter().copied()).unwrap_or_else(|| {
                format!("a field can if its type is `id`; what can is {}", known.join(", "))
            });
            let span = self.locate(path).map(|value| {
                let text = self.document.and_then(|document| document.text.get(value.clone()));
                let at = text.and_then(|text| text.find(&format!("{{{hole}")));
                at.map_or(value.clone(), |at| {
                    value.start + at + 1..value.start + at + 1 + hole.len()
                })
            });
            self.flaws.push(Flaw::new(Code::BadPattern, message).help(help).at(span));
        }
        if pattern.has_wildcard() {
            let help = "write holes: `{base}-review-{n}.md`";
            let message = format!("`{source}` must render one name, so it cannot contain `*`");
            self.flaw(Code::BadPattern, path, message, help);
        } else if !is_below(source) {
            let help = "write a relative path without `..`";
            let message = format!("`{source}` must be inside the instance's directory");
            self.flaw(Code::BadPattern, path, message, help);
        }
    }
}

/// Returns the noun for an `unknown-…` code.
fn noun(code: Code) -> &'static str {
    match code {
        Code::UnknownCycle => "cycle",
        Code::UnknownField => "context field",
        Code::UnknownCommand => "command",
        Code::UnknownInvocation => "invocation",
        Code::UnknownName => "setting",
        _ => "phase",
    }
}

/// Returns the context fields that can be part of a file name.
pub(super) fn name_fields(source: &Source) -> Vec<&str> {
    let fields = source.context.iter();
    fields.filter(|(_, field)| field.names_files()).map(|(name, _)| name.as_str()).collect()
}
