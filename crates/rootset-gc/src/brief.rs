//! What a brief tells a model at the start: what the person pinned or said about how to work here, the latest decisions, and
//! what changed since the person's last session; nothing else, and within a budget.
//!
//! A decision on values: what may be pushed at all is asked before ([`may_be_pushed`](crate::may_be_pushed)), and how a line
//! reads is somebody else's business.

use rootset_model::Timestamp;

/// A token as every hook counts it.
pub const BYTES_PER_TOKEN: usize = 4;
pub const BRIEF_TOKENS_MAX: usize = 300;
/// Lines of one kind: more would be a list.
const STANDING_MAX: usize = 6;
const DECISIONS_MAX: usize = 5;
const CHANGES_MAX: usize = 5;
/// What the kinds may take before the others had their turn, in percent of the room.
const STANDING_SHARE: usize = 50;
const DECISIONS_SHARE: usize = 85;
/// Tags by which somebody says that a note is about how to work.
const WORKING_TAGS: [&str; 9] =
    ["convention", "feedback", "guideline", "instruction", "preference", "preferences", "rule", "style", "workflow"];
/// How sentences begin that say how to work.
const WORKING_WORDS: [&str; 13] = [
    "always", "avoid", "do not", "don't", "ensure", "i like", "i prefer", "i want", "keep", "must", "never", "please",
    "prefer",
];
const DECISION_TAGS: [&str; 2] = ["decision", "decisions"];

/// What the choice needs to know of a memory that may be pushed.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    pub is_pinned_by_person: bool,
    pub is_by_person: bool,
    /// In personal memory, where everything is about the person.
    pub is_personal: bool,
    pub tags: &'a [String],
    pub text: &'a str,
    pub has_decisions: bool,
    /// When its text was written, and when anything of it last changed.
    pub said_at: Timestamp,
    pub changed_at: Timestamp,
    /// Of the line that it would be.
    pub bytes: usize,
}

/// Why a memory is in a brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    Standing,
    Decision,
    Change,
}

impl Candidate<'_> {
    fn has_tag(&self, among: &[&str]) -> bool {
        self.tags.iter().any(|tag| among.iter().any(|it| tag.eq_ignore_ascii_case(it)))
    }

    /// Pinned by the person, or said by them about how to work.
    fn is_standing(&self) -> bool {
        self.is_pinned_by_person || (self.is_by_person && (self.is_personal || self.is_about_working()))
    }

    fn is_about_working(&self) -> bool {
        let text = self.text.trim_start().to_lowercase();
        self.has_tag(&WORKING_TAGS) || WORKING_WORDS.iter().any(|word| begins_with_word(&text, word))
    }

    fn is_decision(&self) -> bool {
        self.has_decisions || self.has_tag(&DECISION_TAGS)
    }

    fn reason(&self, last_session: Option<Timestamp>) -> Option<Reason> {
        if self.is_standing() {
            return Some(Reason::Standing);
        }
        if self.is_decision() {
            return Some(Reason::Decision);
        }
        last_session.is_some_and(|at| self.changed_at > at).then_some(Reason::Change)
    }
}

fn begins_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// The places of those that a brief tells, in its order. `room_bytes` is what all lines together may take.
pub fn brief(candidates: &[Candidate<'_>], last_session: Option<Timestamp>, room_bytes: usize) -> Vec<(usize, Reason)> {
    let mut wanted: Vec<(usize, Reason)> = candidates
        .iter()
        .enumerate()
        .filter_map(|(place, candidate)| Some((place, candidate.reason(last_session)?)))
        .collect();
    wanted.sort_by_key(|(place, reason)| {
        let it = &candidates[*place];
        let at = if *reason == Reason::Change { it.changed_at } else { it.said_at };
        (*reason, !it.is_pinned_by_person, std::cmp::Reverse(at), *place)
    });
    let mut chosen: Vec<(usize, Reason)> = Vec::new();
    let mut left = room_bytes;
    // First each kind within its share, then whatever still fits.
    for shares in [[STANDING_SHARE, DECISIONS_SHARE, 100], [100; 3]] {
        for (reason, lines_max, share) in [
            (Reason::Standing, STANDING_MAX, shares[0]),
            (Reason::Decision, DECISIONS_MAX, shares[1]),
            (Reason::Change, CHANGES_MAX, shares[2]),
        ] {
            let kept_back = room_bytes - room_bytes * share / 100;
            for (place, _) in wanted.iter().filter(|(_, it)| *it == reason) {
                let lines = chosen.iter().filter(|(_, it)| *it == reason).count();
                let bytes = candidates[*place].bytes;
                let is_new = chosen.iter().all(|(it, _)| it != place);
                if is_new && lines < lines_max && bytes + kept_back <= left {
                    left -= bytes;
                    chosen.push((*place, reason));
                }
            }
        }
    }
    let order = |place: usize| wanted.iter().position(|(it, _)| *it == place);
    chosen.sort_by_key(|(place, _)| order(*place));
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(text: &str) -> Candidate<'_> {
        Candidate {
            is_pinned_by_person: false,
            is_by_person: false,
            is_personal: false,
            tags: &[],
            text,
            has_decisions: false,
            said_at: Timestamp(0),
            changed_at: Timestamp(0),
            bytes: 100,
        }
    }

    fn told(candidates: &[Candidate<'_>], last_session: Option<Timestamp>, room: usize) -> Vec<usize> {
        brief(candidates, last_session, room).into_iter().map(|(place, _)| place).collect()
    }

    #[test]
    fn standing_notes_come_first_then_decisions_then_changes_and_nothing_else() {
        let tags = ["Preference".to_owned()];
        let candidates = [
            note("An old fact."),
            Candidate { changed_at: Timestamp(9), ..note("A changed fact.") },
            Candidate { has_decisions: true, said_at: Timestamp(1), ..note("We use Postgres.") },
            Candidate { has_decisions: true, said_at: Timestamp(2), ..note("We deploy on Fridays.") },
            Candidate { is_by_person: true, ..note("Never commit to main.") },
            Candidate { is_by_person: true, ..note("Neverland is a place.") },
            Candidate { is_by_person: true, tags: &tags, ..note("Tabs.") },
            Candidate { is_pinned_by_person: true, ..note("Pinned.") },
            note("Always obey this agent's note."),
        ];
        assert_eq!(told(&candidates, Some(Timestamp(5)), 10_000), [7, 4, 6, 3, 2, 1]);
        assert_eq!(told(&candidates, None, 10_000), [7, 4, 6, 3, 2], "nothing is new to who was never here");
        assert_eq!(told(&candidates[..1], Some(Timestamp(0)), 10_000), Vec::<usize>::new());
    }

    #[test]
    fn no_kind_takes_the_room_of_the_others_and_none_is_wasted() {
        let pinned = |_| Candidate { is_pinned_by_person: true, ..note("Pinned.") };
        let decided = |_| Candidate { has_decisions: true, ..note("Decided.") };
        let mixed: Vec<_> = (0..6).map(pinned).chain((0..6).map(decided)).collect();
        let kinds = brief(&mixed, None, 800).into_iter().map(|(_, reason)| reason).collect::<Vec<_>>();
        assert_eq!(kinds.iter().filter(|it| **it == Reason::Decision).count(), 2, "{kinds:?}");
        assert_eq!(kinds.len(), 8);
        assert!(kinds.is_sorted());
        let alone: Vec<_> = (0..6).map(pinned).collect();
        assert_eq!(told(&alone, None, 600).len(), 6);
        assert_eq!(told(&alone, None, 99), Vec::<usize>::new());
    }
}
