//! Names and their attributes: which are inputs, and what each of those can be.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::reader::Reader;
use super::{Kind, LENGTH, Term, Val, root_of};
use crate::chart::field::default_of;
use crate::chart::{Chart, Cycle};
use crate::engine::names::sources::{SourceName, may_fail};
use crate::explore::parameters::is_tried_whole;
use crate::expr::infer::Scope;
use crate::expr::source::Literal;
use crate::expr::types::Type;
use crate::expr::{has_holes, single_expression};

/// Returns the default words of a setting that is a list.
fn words_of_setting(chart: &Chart, path: &str) -> Vec<Json> {
    let name = path.strip_prefix("config.");
    let setting = name.and_then(|name| chart.config.get(name));
    match setting.map(|field| default_of(chart, field)) {
        Some(Json::Array(words)) => words,
        _ => Vec::new(),
    }
}

impl Reader<'_> {
    /// Returns what a name stands for.
    pub(super) fn name(&mut self, name: &str) -> Val {
        if let Some((_, value, _)) = self.scopes.iter().rev().find(|(known, ..)| known == name) {
            return value.clone();
        }
        let chart = self.chart;
        if chart.context.contains_key(name) {
            self.uses(name).others += 1;
            let mut value = Val::of(Term::Field(name.to_owned()));
            if self.found.clouded.contains(name) {
                value.computed.insert(format!("field.{name}"));
            }
            return value;
        }
        if let Some(source) = chart.lets.get(name) {
            // Lets that use others twice would double the work at each step.
            let under_open = self.under_open.clone();
            let key = (name.to_owned(), self.in_text, self.is_shown, under_open);
            if let Some((value, own)) = self.known_lets.get(&key) {
                self.own.merge(own);
                return value.clone();
            }
            let outer = std::mem::take(&mut self.own);
            let value = self.apart(name, |reader| reader.source(&source.0));
            if let Some(value) = value.clone() {
                self.known_lets.insert(key, (value, self.own.clone()));
            }
            self.own.merge(&outer);
            return value.unwrap_or_else(Val::settled);
        }
        use SourceName as Name;
        let source = SourceName::of(name);
        let is_list = matches!(
            source,
            Some(Name::siblings | Name::touched | Name::rulings | Name::drivers | Name::findings)
        );
        let is_one =
            matches!(source, Some(Name::driver | Name::session | Name::now | Name::postponed));
        if is_list || is_one {
            self.own.looks.insert(name.to_owned());
        }
        if name == "session" && chart.scope.is_per_session() {
            // In a hook, the session is chosen as the event's.
            let of_event = "event.session_id".to_owned();
            self.links.push((of_event, name.to_owned()));
        }
        match source {
            Some(Name::rulings | Name::drivers | Name::findings) => Val::unknown_list(name),
            // Nobody, this session, another one: each is tried.
            Some(Name::it | Name::invoke | Name::driver) => Val::settled(),
            _ => Val::input(name, is_list),
        }
    }

    /// Returns an attribute of a value.
    pub(super) fn attribute(&mut self, value: &Val, name: &str) -> Val {
        let mut result = Val { computed: value.computed.clone(), ..Val::default() };
        for term in &value.terms {
            result = result.join(match term {
                Term::Input { path, .. } => self.below(path, name),
                _ => Val::settled(),
            });
        }
        result
    }

    /// Returns an attribute of an attribute and so on, by a path with dots.
    pub(super) fn attributes(&mut self, value: Val, path: &str) -> Val {
        let parts = path.split('.');
        parts.fold(value, |value, part| self.attribute(&value, part))
    }

    /// Returns an attribute of an input.
    fn below(&mut self, path: &str, name: &str) -> Val {
        let chart = self.chart;
        let whole = format!("{path}.{name}");
        let cycles = |field: &dyn Fn(&Cycle) -> String| {
            let fields = chart.cycles.values().map(field).map(Term::Field);
            Val { terms: fields.collect(), ..Val::default() }
        };
        let root = path.split('.').next().unwrap_or_default();
        if !matches!(root, "cycle" | "review" | "scope") {
            self.own.looks.insert(root_of(&whole).to_owned());
        }
        if self.branches == 0 {
            self.evaluated.insert(whole.clone());
        } else if let Some(named) = SourceName::of(path)
            && may_fail(chart, named, Some(name))
            // A cycle has its texts; without one, a condition that asks for it is tried.
            && whole != "cycle.text"
            && !self.evaluated.contains(&whole)
        {
            self.own.fails.extend(self.under_open.iter().cloned());
        }
        let texts = || chart.cycles.values().flat_map(|cycle| cycle.text.get(name));
        match (path, name) {
            ("cycle", "n") | ("review", "n") => cycles(&|cycle| cycle.count.clone()),
            ("cycle", "limit") => cycles(&|cycle| cycle.limit.clone()),
            ("cycle", "subject") => Val::input(whole, true),
            ("cycle", "findings") => {
                self.own.looks.insert(whole.clone());
                Val::unknown_list(&whole)
            }
            ("cycle.text", _) if !texts().any(|text| has_holes(&text.0)) => Val::settled(),
            ("cycle", "review" | "last" | "text") | ("review", "error" | "file" | "answer") => {
                Val::input(whole, false)
            }
            ("cycle", "exit" | "ready" | "answered" | "due" | "owed" | "next" | "stalled") => {
                self.own.looks.insert(whole);
                Val::settled()
            }
            // Each of its values is tried.
            ("spent", "over") => Val::settled(),
            ("spent", _) => Val::computed(BTreeSet::from([whole])),
            ("review", "ok" | "verdict" | "ran") | ("gate", "failed") => Val::settled(),
            ("review", "worst") => {
                if !self.in_text {
                    self.note(&whole);
                }
                Val::input(whole, false)
            }
            // What a review costs, says or takes is not tried, and neither is what a gate says.
            ("review", "cost" | "until" | "found" | "findings")
            | ("gate", "command" | "why" | "output")
            | ("git", "base") => Val::computed(BTreeSet::from([whole])),
            ("review", _) | ("gate", "times") => Val::input(whole, false),
            ("cycle", _) | ("scope", "started" | "home") => Val::settled(),
            ("args", _) => self.option(name, whole),
            ("files", _) => Val::input(whole, true),
            ("tables", _) => Val::input(whole, false),
            ("checks", _) => Val::input(whole, true),
            ("git", "dirty") => Val::settled(),
            // It shows them all.
            ("prompts", _) => {
                let vars = chart.prompts.get(name).into_iter().flatten();
                vars.map(|(_, var)| var)
                    .for_each(|var| drop(self.template(&format!("{{{{ {} }}}}", var.0))));
                Val::input(whole, false)
            }
            // All of its values are tried.
            ("config", _) if chart.config.get(name).is_some_and(is_tried_whole) => Val::settled(),
            ("config" | "event" | "scope", _) => {
                let is_list = self.kind(&whole) == Kind::List;
                Val::input(whole, is_list)
            }
            _ => self.deeper(path, name),
        }
    }

    /// Returns an option of a command, which its default and the words that it takes can go into.
    fn option(&mut self, name: &str, whole: String) -> Val {
        let Some(arg) = self.chart.args.get(name) else {
            return Val::settled();
        };
        let mut value = Val::input(whole.clone(), false);
        if let Some(Literal::Text(text)) = &arg.default {
            let default = self.apart(&whole, |reader| match single_expression(&text.0) {
                Some(expr) => reader.source(expr),
                None => Val::of(Term::Literal(text.0.clone().into())),
            });
            value = value.join(default.unwrap_or_default());
        }
        let one_of = arg.one_of.as_ref();
        let allowed = one_of.and_then(|expr| self.apart(&whole, |reader| reader.source(&expr.0)));
        if let Some(allowed) = allowed {
            for term in &allowed.terms {
                match term {
                    Term::Input { path, .. } => {
                        self.links.push((whole.clone(), path.clone()));
                        let words = words_of_setting(self.chart, path);
                        self.note(&whole).literals.extend(words);
                    }
                    Term::Literal(word) => {
                        self.note(&whole).literals.insert(word.clone());
                    }
                    _ => {}
                }
            }
            value.computed.extend(allowed.computed);
        }
        value
    }

    /// Reads a let, or something that an option is made of, unless that is being read. It sees the chart's names, not
    /// those of the place that uses it.
    fn apart(&mut self, name: &str, read: impl FnOnce(&mut Self) -> Val) -> Option<Val> {
        if self.lets.iter().any(|open| open == name) {
            return None;
        }
        self.lets.push(name.to_owned());
        let scopes = std::mem::take(&mut self.scopes);
        let value = read(self);
        self.scopes = scopes;
        self.lets.pop();
        Some(value)
    }

    /// Returns an attribute of an item: of a file, a row, another instance.
    fn deeper(&mut self, path: &str, name: &str) -> Val {
        let whole = format!("{path}.{name}");
        let root = path.split('.').next().unwrap_or_default();
        match path {
            _ if root == "tables" && path.matches('.').count() == 1 => match name {
                "rows" | "open" => Val::input(format!("{path}.rows"), true),
                "lines" => Val::input(whole, false),
                _ => Val::settled(),
            },
            _ if path == "siblings.files" => {
                self.note(&whole);
                Val::input(whole, true)
            }
            _ => {
                let is_settled = name == "done" || root == "siblings" && name == "unreadable";
                let is_list = name == "lines" || self.kind(&whole) == Kind::List;
                // Items of which nothing but their number matters need be of one kind only.
                let list = if root == "siblings" { root } else { path };
                self.note(list).items = true;
                if is_settled {
                    return Val::settled();
                }
                Val::input(whole, is_list)
            }
        }
    }

    /// Returns what an input can be, as far as it is tried: by its type.
    pub(super) fn kind(&self, path: &str) -> Kind {
        let parts: Vec<&str> = path.split('.').collect();
        match parts.as_slice() {
            [.., LENGTH] => Kind::Integer,
            ["event", _, _] => Kind::Text,
            ["files", _, "path"]
            | ["tables", _, "rows", "path"]
            | ["siblings", "path"]
            | ["siblings", "files", _, _, ..] => Kind::Untried,
            ["review", "worst"] | ["gate", "times"] | ["session"] | ["siblings"] => {
                self.kind_by_type(&parts)
            }
            ["config" | "siblings", ..] => match self.kind_by_type(&parts) {
                Kind::List if parts[1] != "files" => Kind::Untried,
                kind => kind,
            },
            ["event" | "args" | "files" | "tables" | "checks", ..] => self.kind_by_type(&parts),
            _ => Kind::Untried,
        }
    }

    /// Returns what an input can be by its type.
    fn kind_by_type(&self, parts: &[&str]) -> Kind {
        let (root, rest) = parts.split_first().unwrap_or((&"", &[]));
        let below = |kind: Type, name: &&str| match kind.some() {
            Type::List(item) => item.some().field(name),
            kind => kind.field(name),
        };
        let root = self.types.name(root).unwrap_or(Type::Any);
        match rest.iter().fold(root, below).some() {
            Type::Boolean => Kind::Boolean,
            Type::Integer => Kind::Integer,
            Type::Text | Type::Word(_) => Kind::Text,
            Type::List(_) => Kind::List,
            Type::Any | Type::None | Type::Record(_) | Type::Optional(_) => Kind::Untried,
        }
    }
}
