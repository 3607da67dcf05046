//! Imports point in one direction: between the folders of `src`, and between the files in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The folders of `src`, lowest first. A folder imports from those in the lines above its own, and from itself.
const LAYERS: &[&[&str]] = &[
    &["text", "hash", "os", "clock"],
    &["diagnostic", "host", "files", "page", "disk", "command_line", "process"],
    &["expr"],
    &["chart"],
    &["reviewer"],
    &["engine"],
    &["store"],
    &["project"],
    &["receipt"],
    &["run", "check"],
    &["scenario"],
    &["preview", "diagram", "hook", "demo"],
    &["doctor", "view"],
    &["commands"],
    &["cli"],
    &["lib", "main", "tests"],
];

/// The source as (module path, text): `chart::load` → the contents of `src/chart/load.rs`.
type Sources = BTreeMap<String, String>;

/// A list of cases that no test walks would be a test that can't fail.
#[test]
fn every_list_of_cases_has_its_test() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    for entry in fs::read_dir(tests.join("cases")).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap();
        let source = fs::read_to_string(tests.join(format!("black_box/{module}.rs"))).unwrap();
        let source = source.split_whitespace().collect::<Vec<_>>().join(" ");
        let lists: toml::Table = fs::read_to_string(&path).unwrap().parse().unwrap();
        for (list, cases) in lists {
            let named = format!("\"{module}\", \"{list}\"");
            assert!(source.contains(&named), "{module}.rs does not read {list}");
            assert_ne!(cases.as_array().unwrap().len(), 0, "{list}");
        }
    }
}

#[test]
fn imports_between_folders_point_down() {
    assert_eq!(upward(&sources()), Vec::<String>::new());
}

#[test]
fn the_architecture_page_lists_the_folders_in_this_order() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    let page = fs::read_to_string(page).unwrap();
    let table = page.split("| Layer | What lives there |").nth(1).unwrap();
    let rows = table.lines().skip(2).take_while(|row| row.starts_with('|'));
    let listed: Vec<_> = rows.map(|row| row.split('`').nth(1).unwrap()).collect();
    let folders = &LAYERS[..LAYERS.len() - 1];
    assert_eq!(listed, folders.concat());
}

#[test]
fn imports_between_files_have_no_circle() {
    assert_eq!(circles(&sources()), Vec::<Vec<String>>::new());
}

#[test]
fn only_one_layer_knows_the_operating_system() {
    let names = ["rustix::", "target_os"];
    let sources = sources();
    let found = sources.iter().flat_map(|(module, text)| {
        let code = code(text);
        let names = names.iter().filter(move |name| code.contains(**name));
        names.map(move |name| format!("{module}: {name}"))
    });
    let elsewhere: Vec<String> = found.filter(|found| !found.starts_with("os")).collect();
    assert_eq!(elsewhere, Vec::<String>::new());
}

