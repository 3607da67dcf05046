//! `event`: the fields of a hook event.

use std::sync::Arc;

use minijinja::value::Value;
use serde_json::Value as Json;

use super::built_in::{BuiltIn, Lookup};
use super::{Looked, Names};
use crate::engine::context;
use crate::engine::evaluator::Given;
use crate::expr::types::Type;
use crate::host::events::{EVENT_DEFAULTS, FieldDefault};

#[rustfmt::skip]
pub(super) const SOURCE: BuiltIn = BuiltIn {
    about: &[
        ("event.against", "what the change is compared with, in words: `since HEAD`", "`taskie review`"),
        ("event.asked", "what the user has asked for since the session's own change began", "hook events"),
        ("event.awaited", "a hook waits until the review that has been postponed can run, and runs it then", "hook events, commands"),
        ("event.background_tasks", "what the agent runs in the background", "hook events"),
        ("event.custom_instructions", "the user's instructions for `/compact`", "hook events"),
        ("event.bare", "a settings file calls the hook, not the plugin: its commands do not exist", "hook events, commands"),
        ("event.base", "the commit that the change starts from", "`taskie review`"),
        ("event.can_wake", "the host lets another entry of the hook run the review beside the turn, and wake the agent", "hook events"),
        ("event.change", "the files that have changed, each with its number of lines", "`taskie review`"),
        ("event.cwd", "the directory that the agent works in", "hook events"),
        ("event.failed_gate", "the gate that let the agent stop because it failed again and again, and how it has failed; empty without one", "commands"),
        ("event.hook_event_name", "the name of the event", "hook events"),
        ("event.host", "the name of the host, such as `Claude Code`", "hook events"),
        ("event.ignores_blocks", "the host ignores further blocks in this turn", "hook events"),
        ("event.last_assistant_message", "the agent's last message", "hook events"),
        ("event.lines", "how many lines have changed in the files that count; none if no such file has changed", "`taskie review`"),
        ("event.longest_review", "how many seconds a review can take because the host waits no longer for a hook; none if it waits as long as the hook asks for", "hook events"),
        ("event.max_cost", "the value of `--max-cost`", "`taskie review`"),
        ("event.model", "the value of `--model`", "`taskie review`"),
        ("event.own", "the change is that of a session, reviewed without being asked (`scope.always`)", "hook events"),
        ("event.paths", "the paths that the review is limited to, as arguments of `git diff`", "`taskie review`"),
        ("event.permission_mode", "the host's permission mode", "hook events"),
        ("event.permissions", "the value of `--permissions`; `restricted` in CI", "`taskie review`"),
        ("event.prompt", "the user's prompt", "hook events"),
        ("event.range", "the git trees before and after the change, as arguments of `git diff`", "`taskie review`"),
        ("event.sandboxed", "the host runs the agent's commands in a sandbox, where `.git` may be read-only", "hook events"),
        ("event.session_crons", "the session's scheduled prompts", "hook events"),
        ("event.session_id", "the id of the session", "hook events"),
        ("event.source", "how the session began: startup, resume, clear or compact", "hook events"),
        ("event.stop_hook_active", "the agent has already been blocked in this turn", "hook events"),
        ("event.stopped", "the agent that drives the instance has stopped, as far as `taskie status` knows; false elsewhere", "commands"),
        ("event.terminal", "a person typed the command in a terminal, not an agent", "commands"),
        ("event.transcript_path", "the file of the conversation", "hook events"),
        ("event.tree", "the git tree after the change", "`taskie review`"),
        ("event.trigger", "what caused the compaction: manual or auto", "hook events"),
    ],
    kind: |_| Some(kind()),
    value: Lookup::Fields(value),
};

fn kind() -> Type {
    Type::record(EVENT_DEFAULTS.iter().map(|(name, default)| {
        let kind = match default {
            FieldDefault::False => Type::Boolean,
            FieldDefault::Text => Type::Text,
            FieldDefault::List => Type::list(Type::Any),
            FieldDefault::Nothing => Type::Integer.or_none(),
        };
        (*name, kind)
    }))
}

fn value(names: &Arc<Names>, key: &str) -> Looked {
    let brought = names.event.fields.get(key).filter(|value| !value.is_null());
    let given = brought
        .cloned()
        .or_else(|| names.evaluator.given(Given::Field(key)));
    let known = EVENT_DEFAULTS.iter().find(|(name, _)| *name == key);
    let Some((_, default)) = known else {
        return given.map(|value| Ok(context::to_value(&value)));
    };
    let (absent, fits): (Value, fn(&Json) -> bool) = match default {
        FieldDefault::False => (Value::from(false), Json::is_boolean),
        FieldDefault::Text => (Value::from(""), Json::is_string),
        FieldDefault::List => (Value::from(Vec::<Value>::new()), Json::is_array),
        FieldDefault::Nothing => (Value::from(()), Json::is_i64),
    };
    let given = given.filter(fits);
    Some(Ok(given.map_or(absent, |value| context::to_value(&value))))
}
