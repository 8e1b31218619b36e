//! Which workspace a project's folder belongs to.
//!
//! A *place* is what a folder is recognised by: its git common directory, which all worktrees of a repository share, or
//! the folder itself where there is none. A workspace has any number of places, each with the remote and the root commit
//! that were found there. What decides, in this order:
//!
//! 1. A place that is known belongs to its workspace, whatever it is called and wherever its remote points later.
//! 2. A new place joins the workspace of one that has the same remote *and* the same root commit.
//! 3. A workspace from before places were noted is claimed by the project whose name it has, if everything that is indexed
//!    in it lies inside.
//! 4. Everything else gets a workspace of its own, under a name that is free. What agrees in part, or in name only, is
//!    noted as related, for a person to decide.
//!
//! Nothing here reads a folder, and no name ever joins anything.

use std::path::Path;

use rootset_model::limits::WORKSPACE_ID_CHARS_MAX;
use rootset_model::names::RESERVED_WORKSPACES;
use rootset_model::{Timestamp, WorkspaceKey};

use crate::audit;
use crate::driver::{Row, Tenant, Transaction};
use crate::error::StoreError;
use crate::statements::code as code_sql;
use crate::statements::projects as sql;
use crate::workspaces::{self, NewWorkspace, Workspace};
use crate::{Stamp, Store};

/// Stands for the places of a workspace that is older than they are.
const UNKNOWN_PLACE: &str = "-";
/// Names like `api-2` that are tried before giving up: nobody has so many projects of one name.
const NAMES_TRIED: usize = 10_000;

/// What was found at a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFacts {
    /// What it may be known by, the strongest first; the first is what it will be known by.
    pub places: Vec<String>,
    /// The folder itself.
    pub path: String,
    /// Readable, and a workspace's id: what a workspace that is made for it will be called.
    pub slug: String,
    /// `None` where there is none, and where nobody looked.
    pub remote: Option<String>,
    pub root_commit: Option<String>,
    /// When the root commit was looked for; zero when there was nothing to look for yet.
    pub looked_at: Timestamp,
}

/// A project that is known, as it was noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownProject {
    pub workspace: Workspace,
    pub place: String,
    pub remote: Option<String>,
    pub root_commit: Option<String>,
    pub is_linked: bool,
    pub declared: Option<String>,
    pub related: Option<Related>,
    pub looked_at: Timestamp,
}

/// Another workspace that a folder may belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub workspace_id: String,
    pub by: RelatedBy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelatedBy {
    /// A workspace from before places were noted has the project's name.
    Name,
    /// The same remote, and another root commit or none.
    Remote,
    /// The same root commit, and another remote or none.
    RootCommit,
}

impl RelatedBy {
    const ALL: [Self; 3] = [Self::Name, Self::Remote, Self::RootCommit];

    pub(crate) fn from_stored(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Remote => "remote",
            Self::RootCommit => "root_commit",
        }
    }
}

/// How a folder came to its workspace just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    Known,
    /// Remote and root commit are those of a project that is known.
    Joined,
    /// Its name and its index are those of a workspace from before.
    Claimed,
    Created,
}

impl Store {
    /// The project at one of these places. `remote` tells apart what took the same place one after the other.
    pub fn project_at(&self, places: &[String], remote: Option<&str>) -> Result<Option<KnownProject>, StoreError> {
        self.read(Tenant::Database, |tx| Ok(best(at_places(tx, places)?, places, remote)))
    }

    /// Notes a folder and answers its workspace, which is made if nothing is known of the project.
    pub fn note_project(&self, facts: &ProjectFacts, stamp: Stamp<'_>) -> Result<(KnownProject, Arrival), StoreError> {
        self.write(Tenant::Database, |tx| {
            let known = at_places(tx, &facts.places)?.into_iter().filter(|it| !is_another(it, facts)).collect();
            let (mut project, arrival) = match best(known, &facts.places, facts.remote.as_deref()) {
                Some(known) => (known, Arrival::Known),
                None => arrive(tx, facts, stamp)?,
            };
            if project.place != facts.places[0] {
                forget_place(tx, project.workspace.key, &project.place)?;
                project.place.clone_from(&facts.places[0]);
            }
            project.remote = facts.remote.clone().or(project.remote);
            project.root_commit = project.root_commit.or_else(|| facts.root_commit.clone());
            project.looked_at = facts.looked_at;
            note(tx, &project, &facts.path)?;
            tx.enter(Tenant::Database)?;
            Ok((project, arrival))
        })
    }

    /// A person says that the folder belongs to this workspace, whatever it belonged to before; with the name that the
    /// project's own file may give it, where that is what was allowed.
    pub fn link_project(
        &self,
        facts: &ProjectFacts,
        workspace: &Workspace,
        declared: Option<&str>,
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        self.write(Tenant::Database, |tx| {
            for earlier in at_places(tx, &facts.places)? {
                forget_place(tx, earlier.workspace.key, &earlier.place)?;
            }
            forget_place(tx, workspace.key, UNKNOWN_PLACE)?;
            let project = KnownProject {
                workspace: workspace.clone(),
                place: facts.places[0].clone(),
                remote: facts.remote.clone(),
                root_commit: facts.root_commit.clone(),
                is_linked: true,
                declared: declared.map(str::to_owned),
                related: None,
                looked_at: facts.looked_at,
            };
            note(tx, &project, &facts.path)?;
            tx.enter(workspace.key.into())?;
            audit::append(tx, workspace.key, stamp, &audit::Entry::of("link_workspace"))
        })
    }

