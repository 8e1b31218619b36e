//! Misses of every policy at every budget: as shares for programs, as tables for people.

use std::collections::BTreeMap;

use serde::Serialize;

use super::replay::Misses;
use crate::table;

pub const POLICIES: [&str; 5] = ["random", "window", "lru", "lookahead", "rootset"];

/// By policy, in the order of [`POLICIES`].
pub type PolicyMisses = [Misses; POLICIES.len()];

const WINDOW: usize = 1;
const LRU: usize = 2;
const LOOK_AHEAD: usize = 3;
const ROOTSET: usize = 4;

/// Gap closed that is wanted at a budget.
const WANTED: [(u64, f64); 3] = [(8_000, 0.5), (16_000, 0.6), (32_000, 0.7)];
/// View misses may exceed the sliding window's by so much.
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

    /// The share of what looking ahead saves over the sliding window; `None` where it saves nothing.
    fn gap_closed(&self, budget: usize) -> Option<f64> {
        let identifiers = |policy: usize| self.misses[budget][policy].identifiers as f64;
        let gap = identifiers(WINDOW) - identifiers(LOOK_AHEAD);
        (gap > 0.0).then(|| (identifiers(WINDOW) - identifiers(ROOTSET)) / gap)
    }

    fn identifier_miss(&self, budget: usize, policy: usize) -> f64 {
        share(self.misses[budget][policy].identifiers, self.needs.identifiers)
    }

    fn view_miss(&self, budget: usize, policy: usize) -> f64 {
        share(self.misses[budget][policy].views, self.needs.views)
    }
}

fn share(missed: usize, needed: usize) -> f64 {
    if needed == 0 { 0.0 } else { missed as f64 / needed as f64 }
}

#[derive(Debug, Serialize)]
pub struct Json {
    needs: JsonNeeds,
    budgets: Vec<JsonBudget>,
}

#[derive(Debug, Serialize)]
struct JsonNeeds {
    identifier: usize,
    view: usize,
}

#[derive(Debug, Serialize)]
struct JsonBudget {
    budget: u64,
    gap_closed: Option<f64>,
    policies: serde_json::Map<String, serde_json::Value>,
}

pub fn json(outcome: &Outcome) -> Json {
    let overall = &outcome.overall;
    let policies = |budget: usize| {
        let policies = POLICIES.iter().enumerate().map(|(policy, name)| {
            let misses = serde_json::json!({
                "identifier_miss": overall.identifier_miss(budget, policy),
                "view_miss": overall.view_miss(budget, policy),
            });
            ((*name).to_owned(), misses)
        });
        policies.collect()
    };
    let budgets = outcome.budgets.iter().enumerate().map(|(place, budget)| JsonBudget {
        budget: *budget,
        gap_closed: overall.gap_closed(place),
        policies: policies(place),
    });
    Json {
        needs: JsonNeeds { identifier: overall.needs.identifiers, view: overall.needs.views },
        budgets: budgets.collect(),
    }
}

pub fn text(outcome: &Outcome) -> String {
    let overall = &outcome.overall;
    let header: Vec<String> = outcome.budgets.iter().map(|budget| format!("{budget} tokens")).collect();
    let header: Vec<&str> = std::iter::once("").chain(header.iter().map(String::as_str)).collect();
    let budgets = || 0..outcome.budgets.len();
    let row = |name: &str, cell: &dyn Fn(usize) -> String| {
        let mut cells = vec![name.to_owned()];
        cells.extend(budgets().map(cell));
        cells
    };
    let misses = |policy: usize, budget: usize| {
        let (identifiers, views) = (overall.identifier_miss(budget, policy), overall.view_miss(budget, policy));
        format!("{:.2} ({:.2})", identifiers * 100.0, views * 100.0)
    };
    let policies = POLICIES.iter().enumerate();
    let mut rows: Vec<Vec<String>> =
        policies.map(|(policy, name)| row(name, &|budget| misses(policy, budget))).collect();
    rows.push(row("gap closed", &|budget| percent(overall.gap_closed(budget))));
    rows.push(row("wanted", &|budget| {
        wanted(outcome.budgets[budget]).map_or(String::new(), |it| format!("≥ {}", percent(Some(it))))
    }));
    rows.push(row("", &|budget| verdict(outcome, budget).to_owned()));
    format!(
        "{} sessions; identifier misses, % of {} (view misses, % of {})\n\n{}",
        overall.sessions,
        overall.needs.identifiers,
        overall.needs.views,
        table::aligned(&header, &rows)
    )
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

fn wanted(budget: u64) -> Option<f64> {
    WANTED.iter().find(|(of, _)| *of == budget).map(|(_, wanted)| *wanted)
}

fn verdict(outcome: &Outcome, budget: usize) -> &'static str {
    let overall = &outcome.overall;
    let allowed = overall.view_miss(budget, WINDOW) + VIEW_ALLOWANCE;
    match (wanted(outcome.budgets[budget]), overall.gap_closed(budget)) {
        _ if overall.view_miss(budget, ROOTSET) > allowed => "VIEWS MISSED",
        (Some(wanted), Some(gap)) if gap < wanted => "MISSED",
        (Some(_), Some(_)) => "ok",
        _ => "",
    }
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
            let of = |policy: usize| results.misses[place][policy];
            rows.push(vec![
                if place == 0 { repository.clone() } else { String::new() },
                if place == 0 { results.sessions.to_string() } else { String::new() },
                budget.to_string(),
                results.needs.identifiers.to_string(),
                of(WINDOW).identifiers.to_string(),
                of(LRU).identifiers.to_string(),
                of(ROOTSET).identifiers.to_string(),
                of(LOOK_AHEAD).identifiers.to_string(),
                percent(results.gap_closed(place)),
                of(WINDOW).views.to_string(),
                of(ROOTSET).views.to_string(),
            ]);
        }
    }
    format!("misses by repository\n\n{}", table::aligned(&header, &rows))
}
