//! `config`: the settings.

use super::built_in::{BuiltIn, Lookup};
use crate::engine::world::Source;
use crate::expr::types::Type;

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("config.NAME", "the setting NAME of `config.json`, else its default", ""),
    ],
    kind: |names| {
        let settings = names.chart.config.iter();
        Some(Type::record(settings.map(|(name, field)| (name.clone(), names.typed(field)))))
    },
    value: Lookup::Fields(|names, key| {
        let is_known = names.chart.config.contains_key(key);
        is_known.then(|| names.look(&Source::Config(key.to_owned())))
    }),
};
