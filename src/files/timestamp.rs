//! The time in a file name: `20260203T145212`. It is in UTC, so that names sort by age even if clocks are changed.

use crate::clock;

const LENGTH: usize = "20260203T145212".len();

/// Returns the current time, to the second.
pub fn now() -> String {
    write(clock::now()).unwrap_or_default()
}

/// Returns the time that a file name begins with, if any.
pub fn of(name: &str) -> Option<&str> {
    name.get(..LENGTH).filter(|stamp| read(stamp).is_some())
}

/// Returns the second after `stamp`; `None` if `stamp` is not a time, or is the last one.
pub fn next(stamp: &str) -> Option<String> {
    write(read(stamp)? + 1)
}

/// Writes a time in seconds since 1970; `None` after the year 9999.
fn write(seconds: u64) -> Option<String> {
    let mut text = clock::rfc3339(seconds);
    text.retain(|sign| sign.is_ascii_digit() || sign == 'T');
    (!text.is_empty()).then_some(text)
}

fn read(stamp: &str) -> Option<u64> {
    let is_stamp = stamp.len() == LENGTH
        && stamp.bytes().enumerate().all(|(at, byte)| match at {
            8 => byte == b'T',
            _ => byte.is_ascii_digit(),
        });
    if !is_stamp {
        return None;
    }
    let part = |from: usize, to: usize| &stamp[from..to];
    clock::seconds(&format!(
        "{}-{}-{}T{}:{}:{}Z",
        part(0, 4),
        part(4, 6),
        part(6, 8),
        part(9, 11),
        part(11, 13),
        part(13, 15)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_second() {
        let cases = [
            ("20260203T145212", Some("20260203T145213")),
            ("20231231T235959", Some("20240101T000000")),
            ("20240228T235959", Some("20240229T000000")),
            ("99991231T235959", None),
            ("20260230T145212", None),
            ("20260203-145212", None),
            ("", None),
        ];
        for (stamp, expected) in cases {
            assert_eq!(next(stamp).as_deref(), expected, "{stamp}");
        }
        assert!(read(&now()).is_some());
        assert_eq!(of("20260203T145212.done.md"), Some("20260203T145212"));
        assert_eq!(of("ü0260203T145212.md"), None);
        assert_eq!(of("plan.md"), None);
    }
}
