//! Finds the project, the instance and the session that a command is about.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::about::{About, Session};
use super::error::CliError;
use super::output::warn;
use crate::chart::choice::of_changes;
use crate::chart::{Chart, Scope};
use crate::diagnostic::suggest::did_you_mean;
use crate::files::pattern::name_flaw;
use crate::host::hosts;
use crate::project::change as changes;
use crate::project::find::{self, Instance, Newest};
use crate::project::home;
use crate::project::state_file;
use crate::run::change;
use crate::run::place::Place;
use crate::store::{driver, git_dir};

/// The commands that ask about what is under review, whether it is a plan or a change.
pub(crate) const ASKING: [&str; 4] = ["status", "log", "findings", "report"];

/// What has to be known of a command line before clap reads it.
#[derive(Debug, Default)]
pub(crate) struct Glance<'a> {
    /// The value of `--chart`.
    pub(crate) chart: Option<String>,
    /// The value of `--session`.
    session: Option<String>,
    /// The names of the options.
    options: Vec<&'a str>,
    /// The first words, which are the command's.
    pub(crate) words: Vec<&'a str>,
}

impl<'a> Glance<'a> {
    pub(crate) fn at(args: &'a [OsString]) -> Self {
        let mut glance = Self::default();
        let mut words = args.iter().skip(1).map(|word| word.to_str().unwrap_or_default());
        while let Some(word) = words.next() {
            let Some(option) = word.strip_prefix("--") else {
                glance.words.extend((!word.starts_with('-')).then_some(word));
                continue;
            };
            if option.is_empty() {
                break;
            }
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (option, None),
            };
            glance.options.push(name);
            let given = match name {
                "chart" => &mut glance.chart,
                "session" => &mut glance.session,
                _ => continue,
            };
            *given = given.take().or(value.or_else(|| words.next()).map(str::to_owned));
        }
        glance
    }
}

/// What to do if the named instance does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// It must exist.
    Refuse,
    /// Create it; if there is no home, at the git root or in the current directory.
    Make,
    /// Return the place where it would be, and create nothing.
    Assume,
}

/// Returns the instance that the command line names, else the most recently modified one. It must exist.
pub(crate) fn chosen(chart: &Arc<Chart>, about: &About) -> Result<Place, CliError> {
    let session = session(&about.of)?;
    resolve(chart, about, session.as_deref(), Absent::Refuse)
}

/// Returns the instance that `--NOUN` names, else the most recently modified one.
pub(crate) fn resolve(
    chart: &Arc<Chart>,
    about: &About,
    session: Option<&str>,
    absent: Absent,
) -> Result<Place, CliError> {
    let scope = &chart.scope;
    let noun = scope.noun();
    let start = || start(chart);
    let named = match about.name() {
        _ if scope.is_per_session() => Some(named(chart, session.ok_or_else(unknown_session)?)?),
        Some(name) => Some(named(chart, name)?),
        None => None,
    };
    let cwd = cwd()?;
    let root = match home::project_root(&cwd, &scope.home) {
        Some(root) => root,
        None if absent != Absent::Refuse && named.is_some() => new_root(&cwd, scope)?,
        None if chart.is_default && named.is_none() => {
            return Err(CliError::with_help(
                format!("no {noun} is under review here yet"),
                start(),
            ));
        }
        None => return Err(CliError::with_help(no_home(&scope.home, &cwd), start())),
    };
    let instance = match named {
        Some(instance) => instance,
        None => {
            let newest = under_review(chart, &root, session);
            warn(newest.warnings);
            newest.instance.ok_or_else(|| {
                let of = if scope.is_of_changes() { " of this branch or session" } else { "" };
                let home = root.join(&scope.home);
                let message = format!("there is no {noun}{of} in {}", home.display());
                CliError::with_help(message, start())
            })?
        }
    };
    inside(&root, &instance, scope)?;
    let dir = root.join(&instance.dir);
    let is_missing = || !root.join(&instance.dir).is_dir();
    if !scope.is_per_session() && absent != Absent::Assume && is_missing() {
        if absent == Absent::Refuse {
            let names = find::names(&root, scope).unwrap_or_default();
            let close = did_you_mean(&instance.name, names.iter().map(String::as_str));
            let message = format!("there is no {noun} `{}`", instance.name);
            let known = || match names.is_empty() {
                true => start(),
                false => format!("`{} status --all` shows what there is", chart.program()),
            };
            return Err(CliError::with_help(message, close.unwrap_or_else(known)));
        }
        std::fs::create_dir_all(&dir)
            .map_err(CliError::because(format!("{} cannot be made", dir.display())))?;
    }
    Ok(Place::new(Arc::clone(chart), root, instance))
}

/// Returns what to do where there is no instance.
fn start(chart: &Chart) -> String {
    let (scope, program, initial) = (&chart.scope, chart.program(), &chart.initial);
    let review = "`taskie review` reviews what has changed";
    match () {
        () if scope.is_of_changes() => review.to_owned(),
        () if scope.is_per_session() => {
            format!(
                "start one with `{program} enter {initial} --session ID`, or with `{program} run`"
            )
        }
        () if chart.is_default => format!(
            "{review}; in an agent's session, `/{}:{initial}` begins a {}",
            chart.plugin(),
            scope.noun()
        ),
        () => format!("start one with `{program} enter {initial} --{} NAME`", scope.noun()),
    }
}

