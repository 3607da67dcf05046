//! Documents as a reader uses them: their fenced blocks, and a shell to type the commands into.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Project, Ran};

/// A fenced block of a document.
pub struct Block {
    /// The word after the opening fence.
    pub language: String,
    pub text: String,
}

/// The blocks of a document of this repository, in order.
pub fn blocks(document: &str) -> Vec<Block> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = fs::read_to_string(path).unwrap();
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        match (line.strip_prefix("```"), open) {
            (Some(language), false) => {
                blocks.push(Block {
                    language: language.to_owned(),
                    text: String::new(),
                });
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => {
                let block = blocks.last_mut().unwrap();
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, false) => {}
        }
    }
    assert!(!open, "{document}: a block is not closed");
    blocks
}

/// The texts of the blocks in one language.
pub fn texts(document: &str, language: &str) -> Vec<String> {
    let of_language = |block: &Block| block.language == language;
    let blocks = blocks(document).into_iter().filter(of_language);
    blocks.map(|block| block.text).collect()
}

/// What stands in for cargo: it plays the demo, and knows the other commands that the documents tell a reader
/// to type. Running those here would build this package once more.
const CARGO: &str = r#"
cargo() {
  case "$*" in
    "run -- demo") taskie demo ;;
    "test" | "install --locked --profile dist --path ." | "uninstall taskie") ;;
    *) echo "no test knows: cargo $*" >&2; return 1 ;;
  esac
}
"#;

/// Types a block into a shell in the project's root. The first command that fails ends the block.
pub fn typed(project: &Project, block: &str) -> Ran {
    let block = format!("set -e\n{CARGO}{block}");
    Ran::of(in_shell(project, &block).output().unwrap())
}

/// A shell in the project's root that runs these lines. The built binary is the `taskie` on PATH.
pub fn in_shell(project: &Project, lines: &str) -> Command {
    let built = Path::new(env!("CARGO_BIN_EXE_taskie")).parent().unwrap();
    let like = project.command(["--version"]);
    let mut command = Command::new("sh");
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{}:{path}", project.bin.display(), built.display());
    command
        .args(["-c", lines])
        .env("PATH", path)
        // The host refuses root its reviewer's flags unless this is set; the tests may run as root.
        .env("IS_SANDBOX", "1")
        .current_dir(&project.root)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}
