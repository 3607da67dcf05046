//! "Did you mean …?": the known name that a wrong one is closest to.

/// The longest name that could be a slip of another one, in bytes.
const LONGEST: usize = 200;

/// Returns whether a word is another one with one letter missing, added, wrong, or swapped with the next one.
pub fn is_slip(word: &str, other: &str) -> bool {
    word.len().max(other.len()) <= LONGEST && strsim::osa_distance(word, other) == 1
}

/// Returns the name among `names` that `wrong` was most likely meant to be: one that is a slip away, else one that is
/// like it.
pub fn suggest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Comparing takes the more time the longer it is, and no name is that long.
    let names = names.filter(|_| wrong.len() <= LONGEST);
    names
        .map(|name| {
            let likeness = strsim::jaro_winkler(wrong, name);
            let more = if likeness > 0.0 && is_slip(wrong, name) { 1.0 } else { 0.0 };
            (likeness + more, name)
        })
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

/// Returns the same as a question: "did you mean `x`?".
pub fn did_you_mean<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    suggest(wrong, names).map(|name| format!("did you mean `{name}`?"))
}

/// Returns help for an unknown name: "did you mean `x`?", or else a list of the known names.
pub fn hint<'n>(wrong: &str, names: impl Iterator<Item = &'n str> + Clone) -> Option<String> {
    did_you_mean(wrong, names.clone()).or_else(|| {
        let known = names.collect::<Vec<_>>().join(", ");
        (!known.is_empty()).then(|| format!("the known names are {known}"))
    })
}
