//! The charts and the parts of charts that are compiled in, as `build.rs` writes them.

use super::node::Node;

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// A part of a chart that is compiled in, for charts that extend it.
#[derive(Debug)]
pub struct Shared {
    /// Its name in `extends`.
    pub id: &'static str,
    /// Its TOML.
    pub text: &'static str,
    /// Its templates as (name, text), sorted by name.
    pub templates: &'static [(&'static str, &'static str)],
}

/// Returns the text and the templates of a chart, or a part of one, that can be extended by its name.
pub fn source(name: &str) -> Option<(&'static str, &'static [(&'static str, &'static str)])> {
    let charts = CHARTS.iter();
    let charts = charts.map(|chart| (chart.id, chart.text, chart.templates));
    let parts = PARTS.iter().map(|part| (part.id, part.text, part.templates));
    let mut all = charts.chain(parts);
    let (_, text, templates) = all.find(|(id, ..)| *id == name)?;
    Some((text, templates))
}

/// Returns the names of what can be extended.
pub fn extensible() -> impl Iterator<Item = &'static str> + Clone {
    let charts = CHARTS.iter().map(|chart| chart.id);
    charts.chain(PARTS.iter().map(|part| part.id))
}

/// A chart that is compiled in.
#[derive(Debug)]
pub struct Embedded {
    /// Its name for `--chart`.
    pub id: &'static str,
    /// The chart's TOML.
    pub text: &'static str,
    /// The same as data, with what it extends.
    pub chart: Node,
    /// The scenario that `taskie demo` plays, if there is one.
    pub demo: Option<&'static str>,
    /// Its templates as (name, text), sorted by name.
    pub templates: &'static [(&'static str, &'static str)],
}
