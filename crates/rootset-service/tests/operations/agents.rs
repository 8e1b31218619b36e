//! What an agent can do alone: every tool with every flag and every choice, on a database that has something to lose.
//! Afterwards either everything that could be read can be read again once the call's runs are undone, or a person was
//! asked and nothing has changed.
//!
//! Requests are made from the schemas and the examples of the catalogue, so a new operation is tried without a line here.

use std::collections::{BTreeMap, BTreeSet};

use rootset_api::{Effect, OperationInfo, catalogue};
use rootset_service::{Caller, FrontEnd, ServiceError, Settings};
use serde_json::{Map, Value, json};

use crate::harness::{World, array, text_of};

fn agent() -> Caller {
    Caller::new(FrontEnd::Mcp, "some-agent", "home")
}

/// Few enough that the example of `update_memory` pushes one out.
const KEEP_REVISIONS: i64 = 2;

/// A database on which the examples of the catalogue find what they name.
struct Prepared {
    world: World,
    /// What stands in the examples for something that only this database knows, by field: one or several of them.
    known: BTreeMap<&'static str, Vec<Value>>,
}

impl Prepared {
    fn new() -> Self {
        let mut world = World::new();
        let mut settings = Settings { keep_revisions: KEEP_REVISIONS, ..Settings::default() };
        settings.code.roots = Some(vec![world.folder().to_owned()]);
        world.service = world.process_with(settings);
        for (name, text) in [
            ("deploys", "Deploys happen on Tuesdays. The API uses PostgreSQL."),
            ("deploys-2", "Deploys happen never again."),
            ("apollo", "Project Apollo uses PostgreSQL."),
            ("gone", "The old office is in the harbour."),
        ] {
            world.call("add_memory", json!({"name": name, "context": text, "tags": ["team"]}));
        }
        for number in 0..=KEEP_REVISIONS {
            let text = format!("Deploys happen {number} times a week.");
            world.call("update_memory", json!({"memory_id": "deploys", "context": text}));
        }
        for number in 0..3 {
            let past = rootset_model::Timestamp(world.now_ms());
            let text = format!("The offer number {number} ends today.");
            world.call("add_memory", json!({"name": format!("offer-{number}"), "context": text, "expires_at": past}));
        }
        let removed = world.delete("gone");
        world.call("import_graph", json!({"entities": [{"name": "Harbour", "type": "place"}], "relations": []}));
        let segment = |id: &str| json!({"segment_id": id, "type": "message", "text": format!("The parser {id} is slow. ").repeat(20)});
        let segments = json!({"session_id": "today", "segments": [segment("s1"), segment("s2"), segment("s3")]});
        world.call("context_add", segments);
        world.call("create_workspace", json!({"workspace_id": "team-a"}));
        world.call("add_memory", json!({"workspace_id": "team-a", "context": "Team A meets on Mondays."}));
        world.call("create_token", json!({"name": "ci", "scopes": ["read"], "workspaces": ["team-a"]}));
        let backup = world.call("backup_create", json!({"format": "jsonl"}));
        let tree = world.folder().join("tree");
        std::fs::create_dir(&tree).unwrap();
        std::fs::write(tree.join("main.rs"), "fn main() {}\n").unwrap();
        let plans = [
            world.call("forget", json!({"query": "project apollo"})),
            world.call("forget", json!({"query": "deploys", "purge": true})),
            world.call("gc_plan", json!({"strategies": ["expired"]})),
        ];
        let known = BTreeMap::from([
            ("plan_id", plans.iter().map(|plan| plan["plan_id"].clone()).collect()),
            ("run_id", vec![removed.into()]),
            ("backup_id", vec![backup["backup_id"].clone()]),
            ("path", vec![json!(tree)]),
        ]);
        Self { world, known }
    }

    /// The example, once for each of the things that it may be about.
    fn examples(&self, operation: &OperationInfo) -> Vec<Map<String, Value>> {
        let Value::Object(example) = (operation.example)() else { panic!("{}", operation.name) };
        let mut examples = vec![example];
        if operation.name.starts_with("create_") {
            // What other examples are about is there already.
            for field in ["workspace_id", "name"] {
                examples[0].entry(field).and_modify(|it| *it = "another".into());
            }
        }
        for (field, values) in &self.known {
            // A plan about a session is of another kind.
            let values = match (*field, operation.name) {
                ("plan_id", "context_gc_prune") => vec![self.context_plan()],
                _ => values.clone(),
            };
            let with = |example: &Map<String, Value>| -> Vec<Map<String, Value>> {
                if !example.contains_key(*field) {
                    return vec![example.clone()];
                }
                let with = |value: &Value| {
                    let mut example = example.clone();
                    example.insert((*field).to_owned(), value.clone());
                    example
                };
                values.iter().map(with).collect()
            };
            examples = examples.iter().flat_map(with).collect();
        }
        examples
    }

