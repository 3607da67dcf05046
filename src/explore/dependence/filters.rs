//! Filters and tests, and the ends and lengths of lists.

use minijinja::machinery::ast::CallArg;
use serde_json::Value as Json;

use super::reader::Reader;
use super::{Kind, LENGTH, Term, Val, as_list};
use crate::expr::infer::Scope as _;

impl Reader<'_> {
    /// Reads what a filter makes of a value.
    pub(super) fn filter(&mut self, name: &str, input: Val, args: &[CallArg<'_>]) -> Val {
        let given = self.args(args);
        let word = |index: usize| word_of(&given, index);
        let all = with_all(&input, &given);
        match name {
            "list" | "string" if self.is_text_or_list(&input) => input,
            "trim" if given.is_empty() => {
                for term in &input.terms {
                    if let Term::Input { path: name, .. } | Term::Field(name) = term {
                        self.note(name).trimmed = true;
                    }
                }
                input
            }
            "first" => self.end(input, true),
            "last" => self.end(input, false),
            "length" | "count" => self.length(&input),
            "selectattr" | "rejectattr" => match word(0) {
                Some(attribute) => {
                    let value = self.attributes(as_list(input.clone(), false), &attribute);
                    self.selected(input, value, &given, 1)
                }
                None => self.may_fail(&all),
            },
            "select" | "reject" => {
                let value = as_list(input.clone(), false);
                self.selected(input, value, &given, 0)
            }
            "map" => {
                let attribute = args.iter().enumerate().find_map(|(index, arg)| match arg {
                    CallArg::Kwarg("attribute", _) => word(index),
                    _ => None,
                });
                match attribute {
                    Some(attribute) if args.len() == 1 => {
                        as_list(self.attributes(as_list(input, false), &attribute), true)
                    }
                    _ => self.may_fail(&all),
                }
            }
            "flatten" => input,
            "set" if self.is_text_or_list(&input) => Val { is_set: true, ..input },
            "default" | "d" => given.into_iter().fold(input, Val::join),
            // What never fails on what it can be given, which types have been checked for.
            "after" | "brief" | "join" | "surround" | "lower" | "upper" | "title" | "reverse"
            | "sort" | "unique" | "capitalize" | "replace" | "string" | "list" | "trim"
            | "indent" | "lines" | "split" | "safe" | "escape" | "e" | "tojson" => {
                self.made_of(&all)
            }
            _ => self.may_fail(&all),
        }
    }

    /// Returns the items of a list for which a value of each is as the arguments from `at` on say.
    fn selected(&mut self, input: Val, value: Val, given: &[Val], at: usize) -> Val {
        let compared = match (word_of(given, at), given.get(at + 1)) {
            (Some(test), arg) => self.test(&test, &value, arg),
            (None, _) if given.len() > at => self.may_fail(&with_all(&input, given)),
            (None, _) => self.truth(value),
        };
        let mut result = input;
        result.computed.extend(compared.computed);
        result
    }

    /// Returns whether a value is a text or a list.
    fn is_text_or_list(&self, value: &Val) -> bool {
        value.terms.iter().all(|term| match term {
            Term::Input { path, list } => {
                *list || matches!(self.kind(path), Kind::Text | Kind::List)
            }
            _ => true,
        })
    }

    /// Returns how many items there are, where that is not of a part of them only.
    pub(super) fn length(&mut self, input: &Val) -> Val {
        if !input.computed.is_empty() || input.is_set {
            return self.made_of(&[input]);
        }
        let mut result = Val::default();
        for term in &input.terms {
            let more = match term {
                Term::Input { path, list: true } => Val::input(format!("{path}.{LENGTH}"), false),
                Term::Input { .. } => self.made_of(&[input]),
                Term::Field(field) if self.is_derived(field) => self.made_of(&[input]),
                _ => Val::settled(),
            };
            result = result.join(more);
        }
        result
    }

    /// Returns the first or the last item of a list.
    pub(super) fn end(&mut self, value: Val, is_first: bool) -> Val {
        if !value.computed.is_empty() || value.is_set {
            return self.may_fail(&[&value]);
        }
        let mut inputs = self.inputs(&value).into_iter().peekable();
        if inputs.peek().is_none() || inputs.any(|input| !self.types.has_items(&input)) {
            self.own.fails.extend(self.under_open.iter().cloned());
        }
        for term in &value.terms {
            let Term::Input { path, .. } = term else {
                continue;
            };
            // A text can be made of one item as well as of another.
            if !self.in_text {
                let noted = self.note(path);
                noted.first |= is_first;
                noted.last |= !is_first;
            }
        }
        as_list(value, false)
    }

    /// Reads what a test says of a value.
    pub(super) fn test(&mut self, name: &str, value: &Val, arg: Option<&Val>) -> Val {
        match (name, arg) {
            ("eq" | "equalto" | "==" | "ne" | "!=" | "sameas", Some(arg)) => self.equal(value, arg),
            (
                "lt" | "lessthan" | "<" | "le" | "<=" | "gt" | "greaterthan" | ">" | "ge" | ">=",
                Some(arg),
            ) => self.ordered(value, arg),
            ("in", Some(arg)) => {
                let mut terms = arg.terms.iter();
                match terms.any(|term| matches!(term, Term::Input { list: false, .. })) {
                    true => self.made_of(&[value, arg]),
                    false => self.equal(value, arg),
                }
            }
            (
                "none" | "defined" | "undefined" | "string" | "number" | "integer" | "boolean"
                | "sequence" | "mapping" | "iterable" | "true" | "false",
                None,
            ) => Val::computed(value.computed.clone()),
            (_, None) => self.made_of(&[value]),
            ("startingwith" | "endingwith", Some(arg)) => self.made_of(&[value, arg]),
            (_, Some(arg)) => self.may_fail(&[value, arg]),
        }
    }
}

/// Returns an argument of a filter that is a literal text.
fn word_of(given: &[Val], index: usize) -> Option<String> {
    match given.get(index).map(|value| value.terms.as_slice()) {
        Some([Term::Literal(Json::String(word))]) => Some(word.clone()),
        _ => None,
    }
}

/// Returns what a filter or a call is given: what it is applied to, and its arguments.
pub(super) fn with_all<'v>(input: &'v Val, given: &'v [Val]) -> Vec<&'v Val> {
    std::iter::once(input).chain(given).collect()
}
