//! Both benchmarks end to end on tiny input: the shape of their JSON, and recall worked out by hand.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn json_of(arguments: &[&str]) -> Value {
    let output = Command::cargo_bin("rootset-bench").expect("the binary was built").args(arguments).output();
    let output = output.expect("the binary starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("nothing but JSON on standard output")
}

#[test]
fn memory_measures_every_operation() {
    let report = json_of(&["memory", "--sizes", "50", "--questions", "20", "--seed", "3", "--json"]);
    let size = &report["sizes"][0];
    assert_eq!((&size["memories"], &size["seed"]), (&50.into(), &3.into()));
    let operations = ["raw", "add_memory", "get_memory", "search_memory", "update_memory", "delete_memory", "gc_undo"];
    let found: Vec<&str> = size["operations"].as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(found, operations);
    for operation in operations {
        for figure in ["count", "p50_ms", "p90_ms", "p99_ms", "max_ms", "processor_p50_ms", "per_s"] {
            let value = size["operations"][operation][figure].as_f64();
            assert!(value.is_some_and(|it| it > 0.0), "{operation} {figure}: {value:?}");
        }
    }
    for figure in ["bulk_per_s", "add_to_raw", "bytes_per_memory", "peak_memory_kib"] {
        assert!(size[figure].as_f64().is_some_and(|it| it > 0.0), "{figure}: {}", size[figure]);
    }
    assert!(size["wanted"].as_array().is_some_and(|it| it.len() == 4 && it.iter().all(|it| it["ok"].is_boolean())));
}

#[test]
fn memory_refuses_a_database_that_is_there_already() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("mine.db");
    std::fs::write(&path, "mine").expect("a file");
    let mut command = Command::cargo_bin("rootset-bench").expect("the binary was built");
    command.args(["memory", "--sizes", "50", "--db"]).arg(&path);
    let output = command.output().expect("the binary starts");
    assert!(!output.status.success());
    assert_eq!(std::fs::read(&path).expect("still there"), b"mine");
}

#[test]
fn embed_measures_short_texts_and_bulk() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../rootset-provider/tests/fixtures/tiny-model");
    let report = json_of(&["embed", &format!("local:{folder}"), "--short", "3", "--bulk", "70", "--json"]);
    assert_eq!(
        (&report["dimension"], &report["bulk_texts"], &report["short"]["count"]),
        (&8.into(), &70.into(), &3.into())
    );
    for figure in ["load_ms", "bulk_per_s"] {
        assert!(report[figure].as_f64().is_some_and(|it| it > 0.0), "{figure}: {}", report[figure]);
    }
}

#[test]
fn mark_measures_every_step() {
    let report = json_of(&["mark", "--segments", "500", "--references", "3", "--seed", "3", "--json"]);
    assert_eq!(report["segments"], 500);
    let steps = report["steps"].as_array().expect("a list");
    let names: Vec<&str> = steps.iter().filter_map(|step| step["name"].as_str()).collect();
    let whole = ["fill", "mark", "analyse", "analyse and plan", "retained tokens"];
    assert_eq!(names, [&whole[..], &["… 1,000 segments stay", "… 32,000 tokens stay"]].concat());
    assert!(steps.iter().all(|step| step["ms"].as_f64().is_some_and(|ms| ms > 0.0)), "{steps:?}");
    for figure in ["references", "tokens", "reachable", "planned", "first_addition_p50_us", "last_addition_p50_us"] {
        assert!(report[figure].as_f64().is_some_and(|it| it > 0.0), "{figure}: {}", report[figure]);
    }
}

/// Two conversations. In the first, one of the two turns that "answer" a question shares no word with anything asked and
/// is far from what is found: R = 1/2. In the second, the evidence is found first, and a turn said twice is one memory
/// that stands for both: R = 1. The question without evidence is left out.
fn write_conversations(path: &Path) {
    let mut turns: Vec<String> = vec![turn("D1:1", 1, "Ann", "My falcon escaped from the balcony.")];
    turns.extend((2..40).map(|n| turn(&format!("D1:{n}"), 1, "Ben", &format!("Nothing to add, number {n}00."))));
    turns.push(turn("D2:1", 2, "Ann", "Blue paint, please."));
    let first = format!(
        r#"{{"id": "one", "turns": [{}], "questions": [
            {{"question": "Which falcon escaped?", "category": "multi-hop", "evidence": ["D1:1", "D2:1"]}},
            {{"question": "Who?", "category": "adversarial", "evidence": []}}]}}"#,
        turns.join(", ")
    );
    let twice = [turn("a", 1, "Cem", "The kiln is broken."), turn("b", 1, "Cem", "The kiln is broken.")];
    let second = format!(
        r#"{{"id": "two", "turns": [{}], "questions": [
            {{"question": "What about the kiln?", "category": "single-hop", "evidence": ["a", "b"]}}]}}"#,
        twice.join(", ")
    );
    let lines = [first, second].map(|line| line.replace('\n', " "));
    std::fs::write(path, lines.join("\n")).expect("a file");
}

