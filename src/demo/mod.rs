//! `taskie demo`: plays an instance of a chart from its first phase to its last, in a temporary project.
//!
//! Everything that decides is real and runs the way the host and the agent run it: `taskie hook stop` with the host's
//! JSON on stdin, `taskie enter` and the chart's commands as the agent runs them. Only two roles are played: the
//! agent, which follows a [`crate::scenario`], and the reviewer, a [`reviewer`] that stands in for the program that the
//! chart invokes. [`project`] is the temporary project and the processes in it. Nothing here knows a workflow: the
//! chart and its scenario do.

mod project;
pub(crate) mod reviewer;

use crate::chart::Chart;
use crate::chart::choice::Embedded;
use crate::page::{PLAIN, STRONG};
use crate::scenario::failure::Failure;
use crate::scenario::player::Player;
use crate::scenario::script::Script;
use project::Project;

/// Plays the scenario in `text` for an embedded chart. With `keep`, its project stays.
pub(crate) fn play(
    embedded: &'static Embedded,
    text: &str,
    chart: &Chart,
    keep: bool,
) -> Result<(), Failure> {
    let script = Script::parse_demo(text)?;
    let mut player = Player::new(chart, Project::new(embedded, chart, &script, keep)?);
    player.page.text(STRONG, "taskie demo");
    player.page.text(PLAIN, &script.intro);
    player.page.print();
    let played = player.play(&script, |player| player.page.print());
    if played.is_ok() {
        let fate = if keep { "kept" } else { "removed; `--keep` keeps it" };
        let count = player.stage.names().len();
        let files = format!("{count} in {} (the project is {fate})", script.dir);
        player.sum_up(Some(&files));
        player.page.blank();
        player.page.text(PLAIN, &script.outro);
    }
    if keep {
        let root = player.stage.root().display().to_string();
        player.page.text(PLAIN, &format!("The project is in {root}"));
    }
    player.page.print();
    played
}
