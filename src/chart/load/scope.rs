//! The scope: where instances live. Also names that become paths or words on the command line.

use std::path::Path;

use super::resolver::Resolver;
use crate::chart::model::{Given, IN_GIT, Scope, Source};
use crate::diagnostic::code::Code;
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
    /// Checks where instances live.
    pub(super) fn scope(&mut self, scope: &Scope) {
        let instances = scope.instances.as_str();
        if !has_folder(scope) {
            let message = format!(
                "`{instances}` must be a folder below the home, followed by `/*` or `/{{session}}`"
            );
            let help = "write `plans/*` for instances that sessions share, or `sessions/{session}` for one per session";
            self.flaw(Code::BadPattern, at!["scope", "instances"], message, help);
        }
        self.home(scope);
    }

    /// Checks names that become paths, or words on the command line.
    pub(super) fn names(&mut self, source: &Source) {
        let noun = source.scope.noun();
        let reserved = RESERVED.join(", ");
        // If each session has its own instance, the option is `--session` anyway.
        let is_session = source.scope.is_per_session() && noun == "session";
        if has_folder(&source.scope) && (!is_word(noun) || RESERVED.contains(&noun) && !is_session)
        {
            let message = format!("`{noun}` cannot be an option on the command line");
            let help = format!(
                "the folder's name without its last `s` is an option: {WORD}, and not one of {reserved}"
            );
            self.flaw(Code::BadName, at!["scope", "instances"], message, help);
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
    }

    /// Checks the names of options.
    fn names_of_options(&mut self, source: &Source) {
        let noun = source.scope.noun();
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
            let mut before = source.args.values().take_while(|other| !std::ptr::eq(*other, arg));
            if arg.given == Some(Given::F) && before.any(|other| other.given == arg.given) {
                let message = "another option is `-f` already";
                self.flaw(Code::BadName, at!["args", name, "given"], message, "remove it");
            }
        }
    }

    /// Checks that the home is a folder of the chart's own.
    fn home(&mut self, scope: &Scope) {
        let home = scope.home.strip_prefix(IN_GIT).unwrap_or(&scope.home);
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

/// Returns whether the instances are in a folder.
fn has_folder(scope: &Scope) -> bool {
    let is_folder = |folder: &str| is_below(folder) && !folder.contains(['*', '{', '}']);
    scope.folder_named().is_some_and(is_folder)
}

fn is_word(name: &str) -> bool {
    name.starts_with(|sign: char| sign.is_ascii_lowercase())
        && is_slug(name)
        && name == name.to_lowercase()
}
