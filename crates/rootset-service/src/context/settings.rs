//! What governs a session: the operator's defaults, what the session changed of them, and what the agent works on.

use rootset_api::{ContextMode, FocusInput, SettingsInForce, Tokenizer};
use rootset_gc::context::{Focus, Lines, Scoring, Weights};
use rootset_model::DurationMs;
use rootset_model::time::parse_duration_ms;
use rootset_text::names::name_hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fitting::History;
use crate::error::ServiceError;

/// What a window may be at most: more than any model takes.
const BUDGET_TOKENS_MAX: u64 = 1_000_000_000;
const RECENT_SEGMENTS_MAX: usize = 10_000;
/// A part that counts so much more than the others is the only one that counts.
const WEIGHT_MAX: f64 = 1_000.0;
const TEN_YEARS_MS: i64 = 3_650 * 86_400_000;

/// In force for one session; also the operator's defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextSettings {
    /// What the model's window holds.
    pub budget_tokens: u64,
    /// Of that, what is kept free for the answer and the harness's own words.
    pub reserved_tokens: u64,
    pub soft_percent: f64,
    pub target_percent: f64,
    pub hard_percent: f64,
    pub min_free_percent: f64,
    pub mode: ContextMode,
    /// How many segments from the end are roots.
    pub recent_segments: usize,
    pub decision_window_ms: i64,
    pub scoring: Scoring,
    pub tokenizer: Tokenizer,
    /// How long something stays in the stash before a plan may propose to delete it.
    pub stash_retention_ms: i64,
}

impl Default for ContextSettings {
    fn default() -> Self {
        let focus = Focus::default();
        Self {
            budget_tokens: 200_000,
            reserved_tokens: 0,
            soft_percent: 70.0,
            target_percent: 50.0,
            hard_percent: 90.0,
            min_free_percent: 10.0,
            mode: ContextMode::Auto,
            recent_segments: focus.last_segments,
            decision_window_ms: focus.recent_decisions_ms,
            scoring: Scoring::default(),
            tokenizer: Tokenizer::default(),
            stash_retention_ms: rootset_gc::context::STASH_RETENTION_MS,
        }
    }
}

impl ContextSettings {
    /// Tokens that segments may take.
    pub fn available(&self) -> u64 {
        self.budget_tokens - self.reserved_tokens
    }

    pub fn tokens_at(&self, percent: f64) -> u64 {
        (self.available() as f64 * percent / 100.0) as u64
    }
}

/// What a session set for itself, as stored and as asked for; absent: the default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SettingsChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reserved_tokens: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_free_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ContextMode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent_segments: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision_window: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life_steps: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_life: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Weights>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<Tokenizer>,
    /// Tokens that the provider counted, over those counted here; told by callers with their additions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<f64>,
    /// Of a conversation that is fitted by `context_fit`; no setting, but it changes with the session and as one with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitting: Option<Box<History>>,
}

impl SettingsChange {
    /// What is given here wins over what was.
    pub fn over(self, earlier: Self) -> Self {
        Self {
            budget_tokens: self.budget_tokens.or(earlier.budget_tokens),
            reserved_tokens: self.reserved_tokens.or(earlier.reserved_tokens),
            soft_percent: self.soft_percent.or(earlier.soft_percent),
            target_percent: self.target_percent.or(earlier.target_percent),
            hard_percent: self.hard_percent.or(earlier.hard_percent),
            min_free_percent: self.min_free_percent.or(earlier.min_free_percent),
            mode: self.mode.or(earlier.mode),
            recent_segments: self.recent_segments.or(earlier.recent_segments),
            decision_window: self.decision_window.or(earlier.decision_window),
            half_life_steps: self.half_life_steps.or(earlier.half_life_steps),
            half_life: self.half_life.or(earlier.half_life),
            weights: self.weights.or(earlier.weights),
            tokenizer: self.tokenizer.or(earlier.tokenizer),
            calibration: self.calibration.or(earlier.calibration),
            fitting: self.fitting.or(earlier.fitting),
        }
    }

