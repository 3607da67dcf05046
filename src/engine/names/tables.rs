//! `tables`: the rows of files.

use super::built_in::{BuiltIn, Lookup};
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("tables.NAME.exists", "the file exists", ""),
        ("tables.NAME.prose", "it has lines outside tables", ""),
        ("tables.NAME.lines", "the number of its lines", ""),
        ("tables.NAME.unread", "why nobody can say which rows it has, with the lines; none if that is known. A row whose `id` cannot be used, or is that of another row, is in `open`, but not in `rows`", ""),
        ("tables.NAME.rows", "its rows, or the lines that match", ""),
        ("tables.NAME.open", "the rows whose `status` is not one of `finished`", ""),
        ("tables.NAME.rows[].HOLE", "the column, or what the hole of the pattern matched", ""),
        ("tables.NAME.rows[].done", "its `status` is one of `finished`", ""),
        ("tables.NAME.rows[].path", "the file that belongs to the row", ""),
    ],
    kind: |names| {
        let broken = names.chart.broken_tables.iter();
        let broken = broken.map(|name| (name.clone(), Type::Any));
        Some(Type::record(broken.chain(names.chart.tables.iter().map(|(name, table)| {
            let path = match table.path {
                Some(_) => Type::Text,
                None => Type::Text.or_none(),
            };
            let own = table.rows.fields().into_iter();
            let own = own.map(|field| (field, Type::Text));
            let fields = own.chain([("done", Type::Boolean), ("path", path)]);
            let rows = Type::list(Type::record(fields));
            let table = Type::record([
                ("exists", Type::Boolean),
                ("prose", Type::Boolean),
                ("unread", Type::Text.or_none()),
                ("lines", Type::Integer),
                ("rows", rows.clone()),
                ("open", rows),
            ]);
            (name.clone(), table)
        }))))
    },
    value: Lookup::Fields(|names, key| {
        let is_known = names.chart.tables.contains_key(key);
        is_known.then(|| names.look(&Source::Table(key.to_owned())))
    }),
};
