//! Records what happens to an instance, and writes a receipt when one of its cycles ends.
//!
//! Nothing is recorded about an event that changes nothing. What cannot be recorded changes no decision; a receipt then says
//! what it lacks.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;

use crate::clock;
use crate::disk;
use crate::engine::context::Context;
use crate::engine::decision::{Decision, Effect, Effort, Invocation, Outcome};
use crate::engine::event::Event;
use crate::engine::inspect::Inspector;
use crate::engine::replayable::{Known, Occurred, Recorder};
use crate::files::pattern::Pattern;
use crate::hash::{self, Hash, IndexMap};
use crate::host::events::STOPPED;
use crate::host::hosts::Host;
use crate::page::short_path;
use crate::process::program::locate;
use crate::process::version::version_of;
use crate::project::change;
use crate::project::ledger;
use crate::project::manifest::Manifest;
use crate::project::seen;
use crate::project::state_file::{self, Reading};
use crate::receipt::chain::Chain;
use crate::receipt::charts::{self, Whole};
use crate::receipt::remarks::{Remark, Remarks};
use crate::receipt::statement::{self, Predicate, Statement};
use crate::receipt::unpassed::{self, Unpassed};
use crate::receipt::{self, Entry, GateEntry, Open, ReviewEntry};
use crate::run::on_record::{OnRecord, has_record};
use crate::run::part;
use crate::run::place::Place;
use crate::run::snapshot::Snapshot;
use crate::store::driver;
use crate::store::journal::Line;
use crate::store::open_record;
use crate::store::program;
use crate::store::record;
use crate::text::cut;

/// How long a reviewer's program may take to print its version: the host waits for the review, too.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest version, in characters.
const VERSION: usize = 60;

/// The kind of record with a chart that no receipt has yet. It is called by the chart's hash.
const CHART: &str = "chart";

/// Returns what is known of a review before it begins.
pub(crate) fn due(place: &Place, snapshot: &Arc<Snapshot>, invocation: &Invocation) -> ReviewEntry {
    let of_file = |name: &str| place.read(name).map(|text| hash::of_text(&text));
    let subject = invocation.subject.iter();
    let subject = subject.map(|name| (name.clone(), of_file(name).unwrap_or_default()));
    let with_status = invocation.subject.iter().filter_map(|name| {
        let text = seen::has_status(&place.chart, name).then(|| place.read(name))??;
        let text = seen::lasting(&place.chart, name, &text);
        Some((name.clone(), hash::of_text(text.as_bytes())))
    });
    let view = snapshot.view();
    let record = OnRecord::of(place);
    let answer =
        view.running().and_then(|cycle| answer_name(&view, &cycle.answer, invocation.n - 1));
    let mut answers = IndexMap::default();
    let mut gone = None;
    if let Some(name) = answer {
        match of_file(&name) {
            Some(sha256) => _ = answers.insert(name, sha256),
            None if record.has_seen(&name) => gone = Some((name, None)),
            None => {}
        }
    }
    let edited = edited(place, &record, &answers);
    let mut prompt = Hash::default();
    invocation.argv.iter().for_each(|word| prompt.add(word));
    ReviewEntry {
        settings: snapshot.config().ok().cloned(),
        edited: edited.into_iter().chain(gone).collect(),
        chart: charts::hash(&place.chart),
        cycle: invocation.cycle.clone(),
        n: invocation.n,
        invocation: invocation.name.clone(),
        file: invocation.file.clone(),
        subject: subject.collect(),
        without_status: with_status.collect(),
        answers,
        commands: view.gate_lines().unwrap_or_default(),
        rulings: rulings(place),
        prompt: Some(prompt.text()),
        ..ReviewEntry::default()
    }
}

/// Returns a sentence about what others have changed since the last review. Before that, the user has read it.
pub(crate) fn edits(place: &Place) -> Option<String> {
    let record = OnRecord::of(place);
    let since = match record.reviews().next_back() {
        Some(_) => "the last review".to_owned(),
        None => format!("the {} began", place.chart.scope.noun),
    };
    let unsaid = up_to_now(place, record).0.into_unsaid();
    (!unsaid.is_empty()).then(|| format!("Since {since}: {}.", unsaid.join("; ")))
}

