//! Resources and prompts.

use rmcp::model::{GetPromptRequestParams, PaginatedRequestParams, ReadResourceRequestParams, ResourceContents};
use rootset_api::{Profile, Profiles};
use rootset_mcp::McpOptions;
use serde_json::{Value, json};

use crate::harness::{Connection, TestClient, World};

async fn read(connection: &Connection, uri: &str) -> Result<Value, rmcp::ServiceError> {
    let result = connection.client.read_resource(ReadResourceRequestParams::new(uri)).await?;
    let ResourceContents::TextResourceContents { text, mime_type, uri: named, .. } = &result.contents[0] else {
        panic!("{result:?}")
    };
    assert_eq!((mime_type.as_deref(), named.as_str()), (Some("application/json"), uri));
    Ok(serde_json::from_str(text).unwrap())
}

#[tokio::test]
async fn memories_and_plans_can_be_read_as_resources() {
    let world = World::new();
    world.add("docs/api", "The API is stable.");
    let connection = world.connect(McpOptions::default(), TestClient::alone()).await;
    let templates = connection.client.list_all_resource_templates().await.unwrap();
    let uris: Vec<&str> = templates.iter().map(|template| template.uri_template.as_str()).collect();
    assert_eq!(uris, ["memory://{workspace}/{id}", "plan://{id}"]);
    assert_eq!(read(&connection, "memory://home/docs/api").await.unwrap()["context"], "The API is stable.");
    let plan = world.call("forget", json!({"query": "stable"}));
    let uri = format!("plan://{}", plan["plan_id"].as_str().unwrap());
    assert_eq!(read(&connection, &uri).await.unwrap()["digest"], plan["digest"]);
}

#[tokio::test]
async fn a_resource_that_is_not_there_is_not_found_in_either_generation() {
    let world = World::new();
    let old = world.connect(McpOptions::default(), TestClient::alone()).await;
    let new = world.connect_new(McpOptions::default(), TestClient::alone()).await;
    for (connection, code) in [(old, -32002), (new, -32602)] {
        for uri in ["memory://home/none", "memory://elsewhere/x", "plan://none", "file:///etc/passwd", "memory://x"] {
            let rmcp::ServiceError::McpError(error) = read(&connection, uri).await.unwrap_err() else {
                panic!("{uri}")
            };
            assert_eq!(error.code.0, code, "{uri}: {error}");
            assert!(error.message.contains(uri), "{error}");
        }
    }
}

#[tokio::test]
async fn the_list_of_resources_is_the_latest_memories_page_by_page() {
    let world = World::new();
    for number in 0..60 {
        world.add(&format!("memory-{number}"), &format!("Number {number}."));
    }
    let connection = world.connect(McpOptions::default(), TestClient::alone()).await;
    let first = connection.client.list_resources(None).await.unwrap();
    assert_eq!((first.resources.len(), first.next_cursor.as_deref()), (50, Some("50")));
    let all = connection.client.list_all_resources().await.unwrap();
    assert_eq!(all.len(), 60);
    assert!(read(&connection, &all[0].uri).await.is_ok());
    let wrong = PaginatedRequestParams::default().with_cursor(Some("-3".to_owned()));
    assert!(connection.client.list_resources(Some(wrong)).await.is_err());
}

#[tokio::test]
async fn prompts_are_listed_filled_in_and_refused() {
    let world = World::new();
    let options = McpOptions { profiles: Profiles::new([Profile::Full]), ..McpOptions::default() };
    let connection = world.connect(options, TestClient::alone()).await;
    let prompts = connection.client.list_all_prompts().await.unwrap();
    let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    assert_eq!(names, ["review-garbage", "clean-up-context"]);
    let get = |name: &str, arguments: Value| {
        let arguments = arguments.as_object().unwrap().clone();
        connection.client.get_prompt(GetPromptRequestParams::new(name).with_arguments(arguments))
    };
    let prompt = get("clean-up-context", json!({"session_id": "s-1", "target_tokens": "5000"})).await.unwrap();
    let text = serde_json::to_value(&prompt).unwrap()["messages"][0]["content"]["text"].as_str().unwrap().to_owned();
    assert!(text.contains("context_gc_analyze") && text.contains("s-1") && text.contains("5000"), "{text}");
    assert!(get("review-garbage", json!({})).await.is_ok());
    assert!(get("clean-up-context", json!({})).await.is_err(), "session_id is required");
    assert!(get("no-such-prompt", json!({})).await.is_err());
}
