//! `siblings`: the other instances.

use super::built_in::{BuiltIn, Lookup};
use super::files;
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("siblings", "the other instances", ""),
        ("siblings[].name", "the name of its directory", ""),
        ("siblings[].path", "its path from the project's root", ""),
        ("siblings[].idle_hours", "whole hours since one of its files was modified", ""),
        ("siblings[].unreadable", "its state cannot be read, and every field of `context` is none", ""),
        ("siblings[].context.NAME", "the field NAME of its state", ""),
        ("siblings[].files.NAME", "its files of the set NAME, without those in subfolders", ""),
    ],
    kind: |names| {
        let fields = names.chart.context.iter();
        let context = fields.map(|(name, field)| (name.clone(), names.typed(field).or_none()));
        Some(Type::list(Type::record([
            ("name", Type::Text),
            ("path", Type::Text),
            ("idle_hours", Type::Integer),
            ("unreadable", Type::Boolean),
            ("context", Type::record(context)),
            ("files", files::kind(names, true)),
        ])))
    },
    value: Lookup::One(|names| names.look(&Source::Siblings)),
};
