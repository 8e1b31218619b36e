//! Times for people: minutes in their own time zone, which is named, and how long ago.

use std::fmt::Display;
use std::time::{SystemTime, UNIX_EPOCH};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use rootset_model::Timestamp;

/// `2026-11-15 08:26 CET`; text that is no time stays as it is.
pub fn short(time: impl Display) -> String {
    in_zone(&time.to_string(), &zone())
}

/// That of the person; tests of this crate are the same everywhere.
fn zone() -> TimeZone {
    if cfg!(test) { TimeZone::UTC } else { TimeZone::system() }
}

/// A number alone is no time here, although a request may hold one.
fn in_zone(time: &str, zone: &TimeZone) -> String {
    let parsed: Result<jiff::Timestamp, _> = time.parse();
    match parsed {
        Ok(at) => at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string(),
        Err(_) => time.to_owned(),
    }
}

/// The beginning of a day such as `2026-11-15` where the person is; `None` if the text is no day.
pub fn local_midnight(text: &str) -> Option<Timestamp> {
    const DAY_CHARS: usize = "2026-11-15".len();
    let day: Date = text.trim().parse().ok().filter(|_| text.trim().len() == DAY_CHARS)?;
    let midnight = day.to_zoned(zone()).ok()?;
    Some(Timestamp(midnight.timestamp().as_millisecond()))
}

/// `2026-11-15 08:26 CET (3d ago)`.
pub fn with_age(time: impl Display) -> String {
    match age(&time).as_str() {
        "" => short(time),
        age => format!("{} ({age})", short(time)),
    }
}

/// `3d ago`, `in 7d`, `now`; empty when it is no time.
pub fn age(time: impl Display) -> String {
    match Timestamp::parse(&time.to_string()) {
        Ok(time) => relative(now().0.saturating_sub(time.0)),
        Err(_) => String::new(),
    }
}

pub fn now() -> Timestamp {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX))
}

fn relative(age_ms: i64) -> String {
    const MINUTE_MS: u64 = 60_000;
    const HOUR_MS: u64 = 60 * MINUTE_MS;
    const DAY_MS: u64 = 24 * HOUR_MS;
    const YEAR_MS: u64 = 365 * DAY_MS;
    // What lies ahead is rounded to the nearest: a grace of seven days should not read as six.
    let whole = |size: u64, unit: u64| if age_ms > 0 { size / unit } else { (size + unit / 2) / unit };
    let size = age_ms.unsigned_abs();
    let amount = match size {
        0..MINUTE_MS => return "now".to_owned(),
        MINUTE_MS..HOUR_MS => format!("{}min", whole(size, MINUTE_MS)),
        HOUR_MS..DAY_MS => format!("{}h", whole(size, HOUR_MS)),
        DAY_MS..YEAR_MS => format!("{}d", whole(size, DAY_MS)),
        _ => format!("{}y", whole(size, YEAR_MS)),
    };
    if age_ms > 0 { format!("{amount} ago") } else { format!("in {amount}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_is_rounded_down_and_what_will_be_to_the_nearest() {
        assert_eq!(relative(59_999), "now");
        assert_eq!(relative(119_000), "1min ago");
        assert_eq!(relative(-7 * 86_400_000 + 50), "in 7d");
        assert_eq!(relative(800 * 86_400_000), "2y ago");
    }

    #[test]
    fn times_are_local_and_say_of_which_zone() {
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        assert_eq!(in_zone("2026-11-15T07:26:59.123Z", &berlin), "2026-11-15 08:26 CET");
        assert_eq!(in_zone("2026-07-15T22:26:59.123Z", &berlin), "2026-07-16 00:26 CEST");
        assert_eq!(in_zone("2026-11-15T07:26:59.123Z", &TimeZone::UTC), "2026-11-15 07:26 UTC");
        assert_eq!(in_zone("soon", &berlin), "soon");
    }

    #[test]
    fn only_a_day_has_a_midnight() {
        assert!(local_midnight("2026-11-15").is_some());
        for other in ["", "2026-13-01", "2026-11-15T07:26:59Z", "7d", "1800000000000"] {
            assert_eq!(local_midnight(other), None, "{other}");
        }
    }
}
