//! Replays a session under a budget: what a step needs is looked for first, then its segment is added, then
//! segments leave until the budget holds. The system prompt and the last two segments always stay, and nothing else by force: that
//! the user's instruction stays is up to the policy.

use super::needs::{Need, NeedKind, OwnLines, needs};
use super::transcript::{Role, Transcript};

/// So many segments from the end always stay.
pub const LAST_SEGMENTS: usize = 2;

/// Decides who leaves. Segments are places in the transcript.
pub trait Policy {
    fn added(&mut self, segment: usize);

    /// Who leaves now: some of `may_leave`, which is in order and not empty. Asked again as long as there is an excess.
    fn choose(&mut self, step: usize, may_leave: &[usize], excess_tokens: u64) -> Vec<usize>;
}

/// By kind, in the order of [`NeedKind::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misses([usize; NeedKind::ALL.len()]);

impl Misses {
    pub fn of(&self, kind: NeedKind) -> usize {
        self.0[kind as usize]
    }

    fn count(&mut self, kind: NeedKind) {
        self.0[kind as usize] += 1;
    }

    /// Those of one kind from elsewhere.
    pub fn take(&mut self, kind: NeedKind, from: &Self) {
        self.0[kind as usize] = from.of(kind);
    }
}

impl std::ops::AddAssign for Misses {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, misses)| *sum += misses);
    }
}

/// A transcript with what every replay of it asks.
#[derive(Debug)]
pub struct ReplayedSession<'t> {
    pub transcript: &'t Transcript,
    pub tokens: Vec<u64>,
    pub needs: Vec<Need>,
    /// By step: places in the list of needs.
    pub needs_at: Vec<Vec<usize>>,
}

impl<'t> ReplayedSession<'t> {
    pub fn new(transcript: &'t Transcript, own_lines: &OwnLines<'_>) -> Self {
        let needs = needs(transcript, own_lines);
        let mut needs_at = vec![Vec::new(); transcript.segments.len()];
        for (place, need) in needs.iter().enumerate() {
            needs_at[need.step].push(place);
        }
        let tokens = transcript.segments.iter().map(|segment| segment.tokens()).collect();
        Self { transcript, tokens, needs, needs_at }
    }

    /// How much is needed at all.
    pub fn counts(&self) -> Misses {
        let mut needs = Misses::default();
        self.needs.iter().for_each(|need| needs.count(need.kind));
        needs
    }

    pub fn replay(&self, budget_tokens: u64, policy: &mut dyn Policy) -> Misses {
        let mut misses = Misses::default();
        let mut is_active = vec![false; self.tokens.len()];
        let mut used_tokens = 0;
        for step in 0..self.tokens.len() {
            for need in self.needs_at[step].iter().map(|place| &self.needs[*place]) {
                if !need.holders.iter().any(|holder| is_active[*holder]) {
                    misses.count(need.kind);
                }
            }
            is_active[step] = true;
            used_tokens += self.tokens[step];
            policy.added(step);
            while used_tokens > budget_tokens {
                let may_leave: Vec<usize> =
                    (0..step).filter(|it| is_active[*it] && self.may_leave(*it, step)).collect();
                if may_leave.is_empty() {
                    break;
                }
                let chosen = policy.choose(step, &may_leave, used_tokens - budget_tokens);
                assert!(!chosen.is_empty(), "somebody may leave at step {step}, and nobody was chosen");
                for segment in chosen {
                    assert!(may_leave.contains(&segment) && is_active[segment], "{segment} may not leave at {step}");
                    is_active[segment] = false;
                    used_tokens -= self.tokens[segment];
                }
            }
        }
        misses
    }

    fn may_leave(&self, segment: usize, step: usize) -> bool {
        let is_last = segment + LAST_SEGMENTS > step;
        !is_last && self.transcript.segments[segment].role != Role::System
    }
}
