//! Stored policies of retention. They only say what a plan may name: nothing here deletes.

use rootset_gc::{Policies, StoredPolicy};
use rootset_model::names::CODE_SOURCE;
use rootset_model::{RetentionPolicy, Timestamp, WorkspaceKey};

use crate::driver::Transaction;
use crate::error::StoreError;
use crate::garbage::{self, Findings};
use crate::statements::retention as sql;
use crate::{Stamp, Store, Workspace, audit, workspaces};

/// What a policy is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RetentionTarget {
    Workspace,
    Source(String),
    Repo(String),
    Tag(String),
}

impl RetentionTarget {
    fn stored(&self) -> (&'static str, &str) {
        match self {
            Self::Workspace => ("workspace", ""),
            Self::Source(source) => ("source", source),
            Self::Repo(repo) => ("repo", repo),
            Self::Tag(tag) => ("tag", tag),
        }
    }
}

impl Store {
    /// Every policy of a workspace, over what the configuration says.
    pub fn policies(&self, workspace: &Workspace, configured: RetentionPolicy) -> Result<Policies, StoreError> {
        self.read(workspace, |tx| load(tx, workspace.key, configured))
    }

    /// Replaces the target's policy as a whole; answers the one it replaces and what all of them would expire now.
    pub fn set_retention(
        &self,
        workspace: &Workspace,
        target: &RetentionTarget,
        policy: RetentionPolicy,
        configured: RetentionPolicy,
        stamp: Stamp<'_>,
    ) -> Result<(RetentionPolicy, Findings), StoreError> {
        let replaced = self.write(workspace, |tx| {
            let mut policies = load(tx, workspace.key, configured)?;
            let (scope, name) = target.stored();
            let json = serde_json::to_string(&policy).expect("numbers always serialise");
            let parameters =
                [workspace.key.into(), scope.into(), name.into(), (&json).into(), stamp.actor.into(), stamp.now.into()];
            tx.execute(&sql::SET, &parameters)?;
            audit::append(tx, workspace.key, stamp, &audit::Entry::of("set_retention"))?;
            workspaces::look_again(tx, workspace.key)?;
            Ok(replace(&mut policies, target, policy))
        })?;
        let findings = self.expired_by_policy(workspace, configured, stamp.now)?;
        // What the caller is about to be told; a drain asks whether anybody was.
        self.write(workspace, |tx| {
            let (scope, name) = target.stored();
            let parameters =
                [workspace.key.into(), scope.into(), name.into(), findings.expired.into(), stamp.now.into()];
            tx.execute(&sql::NOTE_SHOWN, &parameters).map(drop)
        })?;
        Ok((replaced, findings))
    }

    fn expired_by_policy(
        &self,
        workspace: &Workspace,
        configured: RetentionPolicy,
        now: Timestamp,
    ) -> Result<Findings, StoreError> {
        self.read(workspace, |tx| {
            let policies = load(tx, workspace.key, configured)?;
            garbage::count_expired(tx, workspace.key, &policies, now)
        })
    }
}

/// Puts a policy in its place among the others; answers the one that was in force there.
pub(crate) fn replace(policies: &mut Policies, target: &RetentionTarget, policy: RetentionPolicy) -> RetentionPolicy {
    let (replaced, _) = match target {
        RetentionTarget::Workspace => policies.of(None, None, None),
        RetentionTarget::Source(source) => policies.of(Some(source), None, None),
        // Indexed files have one source: its policy is in force where their repository has none.
        RetentionTarget::Repo(repo) => policies.of(Some(CODE_SOURCE), Some(repo), None),
        RetentionTarget::Tag(tag) => policies.of(None, None, Some(tag)),
    };
    let policy = StoredPolicy { policy, shown: None };
    match target {
        RetentionTarget::Workspace => policies.workspace = Some(policy),
        RetentionTarget::Source(source) => drop(policies.sources.insert(source.clone(), policy)),
        RetentionTarget::Repo(repo) => drop(policies.repos.insert(repo.clone(), policy)),
        RetentionTarget::Tag(tag) => drop(policies.tags.insert(tag.clone(), policy)),
    }
    replaced
}

pub(crate) fn load(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    configured: RetentionPolicy,
) -> Result<Policies, StoreError> {
    let mut policies = Policies { configured, ..Policies::default() };
    tx.query(&sql::ALL, &[workspace.into()], &mut |row| {
        let unreadable = || StoreError::UnreadableValue("a policy of retention");
        let policy: RetentionPolicy = serde_json::from_str(&row.get::<String>(2)?).map_err(|_| unreadable())?;
        let policy = StoredPolicy { policy, shown: row.get(3)? };
        let target: String = row.get(1)?;
        match row.get::<String>(0)?.as_str() {
            "workspace" => policies.workspace = Some(policy),
            "source" => drop(policies.sources.insert(target, policy)),
            "repo" => drop(policies.repos.insert(target, policy)),
            "tag" => drop(policies.tags.insert(target, policy)),
            _ => return Err(unreadable()),
        }
        Ok(())
    })?;
    Ok(policies)
}