fn turn(id: &str, session: u32, speaker: &str, text: &str) -> String {
    serde_json::json!({ "id": id, "session": session, "at": "noon", "speaker": speaker, "text": text }).to_string()
}

#[test]
fn locomo_gives_the_recall_worked_out_by_hand() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("conversations.jsonl");
    write_conversations(&path);
    let report = json_of(&["locomo", path.to_str().expect("a readable path"), "--json"]);
    let keys: Vec<&str> = report.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys, ["r_at_5", "r_at_10", "r_at_20", "ndcg_at_10", "questions", "by_category"]);
    assert_eq!(report["questions"], 2);
    let near = |value: &Value, expected: f64| {
        assert!(value.as_f64().is_some_and(|it| (it - expected).abs() < 1e-9), "{value} instead of {expected}");
    };
    for rank in ["r_at_5", "r_at_10", "r_at_20"] {
        near(&report[rank], 0.75);
        near(&report["by_category"]["multi-hop"][rank], 0.5);
        near(&report["by_category"]["single-hop"][rank], 1.0);
    }
    let half_found = 1.0 / (1.0 + 1.0 / 3f64.log2());
    near(&report["by_category"]["multi-hop"]["ndcg_at_10"], half_found);
    near(&report["ndcg_at_10"], (half_found + 1.0) / 2.0);
    assert!(report["by_category"].get("adversarial").is_none());
}

#[test]
fn answers_measures_files_and_folders_in_every_way_of_writing_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("conversations.jsonl");
    write_conversations(&file);
    let chat = folder.path().join("chats/1");
    std::fs::create_dir_all(chat.join("probing_questions")).expect("a folder");
    let messages = serde_json::json!([{ "batch_number": 1, "turns": [[
        { "role": "user", "id": 0, "content": "My module has a test coverage of 65 % ->-> 1,1" },
        { "role": "assistant", "id": 1, "content": "Well done." },
        { "role": "user", "id": 2, "content": "The test coverage of my module has improved to 78 % ->-> 1,2" },
    ]] }]);
    std::fs::write(chat.join("chat.json"), messages.to_string()).expect("a file");
    let probes = serde_json::json!({
        "abstention": [{ "question": "Who?" }],
        "knowledge_update": [{
            "question": "What is the test coverage of my module?",
            "source_chat_ids": { "original_info": [0], "updated_info": [2] },
        }],
    });
    std::fs::write(chat.join("probing_questions/probing_questions.json"), probes.to_string()).expect("a file");
    let chats = folder.path().join("chats");
    let [file, chats] = [&file, &chats].map(|path| path.to_str().expect("a readable path"));
    let report = json_of(&["answers", file, chats, "--json"]);
    let names = |measured: &Value| -> Vec<String> {
        let rows = measured["rows"].as_array().expect("rows").iter();
        rows.map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
    };
    let separate = ["BM25", "rootset, topics", "rootset, no topics", "rootset, speakers as tags"];
    let together = ["one workspace, one after the other", "one workspace, interleaved"];
    assert_eq!(names(&report[0]), [&separate[..], &together[..]].concat());
    assert_eq!(names(&report[1]), separate);
    assert_eq!((&report[0]["rows"][1]["r_at_10"], &report[0]["rows"][1]["questions"]), (&0.75.into(), &2.into()));
    let of_chat = &report[1]["rows"][1];
    assert_eq!((&of_chat["r_at_5"], &of_chat["newer_first"], &of_chat["updates"]), (&1.0.into(), &1.into(), &1.into()));
    let silence = &report[0]["rows"][1]["silence"];
    assert_eq!((&silence["answerable"], &silence["silent_on_answerable"]), (&2.into(), &0.into()), "{silence}");
    assert_eq!((&silence["unanswerable"], &silence["silent_on_unanswerable"]), (&2.into(), &2.into()), "{silence}");
    assert_eq!((&report[0]["rows"][0]["silence"], &of_chat["silence"]), (&Value::Null, &Value::Null));
}

