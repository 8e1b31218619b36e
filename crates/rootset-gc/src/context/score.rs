//! The prune score: in [0, 1], higher leaves first. A weighted mean of parts that are each in [0, 1] and saturate, so
//! that no age and no count can drown the others.
//!
//! Parts saturate as x / (x + half), not as an exponential: at the half-life both are one half, but divisions give the
//! same bits on every machine, and long tails still tell the old from the very old.

use super::roots::Focus;
use super::segment::{Facts, Generation, Now, SegmentIndex, SegmentType};
use super::window::Window;

/// How dispensable a segment is, by what makes it so; one is most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    /// Not touched for long, in steps and in time.
    pub idle: f64,
    pub segment_type: f64,
    /// Nobody refers to it.
    pub references: f64,
    /// Young, and survived nothing yet.
    pub generation: f64,
    /// A newer view covers it.
    pub superseded: f64,
    /// Others hold every identifier and path that it holds.
    pub sole_holder: f64,
    /// Its tokens are worth freeing.
    pub size: f64,
    /// Of no file that is open, edited lately or has breakpoints.
    pub focus: f64,
}

/// How much each part counts, relative to the sum of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    pub idle: f64,
    pub segment_type: f64,
    pub references: f64,
    pub generation: f64,
    pub superseded: f64,
    pub sole_holder: f64,
    pub size: f64,
    pub focus: f64,
}

/// After how long a segment is half idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfLife {
    pub steps: u32,
    pub ms: u32,
}

/// Everything about scores that can be tuned.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Scoring {
    pub weights: Weights,
    pub half_lives: HalfLives,
}

/// By type: what a log says is forgotten sooner than what was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfLives {
    pub log: HalfLife,
    pub code: HalfLife,
    pub message: HalfLife,
    pub note: HalfLife,
    pub summary: HalfLife,
    pub decision: HalfLife,
}

/// Starting points, to be replaced by what measures best. The first four are the specified ones.
impl Default for Weights {
    fn default() -> Self {
        Self {
            idle: 0.4,
            segment_type: 0.3,
            references: 0.2,
            generation: 0.1,
            superseded: 0.2,
            sole_holder: 0.4,
            size: 0.1,
            focus: 0.1,
        }
    }
}

impl Default for HalfLives {
    fn default() -> Self {
        let half_life = |steps, minutes: u32| HalfLife { steps, ms: minutes * 60_000 };
        Self {
            log: half_life(10, 10),
            code: half_life(20, 20),
            message: half_life(30, 30),
            note: half_life(60, 120),
            summary: half_life(80, 240),
            decision: half_life(120, 480),
        }
    }
}

impl HalfLives {
    fn of(&self, segment_type: SegmentType) -> HalfLife {
        match segment_type {
            SegmentType::Log => self.log,
            SegmentType::Code => self.code,
            SegmentType::Message => self.message,
            SegmentType::Note => self.note,
            SegmentType::Summary => self.summary,
            SegmentType::Decision => self.decision,
        }
    }
}

/// Log, code, message, note, summary, decision: the order in which types are dispensable.
fn type_part(segment_type: SegmentType) -> f64 {
    match segment_type {
        SegmentType::Log => 1.0,
        SegmentType::Code => 0.8,
        SegmentType::Message => 0.6,
        SegmentType::Note => 0.4,
        SegmentType::Summary => 0.2,
        SegmentType::Decision => 0.0,
    }
}

/// As much as one reference, and never more, is what any number of companions in a hub can weigh together.
const COMPANIONS_HALF: f64 = 4.0;
/// One name held by nobody else makes a segment dear, the tenth adds little.
const SOLE_KEYS_HALF: f64 = 1.0;
/// About a screen of code.
const TOKENS_HALF: f64 = 500.0;

/// The parts of one segment's score.
pub fn parts(window: &Window, focus: &Focus, segment: SegmentIndex, now: Now, scoring: &Scoring) -> Parts {
    let facts = window.facts(segment);
    let graph = window.graph();
    let companions = saturating(f64::from(graph.companions(segment)), COMPANIONS_HALF);
    let references = f64::from(graph.refcount_from_others(segment)) + companions;
    let is_warm = facts.file.is_some_and(|file| focus.warm_files.contains(&file));
    Parts {
        idle: idle_part(facts, now, scoring.half_lives.of(facts.segment_type)),
        segment_type: type_part(facts.segment_type),
        references: 1.0 - saturating(references, 1.0),
        generation: generation_part(window, segment),
        superseded: if window.is_superseded(segment) { 1.0 } else { 0.0 },
        sole_holder: 1.0 - saturating(f64::from(window.holders().sole_count(segment)), SOLE_KEYS_HALF),
        size: saturating(f64::from(facts.tokens), TOKENS_HALF),
        focus: if is_warm { 0.0 } else { 1.0 },
    }
}

/// What a clock that went back makes negative is no age at all.
fn idle_part(facts: &Facts, now: Now, half_life: HalfLife) -> f64 {
    let idle_steps = now.step.saturating_sub(facts.last_touched_step) as f64;
    let idle_ms = now.at.0.saturating_sub(facts.last_touched_at.0).max(0) as f64;
    let by_steps = saturating(idle_steps, f64::from(half_life.steps));
    let by_time = saturating(idle_ms, f64::from(half_life.ms));
    (by_steps + by_time) / 2.0
}

fn generation_part(window: &Window, segment: SegmentIndex) -> f64 {
    match window.generation(segment) {
        Generation::Old => 0.0,
        Generation::Young => 1.0 - saturating(f64::from(window.survival_count(segment)), 1.0),
    }
}

/// From zero at zero through one half at `half` towards one. A half of zero saturates at once.
fn saturating(value: f64, half: f64) -> f64 {
    if value > 0.0 { value / (value + half) } else { 0.0 }
}

impl Parts {
    /// By name, as answers tell them.
    pub fn named(&self) -> [(&'static str, f64); 8] {
        [
            ("idle", self.idle),
            ("type", self.segment_type),
            ("references", self.references),
            ("generation", self.generation),
            ("superseded", self.superseded),
            ("sole_holder", self.sole_holder),
            ("size", self.size),
            ("focus", self.focus),
        ]
    }

    /// The prune score. Weights that are negative or no numbers count as zero.
    pub fn score(&self, weights: &Weights) -> f64 {
        let mut sum = 0.0;
        let mut weight_sum = 0.0;
        for ((_, part), weight) in self.named().into_iter().zip(weights.in_order()) {
            // Also turns what is no number into zero.
            let weight = if weight > 0.0 { weight.min(WEIGHT_MAX) } else { 0.0 };
            sum += weight * part;
            weight_sum += weight;
        }
        // Rounding may carry a mean of ones a hair over one.
        if weight_sum > 0.0 { (sum / weight_sum).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// Sums of weights stay finite.
const WEIGHT_MAX: f64 = 1e9;

impl Weights {
    /// In the order of [`Parts::named`].
    fn in_order(&self) -> [f64; 8] {
        [
            self.idle,
            self.segment_type,
            self.references,
            self.generation,
            self.superseded,
            self.sole_holder,
            self.size,
            self.focus,
        ]
    }
}
