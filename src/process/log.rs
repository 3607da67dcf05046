//! Reads a program's log and returns lines that are safe to show.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crate::os::regular::open_to_read;
use crate::text::plain;

/// How many bytes at the end of a log are read.
const TAIL: u64 = 64 * 1024;

/// The longest line that is returned, in characters.
const MAX_LINE: usize = 300;

/// Returns the last line of a log that says something, without escape sequences and control characters, cut at 300
/// characters. A line of signs only, such as the last one of a JSON object, says nothing.
///
/// Reads the file's last 64 KiB only. `None` if there is no such line, if the file cannot be read,
/// or if it is a symbolic link.
pub(crate) fn last_line(log: &Path) -> Option<String> {
    let lines = last_lines(log, usize::MAX);
    let mut lines = lines.lines().rev().map(str::trim_start);
    let says =
        |line: &&str| line.contains(|char: char| !char.is_ascii_punctuation() && char != ' ');
    lines.find(says).map(str::to_owned)
}

/// Returns the last lines of a log that have at most `room` characters together, without empty lines at the end.
pub(crate) fn last_lines(log: &Path, room: usize) -> String {
    let tail = tail(log).unwrap_or_default();
    let mut left = room;
    let lines = tail.trim_end().lines().rev().map(|line| {
        // What stands before a carriage return has been overwritten.
        let line = line.trim_end().rsplit('\r').next().unwrap_or_default();
        let indent: String = line.chars().take_while(|char| *char == ' ').collect();
        let line = format!("{indent}{}", plain(line));
        line.chars().take(MAX_LINE).collect::<String>()
    });
    let lines = lines.take_while(|line| {
        let size = line.chars().count() + 1;
        let fits = size <= left;
        left = left.saturating_sub(size);
        fits
    });
    let mut lines: Vec<String> = lines.collect();
    lines.reverse();
    lines.join("\n").trim_end().to_owned()
}

/// Returns the end of a log; `None` if it cannot be read.
fn tail(log: &Path) -> Option<String> {
    let (mut file, meta) = open_to_read(log).ok()?;
    file.seek(SeekFrom::Start(meta.len().saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    Some(String::from_utf8_lossy(&tail).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_lines_of_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let last = |text: &str, room: usize| {
            std::fs::write(&log, text).unwrap();
            last_lines(&log, room)
        };
        assert_eq!(last_lines(&folder.path().join("missing"), 9), "");
        assert_eq!(last("\n \n", 9), "");
        let text = "one\n\n  \x1b[31mtwo\x1b[0m  \nthree\r\n10%\r100%\n\n";
        assert_eq!(last(text, 99), "one\n\n  two\nthree\n100%");
        // Only whole lines, each with its line break.
        assert_eq!(last(text, 11), "three\n100%");
        assert_eq!(last(text, 10), "100%");
        assert_eq!(last(text, 0), "");
        let long = last(&"\u{e4}".repeat(1_000), 999);
        assert_eq!(long, "\u{e4}".repeat(300));
    }

    #[test]
    fn last_line_of_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let last = |text: &[u8]| {
            std::fs::write(&log, text).unwrap();
            last_line(&log)
        };
        assert_eq!(last_line(&folder.path().join("missing")), None);
        assert_eq!(last_line(folder.path()), None);
        assert_eq!(last(b""), None);
        assert_eq!(last(b"\n \x1b[0m\n"), None);
        assert_eq!(last(b"first\nsecond\n\n  \n").as_deref(), Some("second"));
        assert_eq!(last(b"{\n \"code\": 401\n}\n").as_deref(), Some("\"code\": 401"));
        assert_eq!(last(b"10%\r50%\r100%\r\n").as_deref(), Some("100%"));
        assert_eq!(
            last(b"\x1b[1;31merror\x1b[0m:\tno\x07 \x1b]0;title\x07net\x1b(B\x1b]8;;x\x1b\\!\n")
                .as_deref(),
            Some("error: no net!")
        );
        assert_eq!(last(b"whole\nhalf an escape \x1b[").as_deref(), Some("half an escape"));
        assert_eq!(last(b"title \x1b]0;never closed\n\xff\n").as_deref(), Some("\u{fffd}"));
        let long = "\u{e4}".repeat(100_000);
        assert_eq!(last(long.as_bytes()), Some("\u{e4}".repeat(300)));
    }
}
