//! What the documentation has from the code: `docs/reference.md`, the table of settings, and the page of commands.

use std::fs;

use serde_json::Value as Json;
use taskie::chart::choice::{CHARTS, Embedded};
use taskie::chart::extend::Extended;
use taskie::chart::schema::statechart;
use taskie::diagnostic::flaw::ChartError;
use taskie::engine::names::rows::built_in;
use taskie::engine::names::types::{ChartNames, Uses};
use taskie::expr::infer::Scope as _;
use taskie::expr::types::Type;
use taskie::expr::vocabulary::{FILTERS, TESTS, names};

/// Compares a page of the documentation, or a part of it between two lines, with what is made from the code.
/// `TASKIE_UPDATE_DOCS=1` writes it again.
fn is_fresh(page: &str, between: Option<[&str; 2]>, fresh: &str) {
    let path = format!("{}/docs/{page}", env!("CARGO_MANIFEST_DIR"));
    let stored = fs::read_to_string(&path).unwrap_or_default();
    let fresh = match between {
        None => fresh.to_owned(),
        Some([start, end]) => {
            let (before, rest) = stored.split_once(start).expect("the page has the start");
            let (_, after) = rest.split_once(end).expect("the page has the end");
            format!("{before}{start}\n\n{fresh}\n{end}{after}")
        }
    };
    if std::env::var_os("TASKIE_UPDATE_DOCS").is_some() {
        fs::write(&path, &fresh).unwrap();
        return;
    }
    let differs = stored.lines().zip(fresh.lines()).find(|(old, new)| old != new);
    assert!(
        stored == fresh,
        "docs/{page} is stale, first at {differs:?}\n\
         update it: TASKIE_UPDATE_DOCS=1 cargo test --test black_box reference"
    );
}

#[test]
fn the_reference_is_fresh() {
    is_fresh("reference.md", None, &markdown().unwrap());
}

#[test]
fn the_table_of_settings_is_fresh() {
    let chart = whole(&CHARTS[0]);
    let mut table = "| Setting | Default | Meaning |\n|---|---|---|\n".to_owned();
    for (name, field) in chart["config"].as_object().unwrap() {
        let default = field["default"].to_string().replace(",\"", ", \"");
        let about = field["about"].as_str().unwrap_or_default().to_owned();
        table.push_str(&table_row(&[format!("`{name}`"), format!("`{default}`"), about]));
    }
    let between = ["<!-- The table is made of the charts. -->", "<!-- The end of the table. -->"];
    is_fresh("settings.md", Some(between), &table);
}

/// What `--help` says of each command of the program, without the options that all of them have.
#[test]
fn the_page_of_commands_is_fresh() {
    fn add(text: &mut String, name: &str, command: &clap::Command) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        text.push_str(&format!("## {name}\n\n{about}.\n"));
        let args = command.get_arguments().filter(|arg| {
            !arg.is_hide_set()
                && !["help", "chart", "instance", "session"].contains(&arg.get_id().as_str())
        });
        let args = args.map(|arg| {
            let names = arg.get_value_names().unwrap_or_default();
            let value = names.first().map(|name| name.to_string());
            let takes = arg.get_num_args().is_none_or(|number| number.takes_values());
            let value = value.filter(|_| takes || arg.is_positional());
            let shown = match (arg.get_long(), value) {
                (Some(long), Some(value)) => format!("--{long} {value}"),
                (Some(long), None) => format!("--{long}"),
                (None, value) => value.unwrap_or_default(),
            };
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            format!("- `{shown}`: {help}\n")
        });
        let args: Vec<String> = args.collect();
        if !args.is_empty() {
            text.push_str(&format!("\n{}", args.concat()));
        }
        if let Some(after) = command.get_after_help() {
            text.push_str(&format!("\n{after}\n"));
        }
        text.push('\n');
        for sub in command.get_subcommands().filter(|_| name != "taskie run") {
            add(text, &format!("{name} {}", sub.get_name()), sub);
        }
    }
    let mut command = taskie::command().unwrap();
    command.build();
    let mut text = String::new();
    let chart = CHARTS[0].load().unwrap_or_else(|error| panic!("{error}"));
    for sub in command.get_subcommands() {
        // What is short for a command of `chart`, and the commands of the chart.
        let is_listed = !["check-chart", "schema"].contains(&sub.get_name());
        if is_listed && !chart.commands.contains_key(sub.get_name()) {
            add(&mut text, &format!("taskie {}", sub.get_name()), sub);
        }
    }
    let between = ["<!-- This part is made of the help. -->", "<!-- The end of this part. -->"];
    is_fresh("commands.md", Some(between), &text);
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
        let columns = ["id", "status", "title"];
        for field in fields.keys().filter(|field| !columns.contains(&field.as_str())) {
            let path = format!("{record}.{field}");
            let is_described = |(known, _): (&str, &str)| known.starts_with(&path);
            assert!(built_in().any(is_described), "{path}");
        }
    }
    let of_charts = ["args.", "checks.", "config.", "prompts.", "it"];
    for (path, _) in built_in() {
        let is_own = path.contains("HOLE")
            || path.ends_with(".NAME")
            || path.ends_with(".lines") && path.starts_with("files");
        if !is_own && !of_charts.iter().any(|start| path.starts_with(start)) {
            assert!(resolve(&names, path).is_some(), "{path}");
        }
    }
}

