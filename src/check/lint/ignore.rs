//! `# taskie: ignore[code] reason`: at the end of a line, it ignores the findings of that line; on a line of its own,
//! those of the next line. A comment that ignores nothing, names no known code or gives no reason is a finding
//! itself: `unused-ignore`.

use std::ops::{Range, RangeInclusive};

use crate::diagnostic::code::{Code, Stage};
use crate::diagnostic::flaw::Flaw;
use crate::diagnostic::suggest::did_you_mean;
use crate::diagnostic::toml::Document;

const MARK: &str = "# taskie: ignore[";

struct Ignore {
    /// The lines whose findings it ignores, from 1: one, or all of a string that starts there.
    lines: RangeInclusive<usize>,
    codes: Vec<String>,
    has_reason: bool,
    span: Range<usize>,
}

impl Ignore {
    fn covers(&self, text: &str, flaw: &Flaw) -> bool {
        flaw.file.is_none()
            && self.lines.contains(&flaw.position(text).0)
            && self.codes.iter().any(|code| code == flaw.code.as_str())
    }
}

/// Returns the flaws that no comment of the chart ignores, and those of the comments themselves.
///
/// Before a stage is complete, it is unknown which findings an ignore of one of its codes would hide.
pub(super) fn apply(
    document: &Document<'_>,
    flaws: Vec<Flaw>,
    is_complete: impl Fn(Stage) -> bool,
) -> Vec<Flaw> {
    let text = document.text;
    let ignores = find(document);
    let mut used = vec![Vec::new(); ignores.len()];
    let mut left: Vec<Flaw> = Vec::new();
    for flaw in flaws {
        let by = ignores.iter().enumerate().find(|(_, ignore)| ignore.covers(text, &flaw));
        match by {
            Some((index, _)) => used[index].push(flaw.code.as_str()),
            None => left.push(flaw),
        }
    }
    for (ignore, used) in ignores.iter().zip(&used) {
        let mut report = |message: String, help: &str| {
            let flaw = Flaw::new(Code::UnusedIgnore, message).help(help.to_owned());
            left.push(flaw.at(Some(ignore.span.clone())));
        };
        for code in &ignore.codes {
            let (message, close) = match Code::named(code) {
                None => {
                    let known = Code::ALL.iter().map(|code| code.as_str());
                    (format!("unknown code `{code}`"), did_you_mean(code, known))
                }
                Some(known) if !used.contains(&code.as_str()) && is_complete(known.stage()) => {
                    (format!("there is no finding `{code}` to ignore"), None)
                }
                Some(_) => continue,
            };
            report(message, close.as_deref().unwrap_or("remove the comment"));
        }
        if !ignore.has_reason {
            let help = "say why after the bracket: `# taskie: ignore[code] because …`";
            report("the ignore comment gives no reason".to_owned(), help);
        }
    }
    left
}

/// Returns whether the chart's comments ignore all flaws that matter to what the chart does.
pub(super) fn ignores_all(document: &Document<'_>, flaws: &[Flaw]) -> bool {
    let ignores = find(document);
    let is_ignored = |flaw| ignores.iter().any(|ignore| ignore.covers(document.text, flaw));
    flaws.iter().all(|flaw| flaw.code.stage() == Stage::Advice || is_ignored(flaw))
}

fn find(document: &Document<'_>) -> Vec<Ignore> {
    let text = document.text;
    // What looks like a comment inside a string isn't one.
    let strings = document.strings();
    let mut ignores = Vec::new();
    let mut start = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let mark =
            line.find(MARK).filter(|at| !strings.iter().any(|span| span.contains(&(start + at))));
        if let Some(at) = mark
            && let Some((codes, reason)) = line[at + MARK.len()..].split_once(']')
        {
            let stands_alone = line[..at].trim().is_empty();
            let line_of = |at: usize| text[..at].matches('\n').count() + 1;
            let own = index + 1 + usize::from(stands_alone);
            let lines = strings.iter().fold(own..=own, |lines, span| {
                let (first, last) = (line_of(span.start), line_of(span.end));
                match (first..=last).contains(&own) {
                    true => first.min(*lines.start())..=last.max(*lines.end()),
                    false => lines,
                }
            });
            ignores.push(Ignore {
                lines,
                codes: codes.split(',').map(|code| code.trim().to_owned()).collect(),
                has_reason: !reason.trim().is_empty(),
                span: start + at..start + line.trim_end().len(),
            });
        }
        start += line.len();
    }
    ignores
}
