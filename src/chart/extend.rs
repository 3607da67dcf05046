//! What a chart extends: finds those charts, merges them, and returns findings to the files in which they are written.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::de::DeTable;

use super::merge::{self, Layer, Merged};
use super::model::templates_beside;
use super::shipped;
use super::structure;
use crate::diagnostic::code::Code;
use crate::diagnostic::flaw::{ChartError, Flaw, SourceFile, in_order};
use crate::diagnostic::suggest::{did_you_mean, hint};
use crate::disk;
use crate::expr::templates::Templates;

/// The most charts that extend each other.
const DEEPEST: usize = 16;

/// A chart with the charts that it extends.
pub struct Extended<'t> {
    pub origin: &'t str,
    /// As its author wrote it.
    own: &'t str,
    merged: Option<Merged>,
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
        let mut extended =
            Self { origin, own: text, merged: None, bases: Vec::new(), flaws: Vec::new() };
        if !merge::is_composed(text) {
            return extended;
        }
        // What a broken line adds or removes is unknown.
        if !DeTable::parse_recoverable(text).1.is_empty() {
            extended.flaws = structure::parse(text).err().unwrap_or_default();
            return extended;
        }
        let dir = Path::new(origin).parent().unwrap_or(Path::new(""));
        extended.add(None, text, dir, &mut Vec::new());
        if !extended.flaws.is_empty() {
            return extended;
        }
        let layer = |file: &SourceFile| Layer { name: file.name.clone(), text: file.text.clone() };
        let mut layers: Vec<Layer> = extended.bases.iter().map(|base| layer(&base.file)).collect();
        layers.push(Layer { name: origin.to_owned(), text: text.to_owned() });
        let mut merged = merge::merge(&layers);
        let faults = std::mem::take(&mut merged.faults).into_iter();
        let flaws = faults.map(|fault| {
            let known = fault.known.iter().map(String::as_str);
            let help = did_you_mean(&fault.name, known).or(fault.help.map(str::to_owned));
            let code = match fault.kind {
                merge::FaultKind::Nothing => Code::OverridesNothing,
                merge::FaultKind::Twice => Code::BadName,
                merge::FaultKind::Conflict => Code::ConflictingKeys,
            };
            let flaw = Flaw::new(code, fault.message).help(help);
            extended.at(flaw.at(Some(fault.place.span)), fault.place.layer)
        });
        extended.flaws = in_order(flaws);
        // These flaws are in their files already.
        extended.merged = extended.flaws.is_empty().then_some(merged);
        extended
    }

    /// Returns the text of the whole chart.
    pub fn text(&self) -> &str {
        let merged = self.merged.as_ref();
        merged.map_or(self.own, |merged| &merged.text)
    }

    /// Returns the chart's own templates, and those of the charts that it extends, behind them.
    pub fn over(&self, own: Templates) -> Templates {
        let bases = self.bases.iter().map(|base| base.templates.clone());
        let below = bases.reduce(|below, base| base.over(below));
        below.map_or(own.clone(), |below| own.over(below))
    }

    /// Returns findings about the whole chart, each in the file in which it is written.
    pub fn written(&self, flaws: Vec<Flaw>) -> Vec<Flaw> {
        let Some(merged) = &self.merged else {
            return flaws;
        };
        let flaws = flaws.into_iter().map(|flaw| {
            let place = flaw.span.as_ref().filter(|_| flaw.file.is_none());
            match place.and_then(|span| merged.origin(span)) {
                Some(place) => self.at(flaw.at(Some(place.span)), place.layer),
                None => flaw,
            }
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

    fn at(&self, flaw: Flaw, layer: usize) -> Flaw {
        let base = self.bases.get(layer);
        let file = base.map(|base| Arc::clone(&base.file));
        Flaw { file, ..flaw }
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
