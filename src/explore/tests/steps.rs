//! Claims about steps.

use super::*;

/// A claim with `step` is about the state behind a step, and about the settings with which the step is taken.
#[test]
fn a_claim_about_steps_looks_behind_them() {
    let rules = "[[on.Stop]]\nid = \"one\"\nguard = \"n == 0\"\nassign = { n = 1 }\nallow = true\n\
                 [[on.Stop]]\nid = \"two\"\nguard = \"n == 1\"\nassign = { n = 2 }\nallow = true\n\
                 [[on.Stop]]\nid = \"low\"\nguard = \"config.most == 1\"\nmessage = \"x\"\nallow = true\n\
                 [commands.back]\nabout = \"Back\"\nassign = { n = 0 }\nguard = \"n == 2\"\n";
    let cases = [
        ("one", "always = \"n == 1\"", None),
        ("one", "never = \"n == 1\"", Some("`n == 1` holds here")),
        ("two", "always = \"n == 1\"", Some("`n == 1` does not hold here")),
        ("two", "always = \"n == 2\"", None),
        ("low", "always = \"config.most == 1\"", None),
        ("low", "always = \"n == 2\"", None),
        (
            "low",
            "never = \"config.most == 1 and n == 2\"",
            Some("`config.most == 1 and n == 2` holds here"),
        ),
        ("commands.back", "always = \"n == 0\"", None),
    ];
    for (after, claim, expected) in cases {
        let property = format!("[[properties]]\nabout = \"p\"\nstep = \"{after}\"\n{claim}\n");
        let report = explore(&counting(&format!("{rules}{property}")), &Caps::default());
        let mut results = report.results.iter();
        let result = results.find(|result| result.name == "p").unwrap();
        match (&result.verdict, expected) {
            (Verdict::Proved(detail), None) => {
                assert!(detail.starts_with(&format!("after {after}, ")))
            }
            (Verdict::Refuted { trace, .. }, Some(expected)) => {
                assert!(trace.claim.starts_with(expected), "{}", in_words(trace));
                assert!(!trace.steps.is_empty(), "{}", in_words(trace));
            }
            (verdict, _) => panic!("{after}: {claim}: {verdict:?}"),
        }
    }
}
