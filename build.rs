//! Compiles the charts into the binary, with their templates, and the table of hosts.
//!
//! The tables below are the only place in Rust that names a workflow.

#[path = "src/chart/merge.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is a module of the library")]
mod merge;

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// (chart file, its demo scenario if it has one), in the order of `--help`; the first chart is the default one.
const CHARTS: &[(&str, Option<&str>)] = &[
    ("statechart.toml", Some("examples/demo.toml")),
    ("plugin/dr-done/statechart.toml", None),
];

/// Parts of charts, for `extends`: (name, file).
const PARTS: &[(&str, &str)] = &[("reviewers", "parts/reviewers/statechart.toml")];

fn main() -> Result<(), Box<dyn Error>> {
    link_at_a_fixed_address()?;
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut table = String::new();
    for (file, demo) in CHARTS {
        let path = root.join(file);
        let demo = demo.map(|demo| root.join(demo));
        demo.iter().for_each(|demo| watch(demo));
        let demo = demo.map_or_else(
            || "None".to_owned(),
            |demo| format!("Some(include_str!({demo:?}))"),
        );
        let mut files = Vec::new();
        layers(&root, file, &mut files)?;
        let mut merged = Vec::new();
        let mut templates: Vec<(String, PathBuf)> = Vec::new();
        for file in files.iter().rev() {
            templates.extend(templates_of(&root, file)?);
        }
        for name in &files {
            let text = fs::read_to_string(root.join(name))?;
            merged.push(merge::Layer {
                name: name.clone(),
                text,
            });
        }
        let merged = merge::merge(&merged);
        if let Some(fault) = merged.faults.first() {
            return Err(format!("{file}: {}", fault.message).into());
        }
        let chart: toml::Table = merged
            .text
            .parse()
            .map_err(|error| format!("{file}: {error}"))?;
        let id = chart.get("id").and_then(toml::Value::as_str);
        let id = id.unwrap_or_default().to_owned();
        writeln!(
            table,
            "    Embedded {{\n        id: {id:?},\n        text: include_str!({path:?}),\n        chart: {},\n        demo: {demo},\n        \
             templates: {},\n    }},",
            node(&toml::Value::Table(chart))?,
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
    compile_hosts(&root.join("src/host/hosts.toml"))
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
    let chart: toml::Table = fs::read_to_string(&path)?
        .parse()
        .map_err(|error| format!("{file}: {error}"))?;
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
fn node(value: &toml::Value) -> Result<String, String> {
    Ok(match value {
        toml::Value::Boolean(value) => format!("Node::Boolean({value})"),
        toml::Value::Integer(value) => format!("Node::Integer({value})"),
        toml::Value::String(text) => format!("Node::Text({text:?})"),
        toml::Value::Array(items) => {
            let items: Vec<String> = items.iter().map(node).collect::<Result<_, _>>()?;
            format!("Node::List(&[{}])", items.join(", "))
        }
        toml::Value::Table(table) => {
            let pair = |(key, value)| Ok(format!("({key:?}, {})", node(value)?));
            let pairs: Vec<String> = table.iter().map(pair).collect::<Result<_, String>>()?;
            format!("Node::Table(&[{}])", pairs.join(", "))
        }
        other => return Err(format!("a chart has no {}", other.type_str())),
    })
}

/// The other keys of a host: texts, which may be empty, and lists.
const HOST_TEXTS: &[&str] = &[
    "block_cap",
    "tested",
    "unasked",
    "sandbox",
    "folder",
    "home",
    "since",
    "plugins",
    "enabled",
    "off",
    "only",
    "trusted",
    "install",
];
const HOST_LISTS: &[&str] = &[
    "variables",
    "fields",
    "sessions",
    "hooks",
    "local",
    "managed",
];

/// Writes the table of hosts as Rust: a hook answers in the way of its host, and has no time to read TOML.
fn compile_hosts(path: &Path) -> Result<(), Box<dyn Error>> {
    watch(path);
    let hosts: toml::Table = fs::read_to_string(path)?.parse()?;
    let mut rows = String::new();
    for (id, host) in &hosts {
        let text = |key, default| {
            host.get(key)
                .and_then(toml::Value::as_str)
                .unwrap_or(default)
        };
        let list = |key| -> Vec<&str> {
            let list = host.get(key).and_then(toml::Value::as_array);
            let items = list.into_iter().flatten();
            items.filter_map(toml::Value::as_str).collect()
        };
        let context = match text("context", "text") {
            "text" => "Text",
            "nested" => "Nested",
            "top" => "Top",
            other => return Err(format!("{id}: unknown context {other}").into()),
        };
        let blocks = host.get("blocks").and_then(toml::Value::as_integer);
        let always = host.get("is_active_always");
        let always = always.is_some_and(|always| always.as_bool() == Some(true));
        write!(
            rows,
            "    Host {{ id: {id:?}, name: {:?}, command: {:?}, context: Context::{context}, blocks: {blocks:?}, \
             is_active_always: {always}",
            text("name", id),
            text("command", "/PLUGIN:"),
        )?;
        for key in HOST_TEXTS {
            write!(rows, ", {key}: {:?}", text(key, ""))?;
        }
        for key in HOST_LISTS {
            write!(rows, ", {key}: &{:?}", list(key))?;
        }
        rows.push_str(" },\n");
    }
    let caps = hosts
        .values()
        .filter_map(|host| host.get("blocks")?.as_integer());
    let blocks = caps.min().ok_or("no host has a limit of blocks")?;
    let code = format!(
        "/// The number of blocks in a row that every host accepts.\n\
         pub const BLOCKS: usize = {blocks};\n\
         /// The hosts, in the order in which an event is held against their marks.\n\
         pub static HOSTS: &[Host] = &[\n{rows}];\n\
         /// The host of an event without marks: the one that taskie is made for.\n\
         pub static DEFAULT: &Host = &HOSTS[{}];\n",
        hosts.len() - 1
    );
    fs::write(Path::new(&env::var("OUT_DIR")?).join("hosts.rs"), code)?;
    Ok(())
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
            let name: Vec<_> = path
                .strip_prefix(top)?
                .iter()
                .map(|part| part.to_string_lossy())
                .collect();
            templates.push((name.join("/"), path));
        }
    }
    Ok(())
}
