//! Times as people write them on a command line. What a request may hold is read as there, but for a date alone, which is
//! a day of the person's own time zone here.

use rootset_model::time::TimeError;
use rootset_model::{Ahead, Past, Timestamp};
use rootset_service::ServiceError;

use crate::render;

/// For what lies ahead: `90d` is ninety days from now.
pub fn ahead(option: &str, text: &str) -> Result<Ahead, ServiceError> {
    let parsed = render::local_midnight(text).map_or_else(|| Ahead::parse(text), |midnight| Ok(midnight.into()));
    parsed.map_err(|error| refused(option, &error))
}

/// For what lies behind: `90d` is ninety days ago.
pub fn past(option: &str, text: &str) -> Result<Past, ServiceError> {
    let parsed = render::local_midnight(text).map_or_else(|| Past::parse(text), |midnight| Ok(midnight.into()));
    parsed.map_err(|error| refused(option, &error))
}

/// The same as a point in time, for what is compared here.
pub fn behind(option: &str, text: &str) -> Result<Timestamp, ServiceError> {
    Ok(past(option, text)?.at(render::now()))
}

fn refused(option: &str, error: &TimeError) -> ServiceError {
    ServiceError::invalid(format!("`{option}`: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_times_and_whiles_are_understood() {
        let now = Timestamp(1_800_000_000_000);
        let noon = ahead("--expires", "2026-12-31T12:00:00+02:00").unwrap();
        assert_eq!(noon.at(now).to_string(), "2026-12-31T10:00:00.000Z");
        assert!(ahead("--expires", "2026-12-31").is_ok());
        assert_eq!(ahead("--expires", "1d").unwrap().at(now), now.saturating_add_ms(86_400_000));
        assert_eq!(past("--after", "1d").unwrap().at(now), now.saturating_add_ms(-86_400_000));
        for bad in ["", "soon", "2026-13-01", "1.5d", "-1d"] {
            let refused = ahead("--expires", bad).unwrap_err();
            assert!(refused.0.message.starts_with("`--expires`: "), "{}", refused.0.message);
        }
    }
}
