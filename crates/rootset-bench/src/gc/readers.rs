//! Somebody who reads while the collector works: another thread with connections of its own, as another process has.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};

use anyhow::{Context, anyhow, ensure};
use rootset_store::Location;
use serde::Serialize;
use serde_json::json;

use crate::client::Client;
use crate::latency::{Latencies, Summary, Taken};
use crate::notes::Notes;
use crate::random::Random;

const WARM_UP_CALLS: usize = 20;
const PAGES: usize = 20;
const PAGE_MEMORIES: usize = 20;

#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReaderFigures {
    pub get_memory: Summary,
    pub search_memory: Summary,
}

/// What readers need to know.
#[derive(Clone, Debug)]
pub struct Reading {
    pub database: Location,
    pub memories: usize,
    pub seed: u64,
    /// Of memories that stay.
    pub ids: Arc<Vec<String>>,
}

impl Reading {
    /// Chooses memories from all over the database.
    pub fn new(database: &Location, memories: usize, seed: u64, client: &Client) -> anyhow::Result<Self> {
        let mut ids = Vec::new();
        for page in 0..PAGES {
            // The source of most memories; by far not all are of it.
            let request = json!({ "source": "user", "offset": page * memories / PAGES / 2, "limit": PAGE_MEMORIES });
            let answer = client.call("list_memories", request)?;
            for listed in answer["memories"].as_array().context("`list_memories` answered without `memories`")? {
                let memory = client.call("get_memory", json!({ "memory_id": listed["memory_id"] }))?;
                let id = memory["memory_id"].as_str().context("`get_memory` answered without `memory_id`")?;
                if memory["expires_at"].is_null() {
                    ids.push(id.to_owned());
                }
            }
        }
        ensure!(!ids.is_empty(), "no memory was found that stays");
        Ok(Self { database: database.clone(), memories, seed, ids: Arc::new(ids) })
    }

    /// Reads for as long as `work` takes. The work begins when the reader is warm.
    pub fn during<T>(&self, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, ReaderFigures)> {
        let (is_done, is_warm) = (Arc::new(AtomicBool::new(false)), Arc::new(Barrier::new(2)));
        let reader = self.clone().start(Arc::clone(&is_done), Arc::clone(&is_warm));
        is_warm.wait();
        let outcome = work();
        is_done.store(true, Ordering::Relaxed);
        let figures = reader.join().map_err(|_| anyhow!("the reader panicked"))??;
        Ok((outcome?, figures))
    }

    fn start(self, is_done: Arc<AtomicBool>, is_warm: Arc<Barrier>) -> JoinHandle<anyhow::Result<ReaderFigures>> {
        thread::spawn(move || {
            let warmed_up = self.warm_up();
            // Whatever happened, nobody must wait for a reader that will not come.
            is_warm.wait();
            let (client, notes) = warmed_up?;
            let mut random = Random::new(self.seed);
            let (mut get, mut search) = (Latencies::default(), Latencies::default());
            while !is_done.load(Ordering::Relaxed) {
                get.push(self.get(&client, &mut random)?);
                search.push(self.search(&client, &notes, &mut random)?);
            }
            Ok(ReaderFigures { get_memory: get.summary(), search_memory: search.summary() })
        })
    }

    fn warm_up(&self) -> anyhow::Result<(Client, Notes)> {
        let client = Client::open(&self.database)?;
        let notes = Notes::new(self.seed);
        let mut random = Random::new(self.seed + 1);
        for _ in 0..WARM_UP_CALLS {
            self.get(&client, &mut random)?;
            self.search(&client, &notes, &mut random)?;
        }
        Ok((client, notes))
    }

    fn get(&self, client: &Client, random: &mut Random) -> anyhow::Result<Taken> {
        let id = &self.ids[random.below(self.ids.len())];
        Ok(client.timed("get_memory", json!({ "memory_id": id }))?.1)
    }

    fn search(&self, client: &Client, notes: &Notes, random: &mut Random) -> anyhow::Result<Taken> {
        let number = random.below(self.memories);
        let question = notes.question(number as u64);
        Ok(client.timed("search_memory", json!({ "query": question }))?.1)
    }
}
