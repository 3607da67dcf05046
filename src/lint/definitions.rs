//! Names that are misspelled where they are defined: one finding there, instead of one at each use.

use super::words::{Toml, WordCounts, is_known};
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::is_slip;

/// Replaces the findings about uses of a name by one at its definition, if the name of the definition is used nowhere
/// else, and the other name is.
pub(super) fn blamed(mut flaws: Vec<Flaw>, text: &str, words: &WordCounts) -> Vec<Flaw> {
    if flaws.iter().all(|flaw| flaw.unknown.is_none()) {
        return flaws;
    }
    for (name, place) in Toml::of(text).keys {
        if words.count(&name) != 1 || is_known(&name) {
            continue;
        }
        let is_meant = |meant: &&String| is_slip(&name, meant) && words.count(meant) > 1;
        let meant = |flaw: &Flaw| flaw.unknown.clone().filter(|meant| is_meant(&meant));
        let mut uses = flaws.iter();
        let Some((code, meant)) = uses.find_map(|flaw| Some((flaw.code, meant(flaw)?))) else {
            continue;
        };
        flaws.retain(|flaw| flaw.unknown.as_ref() != Some(&meant));
        let message = format!("`{meant}` is used, but only `{name}` is defined");
        let help = format!("did you mean `{meant}`?");
        flaws.push(Flaw::new(code, message).help(help).at(Some(place)));
    }
    flaws
}
