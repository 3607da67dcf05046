//! How code hosts take findings: SARIF, and the workflow commands of GitHub Actions.

use serde_json::{Value as Json, json};

/// Returns JSON as people read it.
pub(crate) fn pretty(json: &Json) -> String {
    // Every JSON value can be written.
    serde_json::to_string_pretty(json).unwrap_or_default()
}

/// Returns a SARIF log with these results.
pub(crate) fn sarif(rules: &Json, results: &Json) -> Json {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "taskie", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// Returns a path as a relative URI reference: characters that a URI cannot contain are percent-encoded.
pub(crate) fn uri(path: &str) -> String {
    path.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}

/// Escapes a message of a workflow command.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
pub(crate) fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}
