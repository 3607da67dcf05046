//! `taskie hook EVENT`: a hook's event on stdin, its answer on stdout.
//!
//! This is the hot path: it is dispatched before the command line is parsed, and returns before the chart is parsed if the
//! project has no home for it, or if the session has claimed nothing. A hook that cannot decide allows the event and says
//! why.

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::slice::from_ref;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::chart::Scope;
use crate::chart::embedded::{Choice, of_changes};
use crate::diagnostic::suggest::suggest;
use crate::disk;
use crate::engine::decision::Step;
use crate::engine::event::{Event, Trigger};
use crate::files::json::{self, Unread};
use crate::files::pattern::name_flaw;
use crate::host::events::{EVENTS, REVIEWER, UNCLAIMED, is_stop, session_of};
use crate::host::hosts::{HOSTS, Host};
use crate::host::reply::{Reply, cut};
use crate::os::supervisor;
use crate::project::change::{Base, Unknown};
use crate::project::find::{self, Newest};
use crate::project::state_file;
use crate::project::trust::{self, OwnChart};
use crate::run::call::UserCall;
use crate::run::change;
use crate::run::perform::{peek, perform};
use crate::run::place::Place;
use crate::run::stuck::Stuck;
use crate::store::driver::{self, Claimed};
use crate::store::lock::WriteLock;
use crate::store::notices::Pending;
use crate::store::owed::Debt;
use crate::store::turn::Turn;
use crate::text::{shown, shown_lines};

/// The most bytes of an event.
const EVENT_LIMIT: u64 = 16 * 1024 * 1024;

/// How the hook was called.
pub(crate) struct Call<'a> {
    /// The subcommand.
    pub(crate) event: &'a str,
    /// The value of `--chart`.
    pub(crate) chart: Option<&'a str>,
    /// The value of `--host`.
    pub(crate) host: Option<&'a str>,
}

/// Runs one hook.
///
/// If the input is not an event, the exit code is 1: on some hosts, 2 would block the stop, and not every host stops
/// blocking at some point.
pub(crate) fn run(call: &Call<'_>) -> ExitCode {
    let (event, chart) = (call.event, call.chart);
    supervisor::remember_host();
    let choice = Choice::of(chart);
    let quiet = matches!(choice, Choice::Embedded(chart) if chart.quiet());
    let Some((_, name)) = EVENTS.iter().copied().find(|(word, _)| *word == event) else {
        return unknown("hook event", event, EVENTS.iter().map(|(word, _)| *word));
    };
    let named = call.host.map(|id| (id, Host::named(id)));
    if let Some((id, None)) = named {
        let known: Vec<&str> = HOSTS.iter().map(|host| host.id).collect();
        let code = unknown("host", id, known.iter().copied());
        tell(&format!("the hosts: {}", known.join(", ")));
        return code;
    }
    // The reviewer is a session of its own and fires the same hooks: they must do nothing.
    if std::env::var_os(REVIEWER).is_some() {
        print(&Reply::silent(name, quiet).render(Host::of(&Json::Null)));
        return ExitCode::SUCCESS;
    }
    let fields = match event_from_stdin(event, name) {
        Ok(fields) => fields,
        Err(why) => {
            tell(&why);
            return ExitCode::FAILURE;
        }
    };
    let host = named.and_then(|(_, host)| host);
    let host = host.unwrap_or_else(|| Host::of(&fields));
    let named = fields["session_id"]
        .as_str()
        .filter(|_| host.names_session == name)
        .map(|id| {
            format!(
                "The id of this session is {id}: add `--session {id}` to every `taskie` command."
            )
        });
    match reply_to(name, fields, chart, quiet, host) {
        Ok((mut reply, due)) => {
            reply.says.extend(named);
            // The answer comes first: a host that does not read our warnings still gets it.
            if print(&reply.render(host)) {
                due.settle();
            }
            for warning in reply.warnings.iter().chain(&reply.log) {
                tell(warning);
            }
            ExitCode::SUCCESS
        }
        Err(Ended::BySignal(signal)) => {
            tell(&format!(
                "ended by signal {signal}; the program that it ran was killed too, and state.json is unchanged"
            ));
            ExitCode::from(u8::try_from(128 + signal).unwrap_or(1))
        }
        Err(Ended::WithHost) => {
            tell("the host is gone; the reviewer was killed, and state.json is unchanged");
            ExitCode::FAILURE
        }
    }
}

