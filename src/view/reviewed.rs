//! The result of a review of a change, for people and in the formats of other programs.

use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::diagnostic::code_host;
use crate::engine::decision::{Answer, Ended, Outcome};
use crate::host::vendors::{PASS, SEVERITIES};
use crate::page::{self, Page, counted, paint, paint_words, span};
use crate::project::change::{Change, Changed};
use crate::reviewer::finding::Finding;
use crate::run::performed::Performed;
use crate::run::place::Place;
use crate::store::journal::Line;
use crate::text::shown;

/// Returns the file of a finding; `None` if it is not in the project, where other programs look for it.
fn file_of(finding: &Finding) -> Option<&str> {
    let is_inside = |file: &&str| {
        let mut steps = Path::new(file).components();
        steps.all(|step| matches!(step, Component::Normal(_) | Component::CurDir))
    };
    finding.file.as_deref().filter(is_inside)
}

/// The result of a review.
pub(crate) struct Reviewed<'p> {
    /// What was reviewed; `None` if no review has begun.
    change: Option<&'p Change>,
    ended: Option<&'p Ended>,
    /// The findings with their names, the worst first.
    findings: Vec<(String, Finding)>,
    /// The file of the review, from the root on.
    file: Option<PathBuf>,
    /// What the chart says about it.
    messages: Vec<String>,
    /// The exit code.
    pub(crate) code: u8,
}

impl<'p> Reviewed<'p> {
    /// Returns why no review has begun.
    pub(crate) fn refused(why: String) -> Self {
        let (change, ended, file) = (None, None, None);
        Self { change, ended, findings: Vec::new(), file, messages: vec![why], code: 3 }
    }

    /// Returns the result of the review of `change` at `place`; `is_outdated` if something else is there by now.
    pub(crate) fn of(
        place: &'p Place,
        change: &'p Change,
        performed: &'p Performed,
        is_outdated: bool,
    ) -> Self {
        let decision = &performed.decision;
        let ended = decision.ended.as_ref();
        // A rule has found nothing to do, and nothing that the user has to decide.
        let is_settled = !decision.fired.is_empty() && !place.is_in_cycle();
        // An earlier process was killed before it has printed this.
        let is_repeated = performed.owed.is_some() && decision.fired.is_empty();
        let is_readable = change.files.iter().any(Changed::is_readable);
        let is_known = ended.is_none() && (is_settled || is_repeated) && is_readable;
        let lines = is_known.then(|| place.journal().read());
        let last = lines.into_iter().flatten().rev().find_map(|line| match line {
            Line::Review(review) if review.run.error.is_none() => Some(review.run),
            _ => None,
        });
        let found = match (ended, &last) {
            (Some(ended), _) => Some((ended.outcome.found(), &ended.invocation.file)),
            (None, last) => last.as_ref().map(|run| (run.found.clone(), &run.file)),
        };
        let mut findings: Vec<(String, Finding)> = found
            .iter()
            .flat_map(|(found, file)| found.named(file))
            .map(|(id, finding)| (id, finding.clone()))
            .collect();
        let rank = |finding: &Finding| SEVERITIES.iter().position(|one| *one == finding.severity);
        findings.sort_by_key(|(_, finding)| rank(finding));
        // One that does not count says nothing about the change, and only the chart says that it is clean.
        let is_clean = decision.advances();
        let valid = ended.filter(|ended| !ended.superseded);
        let code = match (&decision.answer, valid.map(|ended| &ended.outcome)) {
            (_, Some(Outcome::Ran { verdict: None, .. })) if findings.is_empty() => 3,
            (Answer::Block(_), _) | (_, Some(Outcome::Gate(_))) => 1,
            (_, Some(Outcome::Ran { .. })) => u8::from(!is_clean || is_outdated),
            (_, None) if is_repeated && place.is_in_cycle() => 3,
            (_, None) if is_known || ended.is_none() && change.files.is_empty() => 0,
            _ => 3,
        };
        let is_read = valid.is_some_and(|ended| matches!(ended.outcome, Outcome::Ran { .. }));
        let verdict = valid.and_then(|ended| ended.outcome.verdict_and_error().0);
        let file = found.as_ref().filter(|_| is_read || is_known).map(|(_, file)| *file);
        let mut messages = decision.messages.clone();
        if is_repeated {
            messages.push("That is the answer of a review that has ended before.".to_owned());
        }
        let is_best = verdict == Some(PASS);
        let unreadable = found.as_ref().map_or(0, |(found, _)| found.unreadable);
        if unreadable > 0 {
            let more = counted(unreadable, "finding");
            messages
                .push(format!("{more} could not be read as one, or are too many: see the review."));
        } else if is_clean && is_outdated {
            messages.push(
                "Not reviewed: what has changed since the review began. `taskie review` reads it."
                    .to_owned(),
            );
        } else if is_read && code == 3 {
            messages.push(
                "It gave no verdict, so nothing that it found counts: see the review.".to_owned(),
            );
        } else if is_read && code == 1 && findings.is_empty() && !is_best {
            messages.push(
                "Its verdict is not PASS, and it names no finding: see the review.".to_owned(),
            );
        }
        Self {
            change: Some(change),
            findings,
            file: file.map(|file| place.instance.dir.join(file)),
            ended,
            messages,
            code,
        }
    }

