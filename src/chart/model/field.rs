//! What has a type: the fields of `state.json`, settings, and options.

use std::ops::Deref;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::chart::kind::{Kind, Use};
use crate::expr::single_expression;
use crate::expr::source::{Expr, Literal, Text};

/// One field of `state.json`, or one setting of `config.json`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// `boolean`, `integer`, `amount` (a number above 0), `string`, `id` (letters, digits, `_`, `-` and single dots, which can be
    /// part of a file name), `phase`, `list`, and for a setting also `file` (the path of a file in the project whose text
    /// expressions see), `list of commands` (which run without a shell), `list of reviewers` (at least one: a model of the first
    /// reviewer, or `REVIEWER:MODEL`) and `list of cycles`. An integer can have limits, `integer from 1 to 9`. What ends in
    /// `or null` may be null; `or absent` means that the key may be absent without a warning. Where that is all, and there is no
    /// default, the key is there only while the field has a value.
    #[serde(rename = "type")]
    pub of: Kind,
    /// What the field means. It becomes the description in the JSON Schema.
    pub about: Option<String>,
    /// The strings that are allowed, or the items of a list.
    pub one_of: Option<Vec<String>>,
    /// The value if the key is absent. Without a default it is null, or the initial phase.
    pub default: Option<Literal>,
    /// Which values let more through than others: `higher` or `lower` for an integer (null is the highest; with `higher-or-0`,
    /// so is 0), `fewer` or `more` for a list, or the values that do. A project can set what is looser than the user's own file
    /// only after the user has run `taskie config trust`; with `higher than the default` or `more than the default`, also what
    /// is looser than that. What becomes looser while a review runs does not count for that review.
    pub looser: Option<Looser>,
    /// The reviewers, if its items name some.
    #[serde(skip)]
    pub reviewers: Option<Vec<String>>,
}

impl Deref for Field {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        &self.of
    }
}

impl From<Kind> for Field {
    fn from(of: Kind) -> Self {
        Self { of, ..Self::default() }
    }
}

impl Field {
    /// Returns whether its key is absent where it is null.
    pub fn is_fleeting(&self) -> bool {
        self.optional && !self.of.nullable && self.default.is_none()
    }

    /// Returns whether it may be null.
    pub fn is_nullable(&self) -> bool {
        self.of.nullable || self.is_fleeting()
    }

    /// Takes over the reviewers or the cycles of the chart, if its items name some.
    pub(crate) fn name_words(
        &mut self,
        reviewers: impl Fn() -> Vec<String>,
        cycles: impl Fn() -> Vec<String>,
    ) {
        match self.used {
            Use::Reviewers => self.reviewers = Some(reviewers()),
            Use::Cycles => self.one_of = Some(cycles()),
            _ => {}
        }
    }
}

/// Which values of a field are looser than others.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "`looser` is `higher`, `higher than the default`, `higher-or-0`, `lower`, `fewer`, `more`, `more than the default`, or a list of values"
)]
pub enum Looser {
    Direction(Direction),
    Values(Vec<Literal>),
}

/// The direction in which a value gets looser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// For an integer: a limit.
    Higher,
    #[serde(rename = "higher than the default")]
    HigherThanDefault,
    /// For an integer: a limit where 0 stands for none.
    #[serde(rename = "higher-or-0")]
    HigherOr0,
    /// For an integer: a requirement.
    Lower,
    /// For a list: one that lacks an item.
    Fewer,
    /// For a list: one that has another item.
    More,
    #[serde(rename = "more than the default")]
    MoreThanDefault,
}

/// How an option is given, if not as `--NAME VALUE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Given {
    Argument,
    Stdin,
    #[serde(rename = "-f")]
    F,
}

/// One option of a command or a phase.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arg {
    /// The type of its value, as that of a field, but no list: `string`, `integer from 0 to 9`.
    #[serde(rename = "type")]
    pub of: Kind,
    /// One line for `--help`.
    pub about: Option<String>,
    /// A list of the allowed values.
    pub one_of: Option<Expr>,
    /// The value if the option is not given.
    pub default: Option<Literal>,
    /// How it is given, if not as `--NAME VALUE`: `argument` (`run limit 4` instead of `run limit --reviews 4`), `stdin` (so
    /// that its text never passes through a shell), or `-f` for its short form.
    pub given: Option<Given>,
}

impl Arg {
    /// Returns whether it is read from stdin.
    pub fn is_stdin(&self) -> bool {
        self.given == Some(Given::Stdin)
    }
}

/// Returns the name of the setting that a text is: `{{ config.NAME }}`.
pub fn setting_in(text: &Text) -> Option<&str> {
    single_expression(&text.0)?.strip_prefix("config.")
}
