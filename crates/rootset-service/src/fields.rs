//! Fields of requests: checked and trimmed; and bytes as text. Secrets are taken out before (`secrets.rs`).

use rootset_model::content::topic_of;
use rootset_model::limits::{
    CONTEXT_BYTES_MAX, COUNT_MAX, LIST_ITEMS_MAX, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, METADATA_BYTES_MAX,
    QUERY_BYTES_MAX, SOURCE_CHARS_MAX, TAG_CHARS_MAX, TAGS_MAX, TOPIC_CHARS_MAX,
};
use rootset_model::names::CODE_SOURCE;
use rootset_model::{Content, DrainId, PlanId, RunId};
use serde_json::{Map, Value};

use crate::error::ServiceError;

/// `limit` 0 or absent is the default, more than the maximum is the maximum; negative numbers are errors.
pub fn page(offset: Option<i64>, limit: Option<i64>) -> Result<(i64, i64), ServiceError> {
    Ok((not_negative("offset", offset)?, clamped("limit", limit, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX)?))
}

pub fn not_negative(field: &str, value: Option<i64>) -> Result<i64, ServiceError> {
    match value.unwrap_or(0) {
        negative if negative < 0 => Err(ServiceError::invalid(format!("`{field}` is {negative}, below 0"))),
        value => Ok(value),
    }
}

pub fn clamped(field: &str, value: Option<i64>, default: i64, max: i64) -> Result<i64, ServiceError> {
    match not_negative(field, value)? {
        0 => Ok(default),
        value => Ok(value.min(max)),
    }
}

pub fn check_query(query: &str) -> Result<(), ServiceError> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(ServiceError::invalid(format!("`query` has {} bytes, more than {QUERY_BYTES_MAX}", query.len())));
    }
    Ok(())
}

pub fn check_source(source: &str) -> Result<(), ServiceError> {
    let is_word = |c: char| !c.is_whitespace() && !c.is_control();
    let length = source.chars().count();
    if !(1..=SOURCE_CHARS_MAX).contains(&length) || !source.chars().all(is_word) {
        return Err(ServiceError::invalid(format!("`source` must be one word of 1 to {SOURCE_CHARS_MAX} characters")));
    }
    if source == CODE_SOURCE {
        return Err(ServiceError::invalid(format!("`source`: `{CODE_SOURCE}` is reserved for indexed files")));
    }
    Ok(())
}

pub fn check_source_version(version: Option<i64>) -> Result<(), ServiceError> {
    match version {
        Some(version) if !(0..=COUNT_MAX).contains(&version) => {
            Err(ServiceError::invalid(format!("`source_version` is {version}; allowed: 0 to {COUNT_MAX}")))
        }
        _ => Ok(()),
    }
}

/// Tags trimmed, each once, in the order given.
pub fn checked_tags(tags: &[String]) -> Result<Vec<String>, ServiceError> {
    if tags.len() > TAGS_MAX {
        return Err(ServiceError::invalid(format!("`tags` has {} items, more than {TAGS_MAX}", tags.len())));
    }
    let mut checked: Vec<String> = Vec::with_capacity(tags.len());
    for tag in tags {
        let tag = tag.trim();
        if tag.is_empty() || tag.chars().count() > TAG_CHARS_MAX || tag.contains('\0') {
            return Err(ServiceError::invalid(format!("each of `tags` must have 1 to {TAG_CHARS_MAX} characters")));
        }
        if !checked.iter().any(|it| it == tag) {
            checked.push(tag.to_owned());
        }
    }
    Ok(checked)
}

pub fn check_short_text(field: &str, text: &str, chars_max: usize) -> Result<(), ServiceError> {
    let length = text.chars().count();
    if length > chars_max {
        return Err(ServiceError::invalid(format!("`{field}` has {length} characters, more than {chars_max}")));
    }
    if text.contains('\0') {
        return Err(ServiceError::invalid(format!("`{field}` contains a NUL character")));
    }
    Ok(())
}

pub fn check_metadata(metadata: &Map<String, Value>) -> Result<(), ServiceError> {
    let bytes = serde_json::to_string(metadata).map_or(usize::MAX, |json| json.len());
    if bytes > METADATA_BYTES_MAX {
        return Err(ServiceError::invalid(format!("`metadata` has {bytes} bytes, more than {METADATA_BYTES_MAX}")));
    }
    Ok(())
}

/// A content as given by a caller, not yet checked.
#[derive(Debug)]
pub struct RawContent {
    pub topic: Option<String>,
    pub context: String,
    pub decisions: Vec<String>,
    pub rationale: Vec<String>,
}

/// Trimmed and within the limits.
pub fn checked_content(raw: RawContent) -> Result<Content, ServiceError> {
    let without_nul = |field: &str, text: &str| -> Result<String, ServiceError> {
        if text.contains('\0') {
            return Err(ServiceError::invalid(format!("`{field}` contains a NUL character")));
        }
        Ok(text.to_owned())
    };
    let context = raw.context.trim();
    if context.is_empty() {
        return Err(ServiceError::invalid("`context` is blank"));
    }
    let list_bytes = |items: &[String]| items.iter().map(String::len).sum::<usize>();
    let bytes = context.len() + list_bytes(&raw.decisions) + list_bytes(&raw.rationale);
    if bytes > CONTEXT_BYTES_MAX {
        return Err(ServiceError::invalid(format!(
            "`context` with decisions and rationale has {bytes} bytes, more than {CONTEXT_BYTES_MAX}"
        )));
    }
    let context = without_nul("context", context)?;
    let topic = match raw.topic.as_deref().map(str::trim) {
        Some("") => return Err(ServiceError::invalid("`topic` is blank; omit it to use the first line")),
        Some(topic) => {
            check_short_text("topic", topic, TOPIC_CHARS_MAX)?;
            without_nul("topic", topic)?
        }
        None => topic_of(&context),
    };
    let list = |field: &str, items: Vec<String>| -> Result<Vec<String>, ServiceError> {
        if items.len() > LIST_ITEMS_MAX {
            return Err(ServiceError::invalid(format!(
                "`{field}` has {} items, more than {LIST_ITEMS_MAX}",
                items.len()
            )));
        }
        items.iter().map(|item| without_nul(field, item)).collect()
    };
    let decisions = list("decisions", raw.decisions)?;
    let rationale = list("rationale", raw.rationale)?;
    Ok(Content { topic, context, decisions, rationale })
}

pub fn parse_plan_id(text: &str) -> Result<PlanId, ServiceError> {
    text.parse().map_err(|_| ServiceError::invalid(format!("`plan_id`: `{}` is not an id", shown(text))))
}

pub fn parse_run_id(text: &str) -> Result<RunId, ServiceError> {
    text.parse().map_err(|_| ServiceError::invalid(format!("`run_id`: `{}` is not an id", shown(text))))
}

pub fn parse_drain_id(text: &str) -> Result<DrainId, ServiceError> {
    text.parse().map_err(|_| ServiceError::invalid(format!("`drain_id`: `{}` is not an id", shown(text))))
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
