//! What one client does, and what it was told: a seeded stream of requests about its own memories, session and tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::IteratorRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::client::{Answered, Client};
use crate::error::StressError;
use crate::model::{Lifecycle, Model};
use crate::protocol::{Change, Outcome};
use crate::texts;

/// Memories of one plan: enough that applying it takes a moment.
const PLAN_MEMORIES: usize = 60;
/// Files of a tree when it is new.
const FILES_FIRST: usize = 12;

/// One client.
#[derive(Debug)]
pub struct Stream {
    client: Client,
    random: StdRng,
    workspace: String,
    tag: String,
    serial: u64,
    /// Runs that can be undone, with the names they took.
    runs: Vec<(String, Vec<String>)>,
    remembered: Remembered,
}

/// Everything that was acknowledged.
#[derive(Clone, Debug, Default)]
pub struct Remembered {
    pub workspace: String,
    pub model: Model,
    /// Living memories by name, with their ids.
    live: BTreeMap<String, String>,
    pub session: String,
    /// Ids of segments.
    pub segments: BTreeSet<String>,
    pub repo: String,
    pub tree: PathBuf,
    /// Functions in files whose scan was acknowledged.
    pub symbols: BTreeSet<String>,
    pub acknowledged: BTreeMap<&'static str, u64>,
    pub repeated: u64,
    pub longest: Duration,
}

