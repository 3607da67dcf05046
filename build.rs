//! Compiles the charts into the binary, with their templates.
//!
//! The tables below are the only place in Rust that names a workflow.

#[path = "src/chart/merge/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "it is a module of the library")]
mod merge;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use toml::Spanned;
use toml::de::DeValue;

/// (chart file, its demo scenario if it has one), in the order of `--help`; the first chart is the default one.
const CHARTS: &[(&str, Option<&str>)] = &[
    ("statechart.toml", Some("examples/demo.toml")),
    ("plugin/dr-done/statechart.toml", None),
    ("parts/change/statechart.toml", None),
];

/// Parts of charts, for `extends`: (name, file).
const PARTS: &[(&str, &str)] = &[
    ("reviewers", "parts/reviewers/statechart.toml"),
    ("policy", "parts/policy/statechart.toml"),
    ("plans", "parts/plans/statechart.toml"),
    ("stops", "parts/stops/statechart.toml"),
];

fn main() -> Result<(), Box<dyn Error>> {
    link_at_a_fixed_address()?;
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut table = String::new();
    for (file, demo) in CHARTS {
        let path = root.join(file);
        let demo = demo.map(|demo| root.join(demo));
        demo.iter().for_each(|demo| watch(demo));
        let demo =
            demo.map_or_else(|| "None".to_owned(), |demo| format!("Some(include_str!({demo:?}))"));
        let mut files = Vec::new();
        layers(&root, file, &mut files)?;
        let mut texts = Vec::new();
        let mut templates: Vec<(String, PathBuf)> = Vec::new();
        for file in files.iter().rev() {
            templates.extend(templates_of(&root, file)?);
        }
        for name in &files {
            texts.push(fs::read_to_string(root.join(name))?);
        }
        let layers = merge::layered(texts.iter().map(String::as_str));
        let (chart, faults) = merge::merge(&layers);
        if let Some(fault) = faults.first() {
            return Err(format!("{file}: {}", fault.message).into());
        }
        let id = chart.get("id").and_then(|id| id.get_ref().as_str());
        let id = id.unwrap_or_default().to_owned();
        writeln!(
            table,
            "    Embedded {{\n        id: {id:?},\n        text: include_str!({path:?}),\n        chart: {},\n        demo: {demo},\n        \
             templates: {},\n    }},",
            node(&DeValue::Table(chart))?,
            included(templates),
        )?;
    }
    let mut parts = String::new();
    for (id, file) in PARTS {
        let path = root.join(file);
        watch(&path);
        let templates = included(templates_of(&root, file)?);
        writeln!(
            parts,
            "    Shared {{ id: {id:?}, text: include_str!({path:?}), templates: {templates} }},"
        )?;
    }
    let code = format!(
        "/// The charts compiled in; the first is the default one.\npub static CHARTS: &[Embedded] = &[\n{table}];\n\
         /// The parts of charts compiled in.\npub static PARTS: &[Shared] = &[\n{parts}];"
    );
    fs::write(Path::new(&env::var("OUT_DIR")?).join("embedded.rs"), code)?;
    Ok(())
}

/// Adds the files that make the chart in `file`: what it extends, and itself.
fn layers(root: &Path, file: &str, files: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    let path = root.join(file);
    watch(&path);
    for (name, _) in merge::extended(&fs::read_to_string(&path)?) {
        let part = PARTS.iter().find(|(id, _)| *id == name);
        let (_, part) = part.ok_or_else(|| format!("{file} extends an unknown part: {name}"))?;
        layers(root, part, files)?;
    }
    if !files.iter().any(|other| other == file) {
        files.push(file.to_owned());
    }
    Ok(())
}

/// Returns the templates in the folders that a chart names, by name.
fn templates_of(root: &Path, file: &str) -> Result<Vec<(String, PathBuf)>, Box<dyn Error>> {
    let path = root.join(file);
    let chart: toml::Table =
        fs::read_to_string(&path)?.parse().map_err(|error| format!("{file}: {error}"))?;
    let folders = chart.get("templates").and_then(toml::Value::as_array);
    let mut templates = Vec::new();
    for folder in folders.into_iter().flatten() {
        let beside = path.parent().unwrap_or(root);
        let folder = beside.join(folder.as_str().unwrap_or_default());
        watch(&folder);
        collect(&folder, &folder, &mut templates)?;
    }
    Ok(templates)
}

/// Writes templates as Rust, sorted by name. Of two with one name, the first one stays.
fn included(mut templates: Vec<(String, PathBuf)>) -> String {
    templates.sort_by(|(a, _), (b, _)| a.cmp(b));
    templates.dedup_by(|(a, _), (b, _)| a == b);
    let rows = templates.iter();
    let rows = rows.map(|(name, path)| format!("({name:?}, include_str!({path:?}))"));
    format!("&[{}]", rows.collect::<Vec<_>>().join(", "))
}

/// Writes a value of a chart as Rust: a hook has no time to read TOML.
fn node(value: &DeValue<'_>) -> Result<String, String> {
    Ok(match value {
        DeValue::Boolean(value) => format!("Node::Boolean({value})"),
        DeValue::Integer(value) => format!("Node::Integer({value})"),
        DeValue::String(text) => format!("Node::Text({text:?})"),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| node(item.get_ref()));
            format!("Node::List(&[{}])", items.collect::<Result<Vec<_>, _>>()?.join(", "))
        }
        DeValue::Table(table) => {
            let pair = |(key, value): (&Spanned<_>, &Spanned<_>)| {
                Ok(format!("({:?}, {})", key.get_ref(), node(value.get_ref())?))
            };
            let pairs: Vec<String> = table.iter().map(pair).collect::<Result<_, String>>()?;
            format!("Node::Table(&[{}])", pairs.join(", "))
        }
        other => return Err(format!("a chart has no {}", other.type_str())),
    })
}

/// A hook starts a process at every stop, and relocating a position-independent binary of this size takes a fifth of
/// that process's time. So the binary is linked to a fixed address if the linker can do that.
fn link_at_a_fixed_address() -> Result<(), env::VarError> {
    let is_gnu_linux =
        env::var("CARGO_CFG_TARGET_OS")? == "linux" && env::var("CARGO_CFG_TARGET_ENV")? == "gnu";
    if is_gnu_linux {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    Ok(())
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

/// Returns all Markdown files in `folder`, with paths relative to `top`.
fn collect(
    top: &Path,
    folder: &Path,
    templates: &mut Vec<(String, PathBuf)>,
) -> Result<(), Box<dyn Error>> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(top, &path, templates)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            let name: Vec<_> =
                path.strip_prefix(top)?.iter().map(|part| part.to_string_lossy()).collect();
            templates.push((name.join("/"), path));
        }
    }
    Ok(())
}
