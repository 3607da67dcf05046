//! The chart's prompts for the Codex CLI, and putting them where it looks for them.
//!
//! A prompt is a template of the chart in its folder `codex/`, made of the same files as what other hosts get. That
//! host calls no hooks: what a prompt may promise is the prompt's business.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use minijinja::value::Value;

use crate::chart::Chart;
use crate::expr::{ExprError, Expressions};

/// The folder of the templates that are prompts. What is in its subfolders is a part of prompts.
const FOLDER: &str = "codex/";

/// A prompt, ready to be installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prompt {
    /// Its file's name.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// What is at a prompt's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum There {
    /// The prompt itself.
    Same,
    /// Another text.
    Other,
    Nothing,
}

/// The prompts of `chart`, sorted by name.
pub(crate) fn prompts(chart: &Chart) -> Result<Vec<Prompt>, ExprError> {
    let expressions = Expressions::new(chart.templates.clone());
    let names = chart.templates.names();
    let names = names.iter().filter_map(|name| {
        let own = name.strip_prefix(FOLDER)?;
        (!own.contains('/')).then_some((name, own))
    });
    names
        .map(|(template, name)| {
            // A prompt is the same for every instance, so it sees none.
            let text =
                expressions.template(template, &Value::from_pairs(Vec::<(&str, Value)>::new()))?;
            Ok(Prompt {
                name: name.to_owned(),
                text: format!("{text}\n"),
            })
        })
        .collect()
}

/// Where the Codex CLI looks for prompts: below `CODEX_HOME`, else `~/.codex`. `None` where neither is known.
pub(crate) fn folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let home = set("CODEX_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(set("HOME")?).join(".codex")))?;
    Some(home.join("prompts"))
}

impl Prompt {
    /// What is at its place in `folder`.
    pub(crate) fn look(&self, folder: &Path) -> io::Result<There> {
        let path = folder.join(&self.name);
        match fs::read(&path) {
            Ok(bytes) if bytes == self.text.as_bytes() => Ok(There::Same),
            Ok(_) => Ok(There::Other),
            // A link that leads nowhere just now is somebody's, too.
            Err(_) if path.is_symlink() && !path.exists() => Ok(There::Other),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(There::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Writes it to its place in `folder`, which is made where it is not there: the old file or the new one is there at
    /// any moment. Where a link leads elsewhere, the file that it leads to is replaced.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let path = folder.join(&self.name);
        let path = path.canonicalize().unwrap_or(path);
        let beside = path.parent().unwrap_or(folder);
        let mut file = tempfile::Builder::new()
            .prefix(".taskie-")
            .tempfile_in(beside)?;
        let permissions = match fs::metadata(&path) {
            Ok(meta) => meta.permissions(),
            // Others may read what is no secret.
            Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o644),
        };
        file.as_file().set_permissions(permissions)?;
        file.write_all(self.text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }
}
