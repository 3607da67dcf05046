//! `taskie verify`: checks receipts, without a model, a network, or anything that this machine keeps except
//! whose keys git's `gpg.ssh.allowedSignersFile` says may sign.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::{Value as Json, json};

use super::error::CliError;
use super::output::{say, say_json, tell_error};
use super::place;
use crate::chart::{Chart, Scope};
use crate::diagnostic::suggest::did_you_mean;
use crate::lint::report;
use crate::page::{self, BAD, GOOD, PLAIN, Page, counted, paint_words};
use crate::project::change::{self, Blobs, Unknown};
use crate::project::find;
use crate::project::git;
use crate::project::home::project_root;
use crate::project::manifest::{Manifest, Reader};
use crate::project::state_file;
use crate::receipt::check::{self, Checked, CleanVersions, Work};
use crate::receipt::signature::Signers;
use crate::receipt::statement;
use crate::receipt::{Open, goes_on_from};
use crate::store::{git_dir, open_record};
use crate::text::shown;

/// What no record can prove.
pub(super) const UNPROVED: &str = "This does not prove that a model has read anything; and without a signature, a record that \
                        was cut short or made again looks like the true one.";

/// What to do where the history is too short.
const FETCH: &str = "fetch all of it: `git fetch --unshallow`, or `fetch-depth: 0` in CI";

/// Checks the receipts of one instance, or of all. The exit code is that of the page about this command.
pub(crate) fn run(chart: &Arc<Chart>, matches: &ArgMatches) -> ExitCode {
    match verify(chart, matches) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            tell_error(&error);
            ExitCode::from(2)
        }
    }
}

fn verify(chart: &Arc<Chart>, matches: &ArgMatches) -> Result<u8, CliError> {
    let cwd = place::cwd()?;
    let home = &chart.scope.home;
    let root = project_root(&cwd, home);
    let range = matches.get_one::<String>("range").map(String::as_str);
    let mut result = Verified::default();
    if let Some(root) = &root {
        let signers = signers(root, matches)?;
        result.receipts(chart, root, matches.get_one("instance"), signers.as_ref())?;
        if !result.plans.is_empty() {
            result.code(root, &chart.scope, range)?;
        }
    }
    let code = match (result.plans.is_empty(), result.is_well()) {
        (true, _) => 3,
        (false, true) => 0,
        (false, false) => 1,
    };
    match matches.get_one::<String>("format").map(String::as_str) {
        Some("json") => say_json(result.json()),
        Some("github") => result.annotations().iter().for_each(|line| say(line)),
        _ => result.print(chart),
    }
    Ok(code)
}

/// Returns whose keys count: those that the command line names, or else those that git knows.
fn signers(root: &Path, matches: &ArgMatches) -> Result<Option<Signers>, CliError> {
    if let Some(file) = matches.get_one::<PathBuf>("signers") {
        if !file.is_file() {
            let message = format!("there is no list of signers {}", file.display());
            let help = "each line has a name and a public key: `me@example.org ssh-ed25519 AAAA…`";
            return Err(CliError::with_help(message, help));
        }
        let are_required = true;
        return Ok(Some(Signers { file: file.clone(), are_required }));
    }
    let configured = git::configured(root, "gpg.ssh.allowedSignersFile");
    // Git takes it from the top of the work tree.
    let top = git_dir::around(root).map_or_else(|| root.to_owned(), |tree| tree.top);
    Ok(configured.map(|file| Signers { file: top.join(file), are_required: false }))
}

/// Returns why code is not compared where git lacks the commit at which its work began.
fn no_base(work: &Work) -> String {
    let name = shown(&work.name);
    format!(
        "git no longer has what the work of {name} began with, so only the files that its last clean review has \
         seen were compared"
    )
}

/// What was found out.
#[derive(Debug, Default)]
struct Verified {
    plans: Vec<Checked>,
    seen: CleanVersions,
    /// The files of the code, each with the review that has seen it as it is there.
    covered: Blobs,
    /// Why the code was not compared, if it was not.
    uncompared: Option<String>,
}

impl Verified {
    fn is_well(&self) -> bool {
        let is_well = |checked: &Checked| checked.flaws.is_empty();
        self.plans.iter().all(is_well) && self.uncovered().next().is_none()
    }

    fn uncovered(&self) -> impl Iterator<Item = &String> {
        let open = self.covered.iter().filter(|(_, review)| review.is_none());
        open.map(|(file, _)| file)
    }

