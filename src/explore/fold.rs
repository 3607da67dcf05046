//! Shortens a long counterexample: repeated steps are shown once, and one that is still too long has a gap.

use std::ops::Range;

use crate::alike::without_numbers;

/// The most steps that are looked at as one round of a loop.
const ROUND: usize = 12;

/// The most lines of a counterexample, before long ones are wrapped: it fits a screen.
const SCREEN: usize = 24;

/// Steps that are repeated in a row: `length` of them, from `start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) length: usize,
    pub(super) times: usize,
}

/// Divides steps into runs. Two steps are the same if nothing but their numbers differs.
pub(super) fn runs(steps: &[String]) -> Vec<Run> {
    let keys: Vec<String> = steps.iter().map(|step| without_numbers(step)).collect();
    let mut runs = Vec::new();
    let mut start = 0;
    while start < keys.len() {
        let rest = &keys[start..];
        let times = |length: usize| {
            let round = &rest[..length];
            rest.chunks(length)
                .take_while(|chunk| *chunk == round)
                .count()
        };
        // Of the lengths that leave out most, the shortest. Two rounds are as long as the note about them.
        let lengths = 1..=ROUND.min(rest.len());
        let length = lengths.rev().max_by_key(|length| match times(*length) {
            1 | 2 => 0,
            times => length * (times - 1),
        });
        let length = length.filter(|length| times(*length) > 2).unwrap_or(1);
        let times = if times(length) > 2 { times(length) } else { 1 };
        runs.push(Run {
            start,
            length,
            times,
        });
        start += length * times;
    }
    runs
}

/// Returns the parts in the middle that are left out of a counterexample that is longer than a screen.
pub(super) fn middle<P>(parts: &[P], lines: impl Fn(&P) -> usize) -> Range<usize> {
    let lines: Vec<usize> = parts.iter().map(lines).collect();
    // The end is where it goes wrong: more is kept of it than of the beginning.
    let start = parts.len() / 4;
    let mut end = start;
    let mut sum: usize = lines.iter().sum();
    while sum > SCREEN && end + 1 < parts.len() {
        sum -= lines[end];
        end += 1;
    }
    start..end
}
