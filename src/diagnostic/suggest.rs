//! "Did you mean …?": the known name that a wrong one is closest to.

/// Returns the name among `names` that `wrong` was most likely meant to be.
pub fn suggest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    names
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

/// Returns what to do about an unknown name: "did you mean `x`?", else the names that there are.
pub fn hint<'n>(wrong: &str, names: impl Iterator<Item = &'n str> + Clone) -> Option<String> {
    match suggest(wrong, names.clone()) {
        Some(name) => Some(format!("did you mean `{name}`?")),
        None => {
            let known = names.collect::<Vec<_>>().join(", ");
            (!known.is_empty()).then(|| format!("the known names are {known}"))
        }
    }
}
