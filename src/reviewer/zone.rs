//! How far the clock of a place is ahead of UTC, according to the system's `date`.

use std::process::{Command, Stdio};

/// Returns it in seconds: for the time zone of that name, or for this machine's. `None` if it is unknown.
pub(crate) fn offset(zone: Option<&str>) -> Option<i64> {
    // A zone is also a file name: nothing outside the system's own folder is read.
    let is_name = |zone: &str| {
        let mut signs = zone.bytes();
        signs.all(|sign| sign.is_ascii_alphanumeric() || b"_+-/".contains(&sign))
            && !zone.starts_with('/')
    };
    let mut date = Command::new("/bin/date");
    match zone {
        Some(zone) if !is_name(zone) => return None,
        Some(zone) => _ = date.env("TZ", zone),
        None => {}
    }
    let output = date.arg("+%z").stdin(Stdio::null()).output().ok()?;
    seconds(std::str::from_utf8(&output.stdout).ok()?.trim())
}

/// `+0530` in seconds.
fn seconds(text: &str) -> Option<i64> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = digits.split_at_checked(2).filter(|_| digits.len() == 4)?;
    let number = |digits: &str| digits.parse::<u32>().ok().map(i64::from);
    Some(sign * (number(hours)? * 60 + number(minutes)?) * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_clocks() {
        for (text, expected) in [
            ("+0530", Some(19_800)),
            ("-0330", Some(-12_600)),
            ("+0000", Some(0)),
            ("", None),
            ("0100", None),
            ("+01", None),
            ("+0x00", None),
            ("+é00", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
        assert_eq!(offset(Some("UTC")), Some(0));
        assert_eq!(offset(Some("/etc/passwd")), None);
        assert_eq!(offset(Some("a b")), None);
    }
}
