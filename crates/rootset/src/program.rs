//! One run of the program: the configuration and the service, each made when it is first needed.

use std::cell::{Cell, OnceCell};
use std::path::PathBuf;
use std::sync::Arc;

use rootset_api::{ErrorCode, ListWorkspaces, WorkspaceAnswer};
use rootset_model::names::{HOME_WORKSPACE, check_memory_name};
use rootset_service::{
    Caller, CurrentWorkspace, FrontEnd, Operation, Person, Progress, SecretNotes, Service, ServiceError, Settings,
    WorkingFolder,
};
use rootset_store::{Location, Store};

use crate::arguments::GlobalArguments;
use crate::configuration::{Configuration, EmbedModel};
#[cfg(feature = "http")]
use crate::first_token;
use crate::output::Output;
use crate::render::{self, counted, escaped};
use crate::{deliveries, models, workspaces};

/// Other workspaces that are named where one is empty.
const OTHERS_NAMED: usize = 3;

/// Audit's actor and a memory's `written_by` for everything that comes from here.
const ACTOR: &str = "cli";
/// Said once, at the start: an embedder is configured, and the server cannot search what it makes.
const LACKS_VECTORS: &str = "`embed` is configured, but this server has no pgvector: search uses words only; hint: `CREATE \
                             EXTENSION vector` in the database as a superuser, then restart as the owner of its tables";

#[derive(Debug)]
pub struct Program {
    pub global: GlobalArguments,
    pub output: Output,
    configuration: OnceCell<Configuration>,
    service: OnceCell<Arc<Service>>,
    workspace: OnceCell<CurrentWorkspace>,
    is_database_new: Cell<bool>,
}

impl Program {
    pub fn new(global: GlobalArguments, output: Output) -> Self {
        Self {
            global,
            output,
            configuration: OnceCell::new(),
            service: OnceCell::new(),
            workspace: OnceCell::new(),
            is_database_new: Cell::new(false),
        }
    }

    /// Runs one operation.
    pub fn run<O: Operation>(&self, request: O) -> Result<O::Response, ServiceError> {
        self.run_with_progress(request, Progress::default())
    }

    /// Runs one operation that may take long.
    pub fn run_with_progress<O: Operation>(&self, request: O, progress: Progress) -> Result<O::Response, ServiceError> {
        let caller = Caller { progress, ..self.caller()? };
        let (answer, notes) = self.service()?.run_with_notes(&caller, request)?;
        self.tell_of_secrets(&notes);
        Ok(answer)
    }

    /// Answers for people have no room for what was found in the request.
    fn tell_of_secrets(&self, notes: &SecretNotes) {
        if notes.redacted() > 0 {
            let verb = if notes.redacted() == 1 { "was" } else { "were" };
            let values = counted(notes.redacted(), "value looked", "values looked");
            self.output.talk(&render::warning(format!("{values} like a secret and {verb} not stored")));
        }
        for warning in notes.warnings() {
            self.output.talk(&render::warning(warning));
        }
    }

    /// Runs one operation with what a file says that others made.
    pub fn run_importing<O: Operation>(&self, request: O) -> Result<O::Response, ServiceError> {
        self.service()?.run(&self.caller()?.importing(), request)
    }

    /// Runs one operation by its name, from JSON to JSON.
    #[expect(clippy::disallowed_types, reason = "`rootset call` speaks JSON")]
    pub fn call(&self, operation: &str, request: serde_json::Value) -> Result<serde_json::Value, ServiceError> {
        self.service()?.call(&self.caller()?, operation, request)
    }

    /// The person at the terminal.
    pub fn caller(&self) -> Result<Caller, ServiceError> {
        self.calling_from(self.current_workspace()?.clone())
    }

    /// The person, for what is about no workspace or names its own: nothing is decided for it.
    pub fn person(&self) -> Result<Caller, ServiceError> {
        self.calling_from(HOME_WORKSPACE)
    }

    fn calling_from(&self, workspace: impl Into<CurrentWorkspace>) -> Result<Caller, ServiceError> {
        let caller = Caller::new(FrontEnd::CommandLine, ACTOR, workspace);
        Ok(Caller { person: person(&self.configuration()?.location()?), ..caller })
    }

