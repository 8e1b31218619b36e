//! Times as people write them on a command line: a day, a moment, or a duration from now or ago.

use rootset_model::Timestamp;
use rootset_model::time::parse_duration_ms;
use rootset_service::ServiceError;

use crate::render;

/// For what lies ahead: `90d` is ninety days from now.
pub fn ahead(option: &str, text: &str) -> Result<Timestamp, ServiceError> {
    moment(option, text, 1)
}

/// For what lies behind: `90d` is ninety days ago.
pub fn behind(option: &str, text: &str) -> Result<Timestamp, ServiceError> {
    moment(option, text, -1)
}

fn moment(option: &str, text: &str, direction: i64) -> Result<Timestamp, ServiceError> {
    if let Ok(time) = Timestamp::parse(text) {
        return Ok(time);
    }
    if let Ok(time) = Timestamp::parse(&format!("{}T00:00:00Z", text.trim())) {
        return Ok(time);
    }
    match parse_duration_ms(text) {
        Ok(milliseconds) => Ok(render::from_now(milliseconds.saturating_mul(direction))),
        Err(_) => Err(ServiceError::invalid(format!(
            "`{option}` is `{text}`; allowed: a day such as `2026-12-31`, a time such as `2026-12-31T12:00:00Z`, or a \
             duration such as `90d`"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_times_and_whiles_are_understood() {
        assert_eq!(ahead("--expires", "2026-12-31").unwrap().to_string(), "2026-12-31T00:00:00.000Z");
        assert_eq!(ahead("--expires", "2026-12-31T12:00:00+02:00").unwrap().to_string(), "2026-12-31T10:00:00.000Z");
        assert!(ahead("--expires", "1d").unwrap() > behind("--after", "1d").unwrap());
        for bad in ["", "soon", "2026-13-01", "1.5d", "-1d"] {
            assert!(ahead("--expires", bad).is_err(), "{bad}");
        }
    }
}
