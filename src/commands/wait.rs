//! `taskie review --wait`: a review for a caller that cannot wait for all of it in one call, such as an agent whose host waits no
//! longer than a minute for a hook.
//!
//! A process of its own keeps the review running, and is its host: if it ends, the reviewer does. It ends when nobody has
//! waited for some time. Each call waits for the answer, or for the end of its own time.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::error::CliError;
use super::output::Output;
use crate::clock;
use crate::hook;
use crate::host::reply::cut;
use crate::page::Page;
use crate::run::asked;
use crate::run::place::Place;
use crate::run::under_way;
use crate::store::facts::{Said, WaitedAnswer};
use crate::store::lock::ReviewLock;
use crate::store::waiting::Waiting;

/// The name of the command.
pub(crate) const COMMAND: &str = "review";

/// The exit code that says: not yet.
const NOT_YET: u8 = 4;

/// The exit code that says: there is no verdict.
const FAILED: u8 = 3;

/// How often a process looks whether something has happened.
const LOOK: Duration = Duration::from_millis(200);

/// What a process does for another one that waits.
pub(crate) const ROLES: [&str; 2] = [KEEPER, STOP];

/// It keeps the review running.
const KEEPER: &str = "keeper";

/// It answers a stop of the session.
const STOP: &str = "stop";

/// Does what another process has started this one for. `place` is what is reviewed.
pub(crate) fn act(role: &str, place: &Place, session: Option<&str>) -> Result<Output, CliError> {
    match session {
        Some(session) if role == STOP => Ok(stop(place, session)),
        _ => keep(place, session),
    }
}

