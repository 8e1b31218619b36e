//! The prune score: in [0, 1], higher leaves first.
//!
//! A segment is worth what its names, what it shows of a file, its words and its recency are worth; type, references, generation,
//! newer views and the focus make that more by bounded factors. Per token that is its density: the lower, the sooner it
//! leaves, and the score is the density turned round and squeezed between zero and one.
//!
//! Every term is also reported as a part in [0, 1]; higher is more dispensable. No part but the worth of names, of
//! views and, by their length, of words can exceed its weight, so that no age and no count drowns the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decay::{decay, power};
use super::names::NameWorths;
use super::roots::Focus;
use super::segment::{Author, Facts, Generation, Now, SegmentIndex, SegmentType};
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
    /// Newer views show all it shows.
    pub superseded: f64,
    /// Others hold every identifier and path that it holds and somebody may need.
    pub sole_holder: f64,
    /// Shows nothing of a file that is being worked on.
    pub view: f64,
    /// Its tokens are worth freeing.
    pub size: f64,
    /// Of no file that is open, edited lately or has breakpoints.
    pub focus: f64,
    /// Its words are not of what is being done now.
    pub words: f64,
    worth: Worth,
}

/// What is lost with a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Worth {
    /// Whatever else stays or leaves.
    pub fixed: f64,
    /// For each unit of its names' worth, which rises when other holders leave.
    pub per_name: f64,
    pub names: f64,
    /// Tokens as they count, in typical segments.
    pub size: f64,
}

impl Worth {
    /// A typical segment with one name that the assistant used has a density, and a score, in the middle.
    fn density(&self, names: f64) -> f64 {
        (self.fixed + self.per_name * names) / self.size
    }

    /// What is lost with the segment when its names are worth so much: by default all it is worth. Divided by its tokens,
    /// it is in the order of densities whatever the weight of size.
    pub fn loss(&self, names: f64, tokens: u32) -> f64 {
        self.density(names) * f64::from(tokens) / TYPICAL_TOKENS
    }
}

/// How much each part counts. The unit is the worth of one name that the assistant used once, lately. Zero ignores a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// What any segment is worth while it is fresh.
    pub idle: f64,
    /// How much more a decision is worth than a log; the other types are between them.
    #[serde(rename = "type")]
    pub segment_type: f64,
    /// How much more a segment is worth that others refer to.
    pub references: f64,
    /// How much more a segment is worth that survived collections.
    pub generation: f64,
    /// How much more a segment is worth than one whose lines newer views show.
    pub superseded: f64,
    /// What identifiers and paths that no other active segment holds are worth.
    pub sole_holder: f64,
    /// What showing a file that is being worked on is worth.
    pub view: f64,
    /// The power of the number of tokens that worth is divided by: 0 ignores it, 1 is worth per token.
    pub size: f64,
    /// How much more a segment of an open or recently edited file is worth.
    pub focus: f64,
    /// What fresh words are worth that belong to what is being done now: they are repeated, and no name tells which. By their length.
    pub words: f64,
}

/// Everything about scores that can be tuned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Scoring {
    pub weights: Weights,
    /// After how many steps a message is half idle. Other types and names have multiples of it.
    pub half_life_steps: u32,
    /// After how many milliseconds a message is half idle. Other types have multiples of it.
    pub half_life_ms: i64,
}

/// Those that measured best; docs/context.md tells how.
impl Default for Weights {
    fn default() -> Self {
        Self {
            idle: 0.03,
            segment_type: 3.0,
            references: 0.1,
            generation: 0.1,
            superseded: 0.25,
            sole_holder: 1.0,
            view: 1.0,
            size: 1.0,
            focus: 1.0,
            words: 1.0,
        }
    }
}

impl Default for Scoring {
    fn default() -> Self {
        Self { weights: Weights::default(), half_life_steps: 32, half_life_ms: 30 * 60 * 1_000 }
    }
}

/// Sums and products of weights stay finite.
const WEIGHT_MAX: f64 = 1e6;
const SIZE_WEIGHT_MAX: f64 = 4.0;

