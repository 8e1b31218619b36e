//! Misses of every policy at every budget: as shares for programs, as tables for people.

use std::collections::BTreeMap;

use serde::Serialize;

use super::needs::NeedKind;
use super::replay::Misses;
use crate::table;

pub const POLICIES: [&str; 5] = ["random", "window", "lru", "lookahead", "rootset"];

/// By policy, in the order of [`POLICIES`].
pub type PolicyMisses = [Misses; POLICIES.len()];

const WINDOW: usize = 1;
const LRU: usize = 2;
const LOOK_AHEAD: usize = 3;
const ROOTSET: usize = 4;

/// Gap closed that is wanted at 8,000, 16,000 and 32,000 tokens; of every other kind, that it is not below zero.
const WANTED_BUDGETS: [u64; 3] = [8_000, 16_000, 32_000];
const WANTED: [(NeedKind, [f64; 3]); 3] =
    [(NeedKind::Identifier, [0.7, 0.8, 0.88]), (NeedKind::Line, [0.5, 0.5, 0.5]), (NeedKind::OwnLine, [0.3, 0.3, 0.3])];
/// Misses of views may exceed the sliding window's by so much.
const VIEW_ALLOWANCE: f64 = 0.001;

#[derive(Debug)]
pub struct Outcome {
    pub budgets: Vec<u64>,
    pub overall: Results,
    pub by_repository: BTreeMap<String, Results>,
}

#[derive(Clone, Debug, Default)]
pub struct Results {
    pub sessions: usize,
    pub needs: Misses,
    /// By budget.
    pub misses: Vec<PolicyMisses>,
}

impl Results {
    pub fn add(&mut self, needs: Misses, misses: &[PolicyMisses]) {
        self.sessions += 1;
        self.needs += needs;
        self.misses.resize(misses.len(), PolicyMisses::default());
        for (sums, misses) in self.misses.iter_mut().zip(misses) {
            sums.iter_mut().zip(misses).for_each(|(sum, misses)| *sum += *misses);
        }
    }

    fn missed(&self, budget: usize, policy: usize, kind: NeedKind) -> usize {
        self.misses[budget][policy].of(kind)
    }

    /// The share of what looking ahead saves over the sliding window; `None` where it saves nothing.
    fn gap_closed(&self, budget: usize, kind: NeedKind) -> Option<f64> {
        let missed = |policy: usize| self.missed(budget, policy, kind) as f64;
        let gap = missed(WINDOW) - missed(LOOK_AHEAD);
        (gap > 0.0).then(|| (missed(WINDOW) - missed(ROOTSET)) / gap)
    }

    fn miss(&self, budget: usize, policy: usize, kind: NeedKind) -> f64 {
        let needed = self.needs.of(kind);
        if needed == 0 { 0.0 } else { self.missed(budget, policy, kind) as f64 / needed as f64 }
    }
}

#[derive(Debug, Serialize)]
pub struct Json {
    needs: BTreeMap<&'static str, usize>,
    budgets: Vec<JsonBudget>,
}

#[derive(Debug, Serialize)]
struct JsonBudget {
    budget: u64,
    /// Of identifiers.
    gap_closed: Option<f64>,
    gaps_closed: BTreeMap<&'static str, Option<f64>>,
    policies: BTreeMap<&'static str, BTreeMap<String, f64>>,
}

pub fn json(outcome: &Outcome) -> Json {
    let overall = &outcome.overall;
    let policies = |budget: usize| {
        let of = |policy: usize| {
            NeedKind::ALL.iter().map(move |kind| (format!("{}_miss", kind.name()), overall.miss(budget, policy, *kind)))
        };
        POLICIES.iter().enumerate().map(|(policy, name)| (*name, of(policy).collect())).collect()
    };
    let gaps = |budget| NeedKind::ALL.iter().map(|kind| (kind.name(), overall.gap_closed(budget, *kind))).collect();
    let budgets = outcome.budgets.iter().enumerate().map(|(place, budget)| JsonBudget {
        budget: *budget,
        gap_closed: overall.gap_closed(place, NeedKind::Identifier),
        gaps_closed: gaps(place),
        policies: policies(place),
    });
    Json {
        needs: NeedKind::ALL.iter().map(|kind| (kind.name(), overall.needs.of(*kind))).collect(),
        budgets: budgets.collect(),
    }
}