    /// The settings in force with these changes; an error names the field, the value and what is allowed.
    pub fn applied_to(&self, defaults: &ContextSettings) -> Result<ContextSettings, ServiceError> {
        let mut settings = defaults.clone();
        if let Some(tokens) = self.budget_tokens {
            settings.budget_tokens = between("budget_tokens", tokens, 1, BUDGET_TOKENS_MAX as i64)? as u64;
        }
        if let Some(tokens) = self.reserved_tokens {
            settings.reserved_tokens = between("reserved_tokens", tokens, 0, BUDGET_TOKENS_MAX as i64)? as u64;
        }
        if settings.reserved_tokens >= settings.budget_tokens {
            let (reserved, budget) = (settings.reserved_tokens, settings.budget_tokens);
            return Err(ServiceError::invalid(format!(
                "`reserved_tokens` is {reserved}, which uses up all {budget} of `budget_tokens`"
            )));
        }
        for (name, given, percent) in [
            ("soft_percent", self.soft_percent, &mut settings.soft_percent),
            ("target_percent", self.target_percent, &mut settings.target_percent),
            ("hard_percent", self.hard_percent, &mut settings.hard_percent),
            ("min_free_percent", self.min_free_percent, &mut settings.min_free_percent),
        ] {
            if let Some(given) = given {
                *percent = between(name, given, 0.0, 100.0)?;
            }
        }
        ordered("target_percent", settings.target_percent, "soft_percent", settings.soft_percent)?;
        ordered("soft_percent", settings.soft_percent, "hard_percent", settings.hard_percent)?;
        settings.mode = self.mode.unwrap_or(settings.mode);
        settings.tokenizer = self.tokenizer.unwrap_or(settings.tokenizer);
        if let Some(segments) = self.recent_segments {
            settings.recent_segments = between("recent_segments", segments, 0, RECENT_SEGMENTS_MAX as i64)? as usize;
        }
        if let Some(window) = &self.decision_window {
            settings.decision_window_ms = duration("decision_window", window, 0)?;
        }
        if let Some(steps) = self.half_life_steps {
            settings.scoring.half_life_steps = between("half_life_steps", steps, 1, 1_000_000)? as u32;
        }
        if let Some(half_life) = &self.half_life {
            settings.scoring.half_life_ms = duration("half_life", half_life, 1)?;
        }
        if let Some(weights) = self.weights {
            check_weights(&weights)?;
            settings.scoring.weights = weights;
        }
        Ok(settings)
    }
}

fn between<T: PartialOrd + std::fmt::Display>(field: &str, value: T, min: T, max: T) -> Result<T, ServiceError> {
    if value >= min && value <= max {
        return Ok(value);
    }
    Err(ServiceError::invalid(format!("`{field}` is {value}; allowed: {min} to {max}")))
}

/// Named as callers name them.
fn check_weights(weights: &Weights) -> Result<(), ServiceError> {
    let weights = serde_json::to_value(weights).expect("weights are plain numbers");
    for (name, weight) in weights.as_object().into_iter().flatten() {
        between(&format!("weights.{name}"), weight.as_f64().unwrap_or(f64::NAN), 0.0, WEIGHT_MAX)?;
    }
    Ok(())
}

fn ordered(lower_name: &str, lower: f64, upper_name: &str, upper: f64) -> Result<(), ServiceError> {
    if lower <= upper {
        return Ok(());
    }
    Err(ServiceError::invalid(format!("`{lower_name}` is {lower}, above `{upper_name}`, which is {upper}")))
}

fn duration(field: &str, value: &Value, min_ms: i64) -> Result<i64, ServiceError> {
    let ms = match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => parse_duration_ms(text).ok(),
        _ => None,
    };
    match ms {
        Some(ms) if (min_ms..=TEN_YEARS_MS).contains(&ms) => Ok(ms),
        _ => Err(ServiceError::invalid(format!(
            "`{field}` is {value}; allowed: durations such as \"90m\", \"24h\" or milliseconds, up to ten years"
        ))),
    }
}

pub fn settings_in_force(session_id: &str, settings: &ContextSettings) -> SettingsInForce {
    SettingsInForce {
        session_id: session_id.to_owned(),
        budget_tokens: settings.budget_tokens,
        reserved_tokens: settings.reserved_tokens,
        soft_percent: settings.soft_percent,
        target_percent: settings.target_percent,
        hard_percent: settings.hard_percent,
        min_free_percent: settings.min_free_percent,
        mode: settings.mode,
        recent_segments: settings.recent_segments,
        decision_window: DurationMs(settings.decision_window_ms),
        half_life_steps: settings.scoring.half_life_steps,
        half_life: DurationMs(settings.scoring.half_life_ms),
        weights: settings.scoring.weights,
        tokenizer: settings.tokenizer,
    }
}

pub fn focus_of(input: &FocusInput, settings: &ContextSettings) -> Focus {
    let warm = input.recent_files.iter().chain(&input.open_files).map(String::as_str);
    let warm = warm.chain(input.breakpoints.iter().map(|it| file_of_breakpoint(it)));
    Focus {
        task: input.task_id.as_deref().map(name_hash),
        file: input.active_file.as_deref().map(name_hash),
        lines: input.line_range.map(|(first, last)| Lines { first, last }),
        warm_files: warm.map(name_hash).collect(),
        last_segments: settings.recent_segments,
        recent_decisions_ms: settings.decision_window_ms,
    }
}

/// `src/main.rs:12` without the line.
fn file_of_breakpoint(breakpoint: &str) -> &str {
    match breakpoint.rsplit_once(':') {
        Some((file, line)) if !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit()) => file,
        _ => breakpoint,
    }
}
