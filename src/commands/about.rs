//! What a command is about, and other options that several commands have.

use clap::Args;
use clap::builder::{PossibleValuesParser, ValueParser};
use serde_json::Number;

/// What a command is about.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct About {
    /// The instance to use
    #[arg(long, value_name = "NAME")]
    instance: Option<Option<String>>,
    #[command(flatten)]
    pub(crate) of: Session,
}

impl About {
    /// Returns the name, unless none follows the option.
    pub(crate) fn name(&self) -> Option<&String> {
        self.instance.as_ref()?.as_ref()
    }
}

/// Whose session a command is about.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Session {
    /// The session to use [default: the one around this command, if a host says so]
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

/// What a command is about that only reads, and prints what it has read.
#[derive(Debug, Clone, Args)]
pub(crate) struct Asking {
    /// Print one JSON object, for programs
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) about: About,
}

/// Accepts one of these words.
pub(crate) fn words(
    words: impl IntoIterator<Item = impl Into<clap::builder::PossibleValue>>,
) -> ValueParser {
    PossibleValuesParser::new(words).into()
}

/// Parses a number above 0.
pub(crate) fn amount(text: &str) -> Result<Number, String> {
    let parsed = text.parse().ok().filter(|number: &Number| number.as_f64() > Some(0.0));
    parsed.ok_or_else(|| "expected a number above 0".to_owned())
}
