//! `docs/reference.md`: every key of a chart, every name, filter and test of an expression, made from the schema and from
//! the tables that the linter itself uses.

use std::collections::HashSet;
use std::fs;

use serde_json::Value as Json;
use taskie::chart::choice::{CHARTS, Embedded};
use taskie::chart::extend::Extended;
use taskie::chart::load;
use taskie::chart::schema::statechart;
use taskie::diagnostic::code::Code;
use taskie::diagnostic::flaw::ChartError;
use taskie::engine::names::sources::built_in;
use taskie::engine::names::types::{ChartNames, Uses};
use taskie::expr::infer::Scope as _;
use taskie::expr::templates::Templates;
use taskie::expr::types::Type;
use taskie::expr::vocabulary::{FILTERS, TESTS, names};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference.md");

#[test]
fn the_reference_is_fresh() {
    let fresh = markdown().unwrap();
    if std::env::var_os("TASKIE_UPDATE_DOCS").is_some() {
        fs::write(PAGE, &fresh).unwrap();
    }
    let stored = fs::read_to_string(PAGE).unwrap_or_default();
    let mut lines = stored.lines().zip(fresh.lines());
    let differs = lines.find(|(old, new)| old != new);
    assert!(
        stored == fresh,
        "docs/reference.md is stale, first at {differs:?}\n\
         update it: TASKIE_UPDATE_DOCS=1 cargo test --test black_box reference"
    );
}

/// Every filter or test in the tables exists in expressions.
#[test]
fn every_filter_and_test_is_known() {
    use taskie::expr::templates::Templates;
    let unknown = |expression: &str, code: &str| {
        let chart = include_str!("../charts/base.toml").replacen(
            "free = \"cycle.id is none\"",
            &format!("free = \"cycle.id is none\"\ntried = \"{expression}\""),
            1,
        );
        let templates = |_: &[String]| Templates::folders(Vec::new());
        let flaws = taskie::check::lint::run("chart.toml", &chart, templates, None).flaws;
        flaws.iter().any(|flaw| flaw.code.as_str() == code)
    };
    for filter in names(FILTERS) {
        assert!(!unknown(&format!("files.chapters | {filter}"), "unknown-filter"), "{filter}");
    }
    for test in names(TESTS) {
        assert!(!unknown(&format!("files.chapters is {test}(1)"), "unknown-test"), "{test}");
    }
    assert!(unknown("files.chapters | lenght", "unknown-filter"));
    assert!(unknown("files.chapters is nonne", "unknown-test"));
}

/// Every field of the records that all charts have is in the table of names, and every name of the table exists.
#[test]
fn every_built_in_name_is_described() {
    let chart = CHARTS[0].load().unwrap_or_else(|error| panic!("{error}"));
    let uses = Uses::default();
    let names = ChartNames::new(&chart, &uses);
    let Some(Type::Record(tables)) = names.name("tables") else {
        panic!("tables are a record");
    };
    let records = ["cycle", "event", "git", "review", "scope"]
        .into_iter()
        .map(|root| (root, names.name(root)))
        .chain([("tables.NAME", tables.values().next().cloned())])
        .chain(["tables.NAME.rows[]", "siblings[]"].map(|path| (path, resolve(&names, path))));
    for (record, kind) in records {
        let Some(Type::Record(fields)) = kind else {
            panic!("{record} is a record");
        };
        // The columns of a table come from the chart.
        let columns = ["id", "status"];
        for field in fields.keys().filter(|field| !columns.contains(&field.as_str())) {
            let path = format!("{record}.{field}");
            let is_described = |(known, ..): &(&str, &str, &str)| known.starts_with(&path);
            assert!(built_in().any(is_described), "{path}");
        }
    }
    let of_charts = ["args.", "checks.", "config.", "prompts.", "it"];
    for (path, ..) in built_in() {
        let is_own = path.contains("HOLE")
            || path.ends_with(".NAME")
            || path.ends_with(".lines") && path.starts_with("files");
        if !is_own && !of_charts.iter().any(|start| path.starts_with(start)) {
            assert!(resolve(&names, path).is_some(), "{path}");
        }
    }
}

