//! Sessions of Claude Code, as their files look.

use rootset_gc::context::SegmentType;
use rootset_messages::Format::{Anthropic, ClaudeCode};
use rootset_messages::{Draft, ReadError, ReadOutcome, read, read_claude_code};
use serde_json::{Value, json};

use crate::harness::{body, pieces, rendered, texts};

/// A line behind another one.
fn line(uuid: &str, parent: &str, kind: &str, more: Value) -> Value {
    let parent = if parent.is_empty() { Value::Null } else { parent.into() };
    let mut line = json!({
        "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": uuid, "sessionId": "s",
        "timestamp": "2026-05-01T10:00:00.000Z", "version": "2.1.0", "cwd": "/src",
    });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

fn user(uuid: &str, parent: &str, content: Value) -> Value {
    line(uuid, parent, "user", json!({"message": {"role": "user", "content": content}}))
}

fn assistant(uuid: &str, parent: &str, id: &str, block: Value) -> Value {
    let usage = json!({"input_tokens": 10, "output_tokens": 5});
    let message =
        json!({"id": id, "type": "message", "role": "assistant", "model": "m", "content": [block], "usage": usage});
    line(uuid, parent, "assistant", json!({"message": message, "requestId": "req_1"}))
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

fn result(id: &str, content: &str) -> Value {
    json!([{"type": "tool_result", "tool_use_id": id, "content": content}])
}

fn file(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[track_caller]
fn session(lines: &[Value]) -> ReadOutcome {
    read_claude_code(&file(lines)).unwrap()
}

fn ids(drafts: &[Draft]) -> Vec<&str> {
    drafts.iter().map(|draft| draft.segment_id.as_deref().unwrap()).collect()
}

/// Roles and numbers of blocks of the rendered messages.
#[track_caller]
fn shape(drafts: &[Draft]) -> Vec<(String, usize)> {
    let rendered = rendered(ClaudeCode, &pieces(drafts));
    let of = |message: &Value| {
        let blocks = message["content"].as_array().map_or(1, Vec::len);
        (message["role"].as_str().unwrap().to_owned(), blocks)
    };
    rendered.messages.iter().map(of).collect()
}

fn roles_and_blocks(expected: &[(&str, usize)]) -> Vec<(String, usize)> {
    expected.iter().map(|(role, blocks)| ((*role).to_owned(), *blocks)).collect()
}

#[test]
fn a_message_spread_over_lines_is_one_message_again() {
    let read = session(&[
        json!({"type": "summary", "summary": "Fix the build", "leafUuid": "x"}),
        json!({"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}}),
        user("u1", "", json!("Fix the build.")),
        assistant("a1", "u1", "msg_1", json!({"type": "thinking", "thinking": "Look first.", "signature": "sig"})),
        assistant("a2", "a1", "msg_1", text("I will look.")),
        assistant("a3", "a2", "msg_1", call("t1", "Bash", json!({"command": "make"}))),
        line("p1", "a3", "progress", json!({"data": {}})),
        user("r1", "a3", result("t1", "error: line 3")),
        assistant("a4", "r1", "msg_2", text("It is line 3.")),
    ]);
    assert_eq!(read.skipped, []);
    assert_eq!(ids(&read.drafts), ["u1", "a2", "a3", "r1", "a4"]);
    assert_eq!(texts(&read.drafts)[1], "Look first.\nI will look.");
    assert_eq!(read.drafts[3].segment_type, SegmentType::Log);
    let again = rendered(ClaudeCode, &pieces(&read.drafts));
    let expected = json!({"messages": [
        {"role": "user", "content": [text("Fix the build.")]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Look first.", "signature": "sig"},
            text("I will look."),
            call("t1", "Bash", json!({"command": "make"})),
        ]},
        {"role": "user", "content": result("t1", "error: line 3")},
        {"role": "assistant", "content": [text("It is line 3.")]},
    ]});
    assert_eq!(body(&again), expected.to_string());
    assert!(
        read.drafts.iter().all(|draft| draft.created_at.is_some_and(|at| at.to_string().starts_with("2026-05-01")))
    );
}

#[test]
fn results_between_the_lines_of_a_message_come_behind_it() {
    let read = session(&[
        user("u1", "", json!("Look around.")),
        assistant("a1", "u1", "msg_1", call("t1", "Bash", json!({}))),
        user("r1", "a1", result("t1", "one")),
        assistant("a2", "a1", "msg_1", call("t2", "Bash", json!({}))),
        user("r2", "a2", result("t2", "two")),
        assistant("a3", "r2", "msg_2", text("Done.")),
    ]);
    assert_eq!(ids(&read.drafts), ["u1", "a1", "a2", "r1", "r2", "a3"]);
    assert_eq!(shape(&read.drafts), roles_and_blocks(&[("user", 1), ("assistant", 2), ("user", 2), ("assistant", 1)]));
}

#[test]
fn a_live_file_may_end_with_any_of_several_results() {
    let lines = [
        user("u1", "", json!("Look around.")),
        assistant("a1", "u1", "msg_1", call("t1", "Bash", json!({}))),
        assistant("a2", "a1", "msg_1", call("t2", "Bash", json!({}))),
        user("r2", "a2", result("t2", "two")),
        user("r1", "a1", result("t1", "one")),
    ];
    assert_eq!(ids(&session(&lines).drafts), ["u1", "a1", "a2", "r2", "r1"]);
    assert_eq!(ids(&session(&lines[..4]).drafts), ["u1", "a1", "a2", "r2"]);
    assert_eq!(shape(&session(&lines).drafts), roles_and_blocks(&[("user", 1), ("assistant", 2), ("user", 2)]));
}

#[test]
fn drafts_of_a_line_do_not_change_while_the_file_grows() {
    let lines = [
        user("u1", "", json!([text("Look:"), text("here")])),
        assistant("a1", "u1", "msg_1", json!({"type": "thinking", "thinking": "hm", "signature": "sig"})),
        assistant("a2", "a1", "msg_1", text("So.")),
        assistant("a3", "a2", "msg_1", call("t1", "Read", json!({"file_path": "a.rs"}))),
        user("r1", "a3", result("t1", "1→a\n2→b")),
    ];
    let whole = session(&lines).drafts;
    assert_eq!(ids(&whole), ["u1#1", "u1#2", "a2", "a3", "r1"]);
    for length in 1..lines.len() {
        for draft in session(&lines[..length]).drafts {
            let later = whole.iter().find(|it| it.segment_id == draft.segment_id).expect("it is still there");
            assert_eq!((&later.text, &later.raw), (&draft.text, &draft.raw));
        }
    }
    let thinking_last = session(&lines[..2]);
    assert_eq!(ids(&thinking_last.drafts), ["u1#1", "u1#2"]);
    assert_eq!(thinking_last.skipped[0].reason, "thinking with nothing after it");
}

#[test]
fn side_conversations_errors_and_branches_that_were_left_stay_out() {
    let mut side = user("s1", "a1", json!("You are a helper."));
    side["isSidechain"] = true.into();
    let mut failed = assistant("e1", "u1", "msg_e", text("API Error: 529"));
    failed["isApiErrorMessage"] = true.into();
    let mut note = user("m1", "e1", json!("<local-command-caveat>"));
    note["isMeta"] = true.into();
    let read = session(&[
        user("u1", "", json!("Begin.")),
        failed,
        note,
        assistant("a1", "m1", "msg_1", text("First answer.")),
        side,
        user("u2", "a1", json!("A wrong turn.")),
        assistant("a2", "u2", "msg_2", text("A wrong answer.")),
        line("y1", "a1", "system", json!({"subtype": "informational", "content": "rewound"})),
        user("u3", "y1", json!("A better turn.")),
    ]);
    assert_eq!(ids(&read.drafts), ["u1", "m1", "a1", "u3"]);
    let [left] = read.skipped.as_slice() else { panic!("{:?}", read.skipped) };
    assert_eq!(left.line, 6);
    assert_eq!(left.reason, "2 lines in abandoned branches, from here on");
}

#[test]
fn a_file_of_a_side_conversation_alone_is_that_conversation() {
    let mut lines = [user("u1", "", json!("Search.")), assistant("a1", "u1", "msg_1", text("Found."))];
    lines.iter_mut().for_each(|line| line["isSidechain"] = true.into());
    assert_eq!(ids(&session(&lines).drafts), ["u1", "a1"]);
}

#[test]
fn what_was_compacted_is_stood_for_by_its_summary() {
    let boundary = line("b1", "", "system", json!({"subtype": "compact_boundary", "logicalParentUuid": "a1"}));
    let mut summary = user("c1", "b1", json!("This session is continued from an earlier one."));
    summary["isCompactSummary"] = true.into();
    summary["isVisibleInTranscriptOnly"] = true.into();
    let read = session(&[
        user("u1", "", json!("Old question.")),
        assistant("a1", "u1", "msg_1", text("Old answer.")),
        boundary,
        summary,
        user("u2", "c1", json!("New question.")),
    ]);
    assert_eq!(ids(&read.drafts), ["c1", "u2"]);
    assert_eq!(read.drafts[0].segment_type, SegmentType::Summary);
    let [compacted] = read.skipped.as_slice() else { panic!("{:?}", read.skipped) };
    assert_eq!(compacted.line, 3);
    assert_eq!(compacted.reason, "2 lines before this compaction, replaced by its summary");
    assert_eq!(shape(&read.drafts), roles_and_blocks(&[("user", 2)]));
}

/// As 2.1.197 writes it: the compaction names what it kept, and what follows has the summary for a parent.
fn compaction(uuid: &str, kept: &[&str], anchor: &str) -> Value {
    let kept = json!({"anchorUuid": anchor, "uuids": kept, "allUuids": kept});
    let about = json!({"trigger": "auto", "preTokens": 90_000, "preservedMessages": kept});
    line(uuid, "", "system", json!({"subtype": "compact_boundary", "compactMetadata": about}))
}

fn summary(uuid: &str, parent: &str) -> Value {
    let mut line = user(uuid, parent, json!("This session is continued from an earlier one."));
    line["isCompactSummary"] = true.into();
    line["isVisibleInTranscriptOnly"] = true.into();
    line
}

#[test]
fn what_a_compaction_kept_stands_behind_its_summary() {
    let before = [
        user("u1", "", json!("Old question.")),
        assistant("a1", "u1", "msg_1", text("Old answer.")),
        assistant("a2", "a1", "msg_2", call("t1", "Bash", json!({"command": "make"}))),
        user("r1", "a2", result("t1", "error: line 3")),
        user("u2", "r1", json!("The current question.")),
    ];
    let session_with = |after: Vec<Value>| {
        let boundary = compaction("b1", &["a2", "r1", "u2"], "c1");
        session(&[before.to_vec(), vec![boundary, summary("c1", "b1")], after].concat())
    };
    let kept = ["c1", "a2", "r1", "u2"];
    let at_once = session_with(Vec::new());
    assert_eq!(ids(&at_once.drafts), kept);
    assert_eq!(at_once.skipped[0].reason, "2 lines before this compaction, replaced by its summary");
    let expected = roles_and_blocks(&[("user", 1), ("assistant", 1), ("user", 2), ("assistant", 1)]);
    for parent in ["c1", "u2"] {
        let read = session_with(vec![assistant("a3", parent, "msg_3", text("The answer."))]);
        assert_eq!(ids(&read.drafts), [kept.as_slice(), &["a3"]].concat(), "behind {parent}");
        assert_eq!(shape(&read.drafts), expected);
    }
    let again = session_with(vec![
        assistant("a3", "c1", "msg_3", text("The answer.")),
        compaction("b2", &["a3"], "c2"),
        summary("c2", "b2"),
        user("u3", "c2", json!("Go on.")),
    ]);
    assert_eq!(ids(&again.drafts), ["c2", "a3", "u3"]);
}

#[test]
fn a_line_whose_parent_is_lost_follows_the_line_before_it() {
    let read = session(&[
        user("u1", "of another file", json!("Go on.")),
        assistant("a1", "u1", "msg_1", text("Going on.")),
        user("u2", "lost", json!("And on.")),
    ]);
    assert_eq!(ids(&read.drafts), ["u1", "a1", "u2"]);
}

#[test]
fn lines_that_lead_in_circles_are_read_once() {
    let read = session(&[user("u1", "a1", json!("Go.")), assistant("a1", "u1", "msg_1", text("Gone."))]);
    assert_eq!(ids(&read.drafts), ["u1", "a1"]);
}

#[test]
fn files_are_known_from_the_notes_beside_results() {
    let mut shown = user("r1", "a1", result("t1", "fn a() {}"));
    shown["toolUseResult"] = json!({"type": "text", "file": {
        "filePath": "/src/a.rs", "content": "fn a() {}", "numLines": 12, "startLine": 30, "totalLines": 90,
    }});
    let mut edited = user("r2", "a2", result("t2", "The file was updated."));
    edited["toolUseResult"] = json!({"filePath": "/src/a.rs", "oldString": "a", "newString": "b", "structuredPatch": [
        {"oldStart": 5, "oldLines": 3, "newStart": 5, "newLines": 4, "lines": []},
        {"oldStart": 20, "oldLines": 1, "newStart": 21, "newLines": 2, "lines": []},
    ]});
    let read = session(&[
        user("u1", "", json!("Go.")),
        assistant("a1", "u1", "msg_1", call("t1", "Read", json!({"file_path": "/src/a.rs"}))),
        shown,
        assistant(
            "a2",
            "r1",
            "msg_2",
            call("t2", "Edit", json!({"file_path": "/src/a.rs", "old_string": "a", "new_string": "b"})),
        ),
        edited,
    ]);
    let views: Vec<_> = read.drafts.iter().map(|it| (it.segment_type, it.file_path.as_deref(), it.lines)).collect();
    let path = Some("/src/a.rs");
    assert_eq!(
        views,
        [
            (SegmentType::Message, None, None),
            (SegmentType::Message, path, None),
            (SegmentType::Code, path, Some((30, 41))),
            (SegmentType::Message, path, None),
            (SegmentType::Code, path, Some((5, 22))),
        ]
    );
}

#[test]
fn images_travel_with_a_session() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}});
    let read = session(&[user("u1", "", json!([text("What is this?"), image]))]);
    assert_eq!(texts(&read.drafts), ["What is this?", "[image image/png]"]);
    assert_eq!(read.drafts[1].extra_tokens, 1_600);
    let again = rendered(Anthropic, &pieces(&read.drafts[1..]));
    assert_eq!(again.messages, [json!({"role": "user", "content": [image]})]);
}