    /// Checks the receipts of each instance.
    fn receipts(
        &mut self,
        chart: &Arc<Chart>,
        root: &Path,
        only: Option<&String>,
        signers: Option<&Signers>,
    ) -> Result<(), CliError> {
        let mut names = find::names(root, &chart.scope).unwrap_or_default();
        if let Some(only) = only {
            if !names.contains(only) {
                let message = format!("there is no {} `{}`", chart.scope.noun, shown(only));
                let close = did_you_mean(only, names.iter().map(String::as_str));
                let help = close.unwrap_or_else(|| "`taskie list` shows what there is".to_owned());
                return Err(CliError::with_help(message, help));
            }
            names = vec![only.clone()];
        }
        for name in names {
            let instance = place::named(chart, &name)?;
            if find::leads_outside(root, &instance.dir) {
                continue;
            }
            let dir = root.join(&instance.dir);
            let open: Vec<Open> = open_record::in_folder(&dir);
            let state = state_file::fields(&dir);
            let mut abandoned = None;
            let text = match statement::read(&dir) {
                Ok(text) if text.trim().is_empty() && goes_on_from(&open).is_none() => {
                    abandoned = check::abandoned(chart, &open, state.as_ref());
                    if abandoned.is_none() {
                        continue;
                    }
                    text
                }
                Ok(text) => text,
                Err(error) => {
                    let why = format!("{} cannot be read: {error}", statement::FILE);
                    self.plans.push(Checked::unreadable(name, why));
                    continue;
                }
            };
            let mut checked = check::lines(root, &text, signers);
            checked.flaws.extend(abandoned);
            if checked.name != name && !checked.name.is_empty() {
                let what = format!("its last receipt is about `{}`", shown(&checked.name));
                checked.remarks.push(what);
            }
            checked.name = name;
            let open = checked.chain.unsealed(open, Open::at);
            let left = check::left(&checked.chain, open.clone(), state.as_ref());
            checked.remarks.extend(left);
            let is_sound = check::open(&mut checked, chart, open.clone());
            let files = check::files(&dir, &checked.chain, &open, is_sound);
            checked.flaws.extend(files);
            let rewritten = checked.rewritten(&dir, &open);
            checked.remarks.extend(rewritten);
            let unpassed = check::unpassed(chart, &checked.chain, &open);
            checked.remarks.extend(unpassed);
            let skips = checked.skips();
            self.seen.add(&checked.name, &checked.chain, &[], skips);
            self.plans.push(checked);
        }
        Ok(())
    }

    /// Compares the code with what the reviews have seen: that of a range of commits, or else of the work tree.
    fn code(&mut self, root: &Path, scope: &Scope, range: Option<&str>) -> Result<(), CliError> {
        let reader = |name: &str| {
            let instance = find::named(scope, name).map(|instance| root.join(instance.dir));
            Reader::of(root, scope, &instance.unwrap_or_default())
        };
        let failed = |why: Unknown| CliError::with_help(why.message, why.help);
        let ends = range.map(|range| change::ends(root, range)).transpose();
        let ends = ends.map_err(failed)?;
        match &ends {
            _ if !self.seen.works.is_empty() => {}
            None => {
                self.uncompared =
                    Some("no cycle of code reviews that has ended is in the record".to_owned())
            }
            Some((base, end)) => {
                if let Some(read) = reader("").read(Some(base), Some(end), &[]) {
                    self.covered = self.seen.unseen(&read.map_err(failed)?);
                }
            }
        }
        // Git compares only once with each commit.
        let mut known: HashMap<&str, Manifest> = HashMap::new();
        for work in &self.seen.works {
            let (base, at) = match &ends {
                Some((base, end)) => (base, Some(end.as_str())),
                None => (&work.base, None),
            };
            if !known.contains_key(base.as_str()) {
                let read = match reader(&work.name).read(Some(base), at, &[]) {
                    None => Err("this is no git repository".to_owned()),
                    Some(Err(why)) if range.is_none() => Err(why.message),
                    Some(read) => Ok(read.map_err(failed)?),
                };
                let read = read.and_then(|read| match *base == read.base {
                    true => Ok(read),
                    false => Err(no_base(work)),
                });
                match read {
                    Ok(read) => drop(known.insert(base, read)),
                    Err(_) if change::is_shallow(root) => {
                        let message = "the history of this clone is too short to compare the code";
                        return Err(CliError::with_help(message, FETCH));
                    }
                    Err(why) => {
                        self.uncompared = Some(why);
                        if let Some(now) = reader(&work.name).all() {
                            let covered = self.seen.covered_without_base(work, now);
                            check::join(&mut self.covered, covered);
                        }
                        continue;
                    }
                }
            }
            let is_now = (ends.as_ref()).is_none_or(|range| change::spans(root, range, &work.base));
            let covered = self.seen.covered(work, &known[base.as_str()], is_now);
            check::join(&mut self.covered, covered);
        }
        Ok(())
    }

