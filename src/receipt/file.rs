//! The files of receipts.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::render::rendered;
use super::statement::{Receipt, Statement};
use crate::chart::Chart;
use crate::disk;
use crate::hash;
use crate::os::regular::open_to_write;
use crate::project::change::RECEIPTS;
use crate::store::git_dir;
use crate::store::journal::Journal;

/// The setting that says where receipts are kept, and its value for: in the directory of the instance, too.
pub(crate) const SETTING: &str = "receipts";
const COMMIT: &str = "commit";

/// The folder of receipts in the git directory.
const FOLDER: &str = "taskie/receipts";

/// Adds the receipts that are not there yet; the caller holds the write lock. `dir` is the directory of the instance, from the
/// root on, and the first of its files gets each line, too, if it `is_committed`.
pub(crate) fn add(
    chart: &Chart,
    (root, dir): (&Path, &Path),
    journal: &Journal,
    is_committed: bool,
) -> io::Result<()> {
    let Some(folder) = folder(root) else { return Ok(()) };
    let file = folder.join(format!("{}.jsonl", journal.instance()));
    let known = read(&file)?;
    let last = known.last().map(|(_, receipt)| receipt.as_ref().map_or("", |it| &*it.at));
    let mut before = known.last().map(|(line, _)| hash::of(line.as_bytes()));
    let mut text = String::new();
    for mut receipt in rendered(chart, dir, &journal.read()) {
        if Some(&*receipt.at) <= last {
            continue;
        }
        receipt.before = before;
        let line = serde_json::to_string(&receipt.statement())?;
        before = Some(hash::of(line.as_bytes()));
        text += &format!("{line}\n");
    }
    if text.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(&folder)?;
    append(&file, &text)?;
    match is_committed {
        true => append(&root.join(dir).join(RECEIPTS), &text),
        false => Ok(()),
    }
}

/// Returns whether a value of the settings says that receipts are committed.
pub(crate) fn is_committed(setting: Option<&Json>) -> bool {
    setting.is_some_and(|value| *value == COMMIT)
}

/// Returns the folder of the receipts; `None` outside git.
pub(super) fn folder(root: &Path) -> Option<PathBuf> {
    Some(git_dir::of(root)?.1.join(FOLDER))
}

/// Returns the lines of a file, each with its receipt; `None` if it is none.
pub(super) fn read(file: &Path) -> io::Result<Vec<(String, Option<Receipt>)>> {
    let text = disk::read_regular(file)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines = text.lines().map(|line| {
        let statement: Option<Statement> = serde_json::from_str(line).ok();
        (line.to_owned(), statement.map(|it| it.predicate))
    });
    Ok(lines.collect())
}

/// Appends to a file. What a process that was killed has left of a line goes.
fn append(file: &Path, text: &str) -> io::Result<()> {
    let (mut file, _) = open_to_write(file)?;
    let mut old = Vec::new();
    file.read_to_end(&mut old)?;
    let whole = old.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    file.set_len(whole as u64)?;
    file.seek(SeekFrom::Start(whole as u64))?;
    file.write_all(text.as_bytes())?;
    file.sync_data()
}
