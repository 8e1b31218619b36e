//! Why a segment is in a plan, in words.

use std::fmt;

use rootset_model::plan;

use crate::context::analysis::Candidate;
use crate::context::segment::{Now, SegmentIndex, SegmentType};
use crate::context::window::Window;

/// Shown as "unreachable from any root, log, idle 40 steps, no references".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeavingReason {
    pub is_reachable: bool,
    pub segment_type: SegmentType,
    pub idle_steps: u64,
    /// From active segments other than its pair.
    pub references: u32,
    pub is_superseded: bool,
    /// Identifiers and paths that no other active segment holds.
    pub sole_keys: u32,
    pub stashed_days: Option<i64>,
}

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

impl LeavingReason {
    pub(super) fn of_candidate(window: &Window, candidate: &Candidate, now: Now) -> Self {
        let (is_reachable, is_superseded) = (candidate.is_reachable, candidate.is_superseded);
        Self { is_reachable, is_superseded, ..Self::of(window, candidate.segment, now) }
    }

    pub(super) fn of_stashed(window: &Window, segment: SegmentIndex, now: Now) -> Self {
        let since = window.facts(segment).stashed_at;
        let stashed_days = since.map(|since| now.at.0.saturating_sub(since.0) / DAY_MS);
        Self { stashed_days, ..Self::of(window, segment, now) }
    }

    fn of(window: &Window, segment: SegmentIndex, now: Now) -> Self {
        let facts = window.facts(segment);
        Self {
            is_reachable: false,
            segment_type: facts.segment_type,
            idle_steps: now.step.saturating_sub(facts.last_touched_step),
            references: window.graph().refcount_from_others(segment),
            is_superseded: false,
            sole_keys: window.holders().sole_count(segment),
            stashed_days: None,
        }
    }
}

impl LeavingReason {
    /// What a stored plan keeps of it.
    pub fn in_plan(&self) -> plan::Reason {
        if self.is_reachable { plan::Reason::COLD } else { plan::Reason::UNREACHABLE }
    }
}

impl fmt::Display for LeavingReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.is_reachable { "reachable but cold" } else { "unreachable from any root" })?;
        write!(out, ", {}", self.segment_type.as_str())?;
        write!(out, ", idle {}", counted(self.idle_steps, "step"))?;
        match self.references {
            0 => out.write_str(", no references")?,
            references => write!(out, ", {}", counted(references.into(), "reference"))?,
        }
        if self.is_superseded {
            out.write_str(", a newer view covers it")?;
        }
        if self.sole_keys > 0 {
            write!(out, ", only holder of {}", counted(self.sole_keys.into(), "name"))?;
        }
        if let Some(days) = self.stashed_days {
            write!(out, ", stashed for {}", counted(days.unsigned_abs(), "day"))?;
        }
        Ok(())
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