/// Returns the working directory.
pub(crate) fn cwd() -> Result<PathBuf, CliError> {
    std::env::current_dir().map_err(CliError::because("the working directory cannot be read"))
}

/// Returns the error where the session is unknown.
pub(crate) fn unknown_session() -> CliError {
    let help = "pass --session ID; in a command of Claude Code: --session \"${CLAUDE_SESSION_ID}\"";
    CliError::with_help("the session is unknown", help)
}

fn new_root(cwd: &Path, scope: &Scope) -> Result<PathBuf, CliError> {
    let noun = scope.noun();
    home::new_root(cwd).ok_or_else(|| {
        let message =
            format!("{} is your home directory or above it, where no {noun} can be", cwd.display());
        CliError::with_help(message, format!("start the {noun} in the directory of a project"))
    })
}

/// Refuses an instance that is not only the user's own, or not in the project.
fn inside(root: &Path, instance: &Instance, scope: &Scope) -> Result<(), CliError> {
    match find::flaw(root, &scope.home, instance) {
        Some(why) => {
            let help = "use a folder that is only yours, and no link";
            Err(CliError::with_help(why.trim_end_matches('.'), help))
        }
        None => Ok(()),
    }
}

/// Returns the same as [`chosen`], or `None` if no instance is named and none exists.
pub(crate) fn find(chart: &Arc<Chart>, about: &About) -> Result<Option<Place>, CliError> {
    let is_named = about.name().is_some() || session(&about.of)?.is_some();
    match chosen(chart, about) {
        Err(_) if !is_named => Ok(None),
        found => found.map(Some),
    }
}

/// Returns the root of the project around the working directory.
pub(crate) fn root(chart: &Chart) -> Result<PathBuf, CliError> {
    let (cwd, home) = (cwd()?, &chart.scope.home);
    let root = home::project_root(&cwd, home);
    root.ok_or_else(|| CliError::with_help(no_home(home, &cwd), start(chart)))
}

/// Returns the error about a directory that is not in a project.
pub(crate) fn no_home(home: &str, cwd: &Path) -> String {
    let above = match home::roots(cwd).len() {
        0 | 1 => "",
        _ => " or above",
    };
    format!("there is no {home} in {}{above}", cwd.display())
}

/// Returns the instance of that name, which must exist; the error says why it cannot be used.
pub(crate) fn existing(chart: &Arc<Chart>, root: &Path, name: &str) -> Result<Place, String> {
    let instance = find::named(&chart.scope, name)?;
    match find::flaw(root, &chart.scope.home, &instance) {
        Some(why) => Err(why),
        None => Ok(Place::new(Arc::clone(chart), root.to_owned(), instance)),
    }
}

/// Returns the instance of that name, whether or not it exists.
pub(crate) fn named(chart: &Chart, name: &str) -> Result<Instance, CliError> {
    let named = find::named(&chart.scope, name);
    named.map_err(|why| CliError::with_help(why, "choose another name"))
}

/// Returns the chart that reviews changes, for the work tree around `dir`.
pub(crate) fn changes_at(dir: &Path) -> Option<Arc<Chart>> {
    let mut changes = of_changes()?.load().ok()?;
    if let Some(chart) = Arc::get_mut(&mut changes) {
        home::settle(&mut chart.scope, dir);
    }
    Some(changes)
}

/// Returns the chart that a command is about: `plans`, or that of changes if the command line names a change, if only that chart
/// has the command, or if the command only asks and a change is what is under review here.
pub(crate) fn chart_of(plans: Arc<Chart>, line: &Glance<'_>) -> Arc<Chart> {
    let Some(changes) = cwd().ok().and_then(|cwd| changes_at(&cwd)) else {
        return plans;
    };
    let names = |chart: &Chart| line.options.contains(&chart.scope.noun());
    let has = |chart: &Chart| match line.words[..] {
        ["run", command, ..] => chart.commands.contains_key(command),
        [command, ..] => ASKING.contains(&command) || chart.commands.contains_key(command),
        [] => false,
    };
    let is_change = match (has(&plans), has(&changes)) {
        _ if names(&changes) => true,
        // A list has those of both.
        _ if names(&plans) || line.options.contains(&"all") => false,
        (true, true) => {
            let newest = |chart| recency(chart, line.session.as_deref());
            newest(&changes) > newest(&plans)
        }
        (_, has) => has,
    };
    if is_change { changes } else { plans }
}