/// Waits at most `seconds` for the review of what is at `place`, and starts it if nobody has. With a session, it is what a stop
/// of that session would have reviewed.
pub(crate) fn wait(place: &Place, session: Option<&str>, seconds: u64) -> Result<Output, CliError> {
    let (store, name) = (&place.store, place.instance.name.as_str());
    let waiting = Waiting::of(place.journal());
    let failed = || CliError::because("nobody can wait for the review");
    let until = Instant::now() + Duration::from_secs(seconds);
    let began = clock::since_1970();
    let seen = under_way::seen(place);
    let mut keeper: Option<Child> = None;
    let mut is_anothers = false;
    loop {
        waiting.wait().map_err(failed())?;
        let is_starting = match &mut keeper {
            Some(child) => child.try_wait().map_err(failed())?.is_none(),
            None => false,
        };
        // In this order: it leaves the answer, and then it ends.
        let is_kept = is_starting || waiting.is_kept();
        if let Some(mut answer) = waiting.answer(began, seen).filter(|_| !is_kept) {
            answer.is_given = true;
            // After a failure, the next call tries again.
            let left = Some(answer.clone()).filter(|answer| answer.code != FAILED);
            waiting.leave(left).map_err(failed())?;
            return Ok(give(place, &answer));
        }
        if !is_kept {
            match (ReviewLock::is_held(store, name, &place.dir()), is_anothers) {
                (true, _) => is_anothers = true,
                (false, true) => {
                    let text = "The review that was running has ended: run the same command again.";
                    return Ok(Output::text(text).with_code(NOT_YET));
                }
                (false, false) if keeper.is_some() => {
                    let message = "the review has ended without an answer";
                    return Err(CliError::with_help(message, "run the command again"));
                }
                (false, false) => {
                    keeper = Some(start(KEEPER, session, Stdio::null).map_err(failed())?);
                }
            }
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

/// Returns the answer, and says so if it is not about what is there now.
fn give(place: &Place, answer: &WaitedAnswer) -> Output {
    let mut page = Page::default();
    page.say(answer.text.trim_end());
    let snapshot = place.snapshot();
    let owed = place.journal().facts().left.owed;
    if let (Some(text), Some(owed)) = (snapshot.state.text(), owed)
        && owed.for_state(text).is_some()
    {
        place.journal().say(Said { owed: Some(owed.at), ..Said::default() });
    }
    place.trees().forget();
    let code = match (answer.is_of_other(under_way::seen(place)), answer.code) {
        (false, code) => code,
        (true, 0) => {
            page.say("Something has changed since that review: run the same command again.");
            NOT_YET
        }
        (true, code) => {
            page.say("Something has changed since that review.");
            code
        }
    };
    Output::of(page).with_code(code)
}

/// Starts a process that does the same for the same session, apart from this one.
fn start(role: &str, session: Option<&str>, output: impl Fn() -> Stdio) -> std::io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(COMMAND);
    if let Some(session) = session {
        command.args(["--session", session]);
    }
    if role == KEEPER || session.is_some() {
        command.args(["--role", role]);
    }
    command.stdin(Stdio::null()).stdout(output()).stderr(output());
    command.process_group(0).spawn()
}

/// Keeps the review running as long as somebody waits for it.
fn keep(place: &Place, session: Option<&str>) -> Result<Output, CliError> {
    let failed = || CliError::because("the review cannot be kept running");
    let began = clock::since_1970();
    let waiting = Waiting::of(place.journal());
    let Some(_lock) = waiting.keep().map_err(failed())? else {
        return Ok(Output::default());
    };
    if waiting.answer(began, None).is_some_and(|answer| answer.at >= began) {
        return Ok(Output::default());
    }
    let mut printed = tempfile::tempfile().map_err(failed())?;
    let output = || printed.try_clone().map_or_else(|_| Stdio::null(), Stdio::from);
    let mut review = start(STOP, session, output).map_err(failed())?;
    let status = loop {
        if let Some(status) = review.try_wait().map_err(failed())? {
            break status;
        }
        if waiting.is_abandoned() {
            let _ = review.kill();
            let _ = review.wait();
            under_way::record_killed(place, "nobody waited for it anymore");
            waiting.leave(None).map_err(failed())?;
            return Ok(Output::default());
        }
        sleep(LOOK);
    };
    let answer = answer(place, status, &mut printed);
    waiting.leave(Some(answer)).map_err(failed())?;
    Ok(Output::default())
}

fn answer(place: &Place, status: ExitStatus, printed: &mut File) -> WaitedAnswer {
    let mut text = Vec::new();
    let read = printed.rewind().and_then(|()| printed.read_to_end(&mut text));
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    if status.code().is_none() {
        // It had no time to say so.
        text.extend(
            format!("The review has ended without an answer: its process was killed ({status}).")
                .bytes(),
        );
    }
    WaitedAnswer {
        at: clock::since_1970(),
        // Without its text, it is no answer.
        code: read.ok().and(code).unwrap_or(FAILED),
        text: String::from_utf8_lossy(&text).into_owned(),
        seen: under_way::seen(place),
        is_given: false,
    }
}

/// Answers a stop of a session, without the limits of its host.
fn stop(place: &Place, session: &str) -> Output {
    let was_due = place.is_in_cycle();
    let Some(reply) = hook::stand_in(session) else {
        return Output::text("The review was ended.").with_code(3);
    };
    let messages = reply.message();
    let reason = reply.reason();
    let mut page = Page::default();
    if reason.is_some() {
        page.say("Where this asks you to end your turn, run the same command again instead.\n");
    }
    let texts = messages.iter().chain(&reason);
    let text: Vec<&str> = texts.map(String::as_str).collect();
    match text.is_empty() {
        true => page.say("There is nothing to review: you can end your turn."),
        false => page.say(&cut(&text.join("\n\n"))),
    }
    let is_open = || was_due && (!reply.has_passed || place.is_in_cycle());
    Output::of(page).with_code(match () {
        () if reply.blocks() => 1,
        // A change that has not begun yet waits for nothing.
        () if !reply.has_failed() && (text.is_empty() || !is_open()) => 0,
        () if asked::is_agents(place, session) => 1,
        () => 3,
    })
}
