//! Signatures of receipts, made and checked with `ssh-keygen -Y`, as git does with commits.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::os::file::{HOME, private_tempdir};
use crate::process::program;
use crate::text::shown;

/// What the signatures are for; `ssh-keygen` refuses one that was made for something else.
const NAMESPACE: &str = "taskie-receipt";

/// What the folders of signatures that are being made or checked begin with.
const SIGNATURE: &str = "taskie-signature-";

/// Whose keys count.
#[derive(Debug)]
pub(crate) struct Signers {
    /// A list as `ssh-keygen` wants it.
    pub(crate) file: PathBuf,
    /// The user has named it, so what is not signed does not hold.
    pub(crate) are_required: bool,
}

/// What signs.
#[derive(Debug, Clone)]
pub(crate) enum Key {
    File(PathBuf),
    /// A public key, whose other half the user's ssh agent has.
    Public(String),
}

/// Says which key it is.
impl std::fmt::Display for Key {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(file) => file.display().fmt(out),
            Self::Public(key) => write!(out, "the key {} of the ssh agent", shown(key)),
        }
    }
}

/// Signs the hash of a statement with an ssh key.
pub(crate) fn sign(root: &Path, key: &Key, sha256: &str) -> Result<String, String> {
    let mut keygen = keygen(root)?;
    keygen.args(["-Y", "sign", "-n", NAMESPACE]);
    match key {
        Key::File(file) => said(keygen.arg("-f").arg(file), sha256),
        Key::Public(key) => {
            let folder = private_tempdir(SIGNATURE).map_err(|error| error.to_string())?;
            let file = folder.path().join("key.pub");
            fs::write(&file, format!("{key}\n")).map_err(|error| error.to_string())?;
            let signed = said(keygen.args(["-U", "-f"]).arg(&file), sha256);
            signed.map_err(|why| format!("{why} (`ssh-add` gives the agent a key)"))
        }
    }
}

/// Checks a signature of a hash; the error says why it does not hold. `signers` is a file as `ssh-keygen` wants it; the
/// name is what it calls the key, and `None` if nobody has said whose key it is.
pub(crate) fn check(
    root: &Path,
    signers: Option<&Path>,
    sha256: &str,
    signature: &str,
) -> Result<Option<String>, String> {
    let folder = private_tempdir(SIGNATURE).map_err(|error| error.to_string())?;
    let file = folder.path().join("signature");
    fs::write(&file, signature).map_err(|error| error.to_string())?;
    let mut holds = keygen(root)?;
    holds.args(["-Y", "check-novalidate", "-n", NAMESPACE, "-s"]);
    holds.arg(&file);
    said(&mut holds, sha256)?;
    let Some(signers) = signers else {
        return Ok(None);
    };
    if !signers.is_file() {
        return Err(format!("the list of signers {} is missing", signers.display()));
    }
    let mut find = keygen(root)?;
    find.args(["-Y", "find-principals", "-f"]).arg(signers);
    find.arg("-s").arg(&file);
    let listed = said(&mut find, "").map_err(|_| {
        let signers = signers.display();
        format!("{signers} does not list its key as one that is valid now")
    })?;
    let name = listed.lines().next().unwrap_or_default().to_owned();
    let mut verify = keygen(root)?;
    verify.args(["-Y", "verify", "-n", NAMESPACE, "-I", &name, "-f"]);
    verify.arg(signers).arg("-s").arg(&file);
    said(&mut verify, sha256).map(|_| Some(name))
}

/// Returns the key that git signs with, or else the first of the user's own. Git takes the text of a public key, too.
pub(crate) fn own_key(configured: Option<String>) -> Option<Key> {
    let home = PathBuf::from(std::env::var_os(HOME)?);
    let text = configured.as_deref().unwrap_or_default();
    let is_text = text.starts_with("ssh-");
    let public = text.strip_prefix("key::").or(is_text.then_some(text));
    if let Some(public) = public {
        return Some(Key::Public(public.trim().to_owned()));
    }
    let given = configured.map(PathBuf::from);
    let usual = ["id_ed25519", "id_ecdsa", "id_rsa"];
    let usual = usual.iter().map(|name| home.join(".ssh").join(name));
    let mut keys = given.into_iter().chain(usual);
    keys.find(|key| key.is_file()).map(Key::File)
}

fn keygen(root: &Path) -> Result<Command, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Ok(Command::new(program::locate("ssh-keygen", &path, root)?))
}

/// Runs a command with this on stdin, and returns what it prints; the error is what it says.
fn said(command: &mut Command, stdin: &str) -> Result<String, String> {
    let unrun = |error: std::io::Error| format!("ssh-keygen cannot be run: {error}");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(unrun)?;
    if let Some(mut pipe) = child.stdin.take() {
        // A program that reads nothing says why it fails.
        let _ = pipe.write_all(stdin.as_bytes());
    }
    let output = child.wait_with_output().map_err(unrun)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = [output.stderr, output.stdout].concat();
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    Err(format!("ssh-keygen: {}", last.unwrap_or("it failed").trim()))
}
