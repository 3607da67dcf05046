//! The programs of vendors that review: what they are called with, and where their answers have what is read.

/// A program that reviews.
#[derive(Debug)]
pub struct Vendor {
    /// Its name in a chart.
    pub name: &'static str,
    /// The program and its arguments. What is in braces stands for arguments that depend on the review.
    argv: &'static [&'static str],
    /// What `{rights}` is if the reviewer may do everything.
    all: &'static [&'static str],
    /// What it is else: little more than to read. `{each}` is an argument for each thing that is allowed beside that,
    /// `{list}` one for all of them.
    restricted: &'static [&'static str],
    /// How it is allowed to write the file `*`; empty: it is anyway.
    file: &'static str,
    /// How it is allowed to run the command `*`; empty: it cannot be.
    command: &'static str,
    /// It is restricted if the session that it reviews is.
    heeds_sandbox: bool,
    pub answer: Answer,
}

/// What a reviewer is called for.
#[derive(Debug)]
pub struct Call<'c> {
    /// Empty: its own choice.
    pub model: &'c str,
    pub is_restricted: bool,
    pub is_sandboxed: bool,
    /// The file that it writes, and the commands that it may run.
    pub file: String,
    pub commands: Vec<String>,
    /// What it may cost, in US dollars.
    pub cost: Option<String>,
    pub prompt: String,
    /// The JSON Schema of its answer.
    pub schema: String,
}

/// JSON pointers into an answer. Of several, the first one counts that points to something. A string on the way is read as
/// JSON; if it is another text, its last JSON object counts.
#[derive(Debug)]
pub struct Answer {
    /// It is JSON and nothing else.
    pub is_json: bool,
    pub verdict: &'static [&'static str],
    pub findings: &'static [&'static str],
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

/// The verdict that everything is right.
pub const PASS: &str = "PASS";

/// The verdicts that a reviewer may give.
pub const VERDICTS: [&str; 2] = [PASS, "FAIL"];

/// The severities that a finding may have, from the worst to the mildest.
pub const SEVERITIES: [&str; 3] = ["critical", "major", "minor"];

/// The answer of a reviewer of one's own, and of a vendor who has no form: the last JSON object that is printed.
pub const OWN: Answer = Answer {
    is_json: false,
    verdict: &["/verdict"],
    findings: &["/findings"],
    review: &["/review"],
    error: None,
    reason: &[],
    cost: Some("/cost_usd"),
    status: None,
};

static VENDORS: [Vendor; 4] = [
    Vendor {
        name: "claude",
        argv: &[
            "claude",
            "--print",
            "{model}",
            "--output-format",
            "json",
            "--json-schema",
            "{schema}",
            "{rights}",
            "{cost}",
            "--no-session-persistence",
            "--settings",
            r#"{"disableAllHooks":true}"#,
            "{prompt}",
        ],
        all: &["--dangerously-skip-permissions"],
        restricted: &[
            "--restricted",
            "--tools",
            "Read,Grep,Glob,Write,Edit,Bash",
            "--permission-mode",
            "dontAsk",
            "--allowedTools",
            "{list}",
        ],
        file: "Edit(/*)",
        command: "Bash(*)",
        heeds_sandbox: false,
        answer: Answer {
            is_json: true,
            verdict: &["/structured_output/verdict", "/result/verdict"],
            findings: &["/structured_output/findings", "/result/findings"],
            review: &["/structured_output/review", "/result/review"],
            error: Some("/is_error"),
            reason: &["/errors/0", "/result"],
            cost: Some("/total_cost_usd"),
            status: Some("/api_error_status"),
        },
    },
    Vendor {
        name: "codex",
        argv: &[
            "codex",
            "exec",
            "{model}",
            "--sandbox",
            "{rights}",
            "--disable",
            "hooks",
            "--ephemeral",
            "--skip-git-repo-check",
            "{prompt}",
        ],
        all: &["danger-full-access"],
        restricted: &["workspace-write"],
        file: "",
        command: "",
        heeds_sandbox: true,
        answer: OWN,
    },
    Vendor {
        name: "copilot",
        argv: &["copilot", "--silent", "{model}", "{rights}", "--no-color", "--prompt", "{prompt}"],
        all: &["--allow-all"],
        restricted: &["{each}"],
        file: "--allow-tool=write(*)",
        command: "--allow-tool=shell(*)",
        heeds_sandbox: false,
        answer: OWN,
    },
    Vendor {
        name: "gemini",
        argv: &[
            "gemini",
            "{model}",
            "--skip-trust",
            "{rights}",
            "--output-format",
            "json",
            "--prompt",
            "{prompt}",
        ],
        all: &["--approval-mode", "yolo"],
        restricted: &["--approval-mode", "auto_edit", "{each}"],
        file: "",
        command: "--allowed-tools=run_shell_command(*)",
        heeds_sandbox: false,
        answer: Answer {
            is_json: true,
            verdict: &["/response/verdict"],
            findings: &["/response/findings"],
            review: &["/response/review"],
            cost: None,
            ..OWN
        },
    },
];

/// Returns the vendor of that name in a chart.
pub fn named(name: &str) -> Option<&'static Vendor> {
    VENDORS.iter().find(|vendor| vendor.name == name)
}

impl Vendor {
    /// Returns the program, which is looked up on PATH.
    pub fn program(&self) -> &'static str {
        self.argv[0]
    }

    /// Returns the program and its arguments for a review.
    pub fn argv(&self, call: &Call<'_>) -> Vec<String> {
        let is_restricted = call.is_restricted || call.is_sandboxed && self.heeds_sandbox;
        let rights = if is_restricted { self.restricted } else { self.all };
        let file = Some(self.file.replace('*', &call.file)).filter(|word| !word.is_empty());
        let commands = call.commands.iter().map(|command| self.command.replace('*', command));
        let allowed: Vec<String> = file.into_iter().chain(commands).collect();
        let words = self.argv.iter().flat_map(|word| match *word {
            "{rights}" => rights,
            _ => std::slice::from_ref(word),
        });
        let words = words.flat_map(|word| match *word {
            "{model}" if call.model.is_empty() => Vec::new(),
            // It is no option.
            "{model}" if call.model.starts_with('-') => vec![format!("--model={}", call.model)],
            "{model}" => vec!["--model".to_owned(), call.model.to_owned()],
            "{cost}" => match &call.cost {
                Some(cost) => vec!["--max-budget-usd".to_owned(), cost.clone()],
                None => Vec::new(),
            },
            "{each}" => allowed.clone(),
            "{list}" => vec![allowed.join(",")],
            "{schema}" => vec![call.schema.clone()],
            "{prompt}" => vec![call.prompt.clone()],
            word => vec![word.to_owned()],
        });
        words.collect()
    }
}

/// Returns the JSON Schema of an answer; `has_text`: with the review itself.
pub fn schema(has_text: bool) -> String {
    let text = if has_text { r#","review":{"type":"string"}"# } else { "" };
    [
        r#"{"type":"object","properties":{"verdict":{"type":"string","enum":["PASS","FAIL"]},"findings":{"type":"array","items":{"type":"object","properties":{"severity":{"type":"string","enum":"#,
        &serde_json::Value::from(SEVERITIES.to_vec()).to_string(),
        r#"},"file":{"type":"string"},"line":{"type":"integer"},"title":{"type":"string"}},"required":["severity","title"]}}"#,
        text,
        r#"},"required":["verdict"]}"#,
    ]
    .concat()
}
