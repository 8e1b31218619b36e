//! When something happened: as the writer says, or as the text says, seen from the day it was written.

use rootset_model::Timestamp;
use rootset_text::dates;

use crate::error::ServiceError;

/// Days that a text may name and still tell of one time; of more, only the first says when it happened.
const SPAN_MAX_MS: i64 = 31 * 86_400_000;

/// The first and the last moment; `None` where nobody says when.
pub(crate) fn occurred(
    given: Option<&str>,
    text: &str,
    now: Timestamp,
) -> Result<Option<(Timestamp, Timestamp)>, ServiceError> {
    let given = given.map(range).transpose()?;
    let written = given.map_or(now, |(from, _)| from);
    let mut said = dates::periods(text, Some(written.0)).into_iter();
    let first = given.map(|(from, until)| (from.0, until.0)).or_else(|| said.next());
    // "On Monday I said that it broke yesterday" happened on both days.
    let whole = first.map(|first| {
        said.fold(first, |(from, until), period| {
            let wider = (from.min(period.0), until.max(period.1));
            if wider.1 - wider.0 <= SPAN_MAX_MS { wider } else { (from, until) }
        })
    });
    Ok(whole.map(|(from, until)| (Timestamp(from), Timestamp(until))))
}

/// A moment, a day, a month, or a range of two of them.
fn range(text: &str) -> Result<(Timestamp, Timestamp), ServiceError> {
    let (from, until) = match text.split_once('/') {
        Some((from, until)) => (one(from)?, one(until)?),
        None => (one(text)?, one(text)?),
    };
    if from.0 > until.1 {
        return Err(ServiceError::invalid(format!("`occurred_at`: `{text}` ends before it begins")));
    }
    Ok((from.0, until.1))
}

fn one(text: &str) -> Result<(Timestamp, Timestamp), ServiceError> {
    let text = text.trim();
    if let [(from, until)] = dates::periods(text, None)[..]
        && text.len() <= "2026-05-07".len()
    {
        return Ok((Timestamp(from), Timestamp(until)));
    }
    let moment = Timestamp::parse(text).map_err(|error| {
        ServiceError::invalid(format!("`occurred_at`: {error}"))
            .with_hint("a day is `2026-05-07`, a month `2026-05`, a range `2026-05-07/2026-05-09`")
    })?;
    Ok((moment, moment))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp(1_767_787_200_000); // 7 January 2026
    const DAY: i64 = 86_400_000;

    fn days(given: Option<&str>, text: &str) -> Option<(i64, i64)> {
        let found = occurred(given, text, NOON).expect("a time that is understood");
        found.map(|(from, until)| (from.0.div_euclid(DAY) - 20_460, until.0.div_euclid(DAY) - 20_460))
    }

    #[test]
    fn the_writer_says_when_else_the_text_does() {
        assert_eq!(days(None, "nothing happened"), None);
        assert_eq!(days(None, "it broke yesterday"), Some((-1, -1)));
        assert_eq!(days(Some("2026-01-05"), "it broke"), Some((-2, -2)));
        assert_eq!(days(Some("2026-01-05"), "it broke yesterday"), Some((-3, -2)), "seen from the day it was said");
        assert_eq!(days(Some("2026-01-05/2026-01-06"), ""), Some((-2, -1)));
        assert_eq!(days(Some("2025-12"), ""), Some((-37, -7)));
        assert_eq!(
            days(Some("2026-01-07T12:00:00Z"), "founded in May 1999"),
            Some((0, 0)),
            "too far away to be one time"
        );
    }

    #[test]
    fn a_time_that_is_none_is_refused() {
        for text in ["soon", "2026-13-01", "2026-01-09/2026-01-07", ""] {
            assert!(occurred(Some(text), "", NOON).is_err(), "{text}");
        }
    }
}
