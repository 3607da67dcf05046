//! Single edits of the root chart, each of which `check-chart` must report: with the right code, at the right
//! line, and with nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use crate::support::Project;

/// Where a finding is expected.
enum At {
    /// On the line of the edit.
    Edit,
    /// On the first line of the mutant that holds this text.
    Line(&'static str),
    /// In this file beside the chart, on the first line that holds this text.
    File(&'static str, &'static str),
}

use At::{Edit, File, Line};

/// One edit of the chart: `find`, in its `nth` place from 1, becomes `replace`.
struct Mutant {
    find: &'static str,
    nth: usize,
    replace: &'static str,
    /// Every finding, in the order of the report.
    expected: &'static [(&'static str, At)],
}

const fn mutant(
    find: &'static str,
    nth: usize,
    replace: &'static str,
    expected: &'static [(&'static str, At)],
) -> Mutant {
    Mutant { find, nth, replace, expected }
}

const MUTANTS: &[Mutant] = &[
    // Misspelt: keys.
    mutant("initial =", 1, "inital  =", &[("unknown-key", Edit)]),
    mutant("hook_timeout =", 1, "hook_timout  =", &[("unknown-key", Edit)]),
    mutant("newest =", 1, "newst =", &[("unknown-key", Edit)]),
    mutant("nullable = true", 2, "nulable = true", &[("unknown-key", Edit)]),
    mutant("guard  = \"cycle.due and cycle.n <=", 1, "gaurd  = \"cycle.due and cycle.n <=", &[("unknown-key", Edit)]),
    mutant("[cycles.plan-review]", 1, "[cylces.plan-review]", &[("unknown-key", Line("[cylces.plan-review]")), ("unknown-cycle", Line("new-plan          ="))]),
    mutant("verdicts =", 1, "verdict_s =", &[("unknown-key", Edit)]),
    mutant("columns = {", 1, "colums = {", &[("unknown-key", Edit)]),
    // Misspelt: phases and cycles.
    mutant("initial = \"new-plan\"", 1, "initial = \"new-paln\"", &[("unknown-phase", Edit)]),
    mutant("resume  = \"new-plan\"", 1, "resume  = \"new-pln\"", &[("unknown-phase", Edit)]),
    mutant("resume  = \"continue-task\"", 1, "resume  = \"continue-tsk\"", &[("unknown-phase", Edit)]),
    mutant("target = \"create-tasks\"", 1, "target = \"create-task\"", &[("unknown-phase", Edit)]),
    mutant("target = \"all-code-review\"", 1, "target = \"all-code-reviews\"", &[("unknown-phase", Edit)]),
    mutant("post    = \"post-{cycle}\"", 1, "post    = \"pots-{cycle}\"", &[("unknown-phase", Edit)]),
    mutant("arms = \"tasks-review\"", 1, "arms = \"task-review\"", &[("unknown-cycle", Edit)]),
    mutant("phase == 'new-plan'", 1, "phase == 'new-plna'", &[("unlike-types", Edit)]),
    mutant("next_phase == 'complete'", 1, "next_phase == 'complet'", &[("unlike-types", Edit)]),
    mutant("'next-task-tdd', 'complete-task', ", 1, "'next-task-tddd', 'complete-task', ", &[("unlike-types", Edit)]),
    mutant("phase == 'complete' and", 1, "phase == 'completed' and", &[("unlike-types", Edit)]),
    // Misspelt: context fields.
    mutant("state   = \"phase\"", 1, "state   = \"phsae\"", &[("unknown-field", Edit)]),
    mutant("next    = \"next_phase\"", 1, "next    = \"next_phas\"", &[("unknown-field", Edit)]),
    mutant("count   = \"phase_iteration\"", 1, "count   = \"phase_iterations\"", &[("unknown-field", Edit)]),
    mutant("limit   = \"max_reviews\"", 1, "limit   = \"max_review\"", &[("unknown-field", Edit)]),
    mutant("{ current_task = \"{{ none }}\", tdd", 1, "{ curent_task = \"{{ none }}\", tdd", &[("unknown-field", Edit)]),
    mutant("review_model = \"opus\", consecutive_clean = 0", 1, "review_modle = \"opus\", consecutive_clean = 0", &[("unknown-field", Edit)]),
    mutant("assign = { owner =", 1, "assign = { owners =", &[("unknown-field", Edit)]),
    mutant("assign = { max_reviews =", 1, "assign = { max_review =", &[("unknown-field", Edit)]),
    mutant("guard = \"owner is not none", 1, "guard = \"ownr is not none", &[("unknown-name", Edit)]),
    mutant("{{ review_model }}", 1, "{{ review_modl }}", &[("unknown-name", Edit)]),
    mutant("consecutive_clean >= 2", 1, "consecutive_cleen >= 2", &[("unknown-name", Edit)]),
    // Misspelt: lets, sources, file sets, tables and their fields.
    mutant("guard = \"free or phase", 1, "guard = \"fre or phase", &[("unknown-name", Edit)]),
    mutant("block = \"{{ flaws }}\"", 1, "block = \"{{ flaw }}\"", &[("unknown-name", Edit)]),
    mutant("ready   = \"planned\"", 1, "ready   = \"plannd\"", &[("unknown-name", Edit), ("unused-name", Line("planned    ="))][..].split_at(0).1),
    mutant("event.stop_hook_active and", 1, "event.stop_hook_activ and", &[("unknown-name", Edit)]),
    mutant("evnt", 0, "", &[]),
];