/// Says that there is no such thing, and what may have been meant.
fn unknown<'a>(what: &str, given: &str, known: impl Iterator<Item = &'a str>) -> ExitCode {
    let hint = suggest(given, known)
        .map(|word| format!("; did you mean `{word}`?"))
        .unwrap_or_default();
    tell(&format!("unknown {what} `{}`{hint}", shown(given)));
    ExitCode::FAILURE
}

/// What is done once the host has the answer.
#[derive(Default)]
struct Due {
    debts: Vec<Debt>,
    pending: Vec<Pending>,
    calls: Vec<UserCall>,
}

impl Due {
    /// Adds what another answer is due.
    fn and(mut self, other: Self) -> Self {
        self.debts.extend(other.debts);
        self.pending.extend(other.pending);
        self.calls.extend(other.calls);
        self
    }

    fn settle(self) {
        self.debts.into_iter().for_each(Debt::settle);
        self.pending.into_iter().for_each(Pending::settle);
        for why in self.calls.into_iter().flat_map(UserCall::start) {
            tell(&why);
        }
    }
}

/// Why there is no answer.
enum Ended {
    /// The host has asked this process to end.
    BySignal(i32),
    /// Nobody is waiting for the answer anymore.
    WithHost,
}

/// Reads the event and changes to its directory. The error is the message about it.
fn event_from_stdin(event: &str, name: &str) -> Result<Json, String> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        tell(&format!(
            "waiting for the {name} event as JSON on stdin; try: echo '{{}}' | taskie hook {event}"
        ));
    }
    let mut input = Vec::new();
    stdin
        .lock()
        .take(EVENT_LIMIT + 1)
        .read_to_end(&mut input)
        .map_err(|error| format!("stdin cannot be read: {error}"))?;
    if input.len() as u64 > EVENT_LIMIT {
        let limit = EVENT_LIMIT / (1024 * 1024);
        return Err(format!("the event on stdin is larger than {limit} MiB"));
    }
    let invalid = |why: &str| format!("Invalid JSON on stdin: {why}");
    let mut fields = match json::parse(&input) {
        Ok(fields @ Json::Object(_)) => fields,
        Ok(_) => return Err(invalid("a hook event is an object")),
        Err(Unread::Invalid(error)) => return Err(invalid(&error.to_string())),
        Err(why) => return Err(format!("The event on stdin cannot be used: {why}")),
    };
    // A stop names its session, or none; anything else is refused.
    let session = session_of(&fields).map_err(|why| invalid(&why))?;
    if let Some(session) = session.map(str::to_owned) {
        fields["session_id"] = Json::from(session);
    }
    if let Some(cwd) = fields.get("cwd").and_then(Json::as_str) {
        std::env::set_current_dir(cwd).map_err(|error| {
            format!("Cannot change to the session's directory {cwd:?}: {error}")
        })?;
    }
    Ok(fields)
}

/// Returns the session's directory, to which this process has changed.
fn cwd() -> PathBuf {
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
    if let Some(session) = session
        && let Some(claimed) = driver::claimed(&find::roots(&cwd), home, session)?
    {
        return Ok(Some(Meant {
            root: claimed.root.clone(),
            claimed: Some(claimed),
            is_unclaimed: false,
        }));
    }
    Ok(find::project_root(&cwd, home).map(|root| Meant {
        root,
        claimed: None,
        is_unclaimed: session.is_some(),
    }))
}

/// Returns the project's own chart, which counts if the command line names none.
fn own_chart(named: Option<&str>, home: &str, known: Option<&Meant>) -> OwnChart {
    if named.is_some() {
        return OwnChart::Absent;
    }
    let root = match known {
        Some(meant) => Some(meant.root.clone()),
        None => find::project_root(&cwd(), home),
    };
    root.map_or(OwnChart::Absent, |root| trust::own_chart(&root))
}

/// The instance that an event is about.
struct Target {
    /// `None` if there is none yet.
    place: Option<Place>,
    quiet: bool,
    warnings: Vec<String>,
    is_unclaimed: bool,
}

