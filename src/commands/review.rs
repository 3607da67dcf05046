//! Reviews of the change at hand, without any plan.
//!
//! The workflow is a chart whose home is in the git directory. This finds out what has changed, asks that chart what a stop would
//! do, and reports it. There is one instance for each branch, and one for each session whose stops have its change reviewed.

use std::sync::Arc;

use clap::builder::NonEmptyStringValueParser;
use serde_json::{Number, Value as Json, json};

use super::about::{Session, amount, words};
use super::error::CliError;
use super::output::{Output, is_watched, tell, warn};
use super::place;
use crate::chart::Chart;
use crate::engine::decision::{Answer, Step};
use crate::engine::event::Event;
use crate::hook;
use crate::page::{Page, counted};
use crate::preview::prompt;
use crate::project::change::{self as changes, Base, Change, Unknown};
use crate::project::settings::{self, Before};
use crate::run::perform::perform;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::run::stuck::Stuck;
use crate::run::{asked, change, foresee, under_way};
use crate::store::facts::Said;
use crate::store::{driver, git_dir, postponed};
use crate::text::capitalized;
use crate::view::reviewed::Reviewed;

/// This variable is set where nobody watches.
const CI: &str = "CI";

/// The exit code if the review could not be done.
const NOT_REVIEWED: u8 = 3;

/// What is reviewed, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct Wanted {
    /// Compare with the commit at which HEAD left REV
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// Who reviews, as in the setting `models`
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    model: Option<String>,
    /// What the reviews may cost together, in US dollars
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = amount)]
    max_cost: Option<Number>,
    /// What the reviewer may do [default: the setting; in CI: restricted]
    #[arg(long, value_name = "RIGHTS", value_parser = words(["bypass", "restricted"]))]
    permissions: Option<String>,
    /// Print what the reviewer would be asked, and start nothing
    #[arg(long)]
    print_prompt: bool,
}

/// Returns why the review could not be done.
fn failed(stuck: Stuck) -> CliError {
    CliError::from(stuck).with_code(NOT_REVIEWED)
}

impl From<Unknown> for CliError {
    fn from(Unknown { message, help }: Unknown) -> Self {
        Self::with_help(message, help)
    }
}

/// Has the change of a session reviewed whenever its agent stops, until it is clean.
pub(crate) fn at_stop(chart: &Arc<Chart>, of: &Session) -> Result<Output, CliError> {
    let session = place::session(of)?.ok_or_else(place::unknown_session)?;
    let place = here(chart, Some(&session))?;
    refuse_running(&place)?;
    let mut began = asked::began(chart);
    began.session = Some(session.clone());
    let begins = foresee::entered(&place.snapshot(), &began).map_err(failed)?.is_some();
    let known = change::base(&place);
    let known = known.map(|base| changes::read(place.trees(), Base::Known(&base))).transpose()?;
    let change = match known {
        // What has changed since is not reviewed yet.
        Some(known) if !begins || !known.files.is_empty() => known,
        _ => changes::read(place.trees(), Base::Coming)?,
    };
    let mut event = match begins {
        true => began,
        false => asked::next(&place, None),
    };
    change::describe(&place, &mut event.fields, &change);
    event.session = Some(session.clone());
    // A reviewer that has failed before may be there again.
    let _ = postponed::forgive(place.journal());
    let performed = perform(&place, &event).map_err(failed)?;
    warn(&performed.warnings);
    let decision = performed.decision;
    if let Answer::Refuse(why) = decision.answer {
        return Err(CliError::new(why));
    }
    let mut page = Page::default();
    decision.says.iter().for_each(|text| page.say(text));
    if let Some(why) = hook::why_elsewhere(&place, Some(&session)) {
        page.say(&format!("{}.", capitalized(&why)));
    }
    Ok(Output::of(page))
}

/// Does something about the review that the next stop of the session would start, or else about that of the branch, for a
/// session that is unknown.
pub(crate) fn stood_in(
    chart: &Arc<Chart>,
    of: &Session,
    act: impl FnOnce(&Place, Option<&str>) -> Result<Output, CliError>,
) -> Result<Output, CliError> {
    let session = place::session(of)?;
    if session.is_none() && of.session.is_some() {
        // It would be about the branch, and not about what the session does.
        return Err(place::unknown_session());
    }
    let of_stop = session.as_deref().map(hook::place_of_stop).transpose();
    let of_stop = of_stop.map_err(|why| CliError::new(why).with_code(NOT_REVIEWED))?;
    match of_stop.flatten() {
        Some(place) => act(&place, session.as_deref()),
        None => act(&here(chart, None)?, None),
    }
    .map_err(|error| error.with_code(NOT_REVIEWED))
}

