//! What an operator may set, with the defaults of the documentation. Read from files and the environment by the binary.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rootset_gc::Strategy;
use rootset_gc::drains::DrainMode;
use rootset_model::{Limits, RetentionPolicy};
use rootset_store::Workspace;
use serde::Deserialize;

use crate::context::ContextSettings;
use crate::secrets::SecretSettings;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

#[derive(Clone, Debug)]
pub struct Settings {
    pub limits: Limits,
    /// How long trash can be undone.
    pub grace_ms: i64,
    /// Earlier revisions kept per memory.
    pub keep_revisions: i64,
    /// Sources whose memories nobody answers for, whoever writes them.
    pub untrusted_sources: BTreeSet<String>,
    /// How long an add or update waits for remote models before it answers `pending`.
    pub add_wait_ms: u64,
    /// What becomes of values that look like secrets.
    pub secrets: SecretSettings,
    pub gc: GcSettings,
    pub backup: BackupSettings,
    pub code: CodeSettings,
    /// What sessions begin with.
    pub context: ContextSettings,
    /// What becomes of results of tools before an agent's model sees them.
    pub birth: Birth,
    /// Who uses this machine, where the database is a file on it: a token with this owner acts for the same person as the
    /// command line.
    pub local_user: Option<String>,
    /// Files of this installation that hold secrets, beside those of the database: they are never indexed.
    pub private_files: Vec<PathBuf>,
}

/// Whether a result may be replaced before it is seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Birth {
    #[default]
    Off,
    /// What stands in the window already, word for word, becomes a pointer to it.
    Safe,
}

/// The scheduler and its housekeeping.
#[derive(Clone, Debug)]
pub struct GcSettings {
    /// Master switch of the scheduler.
    pub enabled: bool,
    pub interval_ms: i64,
    /// In force where the database holds no policy.
    pub retention: RetentionPolicy,
    /// Off: detect, report, delete nothing.
    pub auto_delete: bool,
    /// Share of chunks purged since the last defragmentation above which one is recommended; 0: never.
    pub defrag_threshold: f64,
    pub auto_defrag: bool,
    /// Purge trash after its grace period; independent of `enabled`.
    pub purge_trash: bool,
    /// A run stops at the edge of a batch after so long, and can be resumed; `None`: never.
    pub time_limit_ms: Option<i64>,
    /// What becomes of a source with more garbage than one plan may take.
    pub drain: DrainMode,
    /// What a round looks for.
    pub strategies: Vec<&'static Strategy>,
    /// Overrides by class.
    pub classes: BTreeMap<String, GcOverrides>,
    /// Overrides by workspace, which come before those of its class.
    pub workspaces: BTreeMap<String, GcOverrides>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct GcOverrides {
    pub retention: Option<RetentionPolicy>,
    pub auto_delete: Option<bool>,
    pub drain: Option<DrainMode>,
    /// For new workspaces without a quota of their own.
    pub quota_memories: Option<i64>,
    pub quota_bytes: Option<i64>,
}

#[derive(Clone, Debug)]
pub struct BackupSettings {
    /// `None`: `<database>.backups` beside the database; none for a database on a server, which is beside nothing.
    pub folder: Option<PathBuf>,
    /// `None`: none are taken by themselves.
    pub interval_ms: Option<i64>,
    pub keep_last: i64,
    pub max_age_ms: i64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            grace_ms: 7 * DAY_MS,
            keep_revisions: 20,
            untrusted_sources: BTreeSet::new(),
            add_wait_ms: rootset_model::limits::ADD_WAIT_MS,
            secrets: SecretSettings::default(),
            gc: GcSettings::default(),
            backup: BackupSettings::default(),
            code: CodeSettings::default(),
            context: ContextSettings::default(),
            birth: Birth::default(),
            local_user: None,
            private_files: Vec::new(),
        }
    }
}

impl Default for GcSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            interval_ms: DAY_MS,
            retention: RetentionPolicy::default(),
            auto_delete: false,
            defrag_threshold: 0.10,
            auto_defrag: false,
            purge_trash: true,
            time_limit_ms: None,
            drain: DrainMode::default(),
            strategies: rootset_gc::strategies::by_schedule(),
            classes: BTreeMap::new(),
            workspaces: BTreeMap::new(),
        }
    }
}

impl Default for BackupSettings {
    fn default() -> Self {
        Self { folder: None, interval_ms: Some(DAY_MS), keep_last: 3, max_age_ms: 7 * DAY_MS }
    }
}

impl GcSettings {
    /// What the configuration says about one workspace.
    pub fn retention_of(&self, workspace: &Workspace) -> RetentionPolicy {
        self.nearest(workspace, |it| it.retention).unwrap_or(self.retention)
    }

    pub fn auto_delete_of(&self, workspace: &Workspace) -> bool {
        self.nearest(workspace, |it| it.auto_delete).unwrap_or(self.auto_delete)
    }

    pub fn drain_of(&self, workspace: &Workspace) -> DrainMode {
        self.nearest(workspace, |it| it.drain).unwrap_or(self.drain)
    }

    fn nearest<T>(&self, workspace: &Workspace, of: impl Fn(&GcOverrides) -> Option<T>) -> Option<T> {
        let of_class = || self.classes.get(&workspace.class).and_then(&of);
        self.workspaces.get(&workspace.id).and_then(&of).or_else(of_class)
    }

    /// Changes whenever rounds would decide differently.
    pub(crate) fn digest(&self) -> String {
        let said = format!(
            "{:?} {:?} {:?} {:?} {:?} {:?}",
            self.retention, self.auto_delete, self.drain, self.strategies, self.classes, self.workspaces
        );
        blake3::hash(said.as_bytes()).to_hex()[..16].to_owned()
    }
}

/// What somebody who asks does not notice, and a tree of thousands of unchanged files does not need.
const FRESHEN_MS: u64 = 300;

/// Longer than most branches are away: what comes back within this time is not parsed again, and keeps its uses.
const STALE_KEPT_MS: i64 = 30 * DAY_MS;

/// The code index.
#[derive(Clone, Debug)]
pub struct CodeSettings {
    /// Servers index only what is below these; `None`: over the network nothing, otherwise the working directory, unless
    /// that is `/` or the home folder.
    pub roots: Option<Vec<PathBuf>>,
    /// The same for some workspaces, in place of `roots`.
    pub workspace_roots: BTreeMap<String, Vec<PathBuf>>,
    /// Patterns of paths that are left out, as in an ignore file.
    pub exclude: Vec<String>,
    /// Larger files are left out, in bytes.
    pub max_file_size: u64,
    /// How long a question about code waits until its repositories are up to date; 0: nothing is looked at.
    pub freshen_ms: u64,
    /// For how long the scheduler keeps files that left their repository. Who prunes by hand takes them at once.
    pub stale_kept_ms: i64,
}

impl Default for CodeSettings {
    fn default() -> Self {
        Self {
            roots: None,
            workspace_roots: BTreeMap::new(),
            exclude: Vec::new(),
            max_file_size: rootset_model::limits::CODE_FILE_BYTES_MAX,
            freshen_ms: FRESHEN_MS,
            stale_kept_ms: STALE_KEPT_MS,
        }
    }
}
