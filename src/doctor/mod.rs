//! `taskie doctor`: checks that everything a workflow needs is there, and that nothing prevents it from working.
//!
//! [`CHECKS`] is the table of checks. Each of them looks at the [`Subject`], and returns one line about what is sound and a
//! [`Diagnosis`] for each flaw. They change nothing, and run other programs only with `--version`, and git to ask about the
//! project.

mod diagnosis;
mod hooks;
mod programs;
mod subject;
mod workflow;

use std::collections::HashSet;

pub(crate) use diagnosis::{Diagnosis, Level};
pub(crate) use subject::Subject;

/// What a check is about: a stable word.
type About = &'static str;

/// Returns what is sound, and what is not.
type Check = fn(&Subject<'_>) -> (String, Vec<Diagnosis>);

/// The checks, in the order in which something is missing.
const CHECKS: [(About, Check); 5] = [
    ("program", programs::check),
    ("hooks", hooks::check),
    ("settings", workflow::settings),
    ("chart", workflow::chart),
    ("instance", workflow::instance),
];

/// Checks everything. Each check has one line if it finds no flaw.
pub(crate) fn examine(subject: &Subject<'_>) -> Vec<(About, Diagnosis)> {
    let mut seen = HashSet::new();
    let mut all = Vec::new();
    for (about, check) in CHECKS {
        let (sound, mut found) = check(subject);
        if found.is_empty() && !sound.is_empty() {
            found.push(Diagnosis::ok(sound));
        }
        // A setting that cannot be read is in the way of more than one check.
        found.retain(|diagnosis| seen.insert(diagnosis.text.clone()));
        all.extend(found.into_iter().map(|found| (about, found)));
    }
    all
}