    /// A person says that the folder does not belong to the workspace that it may have belonged to.
    pub fn settle_related(&self, project: &KnownProject) -> Result<(), StoreError> {
        self.write(Tenant::Database, |tx| {
            tx.enter(project.workspace.key.into())?;
            tx.execute(&sql::SETTLE_RELATED, &[project.workspace.key.into(), (&project.place).into()]).map(drop)
        })
    }

    /// The folders of a workspace.
    pub fn folders_of(&self, workspace: &Workspace) -> Result<Vec<String>, StoreError> {
        self.read(workspace, |tx| tx.rows(&sql::PATHS, &[workspace.key.into()], |row| row.get(0)))
    }
}

fn at_places(tx: &mut dyn Transaction, places: &[String]) -> Result<Vec<KnownProject>, StoreError> {
    tx.rows(&sql::AT_PLACES, &[places.into()], read)
}

fn read(row: &dyn Row) -> Result<KnownProject, StoreError> {
    let (run, at) = (row.get(3)?, row.get(4)?);
    let trashed = Option::zip(run, at);
    let (related, by): (Option<String>, Option<String>) = (row.get(10)?, row.get(11)?);
    let by = by.as_deref().and_then(RelatedBy::from_stored);
    Ok(KnownProject {
        workspace: Workspace { key: row.get(0)?, id: row.get(1)?, class: row.get(2)?, trashed, person: row.get(13)? },
        place: row.get(5)?,
        remote: row.get(6)?,
        root_commit: row.get(7)?,
        is_linked: row.get(8)?,
        declared: row.get(9)?,
        related: related.zip(by).map(|(workspace_id, by)| Related { workspace_id, by }),
        looked_at: row.get(12)?,
    })
}

/// What a person linked; otherwise what has the remote of now; otherwise the strongest place.
fn best(mut known: Vec<KnownProject>, places: &[String], remote: Option<&str>) -> Option<KnownProject> {
    let rank = |it: &KnownProject| {
        let strength = places.iter().position(|place| *place == it.place);
        (!it.is_linked, remote.is_some() && it.remote.as_deref() != remote, strength)
    };
    known.sort_by_key(rank);
    known.into_iter().next()
}

/// Whether something else took this place since it was noted: neither key is what it was. A person's word stands.
fn is_another(known: &KnownProject, facts: &ProjectFacts) -> bool {
    let differs = |one: &Option<String>, other: &Option<String>| one.is_some() && other.is_some() && one != other;
    !known.is_linked && differs(&known.remote, &facts.remote) && differs(&known.root_commit, &facts.root_commit)
}

/// A folder that nobody knows.
fn arrive(
    tx: &mut dyn Transaction,
    facts: &ProjectFacts,
    stamp: Stamp<'_>,
) -> Result<(KnownProject, Arrival), StoreError> {
    let at_place = |workspace, related| KnownProject {
        workspace,
        place: facts.places[0].clone(),
        remote: None,
        root_commit: None,
        is_linked: false,
        declared: None,
        related,
        looked_at: facts.looked_at,
    };
    let alike = alike(tx, facts)?;
    let mut agreed = alike.iter().filter(|it| it.agrees_in_both).map(|it| &it.workspace);
    // Two workspaces of one project are a person's doing: which of them is meant, only a person can say.
    if let (Some(only), None) = (agreed.next(), agreed.next()) {
        return Ok((at_place(only.clone(), None), Arrival::Joined));
    }
    let of_name = workspaces::find(tx, &facts.slug)?;
    let of_name = match of_name {
        Some(found) if is_unclaimed(tx, &found)? => Some(found),
        _ => None,
    };
    if let Some(found) = &of_name
        && holds_index_of(tx, found, &facts.path)?
    {
        forget_place(tx, found.key, UNKNOWN_PLACE)?;
        tx.enter(found.key.into())?;
        audit::append(tx, found.key, stamp, &audit::Entry::of("link_workspace"))?;
        tx.enter(Tenant::Database)?;
        return Ok((at_place(found.clone(), None), Arrival::Claimed));
    }
    tx.enter(Tenant::Database)?;
    let related = of_name.map(|it| Related { workspace_id: it.id, by: RelatedBy::Name });
    let related = related.or_else(|| alike.into_iter().next().map(Alike::into_related));
    let created = create(tx, &facts.slug, stamp)?;
    Ok((at_place(created, related), Arrival::Created))
}

/// A living workspace with a place of the same remote or the same root commit.
struct Alike {
    workspace: Workspace,
    agrees_in_both: bool,
    by: RelatedBy,
}

