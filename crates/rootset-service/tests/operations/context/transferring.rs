//! Export and import: the same session again, and nothing at all of what is broken.

use rootset_service::{Caller, FrontEnd};
use serde_json::{Value, json};

use super::{Session, anthropic_list};
use crate::harness::array;

/// Segments without what belongs to the session they are in.
fn bare(segments: &Value) -> Vec<Value> {
    let fields = ["segment_id", "type", "text", "role", "tool_call_id", "raw", "file_path", "line_range", "tags"];
    let more = ["topic_id", "task_id", "references", "reply_to", "pinned", "invariant", "tokens", "state"];
    let of = |segment: &Value| {
        let known =
            fields.iter().chain(&more).filter_map(|field| Some(((*field).to_owned(), segment.get(*field)?.clone())));
        Value::Object(known.collect())
    };
    array(segments).iter().map(of).collect()
}

fn filled() -> Session {
    let session = Session::new();
    session.call("context_add", json!({"messages": anthropic_list(), "format": "anthropic"}));
    session.add(
        "view",
        "code",
        "fn main() {}",
        json!({"file_path": "src/main.rs", "line_range": [1, 1], "tags": ["rust"], "references": ["later"], "pinned": true}),
    );
    session.add("old", "log", "3 warnings", json!({}));
    session.add_log("last", 1);
    session.prune(&["old"]);
    session
}

#[test]
fn an_export_is_the_session_the_stash_or_both() {
    let session = filled();
    let exported = |include: &str| {
        let answer = session.call("context_export", json!({ "include": include }));
        super::segment_ids(array(&answer["segments"]))
    };
    assert_eq!(exported("session"), session.ids());
    assert_eq!(exported("stash"), ["old"]);
    assert_eq!(exported("both").len(), session.ids().len() + 1);
    session.refuses("context_export", json!({"include": "everything"}));
}

#[test]
fn an_import_of_an_export_is_the_same_session() {
    let session = filled();
    let exported = session.call("context_export", json!({"include": "both"}));
    let other = |operation: &str, mut request: Value| {
        request["session_id"] = "other".into();
        session.world.call(operation, request)
    };
    other("context_gc_configure", json!({"tokenizer": "chars/4", "budget_tokens": 1_000_000}));
    let list = json!({"segments": exported["segments"]});
    other("context_import", json!({"format": "rootset", "messages": list}));
    let again = other("context_export", json!({"include": "both"}));
    assert_eq!(bare(&again["segments"]), bare(&exported["segments"]));
    let rendered = other("context_get", json!({"format": "anthropic"}));
    assert_eq!(super::valid("anthropic", &rendered), session.rendered("anthropic"));
    // Once more changes nothing.
    let before = again;
    other("context_import", json!({"format": "rootset", "messages": list}));
    assert_eq!(other("context_export", json!({"include": "both"})), before);
}

fn line(uuid: &str, parent: Value, role: &str, content: Value) -> Value {
    json!({
        "type": role, "uuid": uuid, "parentUuid": parent, "isSidechain": false, "sessionId": "s",
        "timestamp": "2026-12-01T10:00:00.000Z", "message": {"role": role, "id": format!("msg_{uuid}"), "content": content},
    })
}

/// A session file of Claude Code; its last line is torn when it is being written.
fn claude_code(torn: bool) -> String {
    let call = json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "src"}]);
    let lines = [
        json!({"type": "summary", "summary": "Looking", "leafUuid": "x"}),
        line("u1", Value::Null, "user", json!("Look around.")),
        line("a1", json!("u1"), "assistant", call),
        line("u2", json!("a1"), "user", result),
        line("a2", json!("u2"), "assistant", json!([{"type": "text", "text": "One folder."}])),
    ];
    let mut file: String = lines.iter().map(|line| format!("{line}\n")).collect();
    if torn {
        file.push_str("{\"type\":\"user\",\"uu");
    }
    file
}

#[test]
fn a_session_of_claude_code_is_imported_in_order_and_only_once() {
    let session = Session::new();
    let lines: Vec<Value> = claude_code(false).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let request = json!({"format": "claude-code", "messages": lines});
    session.call("context_import", request.clone());
    assert_eq!(session.ids(), ["m1", "m2", "m3", "m4"]);
    assert_eq!(session.segments()[0]["created_at"], "2026-12-01T10:00:00.000Z");
    assert_eq!(session.rendered("anthropic").messages.len(), 4);
    let before = session.segments();
    session.call("context_import", request);
    assert_eq!(session.segments(), before);
}

