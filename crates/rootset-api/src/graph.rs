//! Entities and relations: looking at them, importing and exporting them.

use rootset_model::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// What is said of each, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! graph_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        GetEntity => EntityWithRelations {
            name: "get_entity",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [],
            example: {"entity_id": "PostgreSQL"},
        }
        GetRelated => RelatedAnswer {
            name: "get_related",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [],
            example: {"entity_id": "PostgreSQL", "depth": 2},
        }
        ImportGraph => ImportedGraph {
            name: "import_graph",
            effect: Write,
            is: [in_workspace],
            profiles: [],
            example: {
                "entities": [{"name": "API", "type": "service"}, {"name": "PostgreSQL"}],
                "relations": [{"source": "API", "relation": "uses", "target": "PostgreSQL"}]
            },
        }
        ExportGraph => ExportedGraph {
            name: "export_graph",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [],
            example: {"format": "graphml"},
        }
    } };
}

/// Read one entity with its relations, by id or name.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetEntity {
    /// Workspace it is in; absent: the current one.
    pub workspace_id: Option<String>,
    /// Id or name.
    pub entity_id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EntityWithRelations {
    #[serde(flatten)]
    pub entity: EntityAnswer,
    /// At most a hundred.
    pub relations: Vec<RelationAnswer>,
}

/// Find what an entity is related to, some steps away.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetRelated {
    /// Workspace it is in; absent: the current one.
    pub workspace_id: Option<String>,
    /// Id or name.
    pub entity_id: String,
    /// How many relations away (2, 1 to 5).
    pub depth: Option<i64>,
    /// How many entities (20, at most 100).
    pub limit: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RelatedAnswer {
    /// Nearest first, without the entity itself.
    pub entities: Vec<EntityAnswer>,
    pub relations: Vec<RelationAnswer>,
}

/// Bring a graph from elsewhere. Its rows are untracked: no strategy ever removes them; the import can be undone.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ImportGraph {
    /// Workspace to import into; absent: the current one.
    pub workspace_id: Option<String>,
    pub entities: Vec<EntityInput>,
    pub relations: Vec<RelationInput>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EntityInput {
    pub name: String,
    /// One word; absent: `term`.
    #[serde(rename = "type")]
    pub entity_type: Option<String>,
    pub description: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RelationInput {
    /// Name of the entity it starts at.
    pub source: String,
    /// Needed when several entities share the name.
    pub source_type: Option<String>,
    pub relation: String,
    /// Name of the entity it ends at.
    pub target: String,
    /// Needed when several entities share the name.
    pub target_type: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ImportedGraph {
    /// Handle for `gc_undo`.
    pub run_id: RunId,
    pub entities: usize,
    pub relations: usize,
}

/// Export the whole visible graph of a workspace.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ExportGraph {
    /// Workspace to export; absent: the current one.
    pub workspace_id: Option<String>,
    /// `json` (default) or `graphml`.
    pub format: Option<GraphFormat>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GraphFormat {
    #[default]
    Json,
    Graphml,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExportedGraph {
    pub format: GraphFormat,
    pub entities: Option<Vec<EntityAnswer>>,
    pub relations: Option<Vec<RelationAnswer>>,
    /// The document, with `format: graphml`.
    pub graphml: Option<String>,
}

/// An entity as answered.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EntityAnswer {
    pub entity_id: String,
    pub name: String,
    #[serde(rename = "type")]
    pub entity_type: String,
    /// Built from the contributions of current memories.
    pub description: String,
    /// `derived` or `untracked`.
    pub origin: String,
    /// Living memories that contribute.
    pub refcount: i64,
    /// Newest update first; empty for untracked ones that no memory mentions.
    pub memory_ids: Vec<rootset_model::MemoryId>,
}

/// A relation as answered, with the names of its ends.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RelationAnswer {
    pub relation_id: String,
    pub source: String,
    pub source_id: String,
    pub relation: String,
    pub target: String,
    pub target_id: String,
    /// `derived` or `untracked`.
    pub origin: String,
}