    /// Why commands work in the workspace that they work in, in a word.
    pub fn reason_of_workspace(&self) -> Result<&'static str, ServiceError> {
        Ok(match self.current_workspace()? {
            CurrentWorkspace::Around(working) => {
                self.service()?.workspace_around(working, &self.person()?)?.reason.word()
            }
            CurrentWorkspace::Named(_) | CurrentWorkspace::MustBeNamed => "named",
        })
    }

    /// What the person names, or else what is decided for the folder they work in.
    fn current_workspace(&self) -> Result<&CurrentWorkspace, ServiceError> {
        if let Some(current) = self.workspace.get() {
            return Ok(current);
        }
        let current = match &self.configuration()?.workspace {
            Some(named) => named.as_str().into(),
            None => CurrentWorkspace::Around(WorkingFolder::new(working_folder()?)),
        };
        Ok(self.workspace.get_or_init(|| current))
    }

    /// The id of the workspace that commands work in.
    pub fn workspace_id(&self) -> Result<String, ServiceError> {
        self.service()?.current_workspace_id(&self.caller()?)
    }

    pub fn configuration(&self) -> Result<&Configuration, ServiceError> {
        if let Some(configuration) = self.configuration.get() {
            return Ok(configuration);
        }
        let configuration = Configuration::load(&self.global)?;
        Ok(self.configuration.get_or_init(|| configuration))
    }

    pub fn service(&self) -> Result<&Arc<Service>, ServiceError> {
        if let Some(service) = self.service.get() {
            return Ok(service);
        }
        let configuration = self.configuration()?;
        // Models before the store: a wrong setting must not leave an empty database behind.
        let extractor = models::extractor(&configuration.extract)?;
        let embedder = models::embedder(&configuration.embed)?;
        if let EmbedModel::Local(folder) = &configuration.embed
            && !folder.exists()
        {
            tracing::warn!("{}", models::missing(folder));
        }
        let location = configuration.location()?;
        let backups = configuration.backup_folder()?;
        let store = Store::open_with(&location, backups.as_deref(), &configuration.postgres)?;
        self.is_database_new.set(store.is_new());
        store.notices().iter().for_each(|notice| tracing::warn!("{notice}"));
        if embedder.is_some() && store.lacks_vectors() {
            tracing::warn!("{LACKS_VECTORS}");
        }
        for setting in store.durability_at_start().iter().filter(|setting| setting.risk.is_some()) {
            tracing::warn!("the server has {setting}; hint: turn it on, or accept the risk");
        }
        let local_user = if location.path().is_some() { user_name() } else { None };
        let settings =
            Settings { private_files: private_files(&location), local_user, ..configuration.settings.clone() };
        let service = Service::new(store, settings)?.with_extractor(extractor);
        let service = match embedder {
            Some(embedder) => service.with_embedder(embedder),
            None => service,
        };
        // A server checks tokens itself, unless its owner has logged in.
        #[cfg(feature = "http")]
        if let Location::Postgres(_) = &location
            && let Some(secret) = first_token::of_this_machine(&location)
        {
            service.act_with(&secret);
        }
        service.send_events_to(deliveries::places(&configuration.events));
        Ok(self.service.get_or_init(|| Arc::new(service)))
    }

    /// What a process that runs on says at its start, where the database is on a server.
    pub fn say_durability(&self) -> Result<(), ServiceError> {
        let settings: Vec<String> = self.service()?.durability_at_start().iter().map(ToString::to_string).collect();
        if !settings.is_empty() {
            self.output.talk(&format!("durability: {}", settings.join(", ")));
        }
        Ok(())
    }

    /// Says which workspace it was and why, where a project decided it: to a person who watches, and to everybody what
    /// somebody has to decide.
    pub fn tell_of_workspace(&self) {
        let Some(CurrentWorkspace::Around(working)) = self.workspace.get() else { return };
        let Some(decided) = working.decided().filter(|_| !self.output.in_json()) else { return };
        let lines = workspaces::in_words(decided, self.output.shows_progress());
        lines.iter().for_each(|line| self.output.talk(line));
    }

    /// Where memories are, for a person who found none: in this workspace, and in others.
    pub fn tell_where_memories_are(&self) -> Result<(), ServiceError> {
        let current = self.workspace_id()?;
        let all = self.run(ListWorkspaces {})?.workspaces;
        let amount = |it: &WorkspaceAnswer| it.memories - it.trash;
        let here = all.iter().find(|it| it.workspace_id == current).map_or(0, amount);
        let mut others: Vec<_> = all.iter().filter(|it| it.workspace_id != current && amount(it) > 0).collect();
        others.sort_by_key(|it| (std::cmp::Reverse(amount(it)), &it.workspace_id));
        if others.is_empty() {
            return Ok(());
        }
        let mut places: Vec<String> =
            others.iter().take(OTHERS_NAMED).map(|it| format!("{} in {}", amount(it), it.workspace_id)).collect();
        if others.len() > OTHERS_NAMED {
            places.push(format!("more in {}", counted((others.len() - OTHERS_NAMED) as i64, "other", "others")));
        }
        let here = counted(here, "memory", "memories");
        self.output.talk(&format!("{here} in {current}; {}", places.join(", ")));
        self.output.talk("hint: rootset search --all WORDS looks everywhere; --workspace NAME works in another");
        Ok(())
    }

    /// Says where a new database is, and what to do next.
    pub fn welcome(&self) {
        if !self.is_database_new.get() || self.output.in_json() {
            return;
        }
        if let Ok(location) = self.configuration().and_then(Configuration::location) {
            let location = escaped(&location.to_string());
            self.output.talk(&format!(
                "new database: {location} (see it at work: rootset tour; connect an agent: rootset install)"
            ));
        }
    }

    /// One line a day about what agents removed, to a person who watches; a failure is logged and changes nothing.
    pub fn tell_of_removals(&self) {
        let Some(service) = self.service.get().filter(|_| self.output.shows_progress() && !self.output.in_json())
        else {
            return;
        };
        // A command that needed no workspace makes none for this either.
        let is_undecided = |current: &CurrentWorkspace| current.named().is_none();
        if self.workspace.get().is_none_or(is_undecided) {
            return;
        }
        match self.caller().and_then(|caller| service.daily_digest(&caller)) {
            Ok(Some(digest)) => self.output.talk(&render::digest(&digest)),
            Ok(None) => {}
            Err(error) => tracing::debug!(%error, "no digest of what agents removed"),
        }
    }

    /// What is owed after the answer: uses written, pending memories completed. The answer is out, so a failure is logged
    /// and changes nothing.
    pub fn finish(&self) {
        let Some(service) = self.service.get() else { return };
        match service.finish() {
            // Of a database that can only be read, nobody expects that uses are counted.
            Err(error) if error.code == ErrorCode::Forbidden => tracing::debug!(%error, "uses are not written"),
            Err(error) => tracing::warn!(%error, "could not finish the work left after the answer"),
            Ok(()) => {}
        }
    }
}

/// Whose personal memory the user of this machine has: a file is theirs alone; on a server they go by their name.
pub fn person(location: &Location) -> Option<Person> {
    match location {
        Location::File(_) => Some(Person::LOCAL),
        Location::Postgres(_) => user_name().map(Person::named),
    }
}

/// The user of this machine, as the owner of a token may be called.
pub fn user_name() -> Option<String> {
    let given = ["USER", "LOGNAME", "USERNAME"].iter().find_map(std::env::var_os)?;
    let name = given.to_str()?.to_lowercase();
    check_memory_name(&name).is_ok().then_some(name)
}

pub fn working_folder() -> Result<PathBuf, ServiceError> {
    std::env::current_dir().map_err(|error| ServiceError::invalid(format!("cannot read the working folder: {error}")))
}

/// Files that hold secrets: the first token, which a server leaves for its owner.
#[cfg(feature = "http")]
fn private_files(database: &Location) -> Vec<PathBuf> {
    first_token::path(database).into_iter().collect()
}

#[cfg(not(feature = "http"))]
fn private_files(_database: &Location) -> Vec<PathBuf> {
    Vec::new()
}
