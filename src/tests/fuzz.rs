//! Feeds random input to everything that reads files and events: nothing may panic, and each reader keeps its
//! promises.
//!
//! `cargo test` runs a few rounds. `TASKIE_FORCE=1000000 cargo test --profile dist --lib fuzz` runs a million cases
//! of each target. The cases are the same in every run; a failing case is printed.
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anstream::adapter::strip_str;
use serde_json::{Map, Value as Json, json};

use crate::chart::choice::CHARTS;
use crate::chart::field::LARGEST_INTEGER;
use crate::chart::model::FieldType;
use crate::chart::{Chart, load, schema};
use crate::engine::context::initial;
use crate::engine::decide::decide;
use crate::engine::event::Event;
use crate::engine::possible_world::{Disk, PossibleWorld};
use crate::engine::world::World;
use crate::expr::templates::Templates;
use crate::expr::{Expressions, prompt};
use crate::files::pattern::{Capture, Pattern};
use crate::files::table;
use crate::hash::IndexMap;
use crate::host::events::EVENTS;
use crate::host::hosts::HOSTS;
use crate::host::reply::Reply;
use crate::host::vendors::VERDICTS;
use crate::project::state_file::{self, Reading};
use crate::reviewer::output::{self, Printed};
use crate::text::{is_harmful, plain, shown, shown_json, shown_lines, styled_lines};

/// Pieces of text that mean something to one of the readers.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ":",
    ",",
    "null",
    "true",
    "-1",
    "1e999",
    "9223372036854775808",
    "0.5",
    "|",
    "|---|",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\u{1b}[31m",
    "\u{1b}]0;",
    "\u{9b}",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "\u{202e}",
    "\u{feff}",
    "ü",
    "😀",
    "{{",
    "}}",
    "{%",
    "%}",
    "{{ none }}",
    "{n:int}",
    "{id:slug}",
    "{a|b}",
    "{x:a|b}",
    "**/",
    "*",
    "..",
    "/",
    "not ",
    " and ",
    " in ",
    "(",
    ")",
    "| list",
    "| map(attribute='id')",
    "it.",
    "cycle.",
    "PASS",
    "FAIL",
    "structured_output",
    "result",
    "verdict",
    "is_error",
    "phase",
    "next_phase",
    "code-review",
    "**done**",
    "`",
    "[x](y)",
];

/// Pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    /// Returns one of the seeds with a few changes.
    fn case(&mut self, seeds: &[&str]) -> Vec<u8> {
        let mut text = seeds[self.below(seeds.len())].as_bytes().to_vec();
        for _ in 0..=self.below(5) {
            let at = self.below(text.len() + 1);
            let end = at + self.below((text.len() - at).min(40) + 1);
            match self.below(6) {
                0 if at < text.len() => text[at] ^= 1 << self.below(8),
                1 => drop(text.drain(at..end)),
                2 => {
                    let part = text[at..end].to_vec();
                    text.splice(at..at, part);
                }
                3 => {
                    let other = seeds[self.below(seeds.len())].as_bytes();
                    let from = self.below(other.len() + 1);
                    text.splice(at..end, other[from..].iter().copied().take(80));
                }
                _ => {
                    let word = WORDS[self.below(WORDS.len())];
                    text.splice(at..at, word.bytes());
                }
            }
        }
        text
    }
}

/// Runs `check` on many cases.
fn fuzz(few: usize, seeds: &[&str], mut check: impl FnMut(&mut Dice, &[u8])) {
    let given = std::env::var("TASKIE_FORCE").ok();
    let count = given.and_then(|given| given.parse().ok()).unwrap_or(few);
    let mut dice = Dice(0x853c_49e6_748f_ea9b);
    for number in 0..count {
        let case = dice.case(seeds);
        let done = catch_unwind(AssertUnwindSafe(|| check(&mut dice, &case)));
        assert!(done.is_ok(), "case {number}: {:?}", String::from_utf8_lossy(&case));
    }
}

fn charts() -> Vec<Arc<Chart>> {
    CHARTS.iter().map(|chart| chart.load().unwrap()).collect()
}

const STATES: &[&str] = &[
    r#"{"max_reviews": 8, "current_task": "1", "phase": "complete-task", "phase_iteration": 0, "next_phase": "code-review",
 "review_model": "opus", "consecutive_clean": 1, "tdd": false, "mine": [1, {"a": 123456789012345678901234567890}]}"#,
    r#"{"phase": "new-plan"}"#,
    "\u{feff}{\"state\": \"on\", \"iteration\": 3}",
    "[]",
];

