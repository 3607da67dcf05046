//! What a process that has ended means: a verdict, no verdict, or a failure and why.

use serde_json::Value as Json;

use super::process::plain;
use crate::chart::model::Invoke;

/// The most characters of a reason that a message shows.
const REASON_LIMIT: usize = 300;

/// Reads the stdout of a process. `Ok(None)`: it ran and gave no verdict. `Err`: it reports a failure, or its
/// stdout is no JSON.
pub(crate) fn verdict(invoke: &Invoke, stdout: &[u8]) -> Result<Option<String>, String> {
    let json: Json =
        serde_json::from_slice(stdout).map_err(|error| match stdout.trim_ascii().is_empty() {
            true => "it printed nothing".to_owned(),
            false => format!("its output is not JSON ({error})"),
        })?;
    if invoke
        .error
        .as_deref()
        .and_then(|pointer| find(&json, pointer))
        .is_some_and(|flag| flag != Json::Bool(false))
    {
        return Err(reason(invoke, &json).unwrap_or_else(|| "it reports an error".to_owned()));
    }
    Ok(invoke.verdict.iter().find_map(|pointer| {
        let found = find(&json, pointer)?;
        let verdict = found.as_str()?;
        invoke
            .verdicts
            .iter()
            .find(|known| *known == verdict)
            .cloned()
    }))
}

/// The reason that a process's stdout gives for its failure.
pub(crate) fn reason_in(invoke: &Invoke, stdout: &[u8]) -> Option<String> {
    reason(invoke, &serde_json::from_slice(stdout).ok()?)
}

fn reason(invoke: &Invoke, json: &Json) -> Option<String> {
    let found = invoke
        .reason
        .iter()
        .find_map(|pointer| find(json, pointer))?;
    let text = found
        .as_str()
        .map_or_else(|| found.to_string(), str::to_owned);
    let line = plain(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut short: String = line.chars().take(REASON_LIMIT).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    (!short.is_empty()).then_some(short)
}

/// The value that a JSON pointer leads to; a string on the way is read as JSON.
fn find(json: &Json, pointer: &str) -> Option<Json> {
    let mut value = json.clone();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        if let Json::String(text) = &value {
            value = serde_json::from_str(text).ok()?;
        }
        value = match &value {
            Json::Object(fields) => fields.get(&step)?.clone(),
            Json::Array(items) => items.get(step.parse::<usize>().ok()?)?.clone(),
            _ => return None,
        };
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invoke() -> Invoke {
        Invoke {
            by: None,
            argv: Vec::new(),
            verdicts: vec!["PASS".to_owned(), "FAIL".to_owned()],
            verdict: vec![
                "/structured_output/verdict".to_owned(),
                "/result/verdict".to_owned(),
            ],
            error: Some("/is_error".to_owned()),
            reason: vec!["/errors/0".to_owned(), "/result".to_owned()],
            timeout: 1,
            log: crate::chart::model::FilePattern(String::new()),
        }
    }

    #[test]
    fn verdicts_of_all_shapes() {
        let cases: &[(&str, Result<Option<&str>, &str>)] = &[
            (
                r#"{"structured_output":{"verdict":"PASS"}}"#,
                Ok(Some("PASS")),
            ),
            (r#"{"result":{"verdict":"FAIL"}}"#, Ok(Some("FAIL"))),
            (r#"{"result":"{\"verdict\":\"PASS\"}"}"#, Ok(Some("PASS"))),
            (
                r#"{"structured_output":{"verdict":"MAYBE"},"result":{"verdict":"FAIL"}}"#,
                Ok(Some("FAIL")),
            ),
            (r#"{"structured_output":{"verdict":"pass"}}"#, Ok(None)),
            (r#"{"result":"I think PASS"}"#, Ok(None)),
            (
                r#"{"is_error":false,"result":{"verdict":"PASS"}}"#,
                Ok(Some("PASS")),
            ),
            (
                r#"{"is_error":true,"result":"API Error:\n 401","structured_output":{"verdict":"PASS"}}"#,
                Err("API Error: 401"),
            ),
            (r#"{"is_error":true}"#, Err("it reports an error")),
            (
                r#"{"is_error":true,"errors":["no budget"]}"#,
                Err("no budget"),
            ),
            (
                r#"{"is_error":true,"errors":["\u001b[31mno\u001b[0m\u0007 budget"]}"#,
                Err("no budget"),
            ),
            ("[]", Ok(None)),
            ("", Err("it printed nothing")),
        ];
        for (stdout, expected) in cases {
            let found = verdict(&invoke(), stdout.as_bytes());
            let found = found.as_ref().map(Option::as_deref).map_err(String::as_str);
            assert_eq!(found, *expected, "{stdout}");
        }
        assert!(
            verdict(&invoke(), b"{\"result\":")
                .is_err_and(|why| why.starts_with("its output is not JSON"))
        );
    }
}
