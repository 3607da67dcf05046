//! Documents as a reader uses them: their fenced blocks, and a shell to type the commands into.

use std::fs;
use std::path::Path;

use crate::check_chart::compiled_in;
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
                blocks.push(Block { language: language.to_owned(), text: String::new() });
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

/// Takes the place of cargo: it plays the demo, and knows the other commands that the documents tell a reader to type.
/// Running those here would build this package once more. For `taskie check-chart` without a chart, it prints the
/// output of the one run that all tests share.
const COMMANDS: &str = r#"
taskie() {
  case "$*" in
    check-chart) printf '%s' "${COMPILED_IN?}" ;;
    *) command taskie "$@" ;;
  esac
}
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
    let mut command = project.shell(&format!("set -e\n{COMMANDS}{block}"));
    // The host refuses root its reviewer's flags unless this is set; the tests may run as root.
    command.env("IS_SANDBOX", "1");
    let checks = block.lines().any(|line| line.trim_end().ends_with("taskie check-chart"));
    if checks {
        command.env("COMPILED_IN", compiled_in());
    }
    Ran::of(command.output().unwrap())
}
