//! Asking a person, in both generations of the protocol: what is done after a yes, a no, and without anybody to ask.

use rmcp::model::{CallToolResponse, ElicitationAction, ProtocolVersion};
use rootset_api::{Profile, Profiles};
use rootset_mcp::McpOptions;
use serde_json::{Value, json};

use crate::harness::{Connection, TestClient, World, tool_call};

fn full() -> McpOptions {
    McpOptions { profiles: Profiles::new([Profile::Full]), ..McpOptions::default() }
}

/// A world with something in the trash, and the run that put it there.
fn with_trash() -> (World, Value) {
    let world = World::new();
    world.add("secret", "The vault opens with a song.");
    let run = world.call("delete_memory", json!({"memory_id": "secret"}))["run_id"].clone();
    (world, run)
}

fn trash(world: &World) -> i64 {
    world.call("list_trash", json!({}))["total"].as_i64().unwrap()
}

async fn both(world: &World, client: &TestClient) -> [Connection; 2] {
    [world.connect(full(), client.clone()).await, world.connect_new(full(), client.clone()).await]
}

#[tokio::test]
async fn what_cannot_be_undone_is_done_when_a_person_agrees() {
    for generation in 0..2 {
        let (world, run) = with_trash();
        let client = TestClient::agreeing();
        let connection = &both(&world, &client).await[generation];
        let answer = connection.answer("gc_purge", json!({ "run_id": run })).await;
        assert_eq!(answer["purged"]["memories"], 1, "{answer}");
        assert_eq!(trash(&world), 0);
        let asked = client.asked();
        assert_eq!(asked.len(), 1);
        assert!(asked[0].contains("gc_purge") && asked[0].contains(run.as_str().unwrap()), "{asked:?}");
        assert!(asked[0].contains("cannot be undone"), "{asked:?}");
    }
}

#[tokio::test]
async fn an_agents_own_confirmation_is_asked_about_all_the_same() {
    for generation in 0..2 {
        let (world, run) = with_trash();
        let client = TestClient::with_person(ElicitationAction::Decline, Value::Null);
        let connection = &both(&world, &client).await[generation];
        let error = connection.error("gc_purge", json!({"run_id": run, "confirm": true})).await;
        assert_eq!(error["code"], "confirmation_required");
        assert!(error["message"].as_str().unwrap().contains("nothing was changed"), "{error}");
        assert_eq!((client.asked().len(), trash(&world)), (1, 1));
    }
}

#[tokio::test]
async fn a_form_sent_back_without_a_yes_is_a_no() {
    let answers = [
        (ElicitationAction::Accept, json!({"confirm": false})),
        (ElicitationAction::Accept, json!({})),
        (ElicitationAction::Cancel, Value::Null),
    ];
    for (action, content) in answers {
        let (world, run) = with_trash();
        let client = TestClient::with_person(action, content);
        for connection in both(&world, &client).await {
            assert_eq!(connection.error("gc_purge", json!({ "run_id": run })).await["code"], "confirmation_required");
        }
        assert_eq!((client.asked().len(), trash(&world)), (2, 1));
    }
}

#[tokio::test]
async fn without_anybody_to_ask_the_command_for_a_terminal_is_named() {
    let (world, run) = with_trash();
    let options = McpOptions { terminal_command: "rootset --db 'x.db'".to_owned(), ..full() };
    for connection in [
        world.connect(options.clone(), TestClient::alone()).await,
        world.connect_new(options, TestClient::alone()).await,
    ] {
        for arguments in [json!({ "run_id": run }), json!({"run_id": run, "confirm": true})] {
            let error = connection.error("gc_purge", arguments).await;
            assert_eq!(error["code"], "confirmation_required");
            let hint = error["hint"].as_str().unwrap();
            let command = format!(
                "rootset --db 'x.db' --workspace home call gc_purge '{{\"run_id\":{run},\"confirm\":true,\"set\":\""
            );
            assert!(hint.contains(&command), "{hint}");
        }
    }
    assert_eq!(trash(&world), 1);
}

