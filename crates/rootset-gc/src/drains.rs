//! Drains: how a scheduled round takes more than the limits of one plan allow. Pure.
//!
//! A limit slows such a round down and does not stop it: each round takes a slice of the source, oldest first and recently
//! used last, so that all of it is gone after a few rounds. Before a policy that nobody has seen at work takes anything, it
//! is announced, and nothing goes for one interval.

use rootset_model::{Limits, Timestamp};

use crate::heap::Root;

/// A use within this time counts as recent.
pub const RECENT_USE_MS: i64 = 30 * 24 * 3_600_000;
/// A policy that finds more than so many times what somebody has been shown is announced.
const SHOWN_TIMES_MAX: i64 = 2;

/// What becomes of a source with more garbage than a plan may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DrainMode {
    /// Begins an interval after it was announced, unless somebody has seen what the policy does.
    #[default]
    Announce,
    AtOnce,
    /// Waits for a person.
    Never,
}

impl DrainMode {
    pub const WORDS: [&str; 3] = ["announce", "at once", "never"];

    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "announce" => Some(Self::Announce),
            "at once" => Some(Self::AtOnce),
            "never" => Some(Self::Never),
            _ => None,
        }
    }
}

/// A source and its garbage, as a round finds them.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Memories of the source that would go.
    pub garbage: i64,
    /// Its living memories.
    pub total: i64,
    /// What somebody has been told would go, see [`crate::Policies::shown_of`].
    pub shown: Option<i64>,
    /// See [`crate::Policies::digest_of`].
    pub policies: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrainState {
    Announced,
    Draining,
    /// All of it is gone, or what called for it is.
    Ended,
    /// Somebody took it back: nothing of the source goes by itself until its policies change.
    Stopped,
}

impl DrainState {
    pub const ALL: [Self; 4] = [Self::Announced, Self::Draining, Self::Ended, Self::Stopped];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Announced => "announced",
            Self::Draining => "draining",
            Self::Ended => "ended",
            Self::Stopped => "stopped",
        }
    }

    pub fn from_stored(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// The drain of the source that is not over yet.
#[derive(Clone, Copy, Debug)]
pub struct OpenDrain<'a> {
    pub state: DrainState,
    pub policies: &'a str,
    pub found: i64,
    pub begins_at: Timestamp,
}

/// What a round does with a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The open drain is over: its policies have changed, or there is nothing left to announce.
    pub closes_open: bool,
    pub act: Act,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Within the limits: all of it goes in the round's plan.
    TakeAll,
    /// Over the limits, and drains are switched off.
    Block,
    Announce,
    /// Announced, and its time has not come.
    Wait,
    /// A person took the drain back.
    Hold,
    /// The first slice goes now.
    Begin,
    /// The next slice of the open drain.
    GoOn,
}

/// What to do with a source that has garbage.
pub fn next_step(
    found: &Found<'_>,
    open: Option<&OpenDrain<'_>>,
    mode: DrainMode,
    limits: &Limits,
    now: Timestamp,
) -> Step {
    let valid = open.filter(|open| open.policies == found.policies);
    let is_over = is_over(found.garbage, found.total, limits);
    let closes_open = |act| Step { closes_open: open.is_some(), act };
    let keeps_open = |act| Step { closes_open: false, act };
    match valid.map(|open| (open.state, open)) {
        Some((DrainState::Stopped, _)) => keeps_open(Act::Hold),
        Some((DrainState::Draining, _)) => keeps_open(Act::GoOn),
        Some((DrainState::Announced, _)) if !is_over => closes_open(Act::TakeAll),
        Some((DrainState::Announced, open)) if found.garbage <= open.found.saturating_mul(SHOWN_TIMES_MAX) => {
            keeps_open(if now >= open.begins_at { Act::Begin } else { Act::Wait })
        }
        _ if !is_over => closes_open(Act::TakeAll),
        _ => closes_open(match mode {
            DrainMode::Never => Act::Block,
            DrainMode::AtOnce => Act::Begin,
            DrainMode::Announce => {
                let limit = found.shown.map(|shown| shown.saturating_mul(SHOWN_TIMES_MAX));
                if limit.is_some_and(|limit| found.garbage <= limit) { Act::Begin } else { Act::Announce }
            }
        }),
    }
}

/// Whether so much of a source is more than one plan may take.
pub fn is_over(garbage: i64, total: i64, limits: &Limits) -> bool {
    garbage > limits.plan_count_free && garbage as f64 / total.max(1) as f64 > limits.plan_fraction_max
}

