//! The change that a stop is about: what has changed, as fields of the event, which rules see.

use std::fs;

use serde_json::{Value as Json, json};

use crate::diagnostic::quote::quoted;
use crate::engine::context::{running, text};
use crate::page::counted;
use crate::project::change::{self, Base, Change, OBJECTS, Unknown};
use crate::run::place::Place;

/// The folder in the instance's directory with the objects of the change, hidden like everything that is this program's.
const STORED: &str = ".objects";

/// The most bytes of the names of files that the reviewer is given, and of the paths on the command line. An argument has an
/// end.
pub(crate) const NAMES: usize = 32 * 1024;

/// Returns what the change at `place` is compared with while it is being reviewed; `None` if it is not.
pub(crate) fn base(place: &Place) -> Option<String> {
    let snapshot = place.snapshot();
    let context = snapshot.context();
    let base =
        running(&place.chart, context).map(|_| text(context, place.chart.scope.since.as_ref()));
    base.map(|base| base.unwrap_or_default().to_owned())
}

/// Finds out what has changed, and has the reviewers that are started at `place` see it.
pub(crate) fn find(place: &mut Place, base: Base<'_>, paths: &[String]) -> Result<Change, Unknown> {
    let objects = place.dir().join(STORED);
    let change = change::read(&place.root, &objects, base, paths)?;
    place.env = vec![(OBJECTS.to_owned(), change::with(&objects))];
    Ok(change)
}

/// Removes what git does not have of a change that nobody reviews anymore.
pub(crate) fn forget(place: &Place) {
    // Whatever stays is removed with the next change.
    let _ = fs::remove_dir_all(place.dir().join(STORED));
}

/// Sets the fields of an event that say what has changed. Nothing is asked for that a setting would not say.
pub(crate) fn describe(fields: &mut Json, change: &Change, paths: &[String]) {
    let mut room = NAMES;
    let files = change.files.iter().map(ToString::to_string);
    let files = files.take_while(|file| {
        let fits = room > file.len();
        room = room.saturating_sub(file.len() + 1);
        fits
    });
    let mut files: Vec<String> = files.collect();
    let more = change.files.len() - files.len();
    if more > 0 {
        files.push(format!(
            "{}; `git diff --stat` lists them",
            counted(more, "more file")
        ));
    }
    // The command that shows the change is also a rule about what a reviewer may run, in which these signs end it or let
    // more through: then it shows all that has changed.
    let is_plain = |path: &String| !path.contains(['(', ')', '*', ',']);
    let paths: String = match paths {
        paths if paths.is_empty() || !paths.iter().all(is_plain) => String::new(),
        paths => paths.iter().fold(" --".to_owned(), |all, path| {
            format!("{all} {}", quoted(path))
        }),
    };
    for (name, value) in [
        ("change", json!(files)),
        ("base", json!(change.base)),
        ("against", json!(change.against)),
        ("tree", json!(change.after)),
        (
            "range",
            json!(format!("{} {}", change.before, change.after)),
        ),
        ("paths", json!(paths)),
        ("model", json!("")),
        ("permissions", json!("")),
        ("max_cost", Json::Null),
    ] {
        fields[name] = value;
    }
}
