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

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(steps: &str) -> Vec<(usize, usize, usize)> {
        let steps: Vec<String> = steps.split(' ').map(str::to_owned).collect();
        let runs = runs(&steps).into_iter();
        runs.map(|run| (run.start, run.length, run.times)).collect()
    }

    #[test]
    fn what_repeats_is_one_run() {
        let cases = [
            ("a b c", vec![(0, 1, 1), (1, 1, 1), (2, 1, 1)]),
            ("a a", vec![(0, 1, 1), (1, 1, 1)]),
            ("a1 a2 a31", vec![(0, 1, 3)]),
            (
                "x a1 b1 a2 b2 a3 b3 y",
                vec![(0, 1, 1), (1, 2, 3), (7, 1, 1)],
            ),
            ("a b a b a b a", vec![(0, 2, 3), (6, 1, 1)]),
            ("a a a a a a", vec![(0, 1, 6)]),
        ];
        for (steps, runs) in cases {
            assert_eq!(shown(steps), runs, "{steps}");
        }
    }

    #[test]
    fn a_long_counterexample_keeps_its_beginning_and_its_end() {
        assert_eq!(middle(&[4; 5], |lines| *lines), 1..1);
        assert_eq!(middle(&[4; 12], |lines| *lines), 3..9);
        assert_eq!(middle(&[100; 3], |lines| *lines), 0..2);
        assert_eq!(middle(&[], |lines: &usize| *lines), 0..0);
    }
}