pub fn text(outcome: &Outcome) -> String {
    let needed = NeedKind::ALL.into_iter().filter(|kind| outcome.overall.needs.of(*kind) > 0);
    let parts: Vec<String> = needed.map(|kind| of_kind(outcome, kind)).collect();
    format!("sessions: {}\n\n{}", outcome.overall.sessions, parts.join("\n\n"))
}

fn of_kind(outcome: &Outcome, kind: NeedKind) -> String {
    let overall = &outcome.overall;
    let title = format!("{}: misses, % of {}", kind.name(), overall.needs.of(kind));
    let header: Vec<String> = outcome.budgets.iter().map(|budget| format!("{budget} tokens")).collect();
    let header: Vec<&str> = std::iter::once("").chain(header.iter().map(String::as_str)).collect();
    let row = |name: &str, cell: &dyn Fn(usize) -> String| {
        let mut cells = vec![name.to_owned()];
        cells.extend((0..outcome.budgets.len()).map(cell));
        cells
    };
    let policies = POLICIES.iter().enumerate();
    let mut rows: Vec<Vec<String>> = policies
        .map(|(policy, name)| row(name, &|budget| format!("{:.2}", overall.miss(budget, policy, kind) * 100.0)))
        .collect();
    rows.push(row("gap closed", &|budget| percent(overall.gap_closed(budget, kind))));
    rows.push(row("", &|budget| verdict(outcome, budget, kind)));
    format!("{title}\n{}", table::aligned(&header, &rows))
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

fn wanted(budget: u64, kind: NeedKind) -> f64 {
    let place = WANTED_BUDGETS.iter().position(|of| *of == budget);
    let wanted = WANTED.iter().find(|(of, _)| *of == kind).zip(place);
    wanted.map_or(0.0, |((_, wanted), place)| wanted[place])
}

fn verdict(outcome: &Outcome, budget: usize, kind: NeedKind) -> String {
    let overall = &outcome.overall;
    let missed = overall.miss(budget, ROOTSET, kind);
    let wanted = wanted(outcome.budgets[budget], kind);
    let is_met = match kind {
        // Where the last segments alone are more than the window, nobody can keep it.
        NeedKind::Instruction => missed <= overall.miss(budget, LOOK_AHEAD, kind),
        NeedKind::View => missed <= overall.miss(budget, WINDOW, kind) + VIEW_ALLOWANCE,
        _ if wanted > 0.0 => overall.gap_closed(budget, kind).is_none_or(|closed| closed >= wanted),
        _ => missed <= overall.miss(budget, WINDOW, kind),
    };
    if is_met { "ok".to_owned() } else { "MISSED".to_owned() }
}

/// Counts, because the share of a handful says little.
pub fn by_repository(outcome: &Outcome) -> String {
    let header = [
        "",
        "sessions",
        "budget",
        "needs",
        "window",
        "lru",
        "rootset",
        "look-ahead",
        "gap closed",
        "views: window",
        "rootset",
    ];
    let mut rows = Vec::new();
    for (repository, results) in &outcome.by_repository {
        for (place, budget) in outcome.budgets.iter().enumerate() {
            let of = |policy: usize, kind| results.missed(place, policy, kind).to_string();
            rows.push(vec![
                if place == 0 { repository.clone() } else { String::new() },
                if place == 0 { results.sessions.to_string() } else { String::new() },
                budget.to_string(),
                results.needs.of(NeedKind::Identifier).to_string(),
                of(WINDOW, NeedKind::Identifier),
                of(LRU, NeedKind::Identifier),
                of(ROOTSET, NeedKind::Identifier),
                of(LOOK_AHEAD, NeedKind::Identifier),
                percent(results.gap_closed(place, NeedKind::Identifier)),
                of(WINDOW, NeedKind::View),
                of(ROOTSET, NeedKind::View),
            ]);
        }
    }
    format!("misses by repository\n\n{}", table::aligned(&header, &rows))
}