/// Returns what others have changed and no entry of the record says.
pub(crate) fn unrecorded(place: &Place) -> Vec<Remark> {
    up_to_now(place, OnRecord::of(place)).1
}

/// Returns what is known of a record and of what is there now, and what is new of that: a decision would find it.
fn up_to_now(place: &Place, mut record: OnRecord) -> (Remarks, Vec<Remark>) {
    let snapshot = place.snapshot();
    let stop = Event::hook(STOPPED, Json::Null);
    let mut now = found(place, &record, &stop, snapshot.context(), true);
    if !matches!(snapshot.state, Reading::Sound { .. }) {
        now.state = None;
    }
    // No chart has decided anything since.
    let last = record.open.last().map(Entry::chart);
    let last = last.or_else(|| record.sealed().next_back().map(Entry::chart));
    if let Some(last) = last.map(str::to_owned) {
        now.chart = last;
    }
    record.open.push(Entry::Decision(Box::new(now)));
    let (.., mut remarks, merged) = record.chain.before(&record.open);
    let (open, now) = record.open.split_at(record.open.len() - 1);
    remarks.line(open, merged);
    let new = remarks.more(now);
    (remarks, new)
}

/// Returns the reviews and answers on record that are no longer what was last known of them, each with the hash of what is there
/// now. A new answer may be in place of one of an earlier cycle.
fn edited(
    place: &Place,
    record: &OnRecord,
    new: &IndexMap<String, String>,
) -> IndexMap<String, Option<String>> {
    let mut known = record.chain.files(&record.open, true);
    known.retain(|name, _| ![statement::FILE, open_record::FILE].contains(&name.as_str()));
    let said = known.shift_remove(ledger::FILE);
    let edited = known.into_iter().filter_map(|(name, versions)| {
        let now = place.read(&name).map(|text| hash::of_text(&text));
        (!versions.contains(&now) && !new.contains_key(&name)).then_some((name, now))
    });
    let lost =
        lost_rulings(place, record).filter(|now| said.is_none_or(|said| !said.contains(now)));
    edited.chain(lost.map(|now| (ledger::FILE.to_owned(), now))).collect()
}

/// Returns the hash of the rulings if one is gone that this machine has written since the last review. Where one is gone that the
/// review has seen, about the same finding, that is compared anyway. In another checkout, they are those of that.
fn lost_rulings(place: &Place, record: &OnRecord) -> Option<Option<String>> {
    if !record.aside.is_empty() {
        return None;
    }
    let now = rulings(place);
    let last = record.reviews().next_back();
    let gone = last.iter().flat_map(|last| last.rulings.keys());
    let gone = gone.filter(|line| !now.contains_key(*line));
    let gone: HashSet<&str> = gone.map(|line| ledger::id(line)).collect();
    let made = ledger::made((&place.store, &*place.instance.name));
    let mut lost = made.keys().filter(|line| !now.contains_key(*line));
    let is_lost = lost.any(|line| !gone.contains(ledger::id(line)));
    is_lost.then(|| place.read(ledger::FILE).map(|text| hash::of_text(&text)))
}

fn answer_name(view: &Inspector, answer: &Pattern, n: i64) -> Option<String> {
    view.file_name(answer, n).filter(|_| n > 0)
}

/// Adds the program of an invocation to the record.
pub(crate) fn add_program(place: &Place, invocation: &Invocation, record: &mut ReviewEntry) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = invocation.argv.first();
    let file = name.and_then(|name| locate(name, &path, &place.root).ok());
    let file = file.map(|file| place.root.join(file));
    // Any other program may do anything when it is asked for its version.
    let asked = file.as_ref().filter(|_| name.is_some_and(|name| Host::named(name).is_some()));
    let version = asked.and_then(|file| version_of(file, PATIENCE).ok());
    record.version = version.map(|text| cut(text, VERSION)).filter(|text| !text.is_empty());
    // Nobody needs to know what the user is called.
    record.program = file.as_deref().map(short_path);
    record.program_sha256 = file.and_then(|file| program::sha256(&place.store, &file));
}