/// Finds the instance that an event is about. The error is the answer if it has nothing to do with us, or if nothing can be
/// decided.
fn find_place(
    name: &str,
    session: Option<&str>,
    named: Option<&str>,
    quiet: bool,
) -> Result<Target, Box<Reply>> {
    let undecided = |why| Box::new(Reply::undecided(name, why));
    let mut choice = Choice::of(named);
    // The home of an embedded chart is known before the chart is parsed. If there is nothing for it to do, it never
    // is.
    let mut known = None;
    let mut ignored = Vec::new();
    let own;
    if let Choice::Embedded(chart) = choice {
        known = meant(name, session, chart.home(), chart.is_per_session()).map_err(undecided)?;
        match own_chart(named, chart.home(), known.as_ref()) {
            OwnChart::Absent => {}
            // Where the chart was never trusted, a stop that is not about a plan is silent.
            OwnChart::Ignored(why) if is_nothings(known.as_ref()) => drop(why),
            OwnChart::Ignored(why) => ignored.push(why),
            // Where it was, the user counts on it.
            OwnChart::Changed(why) => {
                let reply = Reply::silent(name, quiet).with_warnings(vec![why]);
                return Err(Box::new(reply));
            }
            OwnChart::Trusted(path) => {
                own = path;
                choice = Choice::File(&own);
                known = None;
            }
        }
        if known.is_none() && matches!(choice, Choice::Embedded(_)) {
            return Err(Box::new(Reply::silent(name, quiet).with_warnings(ignored)));
        }
    }
    let chart = choice
        .load()
        .map_err(|error| undecided(format!("the chart cannot be used: {error}")))?;
    let (scope, quiet) = (&chart.scope, chart.quiet);
    let meant = match known {
        Some(known) => Some(known),
        None => meant(name, session, &scope.home, scope.is_per_session()).map_err(undecided)?,
    };
    let has_rules_for = |list: &str| chart.on.get(list).is_some_and(|rules| !rules.is_empty());
    let has_rules =
        |meant: &Meant| has_rules_for(name) && (!meant.is_unclaimed || has_rules_for(UNCLAIMED));
    let Some(meant) = meant.filter(has_rules) else {
        let reply = Reply::silent(name, quiet).with_warnings(ignored);
        return Err(Box::new(reply));
    };
    let Meant {
        root,
        claimed,
        is_unclaimed,
    } = meant;
    let found = match claimed {
        Some(claimed) => of_claim(&claimed, scope, session),
        None if scope.is_per_session() => find::of_session(&root, scope, session),
        None => find::newest(&root, scope),
    };
    let Newest {
        instance,
        mut warnings,
    } = distrusting(&root, &scope.home, found);
    if is_unclaimed {
        // Whoever works on the instance reads them.
        warnings.clear();
    }
    warnings.splice(0..0, ignored);
    let place = instance.map(|instance| Place::new(chart, root, instance));
    Ok(Target {
        place,
        quiet,
        warnings,
        is_unclaimed,
    })
}

/// Returns whether an event is not about an instance that its session has claimed.
fn is_nothings(meant: Option<&Meant>) -> bool {
    meant.is_none_or(|meant| meant.is_unclaimed)
}

/// Returns the messages, for a session that drives nothing, about an instance that nobody drives: once in each of
/// its states. Nothing is started.
fn unclaimed(place: &Place, event: &Event, host: &Host) -> Vec<String> {
    let (store, name) = (&place.store, &place.instance.name);
    let asked = Event {
        trigger: Trigger::Hook(UNCLAIMED.to_owned()),
        ..event.clone()
    };
    let Some(session) = event.session.as_deref() else {
        return Vec::new();
    };
    if name_flaw(session).is_some() || !driver::of(store, name).is_empty() {
        return Vec::new();
    }
    // What cannot be decided is reported to whoever works on the instance.
    let Ok((Step::Done(decision), snapshot)) = peek(place, &asked) else {
        return Vec::new();
    };
    let messages = decision.messages.iter();
    let messages: Vec<String> = messages
        .map(|text| host.rename_commands(text, place.chart.plugin()))
        .collect();
    let (Some(state), false) = (snapshot.state.text(), messages.is_empty()) else {
        return Vec::new();
    };
    match place.lock() {
        Ok(_lock) if !driver::is_news(store, name, session, state) => Vec::new(),
        _ => messages,
    }
}

/// Ends the driving of a session that has ended, as `/clear` ends it too: whoever looks next reads that nobody drives the
/// instance.
fn release(session: Option<&str>, named: Option<&str>) {
    let Choice::Embedded(chart) = Choice::of(named) else {
        return;
    };
    if let Some(session) = session.filter(|_| !chart.is_per_session())
        && let Ok(Some(claimed)) = driver::claimed(&find::roots(&cwd()), chart.home(), session)
        && let Ok(_lock) = WriteLock::acquire(&claimed.store, &claimed.instance)
    {
        driver::release(&claimed.store, &claimed.instance, session);
    }
}

