//! Fields, settings and options: their types, bounds and defaults, and the values assigned to them.

use super::resolver::Resolver;
use crate::chart::field::Phases;
use crate::chart::kind::Use;
use crate::chart::known::{BASE, KNOWN};
use crate::chart::model::{Assign, Cycle, Direction, Field, FieldType, IN_GIT, Looser, Source};
use crate::diagnostic::code::Code;
use crate::diagnostic::suggest::did_you_mean;
use crate::diagnostic::toml::{Segment, at, below};
use crate::expr::source::Literal;
use crate::hash::IndexMap;

/// Gives the settings that name reviewers or cycles their names.
pub(super) fn name_words(
    settings: &mut IndexMap<String, Field>,
    reviewers: impl Fn() -> Vec<String>,
    cycles: impl Fn() -> Vec<String>,
) {
    settings.values_mut().for_each(|setting| setting.name_words(&reviewers, &cycles));
}

impl Resolver<'_> {
    /// Resolves the fields that other keys name, and checks assignments.
    pub(super) fn fields(&mut self, source: &Source, phases: &Phases) {
        let state = &source.state;
        if let Some(field) = self.field(at!["state"], state, &source.context)
            && field.kind != FieldType::Phase
        {
            let message = format!("`{state}` holds the phase and must be of type phase");
            self.flaw(Code::WrongType, at!["context", state, "type"], message, "");
        }
        if let Some(next) = &source.next {
            self.field(at!["next"], next, &source.context);
        } else if !source.cycles.is_empty() {
            let help = "name the context field that holds the phase that comes next: next = \"next_phase\"";
            self.flaw(Code::MissingKey, at!["cycles"], "a chart with cycles needs `next`", help);
        }
        if source.scope.home.starts_with(IN_GIT) {
            self.field(at!["context"], BASE, &source.context);
        }
        self.typed("context", &source.context, phases);
        self.typed("config", &source.config, phases);
        for (name, field) in &source.context {
            let Some(setting) = field.setting() else {
                continue;
            };
            let path = at!["context", name, "default"];
            let known = source.config.keys().map(String::as_str);
            self.known(path, Code::UnknownName, setting, known);
            let Some(own) = source.config.get(setting) else { continue };
            if (own.kind, own.is_nullable()) != (field.kind, field.is_nullable()) {
                let message =
                    format!("`{name}` and the setting `{setting}` must have the same type");
                self.flaw(Code::BadDefault, path, message, "");
            } else if !own.is_within(field) {
                let (wanted, given) = (field.describe(), own.describe());
                let message =
                    format!("`{name}` is {wanted}, but the setting `{setting}` is {given}");
                let help = format!("narrow [config.{setting}], or widen the field");
                self.flaw(Code::BadDefault, path, message, help);
            }
        }
        self.options(source, phases);
        for (id, own) in &source.cycles {
            self.cycle_fields(at!["cycles", id], own, source, phases);
        }
        for (name, phase) in &source.phases {
            self.assigned(at!["phases", name, "entry"], &phase.entry, source, phases);
        }
        for (event, rules) in &source.on {
            for (index, rule) in rules.iter().enumerate() {
                let path = at!["on", event, index, "assign"];
                self.assigned(path, &rule.assign, source, phases);
            }
        }
        for (name, command) in &source.commands {
            self.assigned(at!["commands", name, "assign"], &command.assign, source, phases);
        }
    }

    /// Checks fields of the state or of the settings: their types, bounds and defaults.
    fn typed(&mut self, table: &str, fields: &IndexMap<String, Field>, phases: &Phases) {
        for (name, field) in fields {
            let is_empty = self.range(at![table, name, "type"], field.minimum, field.maximum);
            let misfit = match &field.default {
                _ if is_empty => None,
                None if field.kind == FieldType::Phase || field.is_nullable() => None,
                Some(_) if table == "context" && field.setting().is_some() => None,
                None => Some(format!("`{name}` needs a default, because it cannot be null")),
                Some(Literal::Text(text)) if field.kind == FieldType::Phase => {
                    self.phase(at![table, name, "default"], &text.0, phases);
                    None
                }
                Some(default) => field
                    .accepts(phases, &default.json())
                    .err()
                    .map(|wanted| format!("the default of `{name}` must be {wanted}")),
            };
            if field.one_of.is_some() {
                self.has_words(at![table, name, "one_of"], field.kind);
            }
            let wanted = KNOWN.iter().find(|(known, _)| table == "config" && known == name);
            if wanted.is_some_and(|(_, kinds)| !kinds.contains(&field.kind)) {
                let message =
                    format!("the program reads the setting `{name}`, and it has another type");
                let help = "rename it, or give it the type that it has in the parts that come with the program";
                self.flaw(Code::WrongType, at![table, name, "type"], message, help);
            }
            self.looser(at![table, name, "looser"], field, phases);
            if table != "config" && !matches!(field.used, Use::Plain | Use::Id) {
                let message =
                    "only a setting can be a file, or a list of commands, reviewers or cycles";
                let help = "make it a string or a list";
                self.flaw(Code::WrongType, at![table, name, "type"], message, help);
            }
            if let Some(message) = misfit {
                let path = at![table, name, "default"];
                self.flaw(Code::BadDefault, path, message, "");
            }
        }
    }

    /// Checks that only what has words has some of its own.
    fn has_words(&mut self, path: &[Segment], kind: FieldType) {
        if !matches!(kind, FieldType::List | FieldType::String | FieldType::Phase) {
            let message = "only a string, a phase or a list can have `one_of`";
            self.flaw(Code::WrongType, path, message, "remove it");
        }
    }

    /// Reports a type without any number, and returns whether it is one.
    fn range(&mut self, path: &[Segment], least: Option<i64>, most: Option<i64>) -> bool {
        let is_empty = most.is_some() && least > most;
        if is_empty {
            let message = "no number is in this range";
            self.flaw(Code::WrongType, path, message, "write the smaller number first");
        }
        is_empty
    }

    /// Checks that the field can have the values that are looser, or has an order.
    fn looser(&mut self, path: &[Segment], field: &Field, phases: &Phases) {
        let (wanted, has_it) = match &field.looser {
            None => return,
            Some(Looser::Values(values)) => {
                for (index, value) in values.iter().enumerate() {
                    if let Err(wanted) = field.accepts(phases, &value.json()) {
                        let message = format!("a value must be {wanted}");
                        self.flaw(Code::WrongType, &below(path, index), message, "remove it");
                    }
                }
                return;
            }
            Some(Looser::Direction(
                Direction::Fewer | Direction::More | Direction::MoreThanDefault,
            )) => ("a list", [FieldType::List; 2]),
            Some(Looser::Direction(_)) => ("a number", [FieldType::Integer, FieldType::Amount]),
        };
        if !has_it.contains(&field.kind) {
            let message = format!("only {wanted} can get looser in this way");
            let help = "write `higher`, `higher-or-0` or `lower` for a number, `fewer` or `more` for a list, or a list of the looser values";
            self.flaw(Code::WrongType, path, message, help);
        }
    }

    fn options(&mut self, source: &Source, phases: &Phases) {
        for (name, arg) in &source.args {
            let (of, default) = (Field::from(arg.of.clone()), arg.default.as_ref());
            self.range(at!["args", name, "type"], arg.of.minimum, arg.of.maximum);
            let fits = default.map_or(Ok(()), |default| of.accepts_literal(phases, default));
            if let Err(wanted) = fits {
                let message = format!("the default of option `{name}` must be {wanted}");
                let path = at!["args", name, "default"];
                self.flaw(Code::BadDefault, path, message, "");
            }
            if arg.of.kind == FieldType::List {
                let help = "make it a string, and split it in the chart: `args.NAME | split(',')`";
                let message = format!("option `{name}` cannot be a list");
                self.flaw(Code::WrongType, at!["args", name, "type"], message, help);
            }
            if arg.one_of.is_some() {
                self.has_words(at!["args", name, "one_of"], arg.of.kind);
            }
            if arg.is_stdin() && (arg.of.kind != FieldType::String || arg.default.is_some()) {
                let message = "an option read from stdin is a string without `default`";
                let help = "make it a string, and remove `default`";
                let path = at!["args", name, "given"];
                self.flaw(Code::ConflictingKeys, path, message, help);
            }
        }
    }

    fn cycle_fields(&mut self, path: &[Segment], own: &Cycle, source: &Source, phases: &Phases) {
        for (key, field) in [("count", &own.count), ("limit", &own.limit)] {
            let path = below(path, key);
            let known = self.field(&path, field, &source.context);
            if known.is_some_and(|field| field.kind != FieldType::Integer) {
                let message = format!("`{field}` counts reviews and must be an integer");
                self.flaw(Code::WrongType, &path, message, "");
            }
        }
        self.assigned(&below(path, "entry"), &own.entry, source, phases);
    }

    fn assigned(&mut self, path: &[Segment], assign: &Assign, source: &Source, phases: &Phases) {
        for (name, value) in assign {
            let path = below(path, name);
            let Some(field) = self.field(&path, name, &source.context) else {
                if let (Some(flaw), Some(document)) = (self.flaws.last_mut(), self.document) {
                    flaw.span = document.locate_key(&path);
                }
                continue;
            };
            if let Err(wanted) = field.accepts_literal(phases, value) {
                let help = match (field.kind, value) {
                    // A text that is exactly a name was probably meant as one.
                    (_, Literal::Text(text))
                        if source.context.contains_key(&text.0)
                            || source.lets.contains_key(&text.0) =>
                    {
                        let name = &text.0;
                        Some(format!(
                            "`{name}` is a text here; to assign its value, write `\"{{{{ {name} }}}}\"`"
                        ))
                    }
                    (FieldType::Phase, Literal::Text(text)) => {
                        did_you_mean(&text.0, phases.keys().map(String::as_str))
                    }
                    _ => None,
                };
                let message = format!("`{name}` must be {wanted}");
                self.flaw(Code::WrongAssignment, &path, message, help.unwrap_or_default());
            }
        }
    }

    /// Returns the field of that name. If it is unknown, reports a flaw.
    fn field<'f>(
        &mut self,
        path: &[Segment],
        name: &str,
        fields: &'f IndexMap<String, Field>,
    ) -> Option<&'f Field> {
        let known = fields.keys().map(String::as_str);
        self.known(path, Code::UnknownField, name, known);
        fields.get(name)
    }
}