/// The tables of shared keys, and those that share them.
const SHARED: [(&str, &str); 2] = [("cycle", "cycles"), ("invocation", "invoke")];

fn own_table(shared: &str) -> Option<&'static str> {
    let own = SHARED.iter().find(|(name, _)| *name == shared);
    own.map(|(_, own)| *own)
}

/// A key's description says that it is required, always or on a condition, exactly if a chart without it is refused.
#[test]
fn every_required_key_says_so() {
    let schema = statechart::of_charts();
    let mut tried = 0;
    let is_choice = |section: &Section<'_>| {
        let about = section.schema.get("description");
        let about = about.and_then(Json::as_str).unwrap_or_default();
        about.to_lowercase().contains("exactly one of")
    };
    for section in sections(&schema).into_iter().filter(|section| !is_choice(section)) {
        // What cycles or processes share says so itself.
        let keys = entries(section.schema)
            .filter(|(key, _)| !SHARED.iter().any(|(shared, _)| key == shared));
        for (key, value) in keys {
            let about = value.get("description").and_then(Json::as_str);
            let says = is_required(section.schema, key)
                || about.is_some_and(|about| about.starts_with("Required "));
            let mut paths = vec![[section.path.as_slice(), std::slice::from_ref(key)].concat()];
            if let [table] = section.path.as_slice()
                && let Some(own) = own_table(table)
            {
                paths.push([own, "*", key].map(str::to_owned).to_vec());
            }
            let found: Vec<bool> = CHARTS
                .iter()
                .flat_map(|chart| paths.iter().flat_map(|path| without(chart, path)))
                .collect();
            tried += found.len();
            if !found.is_empty() {
                let is_missed = found.contains(&true);
                assert_eq!(is_missed, says, "{}: {key}", section.headings[0]);
            }
        }
    }
    assert!(tried > 300, "{tried}");
}

/// Returns a chart with what it extends.
fn whole(chart: &Embedded) -> Json {
    let whole = Extended::of(chart.id, chart.text);
    toml::from_str(whole.text()).unwrap_or_default()
}

