//! Times for people: minutes in UTC, and how long ago.

use std::fmt::Display;
use std::time::{SystemTime, UNIX_EPOCH};

use rootset_model::Timestamp;

/// `2026-11-15 07:26`; text that is no time stays as it is.
pub fn short(time: impl Display) -> String {
    let time = time.to_string();
    match (time.get(..10), time.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute}"),
        _ => time,
    }
}

/// `2026-11-15 07:26 (3d ago)`.
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

pub fn from_now(milliseconds: i64) -> Timestamp {
    now().saturating_add_ms(milliseconds)
}

fn now() -> Timestamp {
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
    fn seconds_are_left_out() {
        assert_eq!(short("2026-11-15T07:26:59.123Z"), "2026-11-15 07:26");
        assert_eq!(short("soon"), "soon");
    }
}