/// A file of a user's is written at once or not at all. The demo's project and git's lists do not count.
#[test]
fn files_are_written_through_one_module() {
    let own = ["demo::", "project::change::index"];
    let sources = sources();
    let others =
        sources.iter().filter(|(module, _)| !own.iter().any(|own| module.starts_with(own)));
    let found = others.filter(|(_, text)| {
        let code = code(text);
        ["fs::write(", "File::create(", "File::create_new("].iter().any(|name| code.contains(name))
    });
    assert_eq!(found.map(|(module, _)| module).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Where code drops an error, a comment shortly before says why.
#[test]
fn an_error_is_dropped_for_a_reason() {
    let sources = sources();
    let dropped = sources.iter().flat_map(|(module, text)| {
        let lines: Vec<&str> = text.lines().take_while(|line| *line != "#[cfg(test)]").collect();
        let is_dropped = |at: &usize| {
            let before = &lines[at.saturating_sub(4)..*at];
            lines[*at].trim_start().starts_with("let _ =")
                && !before.iter().any(|line| line.trim_start().starts_with("//"))
        };
        let dropped: Vec<usize> = (0..lines.len()).filter(is_dropped).collect();
        dropped.into_iter().map(move |at| format!("{module}, line {}", at + 1))
    });
    assert_eq!(dropped.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn an_upward_import_and_a_circle_are_noticed() {
    let mut sources = sources();
    let text = sources.entry("chart::load".to_owned()).or_default();
    text.insert_str(0, "use crate::{check::lint::{report::Format, unused_name}, files::table};\n");
    assert_eq!(
        upward(&sources),
        ["chart::load imports check::lint::report", "chart::load imports check::lint::unused_name"]
    );
    let circle = &circles(&sources)[0];
    assert!(circle.contains(&"chart::load".to_owned()), "{circle:?}");
    assert!(circle.contains(&"check::lint::report".to_owned()), "{circle:?}");
}

fn upward(sources: &Sources) -> Vec<String> {
    let folder = |module: &str| module.split("::").next().unwrap_or_default().to_owned();
    let layer = |module: &str| {
        let folder = folder(module);
        LAYERS
            .iter()
            .position(|layer| layer.contains(&folder.as_str()))
            .unwrap_or_else(|| panic!("`{folder}` is in no layer: add it to LAYERS"))
    };
    imports(sources)
        .into_iter()
        .filter(|(from, to)| {
            folder(from) != folder(to) && layer(from) <= layer(to) && layer(to) + 1 < LAYERS.len()
        })
        .map(|(from, to)| format!("{from} imports {to}"))
        .collect()
}

/// The groups of files that import each other, directly or through others.
fn circles(sources: &Sources) -> Vec<Vec<String>> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let imports = imports(sources);
    for (from, to) in &imports {
        next.entry(from).or_default().insert(to);
    }
    let reached = |start: &str| {
        let mut seen = BTreeSet::new();
        let mut open = vec![start.to_owned()];
        while let Some(module) = open.pop() {
            for to in next.get(module.as_str()).into_iter().flatten() {
                if seen.insert((*to).to_owned()) {
                    open.push((*to).to_owned());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&str, BTreeSet<String>> =
        next.keys().map(|from| (*from, reached(from))).collect();
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for (from, to) in &reach {
        if to.contains(*from) {
            let members = to
                .iter()
                .filter(|to| reach.get(to.as_str()).is_some_and(|back| back.contains(*from)));
            circles.insert(members.cloned().collect());
        }
    }
    circles.into_iter().collect()
}

/// All imports, as (from, to): the paths that begin with `crate`, `self`, `super` or the name of a file's own child, in
/// `use` lines and in code.
fn imports(sources: &Sources) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for (module, text) in sources {
        for path in paths(&code(text)) {
            let target = target(module, &path, sources);
            if let Some(target) = target.filter(|target| target != module) {
                found.insert((module.clone(), target));
            }
        }
    }
    found
}

/// A file's code, without comments and tests.
fn code(text: &str) -> String {
    text.split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// The paths in a file's code: `use a::{b, c::d};` contains `a::b` and `a::c::d`, and `a::b(…)` in an expression
/// contains itself.
fn paths(code: &str) -> Vec<String> {
    let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
    let mut paths = Vec::new();
    // The beginnings of the paths in the braces that are open.
    let mut open: Vec<String> = Vec::new();
    let mut path = String::new();
    let mut in_use = false;
    let mut rest = code;
    while let Some(sign) = rest.chars().next() {
        let length = rest.find(|sign| !is_word(sign)).unwrap_or(rest.len());
        if length > 0 {
            let word = &rest[..length];
            rest = &rest[length..];
            if word == "use" && path.is_empty() {
                in_use = true;
            } else if path.is_empty() || path.ends_with("::") {
                path.push_str(word);
            } else {
                path = word.to_owned();
            }
            if !rest.starts_with("::") {
                let prefix = open.last().filter(|_| in_use);
                paths.push(prefix.map_or_else(|| path.clone(), |prefix| format!("{prefix}{path}")));
                path.clear();
            }
        } else if let Some(more) = rest.strip_prefix("::") {
            path.push_str("::");
            rest = more;
        } else {
            match sign {
                '{' if in_use => {
                    let prefix = open.last().cloned().unwrap_or_default();
                    open.push(format!("{prefix}{path}"));
                }
                '}' if in_use => _ = open.pop(),
                ';' => in_use = false,
                _ => {}
            }
            path.clear();
            rest = &rest[sign.len_utf8()..];
        }
    }
    paths
}

/// The module that a path in `from` refers to: its longest prefix that is a file.
fn target(from: &str, path: &str, sources: &Sources) -> Option<String> {
    let mut words: Vec<&str> = path.split("::").collect();
    let mut base: Vec<&str> = from.split("::").collect();
    let first = words.remove(0);
    // `pub(super)` is not an import.
    if words.is_empty() {
        return None;
    }
    match first {
        "crate" => base.clear(),
        "self" => {}
        "super" => _ = base.pop(),
        child => {
            base.push(child);
            if !sources.contains_key(&base.join("::")) {
                return None;
            }
        }
    }
    while words.first() == Some(&"super") {
        words.remove(0);
        base.pop();
    }
    base.extend(words);
    (1..=base.len())
        .rev()
        .map(|length| base[..length].join("::"))
        .find(|module| sources.contains_key(module))
}

fn sources() -> Sources {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = Sources::new();
    for entry in walkdir::WalkDir::new(&root) {
        let entry = entry.expect("src can be listed");
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let module = path.strip_prefix(&root).expect("it is below src").with_extension("");
        let mut words: Vec<_> = module.iter().map(|word| word.to_string_lossy()).collect();
        if words.iter().any(|word| word == "tests") {
            continue;
        }
        if words.last().is_some_and(|word| word == "mod") {
            words.pop();
        }
        sources.insert(words.join("::"), fs::read_to_string(path).expect("a source file is text"));
    }
    sources
}
