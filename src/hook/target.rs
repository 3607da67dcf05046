//! The instance that an event is about: in the plans of the project, or the change of its session.
//!
//! The home of a compiled-in chart is known before the chart is parsed. If an event has nothing to do with it, the chart
//! never is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::chart::choice::{Choice, Embedded, of_changes};
use crate::chart::{Chart, Scope};
use crate::diagnostic::flaw::ChartError;
use crate::files::pattern::name_flaw;
use crate::host::events::{UNCLAIMED, is_stop};
use crate::host::reply::undecided;
use crate::project::find::{self, Newest};
use crate::project::home;
use crate::project::state_file::FILE;
use crate::project::trust::{self, OwnChart};
use crate::run::place::Place;
use crate::store::driver::{self, Claimed};

/// Returns the session's directory, to which this process has changed.
pub(super) fn cwd() -> PathBuf {
    std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."))
}

/// What an event is about, as far as that is known without the chart.
struct Meant {
    root: PathBuf,
    /// What the session claimed last; `None` if the chart has to choose the instance.
    claimed: Option<Claimed>,
    /// The stop is one of a session that has claimed nothing.
    is_unclaimed: bool,
}

/// Returns what an event is about; `None` if it has nothing to do with us. A stop is about the instance that its session
/// claimed last, whatever directory the agent is in now. A stop whose session has claimed nothing, or that names none, is
/// about the project around its directory. The error says why this cannot be found out.
fn meant(
    event: &str,
    session: Option<&str>,
    home: &str,
    is_per_session: bool,
) -> Result<Option<Meant>, String> {
    let cwd = cwd();
    let session = session.filter(|_| is_stop(event) && !is_per_session);
    let claimed = match session {
        Some(session) => driver::claimed(&home::roots(&cwd), home, session)?,
        None => None,
    };
    let is_unclaimed = session.is_some() && claimed.is_none();
    let root = match &claimed {
        Some(claimed) => Some(claimed.root.clone()),
        None => home::project_root(&cwd, home),
    };
    Ok(root.map(|root| Meant { root, claimed, is_unclaimed }))
}

/// The instance that an event is about.
#[derive(Default)]
pub(super) struct Target {
    /// `None` if there is none yet, or if nothing can be decided.
    pub(super) place: Option<Place>,
    pub(super) quiet: bool,
    pub(super) warnings: Vec<String>,
    pub(super) messages: Vec<String>,
    pub(super) is_unclaimed: bool,
}

impl Target {
    /// Returns the answer that nothing can be decided.
    pub(super) fn undecided(name: &str, why: &str) -> Self {
        Self { warnings: vec![undecided(name, why)], ..Self::default() }
    }

    /// Returns the place of what the session has claimed.
    pub(super) fn driven(&self) -> Option<&Place> {
        self.place.as_ref().filter(|_| !self.is_unclaimed)
    }
}

/// Finds the instance that an event is about, in the plans or in what the project's own chart has.
pub(super) fn of_project(
    name: &str,
    session: Option<&str>,
    named: Option<&str>,
    quiet: bool,
) -> Target {
    find_in_project(name, session, named, quiet).unwrap_or_else(|why| Target::undecided(name, &why))
}

fn find_in_project(
    name: &str,
    session: Option<&str>,
    named: Option<&str>,
    quiet: bool,
) -> Result<Target, String> {
    let mut target = Target { quiet, ..Target::default() };
    let mut choice = Choice::of(named);
    let mut known = None;
    let own;
    // The home of an embedded chart is known before the chart is parsed. If there is nothing for it to do, it never is.
    if let Choice::Embedded(chart) = choice {
        known = meant(name, session, chart.home(), chart.is_per_session())?;
        let is_claimed = known.as_ref().is_some_and(|meant| !meant.is_unclaimed);
        let root = known.as_ref().filter(|_| named.is_none()).map(|meant| meant.root.as_path());
        match root.map_or(OwnChart::Absent, trust::own_chart) {
            OwnChart::Trusted(path) => {
                own = path;
                (choice, known) = (Choice::File(&own), None);
            }
            // Where it was trusted, the user counts on it.
            OwnChart::Changed(why) => {
                target.warnings.push(why);
                return Ok(target);
            }
            // Where it never was, a stop that is not about a plan is silent.
            OwnChart::Ignored(why) if is_claimed => target.warnings.push(why),
            OwnChart::Ignored(_) | OwnChart::Absent => {}
        }
        if matches!(choice, Choice::Embedded(_)) && (known.is_none() || !chart.has_rules(name)) {
            return Ok(target);
        }
    }
    let mut chart = choice.load().map_err(unusable)?;
    if let Some(chart) = Arc::get_mut(&mut chart) {
        // Without a name, it is the first chart or the project's own.
        chart.is_default |= named.is_none();
    }
    let scope = &chart.scope;
    target.quiet = chart.quiet;
    let meant = match known {
        Some(known) => Some(known),
        None => meant(name, session, &scope.home, scope.is_per_session())?,
    };
    let has_rules_for = |list: &str| chart.on.get(list).is_some_and(|rules| !rules.is_empty());
    let has_rules =
        |meant: &Meant| has_rules_for(name) && (!meant.is_unclaimed || has_rules_for(UNCLAIMED));
    let Some(Meant { root, claimed, is_unclaimed }) = meant.filter(has_rules) else {
        return Ok(target);
    };
    let distrusting = |found| distrusting(&root, &scope.home, found);
    let Newest { instance, warnings } = match &claimed {
        Some(claimed) => of_claim(claimed, scope),
        None if scope.is_per_session() => distrusting(find::of_session(scope, session)),
        None => distrusting(find::newest(&root, scope)),
    };
    // The session that works on the instance reads them.
    target.warnings.extend(warnings.into_iter().filter(|_| !is_unclaimed));
    target.is_unclaimed = is_unclaimed;
    target.place = instance.map(|instance| Place::new(chart, root, instance));
    Ok(target)
}

