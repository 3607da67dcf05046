//! What a chart extends: finds those charts, merges them, and returns findings to the files in which they are written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::Value;
use toml::de::DeTable;

use super::merge;
use super::model::templates_beside;
use super::shipped;
use super::structure;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::{ChartError, Flaw, SourceFile, in_order};
use crate::diagnostic::suggest::{did_you_mean, hint};
use crate::diagnostic::toml::Document;
use crate::disk;
use crate::expr::templates::Templates;

/// The most charts that extend each other.
const DEEPEST: usize = 16;

/// A chart with the charts that it extends.
pub struct Extended<'t> {
    pub origin: &'t str,
    /// As its author wrote it.
    own: &'t str,
    /// The texts of what it extends and its own, as the merge reads them; and one after the other.
    layers: Vec<String>,
    text: String,
    /// The charts that it extends, in the order in which they are merged.
    pub bases: Vec<Base>,
    /// What is wrong with what it extends. Nothing else can be known then.
    pub flaws: Vec<Flaw>,
}

/// A chart that another one extends.
pub struct Base {
    /// Its text and its name in messages.
    pub file: Arc<SourceFile>,
    templates: Templates,
    /// Identifies it.
    which: PathBuf,
}

impl<'t> Extended<'t> {
    /// Finds and merges what the chart in `text` extends. `origin` is its path, or its id if it is compiled in.
    pub fn of(origin: &'t str, text: &'t str) -> Self {
        let mut extended = Self {
            origin,
            own: text,
            layers: Vec::new(),
            text: text.to_owned(),
            bases: Vec::new(),
            flaws: Vec::new(),
        };
        // What a broken line adds or removes is unknown.
        if !Document::parse(text).errors.is_empty() {
            return extended;
        }
        let dir = Path::new(origin).parent().unwrap_or(Path::new(""));
        extended.add(None, text, dir, &mut Vec::new());
        if !extended.flaws.is_empty() {
            return extended;
        }
        let bases = extended.bases.iter().map(|base| base.file.text.as_str());
        extended.layers = merge::layered(bases.chain([text]));
        let mut start = 0;
        extended.text = String::new();
        for layer in &extended.layers {
            extended.text.push_str(&layer[start..]);
            start = layer.len();
        }
        let (_, faults) = merge::merge(&extended.layers);
        let flaws = faults.into_iter().map(|fault| {
            let (code, meant) = match &fault.unknown {
                Some((name, known)) => {
                    (Code::OverridesNothing, did_you_mean(name, known.iter().map(String::as_str)))
                }
                None => (Code::BadName, None),
            };
            let help = meant.or(fault.help.map(str::to_owned));
            Flaw::new(code, fault.message).help(help).at(Some(fault.span))
        });
        // These flaws are in their files already.
        extended.flaws = extended.written(flaws.collect());
        extended
    }