    /// Returns it for people.
    pub(crate) fn page(&self) -> Page {
        let mut page = Page::new(page::width(), 2);
        for (id, finding) in &self.findings {
            let place = finding.place().unwrap_or_default();
            let style = match finding.severity == SEVERITIES[0] {
                true => page::BAD,
                false => page::ALERT,
            };
            let head = [
                paint_words(style, &shown(&finding.severity)),
                paint_words(page::STRONG, &shown(&place)),
                paint(page::FAINT, shown(id)),
            ];
            let head = head.into_iter().filter(|part| !part.is_empty());
            page.styled(&head.collect::<Vec<_>>().join("  "));
            page.row("", &shown(&finding.title));
        }
        if !self.findings.is_empty() {
            page.blank();
        }
        for message in &self.messages {
            page.text(page::PLAIN, message);
        }
        if let (1, Some((id, _)), Some(_)) = (self.code, self.findings.first(), page::columns()) {
            let text = format!(
                "Fix what is right, and run `taskie review` again. Is a finding wrong? `taskie findings reject {id} --reason WHY`"
            );
            page.text(page::FAINT, &text);
        }
        if let (Some(ended), Some(file), Some(change)) = (self.ended, &self.file, self.change) {
            let effort = &ended.effort;
            let by = effort.by.as_deref().unwrap_or("a reviewer");
            let cost = effort.cost.map(|cost| format!(", {}", page::dollars(cost)));
            let is_passed = ended.outcome.verdict_and_error().0 == Some(PASS);
            let (word, style) = match self.code {
                0 => ("clean", page::GOOD),
                _ if is_passed && self.findings.is_empty() => ("not clean yet", page::BAD),
                _ => ("not clean", page::BAD),
            };
            page.styled(&format!(
                "{}: {} by {} in {}{}. The review: {}",
                paint_words(style, word),
                counted(change.files.len(), "file"),
                shown(by),
                span(Duration::from_secs(effort.seconds)),
                cost.unwrap_or_default(),
                shown(&file.display().to_string())
            ));
        }
        page
    }

