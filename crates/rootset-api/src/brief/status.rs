//! The state of a workspace for a model: what needs a decision, without sizes and numbers of derived rows.

use std::collections::BTreeMap;

use rootset_model::{Counts, Day};
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::collector::roots;
use super::{BriefRun, some};
use crate::admin::{StatsAnswer, TagCount};
use crate::upkeep::{StatusAnswer, VectorsAnswer, WaitingSourceAnswer};

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefStatus {
    /// By kind, without what there is none of.
    #[schemars(with = "BTreeMap<String, i64>")]
    pub live: Counts,
    /// By kind, likewise.
    #[schemars(with = "BTreeMap<String, i64>")]
    pub trash: Counts,
    /// The number of memories that were garbage in the last look.
    pub garbage: Option<i64>,
    /// The sources whose garbage is not simply taken.
    pub sources: Option<Vec<WaitingSourceAnswer>>,
    /// Why nothing is purged or deleted automatically at the moment.
    pub waiting: Option<String>,
    pub last_runs: Option<Vec<BriefRun>>,
    /// The last day on which the first of the runs that end soon can be undone.
    pub undo_ends: Option<Day>,
    /// How far the vectors are, while some are missing.
    pub vectors: Option<VectorsAnswer>,
}

impl From<StatusAnswer> for BriefStatus {
    fn from(full: StatusAnswer) -> Self {
        let ends = full.undo_ends_soon.into_iter().flatten().filter_map(|run| run.undo_until).min();
        Self {
            live: roots(&full.live.counts),
            trash: roots(&full.trash.counts),
            garbage: Some(full.rounds.garbage).filter(|garbage| *garbage > 0),
            sources: full.rounds.sources.and_then(some),
            waiting: full.waiting,
            last_runs: some(full.last_runs.into_iter().map(BriefRun::from).collect()),
            undo_ends: ends.map(Day),
            vectors: full.vectors.filter(|it| it.embedded < it.chunks || it.last_error.is_some()),
        }
    }
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefStats {
    /// The number of living memories.
    pub memories: i64,
    pub trashed: Option<i64>,
    pub pending: Option<i64>,
    /// With `by: "tags"`: the tags of living memories, the most frequent first.
    pub by_tag: Option<Vec<TagCount>>,
}

impl From<StatsAnswer> for BriefStats {
    fn from(full: StatsAnswer) -> Self {
        let counts = full.counts;
        Self {
            memories: counts.live,
            trashed: Some(counts.trashed).filter(|trashed| *trashed > 0),
            pending: Some(counts.pending).filter(|pending| *pending > 0),
            by_tag: full.by_tag,
        }
    }
}
