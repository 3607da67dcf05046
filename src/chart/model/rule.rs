//! What happens: rules, their actions, commands, checks, and the properties that are claimed of it.

use schemars::JsonSchema;
use serde::Deserialize;

use super::value::Assign;
use crate::expr::source::{Expr, Text};

/// A change to files that is made before the state is written. All paths are relative to the project's root and stay
/// inside the home. Exactly one of `write`, `replace`, `ensure`, `rename`, `copy`, `remove` and
/// `cancel`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// Once for each item of this list, as `it`.
    pub each: Option<Expr>,
    /// Whether it applies. With `each`, it is evaluated for every item.
    pub guard: Option<Expr>,
    /// Creates this file with `text`. If the name is taken, the next free one is used.
    pub write: Option<Text>,
    /// Writes `text` to this file, in place of what it contains.
    pub replace: Option<Text>,
    /// Adds the line `text` to this file unless the file contains it.
    pub ensure: Option<Text>,
    /// Required with `write`, `replace` and `ensure`. The content of the file, or the line.
    pub text: Option<Text>,
    /// Renames this file, which must exist, `to` another name. If that is taken, the next free one is used.
    pub rename: Option<Text>,
    /// Copies this template `to` a file that does not exist yet.
    pub copy: Option<Text>,
    /// Required with `rename` and `copy`. The new name.
    pub to: Option<Text>,
    /// Removes this directory, which must be an instance's.
    pub remove: Option<Text>,
    /// Ends the review that is running for this directory, which must be an instance's. The review counts as failed, and
    /// its stop is allowed. If none is running, that is an error.
    pub cancel: Option<Text>,
}

/// What an action does: the key that says it, its text, and the one that belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deed<'a> {
    pub key: &'static str,
    pub of: &'a Text,
    /// `text` or `to`, with its key.
    pub with: Option<(&'static str, &'a Text)>,
}

impl<'a> Deed<'a> {
    /// Returns its texts, each with its key.
    pub fn texts(self) -> impl Iterator<Item = (&'static str, &'a Text)> {
        // What is copied is the name of a template.
        let of = (self.key != "copy").then_some((self.key, self.of));
        of.into_iter().chain(self.with)
    }
}

impl Action {
    /// Returns what the action does; the error says which keys belong together.
    pub fn deed(&self) -> Result<Deed<'_>, String> {
        let keys = [
            ("write", &self.write, "text"),
            ("replace", &self.replace, "text"),
            ("ensure", &self.ensure, "text"),
            ("rename", &self.rename, "to"),
            ("copy", &self.copy, "to"),
            ("remove", &self.remove, ""),
            ("cancel", &self.cancel, ""),
        ];
        let mut given =
            keys.into_iter().filter_map(|(key, of, with)| Some((key, of.as_ref()?, with)));
        let with = [("text", &self.text), ("to", &self.to)];
        let mut with = with.into_iter().filter_map(|(key, text)| Some((key, text.as_ref()?)));
        let (deed, with) = ((given.next(), given.next()), (with.next(), with.next()));
        match (deed, with) {
            ((Some((key, of, needed)), None), (with, None))
                if with.map_or("", |(key, _)| key) == needed =>
            {
                Ok(Deed { key, of, with })
            }
            _ => Err("an action is one of `write`, `replace` or `ensure` with `text`, `rename` with `to`, \
                      `copy` with `to`, `remove`, and `cancel`"
                .to_owned()),
        }
    }
}

/// One rule of an event: guard, assignments, actions, an invocation, then an answer or none. A command is one, too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// A name, for charts that extend this one.
    pub id: Option<String>,
    /// With `extends`: the `id` of the one before which it comes.
    pub before: Option<String>,
    /// What the rule is for, in a few words: its name in traces and counterexamples. Required for a command: one line for
    /// `--help`.
    pub about: Option<String>,
    /// Whether it applies. Without a guard it always does.
    pub guard: Option<Expr>,
    /// For a command: the message if the guard is false.
    #[serde(rename = "else")]
    pub otherwise: Option<Text>,
    /// The phase to go to. Only the field that `state` names changes: the phase's own `guard`, `entry` and `next` have no
    /// effect.
    pub target: Option<String>,
    /// What it assigns.
    #[serde(default)]
    pub assign: Assign,
    /// The running cycle's first open advance target comes next. If it is a cycle, that starts over; next to `block`, its
    /// first review runs at the same stop if one is due then and the host leaves time for it.
    #[serde(default)]
    pub advance: bool,
    /// What it does to files, in this order.
    #[serde(default)]
    pub actions: Vec<Action>,
    /// The process to run, which reviews for the running cycle: its name, or an expression whose value can only be one of
    /// their names, such as `{{ config.NAME }}`, a setting with `one_of`. The rules are then tried again, with its outcome
    /// as `review`.
    pub invoke: Option<String>,
    /// A message to the user. With `action`, what `taskie status` says instead of the reason: it comes after "Your turn:"
    /// or "The agent's turn:".
    pub message: Option<Text>,
    /// A text for the agent. With `action`, the reason for it. For a command: what it prints.
    pub say: Option<Text>,
    /// The answer: the stop is allowed.
    #[serde(default)]
    pub allow: bool,
    /// The answer: the stop is blocked, and the agent reads this text.
    pub block: Option<Text>,
    /// The answer to `next`: the phase to work on now, or a word for the agent, such as `stop` or `ask`.
    pub action: Option<Text>,
    /// For a command: those that run after it, in order, until one does not apply.
    #[serde(default)]
    pub raise: Vec<String>,
}

impl Rule {
    /// Returns the keys that it has and that have an effect.
    pub fn effects(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("else", self.otherwise.is_some()),
            ("target", self.target.is_some()),
            ("assign", !self.assign.is_empty()),
            ("advance", self.advance),
            ("actions", !self.actions.is_empty()),
            ("invoke", self.invoke.is_some()),
            ("message", self.message.is_some()),
            ("say", self.say.is_some()),
            ("allow", self.allow),
            ("block", self.block.is_some()),
            ("action", self.action.is_some()),
            ("raise", !self.raise.is_empty()),
        ];
        keys.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key)
    }
}

/// One check of a list. `checks.NAME` is the list of what its checks find.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// A name, for charts that extend this one.
    pub id: Option<String>,
    /// With `extends`: the `id` of the one before which it comes.
    pub before: Option<String>,
    /// Once for each item of this list, as `it`.
    pub each: Option<Expr>,
    /// Whether it applies. With `each`, it is evaluated for every item.
    pub guard: Option<Expr>,
    /// What the finding says.
    pub say: Text,
}

/// A property for `check-chart`: exactly one of `never` and `reachable`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// A name, for charts that extend this one.
    pub id: Option<String>,
    /// What the property means, in words.
    pub about: String,
    /// A condition that is true in no state.
    pub never: Option<Expr>,
    /// From every state, some path leads to a state in which this is true.
    pub reachable: Option<Expr>,
}

impl Property {
    /// Returns its claims, each with its key.
    pub fn claims(&self) -> impl Iterator<Item = (&'static str, &Expr)> {
        let keys = [("never", &self.never), ("reachable", &self.reachable)];
        keys.into_iter().filter_map(|(key, expr)| Some((key, expr.as_ref()?)))
    }
}
