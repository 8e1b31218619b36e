//! One seeded trace of operations on SQLite and on PostgreSQL at once: every answer is the same, refusals too. Excepted
//! are the order and the scores of ranked searches, and what tells of files and sizes.
//!
//! `ROOTSET_TEST_SEED` and `ROOTSET_TEST_CASES` set which traces are tried, and how many.

use std::collections::BTreeMap;
use std::path::Path;

use rootset_properties::{Budget, setting};
use rootset_testing::{Dice, TestDatabase, TestEngine};
use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, text_of};

const STEPS: usize = 300;
const NAMES: usize = 14;
const WORDS: [&str; 8] = ["falcon", "heron", "owl", "kite", "eagle", "wren", "finch", "raven"];
const TAGS: [&str; 3] = ["red", "green", "blue"];
const SESSIONS: [&str; 2] = ["morning", "evening"];
/// Of the engine, not of what is stored; and the first few of a ranked search.
const OF_THE_ENGINE: [&str; 15] = [
    "similar",
    "disk",
    "elapsed_ms",
    "engine",
    "sizes",
    "bytes_freed",
    "wal_clean",
    "byte_scan",
    "left_to_operator",
    "score",
    "why",
    "detail",
    "path",
    "bytes",
    "integrity",
];

fn any_name(dice: &mut Dice) -> String {
    format!("n{}", dice.below(NAMES))
}

fn any_text(dice: &mut Dice) -> String {
    let (one, other) = (dice.any(&WORDS), dice.any(&WORDS));
    format!("Project{} uses {one}. Alice met {other} number {}.", dice.below(4), dice.below(9))
}

/// The two worlds, and what the answers have named so far.
struct Twins {
    worlds: [World; 2],
    root: std::path::PathBuf,
    dice: Dice,
    plans: Vec<Value>,
    runs: Vec<Value>,
}