/// Returns the work tree that a review sees, if its verdict is about that.
pub(crate) fn tree(place: &Place, snapshot: &Arc<Snapshot>, event: &Event) -> Option<Manifest> {
    let view = Inspector::of_event(&place.chart, &snapshot.as_world(), event);
    let skips = view.skips(view.running()?).ok().flatten()?;
    let field = |name: &str| event.fields.get(name).and_then(Json::as_str);
    let given = field("base").filter(|base| !base.is_empty());
    let base = given.map(str::to_owned);
    let base = base.or_else(|| OnRecord::of(place).base());
    let mut read = place.manifests().read(base.as_deref(), None, &skips)?.ok()?;
    // It is given nothing else, whatever is different from another tree.
    let paths = part::paths(place)?;
    read.files.retain(|file, _| change::is_in(file, &paths));
    given.is_none_or(|base| *base == read.base).then_some(read)
}

/// Returns the cycles of the instance that were left without having passed.
pub(crate) fn unpassed(place: &Place) -> Vec<Unpassed> {
    let OnRecord { chain, open, .. } = OnRecord::of(place);
    let mut finder = unpassed::Finder::of(&place.chart);
    for statement in chain.statements() {
        finder.add(&statement.predicate.entries);
    }
    finder.add(&open);
    if let Reading::Sound { context, .. } = &place.snapshot().state {
        finder.compare(context);
    }
    finder.into_left()
}

/// Forgets what this machine has recorded about an instance of the same name: another one begins, whose folder has no record.
/// The caller holds the write lock.
pub(crate) fn begin(place: &Place) {
    let dir = place.dir();
    if !has_record(&dir) {
        ledger::begin((&place.store, &place.instance.name));
        open_record::clear((&place.store, &place.instance.name), &dir, false);
    }
}

/// Returns what has happened since the last receipt.
pub(crate) fn open(place: &Place) -> Vec<Open> {
    OnRecord::of(place).open
}

/// Adds a review that has ended to the record.
pub(crate) fn ended(
    place: &Place,
    due: ReviewEntry,
    (outcome, effort): (&Outcome, &Effort),
) -> io::Result<()> {
    let (verdict, error) = outcome.verdict_and_error();
    let lines = place.journal().read().into_iter().rev();
    // What else was run meanwhile is in between.
    let lines = lines.take_while(|line| match line {
        Line::Gate(_) => true,
        Line::Decision(decided) => decided.review.is_none(),
        Line::Review(_) => false,
    });
    let gates = lines.filter_map(|line| match line {
        Line::Gate(gate) if (&gate.cycle, gate.n) == (&due.cycle, due.n) => {
            Some(GateEntry { command: gate.command, exit: gate.exit, error: gate.error })
        }
        _ => None,
    });
    let mut gates: Vec<GateEntry> = gates.collect();
    gates.reverse();
    let is_run = outcome.failed_gate().is_none();
    let text = place.read(&due.file);
    let text = text.filter(|_| is_run && error.is_none());
    let instance = (&place.store, &*place.instance.name);
    let altered = open_record::altered(instance, &place.dir());
    let altered = altered.map(|sha256| (open_record::FILE.to_owned(), Some(sha256)));
    let has_passed = |verdict: &str| place.chart.is_best_verdict(verdict);
    let unrun = verdict.filter(|verdict| has_passed(verdict)).and_then(|_| {
        let world = place.snapshot().as_world();
        let view = Inspector::new(&place.chart, &world);
        view.unrun(&outcome.found()).ok()?
    });
    let review = ReviewEntry {
        at: clock::precise(),
        by: effort.by.clone(),
        gates,
        verdict: verdict.map(str::to_owned),
        error: error.map(str::to_owned),
        times: outcome.failed_gate().map(|gate| gate.times),
        found: outcome.found(),
        review: text.map(|text| hash::of_text(&text)),
        seconds: effort.seconds,
        cost: effort.cost,
        not_started: effort.not_started,
        tokens: effort.tokens,
        prompt: due.prompt.filter(|_| is_run),
        edited: due.edited.into_iter().chain(altered).collect(),
        unrun,
        ..due
    };
    let entry: Open = Entry::Review(Box::new(review));
    let aside = OnRecord::of(place).aside;
    open_record::add(instance, &place.dir(), &entry, &aside)
}