    /// Returns it for programs.
    pub(crate) fn json(&self) -> Json {
        let effort = self.ended.map(|ended| &ended.effort);
        let (verdict, error) =
            self.ended.map_or((None, None), |ended| ended.outcome.verdict_and_error());
        let gate = self.ended.and_then(|ended| ended.outcome.failed_gate());
        // Nobody has read it.
        let effort = effort.filter(|_| gate.is_none());
        let all = self.messages.join("\n");
        let error = error.or((self.code == 3).then_some(&*all));
        let findings = self.findings.iter().map(|(id, finding)| {
            let mut json = json!(finding);
            json["id"] = json!(id);
            json
        });
        let change = self.change;
        let files = change.iter().flat_map(|change| &change.files).map(|file| &file.path);
        json!({
            "clean": self.code == 0,
            "verdict": verdict,
            "findings": findings.collect::<Vec<_>>(),
            "error": error,
            "gate": gate.map(|gate| &gate.command),
            "messages": self.messages,
            "review": self.file,
            "by": effort.and_then(|effort| effort.by.as_ref()),
            "seconds": effort.map(|effort| effort.seconds),
            "cost_usd": effort.and_then(|effort| effort.cost).map(page::usd),
            "base": change.map(|change| &change.base),
            "tree": change.map(|change| &change.after),
            "files": files.collect::<Vec<_>>(),
            "unread": change.map(|change| change.unread(&[])).unwrap_or_default(),
        })
    }

    /// Returns workflow commands of GitHub: they show each finding at its line.
    pub(crate) fn annotations(&self) -> Page {
        let mut page = Page::default();
        for (id, finding) in &self.findings {
            let file = file_of(finding);
            let line = finding.line.filter(|_| file.is_some());
            page.say(&format!(
                "::{} {}{}title={}::{}",
                level(finding),
                file.map_or_else(String::new, |it| format!("file={},", code_host::property(it))),
                line.map_or_else(String::new, |line| format!("line={line},")),
                code_host::property(&format!("{} ({id})", finding.severity)),
                code_host::escaped(&finding.title)
            ));
        }
        // Where there are findings, the messages are only about them.
        let is_news = self.code == 0 || self.code == 1 && !self.findings.is_empty();
        let level = if is_news { "notice" } else { "error" };
        for text in &self.messages {
            page.say(&format!("::{level} title=taskie::{}", code_host::escaped(text)));
        }
        page
    }

    /// Returns a SARIF log. A finding about no file of the project is shown at a file that was changed: GitHub refuses a whole
    /// log in which a result has no place.
    pub(crate) fn sarif(&self) -> Json {
        // Without a result, an unread change would look like a clean one.
        let is_done = self.code == 0 || self.file.is_some();
        let first = self.change.and_then(|change| change.files.first());
        let elsewhere = first.map(|file| file.path.as_str()).unwrap_or_default();
        let results = self.findings.iter().map(|(id, finding)| {
            let file = file_of(finding);
            let outside = finding.place().filter(|_| file.is_none());
            let title = match outside {
                Some(place) => format!("{} ({place})", finding.title),
                None => finding.title.clone(),
            };
            let uri = code_host::uri(file.unwrap_or(elsewhere));
            let mut place = json!({ "artifactLocation": { "uri": uri } });
            if let Some(line) = finding.line.filter(|_| file.is_some()) {
                place["region"] = json!({ "startLine": line });
            }
            json!({
                "ruleId": finding.severity,
                "level": level(finding),
                "message": { "text": title },
                "partialFingerprints": { "id": id },
                "locations": [{ "physicalLocation": place }],
            })
        });
        let results: Vec<Json> = results.collect();
        let rules = SEVERITIES.iter().map(|id| json!({ "id": id }));
        let rules: Vec<Json> = rules.collect();
        let mut log = code_host::sarif(&Json::from(rules), &Json::from(results));
        let level = if is_done { "note" } else { "error" };
        let said = self.messages.iter();
        let said = said.map(|text| json!({ "level": level, "message": { "text": text } }));
        log["runs"][0]["invocations"] = json!([{
            "executionSuccessful": is_done,
            "toolExecutionNotifications": said.collect::<Vec<_>>(),
        }]);
        log
    }
}

/// Returns how bad a finding is for other programs: only the mildest is a mere warning.
fn level(finding: &Finding) -> &'static str {
    match SEVERITIES.last() {
        Some(mildest) if *mildest == finding.severity => "warning",
        _ => "error",
    }
}