    /// Returns the whole chart.
    pub fn document(&self) -> Document<'_> {
        match self.layers.as_slice() {
            [] => Document::parse(self.own),
            layers => {
                let (table, _) = merge::merge(layers);
                Document { text: &self.text, table, errors: Vec::new() }
            }
        }
    }

    /// Returns the whole chart as TOML. It extends nothing.
    pub fn toml(&self) -> String {
        let mut chart = structure::table(&self.document());
        chart.remove("extends");
        toml::to_string_pretty(&chart).unwrap_or_default()
    }

    /// Returns the same as a file that runs: it takes nothing but templates from the charts that it extends.
    pub fn printed(&self) -> String {
        let mut chart = structure::table(&self.document());
        let is_shipped = shipped::extensible().any(|id| id == self.origin);
        let below = self.layers.len().saturating_sub(usize::from(!is_shipped));
        let (base, _) = merge::merge(&self.layers[..below]);
        if is_shipped {
            chart.insert("extends".to_owned(), Value::from(vec![self.origin]));
            chart.remove("templates");
        }
        let taken = base.keys().map(|key| key.get_ref().as_ref());
        let taken = taken.filter(|key| !["extends", "templates"].contains(key));
        let taken: Vec<&str> = taken.collect();
        if !taken.is_empty() {
            chart.insert("remove".to_owned(), Value::from(taken));
        }
        toml::to_string_pretty(&chart).unwrap_or_default()
    }

    /// Returns the chart's own templates, and those of the charts that it extends, behind them.
    pub fn over(&self, own: Templates) -> Templates {
        let bases = self.bases.iter().map(|base| base.templates.clone());
        let below = bases.reduce(|below, base| base.over(below));
        below.map_or(own.clone(), |below| own.over(below))
    }

    /// Returns findings about the whole chart, each in the file in which it is written.
    pub fn written(&self, flaws: Vec<Flaw>) -> Vec<Flaw> {
        let flaws = flaws.into_iter().map(|flaw| {
            let span = flaw.span.clone().filter(|_| flaw.file.is_none());
            let Some(span) = span else { return flaw };
            let count = self.layers.partition_point(|layer| layer.len() <= span.start);
            let start = count.checked_sub(1).map_or(0, |below| self.layers[below].len());
            let base = self.bases.get(count);
            let file = base.map(|base| Arc::clone(&base.file));
            Flaw { file, ..flaw.at(Some(span.start - start..span.end - start)) }
        });
        in_order(flaws)
    }

    /// Returns the findings as an error about the chart.
    pub fn error(&self, flaws: Vec<Flaw>) -> ChartError {
        ChartError::new(self.origin, self.own, self.written(flaws))
    }

    /// Returns whether a finding is in a chart that is compiled in, and that this one extends.
    pub fn is_of_base(&self, flaw: &Flaw) -> bool {
        let mut shipped = self.bases.iter().filter(|base| !merge::is_file(&base.file.name));
        shipped.any(|base| Some(&base.file) == flaw.file.as_ref())
    }

    /// Adds what the chart in `text` extends. `file` is that chart, unless it is the chart itself.
    fn add(
        &mut self,
        file: Option<&Arc<SourceFile>>,
        text: &str,
        dir: &Path,
        open: &mut Vec<PathBuf>,
    ) {
        for (name, span) in merge::extended(text) {
            let which = which(&name, dir);
            if self.bases.iter().any(|base| base.which == which) {
                continue;
            }
            let found = match open.contains(&which) || open.len() >= DEEPEST {
                true => Err(Box::new(Flaw::new(
                    Code::SelfReference,
                    format!("`{name}` extends itself"),
                ))),
                false => find(&name, dir),
            };
            match found {
                Ok((base, dir)) => {
                    open.push(which);
                    let (file, text) = (Arc::clone(&base.file), base.file.text.clone());
                    self.add(Some(&file), &text, &dir, open);
                    open.pop();
                    self.bases.push(base);
                }
                Err(flaw) => self.flaws.push(Flaw { file: file.cloned(), ..flaw.at(Some(span)) }),
            }
        }
    }
}

/// Returns the one path that identifies the chart of that name: a file has many paths.
fn which(name: &str, dir: &Path) -> PathBuf {
    let path = dir.join(name);
    match merge::is_file(name) {
        true => path.canonicalize().unwrap_or(path),
        false => PathBuf::from(name),
    }
}

/// Returns the chart of that name, and the folder next to which it is: one that is compiled in, or a file.
fn find(name: &str, dir: &Path) -> Result<(Base, PathBuf), Box<Flaw>> {
    if let Some((text, templates)) = shipped::source(name) {
        let base = Base {
            file: Arc::new(SourceFile { name: name.to_owned(), text: text.to_owned() }),
            templates: Templates::Embedded(templates),
            which: which(name, dir),
        };
        return Ok((base, PathBuf::new()));
    }
    let unknown = |why: String, help: Option<String>| {
        let message = format!("`{name}` cannot be extended: {why}");
        Box::new(Flaw::new(Code::Unreadable, message).help(help))
    };
    if !merge::is_file(name) {
        let help = hint(name, shipped::extensible());
        return Err(unknown("there is no such chart".to_owned(), help));
    }
    let path = dir.join(name);
    let text = disk::text(&path).map_err(|error| unknown(error.to_string(), None))?;
    let (table, errors) = DeTable::parse_recoverable(&text);
    if let Some(error) = errors.first() {
        let help = format!("fix {} first", path.display());
        return Err(unknown(error.message().to_owned(), Some(help)));
    }
    let folders = table.get_ref().get("templates");
    let folders = folders.and_then(|folders| folders.get_ref().as_array());
    let folders = folders.map(|folders| {
        let folders = folders.iter().filter_map(|item| item.get_ref().as_str());
        folders.map(str::to_owned).collect()
    });
    let beside = path.parent().unwrap_or(Path::new("")).to_owned();
    let base = Base {
        templates: Templates::beside(&beside, &folders.unwrap_or_else(templates_beside)),
        which: which(name, dir),
        file: Arc::new(SourceFile { name: path.display().to_string(), text }),
    };
    Ok((base, beside))
}