/// What a decision was about.
pub(crate) struct Before<'b> {
    /// The fields as they were in the state file, and as the decision has seen them.
    pub(crate) state: &'b Context,
    pub(crate) seen: &'b Context,
    pub(crate) recorder: &'b Recorder,
    /// The settings that it has seen, if they can be read.
    pub(crate) settings: Option<&'b Context>,
    /// The command that was run during the review and takes effect after it.
    pub(crate) pause: Option<String>,
    /// The review was clean.
    pub(crate) is_clean: bool,
}

/// A decision as an entry of the record.
pub(crate) struct Prepared {
    entry: Open,
    /// What is of another checkout of the instance.
    aside: HashSet<String>,
}

/// Returns what the record will say of a decision; `None` if that is nothing. The caller holds the write lock, and has written
/// nothing.
pub(crate) fn prepare(
    place: &Place,
    event: &Event,
    before: Before<'_>,
    decision: &Decision,
) -> Option<Prepared> {
    let ended = decision.ended.as_ref();
    let changes_nothing = decision.patch.is_empty() && ended.is_none();
    if place.chart.cycles.is_empty() || changes_nothing {
        return None;
    }
    let advances = decision.advances();
    let fired = decision.fired.iter().map(|fired| fired.place.clone());
    let fields = before.state.iter();
    let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
    let record = OnRecord::at(place, fields.collect());
    let begins =
        record.open.is_empty() && statement::read(&place.dir()).is_ok_and(|text| text.is_empty());
    keep_chart(place, &record, &charts::hash(&place.chart));
    let said = record.open.iter().rev().find_map(Entry::settings);
    let seen = before.seen.iter().filter(|(name, value)| before.state.get(*name) != Some(*value));
    let seen = seen.map(|(name, value)| (name.clone(), value.clone()));
    let entry: Open = Entry::Decision(Box::new(receipt::DecisionEntry {
        base: (begins || advances).then(|| change::head(&place.root)).flatten(),
        settings: before.settings.filter(|now| said != Some(now)).cloned(),
        wrote: written_answers(place, decision),
        world: before.recorder.known(),
        is_reviewed: ended.is_some(),
        is_superseded: ended.is_some_and(|ended| ended.superseded),
        seen: seen.collect(),
        pause: before.pause,
        is_clean: before.is_clean,
        fired: fired.collect(),
        changed: decision.patch.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        answer: decision.answer.word().to_owned(),
        ..found(place, &record, event, before.state, ends(place, decision))
    }));
    let aside = record.aside;
    Some(Prepared { entry, aside })
}