/// How many memories one round takes of a source that had so many when its drain began.
pub fn slice_max(total: i64, limits: &Limits) -> usize {
    let share = (total as f64 * limits.plan_fraction_max).ceil() as i64;
    share.max(limits.plan_count_free).max(1) as usize
}

/// Sorts the memories of a source in the order in which they go: oldest first, recently used last.
pub fn order(root: &Root, now: Timestamp) -> impl Ord + use<> {
    let is_recent = root.last_used_at.is_some_and(|at| now.0.saturating_sub(at.0) < RECENT_USE_MS);
    // What has no age is not known to be old.
    (is_recent, root.ingested_at.is_none(), root.ingested_at, root.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    fn found(garbage: i64, shown: Option<i64>) -> Found<'static> {
        Found { garbage, total: 100, shown, policies: "a" }
    }

    fn step(found: &Found<'_>, open: Option<OpenDrain<'_>>) -> Step {
        next_step(found, open.as_ref(), DrainMode::Announce, &Limits::default(), NOW)
    }

    fn open(state: DrainState, begins_at: Timestamp) -> Option<OpenDrain<'static>> {
        Some(OpenDrain { state, policies: "a", found: 50, begins_at })
    }

    const LATER: Timestamp = Timestamp(NOW.0 + 1);

    #[test]
    fn what_is_within_the_limits_goes_at_once_and_what_nobody_has_seen_is_announced() {
        assert_eq!(step(&found(20, None), None).act, Act::TakeAll);
        assert_eq!(step(&found(21, None), None).act, Act::Announce);
        assert_eq!(step(&found(21, Some(10)), None).act, Act::Announce, "more than twice what was shown");
        assert_eq!(step(&found(20, Some(10)), None).act, Act::TakeAll);
        assert_eq!(step(&found(30, Some(15)), None).act, Act::Begin);
        let by = |mode| next_step(&found(100, None), None, mode, &Limits::default(), NOW).act;
        assert_eq!((by(DrainMode::AtOnce), by(DrainMode::Never)), (Act::Begin, Act::Block));
    }

    #[test]
    fn an_announced_drain_waits_for_its_time_and_goes_when_its_reason_does() {
        assert_eq!(step(&found(60, None), open(DrainState::Announced, LATER)).act, Act::Wait);
        assert_eq!(step(&found(60, None), open(DrainState::Announced, NOW)).act, Act::Begin);
        let withdrawn = Step { closes_open: true, act: Act::TakeAll };
        assert_eq!(step(&found(10, None), open(DrainState::Announced, LATER)), withdrawn);
        let anew = Step { closes_open: true, act: Act::Announce };
        let more = Found { total: 1_000, ..found(201, None) };
        assert_eq!(step(&more, open(DrainState::Announced, NOW)), anew, "more than twice what was announced");
        let other_policies = Found { policies: "b", ..found(60, None) };
        assert_eq!(step(&other_policies, open(DrainState::Announced, NOW)), anew);
    }

    #[test]
    fn a_drain_goes_on_also_within_the_limits_and_a_stopped_one_holds_until_the_policies_change() {
        assert_eq!(step(&found(1, None), open(DrainState::Draining, NOW)), Step { closes_open: false, act: Act::GoOn });
        assert_eq!(step(&found(1, None), open(DrainState::Stopped, NOW)).act, Act::Hold);
        let changed = Found { policies: "b", ..found(60, Some(60)) };
        assert_eq!(step(&changed, open(DrainState::Stopped, NOW)), Step { closes_open: true, act: Act::Begin });
    }

    #[test]
    fn a_drain_ends_after_at_most_five_rounds() {
        for total in 1..=1_000 {
            let slice = slice_max(total, &Limits::default()) as i64;
            assert!(slice * 5 >= total, "{total}");
        }
        assert_eq!(slice_max(3, &Limits::default()), 5);
    }

    #[test]
    fn the_oldest_go_first_and_the_recently_used_last() {
        let days = |days: i64| Some(Timestamp(NOW.0 - days * 24 * 3_600_000));
        let root = |id, ingested_at, last_used_at| Root { ingested_at, last_used_at, ..Root::written(id, NOW) };
        let mut roots = [
            root(1, days(90), days(1)),
            root(2, days(40), None),
            root(3, None, None),
            root(4, days(90), days(31)),
            root(5, days(41), days(2)),
        ];
        roots.sort_by_key(|root| order(root, NOW));
        assert_eq!(roots.map(|root| root.id[15].max(root.id[0])), [4, 2, 3, 1, 5]);
    }
}
