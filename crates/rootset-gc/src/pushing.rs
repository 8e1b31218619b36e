//! What may be put before a model that did not ask for it: briefs, hooks, anything that is pushed rather than pulled.
//!
//! A pushed text reads like an instruction, so that it has to be earned: a person wrote, pinned or approved it, the user said
//! it, or it is an agent's own note about the project at hand. What came from a file or from nobody knows where is never
//! pushed, whatever it says; a search still finds it.

use rootset_model::{PinnedBy, Trust};

/// What the decision needs to know of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushed {
    pub trust: Trust,
    pub pinned_by: Option<PinnedBy>,
    /// The user said it in a prompt of the session that stored it.
    pub is_witnessed: bool,
    /// It is in the workspace of the project that the text would be pushed into, rather than in one that several share.
    pub is_of_project: bool,
}

/// Whether a memory may be pushed.
pub fn may_be_pushed(memory: Pushed) -> bool {
    let is_approved = memory.pinned_by == Some(PinnedBy::Person) || memory.is_witnessed;
    match memory.trust {
        // A pin keeps a text; it does not say that the text is believed.
        Trust::Untrusted => false,
        Trust::Imported => is_approved,
        // In a workspace that other projects see, it waits for a person.
        Trust::Agent => is_approved || memory.is_of_project,
        Trust::Person => true,
    }
}

/// Whether a memory of a workspace that several projects share waits for a person: search finds it, and nothing pushes it
/// until somebody has looked. The store lists by the same rule (`m_waits` in conditions.sql).
pub fn waits_for_a_person(trust: Trust, pinned_by: Option<PinnedBy>) -> bool {
    !may_be_pushed(Pushed { trust, pinned_by, is_witnessed: false, is_of_project: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(trust: Trust) -> impl Iterator<Item = Pushed> {
        let pins = [None, Some(PinnedBy::Agent), Some(PinnedBy::Person)];
        let flags = [(false, false), (false, true), (true, false), (true, true)];
        pins.into_iter().flat_map(move |pinned_by| {
            flags.into_iter().map(move |(is_witnessed, is_of_project)| Pushed {
                trust,
                pinned_by,
                is_witnessed,
                is_of_project,
            })
        })
    }

    #[test]
    fn what_nobody_answers_for_is_never_pushed_and_what_a_person_wrote_always_is() {
        assert!(each(Trust::Untrusted).all(|memory| !may_be_pushed(memory)));
        assert!(each(Trust::Person).all(may_be_pushed));
    }

    #[test]
    fn an_agents_note_is_pushed_within_its_project_and_waits_for_a_person_elsewhere() {
        let note =
            Pushed { trust: Trust::Agent, pinned_by: Some(PinnedBy::Agent), is_witnessed: false, is_of_project: true };
        assert!(may_be_pushed(note));
        assert!(!may_be_pushed(Pushed { is_of_project: false, ..note }), "its own pin approves nothing");
        assert!(may_be_pushed(Pushed { is_of_project: false, pinned_by: Some(PinnedBy::Person), ..note }));
        assert!(may_be_pushed(Pushed { is_of_project: false, is_witnessed: true, ..note }));
    }

    #[test]
    fn what_was_imported_needs_a_person_even_within_the_project() {
        let imported = Pushed { trust: Trust::Imported, pinned_by: None, is_witnessed: false, is_of_project: true };
        assert!(!may_be_pushed(imported));
        assert!(!may_be_pushed(Pushed { pinned_by: Some(PinnedBy::Agent), ..imported }));
        assert!(may_be_pushed(Pushed { pinned_by: Some(PinnedBy::Person), ..imported }));
    }

    #[test]
    fn what_waits_is_exactly_what_is_not_pushed_from_a_shared_workspace() {
        let waiting = |pinned_by| Trust::ALL.map(|trust| waits_for_a_person(trust, pinned_by));
        assert_eq!(waiting(None), [true, true, true, false]);
        assert_eq!(waiting(Some(PinnedBy::Agent)), [true, true, true, false]);
        assert_eq!(
            waiting(Some(PinnedBy::Person)),
            [true, false, false, false],
            "nobody answers for what is untrusted"
        );
    }

    #[test]
    fn more_trust_never_pushes_less() {
        for pair in Trust::ALL.windows(2) {
            for (less, more) in each(pair[0]).zip(each(pair[1])) {
                assert!(may_be_pushed(more) || !may_be_pushed(less), "{less:?} {more:?}");
            }
        }
    }
}
