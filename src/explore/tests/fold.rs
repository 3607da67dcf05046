//! What repeats in a counterexample is shown once.

use super::super::trace::middle;
use crate::alike::runs;

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
        ("x a1 b1 a2 b2 a3 b3 y", vec![(0, 1, 1), (1, 2, 3), (7, 1, 1)]),
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
