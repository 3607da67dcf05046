//! The event and the disk on which the choices of a witness are real.

use super::{Position, Replay, Scene};
use crate::chart::field::name_part;
use crate::chart::{FileSet, RowShape};
use crate::engine::context::Context;
use crate::engine::event::Trigger;
use crate::engine::possible_world::{Disk, Sibling, event};
use crate::explore::decision_tree::Witness;
use crate::explore::domain::{Choice, NO_SLUG};
use crate::explore::imagined_world::{Question, is_of_the_host};
use crate::files::pattern::name_flaw;
use crate::reviewer::finding::{Finding, Found, Ran};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

impl Replay<'_> {
    /// Returns an event and a disk on which what was chosen is so, as far as that can be.
    pub(super) fn scene(
        &mut self,
        trigger: &Trigger,
        position: &Position,
        chosen: &Witness,
    ) -> Option<Scene> {
        let more = self.for_findings(chosen)?;
        let tree = &self.moves.tree;
        let mut event = event(trigger.clone(), Map::new());
        let mut found = Found::default();
        let mut disk = Disk {
            now: "20260101T000000".to_owned(),
            config: position.config.clone(),
            ..Disk::default()
        };
        let mut tables: BTreeMap<&str, Map<String, Json>> = BTreeMap::new();
        for (question, value) in more.iter().chain(chosen) {
            let value = tree.value(*value);
            let text = || value.as_str().map(str::to_owned);
            let is_true = *value == json!(true);
            match tree.question(*question) {
                Question::Answered { answer, review } => {
                    disk.files.insert(review.clone(), (String::new(), 1));
                    if is_true {
                        disk.files.insert(answer.clone(), (String::new(), 2));
                    }
                }
                Question::Choice(choice) => match choice {
                    Choice::Files(name) => {
                        let named = files_of(self.chart.files.get(name)?, value)?.into_iter();
                        disk.files.extend(named.map(|(name, text)| (name, (text, 0))));
                    }
                    Choice::Rows(name) => {
                        let table = tables.entry(name).or_default();
                        table.insert("rows".to_owned(), value.clone());
                    }
                    Choice::Content { table, key } => {
                        let table = tables.entry(table).or_default();
                        table.insert((*key).to_owned(), value.clone());
                    }
                    Choice::Siblings => disk.siblings = self.siblings(value)?,
                    Choice::Event(name) => event.fields[name] = value.clone(),
                    Choice::Arg(name) if !value.is_null() => {
                        event.args.insert(name.clone(), value.clone());
                    }
                    Choice::Session => event.session = text(),
                    Choice::Driver => disk.driver = text(),
                    Choice::Worst => found.findings.extend(value.as_str().map(finding_of)),
                    Choice::Ran if is_true => found.ran.push(Ran::some()),
                    Choice::Stalled => disk.stalled = is_true,
                    Choice::Over => disk.over = text(),
                    Choice::Postponed => disk.postponed = text(),
                    Choice::Dirty => disk.dirty = is_true,
                    Choice::Arg(_) | Choice::Ran | Choice::Findings(_) => {}
                },
                // The state and the settings hold the rest.
                _ => {}
            }
        }
        for (name, chosen) in tables {
            self.add_table(&mut disk, name, &chosen, &position.context);
        }
        let is_hook = is_of_the_host(trigger);
        let own = event.fields.get("session_id").and_then(Json::as_str);
        let own = own.filter(|_| is_hook).map(str::to_owned);
        let session = own.or(event.session);
        // A command refuses the id of a session that cannot be a name, and no instance is called that.
        let is_name = !is_hook || self.chart.scope.is_per_session();
        if is_name && session.as_deref().and_then(name_flaw).is_some() {
            return None;
        }
        event.session = session.filter(|id| !id.is_empty());
        Some(Scene { event, disk, found })
    }

    /// Returns the instances that were chosen; `None` where none can be like that.
    fn siblings(&self, value: &Json) -> Option<Vec<Sibling>> {
        let mut all: Vec<Sibling> = Vec::new();
        for sibling in value.as_array()? {
            let is_unreadable = sibling.get("unreadable") == Some(&json!(true));
            let context = sibling.get("context")?.as_object()?.clone();
            let mut files = BTreeMap::new();
            for (name, list) in sibling.get("files")?.as_object()? {
                files.extend(files_of(self.chart.files.get(name)?, list)?);
            }
            let mut name = sibling.get("name")?.as_str()?.to_owned();
            // A name that means nothing is as good as another: no two are the same, and each can be one.
            if name_flaw(&name).is_some() {
                "another".clone_into(&mut name);
            }
            while all.iter().any(|known| known.name == name) {
                name.push_str("-too");
            }
            all.push(Sibling {
                name,
                context: (!is_unreadable).then(|| context.into_iter().collect()),
                files,
                idle_hours: sibling.get("idle_hours")?.as_u64()?,
            });
        }
        Some(all)
    }

    /// Writes the file of a table, where there is one.
    fn add_table(
        &self,
        disk: &mut Disk,
        name: &str,
        chosen: &Map<String, Json>,
        context: &Context,
    ) -> Option<()> {
        let table = self.chart.tables.get(name)?;
        let part = |hole: &str| context.get(hole).and_then(name_part).ok_or(());
        let file = table.file.render(part).ok()?;
        let rows = chosen.get("rows").and_then(Json::as_array);
        let rows = rows.map_or(&[][..], Vec::as_slice);
        let is_true = |key: &str| chosen.get(key) == Some(&json!(true));
        let wanted = chosen.get("lines").and_then(Json::as_u64).unwrap_or(0);
        if rows.is_empty() && !is_true("exists") {
            return None;
        }
        let mut lines: Vec<String> = Vec::new();
        if is_true("prose") {
            lines.push("Words.".to_owned());
        }
        let cell = |row: &Json, name: &str| {
            let text = row.get(name).and_then(Json::as_str).unwrap_or_default();
            text.replace('|', "\\|")
        };
        match &table.rows {
            RowShape::Columns(columns) => {
                let separator = format!("|{}", "---|".repeat(columns.len()));
                if is_true("lacks") {
                    // A table of its own that has no column for the id.
                    lines.push(format!("|{}", " Other |".repeat(columns.len())));
                    lines.push(separator.clone());
                }
                if !rows.is_empty() || is_true("unusable") || is_true("head") && !is_true("lacks") {
                    let headings = columns.values().filter_map(|names| names.first());
                    let headings: Vec<&str> = headings.map(String::as_str).collect();
                    lines.push(format!("| {} |", headings.join(" | ")));
                    lines.extend(is_true("lacks").then_some(separator));
                }
                for row in rows {
                    let cells: Vec<String> = columns.keys().map(|name| cell(row, name)).collect();
                    lines.push(format!("| {} |", cells.join(" | ")));
                }
                if is_true("unusable") {
                    lines.push(format!("|{}", format!(" {NO_SLUG} |").repeat(columns.len())));
                }
            }
            RowShape::Line(pattern) => {
                for row in rows {
                    lines.push(pattern.render(|hole| Ok::<_, ()>(cell(row, hole))).ok()?);
                }
            }
        }
        let wanted = usize::try_from(wanted.min(100_000)).unwrap_or(0);
        lines.resize(lines.len().max(wanted), String::new());
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        disk.files.insert(file, (text, 0));
        Some(())
    }
}

