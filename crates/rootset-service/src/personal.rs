//! Personal memory: a workspace that holds what is true of one person, wherever they work.
//!
//! Invariants: it is known by its person, never by its name; nothing reaches it that did not ask for it (by
//! `memory_of: "personal"`, or by its name); who is not that person does not see it, and the person at the command line,
//! who can open the file, sees all. It is made by the first write. Plans and runs are of one workspace, as everywhere.

use std::borrow::Cow;

use rootset_api::{ErrorCode, MemoryOf};
use rootset_gc::waits_for_a_person;
use rootset_model::limits::WORKSPACE_ID_CHARS_MAX;
use rootset_model::{PinnedBy, PlanId, Trust, WorkspaceKey};
use rootset_store::{NewWorkspace, PersonalOf, STANDARD_CLASS, Workspace};

use crate::caller::{Caller, FrontEnd};
use crate::error::ServiceError;
use crate::service::Service;

/// The word for one's own personal workspace wherever a workspace is named, and the name that the first one gets.
pub const PERSONAL: &str = "personal";
/// No owner of a token can be called like this.
const LOCAL: &str = "@local";
/// Room for a number behind a name that is taken.
const NUMBER_CHARS: usize = 4;

/// Whom somebody acts for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Person(Cow<'static, str>);

impl Person {
    /// Who opens the file: on one machine nobody else does.
    pub const LOCAL: Self = Self(Cow::Borrowed(LOCAL));

