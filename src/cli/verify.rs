//! `taskie verify`: checks receipts, without a model, a network, or anything that this machine keeps.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgMatches;
use serde_json::{Value as Json, json};

use super::error::CliError;
use super::output::{say, say_json, tell_error};
use super::place;
use crate::chart::Chart;
use crate::lint::report;
use crate::page::{self, BAD, GOOD, PLAIN, Page, counted, paint_words};
use crate::project::change::{Blobs, Unknown};
use crate::project::find;
use crate::project::git;
use crate::project::home::project_root;
use crate::project::manifest::{self, Manifest};
use crate::receipt::check::{self, Checked, Seen};
use crate::receipt::statement;
use crate::text::shown;

/// What no record can prove.
pub(super) const UNPROVED: &str = "This does not prove that a model has read anything; and without a signature, a record that \
                        was cut short or made again cannot be told from the true one.";

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
        let signers = matches.get_one::<PathBuf>("signers").cloned();
        let signers = signers.or_else(|| {
            let configured = git::configured(root, "gpg.ssh.allowedSignersFile")?;
            Some(PathBuf::from(configured)).filter(|file| file.is_file())
        });
        result.receipts(chart, root, matches.get_one("instance"), signers.as_deref())?;
        if !result.plans.is_empty() {
            result.code(root, home, range)?;
        }
    }
    let code = match (result.plans.is_empty(), result.is_well()) {
        (true, _) => 3,
        (false, true) => 0,
        (false, false) => 1,
    };
    match matches.get_one::<String>("format").map(String::as_str) {
        _ if matches.get_flag("json") => say_json(result.json()),
        Some("json") => say_json(result.json()),
        Some("github") => result.annotations().iter().for_each(|line| say(line)),
        _ => result.print(chart),
    }
    Ok(code)
}

/// Why the code of a clone with a short history is not compared.
const NO_BASE: &str = "git no longer has the commit at which the work began";

/// What was found out.
#[derive(Debug, Default)]
struct Verified {
    plans: Vec<Checked>,
    seen: Seen,
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
        signers: Option<&Path>,
    ) -> Result<(), CliError> {
        let names = match only {
            Some(name) => vec![name.clone()],
            None => find::names(root, &chart.scope).unwrap_or_default(),
        };
        for name in names {
            let instance = place::named(chart, &name)?;
            if find::leads_outside(root, &instance.dir) {
                continue;
            }
            let dir = root.join(&instance.dir);
            let text = statement::read(&dir);
            if text.trim().is_empty() {
                continue;
            }
            let mut checked = check::lines(root, &text, signers);
            if checked.name != name {
                let own = shown(&checked.name).into_owned();
                checked
                    .flaws
                    .push(format!("the receipts are about `{own}`"));
            }
            checked.name = name;
            let files = check::files(&dir, &checked.statements);
            checked.flaws.extend(files);
            self.seen.add(&checked.name, &checked.statements, |review| {
                check::has_passed(chart, review)
            });
            self.plans.push(checked);
        }
        Ok(())
    }

    /// Compares the code with what the reviews have seen: that of a range of commits, or else of the work tree.
    fn code(&mut self, root: &Path, home: &str, range: Option<&str>) -> Result<(), CliError> {
        let failed = |why: Unknown| CliError::with_help(why.message, why.help);
        let ends = range.map(|range| manifest::ends(root, range)).transpose();
        let (base, at) = match ends.map_err(failed)? {
            Some((base, end)) => (Some(base), Some(end)),
            None => (self.seen.base.clone(), None),
        };
        if base.is_none() {
            self.uncompared = Some("no review of code is in the record".to_owned());
            return Ok(());
        }
        let skips = self.seen.skips();
        match Manifest::read(root, home, base.as_deref(), at.as_deref(), skips) {
            None => self.uncompared = Some("this is no git repository".to_owned()),
            Some(Err(why)) if range.is_none() => self.uncompared = Some(why.message),
            Some(read) => {
                let read = read.map_err(failed)?;
                match base.is_some_and(|base| base != read.base) {
                    true => self.uncompared = Some(NO_BASE.to_owned()),
                    false => self.covered = self.seen.covered(&read),
                }
            }
        }
        Ok(())
    }

    fn print(&self, chart: &Chart) {
        let noun = &chart.scope.noun;
        let mut page = Page::new(page::width(), 2);
        if self.plans.is_empty() {
            page.text(
                PLAIN,
                &format!("Nothing to verify: no {noun} has a {}.", statement::FILE),
            );
            page.print();
            return;
        }
        for plan in &self.plans {
            let (word, style) = match plan.flaws.is_empty() {
                true => ("verified", GOOD),
                false => ("not verified", BAD),
            };
            page.text(
                PLAIN,
                &format!(
                    "{}: {noun} {}, {}, {} and {} made again",
                    paint_words(style, word),
                    shown(&plan.name),
                    counted(plan.lines, "receipt"),
                    counted(plan.reviews, "review"),
                    counted(plan.decisions, "decision"),
                ),
            );
            for (heading, lines) in [
                ("", &plan.flaws),
                ("on record: ", &plan.remarks),
                ("signed: ", &plan.signatures),
            ] {
                for line in lines {
                    page.row("", &shown(&format!("{heading}{line}")));
                }
            }
        }
        match (
            &self.uncompared,
            self.covered.len(),
            self.uncovered().count(),
        ) {
            (Some(why), ..) => page.text(PLAIN, &format!("The code was not compared: {why}.")),
            (None, all, 0) => page.text(
                PLAIN,
                &format!(
                    "{}: {} that count, all as a clean review has seen them",
                    paint_words(GOOD, "reviewed"),
                    counted(all, "changed file")
                ),
            ),
            (None, all, open) => {
                page.text(
                    PLAIN,
                    &format!(
                        "{}: {open} of {} that count",
                        paint_words(BAD, "not reviewed"),
                        counted(all, "changed file")
                    ),
                );
                for file in self.uncovered() {
                    page.row(
                        "",
                        &format!("no clean review has seen {} as it is", shown(file)),
                    );
                }
            }
        }
        page.text(PLAIN, UNPROVED);
        page.print();
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

    /// Returns workflow commands of GitHub: what is wrong, and what the reviews have found.
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
        let text = match (self.plans.is_empty(), self.is_well()) {
            (true, _) => "nothing to verify",
            (false, true) => "verified",
            (false, false) => "not verified",
        };
        lines.push(format!("::notice title=taskie::{text}. {UNPROVED}"));
        lines
    }
}
