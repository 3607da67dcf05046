//! The files that a set can have, and the instances beside.

use super::{Domain, GATE_TIMES, MOST_PARTS, Read, fresh, has_a_setting_among_others, raw};
use crate::chart::FileSet;
use crate::chart::field::default_of;
use crate::chart::model::FieldType;
use crate::explore::dependence::Compared;
use crate::explore::items::{self};
use crate::files::pattern::Capture;
use crate::hash::IndexMap;
use crate::host::events::{EVENT_DEFAULTS, FieldDefault};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Domain {
    /// Returns the inputs that have too many values which matter.
    pub(super) fn too_many(&self) -> BTreeSet<String> {
        // What a field holds is one value more, whichever.
        let read = &mut |field: &str| json!(format!("held-{field}"));
        // Of these, only the empty list is tried.
        let lists = ["findings", "cycle.findings", "rulings", "drivers"];
        let mut found: BTreeSet<String> = lists.map(str::to_owned).into();
        // Only numbers in the chart bound it.
        let times = self.compared(GATE_TIMES);
        if times.is_some_and(|times| !times.fields.is_empty() || times.linked) {
            found.insert(GATE_TIMES.to_owned());
        }
        let texts = self.dependence.compared.iter();
        let texts = texts.filter(|(_, compared)| {
            let parts = compared.parts.len() + compared.part_fields.len();
            parts > MOST_PARTS || has_a_setting_among_others(compared)
        });
        found.extend(texts.map(|(path, _)| crate::explore::dependence::root_of(path).to_owned()));
        let mut see = |root: String, path: &str, kinds: usize| {
            let many: Vec<Map<String, Json>> = vec![Map::new(); kinds.min(items::MOST)];
            let read = &mut |field: &str| json!(format!("held-{field}"));
            if kinds > items::MOST || items::lists(&many, &self.wanted(path, read)).is_none() {
                found.insert(root);
            }
        };
        for (name, table) in &self.chart.tables {
            let kinds = items::combinations(&self.columns(name, table, read));
            see(
                format!("tables.{name}"),
                &format!("tables.{name}.rows"),
                kinds,
            );
        }
        for name in self.chart.checks.keys() {
            let most = self.findings(name, &mut |field: &str| json!(format!("held-{field}")));
            let is_far = most.last().is_some_and(|most| *most > items::LONGEST);
            let kinds = if is_far { usize::MAX } else { 1 };
            see(format!("checks.{name}"), &format!("checks.{name}"), kinds);
        }
        for (name, set) in &self.chart.files {
            let (files, is_all) = self.kinds_of_files(name, set, read);
            let kinds = if is_all { files.len() } else { usize::MAX };
            see(format!("files.{name}"), &format!("files.{name}"), kinds);
        }
        for (name, default) in EVENT_DEFAULTS {
            if matches!(default, FieldDefault::List) {
                let kinds = items::combinations(&self.attributes(name, read));
                see(format!("event.{name}"), &format!("event.{name}"), kinds);
            }
        }
        if self.siblings_in_use() {
            let (kinds, is_all) = self.kinds_of_siblings(read);
            let kinds = if is_all { kinds.len() } else { usize::MAX };
            see("siblings".to_owned(), "siblings", kinds);
        }
        found
    }

    pub(super) fn siblings_in_use(&self) -> bool {
        self.dependence
            .compared
            .keys()
            .any(|path| path.starts_with("siblings"))
    }

    /// Returns the lists of files.
    pub(super) fn files(&self, name: &str, set: &FileSet, read: &mut Read<'_>) -> Vec<Json> {
        let (kinds, _) = self.kinds_of_files(name, set, read);
        self.lists(&format!("files.{name}"), kinds, read)
    }

    /// Returns the files of a set that differ in what matters; whether that is all of them.
    fn kinds_of_files(
        &self,
        name: &str,
        set: &FileSet,
        read: &mut Read<'_>,
    ) -> (Vec<Map<String, Json>>, bool) {
        let mut is_all = true;
        let mut names = self.known_texts(&format!("files.{name}.name"), read);
        for pattern in &set.with {
            let holes = self.holes(name, pattern, read);
            is_all &= items::combinations(&holes) <= items::MOST;
            for holes in items::product(holes) {
                let fill = |hole: &str| Ok::<_, ()>(holes.get(hole).map(raw).unwrap_or_default());
                let Ok(name) = pattern.render(fill) else {
                    continue;
                };
                let name = |star: &str| name.replace("**/", "").replace('*', star);
                names.extend(
                    fresh()
                        .take(3)
                        .map(|star| name(&star))
                        .find(|name| set.matches(name).is_some()),
                );
            }
        }
        let files = names.iter().filter_map(|name| {
            let captures = set.matches(name)?;
            let mut file = Map::new();
            file.insert("name".to_owned(), json!(name));
            file.insert("path".to_owned(), json!(format!("{}/{name}", self.dir())));
            for (hole, capture) in captures {
                let value = match capture {
                    Capture::Text(text) => json!(text),
                    Capture::Integer(number) => json!(number),
                };
                file.insert(hole.to_owned(), value);
            }
            Some(file)
        });
        let files: Vec<_> = files.collect();
        // The lines of a file are a list like any other.
        let Some(line) = &set.line else {
            return (files, is_all);
        };
        let path = format!("files.{name}.lines");
        let holes = self.line_holes(&path, line, read);
        is_all &= items::combinations(&holes) <= items::MOST;
        let kinds = items::product(holes);
        let lines = items::lists(&kinds, &self.wanted(&path, read));
        is_all &= lines.is_some();
        let lines = lines.unwrap_or_else(|| items::few(&kinds));
        is_all &= files.len() * lines.len() <= items::MOST;
        let with = |file: &Map<String, Json>| {
            let with = |lines: &Json| {
                let mut file = file.clone();
                file.insert("lines".to_owned(), lines.clone());
                file
            };
            lines.iter().map(with).collect::<Vec<_>>()
        };
        let all = files.iter().flat_map(with).take(items::MOST);
        (all.collect(), is_all)
    }

    pub(super) fn siblings(&self, read: &mut Read<'_>) -> Vec<Json> {
        let (kinds, _) = self.kinds_of_siblings(read);
        self.lists("siblings", kinds, read)
    }

    /// Returns the other instances that differ in what matters: of a context only what is compared. whether that is all
    /// of them.
    fn kinds_of_siblings(&self, read: &mut Read<'_>) -> (Vec<Map<String, Json>>, bool) {
        let mut is_all = true;
        let chart = Arc::clone(&self.chart);
        let mut columns: IndexMap<String, Vec<Json>> = IndexMap::default();
        columns.insert("name".to_owned(), self.texts("siblings.name", read));
        columns.insert(
            "idle_hours".to_owned(),
            self.integers("siblings.idle_hours", Some(0), 0, read),
        );
        let contexts = chart.context.iter().map(|(name, field)| {
            let path = format!("siblings.context.{name}");
            let values = match field.kind {
                _ if self.compared(&path).is_none() => vec![default_of(&chart, field)],
                FieldType::Phase => chart.phases.keys().map(|name| json!(name)).collect(),
                _ => self.parameter(&path, field),
            };
            (name.clone(), values)
        });
        let contexts: IndexMap<String, Vec<Json>> = contexts.collect();
        is_all &= items::combinations(&contexts) <= items::MOST;
        let contexts = items::product(contexts).into_iter().map(Json::Object);
        let unread = chart.context.keys().map(|name| (name.clone(), Json::Null));
        let unread = Json::Object(unread.collect());
        columns.insert(
            "context".to_owned(),
            contexts.chain([unread.clone()]).collect(),
        );
        let sets = chart.files.iter().filter(|(_, set)| !set.is_nested());
        let sets = sets.map(|(name, set)| {
            let looked_at = format!("siblings.files.{name}");
            let is_looked_at = |(path, _): (&String, &Compared)| path.starts_with(&looked_at);
            let files = match self.dependence.compared.iter().any(is_looked_at) {
                true => self.files(name, set, read),
                false => vec![json!([])],
            };
            (name.clone(), files)
        });
        let sets: IndexMap<String, Vec<Json>> = sets.collect();
        is_all &= items::combinations(&sets) <= items::MOST;
        let files = items::product(sets).into_iter().map(Json::Object);
        columns.insert("files".to_owned(), files.collect());
        is_all &= items::combinations(&columns) <= items::MOST;
        let rows = items::product(columns).into_iter().map(|mut row| {
            let is_unread = row.get("context") == Some(&unread);
            row.insert("unreadable".to_owned(), json!(is_unread));
            row.insert("path".to_owned(), json!(format!("{}2", self.dir())));
            row
        });
        (rows.collect(), is_all)
    }
}