impl Twins {
    fn new(seed: u64) -> Self {
        let worlds = [TestEngine::Sqlite, TestEngine::Postgres]
            .map(|engine| World::on(TestDatabase::on(engine), |service| service));
        let root = worlds[0].folder().join("project");
        std::fs::create_dir_all(&root).unwrap();
        let dice = Dice(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed | 1));
        Self { worlds, root, dice, plans: Vec::new(), runs: Vec::new() }
    }

    /// One file: several are read at once, in any order, and get their ids in it.
    fn write_file(&mut self) {
        let (one, other) = (self.dice.any(&WORDS), self.dice.any(&WORDS));
        let text = format!("fn {one}_orders() {{ {other}(); }}\n\nfn {other}() {{}}\n\nstruct Orders;\n");
        std::fs::write(self.root.join("orders.rs"), text).unwrap();
    }

    fn step(&mut self) -> (&'static str, Value) {
        let dice = &mut self.dice;
        let name = any_name(dice);
        let last = |list: &[Value], dice: &mut Dice| {
            let newest = list.len().saturating_sub(1 + dice.below(3));
            list.get(newest).cloned().unwrap_or_else(|| json!("01900000-0000-7000-8000-ffffffffffff"))
        };
        match dice.below(40) {
            0..=5 => {
                let mut request = json!({"name": name, "context": any_text(dice), "tags": [dice.any(&TAGS)]});
                if dice.is_one_of(4) {
                    request["expires_at"] = (self.worlds[0].now_ms() + DAY_MS * dice.below(9) as i64).into();
                }
                if dice.is_one_of(4) {
                    request["restore"] = true.into();
                }
                ("add_memory", request)
            }
            6 => {
                let memories: Vec<Value> =
                    (0..3).map(|_| json!({"context": any_text(dice), "source": "notes"})).collect();
                ("add_memories", json!({ "memories": memories }))
            }
            7..=8 => ("update_memory", json!({"memory_id": name, "context": any_text(dice)})),
            9 => ("update_memory", json!({"memory_id": name, "pinned": dice.is_one_of(2), "tags": [dice.any(&TAGS)]})),
            10 => ("update_memory", json!({"memory_id": name, "context": any_text(dice), "erase_previous": true})),
            11 => ("supersede_memory", json!({"memory_id": name, "by": any_name(dice)})),
            12..=13 => ("delete_memory", json!({ "memory_id": name })),
            14..=15 => ("search_memory", json!({"query": dice.any(&WORDS), "limit": 100, "max_tokens": 1_000_000})),
            16 => ("search_memory", json!({"query": "Alice", "mode": "entities", "limit": 100})),
            17..=18 => ("forget", json!({"query": dice.any(&WORDS), "purge": dice.is_one_of(3)})),
            19 => ("gc_plan", json!({"strategies": ["all"]})),
            20..=21 => {
                let plan = last(&self.plans, dice);
                ("gc_apply", json!({"plan_id": plan, "allow_large": true, "confirm": dice.is_one_of(2)}))
            }
            22..=23 => ("gc_undo", json!({"run_id": last(&self.runs, dice)})),
            24 => ("gc_purge", json!({"run_id": last(&self.runs, dice), "confirm": true})),
            25 => ("gc_purge", json!({"older_than": "2d", "confirm": true})),
            26 => {
                let (source, target) = (dice.any(&WORDS), dice.any(&WORDS));
                let relation = json!({"source": source, "relation": "knows", "target": target});
                ("import_graph", json!({"entities": [{"name": source}, {"name": target}], "relations": [relation]}))
            }
            27 => ("get_memory", json!({"memory_id": name, "include": ["ids"]})),
            28 => ("get_related", json!({"entity_id": "Alice", "depth": 3})),
            29 => ("set_retention", json!({"source": "notes", "max_count": dice.below(6)})),
            30..=31 => ("index_codebase", json!({"path": self.root, "accept_missing": true})),
            32 => ("search_code", json!({"query": "orders", "limit": 100})),
            33..=35 => {
                let text = format!("{} {}", any_text(dice), "word ".repeat(dice.below(60)));
                let kind = ["message", "log", "note", "decision"][dice.below(4)];
                let segment = json!({"segment_id": format!("s{}", dice.below(30)), "type": kind, "text": text});
                ("context_add", json!({"session_id": dice.any(&SESSIONS), "segments": [segment]}))
            }
            36 => {
                let ids = [format!("s{}", dice.below(30)), format!("s{}", dice.below(30))];
                let request = json!({"session_id": dice.any(&SESSIONS), "segment_ids": ids, "confirm": true});
                match dice.below(3) {
                    0 => ("context_gc_prune", request),
                    1 => ("context_restore", json!({"session_id": request["session_id"], "segment_ids": ids})),
                    _ => ("context_gc_pin", json!({"session_id": request["session_id"], "segment_ids": ids})),
                }
            }
            37 => (
                "context_search_stash",
                json!({"session_id": dice.any(&SESSIONS), "query": dice.any(&WORDS), "limit": 100}),
            ),
            38 => ("doctor", json!({})),
            _ => ("prune_memory", json!({"strategy": "all"})),
        }
    }

    /// Asks both, and answers what both said.
    fn ask(&self, operation: &str, request: &Value) -> Result<Value, String> {
        let [wanted, found] = self.worlds.each_ref().map(|world| {
            let answer = world.try_call(operation, request.clone());
            world.service.flush_uses().unwrap();
            answer.unwrap_or_else(|error| error.to_json())
        });
        let is_ranked = operation.starts_with("search") || operation == "context_search_stash";
        let [wanted_shown, found_shown] = [&wanted, &found].map(|it| comparable(it, is_ranked));
        if wanted_shown != found_shown {
            return Err(format!("{operation} {request}\n sqlite:   {wanted_shown}\n postgres: {found_shown}"));
        }
        Ok(wanted)
    }

    fn compare_everything(&self) -> Result<(), String> {
        for (operation, request) in [
            ("list_memories", json!({"lifecycle": "all", "limit": 100, "order_by": "created_at"})),
            ("list_memories", json!({"limit": 100, "order_by": "use_count"})),
            ("list_memories", json!({"lifecycle": "superseded", "limit": 100})),
            ("list_trash", json!({"limit": 100})),
            ("export_graph", json!({})),
            ("get_stats", json!({})),
            ("gc_status", json!({})),
            ("gc_undo", json!({})),
            ("list_audit", json!({"limit": 100})),
            ("list_repos", json!({})),
            ("context_get", json!({"session_id": "morning"})),
            ("doctor", json!({})),
        ] {
            self.ask(operation, &request)?;
        }
        Ok(())
    }

    fn live(&mut self) -> Result<(), String> {
        for number in 0..STEPS {
            if self.dice.is_one_of(12) {
                self.worlds.iter().for_each(|world| world.advance_ms(DAY_MS));
            }
            if self.dice.is_one_of(6) {
                self.write_file();
            }
            let (operation, request) = self.step();
            let answer = self.ask(operation, &request).map_err(|error| format!("step {number}: {error}"))?;
            self.plans.extend(answer.get("plan_id").cloned());
            self.runs.extend(answer.get("run_id").cloned());
            if number % 25 == 24 {
                self.compare_everything().map_err(|error| format!("after step {number}: {error}"))?;
            }
        }
        self.compare_everything()
    }
}

