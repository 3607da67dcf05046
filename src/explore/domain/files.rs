//! The files that a set can have, and the instances beside.

use super::{
    Choice, Domain, GATE_TIMES, MOST_PARTS, Values, fresh, has_a_setting_among_others, raw,
};
use crate::chart::FileSet;
use crate::chart::field::default_of;
use crate::chart::model::FieldType;
use crate::engine::context::to_json;
use crate::engine::file_values;
use crate::engine::possible_world::{INSTANCE, PossibleWorld};
use crate::explore::dependence::root_of;
use crate::explore::items::{self, Tried};
use crate::host::events::{EVENT_DEFAULTS, FieldDefault};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

impl Domain {
    /// Returns the inputs that have too many values which matter.
    pub(super) fn too_many(&self) -> BTreeSet<String> {
        // What a field holds is one value more, whichever.
        let values = self.reading(&|field| json!(format!("held-{field}")));
        let mut found = BTreeSet::new();
        // Only numbers in the chart bound it.
        let times = self.compared(GATE_TIMES);
        if !times.fields.is_empty() || times.linked {
            found.insert(GATE_TIMES.to_owned());
        }
        let texts = self.dependence.compared.iter();
        let texts = texts.filter(|(_, compared)| {
            let parts = compared.parts.len() + compared.part_fields.len();
            parts > MOST_PARTS || has_a_setting_among_others(compared)
        });
        found.extend(texts.map(|(path, _)| root_of(path).to_owned()));
        let chart = &self.chart;
        let rows = chart.tables.keys().cloned().map(Choice::Rows);
        let findings = chart.checks.keys().cloned().map(Choice::Findings);
        let files = chart.files.keys().cloned().map(Choice::Files);
        let of_list = |(name, default): &(&str, FieldDefault)| {
            matches!(default, FieldDefault::List).then(|| Choice::Event((*name).to_owned()))
        };
        let events = EVENT_DEFAULTS.iter().filter_map(of_list);
        let all = rows.chain(findings).chain(files).chain(events);
        let many = all.chain([Choice::Siblings]);
        let many = many.filter(|choice| !values.tried(choice).is_all);
        found.extend(many.map(|choice| root_of(&choice.name()).to_owned()));
        found
    }
}

impl Values<'_> {
    /// Returns the lists of files.
    pub(super) fn files(&self, name: &str, set: &FileSet) -> Tried<Json> {
        let kinds = self.kinds_of_files(name, set);
        self.lists(&format!("files.{name}"), &kinds)
    }

    /// Returns the files of a set that differ in what matters.
    fn kinds_of_files(&self, name: &str, set: &FileSet) -> Tried<Map<String, Json>> {
        let mut is_all = true;
        let mut names = self.known_texts(&format!("files.{name}.name"));
        for pattern in &set.with {
            let values = |(hole, kind)| {
                let path = format!("files.{name}.{hole}");
                (String::from(hole), self.hole(&path, kind))
            };
            let holes = items::product(&pattern.holes().map(values).collect());
            is_all &= holes.is_all;
            for holes in holes.values {
                let fill = |hole: &str| Ok::<_, ()>(holes.get(hole).map(raw).unwrap_or_default());
                let Ok(name) = pattern.render(fill) else {
                    continue;
                };
                let name = |star: &str| name.replace("**/", "").replace('*', star);
                let mut fresh = fresh().take(3).map(|star| name(&star));
                names.extend(fresh.find(|name| set.matches(name).is_some()));
            }
        }
        let dir = PossibleWorld::dir(&self.chart, INSTANCE);
        let files = names.iter().filter_map(|name| {
            let text = || Ok::<_, ()>(Vec::new());
            let file = file_values::file(set, &dir, name, set.matches(name)?, text);
            to_json(&file.ok()?)?.as_object().cloned()
        });
        let files: Vec<_> = files.collect();
        // The lines of a file are a list like any other.
        let Some(line) = &set.line else {
            return Tried { values: files, is_all };
        };
        let path = format!("files.{name}.lines");
        let kinds = items::product(&self.line_holes(&path, line));
        let lines = self.lists(&path, &kinds);
        is_all &= lines.is_all && files.len() * lines.values.len() <= items::MOST;
        let with = |file: &Map<String, Json>| {
            let with = |lines: &Json| {
                let mut file = file.clone();
                file.insert("lines".to_owned(), lines.clone());
                file
            };
            lines.values.iter().map(with).collect::<Vec<_>>()
        };
        let all = files.iter().flat_map(with).take(items::MOST);
        Tried { values: all.collect(), is_all }
    }

    /// Returns the other instances that differ in what matters: of a context only what is compared.
    pub(super) fn kinds_of_siblings(&self) -> Tried<Map<String, Json>> {
        let chart = &self.chart;
        let contexts = chart.context.iter().map(|(name, field)| {
            let path = format!("siblings.context.{name}");
            let values = match field.kind {
                _ if !self.is_compared(&path) => vec![default_of(chart, field)],
                FieldType::Phase => chart.phases.keys().map(|name| json!(name)).collect(),
                _ => self.values_of(&path, field),
            };
            (name.clone(), values)
        });
        let contexts = items::product(&contexts.collect());
        let read = contexts.values.into_iter().map(Json::Object);
        let unread = chart.context.keys().map(|name| (name.clone(), Json::Null));
        let unread = Json::Object(unread.collect());
        let sets = chart.files.iter().filter(|(_, set)| !set.is_nested());
        let sets = sets.map(|(name, set)| {
            let looked_at = format!("siblings.files.{name}");
            let mut compared = self.dependence.compared.keys();
            let files = match compared.any(|path| path.starts_with(&looked_at)) {
                true => self.files(name, set).values,
                false => vec![json!([])],
            };
            (name.clone(), files)
        });
        let sets = items::product(&sets.collect());
        let files = sets.values.into_iter().map(Json::Object);
        let columns = [
            ("name", self.texts("siblings.name")),
            ("idle_hours", self.integers("siblings.idle_hours", Some(0), 0)),
            ("context", read.chain([unread.clone()]).collect()),
            ("files", files.collect()),
        ];
        let columns = columns.map(|(name, values)| (name.to_owned(), values));
        let mut rows = items::product(&columns.into_iter().collect());
        rows.is_all &= contexts.is_all && sets.is_all;
        for row in &mut rows.values {
            let is_unread = row.get("context") == Some(&unread);
            row.insert("unreadable".to_owned(), json!(is_unread));
            let path = PossibleWorld::dir(chart, &format!("{INSTANCE}2"));
            row.insert("path".to_owned(), json!(path.to_string_lossy()));
        }
        rows
    }
}
