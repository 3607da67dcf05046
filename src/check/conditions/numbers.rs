//! Which numbers are tried: 0 to 3, and those that the chart names. What a field counts beyond all of them is one number
//! more.

use std::collections::BTreeSet;

use crate::chart::model::Field;

/// A greater number is tried only if a field can have it by itself.
const LARGE: i64 = 1_000;

/// The numbers that are tried.
#[derive(Debug, Default)]
pub(super) struct Numbers(BTreeSet<i64>);

impl Numbers {
    /// Returns 0 to 3, and what of these is not large.
    pub(super) fn of(named: Vec<i64>) -> Self {
        Self((0..=3).chain(named.into_iter().filter(|it| it.abs() < LARGE)).collect())
    }

    /// Returns the number that stands for all that are greater than those that are tried.
    fn next(&self) -> i64 {
        self.0.last().map_or(1, |most| most + 1)
    }

    /// Returns whether a number is one of these.
    pub(super) fn is_beyond(&self, number: i64) -> bool {
        (self.next()..LARGE).contains(&number)
    }

    /// Returns the numbers that are tried for a field or a setting.
    pub(super) fn tried(&self, field: &Field) -> Vec<i64> {
        let least = field.minimum.unwrap_or(i64::MIN);
        let most = field.maximum.unwrap_or(i64::MAX);
        self.0.iter().copied().filter(|number| (least..=most).contains(number)).collect()
    }

    /// Returns a number as a field holds it: all that are greater than those that are tried are one, unless the field
    /// itself has a limit.
    pub(super) fn held(&self, field: &Field, number: i64) -> i64 {
        let most = self.next();
        match field.maximum {
            Some(most) if most < LARGE => number,
            _ => number.clamp(-most, most),
        }
    }
}
