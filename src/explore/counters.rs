//! Counters that nothing bounds: expressions treat all values above some number alike, so one of them stands for all.

use std::collections::HashMap;

use super::answer::Answer;
use super::dependence::Dependence;
use crate::chart::Chart;
use crate::chart::field::default_of;
use crate::chart::model::FieldType;
use crate::chart::uses::read_by_the_engine;

/// Returns, for each field that only counts, the number from which on all its values have the same effect.
///
/// Expressions do nothing with such a field but add to it, show it, and compare it with literals and with parameters, of
/// which these values are tried. Above the greatest of these numbers no comparison distinguishes two values.
pub(super) fn tops<'d>(
    chart: &Chart,
    dependence: &Dependence,
    parameter: impl Fn(&str) -> Option<&'d [Answer]>,
) -> HashMap<String, i64> {
    let known = read_by_the_engine(chart);
    let fields = chart.context.iter().filter(|(name, field)| {
        let is_free = field.maximum.is_none() && field.setting().is_none();
        let is_known = parameter(name).is_some() || known.contains(name.as_str());
        field.kind == FieldType::Integer && is_free && !is_known
    });
    let tops = fields.filter_map(|(name, field)| {
        let assigned = chart.assigns().flat_map(|assign| assign.get(name));
        let literals = assigned.filter_map(|literal| literal.json().as_i64());
        let mut numbers: Vec<i64> = literals.chain(default_of(chart, field).as_i64()).collect();
        if let Some(uses) = dependence.uses.get(name) {
            for beside in &uses.beside {
                let tried = parameter(beside)?.iter().map(|it| it.value().as_i64());
                numbers.extend(tried.collect::<Option<Vec<i64>>>()?);
            }
            numbers.extend(uses.most);
            if uses.others > 0 {
                return None;
            }
        }
        let top = numbers.into_iter().max().unwrap_or(0).checked_add(1)?;
        Some((name.clone(), top))
    });
    match dependence.is_opaque {
        true => HashMap::new(),
        false => tops.collect(),
    }
}
