//! The filters and tests that expressions may use, with their descriptions. [`super::infer`] knows their types.

/// The filters: name, and what it returns.
#[rustfmt::skip]
pub const FILTERS: &[(&str, &str)] = &[
    ("abs", "the number without its sign"),
    ("after(list)", "the item of the list that comes after this one; the first item if there is none"),
    ("brief(separator)", "the items of a list joined, cut with \"and N more\" before the host would cut the message"),
    ("capitalize", "the string with its first letter in upper case"),
    ("count", "same as `length`"),
    ("d(value)", "same as `default`"),
    ("default(value)", "`value` if the input is undefined"),
    ("first", "the first item of a list"),
    ("flatten", "the items of the lists in a list"),
    ("indent(width)", "the string with each line but the first indented"),
    ("int", "the string or number as an integer"),
    ("join(separator)", "the items of a list joined"),
    ("last", "the last item of a list"),
    ("length", "the number of items of a list, or of characters of a string"),
    ("lines", "the lines of a string"),
    ("list", "the items as a list"),
    ("lower", "the string in lower case"),
    ("map(attribute='NAME')", "the field NAME of each item"),
    ("reject(test)", "the items that fail a test"),
    ("rejectattr('NAME', test, value)", "the items whose field NAME fails a test"),
    ("replace(from, to)", "the string with every `from` replaced"),
    ("reverse", "the items in reverse order"),
    ("select(test)", "the items that pass a test"),
    ("selectattr('NAME', test, value)", "the items whose field NAME passes a test"),
    ("set", "the items as a set, in no order; `in` is fast even with many items"),
    ("sort", "the items in order"),
    ("split(separator)", "the parts of a string"),
    ("string", "the value as a string"),
    ("surround(before, after)", "each item of a list as a string between two others"),
    ("title", "the string with each word capitalized"),
    ("trim", "the string without whitespace at both ends"),
    ("unique", "the items without duplicates"),
    ("upper", "the string in upper case"),
];

/// The tests after `is`, or by name in `selectattr`: name, and when it passes.
pub const TESTS: &[(&str, &str)] = &[
    ("none", "the value is none"),
    ("defined", "the name exists"),
    ("undefined", "the name does not exist"),
    ("boolean", "it is true or false"),
    ("integer", "it is an integer"),
    ("number", "it is a number"),
    ("string", "it is a string"),
    ("sequence", "it is a list"),
    ("iterable", "it has items"),
    ("mapping", "it is a record"),
    ("startingwith", "the string starts with another"),
    ("endingwith", "the string ends with another"),
    ("eq", "both are equal"),
    ("ne", "both differ"),
    ("lt", "it is less than another"),
    ("le", "it is at most another"),
    ("gt", "it is greater than another"),
    ("ge", "it is at least another"),
    ("in", "it is in a list"),
    ("true", "it is true"),
    ("false", "it is false"),
    ("odd", "the integer is odd"),
    ("even", "the integer is even"),
];

/// Returns the bare names of [`FILTERS`] or [`TESTS`].
pub fn names(
    table: &'static [(&'static str, &'static str)],
) -> impl Iterator<Item = &'static str> + Clone {
    let bare = |name: &'static str| name.find('(').map_or(name, |end| &name[..end]);
    table.iter().map(move |(name, _)| bare(name))
}
