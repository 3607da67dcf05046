//! Collects flaws while names are resolved, and resolves what every part of a chart has: names and file patterns.

use std::ops::Range;

use crate::chart::field::Phases;
use crate::chart::model::{FilePattern, Source};
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::{hint, is_slip};
use crate::diagnostic::toml::{Document, Segment};
use crate::files::is_below;
use crate::files::pattern::Pattern;

/// The hole in a phase's name that makes one phase per cycle.
pub(super) const CYCLE_HOLE: &str = "{cycle}";

/// Returns the value of a key of a table; if it has none, that in the table of what all such tables share.
macro_rules! given {
    ($own:ident, $shared:ident, $key:ident) => {
        $own.$key.clone().or_else(|| $shared.$key.clone())
    };
}
pub(super) use given;

/// Collects flaws while names are resolved.
#[derive(Default)]
pub(super) struct Resolver<'t> {
    pub(super) document: Option<&'t Document<'t>>,
    pub(super) flaws: Vec<Flaw>,
    /// The context fields that can be any text, and so no part of a file name.
    pub(super) free: Vec<String>,
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
        crate::chart::locate(self.document?, path)
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
        let flaw = Flaw::new(code, format!("unknown {} `{name}`", noun(code)));
        let flaw = flaw.help(hint(name, known));
        self.flaws.push(flaw.at(self.locate(path)));
    }

    /// Reports a flaw unless `name` is a phase.
    pub(super) fn phase(&mut self, path: &[Segment], name: &str, phases: &Phases) {
        let known = phases.keys().map(String::as_str);
        self.known(path, Code::UnknownPhase, name, known);
    }

    /// Reports that the table at `path` lacks a key, and so does `shared`, the table of what all such tables share. If
    /// all of them lack it, one finding is enough. `names` are those of all such tables.
    pub(super) fn missing<'n>(
        &mut self,
        shared: &str,
        path: &[Segment],
        key: &str,
        is_in_none: bool,
        mut names: impl Iterator<Item = &'n str>,
    ) {
        let of_all = format!("[{shared}], which all {shared}s share");
        if is_in_none {
            let message = format!("no {shared} has `{key}`");
            let help = format!("add it to {of_all}");
            self.flaw(Code::MissingKey, &[Segment::from(shared)], message, help);
        } else if let [.., Segment::Key(name)] = path {
            let message = format!("{shared} `{name}` has no `{key}`");
            let close = names.find(|other| is_slip(name, other));
            let at = self.locate(path);
            // What is misspelled lacks everything.
            if close.is_some() && self.flaws.last().is_some_and(|flaw| flaw.span == at) {
                return;
            }
            let close = close.map(|close| format!("; did you mean `{close}`?"));
            let help = format!("add it here, or to {of_all}{}", close.unwrap_or_default());
            self.flaw(Code::MissingKey, path, message, help);
        }
    }

    pub(super) fn pattern(&mut self, path: &[Segment], source: &FilePattern) -> Option<Pattern> {
        Pattern::parse(&source.0)
            .map_err(|message| self.flaw(Code::BadPattern, path, message, ""))
            .ok()
    }

    /// Returns a pattern that renders a name: it has no wildcard, and its holes are `known`.
    pub(super) fn name_pattern(
        &mut self,
        path: &[Segment],
        source: &FilePattern,
        known: &[&str],
    ) -> Option<Pattern> {
        let pattern = self.pattern(path, source)?;
        for (hole, _) in pattern.holes().filter(|(hole, _)| !known.contains(hole)) {
            let mut help = hint(hole, known.iter().copied());
            let mut message = format!("nothing fills the hole `{{{hole}}}` of `{}`", source.0);
            if self.free.iter().any(|field| field == hole) {
                message = format!(
                    "`{hole}` can be any text, so it cannot fill the hole `{{{hole}}}` of `{}`",
                    source.0
                );
                help = Some("give the field `type = \"id\"`".to_owned());
            }
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
            let message = format!("`{}` must render one name, so it cannot contain `*`", source.0);
            self.flaw(Code::BadPattern, path, message, help);
            return None;
        }
        if !is_below(&source.0) {
            let help = "write a relative path without `..`";
            let message = format!("`{}` must be inside the instance's directory", source.0);
            self.flaw(Code::BadPattern, path, message, help);
            return None;
        }
        Some(pattern)
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
