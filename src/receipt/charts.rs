//! Charts in receipts: the whole text and all templates, so that a later version of this program can decide with them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use serde::{Deserialize, Serialize};

use crate::chart::choice::{CHARTS, Choice};
use crate::chart::extend::Extended;
use crate::chart::{Chart, load};
use crate::expr::templates::Templates;
use crate::hash::{Hash, IndexMap};
use crate::text::shown;

/// A chart with everything that it extends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Whole {
    /// Its name in messages.
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
            origin: chart.origin.clone(),
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
    /// `is_own` says that this version of the program has written it.
    pub(crate) fn is_odd(&self, is_own: bool) -> Option<String> {
        let Some(known) = CHARTS.iter().find(|known| known.id == self.origin) else {
            return Some(format!("another chart decided: {}", shown(&self.origin)));
        };
        let own = || {
            Choice::Embedded(known)
                .load()
                .ok()
                .map(|chart| hash(&chart))
        };
        (is_own && own() != Some(self.hash())).then(|| {
            let version = env!("CARGO_PKG_VERSION");
            format!(
                "its chart `{}` is not the one of taskie {version}",
                known.id
            )
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

/// Returns the text of a merged chart without what it was merged from.
fn alone(text: &str) -> String {
    let head = text.find("\n[").unwrap_or(text.len());
    let (head, tables) = text.split_at(head);
    let lines = head.lines().filter(|line| !line.starts_with("extends = "));
    let lines: Vec<&str> = lines.collect();
    format!("{}{tables}", lines.join("\n"))
}

/// Returns the hash of a chart that is in use. It is computed once: a process uses one version of a chart.
pub(crate) fn hash(chart: &Chart) -> String {
    static KNOWN: OnceLock<Mutex<HashMap<String, String>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let mut known = known
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let hash = known.entry(chart.origin.clone());
    hash.or_insert_with(|| Whole::of(chart).hash()).clone()
}
