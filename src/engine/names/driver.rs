//! `driver`: who drives the instance.

use super::built_in::{BuiltIn, Lookup};
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("driver", "who drives the instance: `this` session, an `other` one, or none", ""),
    ],
    kind: |_| Some(Type::Text.or_none()),
    value: Lookup::One(|names| {
        let session = names.event.session.clone();
        names.look(&Source::Driver { session })
    }),
};