    fn print(&self, chart: &Chart) {
        let noun = &chart.scope.noun;
        let mut page = Page::new(page::width(), 2);
        if self.plans.is_empty() {
            page.text(PLAIN, &format!("Nothing to verify: no {noun} has a {}.", statement::FILE));
            page.print();
            return;
        }
        page.text(PLAIN, &self.verdict(chart));
        for plan in &self.plans {
            page.text(
                PLAIN,
                &format!(
                    "{noun} {}: {}, {} and {} made again",
                    shown(&plan.name),
                    counted(plan.lines, "receipt"),
                    counted(plan.reviews, "review"),
                    counted(plan.decisions, "decision"),
                ),
            );
            for (heading, lines) in [
                ("wrong: ", &plan.flaws),
                ("on record: ", &plan.remarks),
                ("signed: ", &plan.signatures),
            ] {
                for line in lines {
                    page.row("", &shown(&format!("{heading}{line}")));
                }
            }
        }
        if let Some(why) = self.not_compared() {
            page.text(PLAIN, &why);
        }
        for file in self.uncovered() {
            let file = shown(file);
            page.text(PLAIN, &format!("No clean review has seen {file} as it is."));
        }
        page.text(PLAIN, UNPROVED);
        page.print();
    }

    /// Returns what was not compared, if anything was not.
    fn left_out(&self) -> &'static str {
        match self.covered.is_empty() {
            true => "the code",
            false => "all of the code",
        }
    }

    /// Returns why the code was not compared, or not all of it, as a sentence.
    fn not_compared(&self) -> Option<String> {
        let why = self.uncompared.as_ref()?;
        let what = match self.covered.is_empty() {
            true => "The code was not compared",
            false => "Not all of the code was compared",
        };
        Some(format!("{what}: {why}."))
    }

    /// Returns the verdict about everything, and what it is about.
    fn verdict(&self, chart: &Chart) -> String {
        let bad = self.plans.iter().filter(|plan| !plan.flaws.is_empty());
        let bad = [
            (bad.count(), "record", "refused"),
            (self.uncovered().count(), "changed file", "not reviewed"),
        ];
        let bad = bad.into_iter().filter(|(count, ..)| *count > 0);
        let bad = bad.map(|(count, of, what)| format!("{} {what}", counted(count, of)));
        let bad: Vec<String> = bad.collect();
        if !bad.is_empty() {
            return format!("{}: {}", paint_words(BAD, "not verified"), bad.join(", "));
        }
        let plans = counted(self.plans.len(), &chart.scope.noun);
        let code = match &self.uncompared {
            Some(_) => format!(", but not {}", self.left_out()),
            None => match self.covered.len() {
                1 => ", and 1 changed file that counts, as a clean review has seen it".to_owned(),
                many => format!(
                    ", and {many} changed files that count, all as a clean review has seen them"
                ),
            },
        };
        format!("{}: {plans}{code}", paint_words(GOOD, "verified"))
    }

    fn json(&self) -> Json {
        let plans = self.plans.iter().map(|plan| {
            json!({
                "name": plan.name, "verified": plan.flaws.is_empty(), "receipts": plan.lines,
                "reviews": plan.reviews, "decisions": plan.decisions, "flaws": plan.flaws,
                "remarks": plan.remarks, "signatures": plan.signatures,
            })
        });
        json!({
            "verified": !self.plans.is_empty() && self.is_well(),
            "receipts": plans.collect::<Vec<_>>(),
            "files": self.covered, "not_compared": self.uncompared, "unproved": UNPROVED,
        })
    }

    /// Returns workflow commands of GitHub: what is wrong, and what is on record.
    fn annotations(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for plan in &self.plans {
            let flaws = plan.flaws.iter();
            let flaws = flaws.map(|flaw| ("error", format!("{}: {flaw}", plan.name)));
            let remarks = plan.remarks.iter();
            let remarks = remarks.map(|remark| ("notice", format!("{}: {remark}", plan.name)));
            lines.extend(flaws.chain(remarks).map(|(level, text)| {
                format!("::{level} title=taskie::{}", report::escaped(&text))
            }));
        }
        lines.extend(self.uncovered().map(|file| {
            let name = report::property(file);
            format!("::error file={name},title=taskie::no clean review has seen this file as it is")
        }));
        if let Some(why) = self.not_compared() {
            lines.push(format!("::warning title=taskie::{}", report::escaped(&why)));
        }
        let text = match (self.plans.is_empty(), self.is_well()) {
            (true, _) => "nothing to verify",
            (false, true) if self.uncompared.is_some() => {
                &format!("verified, but not {}", self.left_out())
            }
            (false, true) => "verified",
            (false, false) => "not verified",
        };
        lines.push(format!("::notice title=taskie::{text}. {UNPROVED}"));
        lines
    }
}
