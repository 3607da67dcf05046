//! `taskie demo`: shows what the program does, in a temporary project: the review of a change, and then a plan in fast motion.
//!
//! Everything that decides is real and runs the way the host and the agent run it: `taskie hook stop` with the host's
//! JSON on stdin, `taskie enter` and the chart's commands as the agent runs them. Only two roles are played: the
//! agent, which follows a [`crate::scenario`], and the reviewer, a [`reviewer`] that replaces the program that the
//! chart invokes. [`project`] is the temporary project and the processes in it. Nothing here knows a workflow: the
//! chart and its scenario do.

mod project;
pub(crate) mod reviewer;

use crate::chart::Chart;
use crate::chart::choice::Embedded;
use crate::host::vendors::PASS;
use crate::page::{BAD, FAINT, GOOD, PLAIN, Page, STRONG, paint, paint_words, width};
use crate::scenario::failure::Failure;
use crate::scenario::player::Player;
use crate::scenario::script::{ScenarioStep, Script, ScriptedReview};
use crate::scenario::stage::ScriptedAnswer;
use project::Project;

/// The width of the names of phases, with the space around them.
const LABEL: usize = 20;

/// Plays the scenario in `text` for an embedded chart. With `keep`, its project stays.
pub(crate) fn play(
    embedded: &'static Embedded,
    text: &str,
    chart: &Chart,
    keep: bool,
) -> Result<(), Failure> {
    let script = Script::parse(text)?;
    let mut project = Project::new(embedded, chart, &script, keep)?;
    let mut page = Page::new(width(), LABEL);
    for change in &script.changes {
        page.text(PLAIN, &change.about);
        page.print();
        let printed = project.change(change)?;
        if !printed.is_empty() {
            page.text(STRONG, "  $ taskie review");
            printed.lines().for_each(|line| page.styled(&format!("  {line}")));
        }
        page.blank();
    }
    page.text(PLAIN, &script.intro);
    page.print();
    let mut player = Player::new(chart, project);
    let played = player.play(&script, |player, step, answer| {
        show(&mut page, &player.phase(), step, answer);
        page.print();
    });
    if played.is_ok() {
        page.blank();
        page.text(PLAIN, &script.outro);
    }
    if keep {
        let root = player.stage.root().display().to_string();
        page.text(PLAIN, &format!("The project is in {root}"));
    }
    page.print();
    played
}

/// Adds what the user typed, and what came of a step.
fn show(page: &mut Page, phase: &str, step: &ScenarioStep, answer: Option<&ScriptedAnswer>) {
    if let Some(user) = &step.user {
        page.text(PLAIN, &format!("> {}", paint_words(STRONG, user)));
    }
    let Some(answer) = answer else { return };
    let by = answer.call.as_ref().and_then(|call| call.model.as_deref());
    let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
    let text = match (&step.review, answer.verdict()) {
        (Some(ScriptedReview::Verdict { text, .. }), Some(verdict)) => {
            let style = if verdict == PASS { GOOD } else { BAD };
            format!("{}{by}: {text}", paint(style, verdict))
        }
        (Some(ScriptedReview::Crash(why)), _) => format!("{}: {why}", paint(BAD, "failed")),
        _ => answer.message.clone().unwrap_or_default(),
    };
    page.styled_row(FAINT, &format!("  {phase}"), &text);
}
