//! What the user asked for in the list as it is now. A window remembers what it was told last, and that may have been in a branch
//! of the conversation that is no part of the list any more: an earlier instruction, which may have left, is the current one again.

use std::collections::HashSet;

use rootset_gc::context::{SegmentIndex, SegmentState};

use super::adding::unit_of_key;
use super::{Entry, Fitting, Known, Number, Standing, segments_of};
use crate::context::Edit;

const ASKED_AGAIN: &str = "it is the current instruction again";

impl Fitting<'_> {
    /// Messages of the list that must stay for it, with the calls and results that they stand beside.
    pub(super) fn asked(&self, edit: &Edit<'_>, standing: &Standing) -> HashSet<Number> {
        let parts: Vec<(Number, SegmentIndex)> = standing
            .entries
            .iter()
            .filter_map(|entry| if let Entry::Message(number) = entry { Some(*number) } else { None })
            .flat_map(|number| {
                let Known(hash, _) = standing.history.messages[number as usize];
                segments_of(edit.live, number, hash).into_iter().map(move |segment| (number, segment))
            })
            .collect();
        let unit = |segment: SegmentIndex| edit.live.row(segment).tool_call_id.as_deref().and_then(unit_of_key);
        let told = parts.iter().map(|(_, segment)| (*segment, unit(*segment).is_some()));
        let asked: HashSet<SegmentIndex> = edit.live.window().open_instructions(told).into_iter().collect();
        let units: HashSet<Number> = asked.iter().filter_map(|segment| unit(*segment)).collect();
        let stays =
            |segment: SegmentIndex| asked.contains(&segment) || unit(segment).is_some_and(|it| units.contains(&it));
        parts.iter().filter(|(_, segment)| stays(*segment)).map(|(number, _)| *number).collect()
    }

    pub(super) fn bring_back_asked(&self, edit: &mut Edit<'_>, standing: &mut Standing) {
        for number in self.asked(edit, standing) {
            if !std::mem::take(&mut standing.is_out[number as usize]) {
                continue;
            }
            let Known(hash, _) = standing.history.messages[number as usize];
            for segment in segments_of(edit.live, number, hash) {
                if edit.live.window().graph().state(segment) == SegmentState::Stashed {
                    edit.restore(segment, ASKED_AGAIN);
                }
            }
        }
    }
}
