//! The filters and tests that expressions may use. [`super::infer`] knows their types.

/// The filters, each with what it is given.
pub const FILTERS: &[&str] = &[
    "after(list)",
    "brief(separator)",
    "capitalize",
    "first",
    "flatten",
    "indent(width)",
    "join(separator)",
    "last",
    "length",
    "list",
    "lower",
    "map(attribute='NAME')",
    "reject(test)",
    "rejectattr('NAME', test, value)",
    "replace(from, to)",
    "select(test)",
    "selectattr('NAME', test, value)",
    "set",
    "sort",
    "split(separator)",
    "trim",
    "unique",
    "upper",
];

/// The tests after `is`, or by name in `selectattr`.
pub const TESTS: &[&str] =
    &["none", "startingwith", "endingwith", "eq", "ne", "lt", "le", "gt", "ge", "in"];

/// Returns the bare names of [`FILTERS`] or [`TESTS`].
pub fn names(table: &'static [&'static str]) -> impl Iterator<Item = &'static str> + Clone {
    table.iter().map(|name| name.find('(').map_or(*name, |end| &name[..end]))
}
