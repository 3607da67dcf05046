//! What has a type: the fields of `state.json`, settings, and options.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::chart::kind::{FieldType, Kind, Use};
use crate::expr::single_expression;
use crate::expr::source::{Expr, Literal, Text};
use crate::hash::IndexMap;

/// One field of `state.json`, or one setting of `config.json`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FieldSource {
    /// `boolean`, `integer`, `string`, `id` (letters, digits, `_`, `-` and single dots, which can be part of a file name), `phase`, `list`,
    /// `non-empty list`, and for a setting also `file` (the path of a file in the project whose text expressions see) and
    /// `list of commands` (which run without a shell). An integer can have limits, `integer from 1 to 9`, and a unit, which
    /// `taskie config` shows beside the value, `number of seconds from 1 to 9`. What ends in `or null` may be null; `or absent`
    /// means that the key may be absent without a warning. Where that is all, and there is no default, the key is there only
    /// while the field has a value.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// What the field means. It becomes the description in the JSON Schema.
    pub about: Option<String>,
    /// The strings that are allowed: a list, or a table whose names they are, `reviewers` or `cycles`. For a list, `cycles` names
    /// its items, and everything else what an item that has a `:` must begin with, before the first one.
    pub one_of: Option<Words>,
    /// The value if the key is absent. Without a default it is null, or the initial phase.
    pub default: Option<Literal>,
    /// For a setting: the values, of `one_of` or of a boolean, that the project's file can set only after the user has run
    /// `taskie config trust`. For a list: the items that need that in each project, also where the user's own file has them, because the project says
    /// what they stand for. With `looser`: a project's setting that is looser than the default needs it, too, also where the
    /// user's own file has none. A file and commands always need it.
    pub trust: Option<Trust>,
    /// Which values let more through than others: `higher` or `lower` for an integer (null is the highest; with `higher-or-0`,
    /// so is 0), `fewer` or `more` for a list, or the values that do. A project's setting that is looser than the user's own
    /// needs trust, and what becomes looser while a review runs does not count for that review.
    pub looser: Option<Looser>,
}

/// One field of `state.json`, or one setting of `config.json`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(from = "FieldSource")]
#[schemars(with = "FieldSource")]
pub struct Field {
    pub kind: FieldType,
    pub about: Option<String>,
    pub unit: Option<String>,
    /// The smallest integer, or the smallest number of items of a list.
    pub minimum: Option<i64>,
    pub maximum: Option<i64>,
    /// The strings that are allowed, or the items of a list.
    pub one_of: Option<Words>,
    /// What an item of a list that has a `:` begins with.
    pub prefix: Option<Words>,
    /// It is part of file names: letters, digits, `_`, `-` and single dots.
    pub is_id: bool,
    pub default: Option<Literal>,
    pub nullable: bool,
    pub optional: bool,
    /// Where it is null, its key is absent.
    pub fleeting: bool,
    /// The values that need the user's trust.
    pub trust: Vec<Literal>,
    /// The items that need trust in each project.
    pub per_project: Vec<String>,
    pub looser: Option<Looser>,
    /// What is looser than the default needs trust, too.
    pub bound: bool,
    /// It is the path of a file in the project.
    pub file: bool,
    /// Its items are commands.
    pub commands: bool,
}

impl From<FieldSource> for Field {
    fn from(source: FieldSource) -> Self {
        let own = Self::from(source.kind);
        let is_list = own.kind == FieldType::List;
        let (one_of, prefix) = match source.one_of {
            words if !is_list || words == Some(Words::Of(WordTable::Cycles)) => (words, None),
            words => (None, words),
        };
        let (trust, bound) = match source.trust {
            Some(Trust::Values(values)) => (values, false),
            trust => (Vec::new(), trust.is_some()),
        };
        let (per_project, trust) = match is_list {
            true => (trust, Vec::new()),
            false => (Vec::new(), trust),
        };
        let fleeting = own.optional && !own.nullable && source.default.is_none();
        let per_project = per_project.into_iter();
        let per_project = per_project.filter_map(|item| Some(item.text()?.0.clone()));
        Self {
            about: source.about,
            one_of,
            prefix,
            default: source.default,
            nullable: own.nullable || fleeting,
            fleeting,
            trust,
            per_project: per_project.collect(),
            looser: source.looser,
            bound,
            ..own
        }
    }
}

