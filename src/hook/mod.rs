//! `taskie hook EVENT`: a hook's event on stdin, its answer on stdout.
//!
//! The hot path: it is dispatched before the command line is parsed, and returns before the chart is parsed
//! where the project has no home for it. A hook that cannot decide lets the event through and says why.

use std::io::{IsTerminal as _, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::Value as Json;

use crate::chart::embedded::Choice;
use crate::engine::event::Event;
use crate::host::events::REVIEWER;
use crate::host::events::{EVENTS, is_stop};
use crate::host::reply::Reply;
use crate::shell::entry::perform;
use crate::shell::find::{self, Surroundings};
use crate::shell::perform::{Place, Stuck};
use crate::shell::store;

/// What a stop exits with whose input is no event, or whose directory cannot be entered. On the host it blocks,
/// and for other events it would drop the user's prompt or forbid the compaction.
const BAD_STOP: u8 = 2;

/// Runs one hook. `event` is the subcommand, `chart` what `--chart` says.
#[expect(clippy::print_stderr, reason = "stderr is where a hook's warnings go")]
pub(crate) fn run(event: &str, chart: Option<&str>) -> ExitCode {
    let choice = Choice::of(chart);
    let quiet = matches!(choice, Choice::Embedded(chart) if chart.quiet);
    let Some((_, name)) = EVENTS.iter().copied().find(|(word, _)| *word == event) else {
        let words = EVENTS.iter().map(|(word, _)| *word);
        let hint = crate::diagnostic::suggest::suggest(event, words)
            .map(|word| format!("; did you mean `{word}`?"))
            .unwrap_or_default();
        eprintln!(
            "taskie: there is no hook event `{}`{hint}",
            event.escape_debug()
        );
        return ExitCode::FAILURE;
    };
    // The reviewer is a session of its own and fires the same hooks: nothing may come of them.
    if std::env::var_os(REVIEWER).is_some() {
        return answer(&Reply::silent(name, quiet));
    }
    let bad_input = || {
        if name == "Stop" {
            ExitCode::from(BAD_STOP)
        } else {
            ExitCode::FAILURE
        }
    };
    let mut input = Vec::new();
    if std::io::stdin().is_terminal() {
        eprintln!(
            "taskie: waiting for the {name} event as JSON on stdin; try: echo '{{}}' | taskie hook {event}"
        );
    }
    if let Err(error) = std::io::stdin().lock().read_to_end(&mut input) {
        eprintln!("taskie: stdin cannot be read: {error}");
        return bad_input();
    }
    let fields: Json = match serde_json::from_slice(&input) {
        Ok(fields @ Json::Object(_)) => fields,
        Ok(_) => {
            eprintln!("taskie: Invalid JSON on stdin: a hook event is an object");
            return bad_input();
        }
        Err(error) => {
            eprintln!("taskie: Invalid JSON on stdin: {error}");
            return bad_input();
        }
    };
    let active = fields
        .get("stop_hook_active")
        .and_then(Json::as_bool)
        .unwrap_or(false);
    if let Some(cwd) = fields.get("cwd").and_then(Json::as_str)
        && let Err(error) = std::env::set_current_dir(cwd)
    {
        // Exit 2 blocks on the host: never a second time in a turn.
        if active {
            return answer(&Reply::silent(name, quiet));
        }
        eprintln!("taskie: Cannot change to the session's directory {cwd:?}: {error}");
        return bad_input();
    }
    match decide(name, fields, choice, quiet) {
        Ok(reply) => {
            for warning in reply.warnings.iter().chain(&reply.log) {
                eprintln!("taskie: {warning}");
            }
            answer(&reply)
        }
        Err(Interrupted { signal }) => {
            eprintln!(
                "taskie: ended by signal {signal}; the reviewer was ended too, and state.json is unchanged"
            );
            ExitCode::from(u8::try_from(128 + signal).unwrap_or(1))
        }
    }
}

/// The host has told this process to end.
struct Interrupted {
    signal: i32,
}

fn decide(name: &str, fields: Json, choice: Choice<'_>, quiet: bool) -> Result<Reply, Interrupted> {
    let around = Surroundings::from_env();
    let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    // A chart compiled in says where its home is before it is parsed; where there is none, it never is.
    let mut root = None;
    if let Choice::Embedded(chart) = choice {
        root = find::project_root(&cwd, chart.home, &around);
        if root.is_none() {
            return Ok(Reply::silent(name, quiet));
        }
    }
    let chart = match choice.load() {
        Ok(chart) => chart,
        Err(error) => {
            return Ok(Reply::undecided(
                name,
                format!("the chart cannot be used: {error}"),
            ));
        }
    };
    let Some(root) = root.or_else(|| find::project_root(&cwd, &chart.scope.home, &around)) else {
        return Ok(Reply::silent(name, chart.quiet));
    };
    if chart.on.get(name).is_none_or(Vec::is_empty) {
        return Ok(Reply::silent(name, chart.quiet));
    }
    let scope = &chart.scope;
    let event = Event::hook(name, fields);
    let session = event.session.as_deref();
    let newest = if scope.is_per_session() {
        find::of_session(&root, scope, session)
    } else {
        find::newest(&root, scope, |dir| {
            !is_stop(name) || store::is_ours(&chart, dir, session)
        })
    };
    let Some(instance) = newest.instance else {
        return Ok(Reply::silent(name, chart.quiet).with_warnings(newest.warnings));
    };
    let quiet = chart.quiet;
    match perform(
        &Place {
            chart,
            root,
            instance,
        },
        &event,
    ) {
        Ok(performed) => {
            // The chart's own message tells the user of the failure; stderr is for the host's log.
            let failure = performed
                .decision
                .failure()
                .map(|why| format!("the review failed: {why}"));
            let mut reply = performed
                .decision
                .into_reply(name, quiet)
                .with_warnings(performed.warnings);
            reply.log.extend(failure.into_iter().chain(performed.notes));
            Ok(reply.with_warnings(newest.warnings))
        }
        Err(Stuck::Interrupted { signal }) => Err(Interrupted { signal }),
        Err(stuck) => Ok(Reply::undecided(name, stuck.to_string())),
    }
}

fn answer(reply: &Reply) -> ExitCode {
    let mut out = std::io::stdout().lock();
    // A host that has closed the pipe is not listening any more.
    let _ = out
        .write_all(reply.render().as_bytes())
        .and_then(|()| out.flush());
    ExitCode::SUCCESS
}
