//! Which workspace is meant: one rule for the command line, stdio MCP, watch and whatever else works in a folder.
//!
//! What the caller names; otherwise the project around the folder that it works in; otherwise `home`. Over HTTP no folder
//! ever decides: there, a caller has a workspace of its own, or has to name one ([`CurrentWorkspace`]).
//!
//! Not an operation: no request from elsewhere may name a folder, link one or claim a workspace. What belongs together is
//! decided in the store (`projects.rs`); what a folder is, in [`Project`].

mod declared;
mod folder;
mod git;
mod remote;
mod root_commit;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rootset_api::ErrorCode;
use rootset_model::Timestamp;
use rootset_model::names::{HOME_WORKSPACE, RESERVED_WORKSPACES, check_workspace_id, meant_workspace};
use rootset_store::{Arrival, KnownProject, ProjectFacts, RelatedBy, StoreError};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::service::Service;
pub use declared::declared_workspace;
pub use folder::Project;

/// The root commit of a repository that had none, or whose root was not found in time, is looked for again after so long.
const LOOK_AGAIN_MS: i64 = 24 * 3_600_000;

/// The workspace of requests that name none.
#[derive(Clone, Debug)]
pub enum CurrentWorkspace {
    Named(String),
    /// There are several, and none comes before the others.
    MustBeNamed,
    /// Decided when it is first needed: a command that needs no workspace makes none.
    Around(Arc<WorkingFolder>),
}

impl CurrentWorkspace {
    /// The name, where it is known without a look at the database.
    pub fn named(&self) -> Option<&str> {
        match self {
            Self::Named(id) => Some(id),
            Self::MustBeNamed => None,
            Self::Around(working) => working.decided().map(|decided| decided.workspace_id.as_str()),
        }
    }
}

impl CurrentWorkspace {
    /// The top of the project that the caller works in, if this is its workspace.
    pub(crate) fn project_root(&self, workspace_id: &str) -> Option<&Path> {
        let Self::Around(working) = self else { return None };
        let decided = working.decided().filter(|it| it.workspace_id == workspace_id)?;
        match &decided.reason {
            Reason::Project { root, .. } => Some(root),
            Reason::Home => None,
        }
    }
}

impl From<&str> for CurrentWorkspace {
    fn from(id: &str) -> Self {
        Self::Named(id.to_owned())
    }
}

impl From<String> for CurrentWorkspace {
    fn from(id: String) -> Self {
        Self::Named(id)
    }
}

/// The folder that somebody works in, with what was decided for it.
#[derive(Debug)]
pub struct WorkingFolder {
    folder: PathBuf,
    decided: OnceLock<Decided>,
}

impl WorkingFolder {
    pub fn new(folder: PathBuf) -> Arc<Self> {
        Arc::new(Self { folder, decided: OnceLock::new() })
    }

    /// What was decided, if anything has asked.
    pub fn decided(&self) -> Option<&Decided> {
        self.decided.get()
    }
}

/// The workspace of a folder, and why it is that one.
#[derive(Clone, Debug)]
pub struct Decided {
    pub workspace_id: String,
    pub reason: Reason,
    /// For a person: what else to know, and the command that changes it.
    pub remarks: Vec<Remark>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is no project around the folder.
    Home,
    Project {
        root: PathBuf,
        is_git: bool,
        is_linked: bool,
        arrival: Arrival,
    },
}

impl Reason {
    /// In a word, for people.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Home => "no project here",
            Self::Project { is_linked: true, .. } => "linked",
            Self::Project { is_git: true, .. } => "git",
            Self::Project { is_git: false, .. } => "rootset.toml",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// A workspace from before folders were noted has the project's name.
    Unclaimed { workspace_id: String, memories: i64 },
    /// Another workspace has the same remote, or the same root commit, but not both.
    Related { workspace_id: String, by: RelatedBy },
    /// The project's own file names a workspace, which nobody has allowed.
    Untrusted { workspace_id: String },
}

