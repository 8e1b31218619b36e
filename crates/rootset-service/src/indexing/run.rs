//! One scan of a repository, from the walk to the row that says it is complete.
//!
//! Invariants: only a completed run calls files stale, only files of its own repository and scope, and only when it
//! knows that they are gone; a run that dies on its way leaves files that are as they are on disk, and nothing else.
//! Nothing is claimed or written before there is something to write: an unchanged tree costs one row.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rootset_api::ErrorCode;
use rootset_store::{FileState, Lease, RepoRow, StoreError, Work, Workspace};

use super::look::Look;
use super::read::content_hash;
use super::report::Report;
use super::scope::IndexScope;
use super::tree::Tree;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::service::Service;

/// How long a second scan of one repository waits for the first.
const SCAN_WAIT: Duration = Duration::from_secs(60);
const SCAN_RETRY: Duration = Duration::from_millis(50);
/// A dead scan's lease; a living one renews it with every batch.
pub const SCAN_LEASE_MS: i64 = 3_000;
/// Looks at one tree in a row that others overtook.
const ATTEMPTS_MAX: usize = 20;

#[derive(Clone, Debug)]
pub struct IndexRun {
    /// Absolute, without links.
    pub root: PathBuf,
    pub repo: String,
    pub scope: IndexScope,
    pub accept_missing: bool,
    /// Whether a run that finds nothing new is written down.
    pub notes_nothing_new: bool,
}

/// What the index holds of a repository.
#[derive(Debug, PartialEq)]
pub struct Known {
    pub repo: RepoRow,
    pub states: Vec<FileState>,
}

/// Why a look at a tree leads to nothing.
#[derive(Debug)]
pub enum Interrupted {
    /// Another scan wrote since: what this one knows is old.
    Overtaken,
    /// A batch took so long that another scan began to write.
    LeaseLost,
    Failed(ServiceError),
}

impl From<StoreError> for Interrupted {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::ScanOvertaken { .. } => Self::Overtaken,
            StoreError::LeaseLost => Self::LeaseLost,
            error => Self::Failed(error.into()),
        }
    }
}

impl From<ServiceError> for Interrupted {
    fn from(error: ServiceError) -> Self {
        Self::Failed(error)
    }
}

/// One run in the making: who asked, for what, and the lease once there is something to write.
pub struct Scan<'a> {
    pub service: &'a Service,
    pub workspace: &'a Workspace,
    pub run: &'a IndexRun,
    pub caller: &'a Caller,
    lease: Option<Lease>,
}

impl Service {
    pub(crate) fn index(&self, workspace: &Workspace, run: &IndexRun, caller: &Caller) -> Result<Report, ServiceError> {
        let mut scan = Scan { service: self, workspace, run, caller, lease: None };
        for _ in 0..ATTEMPTS_MAX {
            match scan.attempt() {
                Ok(report) => return Ok(report),
                Err(Interrupted::Overtaken) => {}
                Err(Interrupted::LeaseLost) => scan.lease = None,
                Err(Interrupted::Failed(error)) => {
                    scan.give_up();
                    return Err(error);
                }
            }
        }
        scan.give_up();
        Err(ServiceError::new(ErrorCode::Busy, format!("other scans of `{}` keep finishing first", run.repo))
            .with_hint("run one scan at a time"))
    }
}

impl Scan<'_> {
    fn attempt(&mut self) -> Result<Report, Interrupted> {
        let began_at = file_system_now();
        let known = self.known()?;
        let own = self.service.own_places(self.caller);
        let tree = Tree::walk(&self.run.root, &self.service.settings.code.exclude, own)?;
        let mut look = Look::new(self.run, &known, tree);
        look.read_and_write(self)?;
        look.complete(self, began_at)
    }

    fn known(&self) -> Result<Known, ServiceError> {
        let (repo, states) = self
            .service
            .store
            .file_states(self.workspace, &self.run.repo)?
            .ok_or_else(|| ServiceError::new(ErrorCode::NotFound, format!("no repository `{}`", self.run.repo)))?;
        Ok(Known { repo, states })
    }

    /// The lease that writing needs. What was known before it was taken must still be true.
    pub fn hold(&mut self, known: &Known) -> Result<Lease, Interrupted> {
        if let Some(lease) = self.lease {
            return Ok(lease);
        }
        let lease = self.wait_for_lease()?;
        self.lease = Some(lease);
        if self.known()? == *known { Ok(lease) } else { Err(Interrupted::Overtaken) }
    }

    pub fn held(&self) -> Option<&Lease> {
        self.lease.as_ref()
    }

    fn wait_for_lease(&self) -> Result<Lease, ServiceError> {
        let repo = &self.run.repo;
        let work = Work { workspace: self.workspace.key, kind: "index", subject: content_hash(repo.as_bytes()) };
        let deadline = Instant::now() + SCAN_WAIT;
        loop {
            if let Some(lease) = self.service.store.acquire_lease(work, self.service.now(), SCAN_LEASE_MS)? {
                return Ok(lease);
            }
            if Instant::now() >= deadline {
                return Err(ServiceError::new(ErrorCode::Busy, format!("another scan of `{repo}` is running"))
                    .with_hint("try again when it is finished"));
            }
            std::thread::sleep(SCAN_RETRY);
        }
    }

    fn give_up(&mut self) {
        if let Some(lease) = self.lease.take() {
            // What failed is said already; should this fail, too, the lease runs out by itself.
            let _ = self.service.store.release_lease(&lease);
        }
    }
}

/// Nanoseconds of the clock that files are stamped with, which is not the service's.
fn file_system_now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_nanos()).unwrap_or(i64::MAX)
}
