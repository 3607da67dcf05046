//! `taskie render`: what an agent, a reviewer or a user would be told. Stdout is the text and nothing else; what is to
//! be said about it goes to stderr.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anstyle::Style;
use clap::ArgMatches;

use super::error::CliError;
use super::output::{say, tell};
use super::place;
use crate::chart::Chart;
use crate::chart::embedded::Choice;
use crate::engine::decision::Invocation;
use crate::engine::world::World;
use crate::expr::has_holes;
use crate::page;
use crate::render::next::{Next, STOP, next};
use crate::render::preview::{Imagined, Scene, render};
use crate::render::suppose::Supposed;
use crate::render::texts::{self, ChartText, Includes, Stand, find};
use crate::render::trouble::Trouble;
use crate::shell::perform::Place;
use crate::shell::snapshot::Snapshot;
use crate::shell::store::{self, Reading};

impl From<Trouble> for CliError {
    fn from(trouble: Trouble) -> Self {
        if trouble.has_place() {
            return Self::Shown(miette::Report::new(trouble));
        }
        Self::Told {
            message: trouble.to_string(),
            help: trouble.help_text().map(str::to_owned),
        }
    }
}

/// Renders what was asked for.
pub(crate) fn run(
    choice: &Choice<'_>,
    chart: &Arc<Chart>,
    matches: &ArgMatches,
) -> Result<ExitCode, CliError> {
    if matches.get_flag("list") {
        list(chart);
        return Ok(ExitCode::SUCCESS);
    }
    let toml = choice.text().unwrap_or_default();
    let target = match matches.get_one::<String>("template") {
        Some(wanted) => Some(
            find(chart, wanted).map_err(|(message, help)| CliError::with_help(message, help))?,
        ),
        None => None,
    };
    let stand = target.as_ref().map_or(Stand::Plain, texts::Target::stand);
    let pairs = matches
        .get_many::<(String, String)>("set")
        .into_iter()
        .flatten();
    let supposed = Supposed::read(chart, stand, pairs)
        .map_err(|(message, help)| CliError::Told { message, help })?;
    let session = place::session(matches)?;
    let (place, warnings) = place::find(chart, matches, session.as_deref())?;
    let place = match place {
        Some(place) => place,
        None if target.is_none() => {
            place::resolve(chart, matches, session.as_deref(), place::Absent::Refuse)?
        }
        None => nowhere(chart)?,
    };
    let snapshot = Arc::new(snapshot(chart, &place, matches)?.with_fields(&supposed.fields));
    let cwd = std::env::current_dir()
        .unwrap_or_default()
        .display()
        .to_string();
    let list = match stand {
        Stand::Rule { list, .. } => list,
        _ if target.is_none() => STOP,
        _ => "",
    };
    let world: Arc<dyn World> = Arc::new(Imagined {
        snapshot: Arc::clone(&snapshot),
        scope: supposed.scope.clone(),
    });
    let scene = Scene {
        chart,
        toml: &toml,
        world,
        supposed: &supposed,
        event: supposed.event(list, &cwd, session),
    };
    let Some(target) = target else {
        return Ok(show_next(&place, &scene, &snapshot, warnings)?);
    };
    if let Reading::Broken(why) = &snapshot.state {
        let file = place::state_file(&place);
        let help = "mend the file, or give another state: --state FILE";
        return Err(CliError::with_help(
            format!("{}: {why}", file.display()),
            help,
        ));
    }
    let rendered = render(&scene, &target)?;
    for warning in warnings.into_iter().chain(snapshot.warnings()) {
        tell(&format!("taskie: {warning}"));
    }
    if rendered.is_cut {
        tell("taskie: this text is too long for the host, which is given so much of it");
    }
    print(&rendered.text);
    Ok(ExitCode::SUCCESS)
}

/// Says what the hook would do on stderr, and prints what it would send.
fn show_next(
    place: &Place,
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    warnings: Vec<String>,
) -> Result<ExitCode, Trouble> {
    let (reply, last) = match next(place, scene)? {
        Next::Run(invocation) => {
            for warning in snapshot.warnings().iter().chain(&warnings) {
                tell(&format!("taskie: {warning}"));
            }
            tell(&run_in_words(place, &invocation));
            print(invocation.argv.last().map_or("", String::as_str));
            return Ok(ExitCode::SUCCESS);
        }
        Next::Answer { reply, last } => (
            reply
                .with_warnings(snapshot.warnings())
                .with_warnings(warnings),
            last,
        ),
    };
    let rule = last.map_or_else(String::new, |fired| match place.chart.about(&fired.place) {
        Some(about) => format!(" ({}: {about})", fired.place),
        None => format!(" ({})", fired.place),
    });
    match (reply.reason(), reply.message()) {
        (Some(reason), message) => {
            tell(&format!(
                "taskie: the next stop is blocked{rule}; the agent is told:"
            ));
            if let Some(message) = message {
                tell(&format!("taskie: the user is told, too: {message}"));
            }
            print(&reason);
        }
        (None, Some(message)) => {
            tell(&format!(
                "taskie: the next stop goes through{rule}; the user is told:"
            ));
            print(&message);
        }
        (None, None) => tell(&format!(
            "taskie: the next stop goes through{rule}; nothing is said"
        )),
    }
    Ok(ExitCode::SUCCESS)
}

