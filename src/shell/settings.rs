//! The settings of a chart: from the project's file, from the user's own file, or the chart's defaults, in this
//! order.
//!
//! A project's setting that gives a reviewer more rights or instructions has no effect until the user trusts it.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::{Map, Value as Json};

use super::find::user_folder;
use super::state_file::{self, CONFIG};
use super::trust::{self, Part};
use crate::chart::Chart;
use crate::chart::field::default_of;
use crate::disk;
use crate::engine::context::Context;
use crate::files::pattern::is_slug;
use crate::text::full_stop;

/// Where a setting's value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    /// A file of settings.
    File(PathBuf),
}

/// One setting.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) value: Json,
    pub(crate) origin: Origin,
    /// Whether the project sets a different value that the user has not agreed to.
    pub(crate) is_ignored: bool,
}

/// All settings of a chart in a project.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) settings: IndexMap<String, Setting>,
    /// Problems with the files, one sentence each.
    pub(crate) warnings: Vec<String>,
    /// The project's settings that need trust, with the files that they name.
    pub(crate) asked: Vec<Part>,
}

impl Settings {
    /// Returns the values alone.
    pub(crate) fn values(&self) -> Context {
        let values = self.settings.iter();
        values
            .map(|(name, setting)| (name.clone(), setting.value.clone()))
            .collect()
    }
}

/// Reads the settings of `chart` for the project at `root`. The error names the file and what is wrong with it: one
/// wrong value makes all settings unusable, so that no decision is based on a guess.
pub(crate) fn read(chart: &Chart, root: &Path) -> Result<Settings, String> {
    let mut warnings = Vec::new();
    let defaults = chart.config.iter().map(|(name, field)| {
        let setting = Setting {
            value: default_of(chart, field),
            origin: Origin::Default,
            is_ignored: false,
        };
        (name.clone(), setting)
    });
    let mut settings: IndexMap<String, Setting> = defaults.collect();
    if let Some(path) = user_file(chart) {
        // A user's own file may be a link to anywhere.
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let folder = real.parent().unwrap_or(&real);
        for (name, value) in values(chart, folder, &real, &path, &mut warnings)? {
            if chart.config.get(&name).is_some_and(|field| field.file) {
                warnings.push(format!(
                    "{}: `{name}` is ignored: it is a file of one project, so it belongs in that project's {CONFIG}.",
                    path.display()
                ));
            } else if let Some(setting) = settings.get_mut(&name) {
                setting.value = value;
                setting.origin = Origin::File(path.clone());
            }
        }
    }
    let shown = Path::new(&chart.scope.home).join(CONFIG);
    let own = values(chart, root, &root.join(&shown), &shown, &mut warnings)?;
    // If the user has already set the same value, no further consent is needed.
    let needs_trust = |name: &String, value: &Json| {
        let field = chart.config.get(name);
        let needs_it = field.is_some_and(|field| field.file || field.trust.covers(value));
        needs_it && settings[name].value != *value
    };
    let mut asked = Vec::new();
    for (name, value) in own.iter().filter(|(name, value)| needs_trust(name, value)) {
        asked.push(Part {
            name: format!("{}: {name}", shown.display()),
            content: value.to_string().into_bytes(),
        });
        if let (true, Some(path)) = (chart.config[name].file, value.as_str()) {
            let part = named_file(root, path);
            asked.push(part.map_err(|why| format!("{}: `{name}`: {why}", shown.display()))?);
        }
    }
    let is_trusted = asked.is_empty() || trust::is_trusted(root, &asked);
    let (ignored, set): (Vec<_>, Vec<_>) = own
        .into_iter()
        .partition(|(name, value)| !is_trusted && needs_trust(name, value));
    for (name, value) in set {
        if let Some(setting) = settings.get_mut(&name) {
            setting.value = value;
            setting.origin = Origin::File(shown.clone());
        }
    }
    for (name, _) in &ignored {
        if let Some(setting) = settings.get_mut(name) {
            setting.is_ignored = true;
        }
    }
    let ignored: Vec<String> = ignored
        .iter()
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    if !ignored.is_empty() {
        warnings.push(format!(
            "{}: {} ignored until you run `taskie trust`.",
            shown.display(),
            match ignored.as_slice() {
                [one] => format!("{one} is"),
                several => format!("{} are", several.join(", ")),
            }
        ));
    }
    Ok(Settings {
        settings,
        warnings,
        asked,
    })
}

/// Reads the file named by the setting `value`, which must be inside the project at `root`.
pub(crate) fn named_file(root: &Path, value: &str) -> Result<Part, String> {
    let path = Path::new(value);
    let is_inside = path
        .components()
        .all(|step| matches!(step, std::path::Component::Normal(_)));
    if !is_inside {
        let value = value.escape_debug();
        return Err(format!(
            "`{value}` must be the path of a file inside the project"
        ));
    }
    trust::read(root, path)
}

/// Returns the file of the user's own settings for all projects: `taskie/CHART.json` in `$XDG_CONFIG_HOME`, or in
/// `~/.config` if that variable is not set.
pub(crate) fn user_file(chart: &Chart) -> Option<PathBuf> {
    if !is_slug(&chart.id) {
        return None;
    }
    let folder = user_folder("XDG_CONFIG_HOME", ".config")?;
    Some(folder.join("taskie").join(format!("{}.json", chart.id)))
}

/// Returns the settings in a file; none if there is no file.
fn values(
    chart: &Chart,
    root: &Path,
    path: &Path,
    shown: &Path,
    warnings: &mut Vec<String>,
) -> Result<Map<String, Json>, String> {
    let read = disk::read(root, path)
        .map_err(|error| format!("it cannot be read: {error}"))
        .and_then(|bytes| state_file::parse_config(chart, bytes.as_deref()));
    let (values, unknown) = read.map_err(|why| format!("{}: {why}", shown.display()))?;
    warnings.extend(unknown.iter().map(|key| {
        let stop = full_stop(key);
        format!("{}: {key}{stop}", shown.display())
    }));
    Ok(values)
}
