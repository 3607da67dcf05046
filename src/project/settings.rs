//! The settings of a chart: from the project's file, from the user's own file, or the chart's defaults, in this
//! order.
//!
//! A project's setting that gives a reviewer more rights or instructions has no effect until the user trusts it.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value as Json};

use crate::chart::Chart;
use crate::chart::choice::Embedded;
use crate::chart::field::default_of;
use crate::chart::known::EVERY_STOP;
use crate::chart::model::Field;
use crate::disk;
use crate::engine::context::Context;
use crate::files::pattern::is_slug;
use crate::hash::IndexMap;
use crate::project::home::{is_inside, user_folders};
use crate::project::state_file::{self, CONFIG};
use crate::project::trust::{self, Part, TrustedPart};
use crate::text::full_stop;

/// The project's file of settings as it was before a change that must not set how it is judged; `None` if there was none.
#[derive(Debug, Clone)]
pub(crate) struct Before(Option<Vec<u8>>);

impl Before {
    /// Returns the file as it was, if that is not how it is now.
    pub(crate) fn unless_same(chart: &Chart, root: &Path, before: Option<String>) -> Option<Self> {
        let before = before.map(String::into_bytes);
        let now = disk::read(root, &root.join(file_of(chart)));
        let is_same = now.is_ok_and(|now| {
            let [now, before] =
                [&now, &before].map(|text| text.as_deref().map(<[u8]>::trim_ascii_end));
            now == before
        });
        (!is_same).then_some(Self(before))
    }
}

/// Returns the project's file of the settings that count for `chart`, from its root on.
pub(crate) fn file_of(chart: &Chart) -> PathBuf {
    let shared = chart.of_settings().map(Embedded::home);
    Path::new(shared.unwrap_or(&chart.scope.home)).join(CONFIG)
}

/// One setting.
#[derive(Debug, Clone)]
pub(crate) struct Setting {
    pub(crate) value: Json,
    /// The file of settings that it comes from; `None` for the default.
    pub(crate) origin: Option<PathBuf>,
    /// The value that has no effect until the user runs `taskie config trust`.
    pub(crate) held_back: Option<HeldBack>,
}

impl Setting {
    fn default_of(chart: &Chart, field: &Field) -> Self {
        Self { value: default_of(chart, field), origin: None, held_back: None }
    }
}

/// A value that the user has not agreed to.
#[derive(Debug, Clone)]
pub(crate) struct HeldBack {
    pub(crate) value: Json,
    pub(crate) file: PathBuf,
    /// Why it needs the user's consent, as the end of a sentence about it.
    pub(crate) why: &'static str,
}

/// It gives a reviewer more rights or instructions, or runs something.
const POWER: &str = "it needs trust";

/// It lets more through than the user's own file does, or a default that is a bound.
const LOOSER: &str = "it is looser than your own or the default";

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
        values.map(|(name, setting)| (name.clone(), setting.value.clone())).collect()
    }
}

/// Reads the settings of `chart` for the project at `root`, with its file as it was `before` if that is given. The error names
/// the file and what is wrong with it: one wrong value makes all settings unusable, so that no decision is based on a guess.
pub(crate) fn read(
    chart: &Chart,
    root: &Path,
    before: Option<&Before>,
) -> Result<Settings, String> {
    let Some(shared) = chart.of_settings() else {
        return read_own(chart, root, before);
    };
    let shared = shared.load().map_err(|error| error.to_string())?;
    let mut read = read_own(&shared, root, before)?;
    let given = |name: &str, settings: &mut IndexMap<String, Setting>| {
        let setting = settings.swap_remove(name)?;
        (setting.origin.is_some() || setting.held_back.is_some()).then_some(setting)
    };
    let own = chart.config.iter().map(|(name, field)| {
        let setting = given(name, &mut read.settings);
        let setting = setting.unwrap_or_else(|| Setting::default_of(chart, field));
        (name.clone(), setting)
    });
    Ok(Settings { settings: own.collect(), ..read })
}

/// Returns whether there is a file of settings for the project at `root`, or whether that is unknown. Nothing is parsed.
pub(crate) fn are_given(chart: &'static Embedded, root: &Path) -> bool {
    let chart = chart.of_settings();
    let own = root.join(chart.home()).join(CONFIG);
    let files = [Some(own), user_file(chart.id, root, &mut Vec::new())];
    !files.into_iter().flatten().all(|file| matches!(disk::modified(&file), Ok(None)))
}

/// Reads the user's own file, which may be a link to anywhere.
fn read_users(path: &Path) -> io::Result<Option<Vec<u8>>> {
    if disk::modified(path)?.is_none() {
        return Ok(None);
    }
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().unwrap_or(&real);
    let mut kept = [Some(&*real), Some(folder), path.parent()].into_iter().flatten();
    match kept.find_map(|path| Some((path, disk::distrust_own(path)?))) {
        Some((path, why)) => Err(io::Error::other(format!("{}: {why}", path.display()))),
        None => disk::read(folder, &real),
    }
}

