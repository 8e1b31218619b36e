//! Memories and plans as resources: `memory://{workspace}/{id}` and `plan://{id}`. Reading one is `get_memory` or
//! `get_plan`; the list is the latest memories without quarantined ones.

use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use rootset_api::{Effect, ErrorCode};
use rootset_service::{Rights, ServiceError};
use serde_json::{Value, json};

use crate::stored_text;

const MIME_TYPE: &str = "application/json";
const MEMORY: &str = "memory://";
const PLAN: &str = "plan://";
const PAGE: i64 = 50;

/// A connection that may not read is shown none.
pub fn templates(rights: &Rights) -> Vec<ResourceTemplate> {
    if !rights.allow_effect(Effect::Read) {
        return Vec::new();
    }
    vec![
        ResourceTemplate::new("memory://{workspace}/{id}", "memory")
            .with_title("A memory")
            .with_description("A memory by its id or name, as `get_memory` answers it.")
            .with_mime_type(MIME_TYPE),
        ResourceTemplate::new("plan://{id}", "plan")
            .with_title("A plan")
            .with_description("What a plan of the collector would remove, as `get_plan` answers it.")
            .with_mime_type(MIME_TYPE),
    ]
}

/// The request that lists a page; the cursor is how many came before.
pub fn listing(cursor: Option<&str>) -> Result<Value, ErrorData> {
    let offset = match cursor {
        None => 0,
        Some(cursor) => {
            let number = cursor.parse::<i64>().ok().filter(|offset| *offset >= 0);
            number.ok_or_else(|| ErrorData::invalid_params("`cursor` is not one of ours", None))?
        }
    };
    Ok(json!({"offset": offset, "limit": PAGE}))
}

pub fn listed(workspace: &str, page: &Value) -> ListResourcesResult {
    let memories = page["memories"].as_array().map(Vec::as_slice).unwrap_or_default();
    // A client may show the list to a model that did not ask for any of it.
    let shown = memories.iter().filter(|memory| memory["quarantined"] != true);
    let mut result =
        ListResourcesResult::with_all_items(shown.filter_map(|memory| resource(workspace, memory)).collect());
    let next = page["offset"].as_i64().unwrap_or(0) + memories.len() as i64;
    result.next_cursor = (next < page["total"].as_i64().unwrap_or(0)).then(|| next.to_string());
    result
}

fn resource(workspace: &str, memory: &Value) -> Option<Resource> {
    let id = memory["memory_id"].as_str()?;
    let name = memory["name"].as_str().unwrap_or(id);
    let resource = Resource::new(format!("{MEMORY}{workspace}/{id}"), name).with_mime_type(MIME_TYPE);
    Some(match memory["topic"].as_str().filter(|topic| !topic.is_empty()) {
        Some(topic) => resource.with_title(stored_text::shown(topic)),
        None => resource,
    })
}

/// The operation that reads it, and its request.
pub fn reading(uri: &str) -> Result<(&'static str, Value), ErrorData> {
    if let Some((workspace, id)) = uri.strip_prefix(MEMORY).and_then(|rest| rest.split_once('/'))
        && !workspace.is_empty()
        && !id.is_empty()
    {
        return Ok(("get_memory", json!({"workspace_id": workspace, "memory_id": id})));
    }
    match uri.strip_prefix(PLAN) {
        Some(id) if !id.is_empty() => Ok(("get_plan", json!({"plan_id": id}))),
        _ => Err(no_such(uri, "resources are `memory://{workspace}/{id}` and `plan://{id}`")),
    }
}

pub fn contents(uri: String, value: Value) -> ReadResourceResult {
    let text = stored_text::for_model(value).to_string();
    ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(MIME_TYPE)])
}

pub fn refused(error: &ServiceError, uri: Option<&str>) -> ErrorData {
    match (error.code, uri) {
        (ErrorCode::NotFound | ErrorCode::InvalidArgument, Some(uri)) => no_such(uri, &error.message),
        (ErrorCode::Internal | ErrorCode::Busy, _) => {
            ErrorData::internal_error(error.message.clone(), Some(error.to_json()))
        }
        _ => ErrorData::invalid_params(error.message.clone(), Some(error.to_json())),
    }
}

fn no_such(uri: &str, why: &str) -> ErrorData {
    let shown: String = uri.chars().take(200).collect();
    ErrorData::resource_not_found(format!("no resource `{shown}`: {why}"), Some(json!({"uri": shown})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_name_a_workspace_and_an_id_or_a_name_with_slashes() {
        let read = |uri: &str| reading(uri).ok();
        let expected = json!({"workspace_id": "home", "memory_id": "docs/api"});
        assert_eq!(read("memory://home/docs/api"), Some(("get_memory", expected)));
        assert_eq!(read("plan://7"), Some(("get_plan", json!({"plan_id": "7"}))));
        for bad in ["memory://home", "memory:///x", "memory://home/", "plan://", "file:///etc/passwd", ""] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn quarantined_memories_are_not_offered() {
        let page =
            json!({"memories": [{"memory_id": "1", "topic": "x", "quarantined": true}], "total": 1, "offset": 0});
        assert!(listed("home", &page).resources.is_empty());
    }

    #[test]
    fn a_cursor_leads_on_until_nothing_is_left() {
        let page = json!({"memories": [{"memory_id": "1", "topic": "x"}], "total": 2, "offset": 0});
        assert_eq!(listed("home", &page).next_cursor.as_deref(), Some("1"));
        let page = json!({"memories": [{"memory_id": "2"}], "total": 2, "offset": 1});
        assert_eq!(listed("home", &page).next_cursor, None);
        assert!(listing(Some("-1")).is_err() && listing(Some("x")).is_err());
    }
}
