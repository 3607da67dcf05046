//! What a reviewer has printed: its verdict or why it failed, its findings, its review, and what it cost.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value as Json;

use crate::chart::Invoke;
use crate::clock;
use crate::files::json;
use crate::host::vendors::VERDICTS;
use crate::reviewer::finding::Found;
use crate::text::plain_line;

/// The number of bytes at the end of a text that are searched for an answer.
const ANSWER_LIMIT: usize = 64 * 1024;

/// The most characters of a reason that a message shows.
const REASON_LIMIT: usize = 300;

/// The HTTP statuses that mean a usage limit or an outage.
const UNAVAILABLE: [i64; 7] = [408, 429, 500, 502, 503, 504, 529];

/// No review costs a million dollars, in millionths of one.
const MOST: f64 = 1e12;

/// How many seconds no reviewer starts after that: what is limited costs nothing when it is tried.
pub(crate) const PAUSE: u64 = 300;

/// What a reviewer has printed.
#[derive(Debug, Default)]
pub(crate) struct Printed {
    /// Its verdict, if it gave one.
    pub(crate) verdict: Option<String>,
    /// Why it failed: it reports a failure, or what it printed is not JSON.
    pub(crate) failure: Option<String>,
    /// The reason that it gives for a failure.
    pub(crate) reason: Option<String>,
    pub(crate) found: Found,
    /// The review itself.
    pub(crate) text: Option<String>,
    /// What it says that it cost, in millionths of a dollar.
    pub(crate) cost: Option<u64>,
    /// Until when no other run is tried if it has failed, in seconds since 1970: it reports a usage limit or an outage.
    pub(crate) until: Option<u64>,
}

impl Printed {
    /// Reads the stdout of a process.
    pub(crate) fn read(invoke: &Invoke, stdout: &[u8]) -> Self {
        let failed = |why: String| Self { failure: Some(why), ..Self::default() };
        if stdout.trim_ascii().is_empty() {
            return failed("it printed nothing".to_owned());
        }
        let at = invoke.answer();
        let json = match answer(at.is_json, stdout) {
            Ok(json) => json,
            Err(why) => return failed(why),
        };
        let reason = reason(at.reason, &json);
        let is_error = at.error.and_then(|pointer| find(&json, pointer));
        let is_error = is_error.is_some_and(|flag| flag != Json::Bool(false));
        let failure = || reason.clone().unwrap_or_else(|| "it reports an error".to_owned());
        let is_verdict = |verdict: &String| VERDICTS.contains(&verdict.as_str());
        let is_unavailable = |status: &i64| UNAVAILABLE.contains(status);
        let dollars: Option<f64> = at.cost.and_then(|pointer| value(&json, pointer));
        let cost = dollars.map(|dollars| dollars * 1e6).filter(|cost| (0.0..MOST).contains(cost));
        let status = at.status.and_then(|pointer| value(&json, pointer));
        let texts = at.review.iter().filter_map(|pointer| value(&json, pointer));
        let mut texts = texts.filter(|text: &String| !text.trim().is_empty());
        Self {
            verdict: at.verdict.iter().find_map(|pointer| value(&json, pointer).filter(is_verdict)),
            failure: is_error.then(failure),
            found: (at.findings.iter().find_map(|pointer| find(&json, pointer)))
                .map_or_else(Found::default, Found::read),
            text: texts.next().filter(|_| invoke.text),
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it fits")]
            cost: cost.map(|cost| cost.round() as u64),
            until: (status.filter(is_unavailable)).map(|_| clock::now().saturating_add(PAUSE)),
            reason,
        }
    }
}

/// Returns the value that a pointer points to, if it is of this type.
fn value<T: DeserializeOwned>(json: &Json, pointer: &str) -> Option<T> {
    serde_json::from_value(find(json, pointer)?).ok()
}

/// Returns the answer, which `is_json` and nothing else, or ends with an object.
fn answer(is_json: bool, stdout: &[u8]) -> Result<Json, String> {
    let unreadable = |why: String| format!("its output cannot be read: {why}");
    if is_json {
        return json::parse(&json::whole(stdout)).map_err(unreadable);
    }
    let text = std::str::from_utf8(stdout).map_err(|error| unreadable(error.to_string()))?;
    let object = last_object(text).and_then(|object| json::parse(object.as_bytes()).ok());
    object.ok_or_else(|| "its output ends without the JSON object that was asked for".to_owned())
}