/// Reads the settings of `chart` without those of another chart.
fn read_own(chart: &Chart, root: &Path, before: Option<&Before>) -> Result<Settings, String> {
    let defaults = chart.config.iter().map(|(name, field)| {
        let setting = Setting::default_of(chart, field);
        (name.clone(), setting)
    });
    let mut read =
        Settings { settings: defaults.collect(), warnings: Vec::new(), asked: Vec::new() };
    read.take_users(chart, root)?;
    read.take_projects(chart, root, before)?;
    read.asked = asked(chart, root, &read.settings)?;
    let is_trusted =
        read.asked.is_empty() || trust::is_trusted(root, TrustedPart::Settings, &read.asked);
    if !is_trusted {
        read.warnings.extend(held_back(&read.settings).map(|(name, held)| {
            let file = held.file.display();
            format!("{file}: `{name}` is ignored until you run `taskie config trust`.")
        }));
    }
    for setting in read.settings.values_mut() {
        if let Some(held) = setting.held_back.take_if(|_| is_trusted) {
            (setting.value, setting.origin) = (held.value, Some(held.file));
        }
    }
    Ok(read)
}

impl Settings {
    /// Takes the values of the user's own file.
    fn take_users(&mut self, chart: &Chart, root: &Path) -> Result<(), String> {
        let Some(path) = user_file(&chart.id, root, &mut self.warnings) else {
            return Ok(());
        };
        for (name, value) in values(chart, read_users(&path), &path, &mut self.warnings)? {
            let field = chart.config.get(&name);
            if field.is_some_and(|field| field.is_file()) {
                self.warnings.push(format!(
                    "{}: `{name}` is ignored: it is a file of one project, so it belongs in that project's {CONFIG}.",
                    path.display()
                ));
            } else if let Some(setting) = self.settings.get_mut(&name) {
                (setting.value, setting.origin) = (value, Some(path.clone()));
            }
        }
        Ok(())
    }

    /// Takes the values of the project's file, and holds back those that the user has to agree to.
    fn take_projects(
        &mut self,
        chart: &Chart,
        root: &Path,
        before: Option<&Before>,
    ) -> Result<(), String> {
        let file = Path::new(&chart.scope.home).join(CONFIG);
        let read = match before {
            Some(Before(before)) => Ok(before.clone()),
            None => disk::read(root, &root.join(&file)),
        };
        for (name, value) in values(chart, read, &file, &mut self.warnings)? {
            let (Some(setting), Some(field)) =
                (self.settings.get_mut(&name), chart.config.get(&name))
            else {
                continue;
            };
            // If the user has already set the same value, no further consent is needed.
            let is_new = setting.value != value;
            // It costs the user's money.
            let turns_on = name == EVERY_STOP && value == true;
            let has_power = is_new && (field.is_file() || field.is_of_commands() || turns_on);
            let has_bound = setting.origin.is_some() || field.is_bound();
            let is_looser = || has_bound && field.is_looser(&value, &setting.value);
            let why = has_power.then_some(POWER).or_else(|| is_looser().then_some(LOOSER));
            let file = file.clone();
            match why {
                Some(why) => setting.held_back = Some(HeldBack { value, file, why }),
                None => (setting.value, setting.origin) = (value, Some(file)),
            }
        }
        Ok(())
    }
}

/// Returns the settings that are held back, with their names.
fn held_back(settings: &IndexMap<String, Setting>) -> impl Iterator<Item = (&String, &HeldBack)> {
    settings.iter().filter_map(|(name, setting)| Some((name, setting.held_back.as_ref()?)))
}

/// Returns what the user is asked to trust: each setting that is held back, and the file that it names.
fn asked(
    chart: &Chart,
    root: &Path,
    settings: &IndexMap<String, Setting>,
) -> Result<Vec<Part>, String> {
    let mut asked = Vec::new();
    for (name, HeldBack { value, file, .. }) in held_back(settings) {
        let file = file.display();
        let content = value.to_string().into_bytes();
        asked.push(Part { name: format!("{file}: {name}"), content });
        if let (true, Some(path)) = (chart.config[name].is_file(), value.as_str()) {
            let part = trust::read(root, Path::new(path));
            asked.push(part.map_err(|why| format!("{file}: `{name}`: {why}"))?);
        }
    }
    Ok(asked)
}

/// Returns the file of the user's own settings for all projects: `taskie/CHART.json` in `$XDG_CONFIG_HOME`, or in
/// `~/.config` if that variable is not set. A folder inside the project is not the user's.
fn user_file(id: &str, root: &Path, warnings: &mut Vec<String>) -> Option<PathBuf> {
    if !is_slug(id) {
        return None;
    }
    let [mut named, at_home] = user_folders("XDG_CONFIG_HOME", ".config");
    // A directory that contains the user's home is not a project.
    let is_project = || !at_home.as_ref().is_some_and(|home| is_inside(home, root));
    if named.take_if(|folder| is_inside(folder, root) && is_project()).is_some() {
        let why = "XDG_CONFIG_HOME is inside the project, so it is not used for your own settings.";
        warnings.push(why.to_owned());
    }
    let folder = named.or(at_home)?;
    Some(folder.join("taskie").join(format!("{id}.json")))
}

/// Returns the settings in a file that was read; none if there is no file.
fn values(
    chart: &Chart,
    read: io::Result<Option<Vec<u8>>>,
    shown: &Path,
    warnings: &mut Vec<String>,
) -> Result<Map<String, Json>, String> {
    let read = read
        .map_err(|error| format!("it cannot be read: {error}"))
        .and_then(|bytes| state_file::parse_config(chart, bytes.as_deref()));
    let (values, unknown) = read.map_err(|why| format!("{}: {why}", shown.display()))?;
    warnings.extend(unknown.iter().map(|key| {
        let stop = full_stop(key);
        format!("{}: {key}{stop}", shown.display())
    }));
    Ok(values)
}
