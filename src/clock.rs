//! What time it is, and times as people read them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

const MINUTE: u64 = 60;

/// Until then, a year has four digits.
const YEAR_10000: u64 = 253_402_300_800;

/// A moment in time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Moment {
    /// Seconds since 1970.
    pub at: u64,
    /// As a person reads it: `18:23 UTC+01:00`, with the day unless it was the same one when this was made.
    pub text: String,
}

impl Moment {
    /// Returns the moment `at` for a person whose clock is this many seconds ahead of UTC; in UTC if that is unknown.
    pub fn new(at: u64, now: u64, offset: Option<i64>) -> Self {
        let ahead = offset.unwrap_or(0);
        let local = |time: u64| rfc3339(time.saturating_add_signed(ahead));
        let (then, today) = (local(at), local(now));
        let (day, time) = (part(&then, 0, 10), part(&then, 11, 16));
        let zone = zone(ahead);
        let text = match day == part(&today, 0, 10) {
            true => format!("{time} {zone}"),
            false => format!("{day} {time} {zone}"),
        };
        Self { at, text }
    }
}

/// Returns the name of the zone whose clocks are this many seconds ahead of UTC.
fn zone(ahead: i64) -> String {
    let sign = if ahead < 0 { '-' } else { '+' };
    let minutes = ahead.unsigned_abs() / MINUTE;
    match (minutes / 60, minutes % 60) {
        (0, 0) => "UTC".to_owned(),
        (hours, minutes) => format!("UTC{sign}{hours:02}:{minutes:02}"),
    }
}

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

/// Returns the bytes of a text from one to another.
pub(crate) fn part(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or_default()
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
