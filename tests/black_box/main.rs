//! Black-box tests: the built binary in a temporary project, with a scripted `claude` on PATH.
//!
//! There is one module per topic; all of them use `support`. Expected texts are written out, so that a test compares
//! exactly what a user sees.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that panics has failed, which is what it should do"
)]
#![allow(unreachable_pub, reason = "a test binary has no outside")]

mod actions;
mod auto_review;
mod bad_input;
mod bench;
mod block_messages;
mod charts;
mod check_chart;
mod cli_invocation;
mod demo;
mod diagram;
mod doctor;
mod dr_done;
mod edge_cases;
mod escapes;
mod expected;
mod expressions;
mod fixtures;
mod force;
mod gates;
mod hostile;
mod hosts;
mod launcher;
mod layers;
mod next;
mod overlays;
mod places;
mod played;
mod plugin;
mod postponed;
mod ralph;
mod readme;
mod reference;
mod renamed_chart;
mod reviewer;
mod scenarios;
mod schema;
mod security;
mod state_transitions;
mod status;
mod support;
mod transcripts;
mod tutorial;
mod typed;

mod validation;
