//! What a client learns before its first call: who the server is, what it offers, how much of a model's room that takes.

use rmcp::model::Tool;
use rootset_api::{Profile, Profiles};
use rootset_mcp::McpOptions;
use serde_json::{Value, json};

use crate::harness::{TestClient, World};

fn with_profiles(profiles: &str) -> McpOptions {
    McpOptions { profiles: profiles.parse().unwrap(), ..McpOptions::default() }
}

async fn tools(options: McpOptions) -> Vec<Tool> {
    let world = World::new();
    let connection = world.connect(options, TestClient::alone()).await;
    connection.client.list_all_tools().await.unwrap()
}

fn names(tools: &[Tool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_ref()).collect()
}

#[tokio::test]
async fn a_server_says_who_it_is_and_names_the_workspace() {
    let options = McpOptions { workspace: "team-a".to_owned(), ..McpOptions::default() };
    let world = World::new();
    for connection in [
        world.connect(options.clone(), TestClient::alone()).await,
        world.connect_new(options, TestClient::alone()).await,
    ] {
        let info = connection.client.peer_info().unwrap();
        assert_eq!(info.server_info.as_ref().unwrap().name, "rootset");
        assert_eq!(info.server_info.as_ref().unwrap().version, env!("CARGO_PKG_VERSION"));
        let instructions = info.instructions.clone().unwrap();
        for word in ["team-a", "search_memory", "add_memory", "supersedes", "forget", "prune_memory", "gc_undo"] {
            assert!(instructions.contains(word), "{word}: {instructions}");
        }
        assert!(info.capabilities.tools.is_some() && info.capabilities.prompts.is_some());
        assert!(info.capabilities.resources.is_some());
    }
}

#[tokio::test]
async fn the_default_profile_is_the_core_in_a_fixed_order() {
    let core = tools(McpOptions::default()).await;
    assert_eq!(
        names(&core),
        [
            "add_memory",
            "get_memory",
            "update_memory",
            "search_memory",
            "forget",
            "prune_memory",
            "gc_apply",
            "gc_undo",
            "search_code",
            "get_symbol",
            "find_references",
            "context_recall",
        ]
    );
    assert_eq!(core, tools(McpOptions::default()).await);
}

#[tokio::test]
async fn profiles_add_up_and_their_order_does_not_matter() {
    let both = tools(with_profiles("context,core")).await;
    assert_eq!(both, tools(with_profiles("core,context")).await);
    let all = names(&both);
    assert!(all.contains(&"add_memory") && all.contains(&"context_gc_prune") && !all.contains(&"doctor"));
    let full = tools(with_profiles("full")).await;
    assert_eq!(full.len(), rootset_api::catalogue().len());
}

#[tokio::test]
async fn each_profile_can_clean_up_and_only_full_offers_the_secret_of_a_token() {
    for profile in ["code", "admin"] {
        let offered = tools(with_profiles(profile)).await;
        let offers = |tool: &str| names(&offered).contains(&tool);
        assert!(offers("prune_memory") && offers("gc_apply") && offers("gc_undo"), "{profile}");
        assert!(!offers("create_token"), "{profile}");
    }
    assert!(names(&tools(with_profiles("admin")).await).contains(&"list_memories"));
    let world = World::new();
    let connection = world.connect(with_profiles("core,context,code,admin"), TestClient::alone()).await;
    let error = connection.error("create_token", json!({"name": "t", "scopes": ["admin"]})).await;
    assert_eq!(error["message"], "unknown tool `create_token`");
}

#[tokio::test]
async fn a_tool_outside_the_profile_is_unknown() {
    let world = World::new();
    let connection = world.connect(McpOptions::default(), TestClient::alone()).await;
    for (tool, hint) in [
        ("doctor", "in the profile `full`"),
        ("delete_memory", "use `forget` with `memory_ids`"),
        ("list_trash", "use `gc_undo`"),
        ("add_memori", "tools here: `add_memory`"),
        ("remember_zeppelins", "`search_memory`"),
        ("", "`add_memory`"),
    ] {
        // An error of the protocol would never reach the model.
        let error = connection.error(tool, json!({})).await;
        assert_eq!(error["message"], format!("unknown tool `{tool}`"));
        assert!(error["hint"].as_str().unwrap().contains(hint), "{error}");
    }
}

/// The limit of the default profile, in tokens of o200k, output schemas not counted.
const LIST_TOKENS_MAX: usize = 3_000;

#[tokio::test]
async fn the_list_of_tools_leaves_a_model_room_to_think() {
    let mut listed = serde_json::to_value(tools(McpOptions::default()).await).unwrap();
    for tool in listed.as_array_mut().unwrap() {
        assert!(tool.as_object_mut().unwrap().remove("outputSchema").is_some());
    }
    let text = json!({ "tools": listed }).to_string();
    let tokens = tiktoken_rs::o200k_base().unwrap().encode_ordinary(&text).len();
    assert!(tokens <= LIST_TOKENS_MAX, "{tokens} tokens");
    println!("tools/list: {tokens} tokens");
}

/// Some providers refuse a tool whose schema has references or a root that is not a plain object.
#[tokio::test]
async fn schemas_stand_alone() {
    for tool in tools(McpOptions { profiles: Profiles::new([Profile::Full]), ..McpOptions::default() }).await {
        for schema in [tool.input_schema.as_ref(), tool.output_schema.as_ref().unwrap()] {
            let text = Value::Object(schema.clone()).to_string();
            assert!(!text.contains("\"$ref\""), "{}", tool.name);
            for combined in ["oneOf", "anyOf", "allOf"] {
                assert!(!schema.contains_key(combined), "{}: {combined} at the root", tool.name);
            }
        }
    }
}
