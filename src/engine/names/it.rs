//! `it`: the item of an `each`, or the phase that is being entered. Its value is kept next to the other names.

use super::built_in::{BuiltIn, Lookup};

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("it", "the item of an `each`", "`each`"),
        ("it.id", "the phase that is being entered", "`[phases]`"),
        ("it.cycle", "its cycle, if its name has a `{cycle}` hole", "`[phases]`"),
    ],
    kind: |names| names.it.clone(),
    value: Lookup::It,
};
