//! The scripted reviewer: this binary, on a demo's PATH under the name of the program that the chart invokes. It
//! reads its arguments like that program, does what the scenario says, and prints the same JSON as the real client.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value as Json, json};

use crate::host::events::REVIEWER;
use crate::scenario::script::ScriptedReview;
use crate::scenario::stage::Call;

/// This variable is set for all processes of a demo: the folder through which the player and the reviewer
/// communicate.
pub(super) const FOLDER: &str = "TASKIE_DEMO";

/// What the next run is to do. The run removes the file.
const NEXT: &str = "next.json";

/// Records how the last run was called.
const CALL: &str = "call.json";

/// The option that names the model.
const MODEL: &str = "--model";

/// Plays the reviewer if this process was started as a demo's reviewer: the processes of a demo have its folder in
/// their environment, and those that a chart invokes have [`REVIEWER`] as well.
pub(crate) fn stand_in(args: &[OsString]) -> Option<ExitCode> {
    let folder = std::env::var_os(FOLDER)?;
    std::env::var_os(REVIEWER)?;
    Some(match review(Path::new(&folder), args) {
        Ok(code) => code,
        Err(error) => {
            // The exit code says it, too.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    })
}

/// Writes what the next run is to do.
pub(super) fn script(folder: &Path, review: &ScriptedReview) -> io::Result<()> {
    match review {
        ScriptedReview::Verdict { verdict, text, .. } => {
            answers(folder, &json!({ "verdict": verdict }), Some(text))
        }
        ScriptedReview::Crash(why) | ScriptedReview::Gate(why) => {
            fs::write(folder.join(NEXT), json!({ "crash": why }).to_string())
        }
    }
}

/// Writes what the next run is to answer, and the text of the review that it has to write, if that is not in its answer.
pub(super) fn answers(folder: &Path, answer: &Json, text: Option<&str>) -> io::Result<()> {
    fs::write(folder.join(NEXT), json!({ "answer": answer, "text": text }).to_string())
}

/// Returns the last call and removes its record.
pub(super) fn called(folder: &Path) -> io::Result<Option<Call>> {
    let call = take(&folder.join(CALL))?;
    Ok(call.map(serde_json::from_value).transpose()?)
}

fn review(folder: &Path, args: &[OsString]) -> io::Result<ExitCode> {
    let mut words = args.iter().map(|word| word.to_string_lossy());
    let prompt = args.last().map(|word| word.to_string_lossy());
    let call = Call {
        model: words
            .find(|word| word == MODEL)
            .and_then(|_| words.next())
            .map(|model| model.into_owned()),
        // The prompt's last line says where to write the review, and ends with the path.
        file: prompt
            .and_then(|prompt| prompt.split_whitespace().last().map(str::to_owned))
            .unwrap_or_default(),
    };
    fs::write(folder.join(CALL), json!(call).to_string())?;
    let script = take(&folder.join(NEXT))?
        .ok_or_else(|| io::Error::other("the scenario has no review here"))?;
    let text = |key: &str| script.get(key).and_then(Json::as_str);
    let (answer, code) = match text("crash") {
        Some(why) => (json!({ "is_error": true, "result": why }), ExitCode::FAILURE),
        None => {
            let verdict = script["answer"].clone();
            if let Some(words) = text("text") {
                fs::write(&call.file, format!("# Review\n\n{words}\n"))?;
            }
            let result = verdict.to_string();
            (
                json!({ "is_error": false, "result": result, "structured_output": verdict }),
                ExitCode::SUCCESS,
            )
        }
    };
    let mut printed = json!({
        "type": "result", "subtype": "success", "num_turns": 3, "total_cost_usd": 0,
    });
    if let (Json::Object(printed), Json::Object(answer)) = (&mut printed, answer) {
        printed.extend(answer);
    }
    writeln!(io::stdout(), "{printed}")?;
    Ok(code)
}

/// Reads a JSON file and removes it.
fn take(path: &Path) -> io::Result<Option<Json>> {
    let text = match fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    fs::remove_file(path)?;
    Ok(Some(serde_json::from_slice(&text)?))
}