/// Finds the instance that the session claimed last. If it is gone, that is said once.
fn of_claim(claimed: &Claimed, scope: &Scope, session: Option<&str>) -> Newest {
    let name = &claimed.instance;
    let mut found = find::of_name(&claimed.root, scope, name);
    let is_gone = found.instance.is_none() && found.warnings.is_empty();
    if is_gone != claimed.is_gone {
        if is_gone {
            let (noun, folder) = (&scope.noun, find::folder(scope).join(name));
            found.warnings.push(format!(
                "The {noun} `{name}`, which this session drives, is gone: {} does not exist. No review runs in this \
                 session until it exists again, or until the session takes up another {noun}.",
                folder.display()
            ));
        }
        // If it cannot be recorded, the next stop says it again.
        let _ = session.map(|session| driver::say(&claimed.store, name, session, is_gone));
    }
    found
}

/// Finds the place of the change that the session of an event has reviewed at its stops; `None` if it has none reviewed.
fn place_of_change(event: &Event, name: &str) -> Result<Option<Target>, String> {
    let (Some(session), Some(chart)) = (event.session.as_deref(), of_changes()) else {
        return Ok(None);
    };
    let starts = [Some(cwd()), find::host_project()];
    for start in starts.into_iter().flatten() {
        let Some((root, home)) = find::in_git(chart.home(), &start) else {
            continue;
        };
        if !root.join(&home).join(chart.folder()).is_dir() {
            continue;
        }
        let Some(claimed) = driver::claimed(from_ref(&root), &home, session)? else {
            continue;
        };
        let chart = Choice::Embedded(chart).load();
        let mut chart = chart.map_err(|error| format!("the chart cannot be used: {error}"))?;
        if let Some(chart) = Arc::get_mut(&mut chart) {
            chart.scope.home = home;
        }
        if !chart.on.contains_key(name) {
            break;
        }
        let found = of_claim(&claimed, &chart.scope, Some(session));
        let found = distrusting(&root, &chart.scope.home, found);
        return Ok(Some(Target {
            quiet: chart.quiet,
            warnings: found.warnings,
            is_unclaimed: false,
            place: (found.instance).map(|instance| Place::new(chart, root, instance)),
        }));
    }
    Ok(None)
}

/// Returns the answer to an event: that of the chart, or of the project's own. If it has nothing against a stop and none of its
/// cycles is running, the chart of changes answers too.
fn reply_to(
    name: &str,
    fields: Json,
    named: Option<&str>,
    quiet: bool,
    host: &Host,
) -> Result<(Reply, Due), Ended> {
    let event = Event::hook(name, fields);
    if name == "SessionEnd" {
        release(event.session.as_deref(), named);
    }
    let found = find_place(name, event.session.as_deref(), named, quiet);
    let of_change = match named.is_none() && is_stop(name) {
        true => place_of_change(&event, name),
        false => Ok(None),
    };
    let also = match of_change {
        Ok(None) => return answer(name, event, found, host),
        Ok(Some(target)) => Ok(target),
        Err(why) => Err(Box::new(Reply::undecided(name, why))),
    };
    let is_running = |target: &Target| {
        let place = target.place.as_ref().filter(|_| !target.is_unclaimed);
        place.is_some_and(Place::is_in_cycle)
    };
    if found.as_ref().is_ok_and(is_running) {
        return answer(name, event, found, host);
    }
    let answer = |found| answer(name, event.clone(), found, host);
    let (first, due) = answer(found)?;
    if first.blocks() {
        return Ok((first, due));
    }
    let (reply, more) = answer(also)?;
    Ok((first.followed_by(reply), due.and(more)))
}

