//! A plan to review: what would go, how old it is, why, how much in all, and which limits object.

use std::fmt::Write;

use serde_json::Value;

use super::{Table, age, bytes, count, counted, escaped, flag, list, one_line, short, text, warning, with_age};

/// The longest name there is.
const NAME_CHARS: usize = 128;
const TEXT_CHARS: usize = 80;
/// Longer paths exist; nobody reads them in a table.
const PATH_CHARS: usize = 200;

pub fn plan(plan: &Value) -> String {
    let items = list(plan, "items");
    let mut shown = String::new();
    if !items.is_empty() {
        let table = if items.iter().any(is_of_a_file) { with_places(items) } else { without_places(items) };
        shown.push_str(&table.finish());
        shown.push('\n');
    }
    shown.push_str(&summary(plan));
    shown
}

fn is_of_a_file(item: &Value) -> bool {
    !text(item, "file_path").is_empty()
}

fn without_places(items: &[Value]) -> Table {
    let mut table = Table::new(["WHAT", "NAME", "AGE", "WHY", "TOPIC"]);
    for item in items {
        let name = [text(item, "name"), text(item, "id")].into_iter().find(|name| !name.is_empty());
        table.row([
            text(item, "kind").to_owned(),
            one_line(name.unwrap_or_default(), NAME_CHARS),
            age(text(item, "created_at")),
            one_line(text(item, "reason"), TEXT_CHARS),
            one_line(text(item, "topic"), TEXT_CHARS),
        ]);
    }
    table
}

/// Files of a repository are known by their path, not by a name or a topic; how much of one goes is told in chunks.
fn with_places(items: &[Value]) -> Table {
    let mut table = Table::new(["WHAT", "WHERE", "LINES", "CHUNKS", "AGE", "WHY"]);
    for item in items {
        let place = [text(item, "file_path"), text(item, "name"), text(item, "id")];
        let place = place.into_iter().find(|place| !place.is_empty());
        let number =
            |field: &str| item.get(field).and_then(Value::as_i64).map_or_else(String::new, |it| it.to_string());
        table.row([
            text(item, "kind").to_owned(),
            one_line(place.unwrap_or_default(), PATH_CHARS),
            number("lines"),
            number("chunk_count"),
            age(text(item, "created_at")),
            one_line(text(item, "reason"), TEXT_CHARS),
        ]);
    }
    table
}

fn summary(plan: &Value) -> String {
    let mut lines = String::new();
    let mut line = |text: String| writeln!(lines, "{text}").expect("writing to a string cannot fail");
    let total = count(plan, "items_total");
    let listed = list(plan, "items").len() as i64;
    if listed < total {
        line(format!("{listed} of {} are shown", counted(total, "item", "items")));
    }
    let totals = &plan["totals"];
    let share = plan["fraction"].as_f64().unwrap_or_default() * 100.0;
    let what = amounts(totals);
    let size = bytes(count(totals, "bytes"));
    line(format!("in all {what} ({size} of text), {share:.0} % of the workspace's memories"));
    if list(plan, "items").iter().any(|item| text(item, "action") == "reclaim") {
        line(
            "rows that nothing vouches for are removed at once: nothing serves them, and there is nothing to undo"
                .to_owned(),
        );
    }
    if flag(plan, "purge") {
        line(warning("applying it erases for good: there is no undo"));
    }
    match list(plan, "kept_pinned").len() {
        0 => {}
        1 => line("1 match stays because it is pinned".to_owned()),
        kept => line(format!("{kept} matches stay because they are pinned")),
    }
    for blocked in list(plan, "blocked") {
        line(warning(blocked_in_words(blocked)));
    }
    line(format!("plan {}, can be applied until {}", text(plan, "plan_id"), short(text(plan, "expires_at"))));
    lines
}

fn blocked_in_words(blocked: &Value) -> String {
    let (taken, total) = (count(blocked, "in_plan"), count(blocked, "total"));
    let source = escaped(text(blocked, "source"));
    match blocked.get("fraction_max").and_then(Value::as_f64) {
        Some(max) => {
            format!("over a limit: {taken} of {total} memories of source `{source}` are more than {:.0} %", max * 100.0)
        }
        None => {
            format!(
                "over a limit: nothing of source `{source}` would be left ({})",
                counted(total, "memory", "memories")
            )
        }
    }
}

const NOTHING: &str = "nothing";

/// `2 memories, 3 entities`; chunks are nobody's concern.
pub fn amounts(counts: &Value) -> String {
    let kinds = [
        ("memories", "memory", "memories"),
        ("revisions", "revision", "revisions"),
        ("entities", "entity", "entities"),
        ("relations", "relation", "relations"),
        ("untracked", "imported row", "imported rows"),
        ("segments", "segment", "segments"),
        ("sessions", "session", "sessions"),
        ("workspaces", "workspace", "workspaces"),
    ];
    listed(kinds.map(|(field, one, many)| (count(counts, field), one, many)))
}

/// Counts with the words for one and for many; zeroes are left out.
pub fn listed<const KINDS: usize>(counts: [(i64, &str, &str); KINDS]) -> String {
    let parts: Vec<String> = counts
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| counted(count, one, many))
        .collect();
    if parts.is_empty() { NOTHING.to_owned() } else { parts.join(", ") }
}

/// Empty when nothing was reclaimed. Here chunks count: they are what was removed.
fn reclaimed_amounts(counts: &Value) -> String {
    let chunks = count(counts, "chunks");
    let of_graph = Some(amounts(counts)).filter(|amounts| amounts != NOTHING);
    let parts: Vec<String> =
        (chunks > 0).then(|| counted(chunks, "chunk", "chunks")).into_iter().chain(of_graph).collect();
    parts.join(", ")
}

/// What a run took: of a removal, of an applied plan.
pub fn applied(answer: &Value) -> String {
    let taken = amounts(&answer["trashed"]);
    let reclaimed = answer.get("reclaimed").map(reclaimed_amounts).unwrap_or_default();
    let mut lines = match answer.get("undo_until").and_then(Value::as_str) {
        _ if taken == NOTHING && !reclaimed.is_empty() => String::new(),
        Some(until) => format!(
            "moved to the trash: {taken}\nundo until {}: rootset undo {}\n",
            with_age(until),
            text(answer, "run_id")
        ),
        None => format!("erased for good: {taken}\n"),
    };
    if !reclaimed.is_empty() {
        lines.push_str(&format!("removed what nothing vouched for: {reclaimed}\n"));
    }
    if flag(answer, "undone") {
        lines.push_str("this plan was applied before, and undone since\n");
    }
    if flag(answer, "unfinished") {
        lines.push_str("stopped at the time limit; applying the plan again goes on\n");
    }
    let skipped = &answer["skipped"];
    if count(skipped, "count") > 0 {
        let reasons: Vec<String> = list(skipped, "first")
            .iter()
            .map(|item| format!("  {}: {}\n", escaped(text(item, "id")), reason_in_words(&item["reason"])))
            .collect();
        lines.push_str(&format!(
            "{} skipped because they changed:\n{}",
            counted(count(skipped, "count"), "item", "items"),
            reasons.concat()
        ));
    }
    lines
}

fn reason_in_words(reason: &Value) -> String {
    match reason.as_str() {
        Some(word) => word.replace('_', " "),
        None => reason.to_string(),
    }
}