impl Stream {
    pub fn new(
        client: Client,
        number: usize,
        workspace: String,
        folder: &Path,
        seed: u64,
    ) -> Result<Self, StressError> {
        let tag = format!("c{number}");
        let tree = folder.join(format!("tree-{tag}"));
        std::fs::create_dir(&tree)?;
        let remembered = Remembered {
            workspace: workspace.clone(),
            session: format!("session-{tag}"),
            repo: format!("tree-{tag}"),
            tree,
            ..Remembered::default()
        };
        let random = StdRng::seed_from_u64(seed ^ (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Ok(Self { client, random, workspace, tag, serial: 0, runs: Vec::new(), remembered })
    }

    /// Everything once, however slow the machine is; then at random until it has to stop; and at the end a plan and a
    /// scan, which take over the leases of processes that died.
    pub fn work_until(&mut self, is_over: &AtomicBool) -> Result<(), StressError> {
        for step in [Self::add, Self::update, Self::delete, Self::undo, Self::extend_session] {
            step(self)?;
        }
        while !is_over.load(Ordering::Relaxed) {
            match self.random.random_range(0..100) {
                0..40 => self.add()?,
                40..55 => self.update()?,
                55..68 => self.delete()?,
                68..78 => self.undo()?,
                78..90 => self.extend_session()?,
                90..95 => self.plan_and_apply()?,
                _ => self.index()?,
            }
        }
        self.plan_and_apply()?;
        self.index()
    }

    pub fn remembered(&self) -> Remembered {
        Remembered { repeated: self.client.repeated, longest: self.client.longest, ..self.remembered.clone() }
    }

    fn add(&mut self) -> Result<(), StressError> {
        let (name, text) = self.next_note();
        let request = self.about(json!({"name": name, "text": text}));
        let answer = self.good("add_memory", "add", &request)?;
        self.note_added(name, text, &answer)
    }

    fn note_added(&mut self, name: String, text: String, answer: &Value) -> Result<(), StressError> {
        let id = text_of(answer, "memory_id")?;
        self.note(&Change::Add { name: name.clone(), text }, Some(id.clone()))?;
        self.remembered.live.insert(name, id);
        Ok(())
    }

    fn update(&mut self) -> Result<(), StressError> {
        let Some((name, id)) = self.any_live() else { return Ok(()) };
        let (_, text) = self.next_note();
        let version = self.remembered.model.get(&name).map(|it| it.version);
        let request = self.about(json!({"memory_id": id, "text": text, "expected_version": version}));
        let answered = self.client.ask("update_memory", &request)?;
        // Without an expected version, an update that is repeated would be a second one.
        let is_done_before = answered.status == 409 && answered.is_repeated && self.text_is(&id, &text)?;
        if !answered.is_good() && !is_done_before {
            return Err(answered.refuse("update_memory"));
        }
        self.acknowledge("update");
        self.note(&Change::Update { name, text }, None)
    }

    fn text_is(&mut self, id: &str, text: &str) -> Result<bool, StressError> {
        let request = self.about(json!({ "memory_id": id }));
        let answered = self.client.ask("get_memory", &request)?;
        if answered.is_good() { Ok(answered.body["context"] == text) } else { Err(answered.refuse("get_memory")) }
    }

    fn delete(&mut self) -> Result<(), StressError> {
        let Some((name, id)) = self.any_live() else { return Ok(()) };
        let request = self.about(json!({ "memory_id": id }));
        let answered = self.client.ask("delete_memory", &request)?;
        let run = match (answered.is_good(), answered.is_repeated) {
            (true, _) => text_of(&answered.body, "run_id")?,
            // An earlier try had happened: it says where the memory went.
            (false, true) if answered.status == 404 => {
                let run = answered.body.pointer("/error/details/next/arguments/run_id").and_then(Value::as_str);
                run.map(str::to_owned).ok_or_else(|| answered.refuse("delete_memory"))?
            }
            _ => return Err(answered.refuse("delete_memory")),
        };
        self.acknowledge("delete");
        self.note_trashed(run, vec![name])
    }

    fn note_trashed(&mut self, run: String, names: Vec<String>) -> Result<(), StressError> {
        for name in &names {
            self.note(&Change::Delete { name: name.clone() }, None)?;
            self.remembered.live.remove(name);
        }
        self.runs.push((run, names));
        Ok(())
    }

    fn undo(&mut self) -> Result<(), StressError> {
        if self.runs.is_empty() {
            return Ok(());
        }
        let (run, names) = self.runs.swap_remove(self.random.random_range(0..self.runs.len()));
        let request = self.about(json!({ "run_id": run }));
        let answered = self.client.ask("gc_undo", &request)?;
        let is_done_before = answered.status == 409 && answered.is_repeated;
        if !answered.is_good() && !is_done_before {
            return Err(answered.refuse("gc_undo"));
        }
        if answered.body["conflicts"].as_array().is_some_and(|conflicts| !conflicts.is_empty()) {
            return Err(answered.refuse("gc_undo"));
        }
        self.acknowledge("undo");
        for name in names {
            self.note(&Change::Undo { name: name.clone() }, None)?;
            let id = self.remembered.model.get(&name).and_then(|it| it.id.clone());
            self.remembered.live.insert(name, id.ok_or(StressError::AnswerLacks("memory_id"))?);
        }
        Ok(())
    }

    fn extend_session(&mut self) -> Result<(), StressError> {
        let (id, text) = self.next_note();
        let segment = json!({"segment_id": id, "type": "message", "role": "user", "text": text});
        let request = self.about(json!({"session_id": self.remembered.session, "segments": [segment]}));
        self.good("context_add", "context_add", &request)?;
        self.remembered.segments.insert(id);
        Ok(())
    }

    /// A group of memories, a plan of all of them, and its apply: the piece of work that is longest under a lease.
    fn plan_and_apply(&mut self) -> Result<(), StressError> {
        let tag = format!("plan-{}-{}", self.tag, self.serial);
        let notes: Vec<(String, String)> = (0..PLAN_MEMORIES).map(|_| self.next_note()).collect();
        let memories: Vec<Value> =
            notes.iter().map(|(name, text)| json!({"name": name, "text": text, "tags": [tag]})).collect();
        let request = self.about(json!({ "memories": memories }));
        let added = self.good("add_memories", "add_many", &request)?;
        let results = added["results"].as_array().ok_or(StressError::AnswerLacks("results"))?;
        let names: Vec<String> = notes.iter().map(|(name, _)| name.clone()).collect();
        for ((name, text), answer) in notes.into_iter().zip(results) {
            self.note_added(name, text, answer)?;
        }
        let request = self.about(json!({"tags": [tag], "kinds": ["memories"]}));
        let plan = text_of(&self.good("forget", "plan", &request)?, "plan_id")?;
        let request = self.about(json!({"plan_id": plan, "allow_large": true}));
        let applied = self.good("gc_apply", "apply", &request)?;
        if applied["trashed"]["memories"] != PLAN_MEMORIES {
            return Err(StressError::Refused { operation: "gc_apply", status: 200, body: applied.to_string() });
        }
        self.note_trashed(text_of(&applied, "run_id")?, names)
    }

    fn index(&mut self) -> Result<(), StressError> {
        let count = if self.remembered.symbols.is_empty() { FILES_FIRST } else { 1 };
        let mut written = Vec::new();
        for _ in 0..count {
            self.serial += 1;
            let function = format!("work_{}_{}", self.tag, self.serial);
            let text =
                format!("//! A file.\n\npub fn {function}(number: u64) -> u64 {{\n    number + {}\n}}\n", self.serial);
            std::fs::write(self.remembered.tree.join(format!("{function}.rs")), text)?;
            written.push(function);
        }
        let request = self.about(json!({"path": self.remembered.tree, "repo": self.remembered.repo}));
        self.good("index_codebase", "index", &request)?;
        self.remembered.symbols.extend(written);
        Ok(())
    }

    fn next_note(&mut self) -> (String, String) {
        self.serial += 1;
        let name = format!("{}-{}", self.tag, self.serial);
        let text = texts::note(&mut self.random, &name);
        (name, text)
    }

    fn any_live(&mut self) -> Option<(String, String)> {
        let (name, id) = self.remembered.live.iter().choose(&mut self.random)?;
        Some((name.clone(), id.clone()))
    }

    fn about(&self, mut request: Value) -> Value {
        request["workspace_id"] = self.workspace.as_str().into();
        request
    }

    fn good(&mut self, operation: &'static str, kind: &'static str, request: &Value) -> Result<Value, StressError> {
        let answered: Answered = self.client.ask(operation, request)?;
        if !answered.is_good() {
            return Err(answered.refuse(operation));
        }
        self.acknowledge(kind);
        Ok(answered.body)
    }

    fn acknowledge(&mut self, kind: &'static str) {
        *self.remembered.acknowledged.entry(kind).or_default() += 1;
    }

    fn note(&mut self, change: &Change, memory_id: Option<String>) -> Result<(), StressError> {
        let outcome = Outcome { memory_id, ..Outcome::default() };
        let noted = self.remembered.model.acknowledge(change, &outcome);
        noted.map_err(|violation| StressError::Violated(vec![violation]))
    }
}

impl Remembered {
    /// Memories that must be alive.
    pub fn live(&self) -> usize {
        debug_assert!(
            self.live.keys().all(|name| self.model.get(name).is_some_and(|it| it.lifecycle == Lifecycle::Live))
        );
        self.live.len()
    }
}

fn text_of(answer: &Value, field: &'static str) -> Result<String, StressError> {
    answer[field].as_str().map(str::to_owned).ok_or(StressError::AnswerLacks(field))
}
