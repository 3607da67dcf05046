//! What time it is, and times as people read them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Until then, a year has four digits.
const YEAR_10000: u64 = 253_402_300_800;

/// Returns the current time, in seconds since 1970.
pub fn now() -> u64 {
    since_1970().as_secs()
}

/// Returns the current time as the time since 1970, as far as it has a text: a clock can be anywhere.
pub fn since_1970() -> Duration {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().min(Duration::from_secs(YEAR_10000 - 1))
}

/// Returns a time in seconds since 1970 in RFC 3339; nothing after the year 9999.
pub fn rfc3339(seconds: u64) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    time.filter(|_| seconds < YEAR_10000)
        .map(|time| humantime::format_rfc3339_seconds(time).to_string())
        .unwrap_or_default()
}

/// Returns a time in seconds since 1970 as a person reads it: `2026-01-31 12:00:00 UTC`.
pub fn in_utc(seconds: u64) -> String {
    rfc3339(seconds).replace('T', " ").replace('Z', " UTC")
}

/// Returns a time in RFC 3339 as the time since 1970; `None` if it is before that, or not a time.
pub(crate) fn time(text: &str) -> Option<Duration> {
    let time = humantime::parse_rfc3339(text).ok()?;
    time.duration_since(UNIX_EPOCH).ok()
}

/// Returns the same in seconds.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    time(text).map(|since| since.as_secs())
}
