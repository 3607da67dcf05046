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
use super::output::say;
use crate::clock;
use crate::hook;
use crate::host::reply::cut;
use crate::host::vendors::PASS;
use crate::run::asked;
use crate::run::place::Place;
use crate::run::under_way;
use crate::store::facts::Said;
use crate::store::journal::Line;
use crate::store::lock::ReviewLock;
use crate::store::waiting::{WaitedAnswer, Waiting};

/// The name of the command.
pub(super) const COMMAND: &str = "review";

/// The exit code that says: not yet.
const NOT_YET: u8 = 4;

/// How often a process looks whether something has happened.
const LOOK: Duration = Duration::from_millis(200);

/// What a process does for another one that waits.
pub(super) const ROLES: [&str; 2] = [KEEPER, STOP];

/// It keeps the review running.
const KEEPER: &str = "keeper";

/// It answers a stop of the session.
const STOP: &str = "stop";

/// Does what another process has started this one for. `place` is what is reviewed.
pub(super) fn act(role: &str, place: &Place, session: Option<&str>) -> Result<u8, CliError> {
    match session {
        Some(session) if role == STOP => Ok(stop(place, session)),
        _ => keep(place, session),
    }
}

/// Waits at most `seconds` for the review of what is at `place`, and starts it if nobody has. With a session, it is what a stop
/// of that session would have reviewed.
pub(super) fn wait(place: &Place, session: Option<&str>, seconds: u64) -> Result<u8, CliError> {
    let (store, name) = (&place.store, place.instance.name.as_str());
    let waiting = Waiting::of(store, name);
    let failed = || CliError::because("nobody can wait for the review");
    let until = Instant::now() + Duration::from_secs(seconds);
    let known = waiting.begin(under_way::seen(place)).map_err(failed())?;
    let mut keeper: Option<Child> = None;
    let mut anothers = None;
    loop {
        waiting.wait().map_err(failed())?;
        let is_starting = match &mut keeper {
            Some(child) => child.try_wait().map_err(failed())?.is_none(),
            None => false,
        };
        // In this order: it leaves the answer, and then it ends.
        let is_kept = is_starting || waiting.is_kept();
        if let Some(answer) = waiting.answer(known).map_err(failed())? {
            return Ok(give(place, &answer));
        }
        if !is_kept {
            match (ReviewLock::is_held(store, name, &place.dir()), anothers) {
                (true, Some(_)) => {}
                (true, None) => anothers = Some(place.journal().read().len()),
                (false, Some(before)) => return Ok(of_another(place, before)),
                (false, None) if keeper.is_some() => {
                    let message = "the review has ended without an answer";
                    return Err(CliError::with_help(message, "run the command again"));
                }
                (false, None) => {
                    keeper = Some(start(KEEPER, session, Stdio::null).map_err(failed())?);
                }
            }
        }
        if Instant::now() >= until {
            if let Some(answer) = waiting.end_early(known).map_err(failed())? {
                return Ok(give(place, &answer));
            }
            let running = under_way::running(place);
            running.iter().for_each(|text| say(text));
            say("It is not over yet. Run the same command again, and change nothing until then.");
            return Ok(NOT_YET);
        }
        sleep(LOOK);
    }
}

/// Gives the answer, and says so if it is not about what is there now.
fn give(place: &Place, answer: &WaitedAnswer) -> u8 {
    say(answer.text.trim_end());
    let snapshot = place.snapshot();
    let owed = place.journal().facts().left.owed;
    if let (Some(text), Some(owed)) = (snapshot.state.text(), owed)
        && owed.for_state(text).is_some()
    {
        place.journal().say(Said { owed: Some(owed.at), ..Said::default() });
    }
    match (answer.is_of_other(under_way::seen(place)), answer.code) {
        (false, code) => code,
        (true, 0) => {
            say("Something has changed since that review: run the same command again.");
            NOT_YET
        }
        (true, code) => {
            say("Something has changed since that review.");
            code
        }
    }
}

