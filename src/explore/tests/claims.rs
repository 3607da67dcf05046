//! What a report claims that a walk must never see.

use std::collections::HashSet;

use crate::chart::Chart;
use crate::chart::model::Property;
use crate::diagnostic::code::Code;
use crate::diagnostic::toml::Segment;
use crate::explore::report::{PropertyResult, Report, Verdict};

/// What must never be seen.
#[derive(Default)]
pub(super) struct Claims {
    /// What never happens: `on.Stop[1] fires`, `phases.two is reached`.
    pub(super) never_seen: HashSet<String>,
    pub(super) decides: bool,
    pub(super) fits: bool,
    pub(super) cycles: bool,
    pub(super) properties: Vec<Property>,
}

impl Claims {
    pub(super) fn of(chart: &Chart, report: &Report) -> Self {
        let proved = |code: Code| {
            let mut results = report.results.iter();
            let mut results = results.by_ref().filter(|result| result.code == code);
            let is_proved = |result: &PropertyResult| matches!(result.verdict, Verdict::Proved(_));
            results.next().is_some_and(is_proved) && results.all(is_proved)
        };
        let mut claims = Self {
            decides: proved(Code::NoDecision),
            fits: proved(Code::AssignmentMisfit),
            cycles: proved(Code::CycleUnbounded),
            ..Self::default()
        };
        for result in &report.results {
            match &result.verdict {
                Verdict::Refuted { path, .. } => {
                    let (what, steps) = match result.code {
                        Code::RuleNeverFires => ("fires", 3),
                        Code::CommandNeverApplies | Code::PhaseNeverEntered => ("fires", 2),
                        Code::PhaseUnreachable => ("is reached", 2),
                        Code::TargetNeverTaken => ("is taken", 4),
                        Code::CheckNeverFinds => ("finds something", 3),
                        _ => continue,
                    };
                    let place = path.iter().take(steps).map(|step| match step {
                        Segment::Key(key) => format!(".{key}"),
                        Segment::Index(index) => format!("[{index}]"),
                    });
                    let place = place.collect::<String>();
                    let place = place.trim_start_matches('.');
                    claims.never_seen.insert(format!("{place} {what}"));
                }
                Verdict::Proved(_) if result.code == Code::PropertyRefuted => {
                    let mut properties = chart.properties.iter();
                    let property = properties.find(|property| property.about == result.name);
                    claims.properties.extend(property.cloned());
                }
                _ => {}
            }
        }
        claims
    }
}
