//! Until when a reviewer cannot run, in its own words: `resets 6:23pm (Europe/Berlin)`.

use crate::clock::{Moment, part, rfc3339, seconds};

const MINUTE: u64 = 60;
const DAY: u64 = 24 * 60 * MINUTE;
const HALF_A_YEAR: u64 = 183 * DAY;

/// A time that is given to the minute may have passed by up to this many seconds and still be the one that is meant.
const SLACK: u64 = 2 * MINUTE;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Returns when, according to `text`, something resets: after `reset` comes a time, a day or both, and then the name of a
/// time zone in parentheses. `offset_of` says how far the clock there is ahead of UTC.
pub(super) fn reset_in(
    text: &str,
    now: u64,
    offset_of: impl Fn(Option<&str>) -> Option<i64>,
) -> Option<Moment> {
    let lower = text.to_ascii_lowercase();
    let start = lower.find("reset")?;
    let (words, zone) = match lower[start..].find('(') {
        Some(open) => {
            let zone = &text[start + open + 1..];
            (&lower[start..start + open], zone.split(')').next())
        }
        None => (&lower[start..], None),
    };
    let mut words = words
        .split([' ', ',', '\u{a0}', '\u{202f}'])
        .filter(|word| !word.is_empty() && !matches!(*word, "at" | "on"))
        .skip(1)
        .peekable();
    let offset = offset_of(zone);
    let local = now.saturating_add_signed(offset.unwrap_or(0));
    let today = rfc3339(local);
    let year: u64 = part(&today, 0, 4).parse().ok()?;
    let named = words.peek().and_then(|word| {
        let month = MONTHS.iter().position(|month| word.get(..3) == Some(month))?;
        Some(month + 1)
    });
    let mut day = None;
    let mut named_year = None;
    if let Some(month) = named {
        words.next();
        day = Some((month, words.next()?.parse::<u64>().ok()?));
        named_year = words.peek().and_then(|word| word.parse::<u64>().ok());
        if named_year.is_some() {
            words.next();
        }
    }
    let time = words.next().and_then(time_of_day);
    let date = |year: u64| match day {
        Some((month, day)) => format!("{year:04}-{month:02}-{day:02}"),
        None => part(&today, 0, 10).to_owned(),
    };
    let (hour, minute) = match (time, day) {
        (Some(time), _) => time,
        (None, Some(_)) => (0, 0),
        (None, None) => return None,
    };
    let at = |year: u64| seconds(&format!("{}T{hour:02}:{minute:02}:00Z", date(year)));
    let mut found = at(named_year.unwrap_or(year))?;
    // A time without a day is the next one, and so is a day without a year around its turn. Any other day has passed.
    if found.saturating_add(SLACK) < local {
        found = match (day, named_year) {
            (None, _) => found + DAY,
            (Some(_), None) => {
                let latest = local.saturating_add(HALF_A_YEAR);
                at(year + 1).filter(|next| *next < latest)?
            }
            (Some(_), Some(_)) => return None,
        };
    }
    let at = found.max(local + MINUTE).checked_add_signed(-offset.unwrap_or(0))?;
    Some(Moment::new(at, now, offset))
}

/// `6pm`, `6:23pm`, `18:23`.
fn time_of_day(word: &str) -> Option<(u64, u64)> {
    let word = word.trim_end_matches('.');
    let digits = word.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hour, minute): (u64, u64) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match &word[digits.len()..] {
        "" if digits.contains(':') => hour,
        "am" if (1..=12).contains(&hour) => hour % 12,
        "pm" if (1..=12).contains(&hour) => hour % 12 + 12,
        _ => return None,
    };
    (hour < 24 && minute < 60).then_some((hour, minute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_says() {
        let cases = [
            // (text, now, how far ahead the clock is, until when, as it is shown)
            (
                "You've hit your 5-hour limit · resets 6:23pm (Europe/Berlin)",
                "2026-11-22T14:06:41Z",
                Some(3600),
                "2026-11-22T17:23:00Z",
                "18:23 UTC+01:00",
            ),
            (
                "You've hit your weekly limit · resets Nov 26, 6:23pm (Europe/Berlin)",
                "2026-11-22T14:06:42Z",
                Some(3600),
                "2026-11-26T17:23:00Z",
                "2026-11-26 18:23 UTC+01:00",
            ),
            (
                "resets Jan 2, 6am (X)",
                "2026-12-31T23:30:00Z",
                Some(-18_000),
                "2027-01-02T11:00:00Z",
                "2027-01-02 06:00 UTC-05:00",
            ),
            (
                "resets Jan 2, 2028, 12am (UTC)",
                "2026-12-31T23:30:00Z",
                Some(0),
                "2028-01-02T00:00:00Z",
                "2028-01-02 00:00 UTC",
            ),
            (
                "limit will reset at 12pm (America/Santiago)",
                "2026-07-01T17:00:00Z",
                Some(-14_400),
                "2026-07-02T16:00:00Z",
                "2026-07-02 12:00 UTC-04:00",
            ),
            ("resets 18:30", "2026-07-01T17:00:00Z", None, "2026-07-01T18:30:00Z", "18:30 UTC"),
            (
                "resets Jul 4",
                "2026-07-01T17:00:00Z",
                None,
                "2026-07-04T00:00:00Z",
                "2026-07-04 00:00 UTC",
            ),
            // Just over: the next minute, and not tomorrow.
            ("resets 5pm", "2026-07-01T17:00:41Z", Some(0), "2026-07-01T17:01:41Z", "17:01 UTC"),
        ];
        for (text, now, offset, until, shown) in cases {
            let now = seconds(now).unwrap();
            let moment = reset_in(text, now, |_| offset).unwrap();
            assert_eq!(
                (rfc3339(moment.at).as_str(), moment.text.as_str()),
                (until, shown),
                "{text}"
            );
        }
        let zone = std::cell::RefCell::new(None);
        reset_in("resets 6pm (Europe/Berlin)", 0, |name| {
            *zone.borrow_mut() = name.map(str::to_owned);
            None
        });
        assert_eq!(zone.into_inner().as_deref(), Some("Europe/Berlin"));
    }

    #[test]
    fn no_time_is_made_up() {
        for text in [
            "",
            "reset",
            "resets soon",
            "resets 25:00",
            "resets 6",
            "resets 13pm",
            "resets 0am",
            "resets Nov 31, 6pm",
            "resets Nov 2, 2020, 6pm",
            "resets Nov 20, 6pm",
            "6:23pm",
            "resets Nov",
            "resets Nov x",
            "resets \u{e9}t\u{e9} (",
            "preset",
            "resets 99999999999999999999pm",
        ] {
            assert_eq!(reset_in(text, 1_795_356_401, |_| None), None, "{text}");
        }
        let never = Moment::new(u64::MAX, 0, Some(i64::MAX));
        assert!(never.text.starts_with(" UTC+"), "{}", never.text);
        assert_eq!(reset_in("resets 6pm", u64::MAX, |_| Some(1)), None);
    }
}