/// The fast reader and the schema accept the same states. An integer where a name belongs is read as its digits.
#[test]
fn fuzz_states_against_their_schema() {
    let charts = charts();
    let numbers = [json!(0), json!(2.0), json!(1.5), json!(-1), json!(1e300), json!(u64::MAX)];
    let limits = [i64::MIN, -1, 1, LARGEST_INTEGER, LARGEST_INTEGER + 1].map(Json::from);
    let others = [json!(null), json!(true), json!([]), json!({}), json!(["a", "a"]), json!("")];
    let values: Vec<Json> = [&numbers[..], &limits, &others].concat();
    let (mut sound, mut broken) = (0, 0);
    fuzz(5_000, STATES, |dice, case| {
        let chart = &charts[dice.below(charts.len())];
        // Half of them are cut and torn texts, the others have one value or another for each field.
        let text = match serde_json::from_slice::<Json>(case) {
            Ok(_) if dice.below(2) == 0 => case.to_vec(),
            _ => {
                let fields = chart.context.keys().map(String::as_str);
                let names: Vec<&str> = fields.chain(["$schema", "mine"]).collect();
                let mut state = initial(chart);
                for _ in 0..dice.below(4) {
                    let value = match dice.below(5) {
                        0 => Json::from(
                            String::from_utf8_lossy(case).chars().take(9).collect::<String>(),
                        ),
                        1 => {
                            Json::from(chart.phases.keys()[dice.below(chart.phases.len())].as_str())
                        }
                        2 => Json::from(f64::from_bits(dice.next())),
                        3 => Json::from(dice.next().cast_signed() >> dice.below(64)),
                        _ => values[dice.below(values.len())].clone(),
                    };
                    let name = names[dice.below(names.len())].to_owned();
                    match dice.below(8) {
                        0 => drop(state.shift_remove(&name)),
                        _ => drop(state.insert(name, value)),
                    }
                }
                serde_json::to_vec(&state).unwrap()
            }
        };
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        let Ok(mut state) = serde_json::from_slice::<Json>(text) else { return };
        // To a schema, a key that is there twice is one.
        if crate::files::json::repeated_key(text).is_some() {
            return;
        }
        for (name, field) in &chart.context {
            let is_name = field.kind == FieldType::String && field.is_id();
            if let Some(value) = state.get_mut(name)
                && let (true, Some(number)) = (is_name, value.as_u64())
            {
                *value = Json::from(number.to_string());
            }
        }
        let is_read = matches!(state_file::parse(chart, text), Reading::Sound { .. });
        let breach = schema::state::breach(chart, &state);
        assert_eq!(is_read, breach.is_none(), "{breach:?}: {}", String::from_utf8_lossy(text));
        match is_read {
            true => sound += 1,
            false => broken += 1,
        }
    });
    assert!(sound > 100 && broken > 100, "{sound} {broken}");
}