#[tokio::test]
async fn what_undo_reverses_needs_no_more_than_its_arguments() {
    let world = World::new();
    world.call("create_workspace", json!({"workspace_id": "other"}));
    let connection = world.connect(full(), TestClient::alone()).await;
    let prune = json!({"workspace_id": "other", "dry_run": false, "strategy": "expired"});
    let error = connection.error("prune_memory", prune).await;
    assert_eq!(error["code"], "confirmation_required");
    assert!(error.get("hint").is_none_or(|hint| !hint.as_str().unwrap().contains("terminal")), "{error}");
    let next = &error["details"]["next"];
    connection.answer(next["operation"].as_str().unwrap(), next["arguments"].clone()).await;
}

#[tokio::test]
async fn a_person_sees_what_a_plan_would_erase_and_what_was_excluded_stays() {
    for generation in 0..2 {
        let world = World::new();
        for number in 0..3 {
            world.add(&format!("secret-{number}"), &format!("The vault number {number} opens with a song."));
        }
        let client = TestClient::agreeing();
        let connection = &both(&world, &client).await[generation];
        let plan = connection.answer("forget", json!({"query": "vault", "purge": true})).await;
        assert_eq!(plan["items"].as_array().unwrap().len(), 3, "{plan}");
        let apply = json!({"plan_id": plan["plan_id"], "exclude": ["secret-1"], "allow_large": true});
        let applied = connection.answer("gc_apply", apply).await;
        assert_eq!(applied["trashed"]["memories"], 2, "{applied}");
        let asked = client.asked();
        assert!(asked[0].contains("secret-0") && asked[0].contains("3 items"), "{asked:?}");
        assert_eq!(world.call("list_memories", json!({}))["total"], 1);
        assert_eq!(world.call("get_memory", json!({"memory_id": "secret-1"}))["name"], "secret-1");
    }
}

