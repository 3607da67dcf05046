//! A chart's templates: compiled in, or files next to the chart.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
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

/// A block that replaces none, because the template behind it has no block of that name.
#[derive(Debug)]
pub struct Unfit {
    /// The name of its template.
    pub template: String,
    /// That template for messages, and its text.
    pub file: String,
    pub text: String,
    /// The name of the block, its place in the text, and the names that are known.
    pub block: String,
    pub span: Range<usize>,
    pub known: Vec<String>,
    /// The template without what should replace its blocks.
    pub base: String,
}

/// How a block begins, up to its name, and how that and the block end.
const BLOCK: [&str; 3] = ["{% block ", " %}", "{% endblock %}"];

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
        let text = self.with_blocks(name)?;
        Ok(text.map(|text| match text.contains(BLOCK[0]) {
            true => Cow::Owned(without_marks(&text)),
            false => text,
        }))
    }

    /// Returns the same, with the marks of its blocks. A template that consists of blocks replaces these in the one behind
    /// it.
    fn with_blocks(&self, name: &str) -> Result<Option<Cow<'static, str>>, Error> {
        match self {
            Self::Over(own, base) => match (own.with_blocks(name)?, base.with_blocks(name)?) {
                (Some(own), Some(base)) => match blocks(&own) {
                    Some(blocks) => {
                        replaced(base.into_owned(), &blocks).map(|text| Some(Cow::Owned(text)))
                    }
                    None => Ok(Some(own)),
                },
                (own, base) => Ok(own.or(base)),
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

    /// Returns the blocks that replace none.
    pub fn unfit(&self) -> Vec<Unfit> {
        let Self::Over(own, base) = self else {
            return Vec::new();
        };
        let mut unfit = base.unfit();
        for template in own.names() {
            let texts = (own.with_blocks(&template), base.with_blocks(&template));
            let (Ok(Some(text)), Ok(Some(base))) = texts else {
                continue;
            };
            let known = block_names(&base);
            for (block, _) in blocks(&text).unwrap_or_default() {
                let mark = format!("{}{block}{}", BLOCK[0], BLOCK[1]);
                let at = text.find(&mark).filter(|_| !base.contains(&mark));
                unfit.extend(at.map(|at| Unfit {
                    template: template.clone(),
                    file: own.shown(&template),
                    text: text.to_string(),
                    block: block.to_owned(),
                    span: at + BLOCK[0].len()..at + BLOCK[0].len() + block.len(),
                    known: known.clone(),
                    base: without_marks(&base),
                }));
            }
        }
        unfit
    }

    /// Returns the name of a template for messages: its path if it is a file.
    pub fn shown(&self, name: &str) -> String {
        match self {
            Self::Over(own, base) => match own.with_blocks(name) {
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

    /// Returns the indices of the folders that don't exist.
    pub fn missing_folders(&self) -> Vec<usize> {
        match self {
            Self::Over(own, _) => own.missing_folders(),
            Self::Embedded(_) => Vec::new(),
            Self::Folders(folders, _) => folders
                .iter()
                .enumerate()
                .filter(|(_, folder)| !folder.is_dir())
                .map(|(index, _)| index)
                .collect(),
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

/// Returns the first block of a text: what is before it, its name, its content, and what is behind it.
fn first_block(text: &str) -> Option<[&str; 4]> {
    let [start, middle, end] = BLOCK;
    let (before, rest) = text.split_once(start)?;
    let (name, rest) = rest.split_once(middle)?;
    let (content, after) = rest.split_once(end)?;
    Some([before, name, content, after])
}

/// Returns the names of the blocks of a text.
fn block_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some([_, name, _, after]) = first_block(rest) {
        names.push(name.to_owned());
        rest = after;
    }
    names
}

/// Returns whether a text has nothing but comments.
fn is_blank(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some((_, after)) = rest.strip_prefix("{#").and_then(|rest| rest.split_once("#}")) {
        rest = after.trim_start();
    }
    rest.is_empty()
}

/// Returns the blocks of a template that consists of nothing else, comments aside, by their names.
fn blocks(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some([before, name, content, after]) = first_block(rest) {
        if !is_blank(before) {
            return None;
        }
        found.push((name, content));
        rest = after;
    }
    (!found.is_empty() && is_blank(rest)).then_some(found)
}

/// Returns `text` with the contents of these blocks. One that it does not have is an error.
fn replaced(text: String, blocks: &[(&str, &str)]) -> Result<String, Error> {
    let [start, middle, end] = BLOCK;
    blocks.iter().try_fold(text, |text, (name, content)| {
        let mark = format!("{start}{name}{middle}");
        let found = text.split_once(&mark).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(end)?;
            Some(format!("{before}{mark}{content}{end}{after}"))
        });
        found.ok_or_else(|| {
            let detail = format!("the template that it replaces has no block `{name}`");
            Error::new(ErrorKind::TemplateNotFound, detail)
        })
    })
}

/// Returns a text with comments in place of the marks of its blocks. They are as long, so places stay the same.
fn without_marks(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some([before, name, content, after]) = first_block(rest) {
        plain.push_str(&format!("{before}{{# block {name} #}}{content}{{# endblock #}}"));
        rest = after;
    }
    plain + rest
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_of_blocks_replaces_these() {
        const BASE: &[(&str, &str)] = &[
            ("a.md", "One. {% block two %}Two.{% endblock %} {% block three %}3{% endblock %}"),
            ("b.md", "whole"),
        ];
        const OWN: &[(&str, &str)] = &[
            ("a.md", "{# Ours. #}\n{% block two %}Other.{% endblock %}\n{# End. #}\n"),
            ("c.md", "{% block x %}Alone.{% endblock %} And more."),
        ];
        const WRONG: &[(&str, &str)] = &[("a.md", "{% block four %}4{% endblock %}")];
        let templates = Templates::Embedded(OWN).over(Templates::Embedded(BASE));
        let get = |name: &str| templates.get(name).unwrap().map(Cow::into_owned);
        assert_eq!(
            get("a.md").as_deref(),
            Some("One. {# block two #}Other.{# endblock #} {# block three #}3{# endblock #}")
        );
        assert_eq!(get("b.md").as_deref(), Some("whole"));
        assert_eq!(get("c.md").as_deref(), Some("{# block x #}Alone.{# endblock #} And more."));
        assert_eq!(get("d.md"), None);
        assert_eq!(templates.names(), ["a.md", "b.md", "c.md"]);
        let wrong = Templates::Embedded(WRONG).over(Templates::Embedded(BASE));
        let error = wrong.get("a.md").unwrap_err().to_string();
        assert!(error.contains("has no block `four`"), "{error}");
        assert!(templates.unfit().is_empty());
        let unfit = wrong.unfit();
        let [unfit] = unfit.as_slice() else {
            panic!("{unfit:?}");
        };
        assert_eq!((&*unfit.template, &*unfit.block), ("a.md", "four"));
        assert_eq!(&unfit.text[unfit.span.clone()], "four");
        assert_eq!(unfit.known, ["two", "three"]);
    }
}