/// The last JSON object in a text, alone, in a sentence or in a code fence.
pub(crate) fn last_object(text: &str) -> Option<&str> {
    let start = text.len().saturating_sub(ANSWER_LIMIT);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at))?;
    let mut rest = &text[start..];
    let mut last = None;
    while let Some(at) = rest.find('{') {
        rest = &rest[at..];
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        let length = match objects.next() {
            Some(Ok(_)) => {
                last = Some(&rest[..objects.byte_offset()]);
                objects.byte_offset()
            }
            _ => 1,
        };
        rest = &rest[length..];
    }
    last
}

fn reason(pointers: &[&str], json: &Json) -> Option<String> {
    let found = pointers.iter().find_map(|pointer| find(json, pointer))?;
    let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
    let short = plain_line(&text, REASON_LIMIT);
    // It becomes a part of a sentence.
    let short = short.strip_suffix('.').unwrap_or(&short).to_owned();
    (!short.is_empty()).then_some(short)
}

/// Returns what a pointer points to; a string on the way is parsed as JSON, or the last JSON object in it is.
fn find(json: &Json, pointer: &str) -> Option<Json> {
    let mut found = json.clone();
    for step in pointer.split('/').skip(1) {
        if let Json::String(text) = &found {
            let parse = |text: &str| json::parse(text.as_bytes()).ok();
            found = parse(text).or_else(|| parse(last_object(text)?))?;
        }
        found = found.pointer_mut(&format!("/{step}"))?.take();
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::vendors;

    fn invoke() -> Invoke {
        Invoke {
            text: false,
            argv: Vec::new(),
            vendor: vendors::named("claude"),
            prompt: None,
            commands: None,
        }
    }

    #[test]
    fn missing_figures_are_unknown() {
        let cases: &[(&str, Option<u64>)] = &[
            (r#"{"total_cost_usd":0.2134567}"#, Some(213_457)),
            (r#"{"total_cost_usd":0}"#, Some(0)),
            (r#"{"total_cost_usd":1e308}"#, None),
            (r#"{"total_cost_usd":-1}"#, None),
            (r#"{"total_cost_usd":"much"}"#, None),
            ("{}", None),
            ("", None),
        ];
        for (stdout, money) in cases {
            assert_eq!(Printed::read(&invoke(), stdout.as_bytes()).cost, *money);
        }
    }

    #[test]
    fn verdicts_of_all_shapes() {
        let cases: &[(&str, Result<Option<&str>, &str>)] = &[
            (r#"{"structured_output":{"verdict":"PASS"}}"#, Ok(Some("PASS"))),
            (r#"{"result":{"verdict":"FAIL"}}"#, Ok(Some("FAIL"))),
            (r#"{"result":"{\"verdict\":\"PASS\"}"}"#, Ok(Some("PASS"))),
            (
                r#"{"structured_output":{"verdict":"MAYBE"},"result":{"verdict":"FAIL"}}"#,
                Ok(Some("FAIL")),
            ),
            (r#"{"structured_output":{"verdict":"pass"}}"#, Ok(None)),
            (r#"{"result":"I think PASS"}"#, Ok(None)),
            (r#"{"is_error":false,"result":{"verdict":"PASS"}}"#, Ok(Some("PASS"))),
            (
                r#"{"is_error":true,"result":"API Error:\n 401","structured_output":{"verdict":"PASS"}}"#,
                Err("API Error: 401"),
            ),
            (r#"{"is_error":true}"#, Err("it reports an error")),
            (r#"{"is_error":true,"errors":["no budget"]}"#, Err("no budget")),
            (
                r#"{"is_error":true,"errors":["\u001b[31mno\u001b[0m\u0007 budget"]}"#,
                Err("no budget"),
            ),
            (r#"[{"result":{"verdict":"FAIL"}}]"#, Ok(None)),
            ("{\"result\" : \"\\n {\\\"verdict\\\":\\\"PASS\\\"}\"}", Ok(Some("PASS"))),
            ("[]", Ok(None)),
            ("", Err("it printed nothing")),
        ];
        for (stdout, expected) in cases {
            let Printed { verdict, failure, .. } = Printed::read(&invoke(), stdout.as_bytes());
            let found = failure.as_deref().map_or(Ok(verdict.as_deref()), Err);
            assert_eq!(found, *expected, "{stdout}");
        }
        let failure = Printed::read(&invoke(), b"{\"result\":").failure;
        assert!(
            failure.is_some_and(
                |why| why.starts_with("its output cannot be read: it is not valid JSON")
            )
        );
    }
}
