//! What a review sees, as a number: the files that it is about, what the user has ruled, and the work tree.
//!
//! If the number is the same later, nothing has changed in between. Another version of this program may compute a
//! different one.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;

use super::rulings::rulings;
use super::{file, git};
use crate::chart::Chart;

/// Returns the number; `None` if it is unknown: without git, nobody knows what has changed in the code.
pub(super) fn seen(chart: &Chart, root: &Path, dir: &Path, subject: &[String]) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    for name in subject {
        let text = file::read(root, &dir.join(name), file::LIMIT).ok()?;
        (name, text).hash(&mut hasher);
    }
    rulings(chart, root, dir).hash(&mut hasher);
    git::hash_tree(root, &chart.scope.home, &mut hasher)?;
    Some(hasher.finish())
}
