//! The scope: where instances live. Also names that become paths or words on the command line.

use std::path::Path;

use super::resolver::Resolver;
use crate::chart::model::{Arg, Scope as ScopeSource, Source};
use crate::chart::shipped::CHARTS;
use crate::chart::{IN_GIT, OF_SESSION, Scope};
use crate::diagnostic::code::Code;
use crate::diagnostic::suggest::hint;
use crate::diagnostic::toml::at;
use crate::files::is_below;
use crate::files::pattern::is_slug;
use crate::text::shown;

/// What a word on the command line is made of.
const WORD: &str = "a lowercase letter, then lowercase letters, digits, `-` and `_`";

/// The options and arguments that commands have in every chart.
const RESERVED: &[&str] = &["chart", "check", "help", "instance", "phase", "session", "version"];

/// An option of `taskie enter` itself.
const FORCE: &str = "force";

impl Resolver<'_> {
    /// Resolves where instances live. Anything wrong is reported, and replaced by something valid.
    pub(super) fn scope(&mut self, source: &ScopeSource) -> Scope {
        let instances = source.instances.as_str();
        let mut found = ["/*", OF_SESSION].into_iter().filter_map(|end| {
            let folder = instances.strip_suffix(end)?;
            let is_folder = is_below(folder) && !folder.contains(['*', '{', '}']);
            is_folder.then_some((folder, end == OF_SESSION))
        });
        let (folder, per_session) = found.next().unwrap_or_else(|| {
            let message = format!(
                "`{instances}` must be a folder below the home, followed by `/*` or `{OF_SESSION}`"
            );
            let help = "write `plans/*` for instances that sessions share, or `sessions/{session}` for one per session";
            self.flaw(Code::BadPattern, at!["scope", "instances"], message, help);
            ("x", false)
        });
        let settings = source.settings.as_deref().and_then(|id| {
            let known = || CHARTS.iter().map(|chart| chart.id);
            let found = CHARTS.iter().find(|chart| chart.id == id);
            if found.is_none() {
                let message =
                    format!("there is no chart `{}` whose settings could count", shown(id));
                let help = hint(id, known()).unwrap_or_default();
                self.flaw(Code::UnknownName, at!["scope", "settings"], message, help);
            }
            found
        });
        Scope {
            settings,
            since: source.since.clone(),
            always: source.always.clone(),
            prompts: source.prompts.clone(),
            home: source.home.clone(),
            noun: source.noun.clone(),
            folder: folder.to_owned(),
            per_session,
        }
    }

    /// Checks names that become paths, or words on the command line.
    pub(super) fn names(&mut self, source: &Source) {
        let noun = source.scope.noun.as_str();
        let reserved = RESERVED.join(", ");
        // If each session has its own instance, the option is `--session` anyway.
        let is_session = source.scope.instances.ends_with(OF_SESSION) && noun == "session";
        if !is_word(noun) || RESERVED.contains(&noun) && !is_session {
            let message = format!("`{noun}` cannot be an option on the command line");
            let help = format!("an option is {WORD}, and not one of {reserved}");
            self.flaw(Code::BadName, at!["scope", "noun"], message, help);
        }
        self.names_of_options(source);
        for name in source.commands.keys() {
            if !is_word(name) || name == "help" {
                let message = format!("`{name}` cannot be a command");
                let help = format!("a command is {WORD}, and not `help`");
                self.flaw(Code::BadName, at!["commands", name], message, help);
            }
        }
        for name in source.prompts.keys() {
            if !is_slug(name) {
                let message = format!("`{name}` cannot be the name of a prompt");
                let help = "a prompt's name consists of letters, digits, `-` and `_`: it is also the name of a file";
                self.flaw(Code::BadName, at!["prompts", name], message, help);
            }
        }
        if !is_slug(&source.id) {
            let message = format!("`{}` cannot be the id of a chart", shown(&source.id));
            let help =
                "an id consists of letters, digits, `-` and `_`: it is also part of a file name";
            self.flaw(Code::BadName, at!["id"], message, help);
        }
        self.home(&source.scope.home);
    }

    /// Checks the names of options, and their letters.
    fn names_of_options(&mut self, source: &Source) {
        let noun = source.scope.noun.as_str();
        let reserved = RESERVED.join(", ");
        let mut of_phases = source.phases.values().flat_map(|phase| phase.fragments());
        let is_forced = of_phases.any(|fragment| fragment.text.contains("args.force"));
        for (name, arg) in &source.args {
            let is_taken =
                RESERVED.contains(&name.as_str()) || name == noun || name == FORCE && is_forced;
            if !is_word(name) || is_taken {
                let message = format!("`{name}` cannot be an option on the command line");
                let help = match name.as_str() {
                    FORCE => format!(
                        "`taskie enter` has its own --{FORCE}: rename this one, or use it in commands only"
                    ),
                    _ => format!("an option is {WORD}, and not one of {reserved}, {noun}"),
                };
                self.flaw(Code::BadName, at!["args", name], message, help);
            }
            let same =
                |(other, option): (&String, &Arg)| other != name && option.short() == arg.short();
            let is_letter = |short: char| short.is_ascii_lowercase() && short != 'h';
            if arg.short().is_some_and(|short| !is_letter(short))
                || arg.short().is_some() && source.args.iter().any(same)
            {
                let message = format!("`{name}` cannot have this short option");
                let help = "use a lowercase letter other than h that no other option has";
                self.flaw(Code::BadName, at!["args", name, "short"], message, help);
            }
        }
    }

    /// Checks that the home is a folder of the chart's own.
    fn home(&mut self, home: &str) {
        let home = home.strip_prefix(IN_GIT).unwrap_or(home);
        if Path::new(home).iter().any(|part| part == ".git") {
            let message = format!("`{home}` belongs to git");
            let help = "choose a folder of your own: home = \".notes\"";
            self.flaw(Code::BadPattern, at!["scope", "home"], message, help);
        }
        if !is_below(home) {
            let message = format!("`{home}` must be a folder below the project");
            let help = "write a relative path without `.` and `..`: home = \".notes\"";
            self.flaw(Code::BadPattern, at!["scope", "home"], message, help);
        }
    }
}

fn is_word(name: &str) -> bool {
    name.starts_with(|sign: char| sign.is_ascii_lowercase())
        && is_slug(name)
        && name == name.to_lowercase()
}