/// What is run, the prompt aside, as one would type it.
fn run_in_words(place: &Place, invocation: &Invocation) -> String {
    let shown: Vec<String> = match invocation.argv.split_last() {
        Some((_, rest)) => rest.iter().map(|arg| quoted(arg)).collect(),
        None => Vec::new(),
    };
    format!(
        "taskie: {} {} is due: the next stop runs this, and it writes {}\n  {} PROMPT",
        invocation.cycle,
        invocation.n,
        place.instance.dir.join(&invocation.file).display(),
        shown.join(" ")
    )
}

/// A word of a shell line.
fn quoted(word: &str) -> String {
    let is_plain = |sign: char| {
        sign.is_ascii_alphanumeric()
            || matches!(sign, '-' | '_' | '.' | '/' | '=' | ':' | ',' | '@')
    };
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The text as it is. On a terminal its last line is ended, so that the next prompt does not stand in it.
fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let end = if out.is_terminal() && !text.is_empty() {
        "\n"
    } else {
        ""
    };
    // A reader that has gone away is no error.
    let _ = write!(out, "{text}{end}").and_then(|()| out.flush());
}

/// An instance that has not begun, where there is none: enough to read a prompt.
fn nowhere(chart: &Arc<Chart>) -> Result<Place, CliError> {
    let noun = &chart.scope.noun;
    let name = noun.to_uppercase();
    tell(&format!(
        "taskie: there is no {noun} here: `{name}` stands for one that has not begun"
    ));
    let root = std::env::current_dir().unwrap_or_default();
    Ok(Place {
        chart: Arc::clone(chart),
        root,
        instance: place::named(chart, &name)?,
    })
}

/// What is there, with the state of `--state`.
fn snapshot(chart: &Arc<Chart>, place: &Place, matches: &ArgMatches) -> Result<Snapshot, CliError> {
    let Some(file) = matches.get_one::<String>("state") else {
        return Ok(Snapshot::take(chart, &place.root, &place.instance));
    };
    let bytes = std::fs::read(Path::new(file))
        .map_err(|error| CliError::new(format!("{file} cannot be read: {error}")))?;
    let state = store::parse(chart, &bytes);
    if let Reading::Broken(why) = &state {
        return Err(CliError::new(format!("{file}: {why}")));
    }
    Ok(Snapshot::with_state(
        chart,
        &place.root,
        &place.instance,
        state,
        Path::new(file),
    ))
}

/// All templates and texts, with what they need.
fn list(chart: &Chart) {
    let page = Page::new();
    let (templates, unused) = texts::templates(chart);
    page.heading("Templates", "taskie render NAME");
    for (name, template) in &templates {
        page.name(name);
        page.row("used by", template.users.iter());
        page.row("includes", template.includes.iter());
        page.row("needs", template.needs.iter());
    }
    if !unused.is_empty() {
        page.name("not used by the chart");
        page.columns("    ", &unused.join(", "));
    }
    say("");
    page.heading("Texts of the chart", "taskie render PLACE");
    let includes = Includes::new(chart);
    // Without holes, an argument, a word of a cycle or an action's name is no text to look at.
    let is_word = |text: &ChartText<'_>| {
        ["invoke.", "cycles."]
            .iter()
            .any(|table| text.place.starts_with(table))
            || text.place.ends_with(".action")
    };
    let texts = texts::texts(chart)
        .into_iter()
        .filter(|text| has_holes(&text.text.0) || !is_word(text));
    let texts: Vec<ChartText<'_>> = texts.collect();
    let width = texts
        .iter()
        .map(|text| text.place.chars().count())
        .max()
        .unwrap_or_default();
    for text in &texts {
        let templates = includes.of(&text.text.0);
        let templates = templates.iter().map(|name| format!("includes\u{a0}{name}"));
        let names = templates
            .chain(includes.own_needs(&text.text.0))
            .collect::<Vec<_>>()
            .join(", ");
        page.columns(&format!("  {:<width$}", text.place), &names);
    }
}

/// Lines as wide as the terminal.
struct Page {
    width: usize,
}

impl Page {
    fn new() -> Self {
        Self {
            width: page::width().max(40),
        }
    }

    fn heading(&self, title: &str, usage: &str) {
        let (bold, faint) = (Style::new().bold(), Style::new().dimmed());
        line(&format!("{bold}{title}{bold:#}  {faint}{usage}{faint:#}"));
    }

    fn name(&self, name: &str) {
        line(&format!("  {name}"));
    }

    fn row<'n>(&self, label: &str, names: impl Iterator<Item = &'n String>) {
        let names = names.map(String::as_str).collect::<Vec<_>>().join(", ");
        if !names.is_empty() {
            self.columns(&format!("      {label:<8}"), &names);
        }
    }

    /// A text beside its head, which stands out less.
    fn columns(&self, head: &str, text: &str) {
        let faint = Style::new().dimmed();
        let indent = head.chars().count() + 2;
        let options = textwrap::Options::new(self.width.saturating_sub(indent).max(20))
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        let mut head = format!("{head}  ");
        for row in textwrap::wrap(text, options) {
            let row = row.replace('\u{a0}', " ");
            line(&if row.is_empty() {
                head
            } else {
                format!("{head}{faint}{row}{faint:#}")
            });
            head = " ".repeat(indent);
        }
    }
}

fn line(text: &str) {
    let _ = writeln!(anstream::stdout(), "{}", text.trim_end());
}
