//! Checks the other hosts that the user has: whether something calls the Stop hook there, whether the host may run it, and
//! whether it runs only once.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::binary::{self, Version};
use super::diagnosis::{Diagnosis, shown};
use super::settings::{HostSettings, is_of};
use crate::chart::choice::Choice;
use crate::host::events::STOP;
use crate::host::hosts::{DEFAULT, HOSTS};

/// What was found, and whether one of the hosts calls the Stop hook.
#[derive(Debug, Default)]
pub(super) struct Others {
    pub(super) found: Vec<Diagnosis>,
    pub(super) call: bool,
}

/// Something that calls the Stop hook.
struct Caller {
    text: String,
    /// What the host calls it where it says which hooks it trusts.
    key: String,
}

/// Checks each host whose program or settings are here; `dirs` are the folders of the `project` that may hold settings.
pub(super) fn check(choice: &Choice<'_>, dirs: &[PathBuf], project: &Path) -> Others {
    let mut others = Others::default();
    for host in HOSTS.iter().filter(|host| host.id != DEFAULT.id) {
        let settings = HostSettings::read(host, dirs);
        let program = binary::located(host.id, project).ok();
        if program.is_some() || settings.exist() {
            others.check(&settings, choice, program.as_deref());
        }
    }
    others
}

impl Others {
    fn check(&mut self, settings: &HostSettings, choice: &Choice<'_>, program: Option<&Path>) {
        let host = settings.host;
        let name = host.name;
        let callers = callers(settings, choice);
        let Some(caller) = callers.first() else {
            if let Choice::Embedded(chart) = choice {
                let text = format!("nothing calls the Stop hook in {name}");
                let install = host.install.replace("PLUGIN", chart.id);
                let help = format!("to use it there, in a clone of the repository: {install}");
                self.found.push(Diagnosis::ok("host", text).and(help));
            }
            return;
        };
        self.call = true;
        let version = program
            .and_then(|program| binary::version_of(program).ok())
            .and_then(|text| Version::find(&text));
        let numbered =
            version.map_or_else(|| name.to_owned(), |version| format!("{name} {version}"));
        let since = Version::find(host.since);
        let untrusted = callers.iter().find(|caller| !settings.trust(&caller.key));
        self.found.push(match (since, untrusted) {
            (Some(since), _) if version.is_some_and(|version| version < since) => {
                let text = format!("{numbered} runs no hooks of plugins");
                Diagnosis::problem("host", text, format!("update it: {since} or later does"))
            }
            (_, Some(caller)) => {
                let text =
                    format!("{numbered} doesn't trust {} yet, so it doesn't run it", caller.text);
                let help = format!("start `{}` once, and trust the hooks", host.id);
                Diagnosis::problem("host", text, help)
            }
            _ => Diagnosis::ok("host", format!("{numbered} runs {}", caller.text)),
        });
        if let Some(second) = callers.get(1) {
            let text = format!("{name} runs {} too, so there are two at each stop", second.text);
            self.found.push(Diagnosis::warning("host", text, "remove one of the two"));
        }
    }
}

/// Returns the plugin, if it is installed and not disabled, and the settings files that call the Stop hook.
fn callers(settings: &HostSettings, choice: &Choice<'_>) -> Vec<Caller> {
    let is_on = |value: &Json| {
        *value != Json::Bool(false) && value.get("enabled") != Some(&Json::Bool(false))
    };
    let plugin = match choice {
        Choice::Embedded(chart) => {
            let mut plugins = settings.plugins.iter();
            plugins.find(|(key, value)| is_of(key, chart.id) && is_on(value))
        }
        Choice::File(_) => None,
    };
    let plugin = plugin.map(|(key, _)| Caller {
        text: format!("the Stop hook of the plugin {key}"),
        key: key.clone(),
    });
    let hooks = settings.hooks(choice, STOP);
    let hooks = hooks.iter().map(|hook| Caller {
        text: format!("the Stop hook in {}", shown(&hook.file.path)),
        key: hook.file.path.display().to_string(),
    });
    plugin.into_iter().chain(hooks).collect()
}