    fn context_plan(&self) -> Value {
        let analysis = json!({"session_id": "today", "target_tokens": 10});
        self.world.call("context_gc_analyze", analysis)["plan"]["plan_id"].clone()
    }

    /// What is stored at all, in the trash or not.
    fn stored(&self) -> BTreeSet<String> {
        self.rows(&[
            "SELECT 'revision', workspace, memory, revision, context FROM revisions",
            "SELECT 'segment', workspace, segment, text FROM segment_texts",
            "SELECT 'imported', workspace, object FROM untracked",
            "SELECT 'workspace', workspace_id FROM workspaces",
            "SELECT 'token', name FROM tokens WHERE revoked_at IS NULL",
        ])
    }

    /// What anybody can read.
    fn readable(&self) -> BTreeSet<String> {
        let mut readable = self.rows(&[
            "SELECT 'revision', r.workspace, r.memory, r.revision, r.context FROM revisions r \
             JOIN memories m ON m.workspace = r.workspace AND m.memory = r.memory \
             JOIN workspaces w ON w.workspace = r.workspace \
             WHERE r.trashed_run IS NULL AND m.trashed_run IS NULL AND w.trashed_run IS NULL",
            "SELECT 'segment', t.workspace, t.segment, t.text FROM segment_texts t \
             JOIN segments s ON s.workspace = t.workspace AND s.segment = t.segment \
             JOIN sessions o ON o.workspace = s.workspace AND o.session = s.session \
             WHERE s.trashed_run IS NULL AND o.trashed_run IS NULL",
            "SELECT 'imported', workspace, object FROM untracked WHERE trashed_run IS NULL",
            "SELECT 'workspace', workspace_id FROM workspaces WHERE trashed_run IS NULL",
        ]);
        let backups = self.world.look_by("backup_list", json!({}));
        readable.extend(array(&backups["backups"]).iter().map(|it| format!("backup {}", it["backup_id"])));
        readable
    }

    fn rows(&self, queries: &[&str]) -> BTreeSet<String> {
        let sql = self.world.sql();
        let shown = |row: &rootset_testing::SqlRow| {
            let cells: Vec<String> = row.columns().map(|(_, cell)| cell.to_string()).collect();
            Ok(cells.join(" "))
        };
        queries.iter().flat_map(|query| sql.rows(query, &[], shown).unwrap()).collect()
    }

    /// Workspaces and ids of the runs that can be undone.
    fn runs(&self) -> BTreeSet<(String, String)> {
        let ids = self.rows(&["SELECT workspace_id FROM workspaces"]);
        let mut runs = BTreeSet::new();
        for id in ids {
            for kind in [json!({"workspace_id": id}), json!({"workspace_id": id, "kind": "segment"})] {
                // A workspace in the trash would be undone by asking.
                if self.rows(&["SELECT workspace_id FROM workspaces WHERE trashed_run IS NOT NULL"]).contains(&id) {
                    runs.insert((id.clone(), String::new()));
                    continue;
                }
                let listed = self.world.look_by("gc_undo", kind);
                runs.extend(array(&listed["runs"]).iter().map(|run| (id.clone(), text_of(&run["run_id"]))));
            }
        }
        runs
    }

    /// Takes back what the call did.
    fn undo_all_but(&self, earlier: &BTreeSet<(String, String)>) {
        for (workspace, run) in self.runs().difference(earlier) {
            let mut request = json!({"workspace_id": workspace});
            if !run.is_empty() {
                request["run_id"] = run.as_str().into();
            }
            self.world.call("gc_undo", request);
        }
    }
}

/// The example as it is, with each flag on and off, with all flags on, with all off, and with each choice there is; all of
/// that again in earnest, where an operation is only tried out otherwise.
fn variants(operation: &OperationInfo, example: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let schema = operation.input_schema();
    let fields = schema["properties"].as_object().cloned().unwrap_or_default();
    let mut variants = variants_of(&fields, example);
    if fields.contains_key("dry_run") {
        let mut in_earnest = example.clone();
        in_earnest.insert("dry_run".to_owned(), json!(false));
        variants.extend(variants_of(&fields, &in_earnest));
    }
    let mut seen = BTreeSet::new();
    variants.retain(|it| seen.insert(Value::Object(it.clone()).to_string()));
    variants
}