impl Service {
    /// The workspace of whoever works in this folder; made, where nothing is known of its project.
    pub fn workspace_around<'a>(
        &self,
        working: &'a WorkingFolder,
        caller: &Caller,
    ) -> Result<&'a Decided, ServiceError> {
        if let Some(decided) = working.decided.get() {
            return Ok(decided);
        }
        let decided = match Project::around(&working.folder) {
            Some(project) => self.workspace_of(&project, caller)?,
            None => Decided { workspace_id: HOME_WORKSPACE.to_owned(), reason: Reason::Home, remarks: Vec::new() },
        };
        Ok(working.decided.get_or_init(|| decided))
    }

    fn workspace_of(&self, project: &Project, caller: &Caller) -> Result<Decided, ServiceError> {
        let (known, arrival) = self.noted(project, caller)?;
        let mut remarks = Vec::new();
        if let Some(related) = &known.related
            && let Some(memories) = self.memories_in(&related.workspace_id)?
        {
            let workspace_id = related.workspace_id.clone();
            match related.by {
                RelatedBy::Name if memories == 0 => {}
                RelatedBy::Name => remarks.push(Remark::Unclaimed { workspace_id, memories }),
                by => remarks.push(Remark::Related { workspace_id, by }),
            }
        }
        if let Some(declared) = declared_workspace(project.root())
            && known.declared.as_deref() != Some(&declared)
            && known.workspace.id != declared
        {
            remarks.push(Remark::Untrusted { workspace_id: declared });
        }
        let (root, is_git, is_linked) = (project.root().to_owned(), project.is_git(), known.is_linked);
        let reason = Reason::Project { root, is_git, is_linked, arrival };
        Ok(Decided { workspace_id: known.workspace.id, reason, remarks })
    }

    /// What is known of the project, with what was found since; reading is enough where nothing is new.
    fn noted(&self, project: &Project, caller: &Caller) -> Result<(KnownProject, Arrival), ServiceError> {
        let mut facts = self.facts(project);
        let known = self.store.project_at(&facts.places, facts.remote.as_deref())?;
        if let Some(known) = &known {
            let is_renamed = facts.remote.is_some() && facts.remote != known.remote;
            let is_weak = known.place != facts.places[0];
            let is_due = known.looked_at == Timestamp(0) || self.now().0 - known.looked_at.0 > LOOK_AGAIN_MS;
            let may_have_root = known.root_commit.is_none() && project.has_commits() && is_due;
            if !is_renamed && !is_weak && !may_have_root {
                return Ok((known.clone(), Arrival::Known));
            }
        }
        if caller.rights.workspaces.is_some() && known.is_none() {
            // Whoever is confined makes no workspace and claims none.
            return Err(caller.need_whole_database(|| "a new project's workspace").expect_err("rights are limited"));
        }
        if project.has_commits() {
            facts.root_commit = project.root_commit();
            facts.looked_at = self.now();
        }
        match (self.store.note_project(&facts, self.stamp(caller)), known) {
            (Ok(noted), _) => Ok(noted),
            // What is new can wait; which workspace it is does not change.
            (Err(error), Some(known)) => {
                tracing::debug!(%error, "what is new of the project was not noted");
                Ok((known, Arrival::Known))
            }
            (Err(StoreError::ReadOnly), None) => Err(unknown_and_read_only(&facts.path)),
            (Err(error), None) => Err(error.into()),
        }
    }

    fn facts(&self, project: &Project) -> ProjectFacts {
        // A path is a name on one machine. A database on a server is used from several.
        let machine = (self.store.engine_name() != "sqlite").then(folder::machine);
        let mut places: Vec<String> = project.places();
        if let Some(machine) = machine {
            let bare = std::mem::take(&mut places);
            places.extend(bare.iter().map(|place| format!("{machine}:{place}")));
            places.extend(bare);
        }
        ProjectFacts {
            places,
            path: project.root().to_string_lossy().into_owned(),
            slug: project.slug(),
            remote: project.remote(),
            root_commit: None,
            looked_at: Timestamp(0),
        }
    }

    /// Living memories of a workspace; `None` when it is gone.
    fn memories_in(&self, id: &str) -> Result<Option<i64>, ServiceError> {
        let found = self.store.list_workspaces(|_, it, _| it == id)?;
        Ok(found.first().map(|it| it.memories - it.trashed_memories))
    }

    /// Links the project around a folder to an existing workspace, because a person said so.
    pub fn link_project(&self, caller: &Caller, folder: &Path, workspace_id: &str) -> Result<PathBuf, ServiceError> {
        self.link(caller, folder, workspace_id, None)
    }

    /// Lets the project's own file name its workspace, which is made where it does not exist; answers its id.
    pub fn trust_declared_workspace(&self, caller: &Caller, folder: &Path) -> Result<String, ServiceError> {
        let project = project_around(folder)?;
        let declared = declared_workspace(project.root()).ok_or_else(|| {
            ServiceError::invalid(format!("`{}` names no workspace", project.root().join("rootset.toml").display()))
                .with_hint("write `workspace = \"NAME\"` in it, or use `rootset workspace link NAME`")
        })?;
        check_workspace_id(&declared).map_err(|error| ServiceError::invalid(format!("`workspace`: {error}")))?;
        caller.need_whole_database(|| "trusting a project's file")?;
        if RESERVED_WORKSPACES.contains(&declared.as_str()) && declared != HOME_WORKSPACE {
            return Err(ServiceError::invalid(format!("`{declared}` is not the name of a project's workspace")));
        }
        self.store.ensure_workspace(&declared, self.stamp(caller))?;
        self.link(caller, folder, &declared, Some(&declared))?;
        Ok(declared)
    }

    fn link(
        &self,
        caller: &Caller,
        folder: &Path,
        workspace_id: &str,
        declared: Option<&str>,
    ) -> Result<PathBuf, ServiceError> {
        caller.need_whole_database(|| "linking a project")?;
        let project = project_around(folder)?;
        let workspace = self.workspace(caller, Some(workspace_id))?;
        if workspace.person.is_some() {
            return Err(ServiceError::invalid("personal memory stands beside every project and belongs to none"));
        }
        let mut facts = self.facts(&project);
        if project.has_commits() {
            facts.root_commit = project.root_commit();
            facts.looked_at = self.now();
        }
        self.store.link_project(&facts, &workspace, declared, self.stamp(caller))?;
        Ok(project.root().to_owned())
    }

    /// A person says that the project around a folder does not belong to the workspace it may have belonged to; answers the
    /// id of that one, if there was any.
    pub fn dismiss_related(&self, caller: &Caller, folder: &Path) -> Result<Option<String>, ServiceError> {
        caller.need_whole_database(|| "dismissing a link")?;
        let (known, _) = self.noted(&project_around(folder)?, caller)?;
        let Some(related) = &known.related else { return Ok(None) };
        self.store.settle_related(&known)?;
        Ok(Some(related.workspace_id.clone()))
    }

    /// The id that requests of this caller mean which name none.
    pub fn current_workspace_id(&self, caller: &Caller) -> Result<String, ServiceError> {
        self.meant_by(caller, None)
    }

    /// The folders that are known to belong to a workspace.
    pub fn folders_of_workspace(&self, caller: &Caller, id: &str) -> Result<Vec<String>, ServiceError> {
        let workspace = self.workspace(caller, Some(id))?;
        Ok(self.store.folders_of(&workspace)?)
    }

    /// The id that a request's absent or given `workspace_id` stands for.
    pub(crate) fn meant_by(&self, caller: &Caller, requested: Option<&str>) -> Result<String, ServiceError> {
        let id = match (requested.filter(|name| !name.is_empty()), &caller.workspace) {
            (Some(name), _) => name,
            (None, CurrentWorkspace::Named(name)) => name,
            (None, CurrentWorkspace::Around(working)) => return self.id_around(working, caller),
            (None, CurrentWorkspace::MustBeNamed) => return Err(must_be_named(caller)),
        };
        check_workspace_id(id).map_err(|error| ServiceError::invalid(format!("`workspace_id`: {error}")))?;
        Ok(meant_workspace(id).to_owned())
    }

    fn id_around(&self, working: &WorkingFolder, caller: &Caller) -> Result<String, ServiceError> {
        self.workspace_around(working, caller).map(|decided| decided.workspace_id.clone())
    }
}

fn project_around(folder: &Path) -> Result<Project, ServiceError> {
    Project::around(folder).ok_or_else(|| {
        ServiceError::invalid("there is no project around the working folder")
            .with_hint("a project is a git working tree, or a folder with a `rootset.toml`")
    })
}

/// Whoever may use several workspaces says which one.
fn must_be_named(caller: &Caller) -> ServiceError {
    let names: Vec<&str> = caller.rights.workspaces.iter().flatten().map(String::as_str).collect();
    ServiceError::invalid(format!("`workspace_id` is missing, and there are several: {}", names.join(", ")))
        .with_hint("name one in `workspace_id`; over MCP, `/mcp?workspace=NAME` names it for a session")
}

fn unknown_and_read_only(folder: &str) -> ServiceError {
    let message = format!("the database knows no workspace for `{folder}`, and can only be read");
    ServiceError::new(ErrorCode::NotFound, message).with_hint("name one with `--workspace`; `home` always exists")
}
