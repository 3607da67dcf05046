//! `taskie review --wait`: a review for a caller that cannot wait for all of it in one call, such as an agent whose host waits no
//! longer than a minute for a hook.
//!
//! A process of its own answers the stop, or reviews the change of the branch. A call waits for it as long as its time allows. If
//! that is too short, the answer is owed, as that of any hook, and a call that begins after its end gives it.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant, SystemTime};

use super::error::CliError;
use super::output::Output;
use crate::hook;
use crate::host::reply::cut;
use crate::page::Page;
use crate::run::place::Place;
use crate::run::under_way;
use crate::store::facts::{Owed, Said};
use crate::store::lock;

/// The name of the command.
pub(crate) const COMMAND: &str = "review";

/// The exit code that says: not yet.
const NOT_YET: u8 = 4;

/// The exit code that says: there is no verdict.
const FAILED: u8 = 3;

/// How often a process looks whether something has happened.
const LOOK: Duration = Duration::from_millis(200);

/// If nobody has waited for this long, nobody wants the review.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits at most `seconds` for the review of what is at `place`, and starts it if nobody has. With a session, it is what a stop
/// of that session would have reviewed.
pub(crate) fn wait(place: &Place, session: Option<&str>, seconds: u64) -> Result<Output, CliError> {
    let failed = || CliError::because("nobody can wait for the review");
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut printed = tempfile::tempfile().map_err(failed())?;
    let mut answers: Option<Child> = None;
    let mut is_anothers = false;
    loop {
        let waited = lock::waited(&place.store, &place.instance.name).map_err(failed())?;
        waited.set_modified(SystemTime::now()).map_err(failed())?;
        let ended = answers.as_mut().map(Child::try_wait).transpose().map_err(failed())?;
        match ended {
            // Another process has begun to answer.
            Some(Some(status)) if status.code() == Some(NOT_YET.into()) => answers = None,
            Some(Some(status)) => {
                let mut text = String::new();
                printed
                    .rewind()
                    .and_then(|()| printed.read_to_string(&mut text))
                    .map_err(failed())?;
                let code = status.code().and_then(|code| u8::try_from(code).ok());
                if code.is_none() {
                    text += &format!(
                        "The review has ended without an answer: its process was killed ({status})."
                    );
                }
                place.journal().look_again();
                if let Some(owed) = place.journal().facts().left.owed.clone() {
                    place.journal().say(Said { owed: Some(owed.at), ..Said::default() });
                }
                return Ok(Output::text(text.trim_end()).with_code(code.unwrap_or(FAILED)));
            }
            Some(None) => {}
            None if is_under_way(place, waited) => is_anothers = true,
            None if is_anothers => {
                // The call that has started it may be about to give its answer.
                sleep(5 * LOOK);
                is_anothers = false;
                if owed(place).is_none() {
                    let text = "The review that was running has ended. `taskie findings` lists what it found.";
                    return Ok(Output::text(text).with_code(place.is_in_cycle().into()));
                }
            }
            None => answers = Some(start(session, &printed).map_err(failed())?),
        }
        if Instant::now() >= until {
            let running = under_way::running(place).into_iter();
            let again =
                "It is not over yet. Run the same command again, and change nothing until then.";
            let lines: Vec<String> = running.chain([again.to_owned()]).collect();
            return Ok(Output::text(&lines.join("\n")).with_code(NOT_YET));
        }
        sleep(LOOK);
    }
}

/// Returns whether a process answers, or runs a review.
fn is_under_way(place: &Place, waited: File) -> bool {
    lock::is_locked(Ok(waited)) || place.is_reviewed()
}

/// Returns the answer that nobody has.
fn owed(place: &Place) -> Option<Owed> {
    let owed = place.journal().facts().left.owed.clone()?;
    let snapshot = place.snapshot();
    owed.for_state(snapshot.state.text()?).map(|_| owed)
}

/// Starts a process that answers, apart from this one.
fn start(session: Option<&str>, printed: &File) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([COMMAND, "--detached"]);
    if let Some(session) = session {
        command.args(["--session", session]);
    }
    let (out, err) = (printed.try_clone()?, printed.try_clone()?);
    command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0).spawn()
}

/// Calls `answer` in a process that others wait for, and ends the process once nobody has waited for some time: its reviewer ends
/// with it.
pub(crate) fn answering(
    place: &Place,
    answer: impl FnOnce() -> Result<Output, CliError>,
) -> Result<Output, CliError> {
    let failed = || CliError::because("the review cannot be kept running");
    let waited = lock::waited(&place.store, &place.instance.name).map_err(failed())?;
    let watched = waited.try_clone().map_err(failed())?;
    let Some(lock) = lock::try_lock(waited).map_err(failed())? else {
        return Ok(Output::default().with_code(NOT_YET));
    };
    // Until this process has ended.
    std::mem::forget(lock);
    thread::spawn(move || {
        // A clock that was set back says nothing.
        let is_wanted = || {
            let at = watched.metadata().and_then(|meta| meta.modified());
            !at.is_ok_and(|at| at.elapsed().is_ok_and(|since| since > PATIENCE))
        };
        while is_wanted() {
            sleep(LOOK);
        }
        std::process::exit(FAILED.into());
    });
    answer()
}

/// Answers a stop of a session, without the limits of its host.
pub(crate) fn stop(place: &Place, session: &str) -> Output {
    let owed = owed(place);
    let was_due = owed.is_some() || place.is_in_cycle();
    let Some(reply) = hook::stand_in(session) else {
        return Output::text("The review was ended.").with_code(FAILED);
    };
    let (message, reason) = (reply.message(), reply.reason());
    let mut page = Page::default();
    if reason.is_some() {
        page.say("Where this asks you to end your turn, run the same command again instead.\n");
    }
    let texts: Vec<String> = message.into_iter().chain(reason).collect();
    match texts.is_empty() {
        true => page.say("There is nothing to review: you can end your turn."),
        false => page.say(&cut(&texts.join("\n\n"))),
    }
    let has_passed = reply.has_passed || owed.is_some_and(|owed| owed.has_passed);
    let is_open = was_due && !texts.is_empty() && (!has_passed || place.is_in_cycle());
    Output::of(page).with_code(match () {
        () if reply.blocks() => 1,
        () if !is_open && !reply.has_failed() => 0,
        () => FAILED,
    })
}
