//! Sources whose garbage is not simply taken: what happens to each, and what a person can type about it.

use rootset_api::WaitingSourceAnswer;

use super::text::{counted, escaped};
use super::time::with_age;

/// `source `chat`: 90 of 100 memories go in rounds from 2026-11-15 08:26 CET (in 1d)`.
pub fn waiting_source(it: &WaitingSourceAnswer) -> String {
    let memories = format!("{} of {}", it.garbage, counted(it.total, "memory", "memories"));
    let at = |word: &str| it.next_at.map(|at| format!(" {word} {}", with_age(at))).unwrap_or_default();
    let what = match it.state.as_str() {
        "announced" => format!("{memories} will go, in several rounds{}", at("from")),
        "draining" => format!("{memories} are going, in several rounds; the next is{}", at("at")),
        "blocked" => format!("{memories} would go, which is over the limit"),
        _ => format!("{memories} would go, but the drain was undone; nothing goes until the policy changes"),
    };
    format!("source `{}`: {what}", escaped(&it.source))
}

/// The command that decides about it, if there is one.
pub fn what_to_type(it: &WaitingSourceAnswer, workspace: &str) -> Option<String> {
    match (it.state.as_str(), it.drain_id, it.plan_id) {
        ("announced", Some(drain), _) => Some(format!("to keep them: rootset undo --drain {drain} -w {workspace}")),
        ("draining", Some(drain), _) => Some(format!("to take it back: rootset undo --drain {drain} -w {workspace}")),
        ("blocked", _, Some(plan)) => {
            Some(format!("to apply it: rootset gc apply {plan} --allow-large -w {workspace}"))
        }
        _ => None,
    }
}