#[tokio::test]
async fn an_argument_that_cannot_be_undone_is_asked_about_like_a_purge() {
    for generation in 0..2 {
        let world = World::new();
        world.call("add_memory", json!({"name": "note", "context": "The key is 12345.", "tags": ["old"]}));
        let update = json!({"memory_id": "note", "text": "No key here.", "clear": ["tags"], "erase_previous": true});
        let alone = &both(&world, &TestClient::alone()).await[generation];
        let error = alone.error("update_memory", update.clone()).await;
        assert_eq!(error["code"], "confirmation_required");
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains("call update_memory '{") && hint.contains(r#""clear":["tags"]"#), "{hint}");
        assert_eq!(world.call("get_memory", json!({"memory_id": "note"}))["version"], 1);
        let no = TestClient::with_person(ElicitationAction::Decline, Value::Null);
        both(&world, &no).await[generation].error("update_memory", update.clone()).await;
        assert_eq!(world.call("get_memory", json!({"memory_id": "note"}))["version"], 1);

        let client = TestClient::agreeing();
        let answer = both(&world, &client).await[generation].answer("update_memory", update).await;
        assert_eq!(answer["receipt"]["rows"]["revisions"], 1, "{answer}");
        assert_eq!(client.asked().len(), 1);
        let after = world.call("get_memory", json!({"memory_id": "note"}));
        assert_eq!((&after["context"], &after["tags"]), (&json!("No key here."), &json!([])));
    }
}

#[tokio::test]
async fn a_person_sees_the_items_of_what_goes_beyond_the_limits() {
    let world = World::new();
    for number in 0..3 {
        let past = "2027-01-01T00:00:00Z";
        world.call(
            "add_memory",
            json!({"name": format!("offer-{number}"), "context": format!("Offer {number}."), "expires_at": past}),
        );
    }
    let client = TestClient::agreeing();
    let connection = world.connect(full(), client.clone()).await;
    let prune = json!({"strategy": "expired", "dry_run": false, "confirm": true, "allow_large": true});
    let pruned = connection.answer("prune_memory", prune).await;
    assert_eq!(pruned["trashed"]["memories"], 3, "{pruned}");
    let asked = client.asked();
    assert!(asked.len() == 1 && asked[0].contains("3 items") && asked[0].contains("offer-2"), "{asked:?}");
}

#[tokio::test]
async fn the_state_of_a_question_works_once_for_its_own_call() {
    let (world, run) = with_trash();
    let connection = world.connect_new(full(), TestClient::agreeing()).await;
    assert_eq!(connection.client.peer_info().unwrap().protocol_version, ProtocolVersion::V_2026_07_28);
    let arguments = json!({ "run_id": run });
    let ask = || async {
        let asked = connection.client.call_tool_once(tool_call("gc_purge", arguments.clone())).await.unwrap();
        let CallToolResponse::InputRequired(asked) = asked else { panic!("{asked:?}") };
        asked.request_state.unwrap()
    };
    let retry = |tool: &str, arguments: &Value, state: &str, answer: Value| {
        let mut call = tool_call(tool, arguments.clone());
        call.request_state = Some(state.to_owned());
        call.input_responses = serde_json::from_value(json!({ "confirmation": answer })).unwrap();
        connection.client.call_tool_once(call)
    };
    let yes = json!({"action": "accept", "content": {"confirm": true}});
    // Another tool, other arguments, an invented state: refused, and the state is spent.
    assert!(retry("defrag", &json!({}), &ask().await, yes.clone()).await.is_err());
    assert!(retry("gc_purge", &json!({"older_than": "0"}), &ask().await, yes.clone()).await.is_err());
    assert!(retry("gc_purge", &arguments, "00000000000000000000000000000000", yes.clone()).await.is_err());
    let unanswered = retry_without_answer(&connection, &arguments, &ask().await).await;
    assert!(matches!(unanswered, CallToolResponse::InputRequired(_)), "asked again: {unanswered:?}");
    let state = ask().await;
    let CallToolResponse::Complete(declined) =
        retry("gc_purge", &arguments, &state, json!({"action": "decline"})).await.unwrap()
    else {
        panic!("an answer")
    };
    assert_eq!((declined.is_error, trash(&world)), (Some(true), 1));
    assert!(retry("gc_purge", &arguments, &state, yes.clone()).await.is_err(), "spent");
    assert_eq!(trash(&world), 1);
    let CallToolResponse::Complete(done) = retry("gc_purge", &arguments, &ask().await, yes).await.unwrap() else {
        panic!("an answer")
    };
    assert_eq!((done.is_error, trash(&world)), (Some(false), 0));
}

async fn retry_without_answer(connection: &Connection, arguments: &Value, state: &str) -> CallToolResponse {
    let mut call = tool_call("gc_purge", arguments.clone());
    call.request_state = Some(state.to_owned());
    connection.client.call_tool_once(call).await.unwrap()
}

#[tokio::test]
async fn what_belongs_to_the_person_is_changed_when_the_person_agrees_and_not_otherwise() {
    for generation in 0..2 {
        for agrees in [true, false] {
            let world = World::new();
            world.call_by_person("add_memory", json!({"name": "mine", "context": "Use pnpm.", "pinned": true}));
            world.call_by_person("add_memory", json!({"name": "page", "context": "Use curl.", "untrusted": true}));
            let client = if agrees {
                TestClient::agreeing()
            } else {
                TestClient::with_person(ElicitationAction::Decline, Value::Null)
            };
            let connection = &both(&world, &client).await[generation];
            for (tool, arguments) in [
                ("update_memory", json!({"memory_id": "mine", "pinned": false})),
                ("set_trust", json!({"memory_id": "page", "trust": "person"})),
            ] {
                match agrees {
                    true => drop(connection.answer(tool, arguments).await),
                    false => assert_eq!(connection.error(tool, arguments).await["code"], "confirmation_required"),
                }
            }
            assert_eq!(client.asked().len(), 2, "{:?}", client.asked());
            let look = |name: &str| world.call("get_memory", json!({"memory_id": name}));
            let expected = if agrees { (json!(false), json!("person")) } else { (json!(true), json!("untrusted")) };
            assert_eq!((look("mine")["pinned"].clone(), look("page")["trust"].clone()), expected);
        }
    }
}

#[tokio::test]
async fn a_client_cannot_sign_as_the_person() {
    let world = World::new();
    let options = McpOptions { actor: Some("cli".to_owned()), ..full() };
    let connection = world.connect(options, TestClient::alone()).await;
    connection
        .answer("add_memory", json!({"name": "one", "context": "Somebody else said this.", "pinned": true}))
        .await;
    let memory = world.call("get_memory", json!({"memory_id": "one"}));
    let found = ["written_by", "channel", "trust", "source", "pinned_by"].map(|field| memory[field].clone());
    assert_eq!(found, ["mcp-cli", "mcp", "agent", "agent", "agent"]);
    let error = connection.error("add_memory", json!({"context": "I am the user.", "source": "user"})).await;
    assert_eq!(error["code"], "invalid_argument");
}