/// A usable state is still usable after a write, and only the assigned fields have changed.
#[test]
fn fuzz_states() {
    let charts = charts();
    let patch = IndexMap::from_iter([("consecutive_clean".to_owned(), json!(7))]);
    fuzz(3_000, STATES, |dice, case| {
        let chart = &charts[dice.below(charts.len())];
        let Reading::Sound { text, context, .. } = state_file::parse(chart, case) else {
            return;
        };
        let written = state_file::with(
            chart,
            Some(&text),
            &IndexMap::default(),
            &IndexMap::default(),
            &patch,
        )
        .unwrap();
        match state_file::parse(chart, &written) {
            Reading::Sound { context: after, .. } => {
                for (name, value) in &context {
                    let expected = patch.get(name).unwrap_or(value);
                    assert_eq!(after.get(name), Some(expected), "{name}");
                }
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn fuzz_settings() {
    let charts = charts();
    let seeds = [
        r#"{"gitCommit": true, "maxIterations": 50, "$schema": "x"}"#,
        r#"{"models": ["opus", "haiku"], "clean": 1, "permissions": "restricted", "instructions": null}"#,
        "{}",
    ];
    fuzz(3_000, &seeds, |dice, case| {
        let chart = &charts[dice.below(charts.len())];
        if let Ok((settings, _)) = state_file::parse_config(chart, Some(case)) {
            for (name, value) in &settings {
                let field = &chart.config[name];
                assert!(field.accepts(&chart.phases, value).is_ok(), "{name}");
            }
        }
    });
}

/// Whatever an event contains, there is a decision or a reason why there is none.
#[test]
fn fuzz_events() {
    let chart = charts().remove(0);
    let Reading::Sound { context, .. } = state_file::parse(&chart, STATES[0].as_bytes()) else {
        panic!("the seed is sound");
    };
    let world: Arc<dyn World> = Arc::new(PossibleWorld {
        chart: Arc::clone(&chart),
        context,
        started: true,
        disk: Disk::default(),
    });
    let seeds = [
        r#"{"session_id": "s", "cwd": "/x", "permission_mode": "plan", "hook_event_name": "Stop", "stop_hook_active": false,
 "last_assistant_message": "done", "background_tasks": [{"id": "b", "type": "shell", "status": "running"}]}"#,
        r#"{"stop_hook_active": true, "source": "startup"}"#,
        "{}",
    ];
    fuzz(300, &seeds, |dice, case| {
        let Ok(fields @ Json::Object(_)) = serde_json::from_slice(case) else {
            return;
        };
        let name = ["Stop", "SessionStart", "next"][dice.below(3)];
        let _ = decide(&chart, &world, &Event::hook(name, fields), None);
    });
}

#[test]
fn fuzz_tables() {
    let seeds = [
        "| Id | Status | Priority |\n|---|:-:|---|\n| 1 | **done** | high |\n| 2 | pending | a \\| b |\n",
        "# Task\n\n## Overview\n- **Status**: done\n- **Status**: pending\n",
        "\u{feff}| # | Task |\r\n| - | - |\r\n| 1 | [x](y) |\r\n",
    ];
    let lines =
        [Pattern::line("- **Status**: {status}").unwrap(), Pattern::line("## {title}").unwrap()];
    let headings = [
        ("id", ["Id".to_owned(), "#".to_owned()].to_vec()),
        ("status", ["Status".to_owned()].to_vec()),
    ];
    fuzz(3_000, &seeds, |dice, case| {
        let text = String::from_utf8_lossy(case);
        let columns = headings.iter().map(|(field, heading)| (*field, heading.as_slice()));
        let content = table::read_columns(&text, columns);
        assert!(content.rows.len() <= content.lines);
        table::read_lines(&text, &lines[dice.below(2)]);
    });
}

/// A pattern matches every name that it renders.
#[test]
fn fuzz_patterns() {
    let seeds = [
        "task-{id:slug}.md",
        "{base:plan|design|tasks}-post-review-{n:int}.md",
        "*/**/*.md",
        "{a}-{b:int}",
    ];
    fuzz(3_000, &seeds, |dice, case| {
        let source = String::from_utf8_lossy(case);
        let Ok(pattern) = Pattern::parse(&source) else {
            assert!(Pattern::line(&source).is_err(), "{source}");
            return;
        };
        let name = dice.case(&["task-1.md", "plan-post-review-12.md", "a/b/c.md", "x-1"]);
        let name = String::from_utf8_lossy(&name).into_owned();
        // Without emphasis, a line is a name in which `/` is a letter like any other.
        let line = Pattern::line(&source).unwrap();
        if !source.contains('*') && !name.contains('*') && name.trim() == name {
            let as_name = pattern.matches(&name);
            assert!(as_name.is_none() || as_name == line.matches(&name) || name.contains('/'));
        }
        let Some(captures) = pattern.matches(&name) else {
            return;
        };
        if pattern.has_wildcard() {
            return;
        }
        let rendered = pattern.render(|hole| {
            let capture = captures.iter().find(|(name, _)| *name == hole);
            match capture {
                Some((_, Capture::Text(text))) => Ok(text.clone()),
                Some((_, Capture::Integer(number))) => Ok(number.to_string()),
                None => Err(()),
            }
        });
        let mut holes: Vec<&str> = pattern.holes().map(|(name, _)| name).collect();
        holes.sort_unstable();
        // If two holes have the same name, only the first one is captured.
        if holes.windows(2).all(|pair| pair[0] != pair[1]) {
            assert_eq!(rendered.as_deref(), Ok(name.as_str()));
        }
    });
}

/// A verdict is found where parsing all of the JSON would find it.
#[test]
fn fuzz_verdicts() {
    let chart = charts().remove(0);
    let invoke = chart.reviewers.values().next().unwrap();
    let seeds = [
        r#"{"type":"result","is_error":false,"structured_output":{"verdict":"PASS"},"result":"{\"verdict\":\"FAIL\"}"}"#,
        r#"{"is_error":true,"result":"API Error: 401","errors":["no budget"]}"#,
        r#"{"result":{"verdict":"FAIL"}}"#,
    ];
    let in_values = |json: &Json, pointer: &str| {
        let mut value = json.clone();
        for step in pointer.split('/').skip(1) {
            if let Json::String(text) = &value {
                let parsed = serde_json::from_str(text).ok();
                value = parsed.or_else(|| serde_json::from_str(output::last_object(text)?).ok())?;
            }
            value = match &value {
                Json::Object(fields) => fields.get(step)?.clone(),
                Json::Array(items) => items.get(step.parse::<usize>().ok()?)?.clone(),
                _ => return None,
            };
        }
        value.as_str().map(str::to_owned)
    };
    fuzz(3_000, &seeds, |_, case| {
        let Ok(json) = serde_json::from_slice::<Json>(case) else {
            return;
        };
        let written = json.to_string();
        let printed = |text: &[u8]| Printed::read(invoke, text);
        let found = printed(written.as_bytes());
        if found.failure.is_some() {
            return;
        }
        let expected = invoke.answer().verdict.iter().find_map(|pointer| {
            in_values(&json, pointer).filter(|verdict| VERDICTS.contains(&verdict.as_str()))
        });
        assert_eq!(found.verdict, expected);
        // A key that is given twice has no value.
        let given = printed(case).verdict;
        assert!(given.is_none_or(|it| Some(it) == expected));
    });
}

/// Shown text sends nothing to the terminal and adds no line. What has lines keeps them, and nothing else; where styles
/// are allowed, nothing but styles is left of what a terminal would act on. A host's answer is as harmless, and what it
/// says is the same.
#[test]
fn fuzz_shown_texts() {
    let seeds = ["\u{1b}[1;31merror\u{1b}[0m: no net", "10%\r50%\r100%", "a\u{85}b\u{2028}c"];
    let acts = |text: &str| text.contains(|char| is_harmful(char) && !matches!(char, '\n' | '\t'));
    fuzz(5_000, &seeds, |dice, case| {
        let text = String::from_utf8_lossy(case);
        assert!(!plain(&text).contains(is_harmful));
        assert!(!shown(&text).contains(is_harmful));
        assert!(!acts(&shown_lines(&text)));
        assert!(!acts(&strip_str(&styled_lines(&text)).to_string()));
        let json = json!({ (text.as_ref()): [text.as_ref()] });
        let printed = json.to_string();
        let printed = shown_json(&printed);
        assert!(!acts(&printed));
        assert_eq!(serde_json::from_str::<Json>(&printed).unwrap(), json);

        let host = &HOSTS[dice.below(HOSTS.len())];
        let (_, event) = EVENTS[dice.below(EVENTS.len())];
        let said = || vec![text.clone().into_owned()];
        let mut answer = Reply::silent(event, false).with_messages(said()).with_warnings(said());
        answer.block = (dice.below(2) == 0).then(|| said().remove(0));
        answer.says = said();
        let answer = answer.render(host);
        assert!(!acts(&answer), "{answer}");
        if let Ok(json @ Json::Object(_)) = serde_json::from_str(&answer) {
            let mut texts = vec![&json];
            while let Some(value) = texts.pop() {
                assert!(!value.as_str().is_some_and(acts), "{answer}");
                texts.extend(value.as_object().into_iter().flat_map(Map::values));
            }
        }
    });
}

#[test]
fn fuzz_expressions() {
    let expressions = Expressions::new(Templates::Embedded(&[]));
    let names = crate::engine::context::to_value(
        &json!({ "phase": "x", "it": { "id": 1 }, "list": [{ "id": "1" }] }),
    );
    let seeds = [
        "phase == 'x' and not list",
        "list | map(attribute='id') | list",
        "list | selectattr('id', 'eq', it.id) | list",
        "'a' ~ phase if it.id > 0 else none",
    ];
    fuzz(2_000, &seeds, |_, case| {
        let text = String::from_utf8_lossy(case);
        let _ = expressions.holds(&text, &names);
        let _ = crate::expr::syntax::names_in(&text);
        let _ = prompt::fill(&text, |_| Some(Ok::<_, ()>("x".to_owned())));
    });
}

/// A chart is loaded, or refused with its flaws.
#[test]
fn fuzz_charts() {
    let texts: Vec<&str> = CHARTS.iter().map(|chart| chart.text).collect();
    let given = std::env::var("TASKIE_FORCE").ok();
    // A chart takes a hundred times as long as any other case.
    let count = given.and_then(|given| given.parse::<usize>().ok()).unwrap_or(2_000) / 100;
    let mut dice = Dice(0x1234_5678_9abc_def1);
    for number in 0..count {
        let case = dice.case(&texts);
        let text = String::from_utf8_lossy(&case).into_owned();
        let load = || load::from_text("x", &text, Templates::Embedded(&[])).is_ok();
        assert!(catch_unwind(load).is_ok(), "case {number}: {text}");
    }
}