/// Without what is the engine's, and with results of ranked searches in one order.
fn comparable(value: &Value, is_ranked: bool) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(name, _)| !OF_THE_ENGINE.contains(&name.as_str()));
            Value::Object(fields.map(|(name, value)| (name.clone(), comparable(value, is_ranked))).collect())
        }
        Value::Array(items) => {
            // A file has no settings of somebody else's.
            let items = items.iter().filter(|item| item["id"] != "durability");
            let mut items: Vec<Value> = items.map(|item| comparable(item, is_ranked)).collect();
            if is_ranked {
                items.sort_by_key(Value::to_string);
            }
            Value::Array(items)
        }
        other => other.clone(),
    }
}

#[test]
fn one_trace_gives_the_same_answers_on_sqlite_and_postgres() {
    for seed in Budget::weighted(1).starting_at(1).seeds() {
        let hint = format!("ROOTSET_TEST_SEED={seed} ROOTSET_TEST_CASES=1 repeats this");
        Twins::new(seed).live().unwrap_or_else(|error| panic!("{hint}: {error}"));
    }
}

type Bundle = BTreeMap<String, Vec<Value>>;

/// The rows of a backup, file by file; the manifest tells when and where it was made.
fn bundle(world: &World) -> (Value, Bundle) {
    let created = world.call("backup_create", json!({"format": "jsonl"}));
    let folder = std::fs::read_dir(text_of(&created["path"])).unwrap();
    let files = folder.map(|entry| entry.unwrap()).filter(|entry| entry.file_name() != "manifest.json");
    let files = files.map(|entry| (entry.file_name().into_string().unwrap(), rows_of(&entry.path())));
    (created["path"].clone(), files.collect())
}

/// All but the epoch of a session: a restore raises it, so that nobody takes the session for the one he knew.
fn rows_of(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    let rows = text.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row.as_object_mut().unwrap().remove("epoch");
        row
    });
    rows.collect()
}

/// Compared table by table, so that a difference can be read.
#[track_caller]
fn assert_same_rows(found: &Bundle, wanted: &Bundle) {
    assert_eq!(found.keys().collect::<Vec<_>>(), wanted.keys().collect::<Vec<_>>());
    for (table, rows) in wanted {
        assert_eq!(&found[table], rows, "{table}");
    }
}

fn restored(engine: TestEngine, backup: &Value) -> World {
    let world = World::on(TestDatabase::on(engine), |service| service);
    world.call("backup_restore", json!({"backup_id": backup, "confirm": true}));
    world.assert_doctor_is_content();
    world
}

#[test]
fn a_bundle_goes_from_sqlite_to_postgres_and_back_without_a_change() {
    let mut twins = Twins::new(setting("ROOTSET_TEST_SEED").unwrap_or(7));
    twins.live().unwrap();
    let [sqlite, postgres] = &twins.worlds;
    for origin in [sqlite, postgres] {
        let (backup, _) = bundle(origin);
        // A restore ends what was unfinished, on every engine alike: the first one makes the rows that must not change.
        let [there, same] = [TestEngine::Postgres, TestEngine::Sqlite].map(|engine| restored(engine, &backup));
        let ((on_postgres, rows), (_, same_rows)) = (bundle(&there), bundle(&same));
        assert_same_rows(&rows, &same_rows);
        let back = restored(TestEngine::Sqlite, &on_postgres);
        let (on_sqlite, rows_back) = bundle(&back);
        assert_same_rows(&rows_back, &rows);
        let (_, rows_again) = bundle(&restored(TestEngine::Postgres, &on_sqlite));
        assert_same_rows(&rows_again, &rows);
        assert!(rows["memories.jsonl"].len() > 3 && rows["segments.jsonl"].len() > 3);
    }
}
