//! Names that are misspelled where they are defined: one finding there, instead of one at each use.

use super::words::{Toml, WordCounts, is_known, places};
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::is_slip;

/// The codes of uses of a name that is not defined.
const USES: &[Code] = &[
    Code::BadPattern,
    Code::MissingKey,
    Code::UnknownCommand,
    Code::UnknownCycle,
    Code::UnknownField,
    Code::UnknownInvocation,
    Code::UnknownName,
    Code::UnknownPhase,
    Code::UnlikeTypes,
];

/// Replaces the findings about uses of a name by one at its definition, if the name of the definition is used nowhere
/// else, and the other name is.
pub(super) fn blamed(mut flaws: Vec<Flaw>, text: &str, words: &WordCounts) -> Vec<Flaw> {
    if !flaws.iter().any(|flaw| USES.contains(&flaw.code)) {
        return flaws;
    }
    for (name, place) in Toml::of(text).keys {
        if words.count(&name) != 1 || is_known(&name) {
            continue;
        }
        let meant = |flaw: &Flaw| {
            let words_of = places(&flaw.message).into_iter();
            let mut meant = words_of.map(|word| &flaw.message[word]);
            let meant = meant.find(|other| is_slip(&name, other) && words.count(other) > 1);
            meant
                .filter(|_| USES.contains(&flaw.code))
                .map(str::to_owned)
        };
        let Some((code, meant)) = flaws
            .iter()
            .find_map(|flaw| Some((flaw.code, meant(flaw)?)))
        else {
            continue;
        };
        let mentions = |flaw: &Flaw| {
            let words = places(&flaw.message);
            words
                .into_iter()
                .any(|word| [meant.as_str(), &name].contains(&&flaw.message[word]))
        };
        flaws.retain(|flaw| {
            let is_use = USES.contains(&flaw.code) && mentions(flaw);
            !(is_use || flaw.code == Code::UnusedName && flaw.span.as_ref() == Some(&place))
        });
        let message = format!("`{meant}` is used, but only `{name}` is defined");
        let help = format!("did you mean `{meant}`?");
        flaws.push(Flaw::new(code, message).help(help).at(Some(place)));
    }
    flaws
}