    /// Somebody on a server: the owner of a token, or who is logged in at the command line.
    pub fn named(name: impl Into<String>) -> Self {
        Self(Cow::Owned(name.into()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A name for people to read, where it is free.
    fn workspace_name(&self) -> String {
        if *self == Self::LOCAL {
            return PERSONAL.to_owned();
        }
        let plain = |c: char| if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' { c } else { '-' };
        let name = format!("{PERSONAL}-{}", self.0.to_lowercase().chars().map(plain).collect::<String>());
        name.chars().take(WORKSPACE_ID_CHARS_MAX - NUMBER_CHARS).collect()
    }
}

/// Where a search looks.
#[derive(Debug)]
pub(crate) struct Places {
    pub project: Option<Workspace>,
    pub personal: Option<Workspace>,
}

impl Caller {
    /// Who can open the database itself sees everybody's workspaces.
    fn sees_everybody(&self) -> bool {
        self.front_end == FrontEnd::CommandLine
    }

    /// Whether this workspace exists for the caller.
    pub(crate) fn may_see(&self, workspace: &Workspace) -> bool {
        self.may_see_named(workspace.key, &workspace.id, workspace.person.as_deref())
    }

    pub(crate) fn may_see_named(&self, key: WorkspaceKey, id: &str, person: Option<&str>) -> bool {
        match person {
            None => self.rights.allow_found(key, id),
            Some(_) if self.sees_everybody() => true,
            Some(person) => self.acts_for(person) && self.may_use_personal(key),
        }
    }

    pub(crate) fn acts_for(&self, person: &str) -> bool {
        self.person.as_ref().is_some_and(|own| own.as_str() == person)
    }

    fn may_use_personal(&self, own: WorkspaceKey) -> bool {
        let is_bound = || self.rights.numbers.as_ref().is_some_and(|numbers| numbers.contains(&own));
        self.rights.workspaces.is_none() || self.rights.also_personal || is_bound()
    }

    pub(crate) fn personal_of(&self) -> PersonalOf<'_> {
        match self.sees_everybody() {
            true => PersonalOf::Everybody,
            false => PersonalOf::Only(self.person.as_ref().map(Person::as_str)),
        }
    }

    fn need_person(&self) -> Result<&Person, ServiceError> {
        self.person.as_ref().ok_or_else(|| {
            let (whose, hint) = match &self.token {
                Some(_) => ("this token has no owner", "create one with `rootset token create NAME --owner PERSON`"),
                None if self.is_remote => ("nobody has shown a token", "start the server with tokens"),
                None => ("nobody is known to be logged in", "set `USER` in the environment"),
            };
            ServiceError::invalid(format!("{whose}, so there is no personal memory")).with_hint(hint)
        })
    }
}

fn not_allowed() -> ServiceError {
    ServiceError::new(ErrorCode::Forbidden, "personal memory is not among the workspaces that you may use").with_hint(
        "allow it: `rootset mcp --only-workspace personal`, or the workspace `personal` of a token with an owner",
    )
}

/// An empty name means the current workspace, as everywhere.
fn names_none(workspace_id: Option<&str>) -> bool {
    workspace_id.is_none_or(str::is_empty)
}

impl Service {
    /// The caller's own, if there is one and the caller may use it.
    pub(crate) fn personal(&self, caller: &Caller) -> Result<Option<Workspace>, ServiceError> {
        let Some(person) = &caller.person else { return Ok(None) };
        let found = self.store.personal_workspace(person.as_str())?;
        Ok(found.filter(|it| it.trashed.is_none() && caller.may_see(it)))
    }

    /// The caller's own, which is made if there is none yet.
    pub(crate) fn personal_to_write(&self, caller: &Caller) -> Result<Workspace, ServiceError> {
        let person = caller.need_person()?;
        let workspace = match self.store.personal_workspace(person.as_str())? {
            Some(found) => found,
            // Whose rights are bound to numbers, those of an existing one would be among them.
            None if caller.rights.workspaces.is_some() && !caller.rights.also_personal => return Err(not_allowed()),
            None => self.make_personal(caller, person)?,
        };
        if !caller.may_see(&workspace) {
            return Err(not_allowed());
        }
        match workspace.trashed {
            None => Ok(workspace),
            Some(_) => Err(ServiceError::conflict("the personal workspace is in the trash")
                .with_hint(format!("a person can restore it: `rootset --workspace {} undo`", workspace.id))),
        }
    }

    pub(crate) fn make_personal(&self, caller: &Caller, person: &Person) -> Result<Workspace, ServiceError> {
        let of_class = self.settings.gc.classes.get(STANDARD_CLASS).copied().unwrap_or_default();
        let new = NewWorkspace {
            id: person.workspace_name(),
            quota_memories: of_class.quota_memories,
            quota_bytes: of_class.quota_bytes,
            ..NewWorkspace::default()
        };
        Ok(self.store.ensure_personal_workspace(&new, person.as_str(), self.stamp(caller))?)
    }

    /// Whom a token with this owner acts for. On a machine of one's own, its user acts for themselves by a token, too.
    pub(crate) fn person_of(&self, owner: &str) -> Person {
        match self.settings.local_user.as_deref() == Some(owner) {
            true => Person::LOCAL,
            false => Person::named(owner),
        }
    }

    /// The personal workspace that a token with this owner is to be bound to.
    pub(crate) fn personal_of_owner(&self, caller: &Caller, owner: &str) -> Result<Workspace, ServiceError> {
        let person = self.person_of(owner);
        let workspace = match self.store.personal_workspace(person.as_str())? {
            Some(found) => found,
            None => self.make_personal(caller, &person)?,
        };
        Ok(workspace)
    }

    /// The one workspace that a request writes to, or makes a plan in.
    pub(crate) fn workspace_for(
        &self,
        caller: &Caller,
        workspace_id: Option<&str>,
        memory_of: Option<MemoryOf>,
    ) -> Result<Workspace, ServiceError> {
        match memory_of {
            None | Some(MemoryOf::Project) => self.workspace(caller, workspace_id),
            Some(MemoryOf::Personal) => {
                need_no_name(workspace_id)?;
                self.personal_to_write(caller)
            }
            Some(MemoryOf::Both) => Err(ServiceError::invalid(
                "`memory_of`: give `project` or `personal` here: a memory is in one of them, and so is a plan",
            )),
        }
    }

    /// The one workspace that a request reads; `None`: the personal one, and nothing was written to it yet.
    pub(crate) fn workspace_to_read(
        &self,
        caller: &Caller,
        workspace_id: Option<&str>,
        memory_of: Option<MemoryOf>,
    ) -> Result<Option<Workspace>, ServiceError> {
        match memory_of {
            Some(MemoryOf::Personal) => {
                need_no_name(workspace_id)?;
                self.named_personal(caller)
            }
            memory_of => self.workspace_for(caller, workspace_id, memory_of).map(Some),
        }
    }

    /// The caller's own, for who asks for it by that word.
    fn named_personal(&self, caller: &Caller) -> Result<Option<Workspace>, ServiceError> {
        let person = caller.need_person()?;
        let found = self.store.personal_workspace(person.as_str())?.filter(|it| it.trashed.is_none());
        match found {
            Some(found) if !caller.may_see(&found) => Err(not_allowed()),
            found => Ok(found),
        }
    }

    /// Both unless the caller says otherwise; who has no personal memory means the project.
    pub(crate) fn places_to_search(
        &self,
        caller: &Caller,
        workspace_id: Option<&str>,
        memory_of: Option<MemoryOf>,
    ) -> Result<Places, ServiceError> {
        match (memory_of, &caller.person) {
            (Some(MemoryOf::Personal), _) => {
                need_no_name(workspace_id)?;
                Ok(Places { project: None, personal: self.named_personal(caller)? })
            }
            (None | Some(MemoryOf::Both), Some(person)) => self.workspace_and_personal(caller, workspace_id, person),
            (Some(MemoryOf::Project), _) | (_, None) => {
                Ok(Places { project: Some(self.workspace(caller, workspace_id)?), personal: None })
            }
        }
    }

    /// Carries a request out where what it names is: in the project or, where no workspace was named and the project does
    /// not hold it, in personal memory.
    pub(crate) fn where_it_is<T>(
        &self,
        caller: &Caller,
        workspace_id: Option<&str>,
        holds: impl Fn(&Workspace) -> bool,
        run: impl Fn(&Workspace) -> Result<T, ServiceError>,
    ) -> Result<T, ServiceError> {
        let project = self.workspace(caller, workspace_id)?;
        let error = match run(&project) {
            Err(error) if error.code == ErrorCode::NotFound && names_none(workspace_id) => error,
            done => return done,
        };
        match self.personal(caller)? {
            Some(personal) if personal.key != project.key && !holds(&project) && holds(&personal) => run(&personal),
            _ => Err(error),
        }
    }

    /// The same for a plan.
    pub(crate) fn where_plan_is<T>(
        &self,
        caller: &Caller,
        workspace_id: Option<&str>,
        plan: PlanId,
        run: impl Fn(&Workspace) -> Result<T, ServiceError>,
    ) -> Result<T, ServiceError> {
        let holds = |workspace: &Workspace| self.store.plan(workspace, plan, &self.settings.limits, 0, 0).is_ok();
        self.where_it_is(caller, workspace_id, holds, run)
    }

    /// The same for a memory, by its name or id.
    pub(crate) fn where_memory_is<T>(
        &self,
        caller: &Caller,
        workspace_id: Option<&str>,
        memory: &str,
        run: impl Fn(&Workspace) -> Result<T, ServiceError>,
    ) -> Result<T, ServiceError> {
        let holds = |workspace: &Workspace| self.store.memory(workspace, memory).is_ok();
        self.where_it_is(caller, workspace_id, holds, run)
    }
}

fn need_no_name(workspace_id: Option<&str>) -> Result<(), ServiceError> {
    if names_none(workspace_id) {
        return Ok(());
    }
    Err(ServiceError::invalid("give either `workspace_id` or `memory_of: \"personal\"`, not both"))
}

/// What an answer says of a memory in this workspace: nothing where it is an ordinary one.
pub(crate) fn memory_of(workspace: &Workspace) -> Option<MemoryOf> {
    workspace.person.is_some().then_some(MemoryOf::Personal)
}

/// Whether a memory in this workspace waits for a person before it is pushed into projects.
pub(crate) fn waits(workspace: &Workspace, trust: Trust, pinned_by: Option<PinnedBy>) -> Option<bool> {
    (workspace.person.is_some() && waits_for_a_person(trust, pinned_by)).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn personal_workspaces_get_names_that_say_whose_they_are() {
        let name = |person: &str| Person::named(person).workspace_name();
        assert_eq!(Person::LOCAL.workspace_name(), "personal");
        assert_eq!(name("alice"), "personal-alice");
        assert_eq!(name("team/Bob.Builder"), "personal-team-bob-builder");
        assert!(rootset_model::names::check_workspace_id(&name(&"x".repeat(200))).is_ok());
        assert_eq!(Person::named(LOCAL), Person::LOCAL);
        assert!(rootset_model::names::check_memory_name(LOCAL).is_err(), "no token's owner is the local person");
    }
}