impl Weights {
    /// What is negative or no number counts as zero.
    fn bounded(&self) -> Self {
        let bounded = |weight: f64, most: f64| if weight > 0.0 { weight.min(most) } else { 0.0 };
        Self {
            idle: bounded(self.idle, WEIGHT_MAX),
            segment_type: bounded(self.segment_type, WEIGHT_MAX),
            references: bounded(self.references, WEIGHT_MAX),
            generation: bounded(self.generation, WEIGHT_MAX),
            superseded: bounded(self.superseded, WEIGHT_MAX),
            sole_holder: bounded(self.sole_holder, WEIGHT_MAX),
            view: bounded(self.view, WEIGHT_MAX),
            size: bounded(self.size, SIZE_WEIGHT_MAX),
            focus: bounded(self.focus, WEIGHT_MAX),
            words: bounded(self.words, WEIGHT_MAX),
        }
    }
}

/// Log, code, message, note, summary, decision: the order in which types are dispensable. What the user said is as dear as a note
/// after it was done, too.
fn type_part(facts: &Facts) -> f64 {
    match facts.segment_type {
        SegmentType::Message if facts.author == Author::User => type_of(SegmentType::Note),
        segment_type => type_of(segment_type),
    }
}

fn type_of(segment_type: SegmentType) -> f64 {
    match segment_type {
        SegmentType::Log => 1.0,
        SegmentType::Code => 0.95,
        SegmentType::Message => 0.9,
        SegmentType::Note => 0.6,
        SegmentType::Summary => 0.3,
        SegmentType::Decision => 0.0,
    }
}

/// Half-lives by type, doubled: what a log says is forgotten sooner than what was decided.
fn doubled_half_lives(segment_type: SegmentType) -> u32 {
    match segment_type {
        SegmentType::Log => 1,
        SegmentType::Code | SegmentType::Message => 2,
        SegmentType::Note => 4,
        SegmentType::Summary => 8,
        SegmentType::Decision => 16,
    }
}

/// As much as one reference, and never more, is what any number of companions in a hub can weigh together.
const COMPANIONS_HALF: f64 = 4.0;
/// Tokens of a typical segment: about half a screen of code.
const TYPICAL_TOKENS: f64 = 200.0;
/// Where the part that tells the size is one half: about a screen of code.
const TOKENS_HALF: f64 = 500.0;
/// What it is worth to show lines of the file that was shown last, or of another one.
const LATEST_FILE_VIEW: f64 = 10.0;
const OTHER_FILE_VIEW: f64 = 2.5;
/// What a typical segment's length of fresh words is worth, and how long they are fresh in half-lives of a message: an assistant
/// says its own plans and scripts again, and lines of a result only soon after it.
const OWN_WORDS: (f64, f64) = (2.0, 1.0);
const OTHER_WORDS: (f64, f64) = (0.3, 0.25);

/// The parts of one segment's score.
pub fn parts(window: &Window, focus: &Focus, segment: SegmentIndex, now: Now, scoring: &Scoring) -> Parts {
    let mut scorer = Scorer::new(window, focus, now, scoring);
    scorer.parts(segment, window.is_superseded(segment))
}

/// Scores segments of one window at one moment.
pub(super) struct Scorer<'w> {
    window: &'w Window,
    focus: &'w Focus,
    now: Now,
    scoring: Scoring,
    names: NameWorths,
}

impl<'w> Scorer<'w> {
    pub fn new(window: &'w Window, focus: &'w Focus, now: Now, scoring: &Scoring) -> Self {
        let scoring = Scoring { weights: scoring.weights.bounded(), ..*scoring };
        let names = NameWorths::new(window, now.step, scoring.half_life_steps);
        Self { window, focus, now, scoring, names }
    }

    pub fn into_names(self) -> NameWorths {
        self.names
    }

