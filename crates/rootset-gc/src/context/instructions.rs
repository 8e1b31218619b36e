//! What the user said, as far as it must stay whatever a window is full of.
//!
//! A task is finished when the assistant's last word before the user's next one is an answer and not a call of a tool. What the user
//! says while the assistant still works (a correction, an addition) belongs to the task and stays with it.

use super::segment::{Author, Facts, SegmentIndex, SegmentType};

#[derive(Clone, Debug, Default)]
pub(super) struct Instructions {
    first: Option<SegmentIndex>,
    current: Vec<SegmentIndex>,
    is_answered: bool,
}

impl Instructions {
    /// A segment was added.
    pub fn note(&mut self, segment: SegmentIndex, facts: &Facts, is_half_of_pair: bool) {
        match facts.author {
            // A summary has its own place, and was not said by the user.
            Author::User if facts.segment_type != SegmentType::Summary => {
                if std::mem::take(&mut self.is_answered) {
                    self.current.clear();
                }
                self.first.get_or_insert(segment);
                self.current.push(segment);
            }
            Author::Assistant => self.is_answered = !is_half_of_pair,
            _ => {}
        }
    }

    /// What the session began with.
    pub fn first(&self) -> Option<SegmentIndex> {
        self.first
    }

    /// Everything that the user said since the last task was finished, in order; the latest at the end.
    pub fn current(&self) -> &[SegmentIndex] {
        &self.current
    }
}