/// Only with all vectors there can a benchmark ask: it fails where one is missing.
#[test]
fn answers_measures_an_embedder_and_its_plain_cosine() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, vectors) = (folder.path().join("conversations.jsonl"), folder.path().join("vectors"));
    write_conversations(&file);
    let model = concat!("local:", env!("CARGO_MANIFEST_DIR"), "/../rootset-provider/tests/fixtures/tiny-model");
    let [file, vectors] = [&file, &vectors].map(|path| path.to_str().expect("a readable path"));
    let arguments = ["answers", file, "--embedder", model, "--vectors", vectors, "--json"];
    let report = json_of(&arguments);
    let rows = report[0]["rows"].as_array().expect("rows");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["name"].as_str()).collect();
    assert_eq!(names[..3], ["BM25", "plain cosine", "rootset, topics"]);
    assert!(rows.iter().all(|row| row["questions"] == 2 && row["r_at_20"].as_f64().is_some_and(|it| it > 0.0)));
    assert_eq!(json_of(&arguments), report, "kept vectors are the same");
}

#[test]
fn gc_measures_every_step_of_the_protocol() {
    let sizes = ["--rows", "2000", "--memories", "200", "--chunks", "0", "--idle-ms", "200"];
    let report = json_of(&[&["gc", "--seed", "3", "--json"], &sizes[..]].concat());
    assert_eq!((&report["classify"]["rows"], &report["defrag"]), (&2000.into(), &Value::Null));
    assert!(report["classify"]["expired"].as_i64().is_some_and(|it| (1..2000).contains(&it)));
    let collect = &report["collect"];
    assert_eq!((&collect["memories"], &collect["chunks"]), (&200.into(), &600.into()));
    // A fifth: one of twenty for each of four reasons.
    for (step, memories) in [("apply", 40), ("undo", 40), ("purge", 40)] {
        assert_eq!(collect[step]["memories"], memories, "{step}");
        assert!(collect[step]["memories_per_s"].as_f64().is_some_and(|it| it > 0.0), "{step}");
    }
    assert_eq!((&collect["plan"]["items"], &collect["apply_skipped"]), (&40.into(), &0.into()));
    for operation in ["get_memory", "search_memory"] {
        assert!(collect["readers"]["idle"][operation]["count"].as_i64().is_some_and(|it| it > 0));
    }
}

/// One session for a window of 40 tokens. With the last view there are 44: the first view is the oldest that may leave, and
/// needed a step later; four tokens of the assistant's are needed by nobody.
fn transcript() -> String {
    let text = |name: &str, tokens: usize| format!("{name:<width$}", width = tokens * 4);
    let segment = |role: &str, segment_type: &str, name: &str, tokens: usize| serde_json::json!({ "role": role, "type": segment_type, "text": text(name, tokens) });
    let view = |name: &str, tokens: usize, file: &str| {
        let text = text(name, tokens);
        serde_json::json!({ "role": "tool", "type": "code", "text": text, "file_path": file, "line_range": [1, 9] })
    };
    let segments = [
        segment("system", "message", "you mend things", 4),
        segment("task", "message", "mend it, please", 4),
        view("fn parse_header", 12, "one.rs"),
        segment("assistant", "message", "parse_header ?", 4),
        view("nothing to see", 12, "two.rs"),
        view("nothing to see here", 8, "three.rs"),
        segment("assistant", "message", "parse_header !", 4),
    ];
    let needs = [
        serde_json::json!({ "step": 6, "kind": "identifier", "holders": [2] }),
        serde_json::json!({ "step": 5, "kind": "view", "holders": [4] }),
        serde_json::json!({ "step": 6, "kind": "identifier", "holders": [1] }),
    ];
    serde_json::json!({ "id": "somebody__something-7-0", "segments": segments, "needs": needs }).to_string()
}