    pub fn parts(&mut self, segment: SegmentIndex, is_superseded: bool) -> Parts {
        let facts = self.window.facts(segment);
        let names = self.names.of_segment(self.window.holders(), segment);
        let view = if is_superseded { 0.0 } else { self.view_worth(facts, segment) };
        let words = self.words_worth(facts, segment);
        let graph = self.window.graph();
        let companions = saturating(f64::from(graph.companions(segment)), COMPANIONS_HALF);
        let references = f64::from(graph.refcount_from_others(segment)) + companions;
        let is_warm = facts.file.is_some_and(|file| self.focus.warm_files.contains(&file));
        let mut parts = Parts {
            idle: idle_part(facts, self.now, &self.scoring),
            segment_type: type_part(facts),
            references: 1.0 - saturating(references, 1.0),
            generation: generation_part(self.window, segment),
            superseded: if is_superseded { 1.0 } else { 0.0 },
            sole_holder: 1.0 - saturating(names, 1.0),
            view: 1.0 - saturating(view, 1.0),
            size: saturating(f64::from(facts.tokens), TOKENS_HALF),
            focus: if is_warm { 0.0 } else { 1.0 },
            words: 1.0 - saturating(words, 1.0),
            worth: Worth { fixed: 0.0, per_name: 0.0, names, size: 1.0 },
        };
        let weights = &self.scoring.weights;
        let keep = parts.keep(weights);
        parts.worth.fixed = (weights.view * view + weights.idle * (1.0 - parts.idle) + weights.words * words) * keep;
        parts.worth.per_name = weights.sole_holder * keep;
        parts.worth.size = power(f64::from(facts.tokens.max(1)) / TYPICAL_TOKENS, weights.size);
        parts
    }

    /// Only what was said since the user asked for what is being done now.
    fn words_worth(&self, facts: &Facts, segment: SegmentIndex) -> f64 {
        let entered_step = self.window.entered_step(segment);
        if entered_step < self.window.episode_start() {
            return 0.0;
        }
        let (fresh, half_lives) = if facts.author == Author::Assistant { OWN_WORDS } else { OTHER_WORDS };
        let half_life = (f64::from(self.scoring.half_life_steps) * half_lives) as u64;
        let age = self.now.step.saturating_sub(entered_step);
        fresh * decay(age, half_life) * f64::from(facts.tokens) / TYPICAL_TOKENS
    }

    /// Only what was shown since the user asked for what is being done now.
    fn view_worth(&self, facts: &Facts, segment: SegmentIndex) -> f64 {
        let entered_step = self.window.entered_step(segment);
        if !facts.is_view() || entered_step < self.window.episode_start() {
            return 0.0;
        }
        let is_latest = facts.file == self.window.latest_file();
        let fresh = if is_latest { LATEST_FILE_VIEW } else { OTHER_FILE_VIEW };
        fresh * decay(self.now.step.saturating_sub(entered_step), u64::from(self.scoring.half_life_steps))
    }
}

/// What a clock that went back makes negative is no age at all. This saturates as x / (x + half), not as an exponential:
/// long tails still tell the old from the very old.
fn idle_part(facts: &Facts, now: Now, scoring: &Scoring) -> f64 {
    let half_lives = f64::from(doubled_half_lives(facts.segment_type)) / 2.0;
    let idle_steps = now.step.saturating_sub(facts.last_touched_step) as f64;
    let idle_ms = now.at.0.saturating_sub(facts.last_touched_at.0).max(0) as f64;
    let by_steps = saturating(idle_steps, half_lives * f64::from(scoring.half_life_steps));
    let by_time = saturating(idle_ms, half_lives * scoring.half_life_ms.max(0) as f64);
    (by_steps + by_time) / 2.0
}

/// Whether a segment was not touched for its half-life in steps.
pub(super) fn is_cold(facts: &Facts, now: Now, scoring: &Scoring) -> bool {
    let half_life = u64::from(scoring.half_life_steps) * u64::from(doubled_half_lives(facts.segment_type)) / 2;
    now.step.saturating_sub(facts.last_touched_step) >= half_life
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
    pub fn named(&self) -> [(&'static str, f64); 10] {
        [
            ("idle", self.idle),
            ("type", self.segment_type),
            ("references", self.references),
            ("generation", self.generation),
            ("superseded", self.superseded),
            ("sole_holder", self.sole_holder),
            ("view", self.view),
            ("size", self.size),
            ("focus", self.focus),
            ("words", self.words),
        ]
    }

    /// The prune score.
    pub fn score(&self) -> f64 {
        1.0 / (1.0 + self.worth.density(self.worth.names))
    }

    pub(super) fn worth(&self) -> Worth {
        self.worth
    }

    fn keep(&self, weights: &Weights) -> f64 {
        let factors = [
            (weights.segment_type, self.segment_type),
            (weights.references, self.references),
            (weights.generation, self.generation),
            (weights.superseded, self.superseded),
            (weights.focus, self.focus),
        ];
        factors.into_iter().map(|(weight, part)| 1.0 + weight * (1.0 - part)).product()
    }
}