fn unusable(error: ChartError) -> String {
    format!("the chart cannot be used: {error}")
}

/// Finds the instance that the session claimed last, and says if it is gone.
fn of_claim(claimed: &Claimed, scope: &Scope) -> Newest {
    let name = &claimed.instance;
    let mut found = find::of_name(&claimed.root, scope, name);
    if found.instance.is_none() && found.warnings.is_empty() {
        let (noun, folder) = (scope.noun(), find::folder(scope).join(name));
        found.warnings.push(format!(
            "The {noun} `{name}`, which this session drives, is gone: {} does not exist. No review of it runs \
             until it exists again, or until the session takes up another {noun}.",
            folder.display()
        ));
    }
    distrusting(&claimed.root, &scope.home, found)
}

/// Returns the work trees whose changes an event may be about, each with the home of the chart in its git directory.
pub(super) fn homes(chart: &Embedded) -> impl Iterator<Item = (PathBuf, String)> {
    let starts = [Some(cwd()), home::host_project()];
    let starts = starts.into_iter().flatten();
    starts.filter_map(|start| home::in_git(chart.home(), &start))
}

/// Loads the chart of changes for one of its homes.
pub(super) fn at_home(chart: &'static Embedded, home: String) -> Result<Arc<Chart>, String> {
    let mut chart = chart.load().map_err(unusable)?;
    if let Some(chart) = Arc::get_mut(&mut chart) {
        chart.scope.home = home;
    }
    Ok(chart)
}

/// Finds the change of a session; `None` if there is none.
pub(super) fn change_of(session: &str) -> Result<Option<Target>, String> {
    let name = driver::own_name(session);
    let Some(embedded) = of_changes().filter(|_| name_flaw(&name).is_none()) else {
        return Ok(None);
    };
    for (root, home) in homes(embedded) {
        // Most sessions have none, and then the chart is not parsed.
        if !root.join(&home).join(embedded.folder()).join(&name).join(FILE).exists() {
            continue;
        }
        let chart = at_home(embedded, home)?;
        let found = find::of_name(&root, &chart.scope, &name);
        let Newest { instance, warnings } = distrusting(&root, &chart.scope.home, found);
        let quiet = chart.quiet;
        let place = instance.map(|instance| Place::new(chart, root, instance));
        return Ok(Some(Target { place, quiet, warnings, ..Target::default() }));
    }
    Ok(None)
}

/// Ends the driving of a session that has ended, as `/clear` ends it too: the next reader sees that nobody drives the
/// instance.
pub(super) fn release(session: Option<&str>, named: Option<&str>) {
    let Choice::Embedded(chart) = Choice::of(named) else {
        return;
    };
    if let Some(session) = session.filter(|_| !chart.is_per_session())
        && let Ok(Some(claimed)) = driver::claimed(&home::roots(&cwd()), chart.home(), session)
    {
        driver::release(&claimed.store, session);
    }
}

/// Returns what was found, unless others can write to its directory or to the home.
pub(super) fn distrusting(root: &Path, home: &str, found: Newest) -> Newest {
    let flaw = found.instance.as_ref().and_then(|instance| find::flaw(root, home, instance));
    flaw.map_or(found, |why| Newest { instance: None, warnings: vec![why] })
}
