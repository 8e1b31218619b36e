//! Every operation, listed once. Front ends are generated from this list and nobody else keeps another.

mod add;
mod apply;
mod audit;
mod backup;
mod calls;
mod code;
mod context;
mod defrag;
mod delete;
mod doctor;
mod entities;
mod explain;
mod forget;
mod get;
mod graph;
mod index;
mod list;
mod plan;
mod prune;
mod purge;
mod retention;
mod search;
mod stats;
mod status;
mod supersede;
mod trash;
mod undo;
mod update;
mod workspaces;

pub use add::{AddMemories, AddMemory};
pub use apply::GcApply;
pub use audit::ListAudit;
pub use backup::{BackupCreate, BackupList, BackupRestore, BackupVerify};
pub use calls::{GetCallees, GetCallers};
pub use code::{GetSymbol, SearchCode};
pub use context::{
    ContextAdd, ContextCompress, ContextDeleteSession, ContextExplain, ContextExport, ContextGcAnalyze,
    ContextGcConfigure, ContextGcPin, ContextGcPrune, ContextGcUnpin, ContextGet, ContextImport, ContextListSessions,
    ContextRestore, ContextSearchStash, ContextSetFocus,
};
pub use defrag::Defrag;
pub use delete::DeleteMemory;
pub use doctor::Doctor;
pub use entities::{GetEntity, GetRelated};
pub use explain::GcExplain;
pub use forget::Forget;
pub use get::GetMemory;
pub use graph::{ExportGraph, ImportGraph};
pub use index::{IndexCodebase, ListRepos};
pub use list::ListMemories;
pub use plan::GetPlan;
pub use prune::{GcPlan, PruneMemory};
pub use purge::GcPurge;
pub use retention::{GetRetention, SetRetention};
pub use search::SearchMemory;
pub use stats::GetStats;
pub use status::GcStatus;
pub use supersede::SupersedeMemory;
pub use trash::ListTrash;
pub use undo::GcUndo;
pub use update::UpdateMemory;
pub use workspaces::{CreateWorkspace, DeleteWorkspace, ListWorkspaces};

use crate::operation::OperationInfo;

macro_rules! list_of_operations {
    ($($operation:ident,)*) => {
        const CATALOGUE: &[OperationInfo] = &[$(OperationInfo::of::<$operation>()),*];
    };
}

list_of_operations! {
    AddMemory,
    AddMemories,
    GetMemory,
    ListMemories,
    UpdateMemory,
    DeleteMemory,
    SearchMemory,
    SupersedeMemory,
    Forget,
    GetEntity,
    GetRelated,
    ImportGraph,
    ExportGraph,
    PruneMemory,
    GcPlan,
    GetPlan,
    GcApply,
    GcUndo,
    GcPurge,
    GcExplain,
    GcStatus,
    ListTrash,
    ListAudit,
    SetRetention,
    GetRetention,
    BackupCreate,
    BackupList,
    BackupVerify,
    BackupRestore,
    Defrag,
    IndexCodebase,
    SearchCode,
    GetSymbol,
    GetCallers,
    GetCallees,
    ListRepos,
    ContextAdd,
    ContextSetFocus,
    ContextGet,
    ContextImport,
    ContextExport,
    ContextListSessions,
    ContextDeleteSession,
    ContextGcAnalyze,
    ContextGcPrune,
    ContextGcPin,
    ContextGcUnpin,
    ContextGcConfigure,
    ContextSearchStash,
    ContextRestore,
    ContextCompress,
    ContextExplain,
    GetStats,
    Doctor,
    CreateWorkspace,
    ListWorkspaces,
    DeleteWorkspace,
}

/// All operations, in a fixed order.
pub fn catalogue() -> &'static [OperationInfo] {
    CATALOGUE
}
