//! The schemas in `schemas/` are generated: if one is out of date, a test fails here and says how to generate it
//! again. Each is tried on good and bad samples.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Project, state};

fn file(what: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schemas/{what}.schema.json"))
}

fn schema(what: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(file(what)).unwrap()).unwrap()
}

/// The violations in `instance`, each with its place.
fn breaches(schema: &Value, instance: &Value) -> Vec<String> {
    let validator = jsonschema::draft7::new(schema).unwrap();
    validator
        .iter_errors(instance)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

#[test]
fn the_files_are_fresh() {
    for what in ["state", "config", "statechart"] {
        let fresh = Project::empty().run(&["schema", what]);
        assert_eq!(fresh.err(), (0, ""));
        if std::env::var_os("TASKIE_UPDATE_DOCS").is_some() {
            fs::write(file(what), &fresh.stdout).unwrap();
        }
        let stored = fs::read_to_string(file(what)).unwrap();
        let differs =
            stored.lines().zip(fresh.stdout.lines()).enumerate().find(|(_, (old, new))| old != new);
        assert!(
            stored == fresh.stdout,
            "schemas/{what}.schema.json is stale, first at {differs:?}\ngenerate it again: cargo run -- schema {what} > schemas/{what}.schema.json"
        );
    }
}

#[test]
fn valid_and_invalid_states() {
    let schema = schema("state");
    let good = [
        json!({}),
        json!({ "$schema": "../../../schemas/state.schema.json" }),
        json!({ "custom_field": { "kept": [1, 2] } }),
        json!({ "current_task": null, "phase_iteration": null, "next_phase": null }),
        json!({ "max_reviews": 0, "owner": "a-session", "paused": "code-review" }),
    ];
    for changes in good {
        assert_eq!(breaches(&schema, &state(changes.clone())), Vec::<String>::new(), "{changes}");
    }
    let bad = [
        (json!({ "max_reviews": -1 }), "/max_reviews"),
        (json!({ "max_reviews": 1e99 }), "/max_reviews"),
        (json!({ "max_reviews": null }), "/max_reviews"),
        (json!({ "current_task": "../../x" }), "/current_task"),
        (json!({ "current_task": 3 }), "/current_task"),
        (json!({ "phase": "code-reviw" }), "/phase"),
        (json!({ "phase": null }), "/phase"),
        (json!({ "next_phase": "raedy" }), "/next_phase"),
        (json!({ "phase_iteration": 1.5 }), "/phase_iteration"),
        (json!({ "tdd": "yes" }), "/tdd"),
    ];
    for (changes, place) in bad {
        let found = breaches(&schema, &state(changes.clone()));
        assert!(found.iter().any(|breach| breach.starts_with(place)), "{changes}: {found:?}");
    }
    for required in
        ["max_reviews", "phase", "next_phase", "review_model", "consecutive_clean", "tdd"]
    {
        let mut lacking = state(json!({}));
        lacking.as_object_mut().unwrap().remove(required);
        assert_eq!(breaches(&schema, &lacking).len(), 1, "{required}");
    }
}

#[test]
fn valid_and_invalid_charts() {
    let schema = schema("statechart");
    let chart = &taskie::chart::choice::CHARTS[0];
    let whole = taskie::chart::extend::Extended::of(chart.id, chart.text);
    let text = whole.toml();
    let fits = |text: &str| {
        breaches(
            &schema,
            &serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap(),
        )
    };
    assert_eq!(fits(&text), Vec::<String>::new());
    let bad = [
        ("[scope]", "[scoep]", "scoep"),
        ("looser = ", "loser = ", "loser"),
        ("type = \"phase\"", "type = \"phaze\"", "phaze"),
        ("advance = true", "advance = \"yes\"", "/advance"),
    ];
    for (right, wrong, named) in bad {
        let found = fits(&text.replacen(right, wrong, 1));
        assert!(
            text.contains(right) && found.iter().any(|breach| breach.contains(named)),
            "{wrong}: {found:?}"
        );
    }
}

/// A chart that extends another, and a part of one, need only have what is their own.
#[test]
fn overlays_and_parts() {
    let schema = schema("statechart");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let fits = |text: &str| {
        breaches(
            &schema,
            &serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap(),
        )
    };
    let folders = ["examples", "examples/overlays", "parts"].map(|folder| root.join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let files = files.map(|entry| entry.unwrap().path().join("statechart.toml"));
    let files: Vec<PathBuf> = files.filter(|file| file.exists()).collect();
    assert!(files.len() >= 9);
    for file in files.iter().chain([&root.join("statechart.toml")]) {
        assert_eq!(fits(&fs::read_to_string(file).unwrap()), [""; 0], "{file:?}");
    }
    let overlay = "extends = [\"taskie\"]\nremove = [\"commands.skip\"]\n[cycles.plan-review]\n\
                   subject = [\"design.md\"]\n[[on.Stop]]\nid = \"review\"\nbefore = \"waits\"\n";
    assert_eq!(fits(overlay), [""; 0]);
    let found = fits(&overlay.replace("before = ", "bevore = "));
    assert!(found.iter().any(|breach| breach.starts_with("/on/Stop/0: ")), "{found:?}");
}

/// What confuses editors: see `src/chart/schema/statechart.rs`.
#[test]
fn the_schema_of_charts_is_plain() {
    let text = fs::read_to_string(file("statechart")).unwrap();
    for word in ["\"allOf\"", "\"format\"", "\"null\"", "\"$ref\"", "\"definitions\""] {
        assert!(!text.contains(word), "{word}");
    }
}