#[test]
fn a_torn_last_line_and_a_broken_one_are_reported_and_the_rest_is_read() {
    let whole = file(&[user("u1", "", json!("Begin.")), assistant("a1", "u1", "msg_1", text("Answer."))]);
    let broken = whole.replacen('\n', "\nnot json\n\n", 1) + "{\"type\":\"user\",\"uu";
    let read = read_claude_code(&broken).unwrap();
    assert_eq!(ids(&read.drafts), ["u1", "a1"]);
    let lines: Vec<usize> = read.skipped.iter().map(|skipped| skipped.line).collect();
    assert_eq!(lines, [2, 5]);
    assert!(read.skipped[0].reason.starts_with("it is not JSON, at column 2"), "{:?}", read.skipped);
    assert!(read.skipped[1].reason.contains("incomplete"), "{:?}", read.skipped);
}

#[test]
fn lines_can_come_as_a_list_or_as_text_in_json() {
    let lines = [user("u1", "", json!("Begin.")), assistant("a1", "u1", "msg_1", text("Answer."))];
    let expected = session(&lines);
    assert_eq!(read(ClaudeCode, &json!(lines)), Ok(expected.clone()));
    assert_eq!(read(ClaudeCode, &file(&lines).into()), Ok(expected));
}

#[test]
fn what_is_no_session_is_refused_and_an_empty_file_is_empty() {
    assert_eq!(read_claude_code("{\"role\": \"user\"}\n[1]\n"), Err(ReadError::NotASession { lines: 2 }));
    assert_eq!(read_claude_code("root:x:0\ndaemon:x:1\n"), Err(ReadError::NotASession { lines: 2 }));
    let of_codex = json!({"timestamp": "2026-05-01T10:00:00Z", "type": "session_meta", "payload": {"id": "s"}});
    assert_eq!(read_claude_code(&file(&[of_codex])), Err(ReadError::OfCodex));
    assert_eq!(read(ClaudeCode, &json!(5)), Err(ReadError::NotAList { found: "a number" }));
    assert_eq!(session(&[]).drafts, []);
}