#[test]
fn a_file_that_is_being_written_is_imported_up_to_its_torn_line() {
    let session = Session::new();
    let path = session.world.folder().join("live.jsonl");
    std::fs::write(&path, claude_code(true)).unwrap();
    let imported = session.call("context_import", json!({"format": "claude-code", "path": path}));
    assert_eq!(session.ids(), ["m1", "m2", "m3", "m4"]);
    assert!(imported["skipped"].to_string().contains("incomplete"), "{imported}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), claude_code(true));
}

#[test]
fn a_corrupt_import_is_reported_and_the_session_stays_as_it_was() {
    let session = filled();
    let before = session.call("context_export", json!({"include": "both"}));
    let good = json!({"segment_id": "new", "type": "note", "text": "new"});
    let unlike = json!({"segment_id": "view", "type": "code", "text": "other text"});
    for (format, messages) in [
        ("rootset", json!("not a session")),
        ("rootset", json!({"segment": []})),
        ("rootset", json!({"segments": [good, 5]})),
        ("rootset", json!({"segments": [good, {"segment_id": "x", "type": "poem", "text": "y"}]})),
        ("rootset", json!({"segments": [good, {"segment_id": "x", "type": "note"}]})),
        ("anthropic", json!([{"role": "user", "content": "a"}, {"role": "user"}])),
        ("openai", json!({"role": "user"})),
        ("claude-code", json!([1, 2, 3])),
        ("yaml", json!([])),
    ] {
        session.refuses("context_import", json!({"format": format, "messages": messages}));
    }
    let (code, _) =
        session.fails("context_import", json!({"format": "rootset", "messages": {"segments": [good, unlike]}}));
    assert_eq!(code, "conflict");
    assert_eq!(session.call("context_export", json!({"include": "both"})), before);
    let request = json!({"session_id": "fresh", "format": "rootset", "messages": {"segments": [good, 5]}});
    session.world.refuses("context_import", request);
    assert_eq!(session.world.fails("context_get", json!({"session_id": "fresh"})).0, "not_found");
}

#[test]
fn a_corrupt_file_is_never_overwritten() {
    let session = filled();
    let before = session.ids();
    let folder = session.world.folder().join("files");
    std::fs::create_dir(&folder).unwrap();
    let corrupt = "{\"segments\": [{\"segment_id\": \"a\", \"ty";
    let path = folder.join("export.json");
    std::fs::write(&path, corrupt).unwrap();
    let error = session.refuses("context_import", json!({"format": "rootset", "path": path}));
    assert!(error.message.contains("export.json"), "{error}");
    let files =
        std::fs::read_dir(&folder).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    assert_eq!(files.collect::<Vec<_>>(), [corrupt]);
    assert_eq!(session.ids(), before);
}

#[test]
fn a_path_is_for_the_command_line_only() {
    let mut session = Session::new();
    let path = session.world.folder().join("session.jsonl");
    std::fs::write(&path, claude_code(false)).unwrap();
    for front_end in [FrontEnd::Mcp, FrontEnd::Http] {
        session.world.caller = Caller::new(front_end, "somebody", "home");
        let (code, error) = session.fails("context_import", json!({"format": "claude-code", "path": path}));
        assert!(matches!(code, "invalid_argument" | "forbidden"), "{error}");
        assert!(error.message.contains("path"), "{error}");
    }
    assert_eq!(session.ids(), [] as [&str; 0]);
}

#[test]
fn an_import_is_all_there_until_the_next_addition() {
    let session = Session::with(json!({"budget_tokens": 1_000}));
    let segments: Vec<Value> = (0..60)
        .map(|place| json!({"segment_id": format!("s{place}"), "type": "log", "text": super::filler(50)}))
        .collect();
    let imported = session.call("context_import", json!({"format": "rootset", "messages": {"segments": segments}}));
    assert_eq!((session.tokens(), &imported["usage"]["over_limit"]), (3_000, &json!(true)));
    session.add_log("last", 1);
    assert!(session.tokens() <= 900);
    let all = session.call("context_export", json!({"include": "both"}));
    assert_eq!(array(&all["segments"]).len(), 61);
    assert!(session.ids().contains(&"s59".to_owned()));
}
