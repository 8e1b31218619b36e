//! Entities and relations: looking at them, importing and exporting them.

use rootset_model::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// One row per operation, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! graph_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        GetEntity => EntityWithRelations {
            name: "get_entity",
            effect: Read,
            is: [idempotent, in_workspace],
            brief: BriefEntityWithRelations,
            profiles: [],
            example: {"entity_id": "PostgreSQL"},
        }
        GetRelated => RelatedAnswer {
            name: "get_related",
            effect: Read,
            is: [idempotent, in_workspace],
            brief: BriefRelated,
            profiles: [],
            example: {"entity_id": "PostgreSQL", "depth": 2},
        }
        ImportGraph => ImportedGraph {
            name: "import_graph",
            effect: Write,
            is: [in_workspace, bulky],
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
    /// The workspace it is in; default: the current one.
    pub workspace_id: Option<String>,
    /// The id or name of the entity.
    pub entity_id: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EntityWithRelations {
    #[serde(flatten)]
    pub entity: EntityAnswer,
    /// The relations of the entity, at most 100.
    pub relations: Vec<RelationAnswer>,
}

/// Find the entities within a few relations of an entity.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetRelated {
    /// The workspace it is in; default: the current one.
    pub workspace_id: Option<String>,
    /// The id or name of the entity.
    pub entity_id: String,
    /// The number of relations to follow (2, from 1 to 5).
    pub depth: Option<i64>,
    /// The number of entities (20, at most 100).
    pub limit: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RelatedAnswer {
    /// The related entities, nearest first, without the entity itself.
    pub entities: Vec<EntityAnswer>,
    pub relations: Vec<RelationAnswer>,
}

/// Import a graph, such as `export_graph` answers. Its rows are untracked: no strategy ever removes them. The import can be
/// undone.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ImportGraph {
    /// The workspace to import into; default: the current one.
    pub workspace_id: Option<String>,
    /// The entities to import.
    pub entities: Vec<EntityInput>,
    /// The relations to import.
    pub relations: Vec<RelationInput>,
    /// The format of an export, if this is one: `json`.
    pub format: Option<GraphFormat>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct EntityInput {
    /// The id in an export, by which its relations name the entity.
    pub entity_id: Option<String>,
    /// The name of the entity.
    pub name: String,
    /// The type of the entity, one word; default: `term`.
    #[serde(rename = "type")]
    pub entity_type: Option<String>,
    /// What is known about it.
    pub description: Option<String>,
    /// From an export; not used, because imported rows are untracked.
    pub origin: Option<String>,
    /// From an export; not used.
    pub refcount: Option<i64>,
    /// From an export; not used.
    pub memory_ids: Option<Vec<String>>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RelationInput {
    /// The name of the entity the relation starts at.
    pub source: String,
    /// The type of that entity; required if several share the name and there is no id.
    pub source_type: Option<String>,
    /// The `entity_id` of that entity, as an export has it.
    pub source_id: Option<String>,
    /// The kind of relation, such as `depends_on`.
    pub relation: String,
    /// The name of the entity the relation ends at.
    pub target: String,
    /// The type of that entity; required if several share the name and there is no id.
    pub target_type: Option<String>,
    /// The `entity_id` of that entity, as an export has it.
    pub target_id: Option<String>,
    /// From an export; not used.
    pub relation_id: Option<String>,
    /// From an export; not used, because imported rows are untracked.
    pub origin: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ImportedGraph {
    /// The id to give to `gc_undo`.
    pub run_id: RunId,
    pub entities: usize,
    pub relations: usize,
}

/// Export the whole visible graph of a workspace.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ExportGraph {
    /// The workspace to export; default: the current one.
    pub workspace_id: Option<String>,
    /// The format: `json` (default) or `graphml`.
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
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EntityAnswer {
    pub entity_id: String,
    pub name: String,
    #[serde(rename = "type")]
    pub entity_type: String,
    /// The description, built from what current memories say.
    pub description: String,
    /// The origin: `derived` or `untracked`.
    pub origin: String,
    /// The number of living memories that contribute.
    pub refcount: i64,
    /// The memories that contribute, newest update first; empty if no memory mentions an untracked entity.
    pub memory_ids: Vec<rootset_model::MemoryId>,
    /// True if only `untrusted` memories speak of it. Their words are never in a description.
    pub quarantined: Option<bool>,
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
    /// The origin: `derived` or `untracked`.
    pub origin: String,
}