impl Alike {
    fn into_related(self) -> Related {
        Related { workspace_id: self.workspace.id, by: self.by }
    }
}

/// Each workspace once; what agrees in both comes first, then what has the same root commit.
fn alike(tx: &mut dyn Transaction, facts: &ProjectFacts) -> Result<Vec<Alike>, StoreError> {
    let mut found: Vec<Alike> = Vec::new();
    let mut add = |known: KnownProject, by| {
        if known.workspace.trashed.is_some() {
            return;
        }
        let agrees = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
        let agrees_in_both = agrees(&known.remote, &facts.remote) && agrees(&known.root_commit, &facts.root_commit);
        match found.iter_mut().find(|it| it.workspace.key == known.workspace.key) {
            Some(earlier) => earlier.agrees_in_both |= agrees_in_both,
            None => found.push(Alike { workspace: known.workspace, agrees_in_both, by }),
        }
    };
    for (key, statement, by) in [
        (&facts.root_commit, &sql::WITH_ROOT_COMMIT, RelatedBy::RootCommit),
        (&facts.remote, &sql::WITH_REMOTE, RelatedBy::Remote),
    ] {
        if let Some(key) = key {
            tx.rows(statement, &[key.into()], read)?.into_iter().for_each(|known| add(known, by));
        }
    }
    found.sort_by_key(|it| !it.agrees_in_both);
    Ok(found)
}

/// Whether it is from before places were noted, and nobody's since.
fn is_unclaimed(tx: &mut dyn Transaction, workspace: &Workspace) -> Result<bool, StoreError> {
    if workspace.trashed.is_some() {
        return Ok(false);
    }
    tx.enter(workspace.key.into())?;
    let places: Vec<String> = tx.rows(&sql::OF_WORKSPACE, &[workspace.key.into()], |row| row.get(0))?;
    Ok(places == [UNKNOWN_PLACE])
}

/// Whether everything that is indexed there lies inside the folder, and something is.
fn holds_index_of(tx: &mut dyn Transaction, workspace: &Workspace, folder: &str) -> Result<bool, StoreError> {
    tx.enter(workspace.key.into())?;
    let roots: Vec<String> = tx.rows(&code_sql::REPOS, &[workspace.key.into()], |row| row.get(1))?;
    Ok(!roots.is_empty() && roots.iter().all(|root| Path::new(root).starts_with(folder)))
}

/// A new workspace under the project's name, or under `name-2` and so on where that is taken.
fn create(tx: &mut dyn Transaction, slug: &str, stamp: Stamp<'_>) -> Result<Workspace, StoreError> {
    for number in 1..=NAMES_TRIED {
        let id = numbered(slug, number);
        if RESERVED_WORKSPACES.contains(&id.as_str()) || workspaces::find(tx, &id)?.is_some() {
            continue;
        }
        let key = workspaces::create(tx, &NewWorkspace { id: id.clone(), ..NewWorkspace::default() }, stamp)?;
        tx.enter(key.into())?;
        audit::append(tx, key, stamp, &audit::Entry::of("create_workspace"))?;
        tx.enter(Tenant::Database)?;
        return workspaces::find(tx, &id)?.ok_or(StoreError::MissingRow { statement: "workspaces.find" });
    }
    Err(StoreError::WorkspaceExists { name: slug.to_owned(), trashed: false })
}

fn numbered(slug: &str, number: usize) -> String {
    if number == 1 {
        return slug.to_owned();
    }
    let suffix = format!("-{number}");
    let kept: String = slug.chars().take(WORKSPACE_ID_CHARS_MAX - suffix.len()).collect();
    format!("{kept}{suffix}")
}

fn note(tx: &mut dyn Transaction, project: &KnownProject, path: &str) -> Result<(), StoreError> {
    let key = project.workspace.key;
    tx.enter(key.into())?;
    let related = project.related.as_ref();
    let parameters = [
        key.into(),
        (&project.place).into(),
        path.into(),
        project.remote.as_ref().into(),
        project.root_commit.as_ref().into(),
        project.is_linked.into(),
        project.declared.as_ref().into(),
        related.map(|it| &it.workspace_id).into(),
        related.map(|it| it.by.as_str()).into(),
        project.looked_at.into(),
    ];
    tx.execute(&sql::NOTE, &parameters).map(drop)
}

fn forget_place(tx: &mut dyn Transaction, workspace: WorkspaceKey, place: &str) -> Result<(), StoreError> {
    tx.enter(workspace.into())?;
    tx.execute(&sql::FORGET_PLACE, &[workspace.into(), place.into()])?;
    tx.enter(Tenant::Database)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names_fit_what_an_id_may_be() {
        assert_eq!(numbered("api", 1), "api");
        assert_eq!(numbered("api", 2), "api-2");
        let long = "x".repeat(WORKSPACE_ID_CHARS_MAX);
        let second = numbered(&long, 12);
        assert_eq!((second.len(), second.ends_with("x-12")), (WORKSPACE_ID_CHARS_MAX, true));
    }
}
