//! Workspaces with something of everything in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rootset_provider::{Embedder, ProviderError};
use rootset_testing::{TestDatabase, TestEngine};
use serde_json::{Value, json};

use crate::harness::{World, array, text_of};

/// Whoever is called here lives in every database of these tests.
pub const OWN: &str = "ann";
/// And this one only in some of them.
pub const OTHER: &str = "bee";
/// Stands in every text of [`OTHER`] and in none of [`OWN`].
pub const SECRET: &str = "Zyxwaardvark";

/// Directions that depend on the first letters of a text, in any order.
#[derive(Debug)]
struct AnagramEmbedder;

impl Embedder for AnagramEmbedder {
    fn id(&self) -> &str {
        "letters"
    }

    fn is_local(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let vector = |text: &&str| {
            let mut vector = [0.1_f32; 8];
            for byte in text.bytes().take(16) {
                vector[usize::from(byte) % 8] += 1.0;
            }
            let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
            vector.iter().map(|it| it / length).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

pub fn embedder() -> Arc<dyn Embedder> {
    Arc::new(AnagramEmbedder)
}

pub fn world() -> World {
    let database = TestDatabase::on(TestEngine::Postgres);
    let world = World::on(database, |service| service.with_embedder(embedder()));
    for tenant in [OWN, OTHER] {
        write_tree(&tree_of(&world, tenant), tenant);
    }
    world
}

/// Two tenants, and whatever leads to things of the second.
pub fn inhabited() -> (World, Handles) {
    let mut world = world();
    inhabit(&mut world, OWN, "Quokka", 1);
    // More of everything, so that numbers of the one are no numbers of the other.
    let handles = inhabit(&mut world, OTHER, SECRET, 4);
    world.caller.workspace = OWN.into();
    announce_drains(&world);
    (world, handles)
}

/// As on people's machines: folders are linked, and briefs show memories. Tenants of a server have neither here.
pub fn live_as_people_do(world: &World) {
    note_shown(world);
    for tenant in [OWN, OTHER] {
        let folder = world.folder().join(format!("project-{tenant}"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("rootset.toml"), "").unwrap();
        world.service.link_project(&world.caller, &folder, tenant).unwrap();
    }
}

/// As a scheduler would, which these tenants do not have.
fn announce_drains(world: &World) {
    let sql = "INSERT INTO drains (workspace, drain, source, state, policies, found, total, announced_at, begins_at)
               SELECT workspace, ?1, workspace_id, 'announced', '', 1, 1, 0, 0 FROM workspaces";
    world.sql().execute(sql, &[(&[7_u8; 16]).into()]).unwrap();
}

/// As briefs would, which nobody asked for here.
fn note_shown(world: &World) {
    let sql = "INSERT INTO shown (workspace, memory, shown_count, last_shown_at) SELECT workspace, memory, 1, 0 FROM memories";
    world.sql().execute(sql, &[]).unwrap();
}

pub fn tree_of(world: &World, tenant: &str) -> PathBuf {
    world.folder().join(format!("tree-{tenant}"))
}

/// One file: several are read side by side, and get their ids as they come.
fn write_tree(folder: &Path, tenant: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let functions = (0..3).map(|it| format!("def {tenant}_{it}():\n    return {tenant}_{}()\n", (it + 1) % 3));
    std::fs::write(folder.join(format!("{tenant}.py")), functions.collect::<String>()).unwrap();
}

/// Ids, names and words of one tenant, as another might get hold of them.
#[derive(Clone, Debug)]
pub struct Handles {
    pub memory: String,
    pub name: String,
    pub text: String,
    pub trashed: String,
    pub superseded: String,
    pub entity: String,
    pub entity_name: String,
    pub relation: String,
    pub chunk: String,
    pub tag: String,
    pub source: String,
    pub plan: String,
    pub erasing_plan: String,
    pub run: String,
    pub undone_run: String,
    pub purged_run: String,
    pub session: String,
    pub segment: String,
    pub stashed: String,
    pub context_plan: String,
    pub repo: String,
    pub symbol: String,
    pub file_memory: String,
    pub backup: String,
}

/// Fills a workspace, `size` times over, with texts that hold `word`.
pub fn inhabit(world: &mut World, id: &str, word: &str, size: usize) -> Handles {
    world.call("create_workspace", json!({"workspace_id": id, "name": format!("{word}Name"), "description": word}));
    world.caller.workspace = id.into();
    let world = &*world;
    let lower = word.to_lowercase();
    let text = format!("{word}Project uses {word}Database. {word}Person owns {word}Project.");
    let tag = format!("{lower}-tag");
    let source = format!("{lower}-source");
    for number in 0..size {
        let context = format!("{word}Filler{number} uses {word}Base. {}", "Many words follow each other. ".repeat(200));
        world.call("add_memory", json!({"name": format!("{lower}-filler-{number}"), "context": context}));
    }
    let name = format!("{lower}-main");
    let added = world.call(
        "add_memory",
        json!({"name": name, "context": text, "topic": word, "tags": [tag], "source": source,
               "metadata": {"key": word}, "key": lower, "decisions": [format!("we take {word}")], "pinned": true, "pin_reason": word}),
    );
    let memory = text_of(&added["memory_id"]);
    let trashed = world.add_named(&format!("{lower}-trashed"), &format!("{word}Trash is here."));
    let superseded = world.add_named(&format!("{lower}-old"), &format!("{word}Old was here."));
    world.call("supersede_memory", json!({"memory_id": superseded, "by": memory, "reason": word}));
    let erased = world.add_named(&format!("{lower}-erased"), &format!("{word}Erased was here."));
    let undone = world.add_named(&format!("{lower}-undone"), &format!("{word}Undone is here."));
    world.call("update_memory", json!({"memory_id": undone, "context": format!("{word}Undone is still here.")}));
    world.call(
        "import_graph",
        json!({"entities": [{"name": format!("{word}Imported"), "description": word}], "relations": []}),
    );
    let run = world.delete(&trashed);
    let undone_run = world.delete(&undone);
    world.call("gc_undo", json!({"run_id": undone_run}));
    let purged_run = world.delete(&erased);
    world.call("gc_purge", json!({"run_id": purged_run, "confirm": true}));
    let forget = world.call("forget", json!({"query": format!("{word}Filler0")}));
    let forget_for_good = world.call("forget", json!({"query": format!("{word}Filler0"), "purge": true}));
    world.call("set_retention", json!({"source": source, "max_age": "900d"}));
    let repo = format!("{lower}-repo");
    world.call("index_codebase", json!({"path": tree_of(world, id), "repo": repo}));
    let session = format!("{word}-session");
    world.call(
        "context_gc_configure",
        json!({"session_id": session, "budget_tokens": 1_000_000, "recent_segments": 1, "tokenizer": "chars/4"}),
    );
    let segments: Vec<Value> = ["stashed", "active", "last"]
        .iter()
        .map(|it| json!({"segment_id": format!("{word}-{it}"), "type": "note", "text": format!("{word} {it}"), "tags": [tag]}))
        .collect();
    world.call("context_add", json!({"session_id": session, "segments": segments}));
    let stashed = format!("{word}-stashed");
    world.call("context_gc_prune", json!({"session_id": session, "segment_ids": [stashed], "strategy": "stash"}));
    let analysed = world.call("context_gc_analyze", json!({"session_id": session, "target_tokens": 1}));
    world.found(word);
    world.service.finish().unwrap();
    let backup = world.call("backup_create", json!({"format": "jsonl", "workspace_id": id}));
    let read = world.look(&memory);
    let file = "SELECT encode(m.memory, 'hex')::UUID::TEXT FROM memories AS m
                JOIN workspaces AS w ON w.workspace = m.workspace
                WHERE w.workspace_id = ?1 AND m.file_path IS NOT NULL ORDER BY m.file_path LIMIT 1";
    let entity = world.entity(&format!("{word}Project"));
    Handles {
        name,
        text,
        trashed,
        superseded,
        entity: text_of(&entity["entity_id"]),
        entity_name: text_of(&entity["name"]),
        relation: text_of(&array(&read["relation_ids"])[0]),
        chunk: text_of(array(&read["chunk_ids"]).last().unwrap()),
        tag,
        source,
        plan: text_of(&forget["plan_id"]),
        erasing_plan: text_of(&forget_for_good["plan_id"]),
        run,
        undone_run,
        purged_run,
        segment: format!("{word}-active"),
        stashed,
        context_plan: text_of(&analysed["plan"]["plan_id"]),
        session,
        repo,
        symbol: format!("{id}_1"),
        file_memory: world.sql().scalar(file, &[id.into()]).unwrap(),
        backup: text_of(&backup["backup_id"]),
        memory,
    }
}
