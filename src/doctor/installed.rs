//! Finds out how this program and the plugins were installed, and so how to update them.

use std::path::{Component, Path, PathBuf};

use super::diagnosis::{Diagnosis, shown};
use crate::diagnostic::quote::quoted;

const NAME: &str = env!("CARGO_PKG_NAME");
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns what the path of a program says about how it was installed, and how to update it.
fn origin(exe: &Path) -> (String, String) {
    let above = exe.parent().and_then(Path::parent).unwrap_or(Path::new(""));
    if let Some(source) = cargo_source(&above.join(".crates.toml")) {
        return of_cargo(&source);
    }
    match (before(exe, "node_modules"), before(exe, "target")) {
        (Some(packages), _) if packages.ends_with("lib") => (
            "installed by npm, globally".to_owned(),
            format!("`npm install --global {NAME}@latest`"),
        ),
        (Some(packages), _) => (
            format!("installed by npm in {}", shown(&packages)),
            format!("`npm install {NAME}@latest` in that folder"),
        ),
        _ if is_kept_by_plugin(exe) => (
            "downloaded by the plugin".to_owned(),
            "nothing to do: it is replaced when the plugin is updated".to_owned(),
        ),
        (None, Some(clone)) if clone.join("Cargo.toml").is_file() => {
            let path = quoted(&clone.display().to_string());
            (
                format!("built in {}", shown(&clone)),
                format!("`git -C {path} pull`, then build it again"),
            )
        }
        _ => (
            "installed by hand".to_owned(),
            "a later release, if there is one, replaces it".to_owned(),
        ),
    }
}

/// Returns the same for `cargo install` from this source, as cargo records it: `path+file:///home/u/taskie`.
fn of_cargo(source: &str) -> (String, String) {
    let by = |from: &str| format!("installed by cargo from {from}");
    let again = |what: &str| format!("`cargo install --locked --profile dist {what}`");
    if let Some(path) = source.strip_prefix("path+file://") {
        let clone = shown(Path::new(path));
        let path = quoted(path);
        let install = again(&format!("--path {path}"));
        return (by(&clone), format!("`git -C {path} pull`, then {install}"));
    }
    if let Some(url) = source.strip_prefix("git+") {
        let url = url.split(['?', '#']).next().unwrap_or_default();
        return (by(url), again(&format!("--git {url}")));
    }
    (by("its registry"), again(NAME))
}

/// Returns whether this is the copy that a plugin's launcher keeps: next to its folder is the launcher's link, named
/// after the version.
pub(super) fn is_kept_by_plugin(exe: &Path) -> bool {
    let exe = exe.canonicalize().unwrap_or_else(|_| exe.to_owned());
    let data = exe.parent().and_then(Path::parent);
    data.is_some_and(|data| data.join(format!("{NAME}-{VERSION}")).is_symlink())
}

/// Returns the part of a path before its first component `name`.
fn before(path: &Path, name: &str) -> Option<PathBuf> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let at = parts.iter().position(|part| part.as_os_str() == name)?;
    Some(parts[..at].iter().collect())
}

/// Returns where cargo got this program from, if cargo installed it: cargo's records are next to its folder of
/// programs.
fn cargo_source(notes: &Path) -> Option<String> {
    let notes: toml::Table = std::fs::read_to_string(notes).ok()?.parse().ok()?;
    let installed = notes.get("v1")?.as_table()?;
    installed.keys().find_map(|package| {
        let rest = package.strip_prefix(NAME)?.strip_prefix(' ')?;
        let (_, source) = rest.split_once(" (")?;
        source.strip_suffix(')').map(str::to_owned)
    })
}

/// Describes this program and how to update it.
pub(super) fn program() -> Diagnosis {
    let exe = std::env::current_exe().unwrap_or_default();
    let exe = exe.canonicalize().unwrap_or(exe);
    let (how, update) = origin(&exe);
    let text = format!("{NAME} {VERSION}, {}, {how}", shown(&exe));
    Diagnosis::ok("binary", text).and(update)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_place_of_a_program_says_how_it_was_installed() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        for (folder, source) in [
            ("path", "path+file:///home/u/my clone"),
            ("git", "git+https://host.invalid/o/r?branch=main#0123"),
            ("registry", "registry+https://index.invalid"),
        ] {
            fs::create_dir_all(dir.join(folder)).unwrap();
            let notes = format!(
                "[v1]\n\"other 1.0.0 (x)\" = [\"other\"]\n\"taskie 0.1.0 ({source})\" = [\"taskie\"]\n"
            );
            fs::write(dir.join(folder).join(".crates.toml"), notes).unwrap();
        }
        fs::create_dir_all(dir.join("clone/target/debug")).unwrap();
        fs::write(dir.join("clone/Cargo.toml"), "").unwrap();
        fs::create_dir_all(dir.join("data")).unwrap();
        std::os::unix::fs::symlink("x", dir.join(format!("data/taskie-{VERSION}"))).unwrap();
        let cases = [
            (
                "path/bin/taskie",
                "installed by cargo from /home/u/my clone",
                "`git -C '/home/u/my clone' pull`, then `cargo install --locked --profile dist --path '/home/u/my clone'`",
            ),
            (
                "git/bin/taskie",
                "installed by cargo from https://host.invalid/o/r",
                "`cargo install --locked --profile dist --git https://host.invalid/o/r`",
            ),
            (
                "registry/bin/taskie",
                "installed by cargo from its registry",
                "`cargo install --locked --profile dist taskie`",
            ),
            (
                "lib/node_modules/taskie/node_modules/@taskie/linux-x64/bin/taskie",
                "installed by npm, globally",
                "`npm install --global taskie@latest`",
            ),
            (
                "app/node_modules/@taskie/linux-x64/bin/taskie",
                "installed by npm in DIR/app",
                "`npm install taskie@latest` in that folder",
            ),
            (
                "data/0.1.0/taskie",
                "downloaded by the plugin",
                "nothing to do: it is replaced when the plugin is updated",
            ),
            (
                "clone/target/debug/taskie",
                "built in DIR/clone",
                "`git -C DIR/clone pull`, then build it again",
            ),
            ("opt/taskie", "installed by hand", "a later release, if there is one, replaces it"),
        ];
        for (exe, how, update) in cases {
            let (found, does) = origin(&dir.join(exe));
            let plain = |text: String| text.replace(&dir.display().to_string(), "DIR");
            assert_eq!((plain(found), plain(does)), (how.to_owned(), update.to_owned()), "{exe}");
        }
    }
}
