//! States that exclude each other, as the words that say them.

/// Groups of states; within a group, words of one row mean the same and words of different rows exclude each other.
#[rustfmt::skip]
const STATES: [&[&[&str]]; 18] = [
    &[&["enabled", "activated", "on"], &["disabled", "deactivated", "off"]],
    &[&["open", "reopened", "unresolved"], &["closed", "resolved", "fixed", "shut"]],
    &[
        &["active", "live", "ongoing", "resumed", "running"],
        &["inactive", "paused", "suspended", "hold", "frozen", "stopped"],
        &["archived", "retired", "deprecated", "decommissioned", "discontinued", "abandoned", "scrapped", "cancelled", "canceled"],
    ],
    &[
        &["pending", "waiting", "awaiting", "draft", "processed", "progress", "review", "todo", "unfinished", "scheduled"],
        &["done", "finished", "completed", "complete", "approved", "granted", "shipped", "merged", "ready", "signed", "released", "landed", "accepted", "launched", "deployed"],
        &["rejected", "denied", "declined", "refused", "cancelled", "canceled", "withdrawn", "reverted"],
        &["blocked", "stuck"],
        &["unblocked"],
    ],
    &[
        &["up", "healthy", "fixed", "stable", "working", "works", "running", "repaired", "green", "passing", "online", "recovered"],
        &["down", "failing", "broken", "degraded", "flaky", "order", "red", "crashing", "offline", "fails"],
    ],
    &[&["vegetarian"], &["vegan"], &["pescatarian"], &["omnivore", "meat"]],
    &[&["single"], &["married"], &["engaged"], &["divorced"], &["widowed"]],
    &[&["public"], &["private"]],
    &[
        &["red"], &["blue", "navy"], &["green"], &["black"], &["white"], &["yellow"], &["brown"], &["grey", "gray"],
        &["blond", "blonde"], &["orange"], &["purple"], &["pink"], &["silver"], &["turquoise", "teal"],
    ],
    &[&["small"], &["medium"], &["large"]],
    &[
        &["free"], &["basic"], &["starter"], &["standard"], &["pro", "professional"], &["team"], &["business"], &["enterprise"],
        &["premium"], &["gold"], &["bronze"], &["platinum"], &["silver"], &["plus"], &["family"], &["single"],
    ],
    &[&["dark"], &["light"]],
    &[&["tabs"], &["spaces"]],
    &[&["tea"], &["coffee"]],
    &[&["short", "brief", "terse", "concise"], &["long", "detailed", "verbose", "explanatory"]],
    &[&["mandatory", "required"], &["optional"], &["forbidden", "banned"]],
    &[&["remote"], &["onsite", "hybrid"]],
    &[&["hourly"], &["daily"], &["weekly"], &["biweekly", "fortnightly"], &["monthly"], &["quarterly"], &["yearly", "annually"]],
];

pub(super) const GROUPS: usize = STATES.len();
/// States that a word of their own kind has to stand beside: `the Basic plan`, `turned off`.
const TIERS: usize = 10;
/// What somebody may do as well as the other: only a word of change says that the one takes the place of the other.
const HABITS: usize = 13;

pub(super) fn may_both_hold(group: usize) -> bool {
    group == HABITS
}

/// The groups of the states that the word at this place says, each with the state in one form.
pub(super) fn states_of(words: &[String], place: usize, ends_clause: bool) -> Vec<(usize, &'static str)> {
    let word = words[place].as_str();
    let before = place.checked_sub(1).map_or("", |at| words[at].as_str());
    let begins =
        place == 0 && !word.ends_with("ed") && !words.get(1).is_some_and(|next| matches!(next.as_str(), "is" | "are"));
    if begins || !is_told(words, place, before, ends_clause) {
        return Vec::new();
    }
    let in_group = |(number, group): (usize, &&'static [&'static [&'static str]])| {
        let state = group.iter().find(|state| state.contains(&word))?;
        (number != TIERS || !is_ambiguous_tier(word) || is_tier(words, place)).then(|| (number, state[0]))
    };
    STATES.iter().enumerate().filter_map(in_group).collect()
}

/// Small words say a state in some places only.
fn is_told(words: &[String], place: usize, before: &str, ends_clause: bool) -> bool {
    let is_switched = before.starts_with("turn") || before.starts_with("switch");
    match words[place].as_str() {
        "on" | "off" => ends_clause || is_switched,
        "order" => before == "of" && place > 1 && words[place - 2] == "out",
        "progress" | "review" => matches!(before, "in" | "under"),
        "hold" => before == "on",
        "up" | "down" => ends_clause || words.get(place + 1).is_some_and(|next| next == "again"),
        "live" => ends_clause,
        _ => true,
    }
}

fn is_ambiguous_tier(word: &str) -> bool {
    matches!(word, "team" | "family" | "single" | "plus" | "free" | "standard" | "basic" | "silver" | "gold")
}

fn is_tier(words: &[String], place: usize) -> bool {
    let near = place.saturating_sub(2)..(place + 3).min(words.len());
    words[near].iter().any(|word| {
        matches!(word.as_str(), "plan" | "tier" | "subscription" | "package" | "licence" | "license" | "account")
    })
}

/// Whether the word at this place ends what was said of something, without another value for it.
pub(super) fn ends_it(words: &[String], place: usize) -> bool {
    let before = place.checked_sub(1).map_or("", |at| words[at].as_str());
    match words[place].as_str() {
        "cancelled" | "canceled" | "scrapped" | "discontinued" | "decommissioned" | "ditched" | "quit" | "resigned"
        | "stopped" | "anymore" | "retired" => true,
        "longer" => before == "no",
        "off" => before == "called",
        "up" => before == "gave",
        _ => false,
    }
}