/// Removes the key at `path` from the chart, at each place separately: is it missed?
fn without(chart: &Embedded, path: &[String]) -> Vec<bool> {
    fn places(json: &Json, path: &[String]) -> Vec<String> {
        let Some((step, rest)) = path.split_first() else {
            return vec![String::new()];
        };
        let inner: Vec<(String, &Json)> = match json {
            Json::Object(fields) if step == "*" => {
                fields.iter().map(|(key, value)| (key.clone(), value)).collect()
            }
            Json::Array(items) if step == "*" => {
                items.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect()
            }
            Json::Object(fields) => {
                fields.get(step).map(|value| (step.clone(), value)).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let inner = inner.into_iter().flat_map(|(key, value)| {
            places(value, rest).into_iter().map(move |rest| format!("/{key}{rest}"))
        });
        inner.collect()
    }
    let whole = whole(chart);
    let lacks = |place: String| {
        let mut json = whole.clone();
        let (table, key) = place.rsplit_once('/').unwrap_or_default();
        let table = json.pointer_mut(table).and_then(Json::as_object_mut);
        table.and_then(|table| table.remove(key));
        let Ok(source) = serde_json::from_value(json) else {
            return true;
        };
        let templates = Templates::Embedded(chart.templates);
        let (_, flaws) = load::resolve_all(chart.id, source, chart.text, templates);
        flaws.iter().any(|flaw| flaw.code == Code::MissingKey)
    };
    places(&whole, path).into_iter().map(lacks).collect()
}

/// One table of a chart: its headings (`[scope]`), what it is, and its schema.
struct Section<'s> {
    headings: Vec<String>,
    /// The keys that lead to it, with `*` for any name or index.
    path: Vec<String>,
    schema: &'s Json,
}

/// Returns the page. The error comes from a chart that is compiled in.
fn markdown() -> Result<String, ChartError> {
    let schema = statechart::of_charts();
    let charts: Vec<Json> = CHARTS.iter().map(whole).collect();
    let mut text = "# Reference\n\nThis page lists every key, name, filter and test that a chart can use. It is generated from the code.\n\n\
        ## Keys\n\nIn the “Type” column, an expression, a text, a pattern and a line pattern are strings; \
        [Expressions, texts and patterns](expressions.md) explains them. You can leave out a key unless its default is \
        “required” or its description says when it is required. The examples are from the charts that ship with taskie.\n"
        .to_owned();
    let mut listed = HashSet::new();
    for section in sections(&schema) {
        text.push_str(&format!("\n### {}\n\n", section.headings.join(", ")));
        if let Some(about) = section.schema.get("description").and_then(Json::as_str) {
            text.push_str(&format!("{about}\n\n"));
        }
        // A key that means the same in several tables is listed once.
        let (new, known): (Vec<_>, Vec<_>) = entries(section.schema).partition(|(key, value)| {
            listed.insert((*key, value.get("description").and_then(Json::as_str)))
        });
        if !known.is_empty() {
            let keys: Vec<String> = known.iter().map(|(key, _)| format!("`{key}`")).collect();
            text.push_str(&format!("As above: {}.\n\n", keys.join(", ")));
        }
        text.push_str("| Key | Type | Default | What it is | Example |\n|---|---|---|---|---|\n");
        for (key, value) in new {
            let default = match value.get("default").filter(|value| !is_empty(value)) {
                Some(default) => format!("`{default}`"),
                None if is_required(section.schema, key) => "required".to_owned(),
                None => String::new(),
            };
            let path = [section.path.as_slice(), std::slice::from_ref(key)].concat();
            let about = value.get("description").and_then(Json::as_str).unwrap_or_default();
            let row = [
                format!("`{key}`"),
                type_of(value),
                default,
                about.to_owned(),
                example(&charts, &path),
            ];
            text.push_str(&table_row(&row));
        }
    }
    text.push_str(
        "\n## Names\n\nAn expression sees the fields of `[context]` and the names in `[let]`, and these names:\n\n\
         | Name | Type | Where | What it is |\n|---|---|---|---|\n",
    );
    let chart = CHARTS[0].load()?;
    let uses = Uses::default();
    let it = Type::record([("id", Type::Text), ("cycle", Type::Text.or_none())]);
    let names = ChartNames::with_it(&chart, &uses, it);
    for (path, about, place) in built_in() {
        let kind =
            resolve(&names, path).map_or_else(|| "as declared".to_owned(), |kind| in_words(&kind));
        let place = if place.is_empty() { "everywhere" } else { place };
        text.push_str(&table_row(&[
            format!("`{path}`"),
            kind,
            place.to_owned(),
            (*about).to_owned(),
        ]));
    }
    for (heading, intro, table) in [
        ("Filters", "`value | filter`:", FILTERS),
        ("Tests", "`value is test`, or by name in `select` and `selectattr`:", TESTS),
    ] {
        text.push_str(&format!("\n## {heading}\n\n{intro}\n\n| Name | What it is |\n|---|---|\n"));
        for (name, about) in table {
            text.push_str(&table_row(&[format!("`{name}`"), (*about).to_owned()]));
        }
    }
    text.push_str(
        "\n---\n\nTo update this page: `TASKIE_UPDATE_DOCS=1 cargo test --test black_box reference`.\n",
    );
    Ok(text)
}

fn table_row(cells: &[String]) -> String {
    let cells: Vec<String> =
        cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
    format!("| {} |\n", cells.join(" | "))
}

/// The tables of a chart in the schema's order; two with the same keys share a section.
fn sections(schema: &Json) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut add = |heading: String, path: Vec<String>, schema| match sections
        .iter_mut()
        .find(|section| section.schema.get("properties") == schema_keys(schema))
    {
        Some(section) => section.headings.push(heading),
        None => sections.push(Section { headings: vec![heading], path, schema }),
    };
    add("The chart".to_owned(), Vec::new(), schema);
    collect(schema, &[], &mut add);
    sections
}

