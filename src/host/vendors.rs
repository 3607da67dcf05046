//! What reviewers print: where the answer of each vendor's program has what is read.

use schemars::JsonSchema;
use serde::Deserialize;

/// Whose form an answer has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The last JSON object that is printed: `verdict`, and perhaps `findings` (records with `severity` and `title`, and often
    /// `file` and `line`), `ran` (records with `command` and `exit`), `review` and `cost_usd`.
    #[default]
    Own,
    /// What `claude --print --output-format json` prints.
    Claude,
    /// What `gemini --output-format json` prints.
    Gemini,
}

/// JSON pointers into an answer. Of several, the first one counts that points to something. A string on the way is read as
/// JSON; if it is another text, its last JSON object counts.
#[derive(Debug)]
pub struct Answer {
    /// It is JSON and nothing else.
    pub is_json: bool,
    pub verdict: &'static [&'static str],
    pub findings: &'static [&'static str],
    pub ran: &'static [&'static str],
    /// The review itself.
    pub review: &'static [&'static str],
    /// True if the run failed.
    pub error: Option<&'static str>,
    /// Why it failed.
    pub reason: &'static [&'static str],
    /// In US dollars.
    pub cost: Option<&'static str>,
    /// An HTTP status, which may mean a usage limit or an outage.
    pub status: Option<&'static str>,
}

const OWN: Answer = Answer {
    is_json: false,
    verdict: &["/verdict"],
    findings: &["/findings"],
    ran: &["/ran"],
    review: &["/review"],
    error: None,
    reason: &[],
    cost: Some("/cost_usd"),
    status: None,
};

static FORMS: [Answer; 3] = [
    OWN,
    Answer {
        is_json: true,
        verdict: &["/structured_output/verdict", "/result/verdict"],
        findings: &["/structured_output/findings", "/result/findings"],
        ran: &["/structured_output/ran", "/result/ran"],
        review: &["/structured_output/review", "/result/review"],
        error: Some("/is_error"),
        reason: &["/errors/0", "/result"],
        cost: Some("/total_cost_usd"),
        status: Some("/api_error_status"),
    },
    Answer {
        is_json: true,
        verdict: &["/response/verdict"],
        findings: &["/response/findings"],
        ran: &["/response/ran"],
        review: &["/response/review"],
        cost: None,
        ..OWN
    },
];

impl Form {
    /// Returns where an answer of this form has what is read.
    pub fn answer(self) -> &'static Answer {
        &FORMS[self as usize]
    }
}
