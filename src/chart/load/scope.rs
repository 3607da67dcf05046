//! The scope: where instances live. Also names that become paths or words on the command line.

use std::path::Path;

use super::resolver::Resolver;
use crate::chart::model::{Arg, Scope as ScopeSource, Source};
use crate::chart::shipped::CHARTS;
use crate::chart::{IN_GIT, InstanceChoice, Scope};
use crate::diagnostic::code::Code;
use crate::diagnostic::suggest::hint;
use crate::diagnostic::toml::at;
use crate::files::is_below;
use crate::files::pattern::{Pattern, is_slug};
use crate::text::shown;

/// What a word on the command line is made of.
const WORD: &str = "a lowercase letter, then lowercase letters, digits, `-` and `_`";

/// The options and arguments that commands have in every chart.
const RESERVED: &[&str] = &[
    "chart", "check", "help", "instance", "phase", "session", "version",
];

/// An option of `taskie enter` itself.
const FORCE: &str = "force";

impl Resolver<'_> {
    /// Resolves where instances live. Anything wrong is reported, and replaced by something valid.
    pub(super) fn scope(&mut self, source: &ScopeSource) -> Scope {
        let touch: Vec<Pattern> = source
            .touch
            .iter()
            .enumerate()
            .filter_map(|(index, pattern)| self.pattern(at!["scope", "touch", index], pattern))
            .collect();
        let (key, value, end) = match (&source.newest, &source.path) {
            (Some(newest), None) => ("newest", newest.as_str(), "/*"),
            (None, Some(path)) => ("path", path.as_str(), "/{session}"),
            (Some(_), Some(_)) => {
                let help = "`newest` picks the most recently modified instance, `path` the one of the session: remove one";
                let message = "a scope has either `newest` or `path`, not both";
                self.flaw(Code::ConflictingKeys, at!["scope", "path"], message, help);
                ("newest", "x/*", "/*")
            }
            (None, None) => {
                let help = "write newest = \"plans/*\" for the most recently modified instance, or path = \"sessions/{session}\" for one per session";
                let message = "the scope has neither `newest` nor `path`";
                self.flaw(Code::MissingKey, at!["scope"], message, help);
                ("newest", "x/*", "/*")
            }
        };
        let folder = value.strip_suffix(end).unwrap_or(value);
        if folder == value || folder.contains(['*', '{', '}']) {
            let message = format!("`{value}` must be a folder, followed by `{end}`");
            let help = match key {
                "newest" => "the instances are in a folder below the home: write `plans/*`",
                _ => "the instances are in a folder below the home: write `sessions/{session}`",
            };
            self.flaw(Code::BadPattern, at!["scope", key], message, help);
        }
        if !is_below(folder) {
            let message = format!("`{folder}` must be a folder below the home");
            let help = "write a relative path without `..`";
            self.flaw(Code::BadPattern, at!["scope", key], message, help);
        }
        let is_per_session = key == "path";
        if is_per_session && !touch.is_empty() {
            let message = "`touch` next to `path` has no effect";
            let help = "each session has its own instance: remove it";
            self.flaw(Code::ConflictingKeys, at!["scope", "touch"], message, help);
        }
        if !is_per_session && source.touch.is_empty() && source.newest.is_some() {
            let help = "touch = [\"*.md\", \"state.json\"]";
            let message = "`newest` needs `touch`: the files whose modification counts";
            self.flaw(Code::MissingKey, at!["scope"], message, help);
        }
        let settings = source.settings.as_deref().and_then(|id| {
            let known = || CHARTS.iter().map(|chart| chart.id);
            let found = CHARTS.iter().find(|chart| chart.id == id);
            if found.is_none() {
                let message = format!(
                    "there is no chart `{}` whose settings could count",
                    shown(id)
                );
                let help = hint(id, known()).unwrap_or_default();
                self.flaw(Code::UnknownName, at!["scope", "settings"], message, help);
            }
            found
        });
        Scope {
            settings,
            since: source.since.clone(),
            always: source.always.clone(),
            skip: source.skip.clone(),
            prompts: source.prompts.clone(),
            home: source.home.clone(),
            noun: source.noun.clone(),
            folder: folder.to_owned(),
            choice: match is_per_session {
                true => InstanceChoice::Session,
                false => InstanceChoice::Newest { touch },
            },
        }
    }

    /// Checks names that become paths, or words on the command line.
    pub(super) fn names(&mut self, source: &Source) {
        let noun = source.scope.noun.as_str();
        let reserved = RESERVED.join(", ");
        // If each session has its own instance, the option is `--session` anyway.
        let is_session = source.scope.path.is_some() && noun == "session";
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
        for (index, name) in source.prompts.names.iter().enumerate() {
            if !is_slug(name) {
                let message = format!("`{name}` cannot be the name of a prompt");
                let help = "a prompt's name consists of letters, digits, `-` and `_`: it is also the name of a file";
                self.flaw(Code::BadName, at!["prompts", "names", index], message, help);
            }
        }
        if !is_slug(&source.id) {
            let message = format!("`{}` cannot be the id of a chart", shown(&source.id));
            let help =
                "an id consists of letters, digits, `-` and `_`: it is also part of a file name";
            self.flaw(Code::BadName, at!["id"], message, help);
        }
        if source.hook_timeout == 0 {
            let help = "write the seconds after which the host ends the hook, or remove it";
            let message = "a hook that is killed after 0 seconds cannot answer";
            self.flaw(Code::WrongType, at!["hook_timeout"], message, help);
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
                |(other, option): (&String, &Arg)| other != name && option.short == arg.short;
            let is_letter = |short: char| short.is_ascii_lowercase() && short != 'h';
            if arg.short.is_some_and(|short| !is_letter(short))
                || arg.short.is_some() && source.args.iter().any(same)
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