/// Returns a finding of that severity.
fn finding_of(severity: &str) -> Finding {
    Finding {
        severity: severity.to_owned(),
        file: None,
        line: None,
        title: "it is wrong".to_owned(),
    }
}

/// Returns the files of a list that was chosen for a set, with the lines that it asks for.
fn files_of(set: &FileSet, list: &Json) -> Option<BTreeMap<String, String>> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for file in list.as_array()? {
        let mut name = file.get("name")?.as_str()?.to_owned();
        if files.contains_key(&name) {
            // One with a number more in its name, wherever that can be.
            let ends = || name.char_indices().map(|(at, _)| at);
            let with = |number: u32, at: usize| format!("{}{number}{}", &name[..at], &name[at..]);
            let mut others = (1..1_000).flat_map(|number| ends().map(move |at| with(number, at)));
            let is_free = |other: &String| !files.contains_key(other);
            name = others.find(|other| is_free(other) && set.matches(other).is_some())?;
        }
        let mut text = String::new();
        let lines = file.get("lines").and_then(Json::as_array);
        for line in lines.into_iter().flatten() {
            let part = |hole: &str| line.get(hole).and_then(Json::as_str).unwrap_or_default();
            let rendered = set.line.as_ref()?;
            let rendered = rendered.render(|hole| Ok::<_, ()>(part(hole).to_owned()));
            text += &rendered.ok()?;
            text.push('\n');
        }
        files.insert(name, text);
    }
    Some(files)
}
