//! A chart's templates: compiled in, or files next to the chart.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::{Error, ErrorKind};
use walkdir::WalkDir;

use crate::disk;
use crate::files::is_below;

/// The templates of one chart.
#[derive(Debug, Clone)]
pub enum Templates {
    /// Compiled in: (name, text), sorted by name.
    Embedded(&'static [(&'static str, &'static str)]),
    /// Looked up in these folders, in order, and read once.
    Folders(Vec<PathBuf>, Texts),
    /// Those of a chart, and behind them those of the charts that it extends.
    Over(Arc<Self>, Arc<Self>),
}

/// The texts that were read, by the names of their templates; `None` where there is none.
pub type Texts = Arc<Mutex<HashMap<String, Option<String>>>>;

impl Templates {
    /// Returns the templates in these folders, which are looked up in `dir`.
    pub fn beside(dir: &Path, folders: &[String]) -> Self {
        Self::folders(folders.iter().map(|folder| dir.join(folder)).collect())
    }

    /// Returns the templates in these folders.
    pub fn folders(folders: Vec<PathBuf>) -> Self {
        Self::Folders(folders, Texts::default())
    }

    /// Returns these templates, and `base` behind them.
    pub fn over(self, base: Self) -> Self {
        Self::Over(Arc::new(self), Arc::new(base))
    }

    /// Returns the text of template `name`; `None` if there is none.
    pub fn get(&self, name: &str) -> Result<Option<Cow<'static, str>>, Error> {
        match self {
            Self::Over(own, base) => match own.get(name)? {
                None => base.get(name),
                own => Ok(own),
            },
            Self::Embedded(table) => Ok(table
                .binary_search_by_key(&name, |(key, _)| key)
                .ok()
                .map(|index| Cow::Borrowed(table[index].1))),
            Self::Folders(folders, texts) => {
                let mut texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
                let text = match texts.get(name) {
                    Some(known) => known.clone(),
                    None => {
                        let text = read(folders, name)?;
                        texts.insert(name.to_owned(), text.clone());
                        text
                    }
                };
                Ok(text.map(Cow::Owned))
            }
        }
    }

    /// Returns the name of a template for messages: its path if it is a file.
    pub fn shown(&self, name: &str) -> String {
        match self {
            Self::Over(own, base) => match own.get(name) {
                Ok(None) => base.shown(name),
                _ => own.shown(name),
            },
            Self::Embedded(_) => name.to_owned(),
            Self::Folders(folders, _) => {
                let file =
                    folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
                file.map_or_else(|| name.to_owned(), |path| path.display().to_string())
            }
        }
    }

    /// Returns the names of the templates in the chart's own folder, which is the first one, sorted. For templates
    /// that are compiled in, the folder is not known.
    pub fn own_names(&self) -> Vec<String> {
        match self {
            Self::Over(own, _) => own.own_names(),
            Self::Embedded(_) => Vec::new(),
            Self::Folders(folders, _) => names(&folders[..folders.len().min(1)]),
        }
    }

    /// Returns the names of all templates, sorted.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Over(own, base) => {
                let names: BTreeSet<String> = own.names().into_iter().chain(base.names()).collect();
                names.into_iter().collect()
            }
            Self::Embedded(table) => table.iter().map(|(name, _)| (*name).to_owned()).collect(),
            Self::Folders(folders, _) => names(folders),
        }
    }
}

/// The text of the first file of that name in one of these folders.
fn read(folders: &[PathBuf], name: &str) -> Result<Option<String>, Error> {
    if !is_below(name) {
        return Ok(None);
    }
    for folder in folders {
        match disk::text(&folder.join(name)) {
            Ok(text) => return Ok(Some(text)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                let detail = format!("{}: {error}", folder.join(name).display());
                return Err(Error::new(ErrorKind::TemplateNotFound, detail));
            }
        }
    }
    Ok(None)
}

/// The names of all files in these folders, sorted.
fn names(folders: &[PathBuf]) -> Vec<String> {
    let entries = folders.iter().flat_map(|folder| {
        let entries = WalkDir::new(folder).into_iter().flatten();
        entries.map(move |entry| (folder, entry))
    });
    let files = entries.filter(|(_, entry)| entry.file_type().is_file());
    let names = files.filter_map(|(folder, entry)| {
        let name = entry.path().strip_prefix(folder).ok()?;
        Some(name.to_string_lossy().into_owned())
    });
    names.collect::<BTreeSet<_>>().into_iter().collect()
}
