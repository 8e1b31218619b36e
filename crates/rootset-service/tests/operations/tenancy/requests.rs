//! For every operation: requests that try to get at another tenant's things.

use rootset_api::OperationInfo;
use serde_json::{Value, json};

use super::tenants::{Handles, OTHER};

/// An operation that can be turned against another tenant in a way of its own has an arm here.
pub fn about(operation: &OperationInfo, it: &Handles, tree: &str) -> Vec<Value> {
    let memories = [&it.memory, &it.name, &it.trashed, &it.superseded, &it.file_memory];
    let each_memory = |make: &dyn Fn(&String) -> Value| memories.iter().map(|memory| make(memory)).collect::<Vec<_>>();
    let in_session = |request: Value| {
        let mut request = request;
        request["session_id"] = it.session.as_str().into();
        request
    };
    let explained = [
        &it.memory,
        &it.name,
        &it.trashed,
        &it.entity,
        &it.relation,
        &it.chunk,
        &it.plan,
        &it.run,
        &it.file_memory,
        &it.segment,
        &it.session,
    ];
    match operation.name {
        // Equal content and names are as new as any other.
        "add_memory" => vec![
            json!({"context": it.text, "name": it.name, "topic": "t", "tags": [it.tag], "source": it.source}),
            json!({"context": "It comes after another.", "supersedes": [it.memory]}),
            json!({"context": "It comes after another, by name.", "supersedes": [it.superseded, it.name]}),
            json!({"context": "in their workspace", "workspace_id": OTHER}),
        ],
        "add_memories" => vec![json!({"memories": [
            {"context": format!("{} again", it.text), "name": format!("{}-2", it.name)},
            {"context": "supersedes", "supersedes": [it.memory]},
        ]})],
        "get_memory" => [
            each_memory(&|memory| json!({"memory_id": memory, "include": ["ids"]})),
            each_memory(&|memory| json!({"memory_id": memory, "revision": 1})),
            each_memory(&|memory| json!({"memory_id": memory, "plan_id": it.plan})),
        ]
        .concat(),
        "list_memories" => vec![
            json!({"lifecycle": "all", "limit": 100}),
            json!({"lifecycle": "trashed"}),
            json!({"tags": [it.tag]}),
            json!({"source": it.source}),
            json!({"query": it.entity_name}),
        ],
        "update_memory" => {
            each_memory(&|memory| json!({"memory_id": memory, "context": "taken over", "tags": ["mine"]}))
        }
        "delete_memory" => each_memory(&|memory| json!({"memory_id": memory})),
        "search_memory" => vec![
            json!({"query": it.text, "explain": true}),
            json!({"query": it.entity_name, "mode": "entities"}),
            json!({"query": it.name}),
            json!({"tags": [it.tag]}),
            json!({"source": it.source}),
            json!({"query": "2/0/project 2/1/zyxwaardvarkproject '' \\ /", "limit": 100}),
        ],
        "supersede_memory" => vec![
            json!({"memory_id": it.memory, "by": "quokka-main"}),
            json!({"memory_id": "quokka-main", "by": it.memory}),
            json!({"memory_id": it.superseded, "by": it.name}),
        ],
        "forget" => vec![
            json!({"query": it.text}),
            json!({"tags": [it.tag]}),
            json!({"source": it.source, "include_pinned": true, "purge": true}),
            json!({"written_by": "cli", "kinds": ["memories", "revisions", "entities", "segments", "code"]}),
        ],
        "get_entity" => vec![json!({"entity_id": it.entity}), json!({"entity_id": it.entity_name})],
        "get_related" => vec![json!({"entity_id": it.entity, "depth": 5}), json!({"entity_id": it.entity_name})],
        "import_graph" => vec![json!({
            "entities": [{"name": it.entity_name, "description": "mine"}, {"name": "Other"}],
            "relations": [{"source": it.entity_name, "relation": "uses", "target": "Other"}],
        })],
        "export_graph" => vec![json!({}), json!({"format": "graphml"})],
        "prune_memory" => vec![
            json!({"strategy": "all"}),
            json!({"dry_run": false, "confirm": true, "plan_id": it.plan, "allow_large": true}),
            json!({"dry_run": false, "confirm": true, "strategy": "all", "exclude": [it.memory], "allow_large": true}),
        ],
        "gc_plan" => vec![json!({"strategies": ["all"]})],
        "get_plan" => {
            vec![json!({"plan_id": it.plan}), json!({"plan_id": it.erasing_plan}), json!({"plan_id": it.context_plan})]
        }
        "gc_apply" => vec![
            json!({"plan_id": it.plan, "allow_large": true}),
            json!({"plan_id": it.plan, "exclude": [it.memory]}),
            json!({"plan_id": it.erasing_plan, "confirm": true, "allow_large": true}),
            json!({"plan_id": it.context_plan}),
        ],
        "gc_undo" => vec![
            json!({"run_id": it.run}),
            json!({"run_id": it.undone_run}),
            json!({"run_id": it.purged_run}),
            json!({"memory_id": it.trashed}),
            json!({}),
        ],
        "gc_purge" => vec![
            json!({"run_id": it.run, "confirm": true}),
            json!({"run_id": it.undone_run, "confirm": true}),
            json!({"run_id": it.purged_run, "confirm": true}),
            json!({"older_than": "0", "confirm": true}),
        ],
        "gc_explain" => explained.iter().map(|id| json!({ "id": id })).collect(),
        "list_trash" => vec![json!({})],
        "list_audit" => vec![json!({}), json!({"operation": "delete_memory"}), json!({"database": true})],
        "set_retention" => vec![
            json!({"source": it.source, "max_count": 1, "min_keep": 0}),
            json!({"repo": it.repo, "max_version_gap": 1}),
        ],
        "get_retention" => vec![json!({"source": it.source}), json!({"repo": it.repo}), json!({})],
        "backup_create" => vec![json!({"format": "jsonl"}), json!({"format": "jsonl", "workspace_id": OTHER})],
        "backup_verify" => vec![json!({"backup_id": it.backup})],
        "backup_restore" => vec![
            json!({"backup_id": it.backup, "confirm": true}),
            json!({"backup_id": it.backup, "workspace_id": OTHER, "confirm": true}),
            json!({"backup_id": it.backup, "workspace_id": OTHER, "into_workspace_id": "ann", "confirm": true}),
        ],
        "defrag" => vec![json!({"confirm": true})],
        "index_codebase" => vec![json!({"path": tree, "repo": it.repo})],
        "search_code" => vec![json!({"query": it.symbol}), json!({"query": it.symbol, "repo": it.repo})],
        "find_references" => vec![json!({"symbol": it.symbol}), json!({"symbol": it.symbol, "repo": it.repo})],
        "get_symbol" | "get_callers" | "get_callees" => {
            vec![json!({"qualified_name": it.symbol}), json!({"qualified_name": it.symbol, "repo": it.repo})]
        }
        "context_add" => vec![
            in_session(json!({"segments": [{"segment_id": it.segment, "type": "note", "text": it.text}]})),
            in_session(json!({"segments": [
                {"type": "note", "text": "refers", "references": [it.stashed], "reply_to": it.segment},
            ]})),
        ],
        "context_fit" => {
            let messages = json!([{"role": "user", "content": it.text}, {"role": "user", "content": it.stashed}]);
            vec![in_session(json!({"messages": messages, "budget_tokens": 100_000}))]
        }
        "context_set_focus" => vec![in_session(json!({"task_id": "t", "active_file": "a.rs"}))],
        "context_get" => vec![in_session(json!({})), in_session(json!({"format": "anthropic"}))],
        "context_import" => {
            vec![in_session(json!({"format": "openai", "messages": [{"role": "user", "content": "hello"}]}))]
        }
        "context_export" => vec![in_session(json!({"include": "both"}))],
        "context_delete_session" => vec![in_session(json!({"confirm": true}))],
        "context_gc_analyze" => vec![in_session(json!({"target_tokens": 1}))],
        "context_gc_prune" => vec![
            in_session(json!({"segment_ids": [it.segment, it.stashed], "strategy": "delete", "confirm": true})),
            in_session(json!({"plan_id": it.context_plan, "confirm": true})),
        ],
        "context_gc_pin" | "context_gc_unpin" => vec![in_session(json!({"segment_ids": [it.segment, it.stashed]}))],
        "context_gc_configure" => vec![in_session(json!({"budget_tokens": 5_000}))],
        "context_search_stash" => vec![
            in_session(json!({"query": it.stashed})),
            json!({"session_id": "Quokka-session", "query": it.stashed, "all_sessions": true}),
            json!({"session_id": "Quokka-session", "tags": [it.tag], "all_sessions": true}),
        ],
        "context_restore" => vec![
            in_session(json!({"segment_ids": [it.stashed]})),
            json!({"session_id": "Quokka-session", "segment_ids": [it.stashed], "from_session_id": it.session}),
            json!({"session_id": "Quokka-session", "segment_ids": [it.stashed]}),
        ],
        "context_recall" => vec![json!({"query": it.stashed}), json!({"ids": ["s1", "s2", "s3", "s4"]})],
        "context_compress" => vec![in_session(json!({"segment_id": it.segment, "summary": "short"}))],
        "context_explain" => vec![
            in_session(json!({"segment_id": it.segment})),
            json!({"session_id": "Quokka-session", "segment_id": it.segment}),
        ],
        "create_workspace" => vec![json!({"workspace_id": OTHER})],
        "delete_workspace" => vec![json!({"workspace_id": OTHER, "confirm_phrase": format!("DELETE {OTHER}")})],
        "create_token" => vec![json!({"name": "t", "scopes": ["read"], "workspaces": [OTHER]})],
        "revoke_token" | "rotate_token" => vec![json!({"name": "t"})],
        _ => example_with_their_handles(operation, it),
    }
}

/// The operation's example as it is, and once for each field that can name a thing, with the other tenant's thing in it.
fn example_with_their_handles(operation: &OperationInfo, it: &Handles) -> Vec<Value> {
    let theirs = [
        ("workspace_id", OTHER),
        ("memory_id", &it.memory),
        ("entity_id", &it.entity),
        ("name", &it.name),
        ("id", &it.memory),
        ("query", &it.text),
        ("source", &it.source),
        ("plan_id", &it.plan),
        ("run_id", &it.run),
        ("session_id", &it.session),
        ("segment_id", &it.segment),
        ("repo", &it.repo),
        ("qualified_name", &it.symbol),
        ("backup_id", &it.backup),
    ];
    let example = (operation.example)();
    let fields = &operation.input_schema()["properties"];
    let asked = theirs.into_iter().filter(|(field, _)| fields.get(field).is_some()).map(|(field, handle)| {
        let mut request = example.clone();
        request[field] = handle.into();
        request
    });
    std::iter::once(example.clone()).chain(asked).collect()
}
