//! The files of receipts.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::render::rendered;
use super::statement::Receipt;
use crate::chart::Chart;
use crate::disk;
use crate::hash;
use crate::os::regular::open_to_write;
use crate::project::change::RECEIPTS;
use crate::store::git_dir;
use crate::store::journal::Journal;

/// The value of the setting `receipts` for: in the directory of the instance, too.
pub(crate) const COMMIT: &str = "commit";

/// The folder of receipts in the git directory.
const FOLDER: &str = "taskie/receipts";

/// Adds the receipts that are not there yet to the file of an instance, and to the one in its directory if they are committed.
/// `dir` is that directory, from the root on.
pub(crate) fn add(
    chart: &Chart,
    (root, dir): (&Path, &Path),
    journal: &Journal,
    is_committed: bool,
) -> io::Result<()> {
    let (Some(folder), Some(tree)) = (folder(root), git_dir::around(root)) else { return Ok(()) };
    let from_top = root.strip_prefix(&tree.top).unwrap_or(Path::new("")).join(dir);
    let receipts = rendered(chart, &from_top, &journal.read());
    if receipts.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(&folder)?;
    append(&folder.join(format!("{}.jsonl", journal.instance)), &receipts)?;
    match is_committed {
        true => append(&root.join(dir).join(RECEIPTS), &receipts),
        false => Ok(()),
    }
}

/// Returns the folder of the receipts; `None` outside git.
pub(super) fn folder(root: &Path) -> Option<PathBuf> {
    Some(git_dir::of(root)?.1.join(FOLDER))
}

/// Returns the lines of a file, each with its receipt; `None` if it is none.
pub(super) fn read(file: &Path) -> io::Result<Vec<(String, Option<Receipt>)>> {
    Ok(parsed(&disk::read_regular(file)?.unwrap_or_default()))
}

fn parsed(text: &[u8]) -> Vec<(String, Option<Receipt>)> {
    let text = String::from_utf8_lossy(text);
    text.lines().map(|line| (line.to_owned(), Receipt::of(line))).collect()
}

/// Appends the receipts that a file lacks, each with the hash of the line before it. It removes an incomplete line, which a
/// process that was killed has written. Other work trees may do the same.
fn append(file: &Path, receipts: &[Receipt]) -> io::Result<()> {
    let (mut file, _) = open_to_write(file)?;
    file.lock()?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    text.truncate(text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
    let whole = text.len() as u64;
    let known = parsed(&text);
    let mut before = known.last().map(|(line, _)| hash::of(line.as_bytes()));
    let is_known = |receipt: &Receipt| {
        known.iter().any(|(_, known)| known.as_ref().is_some_and(|known| known.is_same(receipt)))
    };
    let mut more = String::new();
    for receipt in receipts.iter().filter(|receipt| !is_known(receipt)) {
        let line = Receipt { before, ..receipt.clone() }.line();
        before = Some(hash::of(line.as_bytes()));
        more += &format!("{line}\n");
    }
    if more.is_empty() {
        return Ok(());
    }
    file.set_len(whole)?;
    file.seek(SeekFrom::Start(whole))?;
    file.write_all(more.as_bytes())?;
    file.sync_data()
}
