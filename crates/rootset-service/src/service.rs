//! The service: one store, one clock, one source of ids, the models, and the settings in force.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rootset_api::{Effect, Error, ErrorCode, OperationInfo, catalogue, nearest};
use rootset_model::names::HOME_WORKSPACE;
use rootset_model::{DrainId, ErasureId, MemoryId, PlanId, RunId, Timestamp, TokenId};
use rootset_provider::{BuiltinExtractor, Embedder, Extractor};
use rootset_store::driver::DurabilitySetting;
use rootset_store::{EraseIds, History, Stamp, Store, StoreError, Workspace};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::caller::Caller;
use crate::clock::{Clock, Ids, SystemClock, SystemIds};
use crate::context::LiveSessions;
use crate::denials::DenialBuffer;
use crate::embedding::Embedding;
use crate::error::ServiceError;
use crate::freshening::Looks;
use crate::operation::{Operation, find_call};
use crate::personal::{PERSONAL, Person, Places};
use crate::scheduler::ClockGuard;
use crate::secrets::{self, Notes};
use crate::settings::Settings;
use crate::tokens::{BelievedTokens, TokenUses};
use crate::uses::UseBuffer;
use crate::visits::Visits;
use crate::worker::Background;

pub struct Service {
    pub(crate) store: Store,
    pub(crate) settings: Settings,
    pub(crate) extractor: Arc<dyn Extractor>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
    pub(crate) uses: UseBuffer,
    pub(crate) visits: Visits,
    pub(crate) background: Background,
    pub(crate) embedding: Embedding,
    pub(crate) looks: Looks,
    /// Whether this process changed anything: such a process also keeps house.
    pub(crate) has_written: AtomicBool,
    pub(crate) clock_guard: Mutex<ClockGuard>,
    pub(crate) sessions: LiveSessions,
    pub(crate) believed_tokens: BelievedTokens,
    pub(crate) token_uses: TokenUses,
    pub(crate) denials: DenialBuffer,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Service {
    /// Settings of a server that decide whether acknowledged writes survive a crash, as the store found them when it was
    /// opened; none where there is no server.
    pub fn durability_at_start(&self) -> &[DurabilitySetting] {
        self.store.durability_at_start()
    }

    /// How often the store has waited for a server's answer; `None` where there is no server.
    pub fn database_round_trips(&self) -> Option<u64> {
        self.store.round_trips()
    }

    /// A service with the built-in extractor, no embedder, and the system's clock.
    pub fn new(store: Store, settings: Settings) -> Result<Self, ServiceError> {
        Self::begin(store, settings, Arc::new(SystemClock))
    }

    /// The same with another clock, which stands in for a server's too.
    pub fn new_at(mut store: Store, settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, ServiceError> {
        let wall = clock.clone();
        store.set_wall(Arc::new(move || wall.now()));
        Self::begin(store, settings, clock)
    }

    fn begin(store: Store, settings: Settings, clock: Arc<dyn Clock>) -> Result<Self, ServiceError> {
        let service = Self {
            store,
            settings,
            extractor: Arc::new(BuiltinExtractor),
            embedder: None,
            uses: UseBuffer::default(),
            visits: Visits::default(),
            background: Background::default(),
            embedding: Embedding::default(),
            looks: Looks::default(),
            has_written: AtomicBool::new(false),
            clock_guard: Mutex::new(ClockGuard::default()),
            sessions: LiveSessions::default(),
            believed_tokens: BelievedTokens::default(),
            token_uses: TokenUses::default(),
            denials: DenialBuffer::default(),
            clock,
            ids: Arc::new(SystemIds::default()),
        };
        if let Some(folder) = service.backup_folder() {
            service.store.keep_ledger_in(folder);
        }
        let stamp = Stamp::new(service.now(), "rootset");
        service.store.ensure_workspace(HOME_WORKSPACE, stamp)?;
        Ok(service)
    }

    pub fn with_extractor(mut self, extractor: Arc<dyn Extractor>) -> Self {
        self.extractor = extractor;
        self
    }

    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    pub fn with_ids(mut self, ids: Arc<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }

    /// Runs an operation.
    pub fn run<O: Operation>(self: &Arc<Self>, caller: &Caller, request: O) -> Result<O::Response, ServiceError> {
        self.run_with_notes(caller, request).map(|(response, _)| response)
    }

    /// Runs an operation, and tells what was found in the request besides.
    pub fn run_with_notes<O: Operation>(
        self: &Arc<Self>,
        caller: &Caller,
        request: O,
    ) -> Result<(O::Response, Notes), ServiceError> {
        self.admit(caller, O::operation())?;
        let (response, notes) = self.carry_out(caller, request)?;
        Ok((with_notes(response, &notes), notes))
    }

    /// Runs an operation by its name, from JSON to JSON: for front ends that speak JSON.
    pub fn call(self: &Arc<Self>, caller: &Caller, name: &str, request: Value) -> Result<Value, ServiceError> {
        let call = find_call(name).ok_or_else(|| unknown_operation(name))?;
        call(self, caller, request)
    }

    /// Whether the caller may do this at all; asked before the request is read.
    pub(crate) fn admit(&self, caller: &Caller, operation: &OperationInfo) -> Result<(), ServiceError> {
        let what = || format!("`{}`", operation.name);
        let mut admitted = caller.need_scope(operation.effect, what);
        if operation.is_database_wide {
            admitted = admitted.and_then(|()| caller.need_whole_database(what));
        }
        admitted.inspect_err(|error| self.note_if_denied(caller, operation.name, None, error))?;
        if operation.effect != Effect::Read {
            self.has_written.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    pub(crate) fn carry_out<O: Operation>(
        self: &Arc<Self>,
        caller: &Caller,
        request: O,
    ) -> Result<(O::Response, Notes), ServiceError> {
        let workspace = request.workspace_id().map(str::to_owned);
        let outcome = self.checked(request, caller).and_then(|(request, notes)| {
            self.let_pass(caller, &request)?;
            let response = match secrets::clean_actor(caller, self.settings.secrets) {
                Some(cleaned) => request.run(self, &cleaned)?,
                None => request.run(self, caller)?,
            };
            Ok((response, notes))
        });
        outcome.map_err(|error| {
            self.note_if_denied(caller, O::operation().name, workspace.as_deref(), &error);
            error.0.about_workspace(workspace.as_deref()).bounded().into()
        })
    }

    /// What a request may not do by the rights of its operation alone: asked of every request, before it is carried out.
    fn let_pass<O: Operation>(&self, caller: &Caller, request: &O) -> Result<(), ServiceError> {
        if request.destroys() {
            let argument = O::DESTROYS_WITH.unwrap_or_default();
            caller.need_scope(Effect::Destroy, || format!("`{}` with `{argument}`", O::NAME))?;
        }
        let Some(irreversible) = request.irreversible() else { return Ok(()) };
        caller.need_scope_for(irreversible, O::operation())?;
        if caller.needs_person() {
            return Err(caller.unconfirmed_for_good(request.unconfirmed(self, caller)));
        }
        Ok(())
    }

    /// The request with its files read and without secrets. What only reads stores nothing.
    fn checked<O: Operation>(&self, request: O, caller: &Caller) -> Result<(O, Notes), ServiceError> {
        if O::EFFECT == Effect::Read {
            return Ok((request, Notes::default()));
        }
        secrets::checked(request.with_files(caller)?, self.settings.secrets)
    }

    /// The wall clock: the server's where the database has one, so that all who share it agree.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now().saturating_add_ms(self.store.server_ahead_ms())
    }

    /// Moves the database's own clock on, as every write does: for whoever runs for long and writes nothing.
    pub fn observe_time(&self) -> Result<(), ServiceError> {
        self.store.observe()?;
        Ok(())
    }

    pub(crate) fn elapsed_ms(&self) -> i64 {
        self.clock.elapsed_ms()
    }

    pub(crate) fn stamp<'a>(&self, caller: &'a Caller) -> Stamp<'a> {
        Stamp::new(self.now(), caller.author())
    }

    pub(crate) fn next_memory_id(&self) -> MemoryId {
        MemoryId(self.ids.next(self.now()))
    }

    pub(crate) fn next_plan_id(&self) -> PlanId {
        PlanId(self.ids.next(self.now()))
    }

    pub(crate) fn next_run_id(&self) -> RunId {
        RunId(self.ids.next(self.now()))
    }

    pub(crate) fn next_drain_id(&self) -> DrainId {
        DrainId(self.ids.next(self.now()))
    }

    pub(crate) fn next_erasure_id(&self) -> ErasureId {
        ErasureId(self.ids.next(self.now()))
    }

    pub(crate) fn next_token_id(&self) -> TokenId {
        TokenId(self.ids.next(self.now()))
    }

    pub(crate) fn next_segment_id(&self) -> String {
        MemoryId(self.ids.next(self.now())).to_string()
    }

    /// What tells two backups of the same second apart.
    pub(crate) fn next_backup_bytes(&self) -> [u8; 4] {
        let id = self.ids.next(self.now());
        [id[12], id[13], id[14], id[15]]
    }

    /// Ids for a plan of named items that is confirmed as it is stored.
    pub(crate) fn next_erase_ids(&self) -> EraseIds {
        EraseIds { plan: self.next_plan_id(), run: self.next_run_id(), erasure: self.next_erasure_id() }
    }

    /// What a change of a memory's text may do to its earlier revisions.
    pub(crate) fn history(&self) -> History {
        let (keep, grace_ms) = (self.settings.keep_revisions, self.settings.grace_ms);
        History { keep, ids: self.next_erase_ids(), grace_ms }
    }

    /// The workspace a request is about; empty and absent mean the caller's current one.
    pub(crate) fn workspace(&self, caller: &Caller, requested: Option<&str>) -> Result<Workspace, ServiceError> {
        self.find_workspace(caller, requested, Store::workspace)
    }

    /// Also one that is in the trash, for undo, purge and looking at what is there.
    pub(crate) fn workspace_or_trashed(
        &self,
        caller: &Caller,
        requested: Option<&str>,
    ) -> Result<Workspace, ServiceError> {
        self.find_workspace(caller, requested, Store::workspace_or_trashed)
    }

    fn find_workspace(
        &self,
        caller: &Caller,
        requested: Option<&str>,
        find: impl Fn(&Store, &str) -> Result<Workspace, StoreError>,
    ) -> Result<Workspace, ServiceError> {
        let name = self.meant_by(caller, requested)?;
        let is_own = name == PERSONAL && caller.person.is_some();
        if !is_own && !caller.rights.allow_workspace(&name) {
            return Err(unknown_to_caller(&name));
        }
        let found = find(&self.store, &name);
        if is_own && !found.as_ref().is_ok_and(|it| caller.may_see(it)) {
            // The word, where no workspace is called so: the caller's own has another name.
            let own = self.personal(caller)?.ok_or_else(|| unknown_to_caller(&name))?;
            return Ok(own);
        }
        self.seen(caller, &name, found)
    }

    /// What was found under a name, as far as the caller may know of it.
    fn seen(
        &self,
        caller: &Caller,
        name: &str,
        found: Result<Workspace, StoreError>,
    ) -> Result<Workspace, ServiceError> {
        let found = found.map_err(|error| match error {
            // Names like this one are suggested, but never those of others' workspaces.
            StoreError::WorkspaceNotFound { name, mut nearest, trashed } => {
                nearest.retain(|it| caller.rights.allow_workspace(it));
                StoreError::WorkspaceNotFound { name, nearest, trashed }
            }
            other => other,
        })?;
        // A name may have gone to another workspace a moment ago.
        if !caller.may_see(&found) {
            return Err(unknown_to_caller(name));
        }
        self.note_visit(caller, &found);
        Ok(found)
    }

    /// The workspace a request is about and the caller's personal one, in one look where both are there.
    pub(crate) fn workspace_and_personal(
        &self,
        caller: &Caller,
        requested: Option<&str>,
        person: &Person,
    ) -> Result<Places, ServiceError> {
        let name = self.meant_by(caller, requested)?;
        let (project, personal) = self.store.workspace_and_personal(&name, person.as_str())?;
        let project = match project.filter(|it| caller.may_see(it)) {
            Some(project) => {
                self.note_visit(caller, &project);
                project
            }
            // It is trashed, a word for another, or there is none: the error says which.
            None => self.workspace(caller, requested)?,
        };
        let personal = personal.filter(|it| it.key != project.key && caller.may_see(it));
        Ok(Places { project: Some(project), personal })
    }
}

/// The answer says what was found where it has a field for it.
fn with_notes<R: Serialize + DeserializeOwned>(response: R, notes: &Notes) -> R {
    if notes.is_empty() {
        return response;
    }
    let noted = serde_json::to_value(&response).and_then(|mut value| {
        secrets::add_to(&mut value, notes);
        serde_json::from_value(value)
    });
    noted.unwrap_or(response)
}

/// For who looks an operation up without calling it, too.
pub fn unknown_operation(name: &str) -> ServiceError {
    let all = catalogue().iter().map(|it| it.name);
    let error = ServiceError(Error::invalid(format!("unknown operation `{name}`")).bounded());
    match nearest(name, all, 1).first() {
        Some(near) => error.with_hint(format!("did you mean `{near}`?")),
        None => error.with_hint("`rootset call` lists the operations, `/openapi.json` of a server describes them"),
    }
}

/// What a token does not name does not exist for its holder, not even in hints.
pub(crate) fn unknown_to_caller(name: &str) -> ServiceError {
    ServiceError::new(ErrorCode::NotFound, format!("no workspace `{name}`"))
}
