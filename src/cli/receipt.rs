//! `taskie receipt`: prints what was reviewed, by whom and with what result, as a statement of in-toto.

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;

use super::error::CliError;
use super::output::{say_json_text, tell};
use super::place;
use crate::chart::Chart;
use crate::disk;
use crate::lint::report::pretty;
use crate::project::change::{self, Unknown};
use crate::project::git;
use crate::receipt::chain::Chain;
use crate::receipt::check::{self, CleanVersions};
use crate::receipt::seal;
use crate::receipt::signature::{self, Key};
use crate::receipt::statement::{self, Line, Statement, Subject};
use crate::run::place::Place;
use crate::run::receipts;

/// Prints the receipt of an instance, or of a commit.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<ExitCode, CliError> {
    let place = place::chosen(chart, matches)?;
    let noun = &chart.scope.noun;
    if matches.get_flag("sign") {
        sign(&place, matches.get_one::<PathBuf>("key"))?;
    }
    let chain = Chain::read(&text_of(&place)?);
    let mut statements: Vec<Statement> = chain.statements().cloned().collect();
    statements.extend(receipts::since(&place));
    let Some(mut receipt) = joined(&place, &statements) else {
        let message = format!("nothing is recorded about {noun} `{}`", place.instance.name);
        let help = "a receipt is about reviews, and none is on record";
        return Err(CliError::with_help(message, help));
    };
    let unrecorded = receipts::unrecorded(&place).into_iter();
    let unrecorded = unrecorded.map(|remark| remark.to_string());
    receipt.predicate.remarks.extend(unrecorded);
    if let Some(commit) = matches.get_one::<String>("commit") {
        let mut seen = CleanVersions::default();
        let name = &place.instance.name;
        seen.add(name, &chain, &receipts::open(&place), None);
        let unknown = |why: Unknown| CliError::with_help(why.message, why.help);
        let (before, commit) = change::ends(&place.root, commit).map_err(unknown)?;
        let read = place.manifests().read(Some(&before), Some(&commit), &[]);
        let read = read.ok_or_else(|| {
            CliError::with_help(
                "this is no git repository",
                "run it in the repository of the commit",
            )
        })?;
        let read = read.map_err(unknown)?;
        receipt.subject = vec![
            Subject::new("commit", "gitCommit", &commit),
            Subject::new("tree", "gitTree", &read.tree),
        ];
        let covered = receipt.predicate.covered.insert(seen.unseen(&read));
        for work in &seen.works {
            check::join(covered, seen.covered(work, &read, false));
        }
    }
    say_json_text(&pretty(&serde_json::to_value(&receipt).unwrap_or_default()));
    Ok(ExitCode::SUCCESS)
}

/// Returns one statement that says what several say; `None` if there is none.
fn joined(place: &Place, statements: &[Statement]) -> Option<Statement> {
    let last = statements.last()?;
    let mut predicate = receipts::named(place);
    predicate.settings.clone_from(&last.predicate.settings);
    predicate.rulings.clone_from(&last.predicate.rulings);
    for statement in statements {
        let part = &statement.predicate;
        predicate.charts.extend(part.charts.clone());
        seal::join(&mut predicate, part);
    }
    let reviews: Vec<_> = statements.iter().flat_map(check::reviews).collect();
    let subject = statement::subject(reviews.into_iter());
    Some(Statement::new(subject, predicate))
}

fn text_of(place: &Place) -> Result<String, CliError> {
    let what = format!("{} cannot be read", statement::FILE);
    statement::read(&place.dir()).map_err(CliError::because(what))
}

/// Signs the last receipt, and with it all before, with the user's ssh key; of branches that were merged, each last one.
fn sign(place: &Place, key: Option<&PathBuf>) -> Result<(), CliError> {
    let unsigned = |why: String| {
        let help =
            "name a key of yours: --key ~/.ssh/id_ed25519 (`ssh-keygen -t ed25519` makes one)";
        CliError::with_help(format!("the receipt cannot be signed: {why}"), help)
    };
    let _lock = place.lock().map_err(CliError::because("the receipt cannot be signed"))?;
    let text = text_of(place)?;
    let chain = Chain::read(&text);
    let ends: HashSet<&str> = chain.ends().map(|link| &*link.sha256).collect();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut lines: Vec<String> = lines.map(str::to_owned).collect();
    let Some(last) = lines.last() else {
        let message = format!("there is no {} to sign yet", statement::FILE);
        let help = "sign it when a cycle of reviews has ended; until then, `taskie receipt` prints what is recorded";
        return Err(CliError::with_help(message, help));
    };
    let key = match key {
        Some(key) => Key::File(key.clone()),
        None => signature::own_key(git::configured(&place.root, "user.signingkey"))
            .ok_or_else(|| unsigned("no ssh key of yours was found".to_owned()))?,
    };
    let read = Line::parse(last).and_then(|line| line.statement());
    read.map_err(unsigned)?;
    for text in &mut lines {
        let Ok(mut line) = Line::parse(text) else {
            continue;
        };
        if ends.contains(&*line.sha256) {
            let signature = signature::sign(&place.root, &key, &line.sha256);
            line.signature = Some(signature.map_err(unsigned)?);
            *text = line.write().map_err(|why| unsigned(why.to_string()))?;
        }
    }
    let file = place.dir().join(statement::FILE);
    disk::replace(&file, format!("{}\n", lines.join("\n")).as_bytes())
        .map_err(CliError::because(format!("{} cannot be written", file.display())))?;
    tell(&format!("signed with {key}"));
    Ok(())
}
