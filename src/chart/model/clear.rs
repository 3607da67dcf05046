//! Reads tables whose `clear` is part of what they assign: code that reads the assignments need not read both.

use serde::{Deserialize, Deserializer};

use super::phase::Phase;
use super::review::Cycle;
use super::rule::Rule;
use super::value::Assign;
use crate::expr::source::Literal;

/// `remote = "Self"` makes serde write the reader of the keys as a function of the type.
macro_rules! read_with_clear {
    ($($table:ident => |$own:ident| $clear:expr,)*) => {$(
        impl<'de> Deserialize<'de> for $table {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let mut $own = Self::deserialize(from)?;
                $clear;
                Ok($own)
            }
        }
    )*};
}

read_with_clear! {
    Phase => |phase| clear(&phase.clear, &mut phase.entry),
    Rule => |rule| clear(&rule.clear, &mut rule.assign),
    Cycle => |cycle| clear(&cycle.clear, &mut cycle.entry),
}

/// Assigns null to fields. One that is also assigned keeps its value: the loader reports it.
fn clear(fields: &[String], assign: &mut Assign) {
    for name in fields {
        assign.entry(name.clone()).or_insert(Literal::Null);
    }
}