fn schema_keys(schema: &Json) -> Option<&Json> {
    schema.get("properties")
}

fn collect<'s>(
    schema: &'s Json,
    path: &[String],
    add: &mut impl FnMut(String, Vec<String>, &'s Json),
) {
    for (key, value) in entries(schema) {
        let own = [path, std::slice::from_ref(key)].concat();
        for (steps, inner) in inner_tables(value) {
            let inner_path = [own.as_slice(), &steps].concat();
            let is_list = steps.last().is_some_and(|step| step == "#");
            let shown = own.iter().chain(steps.iter().filter(|step| *step != "#"));
            let shown: Vec<String> = shown
                .filter(|step| *step != "#")
                .map(|step| match (step.as_str(), own[0].as_str()) {
                    ("*", "on") => "EVENT".to_owned(),
                    ("*", _) => "NAME".to_owned(),
                    (step, _) => step.to_owned(),
                })
                .collect();
            let shown = shown.join(".");
            let heading = if is_list { format!("`[[{shown}]]`") } else { format!("`[{shown}]`") };
            let inner_path: Vec<String> = inner_path
                .into_iter()
                .map(|step| if step == "#" { "*".to_owned() } else { step })
                .collect();
            add(heading, inner_path.clone(), inner);
            let next: Vec<String> = own.iter().cloned().chain(steps).collect();
            collect(inner, &next, add);
        }
    }
}

/// The tables inside a value: the value itself, its entries by name (`*`), or its items (`#`).
fn inner_tables(schema: &Json) -> Vec<(Vec<String>, &Json)> {
    if schema.get("properties").is_some() {
        return vec![(Vec::new(), schema)];
    }
    let inner = [("additionalProperties", "*"), ("items", "#")];
    let inner =
        inner.into_iter().filter_map(|(key, step)| Some((step.to_owned(), schema.get(key)?)));
    let direct = inner.flat_map(|(step, schema)| {
        let tables = inner_tables(schema).into_iter();
        tables.map(move |(steps, table)| ([vec![step.clone()], steps].concat(), table))
    });
    let branches = schema.get("anyOf").and_then(Json::as_array).into_iter().flatten();
    direct.chain(branches.flat_map(inner_tables)).collect()
}

fn entries(schema: &Json) -> impl Iterator<Item = (&String, &Json)> {
    schema.get("properties").and_then(Json::as_object).into_iter().flatten()
}

fn is_required(schema: &Json, key: &str) -> bool {
    let required = schema.get("required").and_then(Json::as_array);
    required.is_some_and(|keys| keys.iter().any(|other| other == key))
}

fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Array(items) => items.is_empty(),
        Json::Object(fields) => fields.is_empty() || fields.values().all(is_empty),
        _ => false,
    }
}