/// Returns a chart with what it extends.
fn whole(chart: &Embedded) -> Json {
    let whole = Extended::of(chart.id, chart.text);
    toml::from_str(&whole.toml()).unwrap_or_default()
}

/// One table of a chart: its headings (`[scope]`), what it is, and its schema.
struct Section<'s> {
    headings: Vec<String>,
    schema: &'s Json,
}

/// Returns the first sentence of a description.
fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    &text[..end]
}

/// Returns the page. The error comes from a chart that is compiled in.
fn markdown() -> Result<String, ChartError> {
    let schema = statechart::of_charts();
    let mut text = "# Reference\n\nEvery key, name, filter and test that a chart can use, made from the code. [The \
        schema](../schemas/statechart.schema.json) (`taskie schema statechart`) says what each key means; an editor shows it.\n\n## Keys\n"
        .to_owned();
    for section in sections(&schema) {
        let about = section.schema.get("description").and_then(Json::as_str).unwrap_or_default();
        let keys: Vec<String> =
            entries(section.schema).map(|(key, _)| format!("`{key}`")).collect();
        text.push_str(&format!(
            "\n**{}**: {} {}\n",
            section.headings.join(", "),
            first_sentence(about),
            keys.join(", ")
        ));
    }
    text.push_str(
        "\n## Names\n\nAn expression sees the fields of `[context]`, the names in `[let]`, and these names:\n\n",
    );
    for (path, about) in built_in() {
        text.push_str(&format!("- `{path}`: {}\n", first_sentence(about)));
    }
    for (heading, intro, table) in [
        (
            "Filters",
            "`value | filter`, [of minijinja](https://docs.rs/minijinja/latest/minijinja/filters/index.html):",
            FILTERS,
        ),
        ("Tests", "`value is test`, or by name in `select` and `selectattr`:", TESTS),
    ] {
        text.push_str(&format!("\n## {heading}\n\n{intro}\n\n"));
        let names: Vec<String> = table.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!("{}\n", names.join(", ")));
    }
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
    let mut add = |heading: String, schema| match sections
        .iter_mut()
        .find(|section| section.schema.get("properties") == schema_keys(schema))
    {
        Some(section) => section.headings.push(heading),
        None => sections.push(Section { headings: vec![heading], schema }),
    };
    add("The chart".to_owned(), schema);
    collect(schema, &[], &mut add);
    sections
}

fn schema_keys(schema: &Json) -> Option<&Json> {
    schema.get("properties")
}

fn collect<'s>(schema: &'s Json, path: &[String], add: &mut impl FnMut(String, &'s Json)) {
    for (key, value) in entries(schema) {
        let own = [path, std::slice::from_ref(key)].concat();
        for (steps, inner) in inner_tables(value) {
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
            add(heading, inner);
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