/// Returns an entry that says only what a decision about this event in this state would find: what is not as the record has left
/// it. Whether reviews, answers and rulings are, the next review says; where the instance ends, there is none.
fn found(
    place: &Place,
    record: &OnRecord,
    event: &Event,
    state: &Context,
    is_last: bool,
) -> receipt::DecisionEntry<Vec<Known>> {
    let altered = open_record::altered((&place.store, &*place.instance.name), &place.dir());
    let altered = altered.map(|sha256| (open_record::FILE.to_owned(), Some(sha256)));
    let cut = record.cut(place, state);
    let cut = cut.map(|sha256| (statement::FILE.to_owned(), Some(sha256)));
    let edited = is_last.then(|| edited(place, record, &IndexMap::default()));
    let edited = edited.into_iter().flatten().chain(altered).chain(cut);
    receipt::DecisionEntry {
        at: clock::precise(),
        chart: charts::hash(&place.chart),
        base: None,
        settings: None,
        is_claim_lost: driver::is_lost(&place.store, &place.instance.name),
        previous: match record.open.is_empty() {
            true => (record.chain.end(Some(state))).map(|link| link.sha256.clone()),
            false => None,
        },
        edited: edited.collect(),
        rulings: is_last.then(|| rulings(place)),
        is_added_to: record.is_added_to,
        is_elsewhere: !record.aside.is_empty(),
        wrote: IndexMap::default(),
        begins: place.chart.scope.since.is_some() && matches!(place.state(), Reading::Missing),
        event: Occurred::of(&place.chart, event),
        state: Some(state.clone()),
        world: Vec::new(),
        is_reviewed: false,
        is_superseded: false,
        seen: Context::default(),
        pause: None,
        is_clean: false,
        fired: Vec::new(),
        changed: Context::default(),
        answer: String::new(),
    }
}

/// Returns whether a decision leads to the end of the instance.
fn ends(place: &Place, decision: &Decision) -> bool {
    let phase = decision.patch.get(&place.chart.state);
    let phase = phase.and_then(Json::as_str);
    phase.is_some_and(|phase| place.chart.is_final(phase))
}

/// Returns the answers to reviews that a decision writes into the instance's directory, each with the hash of its text.
fn written_answers(place: &Place, decision: &Decision) -> IndexMap<String, String> {
    let is_answer = |name: &str| {
        let mut cycles = place.chart.cycles.values();
        cycles.any(|cycle| cycle.answer.matches(name).is_some())
    };
    let written = decision.effects.iter().filter_map(|effect| match effect {
        Effect::Write { path, text } | Effect::Replace { path, text } => {
            let name = Path::new(path).strip_prefix(&place.instance.dir).ok()?;
            let name = name.to_str().filter(|name| is_answer(name))?;
            Some((name.to_owned(), hash::of_text(text.as_bytes())))
        }
        _ => None,
    });
    written.collect()
}

/// Has the record say it as soon as the state has this text, even if this process is killed then.
pub(crate) fn intend(place: &Place, prepared: &Prepared, text: &[u8]) -> io::Result<()> {
    let instance = (&place.store, &*place.instance.name);
    open_record::intend(instance, &place.dir(), (state_file::FILE, text), &prepared.entry)
}

/// Adds a decision to the record, and writes a receipt if it ends a cycle. The caller holds the write lock.
pub(crate) fn decided(
    place: &Place,
    prepared: Option<Prepared>,
    decision: &Decision,
) -> io::Result<Option<String>> {
    let Some(Prepared { entry, aside }) = prepared else {
        return Ok(None);
    };
    let instance = (&place.store, &*place.instance.name);
    open_record::add(instance, &place.dir(), &entry, &aside)?;
    if matches!(&entry, Entry::Decision(decision) if decision.is_claim_lost) {
        driver::record_lost(&place.store, &place.instance.name);
    }
    let news = (decision.ended.as_ref()).and_then(|_| news(place, &OnRecord::of(place)));
    if decision.advances() || ends(place, decision) {
        write(place)?;
    }
    Ok(news)
}

/// Returns a sentence about what a reader of the record should know and nobody has said: what was added to it since the decision
/// about the review before, or since it began.
fn news(place: &Place, record: &OnRecord) -> Option<String> {
    let is_outcome = |entry: &Open| match entry {
        Entry::Decision(decision) => decision.is_reviewed,
        Entry::Review(_) => false,
    };
    let (before, _) = record.open.split_at(record.open.len().saturating_sub(1));
    let before = before.iter().rposition(is_outcome).map_or(0, |at| at + 1);
    let (before, new) = record.open.split_at(before);
    let (.., mut remarks, merged) = record.chain.before(&record.open);
    remarks.line(before, merged);
    let new = remarks.more(new).into_iter();
    let new: Vec<String> = new.filter_map(|remark| remark.unsaid()).collect();
    let since = match record.reviews().nth(1) {
        Some(_) => "the review before".to_owned(),
        None => format!("the {} began", place.chart.scope.noun),
    };
    (!new.is_empty()).then(|| format!("Since {since}: {}.", new.join("; ")))
}

