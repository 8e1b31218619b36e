//! Policies of retention as the configuration writes them: a table of fields, read by the policy's own parser.
//!
//! A value that is not understood is an error, never a policy without that rule.

use figment::value::{Dict, Value};
use rootset_model::time::parse_duration_ms;
use rootset_model::{Basis, RetentionPolicy};
use rootset_service::ServiceError;

use super::check::{as_json, count};

/// One field by itself; answers with what is allowed when the value is not.
pub fn field(path: &str, value: &Value) -> Result<RetentionPolicy, String> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let mut policy = RetentionPolicy::default();
    set(&mut policy, name, value)?;
    Ok(policy)
}

/// All fields of one table.
pub fn policy(section: &str, fields: &Dict) -> Result<RetentionPolicy, ServiceError> {
    let mut policy = RetentionPolicy::default();
    for (name, value) in fields {
        set(&mut policy, name, value).map_err(|allowed| {
            ServiceError::invalid(format!("`{section}.{name}` is `{}`; allowed: {allowed}", as_json(value)))
        })?;
    }
    Ok(policy)
}

fn set(policy: &mut RetentionPolicy, name: &str, value: &Value) -> Result<(), String> {
    match name {
        "max_age" => policy.max_age_ms = Some(duration_ms(value, 1)?),
        "max_count" => policy.max_count = Some(whole(value, 0)?),
        "max_version_gap" => policy.max_version_gap = Some(whole(value, 1)?),
        "min_keep" => policy.min_keep = whole(value, 0)?,
        "keep_within" => policy.keep_within_ms = duration_ms(value, 0)?,
        "basis" => {
            policy.basis = match value.as_str() {
                Some("ingested_at") => Basis::IngestedAt,
                Some("last_used_at") => Basis::LastUsedAt,
                _ => return Err("`ingested_at`, `last_used_at`".to_owned()),
            }
        }
        _ => return Err("max_age, max_count, max_version_gap, min_keep, keep_within, basis".to_owned()),
    }
    Ok(())
}

fn duration_ms(value: &Value, min: i64) -> Result<i64, String> {
    let milliseconds = match value {
        Value::String(_, text) => parse_duration_ms(text).ok(),
        other => count(other),
    };
    milliseconds
        .filter(|it| *it >= min)
        .ok_or_else(|| format!("a duration such as `90d` or `24h`, or milliseconds, from {min}"))
}

fn whole(value: &Value, min: i64) -> Result<i64, String> {
    count(value).filter(|it| *it >= min).ok_or_else(|| format!("a whole number from {min}"))
}
