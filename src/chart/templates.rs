//! Where a chart's templates come from: compiled in, or files beside the chart.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};

use minijinja::{Error, ErrorKind};

/// The templates of one chart.
#[derive(Debug, Clone)]
pub(crate) enum Templates {
    /// Compiled in: (name, text), sorted by name.
    Embedded(&'static [(&'static str, &'static str)]),
    /// Looked up in these folders, in order.
    Folders(Vec<PathBuf>),
}

impl Templates {
    /// The text of template `name`; `None` where there is none of that name.
    pub(crate) fn get(&self, name: &str) -> Result<Option<Cow<'static, str>>, Error> {
        match self {
            Self::Embedded(table) => Ok(table
                .binary_search_by_key(&name, |(key, _)| key)
                .ok()
                .map(|index| Cow::Borrowed(table[index].1))),
            Self::Folders(folders) => {
                if !Path::new(name).components().all(|part| matches!(part, Component::Normal(_))) {
                    return Ok(None);
                }
                for folder in folders {
                    match std::fs::read_to_string(folder.join(name)) {
                        Ok(text) => return Ok(Some(Cow::Owned(text))),
                        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                        Err(error) => {
                            let detail = format!("{}: {error}", folder.join(name).display());
                            return Err(Error::new(ErrorKind::TemplateNotFound, detail));
                        }
                    }
                }
                Ok(None)
            }
        }
    }
}