/// Says how a review has ended that a stop or another command has started. The journal had `before` lines then.
fn of_another(place: &Place, before: usize) -> u8 {
    let lines = place.journal().read();
    let new = lines.get(before..).unwrap_or_default().iter().rev();
    let review = new.clone().find_map(|line| match line {
        Line::Review(review) => Some(&review.run),
        Line::Decision(_) | Line::Gate(_) => None,
    });
    let gate = { new }.find_map(|line| match line {
        Line::Gate(gate) => Some((&gate.command, gate.error.as_ref()?)),
        Line::Decision(_) | Line::Review(_) => None,
    });
    let Some(run) = review else {
        let Some((gate, error)) = gate else {
            say("The review that was running has ended without a verdict.");
            return 3;
        };
        say(&format!("The gate `{gate}` {error}, so no reviewer has read it."));
        return 1;
    };
    let name = format!("The {} {} that was running", run.cycle, run.n);
    let Some(verdict) = &run.verdict else {
        let why = run.failure().unwrap_or("no verdict");
        say(&format!("{name} has failed: {why}."));
        return 3;
    };
    let file = place.instance.dir.join(&run.file);
    let file = file.display();
    say(&format!("{name} has ended: {verdict}. It is in {file}."));
    let found = run.found.named(&run.file);
    found.for_each(|(id, finding)| say(&format!("- {}", finding.in_words(&id))));
    let snapshot = place.snapshot();
    let view = snapshot.view();
    let is_due = view.running().map(|cycle| view.standing(cycle).is_due);
    let is_outdated = run.seen.is_some() && run.seen != under_way::files_seen(place);
    // A plan can ask for an answer to a clean review, too.
    let is_best = verdict == PASS && run.found.findings.is_empty();
    match is_due {
        Some(false) if !is_best => 1,
        None if !is_outdated => 0,
        None => {
            say("Something has changed since that review began: run the same command again.");
            NOT_YET
        }
        Some(_) => {
            say("That is not the end of it: run the same command again.");
            NOT_YET
        }
    }
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
fn keep(place: &Place, session: Option<&str>) -> Result<u8, CliError> {
    let failed = || CliError::because("the review cannot be kept running");
    let began = clock::since_1970();
    let waiting = Waiting::of(&place.store, &place.instance.name);
    let Some(_lock) = waiting.keep().map_err(failed())? else {
        return Ok(0);
    };
    if waiting.has_ended_since(began) {
        return Ok(0);
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
            return Ok(0);
        }
        sleep(LOOK);
    };
    let answer = answer(place, status, &mut printed);
    waiting.leave(Some(answer)).map_err(failed())?;
    Ok(0)
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
        // Without its text, it is no answer.
        code: read.ok().and(code).unwrap_or(3),
        text: String::from_utf8_lossy(&text).into_owned(),
        seen: under_way::seen(place),
    }
}

/// Answers a stop of a session, without the limits of its host.
fn stop(place: &Place, session: &str) -> u8 {
    let was_due = place.is_in_cycle();
    let Some(reply) = hook::stand_in(session) else {
        say("The review was ended.");
        return 3;
    };
    let messages = reply.message();
    let reason = reply.reason();
    if reason.is_some() {
        say("Where this asks you to end your turn, run the same command again instead.\n");
    }
    let texts = messages.iter().chain(&reason);
    let text: Vec<&str> = texts.map(String::as_str).collect();
    match text.is_empty() {
        true => say("There is nothing to review: you can end your turn."),
        false => say(&cut(&text.join("\n\n"))),
    }
    let is_open = || was_due && (reply.is_unfinished || place.is_in_cycle());
    match () {
        () if reply.blocks() => 1,
        // A change that has not begun yet waits for nothing.
        () if !reply.has_failed() && (text.is_empty() || !is_open()) => 0,
        () if asked::is_agents(place, session) => 1,
        () => 3,
    }
}
