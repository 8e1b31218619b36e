//! A caller of the service: JSON in, JSON out, as a front end does it.

use std::sync::Arc;

use anyhow::{Context, ensure};
use rootset_provider::Embedder;
use rootset_service::{Caller, Clock, FrontEnd, Service, ServiceError, Settings};
use rootset_store::{Location, Store};
use serde_json::{Value, json};

use crate::latency::Taken;

/// Memories of one `add_memories`: as many as a request may hold.
pub const BATCH_MEMORIES: usize = 1_000;

pub struct Client {
    service: Arc<Service>,
    caller: Caller,
}

impl Client {
    /// Opens or creates the database; requests go to the default workspace.
    pub fn open(database: &Location) -> anyhow::Result<Self> {
        Self::begin(database, Service::new)
    }

    /// The same, at another time.
    pub fn open_at(database: &Location, clock: Arc<dyn Clock>) -> anyhow::Result<Self> {
        Self::begin(database, |store, settings| Service::new_at(store, settings, clock))
    }

    /// The same with vectors, if an embedder is given.
    pub fn open_with(database: &Location, embedder: Option<Arc<dyn Embedder>>) -> anyhow::Result<Self> {
        Self::begin(database, |store, settings| {
            let service = Service::new(store, settings)?;
            Ok(match embedder {
                Some(embedder) => service.with_embedder(embedder),
                None => service,
            })
        })
    }

    fn begin(
        database: &Location,
        start: impl FnOnce(Store, Settings) -> Result<Service, ServiceError>,
    ) -> anyhow::Result<Self> {
        let store = Store::open(database, None).with_context(|| format!("cannot open `{database}`"))?;
        let service = Arc::new(start(store, Settings::default())?);
        let caller = Caller::new(FrontEnd::CommandLine, "rootset-bench", "home");
        Ok(Self { service, caller })
    }

    /// The same service, its requests going to a new workspace.
    pub fn in_new_workspace(&self, workspace: &str) -> anyhow::Result<Self> {
        self.call("create_workspace", json!({ "workspace_id": workspace }))?;
        let caller = Caller { workspace: workspace.into(), ..self.caller.clone() };
        Ok(Self { service: Arc::clone(&self.service), caller })
    }

    pub fn call(&self, operation: &str, request: Value) -> anyhow::Result<Value> {
        self.service.call(&self.caller, operation, request).with_context(|| format!("`{operation}` failed"))
    }

    /// The answer, and how long it took: reading the request and writing the answer included, as every front end pays
    /// for both.
    pub fn timed(&self, operation: &str, request: Value) -> anyhow::Result<(Value, Taken)> {
        let (answer, taken) = Taken::measure(|| self.call(operation, request));
        Ok((answer?, taken))
    }

    /// Adds up to [`BATCH_MEMORIES`] memories; one id per memory, in their order, none for a refused one.
    pub fn add_batch(&self, memories: Vec<Value>) -> anyhow::Result<Vec<Option<String>>> {
        let answer = self.call("add_memories", json!({ "memories": memories }))?;
        let results = answer["results"].as_array().context("`add_memories` answered without `results`")?;
        Ok(results.iter().map(|result| result["memory_id"].as_str().map(str::to_owned)).collect())
    }

    /// Makes the vectors that are still missing, as servers do in the background. Without an embedder there are none to make.
    pub fn make_vectors(&self) -> anyhow::Result<()> {
        while self.service.embed_some()? {}
        let vectors = &self.call("gc_status", json!({}))?["vectors"];
        ensure!(vectors["chunks"] == vectors["embedded"], "vectors are missing: {vectors}");
        Ok(())
    }

    /// Bytes of the database, as the store counts them.
    pub fn database_bytes(&self) -> anyhow::Result<u64> {
        let bytes = self.call("get_stats", json!({}))?["sizes"]["database_bytes"].as_u64();
        bytes.context("`get_stats` answered without `database_bytes`")
    }

    /// Whether nobody has put anything into the database yet.
    pub fn is_database_empty(&self) -> anyhow::Result<bool> {
        let workspaces = self.call("list_workspaces", json!({}))?;
        let is_alone = workspaces["workspaces"].as_array().is_some_and(|all| all.len() == 1);
        let counts = &self.call("get_stats", json!({}))?["counts"];
        Ok(is_alone && counts["live"] == 0 && counts["trashed"] == 0)
    }

    /// Writes uses that reads left behind, which front ends do after they have answered.
    pub fn flush_uses(&self) -> anyhow::Result<()> {
        Ok(self.service.flush_uses()?)
    }
}
