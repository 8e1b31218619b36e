use crate::draft::ReadOutcome;
use crate::error::ReadError;
use serde_json::Value;
pub fn read_claude_code(_: &str) -> Result<ReadOutcome, ReadError> {
    Err(ReadError::NotASession { lines: 0 })
}
pub(crate) fn read_lines(_: &Value) -> Result<ReadOutcome, ReadError> {
    Err(ReadError::NotASession { lines: 0 })
}
