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
mod tokens;
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
pub use tokens::{CreateToken, ListTokens, RevokeToken};
pub use trash::ListTrash;
pub use undo::GcUndo;
pub use update::UpdateMemory;
pub use workspaces::{CreateWorkspace, DeleteWorkspace, ListWorkspaces};

use crate::operation::{LazySchemas, OperationInfo};
use crate::profile::Profile;

macro_rules! list_of_operations {
    ($($operation:ident: [$($profile:ident),*],)*) => {
        static CATALOGUE: &[OperationInfo] = &[$({
            static SCHEMAS: LazySchemas = LazySchemas::of::<$operation>();
            OperationInfo::of::<$operation>(&SCHEMAS, &[$(Profile::$profile),*])
        }),*];
    };
}

// Each with the profiles that show it to an MCP client; `full` shows all of them. `create_token` is in no other: its answer is a
// secret, which should not end up in a conversation by chance.
list_of_operations! {
    AddMemory: [Core],
    AddMemories: [],
    GetMemory: [Core],
    ListMemories: [Admin],
    UpdateMemory: [Core],
    DeleteMemory: [Core],
    SearchMemory: [Core],
    SupersedeMemory: [],
    Forget: [Core],
    GetEntity: [],
    GetRelated: [],
    ImportGraph: [],
    ExportGraph: [],
    PruneMemory: [Core, Code, Admin],
    GcPlan: [Admin],
    GetPlan: [Admin],
    GcApply: [Core, Code, Admin],
    GcUndo: [Core, Code, Admin],
    GcPurge: [Admin],
    GcExplain: [Admin],
    GcStatus: [Admin],
    ListTrash: [Admin],
    ListAudit: [Admin],
    SetRetention: [Admin],
    GetRetention: [Admin],
    BackupCreate: [Admin],
    BackupList: [Admin],
    BackupVerify: [Admin],
    BackupRestore: [Admin],
    Defrag: [Admin],
    IndexCodebase: [Core, Code],
    SearchCode: [Core, Code],
    GetSymbol: [Code],
    GetCallers: [Code],
    GetCallees: [Code],
    ListRepos: [Code],
    ContextAdd: [Context],
    ContextSetFocus: [Context],
    ContextGet: [Context],
    ContextImport: [Context],
    ContextExport: [Context],
    ContextListSessions: [Context],
    ContextDeleteSession: [Context],
    ContextGcAnalyze: [Context],
    ContextGcPrune: [Context],
    ContextGcPin: [Context],
    ContextGcUnpin: [Context],
    ContextGcConfigure: [Context],
    ContextSearchStash: [Context],
    ContextRestore: [Context],
    ContextCompress: [Context],
    ContextExplain: [Context],
    GetStats: [Admin],
    Doctor: [Admin],
    CreateWorkspace: [Admin],
    ListWorkspaces: [Admin],
    DeleteWorkspace: [Admin],
    CreateToken: [],
    ListTokens: [Admin],
    RevokeToken: [Admin],
}

/// All operations, in a fixed order.
pub fn catalogue() -> &'static [OperationInfo] {
    CATALOGUE
}