/// Reviews the change, and returns the exit code. What was found is printed with `show`, before that is said to be known: where
/// `is_detached`, nobody may have read it.
pub(crate) fn review(
    chart: &Arc<Chart>,
    args: &Wanted,
    is_detached: bool,
    show: impl FnOnce(&Reviewed<'_>) -> Output,
) -> Result<Output, CliError> {
    let mut place = here(chart, None)?;
    let is_preview = args.print_prompt;
    // A preview only reads it.
    if !is_preview {
        refuse_running(&place)?;
    }
    // Only what a review has read stays what it was compared with.
    let begins = foresee::entered(&place.snapshot(), &asked::began(chart)).map_err(failed)?;
    let known = change::base(&place).filter(|_| begins.is_none());
    let base = match (&args.base, &known) {
        (Some(given), _) => Base::Left(given),
        (None, Some(known)) => Base::Known(known),
        (None, None) => Base::AtHand,
    };
    let mut change = changes::read(place.trees(), base)?;
    if is_ci() {
        let file = settings::file_of(chart);
        let before = changes::text_in(&place.root, &change.base, &file)?;
        place.settings_before = Before::unless_same(chart, &place.root, before);
        if place.settings_before.is_some() {
            let file = file.display();
            warn([format!(
                "{file} counts as it was before the change: a change does not set how it is reviewed where `{CI}` is set."
            )]);
        }
    }
    let event = event(&place, &change, args);
    if is_preview {
        let snapshot = Arc::new(place.snapshot().again(&begins.unwrap_or_default()));
        let step = snapshot.decide(&event, None).map_err(|fault| failed(fault.into()))?;
        return Ok(Output::text(&match &step {
            _ if change.files.is_empty() => format!("Nothing has changed {}.", change.against),
            Step::Invoke(invocation) => prompt(invocation).unwrap_or_default().to_owned(),
            Step::Done(decision) => decision.messages.join("\n"),
        }));
    }
    // What was reviewed before can be gone: the chart decides what that means.
    let is_nothing = change.files.is_empty();
    let mut performed = match is_nothing && !place.is_in_cycle() {
        true => Performed::allowed(format!("Nothing has changed {}.", change.against)),
        false => {
            if begins.is_some() && !is_nothing {
                let mut began = asked::began(chart);
                began.fields.clone_from(&event.fields);
                perform(&place, &began).map_err(failed)?;
            }
            let is_due = || matches!(foresee::peek(&place, &event), Ok((Step::Invoke(_), _)));
            if is_watched() && is_due() {
                let files = counted(change.files.len(), "file");
                tell(&format!("Reviewing {files}. `taskie status` shows how that goes."));
            }
            perform(&place, &event).map_err(failed)?
        }
    };
    warn(&performed.warnings);
    // A process that waits for the answer is about to use what is there now.
    let is_outdated = change::is_outdated(&place, &performed);
    // Gates may have made it another one.
    change.after = performed.tree.take().unwrap_or(change.after);
    let mut output = show(&Reviewed::of(&place, &change, &performed, is_outdated));
    // From here on, this process can be ended: the result is printed.
    if output.is_printed() {
        let owed = performed.owed.filter(|_| !is_detached);
        place.journal().say(Said { owed, ..performed.pending });
    }
    change::sweep(&place);
    Ok(output)
}

/// Refuses to begin while a review is running: what that is compared with must stay as it is.
fn refuse_running(place: &Place) -> Result<(), CliError> {
    let running = under_way::running(place);
    running.map_or(Ok(()), |running| Err(CliError::new(running).with_code(NOT_REVIEWED)))
}

fn is_ci() -> bool {
    std::env::var_os(CI).is_some_and(|ci| !ci.is_empty() && ci != "false")
}

/// Returns the stop about which the chart is asked.
fn event(place: &Place, change: &Change, args: &Wanted) -> Event {
    let mut fields = asked::typed();
    change::describe(place, &mut fields, change);
    let permissions = match &args.permissions {
        None if is_ci() => "restricted",
        given => given.as_deref().unwrap_or_default(),
    };
    for (name, value) in [
        // No hook's time ends this.
        ("longest_review", Json::Null),
        ("model", json!(args.model.as_deref().unwrap_or_default())),
        ("permissions", json!(permissions)),
        ("max_cost", json!(args.max_cost)),
    ] {
        fields[name] = value;
    }
    Event::hook("Stop", fields)
}

/// Returns the instance of a session, or else that of the branch.
fn here(chart: &Arc<Chart>, session: Option<&str>) -> Result<Place, CliError> {
    let cwd = place::cwd()?;
    if !chart.scope.is_of_changes() {
        let message = format!("the chart {} does not review changes", chart.id);
        return Err(CliError::with_help(message, "omit --chart"));
    }
    let absent = git_dir::absent(&cwd);
    let (None, Some(tree)) = (&absent, git_dir::around(&cwd)) else {
        let help = "`taskie review` needs git: run `git init`";
        return Err(CliError::with_help(absent.unwrap_or_default(), help));
    };
    let name = match session {
        Some(session) => driver::own_name(session),
        None => change::name_of(&changes::branch(&tree)?),
    };
    place::existing(chart, &tree.top, &name).map_err(CliError::new)
}
