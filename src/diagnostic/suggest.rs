//! "Did you mean …?": the known name that a wrong one is closest to.

/// The longest name that could be a slip of another one, in bytes.
const LONGEST: usize = 200;

/// Returns whether a word is another one with one letter missing, added, wrong, or swapped with the next one. Every two words
/// of a chart are compared, so the ends that they share are skipped first.
pub fn is_slip(word: &str, other: &str) -> bool {
    let same = word.chars().zip(other.chars());
    let same: usize = same.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (mut word, mut other) = (word[same..].chars(), other[same..].chars());
    loop {
        let before = (word.clone(), other.clone());
        if word.next_back().is_none_or(|last| other.next_back() != Some(last)) {
            (word, other) = before;
            break;
        }
    }
    let mut rest = || (word.next(), other.next());
    match (rest(), rest(), rest()) {
        ((None, None), ..) => false,
        (_, (None, None), _) => true,
        ((a, b), (c, d), (None, None)) => (a, c) == (d, b),
        _ => false,
    }
}

/// Returns the name among `names` that `wrong` was most likely meant to be: one that is a slip away, else one that is
/// like it.
pub fn suggest<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Comparing takes the more time the longer it is, and no name is that long.
    let names = names.filter(|_| wrong.len() <= LONGEST);
    names
        .map(|name| (strsim::jaro_winkler(wrong, name), name))
        .map(|(likeness, name)| match likeness > 0.0 && is_slip(wrong, name) {
            true => (likeness + 1.0, name),
            false => (likeness, name),
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

#[cfg(test)]
mod tests {
    use super::is_slip;

    #[test]
    fn one_letter_makes_a_slip() {
        let words = [
            "", "a", "b", "ab", "ba", "aab", "aba", "abab", "äb", "phase", "phsae", "phas",
            "phases", "phrase",
        ];
        for (word, other) in words.iter().flat_map(|word| words.map(|other| (*word, other))) {
            let distance = strsim::osa_distance(word, other);
            assert_eq!(is_slip(word, other), distance == 1, "{word} {other}");
        }
    }
}