fn variants_of(fields: &Map<String, Value>, example: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let with = |changes: &[(&String, Value)]| {
        let mut request = example.clone();
        request.extend(changes.iter().map(|(field, value)| ((*field).clone(), value.clone())));
        request
    };
    let flags: Vec<&String> = fields.iter().filter(|(_, it)| is_flag(it)).map(|(field, _)| field).collect();
    let mut variants = vec![example.clone()];
    for value in [true, false] {
        variants.extend(flags.iter().map(|field| with(&[(*field, json!(value))])));
        let all: Vec<_> = flags.iter().map(|field| (*field, json!(value))).collect();
        variants.push(with(&all));
    }
    for (field, of_field) in fields {
        variants.extend(choices(of_field).into_iter().map(|choice| with(&[(field, choice)])));
        let many = choices(&of_field["items"]);
        variants.extend(many.into_iter().map(|choice| with(&[(field, json!([choice]))])));
    }
    variants
}

fn is_flag(schema: &Value) -> bool {
    let kind = &schema["type"];
    kind == "boolean" || kind.as_array().is_some_and(|kinds| kinds.contains(&json!("boolean")))
}

fn choices(schema: &Value) -> Vec<Value> {
    let listed = schema["enum"].as_array().cloned().unwrap_or_default();
    let one_of = schema["oneOf"].as_array().cloned().unwrap_or_default();
    let of_one = one_of.iter().flat_map(|it| it.get("const").cloned().map_or_else(|| choices(it), |it| vec![it]));
    listed.into_iter().chain(of_one).collect()
}

fn asks_a_person(error: &ServiceError) -> bool {
    let details = error.details.as_ref();
    error.code.as_str() == "confirmation_required"
        && details.is_some_and(|it| it["needs_person"] == true && it["next"]["operation"].is_string())
}

#[test]
fn nothing_that_an_agent_does_alone_is_lost_for_good() {
    let (mut asked, mut done) = (BTreeSet::new(), BTreeSet::new());
    for operation in catalogue().iter().filter(|it| it.effect != Effect::Read) {
        let mut prepared = Prepared::new();
        let count = prepared.examples(operation).len();
        for number in 0..count {
            let example = prepared.examples(operation)[number].clone();
            for place in 0..variants(operation, &example).len() {
                // The same request, about what this database calls it.
                let example = prepared.examples(operation)[number].clone();
                let request = Value::Object(variants(operation, &example)[place].clone());
                let (stored, readable, runs) = (prepared.stored(), prepared.readable(), prepared.runs());
                let what = format!("{} {request}", operation.name);
                prepared.world.advance_ms(crate::harness::STEP_MS);
                let outcome = prepared.world.service.call(&agent(), operation.name, request);
                let lost: Vec<String> = stored.difference(&prepared.stored()).cloned().collect();
                assert!(lost.is_empty(), "{what} removed for good {lost:#?}");
                match outcome {
                    Err(error) if asks_a_person(&error) => {
                        assert_eq!(prepared.readable(), readable, "{what}");
                        asked.insert(operation.name);
                    }
                    // A backup that was wanted first may have been made.
                    Err(_) => assert!(readable.is_subset(&prepared.readable()), "{what}"),
                    Ok(_) => {
                        done.insert(operation.name);
                        prepared.undo_all_but(&runs);
                        let now = prepared.readable();
                        let lost: Vec<&String> = readable.difference(&now).collect();
                        assert!(lost.is_empty(), "{what} cannot be undone: {lost:#?}");
                        if now != readable {
                            prepared = Prepared::new();
                        }
                    }
                }
            }
        }
    }
    // Those that could be tried at all: everything that has an example which makes sense here.
    let never: Vec<&str> = catalogue()
        .iter()
        .filter(|it| it.effect != Effect::Read && !done.contains(it.name) && !asked.contains(it.name))
        .map(|it| it.name)
        .collect();
    assert_eq!(never, [""; 0], "never did anything");
    let mut expected: BTreeSet<&str> =
        catalogue().iter().filter(|it| !it.irreversible.is_empty()).map(|it| it.name).collect();
    // Not by the request, but by what a person had decided about the memory.
    expected.insert("set_trust");
    assert_eq!(asked, expected);
}

