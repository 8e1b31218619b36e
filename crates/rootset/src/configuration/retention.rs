//! Policies of retention as the configuration writes them: a table of fields, read by the policy's own parser.

use figment::value::{Dict, Value};
use rootset_model::RetentionPolicy;
use rootset_model::retention::fields::{FieldError, Written};
use rootset_service::ServiceError;

/// One field by itself; answers with what is allowed when the value is not.
pub fn field(path: &str, value: &Value) -> Result<(), String> {
    let name = path.rsplit('.').next().unwrap_or(path);
    match RetentionPolicy::from_fields([(name, written(value))]) {
        Ok(_) => Ok(()),
        Err(FieldError::BadValue { allowed, .. }) => Err(allowed.to_owned()),
        Err(unknown @ FieldError::Unknown { .. }) => Err(unknown.to_string()),
    }
}

/// All fields of one table.
pub fn policy(section: &str, fields: &Dict) -> Result<RetentionPolicy, ServiceError> {
    let fields = fields.iter().map(|(name, value)| (name, written(value)));
    RetentionPolicy::from_fields(fields).map_err(|error| ServiceError::invalid(format!("`{section}`: {error}")))
}

fn written(value: &Value) -> Written {
    value.deserialize().unwrap_or_else(|error| Written::Other(error.to_string()))
}
