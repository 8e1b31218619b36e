//! Joint plans: one request over several workspaces. Its parts are ordinary plans in their workspaces, with their own
//! previews, limits and re-checks; the joint plan is a plan of the database itself, without items, that names them.
//!
//! Nothing is swept here: whoever applies a joint plan applies its parts, one after the other.

use std::collections::HashMap;

use rootset_model::limits::PLAN_LIFETIME_MS;
use rootset_model::{PlanId, Timestamp, WorkspaceKey};
use serde::{Deserialize, Serialize};

use crate::driver::Tenant;
use crate::error::StoreError;
use crate::leases::DATABASE;
use crate::plans::Searched;
use crate::statements::plans as sql;
use crate::{Stamp, Store, Workspace, workspaces};

/// What was found in one workspace. Workspaces are noted by their numbers: names are looked up when shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JointPart {
    pub workspace: i64,
    /// `None` where pins keep everything that matched.
    pub plan: Option<PlanId>,
    /// That of the part's plan, in hexadecimal digits.
    pub digest: Option<String>,
    pub matched: usize,
    pub in_plan: usize,
    pub kept_pinned: usize,
}

#[derive(Debug)]
pub struct NewJointPlan {
    pub id: PlanId,
    /// What was asked for; the numbers of matches are those of the parts.
    pub searched: Searched,
    /// Every workspace that was searched, also those without a match.
    pub workspaces: Vec<WorkspaceKey>,
    pub parts: Vec<JointPart>,
    pub erases: bool,
    pub include_pinned: bool,
}

/// A joint plan as stored, with the names that its workspaces have now.
#[derive(Clone, Debug)]
pub struct JointPlan {
    pub id: PlanId,
    pub digest: [u8; 32],
    pub expires_at: Timestamp,
    pub erases: bool,
    pub searched: Searched,
    pub workspaces: Vec<WorkspaceKey>,
    pub parts: Vec<JointPart>,
    existing: HashMap<WorkspaceKey, Workspace>,
}

impl JointPlan {
    /// `None` when the workspace was purged since.
    pub fn workspace(&self, number: WorkspaceKey) -> Option<&Workspace> {
        self.existing.get(&number)
    }

    /// Its id; of a workspace that is gone, its number.
    pub fn workspace_name(&self, number: WorkspaceKey) -> String {
        self.workspace(number).map_or_else(|| format!("#{}", number.0), |it| it.id.clone())
    }
}

/// The policy of a joint plan: numbers and codes.
#[derive(Debug, Serialize, Deserialize)]
struct JointPolicy {
    operation: String,
    searched: Searched,
    workspaces: Vec<i64>,
    parts: Vec<JointPart>,
}

impl Store {
    /// Stores a joint plan whose parts are stored already.
    pub fn store_joint_plan(&self, new: NewJointPlan, stamp: Stamp<'_>) -> Result<JointPlan, StoreError> {
        let id = new.id;
        let policy = JointPolicy {
            operation: "forget".to_owned(),
            searched: new.searched,
            workspaces: new.workspaces.iter().map(|it| it.0).collect(),
            parts: new.parts,
        };
        let policy = serde_json::to_string(&policy).expect("numbers and codes always serialise");
        let digest = rootset_gc::digest(&policy, &[]);
        self.write_to_free_room(Tenant::Database, |tx| {
            let parameters = [
                DATABASE.into(),
                (&id).into(),
                (&digest).into(),
                (&policy).into(),
                new.erases.into(),
                new.include_pinned.into(),
                false.into(),
                stamp.actor.into(),
                stamp.now.into(),
                stamp.now.saturating_add_ms(PLAN_LIFETIME_MS).into(),
                "{}".into(),
            ];
            tx.execute(&sql::INSERT, &parameters).map(drop)
        })?;
        self.joint_plan(id)?.ok_or_else(|| StoreError::PlanNotFound(id.to_string()))
    }

    /// `None` where no joint plan has this id.
    pub fn joint_plan(&self, id: PlanId) -> Result<Option<JointPlan>, StoreError> {
        self.read(Tenant::Database, |tx| {
            let stored = match crate::plans::find(tx, DATABASE, id) {
                Err(StoreError::PlanNotFound(_)) => return Ok(None),
                stored => stored?,
            };
            let policy: JointPolicy = serde_json::from_str(&stored.policy)
                .map_err(|_| StoreError::UnreadableValue("the parts of a joint plan"))?;
            let existing = workspaces::all(tx)?.into_iter().map(|it| (it.key, it)).collect();
            Ok(Some(JointPlan {
                id,
                digest: stored.digest,
                expires_at: stored.expires_at,
                erases: stored.erases,
                searched: policy.searched,
                workspaces: policy.workspaces.into_iter().map(WorkspaceKey).collect(),
                parts: policy.parts,
                existing,
            }))
        })
    }

    /// Every workspace there is; those in the trash only where somebody wants them.
    pub fn workspaces_and_trashed(&self, with_trashed: bool) -> Result<Vec<Workspace>, StoreError> {
        let mut all = self.read(Tenant::Database, workspaces::all)?;
        all.retain(|it| with_trashed || it.trashed.is_none());
        Ok(all)
    }
}
