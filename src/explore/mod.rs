//! Model checking: every state that a chart can reach, by the very decisions that the hook makes.
//!
//! [`domain`] says which values of the inputs are tried, [`fork`] is a world made up of them, [`tree`]
//! finds what comes of each move, [`search`] the states, [`graph`] the ways between them; [`judge`] proves
//! or refutes, and a [`trace`] tells how it comes to what must not be.

pub(crate) mod domain;
mod fast;
pub(crate) mod fork;
mod graph;
mod judge;
mod moves;
pub(crate) mod search;
mod state;
pub(crate) mod trace;
pub(crate) mod tree;

use std::sync::Arc;

use crate::chart::Chart;
use crate::chart::error::Step;
use search::Search;
use trace::Trace;

/// How far an exploration goes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caps {
    /// The most states that are looked at.
    pub(crate) states: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { states: 200_000 }
    }
}

/// What an exploration has found.
#[derive(Debug)]
pub(crate) struct Report {
    /// What was tried: one line for each input and each kind of move.
    pub(crate) domain: Vec<String>,
    pub(crate) states: usize,
    pub(crate) transitions: usize,
    /// Every state was looked at: what is proved is proved for the whole domain.
    pub(crate) complete: bool,
    pub(crate) results: Vec<PropertyResult>,
}

/// A property, and whether it holds.
#[derive(Debug, Clone)]
pub(crate) struct PropertyResult {
    /// What it says, in words.
    pub(crate) name: String,
    /// Stable.
    pub(crate) code: &'static str,
    pub(crate) verdict: Verdict,
}

/// Whether a property holds.
#[derive(Debug, Clone)]
pub(crate) enum Verdict {
    /// It holds in all of the domain.
    Proved { detail: String },
    /// It was not refuted as far as the exploration went.
    Bounded { why: String },
    /// It does not hold.
    Refuted {
        trace: Trace,
        /// The element of the chart to point at.
        path: Vec<Step>,
    },
}

/// Explores `chart`, whose expressions have been checked.
pub(crate) fn explore(chart: &Arc<Chart>, caps: &Caps) -> Report {
    let mut search = Search::of(chart, caps.states);
    let results = judge::judge(&mut search);
    Report {
        domain: search.moves.domain_in_words(),
        states: search.looked_at(),
        transitions: search.transitions(),
        complete: search.complete,
        results,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn measure() {
        for embedded in crate::chart::embedded::CHARTS {
            let mut chart = embedded.load().unwrap_or_else(|error| panic!("{error}"));
            if let Ok(path) = std::env::var("CH") { chart = std::sync::Arc::new(crate::chart::load::from_path(std::path::Path::new(&path)).unwrap_or_else(|e| panic!("{e}"))); }
            let now = std::time::Instant::now();
            let search = search::Search::of(&chart, std::env::var("CAP").ok().and_then(|c| c.parse().ok()).unwrap_or(300_000));
            let mut search = search;
            let then = std::time::Instant::now();
            for r in judge::judge(&mut search) { match r.verdict { Verdict::Proved{detail} => eprintln!("ok  {} [{}]: {detail}", r.name, r.code), Verdict::Bounded{why} => eprintln!("??  {} [{}]: {why}", r.name, r.code), Verdict::Refuted{trace, path} => eprintln!("BAD {} [{}] {path:?}\n  {trace}", r.name, r.code) } }
            eprintln!("judged in {:?}", then.elapsed());
            for line in search.moves.domain_in_words() { eprintln!("{line}"); }
            eprintln!("{} states {} arrows {} edges {} eval {} complete {} in {:?}", embedded.id, search.looked_at(), search.transitions(), search.edges.len(), search.moves.tree.evaluations, search.complete, now.elapsed());
            for (fault, at) in &search.faults { eprintln!("{}: {:?}", search.moves.faults[*fault as usize], at); }
            if let Ok(want) = std::env::var("WANT") {
                let (f, v) = want.split_once('=').unwrap();
                let f = chart.context.get_index_of(f).unwrap();
                if let Some(mut s) = (0..search.states.len()).find(|s| search.value(*s, f).to_string() == v) {
                    loop {
                        let show: Vec<String> = chart.context.keys().enumerate().map(|(i, k)| format!("{k}={}", search.value(s, i))).collect();
                        eprintln!("   {s}: {}", show.join(" "));
                        let Some(p) = search.parents[s] else { break };
                        let (e, st) = &search.edges[p.edge];
                        eprintln!("{:?} fired {:?} review {:?}", search.moves.all[e.mover].trigger, st.fired.iter().map(|f| search.moves.tree.places[*f as usize].clone()).collect::<Vec<_>>(), e.review.map(|r| search.moves.tree.runs[r as usize].outcome.clone()));
                        s = p.from;
                    }
                }
            }
            if std::env::var("STATS").is_err() { continue; }
            let mut fields: Vec<_> = (0..chart.context.len()).map(|f| { let mut v: Vec<String> = (0..search.states.len()).map(|s| search.value(s, f).to_string()).collect(); v.sort(); v.dedup(); format!("{}: {}", chart.context.get_index(f).unwrap().0, v.join(" ")) }).collect();
            fields.sort();
            eprintln!("{}", fields.join("\n"));
        }
    }
}
