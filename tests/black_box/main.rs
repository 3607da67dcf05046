//! Black-box tests: the built binary in a temporary project, with a scripted `claude` on PATH.
//!
//! One module per topic; `support` is the bench they all stand on. Expected texts are written out, so that
//! what a user sees is what a test compares.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that panics has failed, which is what it should do")]

mod bad_input;
mod bench;
mod fixtures;
mod project_root;
mod renamed_chart;
mod review_loop;
mod reviewer;
mod support;