impl From<Kind> for Field {
    fn from(kind: Kind) -> Self {
        Self {
            kind: kind.kind,
            unit: kind.unit,
            minimum: kind.minimum,
            maximum: kind.maximum,
            nullable: kind.nullable,
            optional: kind.optional,
            is_id: kind.used == Use::Id,
            file: kind.used == Use::File,
            commands: kind.used == Use::Commands,
            ..Self::default()
        }
    }
}

/// Words: a list, or the name of a table of the chart, whose names they are. In a chart that is loaded, they are a list.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "it is a list of strings, or `reviewers` or `cycles` for the names of the tables under [reviewers] or [cycles]"
)]
pub enum Words {
    List(Vec<String>),
    Of(WordTable),
}

/// A table whose names can be the words of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WordTable {
    Reviewers,
    Cycles,
}

impl Words {
    /// Returns the words; none if the chart is not loaded and they are the names of a table.
    pub fn list(&self) -> &[String] {
        match self {
            Self::List(words) => words,
            Self::Of(_) => &[],
        }
    }
}

/// What of a setting needs trust.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "`trust` is a list of values, or `looser`")]
pub enum Trust {
    Values(Vec<Literal>),
    Than(Than),
}

/// What is looser than the default.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Than {
    Looser,
}

/// Which values of a field are looser than others.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "`looser` is `higher`, `higher-or-0`, `lower`, `fewer`, `more`, or a list of values"
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
    /// For an integer: a limit where 0 stands for none.
    #[serde(rename = "higher-or-0")]
    HigherOr0,
    /// For an integer: a requirement.
    Lower,
    /// For a list: one that lacks an item.
    Fewer,
    /// For a list: one that has another item.
    More,
}

/// The pattern of an option's `given`, for editors.
const GIVEN: &str = "^(argument|stdin|-[A-Za-z])$";

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
    /// that its text never passes through a shell), or a letter for its short form, `-f`.
    #[schemars(extend("pattern" = GIVEN))]
    given: Option<String>,
}

impl Arg {
    /// Returns whether it is a positional argument.
    pub fn is_positional(&self) -> bool {
        self.given.as_deref() == Some("argument")
    }

    /// Returns whether it is read from stdin.
    pub fn is_stdin(&self) -> bool {
        self.given.as_deref() == Some("stdin")
    }

    /// Returns the letter for its short form.
    pub fn short(&self) -> Option<char> {
        self.given.as_deref()?.strip_prefix('-')?.chars().next()
    }
}

/// A number, or a setting that contains it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "an integer, or a string such as `{{ config.NAME }}`")]
pub enum Amount {
    Fixed(u64),
    Setting(Text),
}

impl Amount {
    /// Returns what it is with these settings.
    pub fn now(&self, config: &IndexMap<String, serde_json::Value>) -> Option<u64> {
        match self {
            Self::Fixed(seconds) => Some(*seconds),
            Self::Setting(text) => config.get(setting_in(text)?)?.as_u64(),
        }
    }

    /// Returns the largest number that it can be; `None` if there is no such setting, or if the setting has no
    /// `maximum`.
    pub fn longest(&self, config: &IndexMap<String, Field>) -> Option<u64> {
        match self {
            Self::Fixed(seconds) => Some(*seconds),
            Self::Setting(text) => {
                let setting = config.get(setting_in(text)?);
                let setting = setting.filter(|field| field.minimum >= Some(0))?;
                u64::try_from(setting.maximum?).ok()
            }
        }
    }
}

/// Returns the name of the setting that a text is: `{{ config.NAME }}`.
pub fn setting_in(text: &Text) -> Option<&str> {
    single_expression(&text.0)?.strip_prefix("config.")
}
