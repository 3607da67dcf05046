//! Charts in receipts: the whole text and all templates, so that a later version of this program can decide with them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use serde::{Deserialize, Serialize};

use crate::chart::choice::{CHARTS, Choice};
use crate::chart::extend::Extended;
use crate::chart::{Chart, load};
use crate::expr::templates::Templates;
use crate::hash::{Hash, IndexMap};
use crate::os::file::slashed;
use crate::text::shown;

/// A chart with everything that it extends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Whole {
    /// Its name in messages. Of a file, that is its name and that of its folder: where it lies on a machine is nobody's business.
    pub(crate) origin: String,
    pub(crate) text: String,
    pub(crate) templates: IndexMap<String, String>,
}

impl Whole {
    /// Returns the text and the templates of a chart that is in use.
    pub(crate) fn of(chart: &Chart) -> Self {
        let embedded = CHARTS.iter().find(|known| known.id == chart.origin);
        let choice = match embedded {
            Some(embedded) => Choice::Embedded(embedded),
            None => Choice::File(Path::new(&chart.origin)),
        };
        let text = choice.text().unwrap_or_default();
        let text = alone(Extended::of(&chart.origin, &text).text());
        let templates = chart.templates.names().into_iter();
        let templates = templates.filter_map(|name| {
            let text = chart.template(&name).ok()?;
            Some((name, text))
        });
        Self {
            origin: match embedded {
                Some(embedded) => embedded.id.to_owned(),
                None => portable(Path::new(&chart.origin)),
            },
            templates: templates.collect(),
            text,
        }
    }

    /// Returns its hash.
    pub(crate) fn hash(&self) -> String {
        let mut hash = Hash::default();
        hash.add(&self.origin);
        hash.add(&self.text);
        for (name, text) in &self.templates {
            hash.add(name);
            hash.add(text);
        }
        hash.text()
    }

    /// Returns what is odd about it: it is not a chart of this program, or not the one that this program has under that name.
    /// `version` is that of the program which says that it has written it.
    pub(crate) fn oddity(&self, version: &str) -> Option<String> {
        let Some(known) = CHARTS.iter().find(|known| known.id == self.origin) else {
            return Some(format!("another chart decided: {}", shown(&self.origin)));
        };
        let own = || Choice::Embedded(known).load().ok().map(|chart| hash(&chart));
        (own() != Some(self.hash())).then(|| {
            let is = match version == env!("CARGO_PKG_VERSION") {
                true => "is not the one",
                false => "cannot be compared with that",
            };
            format!("its chart `{}` {is} of taskie {}", known.id, shown(version))
        })
    }

    /// Returns it as a chart that can decide; the error says why it cannot.
    pub(crate) fn load(&self) -> Result<Arc<Chart>, String> {
        let texts = self.templates.iter();
        let texts = texts.map(|(name, text)| (name.clone(), Some(text.clone())));
        let texts: HashMap<_, _> = texts.collect();
        let templates = Templates::Folders(Vec::new(), Arc::new(Mutex::new(texts)));
        let chart = load::from_text(&self.origin, &self.text, templates);
        chart.map(Arc::new).map_err(|error| error.to_string())
    }
}

/// Returns the name of a file with that of its folder, which is the same on every machine.
fn portable(path: &Path) -> String {
    let steps = path.components().rev().take(2);
    let steps: Vec<_> = steps.map(|step| step.as_os_str()).collect();
    let path: PathBuf = steps.into_iter().rev().collect();
    slashed(path).display().to_string()
}

/// Returns the text of a merged chart without what it was merged from. Its comments say from which files its parts are.
fn alone(text: &str) -> String {
    let head = text.find("\n[").unwrap_or(text.len());
    let (head, tables) = text.split_at(head);
    let lines = head.lines().filter(|line| !line.starts_with("extends = "));
    let lines = lines.chain(tables.split('\n').skip(1)).map(|line| {
        let file = line.strip_prefix("# ").map(Path::new);
        match file.filter(|file| file.is_absolute()) {
            Some(file) => format!("# {}", portable(file)),
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the hash of a chart that is in use. It is computed once: a process uses one version of a chart.
pub(crate) fn hash(chart: &Chart) -> String {
    static KNOWN: OnceLock<Mutex<HashMap<String, String>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let mut known = known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let hash = known.entry(chart.origin.clone());
    hash.or_insert_with(|| Whole::of(chart).hash()).clone()
}