#[test]
fn what_takes_more_than_a_mistake_should_needs_a_person_and_happens_with_one() {
    let prepared = Prepared::new();
    let plan = prepared.known["plan_id"][0].clone();
    let expired = json!({"strategy": "expired", "dry_run": false, "confirm": true, "allow_large": true});
    let requests = [
        ("update_memory", json!({"memory_id": "deploys", "clear": ["tags"], "erase_previous": true})),
        ("gc_apply", json!({"plan_id": plan, "allow_large": true})),
        ("gc_apply", json!({"plan_id": prepared.known["plan_id"][1], "confirm": true})),
        ("prune_memory", expired),
        ("delete_workspace", json!({"workspace_id": "team-a", "confirm_phrase": "DELETE team-a"})),
        ("set_retention", json!({"max_age": "1d", "final": true})),
        ("create_token", json!({"name": "mine", "scopes": ["purge"], "workspaces": ["*"], "trust": "person"})),
        ("rotate_token", json!({"name": "ci"})),
        ("revoke_token", json!({"name": "ci"})),
        ("gc_purge", json!({"older_than": "0", "confirm": true})),
        ("defrag", json!({"confirm": true})),
        ("backup_restore", json!({"backup_id": prepared.known["backup_id"][0], "confirm": true})),
    ];
    for (operation, request) in requests {
        let stored = prepared.stored();
        let error = prepared.world.service.call(&agent(), operation, request.clone()).unwrap_err();
        assert!(asks_a_person(&error), "{operation}: {}", error.to_json());
        assert_eq!(prepared.stored(), stored, "{operation}");
        // Which call to make then is the service's to say, and it is this one: nothing that was asked for is left out.
        let next = error.details.as_ref().unwrap()["next"].clone();
        let arguments = next["arguments"].as_object().unwrap();
        let kept = |(field, value): (&String, &Value)| arguments.get(field) == Some(value);
        let replaced = ["strategy"];
        let given = request.as_object().unwrap().iter().filter(|(field, _)| !replaced.contains(&field.as_str()));
        assert!(given.clone().all(kept), "{operation}: {next}");
        let with_person = Caller { is_confirmed_by_person: true, ..agent() };
        let call = prepared.world.service.call(&with_person, &text_of(&next["operation"]), next["arguments"].clone());
        call.unwrap_or_else(|error| panic!("{operation}: {}", error.to_json()));
    }
}

#[test]
fn a_person_is_not_asked_about_what_could_not_be_done() {
    let prepared = Prepared::new();
    let nowhere = "019a8c1e-7b1f-7c43-9d7a-3c5f0e4b2a11";
    for (operation, request, code) in [
        ("update_memory", json!({"memory_id": "nobody", "erase_previous": true}), "not_found"),
        ("gc_apply", json!({"plan_id": nowhere, "allow_large": true}), "not_found"),
        ("gc_purge", json!({"confirm": true}), "invalid_argument"),
        ("gc_purge", json!({"workspace_id": "nowhere", "older_than": "0"}), "not_found"),
        ("delete_workspace", json!({"workspace_id": "home", "confirm_phrase": "DELETE home"}), "conflict"),
        ("delete_workspace", json!({"workspace_id": "nowhere"}), "not_found"),
        ("set_retention", json!({"workspace_id": "nowhere", "final": true}), "not_found"),
        ("backup_restore", json!({"backup_id": "20260101T000000Z-0a1b2c3d"}), "not_found"),
    ] {
        let error = prepared.world.service.call(&agent(), operation, request).unwrap_err();
        assert_eq!(error.code.as_str(), code, "{operation}: {}", error.to_json());
    }
}

#[test]
fn previews_and_what_the_limits_allow_ask_nobody() {
    let prepared = Prepared::new();
    let plan = prepared.known["plan_id"][2].clone();
    for (operation, request) in [
        ("prune_memory", json!({"strategy": "expired", "allow_large": true})),
        ("prune_memory", json!({"strategy": "expired", "allow_large": true, "dry_run": true})),
        ("set_retention", json!({"max_age": "1d", "final": true, "dry_run": true})),
        ("forget", json!({"query": "deploys", "purge": true})),
        ("update_memory", json!({"memory_id": "deploys", "context": "Deploys are over.", "erase_previous": false})),
        ("gc_apply", json!({"plan_id": plan, "allow_large": false})),
    ] {
        let outcome = prepared.world.service.call(&agent(), operation, request);
        outcome.unwrap_or_else(|error| panic!("{operation}: {}", error.to_json()));
    }
}