/// Returns how near the instance of a chart is that a command without a name is about: whether the session drives it, and when its
/// state was written.
fn recency(chart: &Arc<Chart>, session: Option<&str>) -> Option<(bool, SystemTime)> {
    let root = home::project_root(&cwd().ok()?, &chart.scope.home)?;
    let instance = under_review(chart, &root, session).instance?;
    let place = Place::new(Arc::clone(chart), root, instance);
    let is_driven = session.is_some_and(|session| driver::drives(place.journal(), session));
    let written = place.root.join(state_file(&place)).metadata().and_then(|meta| meta.modified());
    Some((is_driven, written.unwrap_or(UNIX_EPOCH)))
}

/// Returns the instance that the session has worked on last. Without a session it is, of plans, the one that was modified last; of
/// changes, that of the current branch or of a session, one whose reviews are under way first.
fn under_review(chart: &Arc<Chart>, root: &Path, session: Option<&str>) -> Newest {
    let scope = &chart.scope;
    if !scope.is_of_changes() {
        let claimed = session.and_then(|session| {
            driver::claimed(&[root.to_owned()], &scope.home, session).ok().flatten()
        });
        let claimed = claimed.map(|claimed| find::of_name(root, scope, &claimed.instance));
        let claimed = claimed.filter(|claimed| claimed.instance.is_some());
        return claimed.unwrap_or_else(|| find::newest(root, scope));
    }
    let own = session.map(driver::own_name);
    let branch = git_dir::around(root).and_then(|tree| changes::branch(&tree).ok());
    let branch = branch.map(|branch| change::name_of(&branch)).unwrap_or_default();
    let written = |name: &String| {
        let state = find::folder(scope).join(name).join(state_file::FILE);
        root.join(state).metadata().and_then(|meta| meta.modified()).ok()
    };
    let mut names = find::names(root, scope).unwrap_or_default();
    // What another session changes is not this one's.
    names.retain(|name| {
        *name == branch || own.as_ref().map_or_else(|| driver::is_own_name(name), |own| name == own)
    });
    let is_in_cycle = |name: &str| existing(chart, root, name).is_ok_and(|it| it.is_in_cycle());
    let rank = |name: &String| {
        let (is_own, is_in_cycle) = (own.as_ref() == Some(name), is_in_cycle(name));
        (is_own && is_in_cycle, is_in_cycle, is_own, written(name))
    };
    let name = names.iter().max_by_key(|name| rank(name));
    name.map_or_else(Newest::default, |name| find::of_name(root, scope, name))
}

/// Refuses a command that names no instance, and can be about another one than `place`, too. A session means its own change. `call` is
/// the command, and `can_be` says what it can be about.
pub(crate) fn refuse_several(
    place: &Place,
    about: &About,
    call: &str,
    can_be: impl Fn(&Place) -> bool,
) -> Result<(), CliError> {
    let (chart, scope) = (&place.chart, &place.chart.scope);
    let own = session(&about.of)?.map(|session| driver::own_name(&session));
    let is_meant = about.name().is_some() || own.as_ref() == Some(&place.instance.name);
    if scope.is_per_session() || is_meant || !can_be(place) {
        return Ok(());
    }
    let names = find::names(&place.root, scope).unwrap_or_default();
    let others = names.iter().filter(|name| **name != place.instance.name);
    let mut others = others.filter_map(|name| existing(chart, &place.root, name).ok());
    let Some(other) = others.find(|other| can_be(other)) else {
        return Ok(());
    };
    let (noun, name, other) = (scope.noun(), &place.instance.name, &other.instance.name);
    let message = format!("this can be about {name} and about {other}");
    let help = format!("say which of them you mean: `{call} --{noun} {name}`");
    Err(CliError::with_help(message, help))
}

/// Returns the instance that a session has claimed, or has of its own.
pub(crate) fn of_claim(chart: &Arc<Chart>, session: &str) -> Option<Place> {
    let scope = &chart.scope;
    let roots = home::roots(&cwd().ok()?);
    let own = match () {
        () if scope.is_per_session() => session.to_owned(),
        () if scope.is_of_changes() => driver::own_name(session),
        () => {
            let claimed = driver::claimed(&roots, &scope.home, session).ok()??;
            return existing(chart, &claimed.root, &claimed.instance).ok();
        }
    };
    let root = home::project_root(roots.first()?, &scope.home)?;
    existing(chart, &root, &own).ok()
}

/// Returns the current session: `--session`, or else the one that the host puts into the environment of its tools.
pub(crate) fn session(of: &Session) -> Result<Option<String>, CliError> {
    // A host that does not know the name in `--session "${CLAUDE_SESSION_ID}"` leaves it to the shell, and it is empty.
    let given = of.session.clone();
    let Some(session) = given.filter(|id| !id.is_empty()).or_else(hosts::session) else {
        return Ok(None);
    };
    let Some(flaw) = name_flaw(&session) else {
        return Ok(Some(session));
    };
    let session = session.escape_debug();
    let message = format!("`{session}` cannot be the id of a session: {flaw}");
    Err(CliError::with_help(message, "pass --session \"${CLAUDE_SESSION_ID}\""))
}

/// Returns the path of the state file, relative to the project's root.
pub(crate) fn state_file(place: &Place) -> PathBuf {
    place.instance.dir.join(state_file::FILE)
}