/// Returns the answer of one chart.
fn answer(
    name: &str,
    mut event: Event,
    found: Result<Target, Box<Reply>>,
    host: &Host,
) -> Result<(Reply, Due), Ended> {
    let goes_on = event.fields["stop_hook_active"] == Json::Bool(true);
    // Without a decision, nothing is counted: the agent reports it once per turn, where the host would not show it.
    let reported = |mut reply: Reply| {
        if is_stop(name) && !goes_on && !host.shows_messages {
            reply.ask_to_tell();
        }
        Ok((reply, Due::default()))
    };
    let found = match found {
        Ok(found) => found,
        Err(reply) => return reported(*reply),
    };
    let (quiet, warnings) = (found.quiet, found.warnings);
    let Some(mut place) = found.place else {
        return reported(Reply::silent(name, quiet).with_warnings(warnings));
    };
    let (plugin, store) = (place.chart.plugin().to_owned(), place.store.clone());
    let state = place.dir().join(state_file::FILE);
    let session = event.session.clone().filter(|_| is_stop(name));
    let bare = host.is_bare(&event.fields);
    event.fields["bare"] = Json::from(bare);
    // A plugin also calls the hook at the start of a session, and only then is an old record looked up.
    if bare || name == "SessionStart" {
        driver::set_bare(&store, &place.instance.name, bare);
    }
    let turn = session
        .as_deref()
        .and_then(|session| Turn::of(host, &store, session, goes_on));
    if turn.as_ref().is_some_and(|turn| turn.was_telling(&state)) {
        return Ok((Reply::silent(name, quiet), Due::default()));
    }
    if found.is_unclaimed {
        let messages = unclaimed(&place, &event, host);
        let reply = Reply::new(name, quiet, None, messages, Vec::new());
        let mut reply = reply.with_warnings(warnings);
        if let (Some(turn), Some(session)) = (turn, session) {
            turn.count(host, &store, &session, &state, &mut reply);
        }
        return Ok((reply, Due::default()));
    }
    if is_stop(name) {
        host.describe(&mut event.fields);
        let is_used_up = turn.as_ref().is_some_and(|turn| turn.is_used_up(host));
        event.fields["ignores_blocks"] = Json::from(is_used_up);
    }
    let is_of_change = place.chart.scope.since.is_some();
    // Only a change is looked at for this: it validates the state, which takes longer than a whole stop of a plan.
    if let Some(base) = is_of_change.then(|| change::base(&place)).flatten() {
        match change::find(&mut place, Base::Known(&base), &[]) {
            Ok(change) => {
                change::describe(&mut event.fields, &change, &[]);
                shorten(&mut event.fields["last_assistant_message"]);
            }
            Err(Unknown { message, help }) => {
                let why = format!("what has changed is unknown: {message} ({help})");
                return reported(Reply::undecided(name, why));
            }
        }
    }
    let result = perform(&place, &event);
    let done = result.as_ref().ok().filter(|_| is_stop(name));
    let call = done.and_then(|done| UserCall::of(&place, &event, done));
    if is_of_change && !place.is_in_cycle() {
        change::forget(&place);
        // From now on, its stops are nothing to us.
        session
            .iter()
            .for_each(|session| driver::forget(&store, session));
    }
    // The process is about to end, so the memory of the chart is not freed piece by piece.
    std::mem::forget(place);
    match result {
        Ok(performed) => {
            // The chart's own message reports the failure to the user; stderr is for the host's log.
            let failure = performed
                .decision
                .failure()
                .map(|why| format!("the review failed: {why}"));
            let mut reply = performed
                .decision
                .into_reply(name, quiet)
                .map_texts(|text| host.rename_commands(text, &plugin))
                .with_warnings(performed.warnings);
            reply.log.extend(failure.into_iter().chain(performed.notes));
            let mut reply = reply.with_warnings(warnings);
            reply.call = call.as_ref().map(|call| call.text.clone());
            if let (Some(turn), Some(session)) = (turn, session) {
                turn.count(host, &store, &session, &state, &mut reply);
            }
            let due = Due {
                debts: performed.debt.into_iter().collect(),
                pending: performed.pending.into_iter().collect(),
                calls: call.into_iter().collect(),
            };
            Ok((reply, due))
        }
        Err(Stuck::Interrupted { signal }) => Err(Ended::BySignal(signal)),
        Err(Stuck::Abandoned) => Err(Ended::WithHost),
        Err(stuck) => reported(Reply::undecided(name, stuck.to_string())),
    }
}

/// Cuts a text, which becomes part of an argument of a program.
fn shorten(text: &mut Json) {
    if let Json::String(text) = text {
        *text = cut(text);
    }
}

/// Returns what was found, unless others can write to its directory or to the home.
fn distrusting(root: &Path, home: &str, found: Newest) -> Newest {
    let Some(instance) = &found.instance else {
        return found;
    };
    let flaw = [Path::new(home), &instance.dir]
        .into_iter()
        .find_map(|dir| Some((dir, disk::distrust(&root.join(dir))?)));
    match flaw {
        Some((dir, why)) => Newest {
            instance: None,
            warnings: vec![format!("{} is not used: {why}.", dir.display())],
        },
        None => found,
    }
}

/// Prints the answer; returns false if the host did not get it.
fn print(answer: &str) -> bool {
    let mut out = std::io::stdout().lock();
    out.write_all(answer.as_bytes())
        .and_then(|()| out.flush())
        .is_ok()
}

/// Prints a line to stderr. It is not an error if the host does not read it.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "taskie: {}", shown_lines(line));
}
