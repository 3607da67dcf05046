//! The words of a chart and its templates, and how often each is used: a word that is used once and is a slip away from
//! another one is probably misspelled.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::chart::structure;
use crate::diagnostic::suggest::is_slip;
use crate::engine::names::sources::built_in;
use crate::expr::templates::Templates;
use crate::expr::vocabulary::{FILTERS, TESTS, names};

/// The words of a chart, comments and templates included, without regard to upper and lower case.
pub(super) struct WordCounts {
    counts: HashMap<String, usize>,
}

impl WordCounts {
    /// Counts the words of a chart and its templates.
    pub(super) fn of(text: &str, templates: &Templates) -> Self {
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut count = |text: &str| {
            for place in places(text) {
                *counts.entry(text[place].to_lowercase()).or_default() += 1;
            }
        };
        count(text);
        for name in templates.names() {
            count(&templates.get(&name).ok().flatten().unwrap_or_default());
        }
        Self { counts }
    }

    /// Returns how often a word is used.
    pub(super) fn count(&self, word: &str) -> usize {
        self.counts.get(&word.to_lowercase()).copied().unwrap_or(0)
    }

    /// Returns the word that another one, which is used once, was probably meant to be, and how often that is used.
    pub(super) fn meant_by(&self, word: &str) -> Option<(&str, usize)> {
        let word = word.to_lowercase();
        if self.count(&word) != 1 || is_known(&word) {
            return None;
        }
        let others = self.counts.iter().filter(|(_, count)| **count > 1);
        let others = others.filter(|(other, _)| is_unlikely_to_differ(&word, other));
        let others = others.map(|(other, count)| (other.as_str(), *count));
        others.max_by_key(|(other, count)| (*count, *other))
    }
}

/// Returns whether a word is one of the language, one for agents that all charts share, or the usual end of a file's name.
pub(super) fn is_known(word: &str) -> bool {
    static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let built_in = built_in().flat_map(|(path, ..)| path.split(['.', '[', ']']));
        let keys = structure::vocabulary().iter().map(String::as_str);
        keys.chain(names(FILTERS))
            .chain(names(TESTS))
            .chain(built_in)
            .chain(["ask", "txt"])
            .collect()
    });
    KNOWN.contains(word)
}

/// Returns the places of the words in a text. What follows a backslash is an escape.
pub(super) fn places(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut is_escape = false;
    for (at, sign) in text.char_indices() {
        let was_escape = is_escape;
        is_escape = sign == '\\' && !was_escape;
        match words.last_mut() {
            _ if was_escape => {}
            Some(word) if word.end == at && (sign.is_alphanumeric() || "_-".contains(sign)) => {
                word.end += sign.len_utf8();
            }
            _ if sign.is_alphabetic() => words.push(at..at + sign.len_utf8()),
            _ => {}
        }
    }
    for word in &mut words {
        word.end = word.start + text[word.clone()].trim_end_matches('-').len();
    }
    words
}

/// Returns whether two words that differ in one slip are hardly two words: not `test` and `rest`, nor `note` and
/// `notes`.
fn is_unlikely_to_differ(word: &str, other: &str) -> bool {
    if !is_slip(word, other) || [word, other].iter().any(|word| word.len() < 3) {
        return false;
    }
    let (short, long) = match word.len() < other.len() {
        true => (word, other),
        false => (other, word),
    };
    if short.len() == long.len() {
        let sorted = |word: &str| {
            let mut letters: Vec<char> = word.chars().collect();
            letters.sort_unstable();
            letters
        };
        let is_swap = sorted(short) == sorted(long);
        let starts_alike = short.chars().next() == long.chars().next();
        return long.len() > 3 && (is_swap || starts_alike || long.len() > 5);
    }
    let more = long.strip_prefix(short);
    let is_inflection = more.is_some_and(|end| "sdrnye".contains(end));
    let is_joined = long.replace(['-', '_'], "") == short;
    let starts_later = long.ends_with(short) && short.len() < 4;
    long.len() > 3 && !is_inflection && !is_joined && !starts_later
}

/// The keys of a TOML text with their places, and its strings with the keys that lead there.
#[derive(Default)]
pub(super) struct Toml {
    pub(super) keys: Vec<(String, Range<usize>)>,
    pub(super) strings: Vec<(Vec<String>, Range<usize>)>,
}

impl Toml {
    /// Reads as much of a text as possible.
    pub(super) fn of(text: &str) -> Self {
        let mut toml = Self::default();
        let (table, _) = DeTable::parse_recoverable(text);
        toml.table(table.get_ref(), &[]);
        toml
    }

    fn table(&mut self, table: &DeTable<'_>, path: &[String]) {
        for (key, value) in table {
            let name = key.get_ref().to_string();
            self.value(value, &[path, std::slice::from_ref(&name)].concat());
            self.keys.push((name, key.span()));
        }
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, path: &[String]) {
        match value.get_ref() {
            DeValue::String(_) => self.strings.push((path.to_vec(), value.span())),
            DeValue::Array(items) => items.iter().for_each(|item| self.value(item, path)),
            DeValue::Table(table) => self.table(table, path),
            _ => {}
        }
    }
}