#[test]
fn context_counts_the_misses_worked_out_by_hand() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (plain, packed) = (folder.path().join("sessions.jsonl"), folder.path().join("sessions.jsonl.gz"));
    std::fs::write(&plain, transcript()).expect("a file");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, transcript().as_bytes()).expect("memory");
    std::fs::write(&packed, encoder.finish().expect("memory")).expect("a file");

    let path = plain.to_str().expect("a readable path");
    let report = json_of(&["context", path, "--budgets", "40,1000", "--json"]);
    let no_others = serde_json::json!({ "line": 0, "number": 0, "own_line": 0, "path": 0 });
    let needs = serde_json::json!({ "identifier": 2, "view": 1, "instruction": 5 });
    assert_eq!(report["needs"], merged(&needs, &no_others));
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&report["budgets"][0]), ["budget", "gap_closed", "gaps_closed", "policies"]);
    assert_eq!(keys(&report["budgets"][0]["policies"]), ["lookahead", "lru", "random", "rootset", "window"]);
    let small = &report["budgets"][0];
    // The window loses the task, the oldest that may leave, and with it the only holder of a name.
    let shares = |identifier: f64, instruction: f64| {
        let given =
            serde_json::json!({ "identifier_miss": identifier, "view_miss": 0.0, "instruction_miss": instruction });
        let others =
            serde_json::json!({ "line_miss": 0.0, "number_miss": 0.0, "own_line_miss": 0.0, "path_miss": 0.0 });
        merged(&given, &others)
    };
    assert_eq!(small["policies"]["window"], shares(0.5, 0.2));
    assert_eq!(small["policies"]["lookahead"], shares(0.0, 0.0));
    assert_eq!(small["policies"]["rootset"], shares(0.0, 0.0));
    assert_eq!(small["gap_closed"], 1.0);
    let large = &report["budgets"][1];
    assert_eq!((&large["budget"], &large["gap_closed"]), (&1000.into(), &Value::Null));
    assert_eq!(large["policies"]["random"], shares(0.0, 0.0));

    let packed = json_of(&["context", packed.to_str().expect("a readable path"), "--budgets", "40,1000", "--json"]);
    assert_eq!(packed, report);
}

fn merged(one: &Value, other: &Value) -> Value {
    let fields = |value: &Value| value.as_object().expect("an object").clone();
    Value::Object(fields(one).into_iter().chain(fields(other)).collect())
}

#[test]
fn context_tells_misses_by_repository() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("sessions.jsonl");
    std::fs::write(&path, transcript()).expect("a file");
    let mut command = Command::cargo_bin("rootset-bench").expect("the binary was built");
    let output = command.args(["context", "--budgets", "40", "--by-repository"]).arg(&path).output();
    let output = String::from_utf8(output.expect("the binary starts").stdout).expect("text");
    assert!(output.contains("somebody__something "), "{output}");
    assert!(output.starts_with("sessions: 1\n\nidentifier: misses, % of 2\n"), "{output}");
    assert!(output.contains("\ninstruction: misses, % of 5\n") && !output.contains("own_line:"), "{output}");
}

/// The binary it starts is not this crate's, so only what it says without one can be looked at here.
#[test]
fn serve_names_the_binary_it_cannot_start() {
    let mut command = Command::cargo_bin("rootset-bench").expect("the binary was built");
    command.args(["serve", "--cli", "/nowhere/rootset", "--memories", "5", "--calls", "5"]);
    let output = command.output().expect("the binary starts");
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("/nowhere/rootset"), "{said}");
}

#[test]
fn code_answers_compares_callers_with_the_truth() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tree = folder.path().join("tree");
    std::fs::create_dir(&tree).expect("a folder");
    let caller = "from store import save\n\n\ndef one():\n    save(1)\n";
    for (file, text) in [
        ("store.py", "def save(item):\n    return item\n"),
        ("right.py", caller),
        ("wrong.py", caller),
        ("missed.py", "from store import save\n\n\ndef one():\n    [save][0](1)\n"),
    ] {
        std::fs::write(tree.join(file), text).expect("a file");
    }
    let truth = folder.path().join("truth.jsonl");
    let site = |file: &str, targets: &str| {
        format!(r#"{{"file": "{file}", "line": 5, "name": "save", "targets": [{targets}]}}"#)
    };
    let target = r#"{"file": "store.py", "line": 1}"#;
    let lines = [site("right.py", target), site("missed.py", target), site("wrong.py", "")];
    std::fs::write(&truth, lines.join("\n")).expect("a file");
    let paths = [&tree, &truth].map(|path| path.to_str().expect("a readable path"));
    let report = json_of(&["code-answers", paths[0], paths[1], "--json"]);
    assert_eq!((&report["drawn_sites"], &report["targets"]), (&2.into(), &1.into()), "{report}");
    assert_eq!((&report["recall"], &report["dropped"]), (&0.5.into(), &1.into()), "{report}");
    assert_eq!((&report["certain"], &report["certain_precision"]), (&2.into(), &0.5.into()), "{report}");
}
