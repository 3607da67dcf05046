//! Turns the actions of a rule into effects, as data. Free names are chosen here, so that a text can say which file
//! will be created; the shell checks that they are still free.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use minijinja::value::Value;

use super::decision::Effect;
use super::fault::Fault;
use super::names::Names;
use crate::chart::model::{Action, Deed};
use crate::expr::source::{Literal, Text};
use crate::files::{is_below, timestamp};
use crate::hash::IndexMap;

/// Returns the effects of `actions`, in order, and sets `touched` to their paths.
pub(super) fn effects(
    names: &Arc<Names>,
    place: &str,
    actions: &[Action],
) -> Result<Vec<Effect>, Fault> {
    let mut plan =
        Plan { names, folders: IndexMap::default(), effects: Vec::new(), touched: Vec::new() };
    for (index, action) in actions.iter().enumerate() {
        plan.action(&format!("{place}.actions[{index}]"), action)?;
    }
    names.set_touched(plan.touched);
    Ok(plan.effects)
}

struct Plan<'n> {
    names: &'n Arc<Names>,
    /// The names in each folder, as they will be after the effects so far.
    folders: IndexMap<String, BTreeSet<String>>,
    effects: Vec<Effect>,
    touched: Vec<String>,
}

impl Plan<'_> {
    fn action(&mut self, place: &str, action: &Action) -> Result<(), Fault> {
        let deed = action.deed().map_err(|why| Fault::World(format!("{place}: {why}")))?;
        let roots = self.names.select(action.each.as_ref(), action.guard.as_ref());
        let at = |(key, error)| Fault::at(format!("{place}.{key}"))(error);
        for root in roots.map_err(at)? {
            self.deed(place, deed, &root)?;
        }
        Ok(())
    }

    fn deed(&mut self, place: &str, deed: Deed<'_>, root: &Value) -> Result<(), Fault> {
        let names = self.names;
        let (with_key, with) = deed.with.unwrap_or((deed.key, deed.of));
        let to = || self.path(place, with_key, with, root);
        let of = match deed.key {
            "copy" => to()?,
            key => self.path(place, key, deed.of, root)?,
        };
        let effect = match deed.key {
            "write" => {
                let text = self.content(place, with, root)?;
                Effect::Write { text, path: self.free(&of)? }
            }
            "replace" => Effect::Replace { path: of, text: self.content(place, with, root)? },
            "ensure" => Effect::Ensure {
                path: of,
                line: names.text(format_args!("{place}.text"), with, root)?,
            },
            "rename" => {
                let to = to()?;
                let (folder, name) = split(&of);
                self.folder(folder)?.remove(name);
                Effect::Rename { from: of, to: self.free(&to)? }
            }
            "copy" => {
                let (folder, name) = split(&of);
                if self.folder(folder)?.contains(name) {
                    return Ok(());
                }
                let text = names.chart.template(&deed.of.0);
                let text = text.map_err(|why| Fault::World(format!("{place}.copy: {why}")))?;
                Effect::Write { path: of, text }
            }
            "remove" => Effect::Remove { path: of },
            _ => Effect::Cancel { path: of },
        };
        self.touched.push(effect.path().to_owned());
        self.effects.push(effect);
        Ok(())
    }

    /// Returns what a file is to contain: the user's text keeps its last line break.
    fn content(&self, place: &str, text: &Text, root: &Value) -> Result<String, Fault> {
        let text = Literal::Text(text.clone());
        let text = (self.names).literal(format_args!("{place}.text"), &text, root)?;
        Ok(text.to_string())
    }

    /// Returns the path that a text evaluates to, which must be inside the home.
    fn path(&self, place: &str, key: &str, text: &Text, root: &Value) -> Result<String, Fault> {
        let path = self.names.strict_text(format_args!("{place}.{key}"), text, root)?;
        // A home in a git directory outside the work tree is absolute.
        let home = &self.names.chart.scope.home;
        let below = path.strip_prefix(home).and_then(|path| path.strip_prefix('/'));
        // `a//b` and `a/./b` have another spelling.
        let is_plain = |below: &str| {
            is_below(below) && Path::new(below).iter().eq(below.split('/').map(OsStr::new))
        };
        if below.is_some_and(is_plain) {
            return Ok(path);
        }
        Err(Fault::World(format!(
            "{place}.{key}: `{}` is not a path below {}",
            path.escape_debug(),
            home
        )))
    }

    /// Returns the names in a folder.
    fn folder(&mut self, folder: &str) -> Result<&mut BTreeSet<String>, Fault> {
        if !self.folders.contains_key(folder) {
            let names = self.names.names_in(folder)?.into_iter().collect();
            self.folders.insert(folder.to_owned(), names);
        }
        Ok(self.folders.entry(folder.to_owned()).or_default())
    }

    /// Returns `path` if its name is free, otherwise the next free name. A name that begins with a time gets the next
    /// second that no other name begins with, so that names keep their order; any other name gets `-2`, `-3` and so
    /// on.
    fn free(&mut self, path: &str) -> Result<String, Fault> {
        let (folder, name) = split(path);
        let taken = self.folder(folder)?;
        let free = match timestamp::of(name) {
            Some(first) => {
                let is_taken = |stamp: &String| {
                    let mut later = taken.range(stamp.clone()..);
                    later.next().is_some_and(|name| name.starts_with(stamp.as_str()))
                };
                let mut stamp = first.to_owned();
                while is_taken(&stamp) {
                    stamp = timestamp::next(&stamp).ok_or_else(|| {
                        Fault::World(format!("{path}: no later name is available"))
                    })?;
                }
                format!("{stamp}{}", &name[first.len()..])
            }
            None => {
                let (stem, ending) = name.split_at(name.find('.').unwrap_or(name.len()));
                let numbered = (2_u64..).map(|number| format!("{stem}-{number}{ending}"));
                std::iter::once(name.to_owned())
                    .chain(numbered)
                    .find(|name| !taken.contains(name))
                    .unwrap_or_default()
            }
        };
        taken.insert(free.clone());
        Ok(format!("{folder}/{free}"))
    }
}

/// Splits a path into its folder and its name. A path inside the home has both.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
