//! The nouns of Rootset: ids, times, names, contents, extractions, counts, plans, limits.
//!
//! Not here: storage, clocks, randomness, protocols. Everything in this crate is a value or a pure function of values;
//! two processes that disagree about anything defined here would corrupt each other's data.

pub mod code;
pub mod content;
pub mod counts;
pub mod cut;
pub mod extraction;
pub mod identity;
pub mod ids;
pub mod json;
pub mod limits;
pub mod moment;
pub mod names;
pub mod plan;
pub mod provenance;
pub mod retention;
pub mod slug;
pub mod time;

pub use content::Content;
pub use counts::Counts;
pub use cut::Cut;
pub use extraction::{ExtractedEntity, ExtractedRelation, Extraction};
pub use ids::{
    ChunkKey, DrainId, EntityId, ErasureId, MemoryId, PlanId, RelationId, RunId, SegmentKey, SessionKey, TokenId,
    WorkspaceKey, prefix_range,
};
pub use limits::Limits;
pub use moment::{Ahead, Past};
pub use provenance::{Channel, Origin, PinnedBy, Trust};
pub use retention::{Basis, RetentionPolicy};
pub use time::{Day, DurationMs, Timestamp};
