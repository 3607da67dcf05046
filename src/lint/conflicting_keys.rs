//! `conflicting-keys`: keys of one table of which only one counts.

use super::{Code, Subject};
use crate::chart::error::{Flaw, Step};

pub(super) fn check(subject: &Subject<'_>) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    for (event, index, rule) in subject.rules() {
        let given = rule.effects();
        let path = |key: &str| vec![Step::from("on"), Step::from(event), Step::from(index), Step::from(key)];
        if rule.invoke.is_some() {
            for key in given {
                let help = "put it into a rule of its own, guarded by what came of the run: `review.ok`";
                let message = format!("`{key}` beside `invoke` has no effect");
                flaws.push(subject.flaw(Code::ConflictingKeys, &path(key), message, help));
            }
            continue;
        }
        let mut answers = given.into_iter().filter(|key| ANSWERS.contains(key));
        if let Some(first) = answers.next() {
            for key in answers {
                let message = format!("a rule gives one answer, and this one has `{first}` and `{key}`");
                flaws.push(subject.flaw(Code::ConflictingKeys, &path(key), message, "leave one of them out"));
            }
        }
    }
    for (index, property) in subject.chart.properties.iter().enumerate() {
        let path = |key: &str| vec![Step::from("properties"), Step::from(index), Step::from(key)];
        let kinds =
            [("always", &property.always), ("never", &property.never), ("eventually", &property.eventually)];
        let mut given = kinds.into_iter().filter(|(_, expr)| expr.is_some()).map(|(key, _)| key);
        let Some(first) = given.next() else {
            let message = format!("property \"{}\" says nothing to prove", property.name);
            let path = [Step::from("properties"), Step::from(index)];
            flaws.push(subject.flaw(Code::MissingKey, &path, message, "give it one of `always`, `never` and `eventually`"));
            continue;
        };
        for key in given {
            let message = format!("a property says one thing, and this one has `{first}` and `{key}`");
            flaws.push(subject.flaw(Code::ConflictingKeys, &path(key), message, "make two properties of it"));
        }
    }
    flaws
}

/// The keys that end an event.
const ANSWERS: [&str; 3] = ["allow", "block", "action"];