/// Writes a receipt about everything since the last one. The caller holds the write lock.
fn write(place: &Place) -> io::Result<()> {
    let dir = place.dir();
    let mut text = statement::read(&dir)?;
    let Some(statement) = since(place) else {
        return Ok(());
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let (line, sha256) = statement::line(&statement)?;
    text.push_str(&line);
    text.push('\n');
    let record = OnRecord::of(place);
    for hash in record.open.iter().map(Entry::chart) {
        record::remove(&place.store, hash, CHART);
    }
    let is_elsewhere = !record.aside.is_empty();
    disk::replace(&dir.join(statement::FILE), text.as_bytes())?;
    let instance = (&place.store, &*place.instance.name);
    open_record::clear(instance, &dir, is_elsewhere);
    // Without it, nobody knows later whether the receipt is still there.
    let _ = open_record::keep_last(instance, &sha256);
    Ok(())
}

/// Returns whether a receipt has the chart of this hash.
fn is_known(chain: &Chain, hash: &str) -> bool {
    let mut statements = chain.statements();
    statements.any(|statement| statement.predicate.charts.contains_key(hash))
}

/// Keeps the chart that decides from now on until a receipt has it: it may be another one by then.
fn keep_chart(place: &Place, record: &OnRecord, hash: &str) {
    let last = record.open.last().map(Entry::chart);
    if last != Some(hash) && !is_known(&record.chain, hash) {
        // Without it, a chart that is changed in this cycle cannot be decided with again.
        let _ = record::write(&place.store, hash, CHART, Whole::of(&place.chart));
    }
}

/// Returns a statement about everything since the last receipt; `None` if that is nothing.
pub(crate) fn since(place: &Place) -> Option<Statement> {
    let record = OnRecord::of(place);
    if record.open.is_empty() {
        return None;
    }
    let OnRecord { chain, open, .. } = record;
    let own = charts::hash(&place.chart);
    let deciding: HashSet<&str> = open.iter().map(Entry::chart).chain([&*own]).collect();
    let unknown = deciding.into_iter().filter(|hash| !is_known(&chain, hash));
    let whole = |hash: &str| match hash == own {
        true => Some(Whole::of(&place.chart)),
        // It has decided before the chart was changed.
        false => record::read(&place.store, hash, CHART),
    };
    let charts = unknown.filter_map(|hash| Some((hash.to_owned(), whole(hash)?)));
    let charts = charts.collect();
    let settings = open.iter().rev().find_map(Entry::settings).cloned();
    let settings = settings.or_else(|| place.snapshot().config().ok().cloned());
    let rulings = rulings(place).into_iter();
    let in_words = |(line, by): (String, Option<String>)| {
        format!("{line} ({})", by.as_deref().unwrap_or(ledger::BY_HAND))
    };
    let predicate = Predicate {
        charts,
        settings: settings.unwrap_or_default(),
        rulings: rulings.map(in_words).collect(),
        ..named(place)
    };
    let subject = statement::subject(open.iter().filter_map(Entry::review));
    Some(Statement::new(subject, chain.next(open, predicate)))
}

/// Returns the rulings, each with who has made it, if this machine knows.
fn rulings(place: &Place) -> IndexMap<String, Option<String>> {
    let lines = ledger::rulings(&place.chart, &place.root, &place.dir()).into_iter();
    let made = ledger::made((&place.store, &*place.instance.name));
    let lines = lines.map(|line| {
        let by = made.get(&line).cloned();
        (line, by)
    });
    lines.collect()
}

/// Returns an empty predicate about an instance.
pub(crate) fn named(place: &Place) -> Predicate {
    Predicate {
        taskie: env!("CARGO_PKG_VERSION").to_owned(),
        noun: place.chart.scope.noun.clone(),
        name: place.instance.name.clone(),
        ..Predicate::default()
    }
}