/// A schema's type in words: the title of the Rust type, if it has one.
fn type_of(schema: &Json) -> String {
    if let Some(title) = schema.get("title").and_then(Json::as_str) {
        return title.to_owned();
    }
    if let Some(options) = schema.get("enum").and_then(Json::as_array) {
        let options: Vec<String> = options.iter().map(|option| format!("`{option}`")).collect();
        return options.join(" or ");
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf"));
    if let Some(branches) = branches.and_then(Json::as_array) {
        let mut branches: Vec<String> = branches.iter().map(type_of).collect();
        branches.dedup();
        return branches.join(" or ");
    }
    match schema.get("type").and_then(Json::as_str) {
        Some("array") => format!(
            "list of {}",
            schema.get("items").map_or_else(String::new, |items| plural(&type_of(items)))
        ),
        Some("object") => {
            match schema.get("additionalProperties").filter(|inner| inner.is_object()) {
                Some(inner) => format!("table of {}", plural(&type_of(inner))),
                None => "table".to_owned(),
            }
        }
        Some(kind) => kind.to_owned(),
        None => "any".to_owned(),
    }
}

/// A type in the plural: `strings`, `lists of tables`, `lists of patterns or tables`.
fn plural(kind: &str) -> String {
    let (head, of) = kind.split_once(" of ").map_or((kind, None), |(head, of)| (head, Some(of)));
    let heads: Vec<String> = head
        .split(" or ")
        .map(|word| match word {
            "any" => "any type".to_owned(),
            word => format!("{word}s"),
        })
        .collect();
    let of = of.map(|of| format!(" of {}", of.replace(" or table", " or tables")));
    heads.join(" or ") + &of.unwrap_or_default()
}

/// The shortest value that a chart has at this path, as a line of TOML; nothing if none is short enough.
fn example(charts: &[Json], path: &[String]) -> String {
    fn values<'j>(json: &'j Json, path: &[String], found: &mut Vec<&'j Json>) {
        match (path, json) {
            ([], value) => found.push(value),
            ([step, rest @ ..], Json::Object(fields)) if step == "*" => {
                fields.values().for_each(|value| values(value, rest, found));
            }
            ([step, rest @ ..], Json::Array(items)) if step == "*" => {
                items.iter().for_each(|value| values(value, rest, found));
            }
            ([step, rest @ ..], Json::Object(fields)) => {
                if let Some(value) = fields.get(step) {
                    values(value, rest, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    if let [first, rest @ ..] = path
        && let Some(own) = own_table(first)
    {
        let own = [&[own.to_owned(), "*".to_owned()], rest].concat();
        for chart in charts {
            values(chart, &own, &mut found);
        }
    }
    charts.iter().for_each(|chart| values(chart, path, &mut found));
    let shown = found.into_iter().filter(|value| !is_empty(value)).map(as_toml);
    let shortest =
        shown.filter(|shown| shown.len() <= 70 && !shown.contains('\n')).min_by_key(String::len);
    shortest.map_or_else(String::new, |value| format!("`{value}`"))
}

fn as_toml(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(as_toml).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(key, value)| format!("{key} = {}", as_toml(value))).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        other => other.to_string(),
    }
}

/// The type of a built-in name, looked up in the chart; `None` if it differs from chart to chart.
fn resolve(names: &ChartNames<'_>, path: &str) -> Option<Type> {
    let mut steps = path.split('.');
    let (root, is_item) = step(steps.next()?);
    let mut kind = item(names.name(root)?, is_item)?;
    for part in steps {
        let (name, is_item) = step(part);
        kind = match kind.some() {
            Type::Record(fields) => match name {
                "HOLE" => return None,
                "NAME" if path.ends_with("NAME") && !path.starts_with("files") => return None,
                // `files.NAME[].lines` exists only in sets with `line`.
                "NAME" => fields.values().next()?.clone(),
                name => fields.get(name)?.clone(),
            },
            _ => return None,
        };
        kind = item(kind, is_item)?;
    }
    Some(kind)
}

fn step(part: &str) -> (&str, bool) {
    part.strip_suffix("[]").map_or((part, false), |name| (name, true))
}

fn item(kind: Type, is_item: bool) -> Option<Type> {
    match (is_item, kind) {
        (false, kind) => Some(kind),
        (true, Type::List(item)) => Some(*item),
        (true, _) => None,
    }
}

/// A type in the form that every chart shares: the possible strings differ.
fn in_words(kind: &Type) -> String {
    match kind {
        Type::Any => "any".to_owned(),
        Type::None => "none".to_owned(),
        Type::Boolean => "boolean".to_owned(),
        Type::Integer => "integer".to_owned(),
        Type::Text | Type::Word(_) => "string".to_owned(),
        Type::List(item) => format!("list of {}", plural(&in_words(item))),
        Type::Record(_) => "record".to_owned(),
        Type::Optional(inner) => format!("{} or none", in_words(inner)),
    }
}
