//! A plan to review (what would go, how old it is, why, how much in total, and which limits it exceeds), and what a run
//! took.

use std::fmt::{self, Write};

use rootset_api::{AppliedPlan, Blocked, DeletedMemory, PlanAnswer, PlanItemAnswer, PlanPart, ReceiptAnswer};
use rootset_model::{Counts, RunId, Timestamp};

use super::{Column, Table, age, amounts, bytes, counted, escaped, one_line, short, warning, with_age};

/// The longest name there is.
const NAME_CHARS: usize = 128;
const TEXT_CHARS: usize = 80;
/// Longer paths exist; nobody reads them in a table.
const PATH_CHARS: usize = 200;

/// A plan as it is shown before somebody decides.
#[derive(Clone, Copy, Debug)]
pub struct ShownPlan<'a> {
    pub answer: &'a PlanAnswer,
    kept_pinned: usize,
}

impl<'a> From<&'a PlanAnswer> for ShownPlan<'a> {
    fn from(answer: &'a PlanAnswer) -> Self {
        Self { answer, kept_pinned: 0 }
    }
}

impl<'a> ShownPlan<'a> {
    /// A plan to forget, which may leave out what is pinned.
    pub fn keeping(answer: &'a PlanAnswer, kept_pinned: usize) -> Self {
        Self { answer, kept_pinned }
    }
}

impl fmt::Display for ShownPlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = &self.answer.items;
        if !items.is_empty() {
            let is_of_file = |item: &PlanItemAnswer| item.file_path.is_some();
            let table = match (&self.answer.parts, items.iter().any(is_of_file)) {
                (Some(_), _) => with_workspaces(items),
                (None, true) => with_places(items),
                (None, false) => without_places(items),
            };
            writeln!(f, "{}", table.finish())?;
        }
        if let Some(parts) = &self.answer.parts {
            writeln!(f, "{}", by_workspace(parts).finish())?;
        }
        match &self.answer.maybe {
            Some(maybe) if items.is_empty() => {
                writeln!(f, "nothing matches for certain; maybe meant:\n\n{}", near(maybe).finish())?;
                self.how_to_take_near(f)
            }
            Some(maybe) => {
                self.summary(f)?;
                writeln!(f, "\nmaybe meant, and kept:\n\n{}", near(maybe).finish())?;
                self.how_to_take_near(f)
            }
            None => self.summary(f),
        }
    }
}

impl ShownPlan<'_> {
    fn how_to_take_near(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "`rootset gc apply {} --remove NAME` also removes one of these", self.answer.plan_id)
    }

    fn summary(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PlanAnswer { items, totals, .. } = self.answer;
        if (items.len() as i64) < self.answer.items_total {
            writeln!(f, "showing {} of {}", items.len(), counted(self.answer.items_total, "item", "items"))?;
        }
        let (what, size) = (amounts(&totals.counts).in_words(), bytes(totals.counts.get("bytes")));
        let share = self.answer.fraction * 100.0;
        let of = if self.answer.parts.is_some() {
            "of the memories of one workspace"
        } else {
            "of the workspace's memories"
        };
        let most = if self.answer.parts.is_some() { "at most " } else { "" };
        writeln!(f, "in total {what} ({size} of text), {most}{share:.0} % {of}")?;
        if items.iter().any(is_reclaimed) {
            writeln!(
                f,
                "rows that nothing vouches for are removed at once: nothing uses them, and there is nothing to undo"
            )?;
        }
        if self.answer.purge {
            writeln!(f, "{}", warning("applying it erases for good and cannot be undone"))?;
        }
        match self.kept_pinned {
            0 => {}
            1 => writeln!(f, "1 match stays because it is pinned")?,
            kept => writeln!(f, "{kept} matches stay because they are pinned")?,
        }
        for blocked in &self.answer.blocked {
            writeln!(f, "{}", warning(blocked_in_words(blocked)))?;
        }
        writeln!(f, "plan {}, can be applied until {}", self.answer.plan_id, short(self.answer.expires_at))
    }

    /// Rows that nothing serves are not trashed: there is nothing to undo.
    pub fn only_reclaims(&self) -> bool {
        self.answer.items.iter().all(is_reclaimed)
    }
}

fn is_reclaimed(item: &PlanItemAnswer) -> bool {
    item.action == "reclaim"
}

fn without_places(items: &[PlanItemAnswer]) -> Table {
    let mut table = Table::new([
        Column::fixed("WHAT"),
        Column::name("NAME"),
        Column::fixed("AGE"),
        Column::text("WHY"),
        Column::text("TOPIC").spare(),
    ]);
    for item in items {
        table.row([
            item.kind.as_str().to_owned(),
            one_line(item.name.as_ref().unwrap_or(&item.id), NAME_CHARS),
            item.created_at.map(age).unwrap_or_default(),
            one_line(&why(item), TEXT_CHARS),
            one_line(item.topic.as_deref().unwrap_or_default(), TEXT_CHARS),
        ]);
    }
    table
}

/// The reason, with what stays of a memory of which only sentences go.
fn why(item: &PlanItemAnswer) -> String {
    match (item.action.as_str(), &item.rest, &item.matched_words) {
        ("redact", Some(rest), _) => format!("only some sentences go; stays: {rest}"),
        (_, _, Some(words)) => format!("{} ({})", item.reason, words.join(", ")),
        _ => item.reason.clone(),
    }
}

/// What is only near what was asked for.
fn near(items: &[PlanItemAnswer]) -> Table {
    let mut table = Table::new([Column::name("NAME"), Column::text("WHY"), Column::text("TOPIC").spare()]);
    for item in items {
        table.row([
            one_line(item.name.as_ref().unwrap_or(&item.id), NAME_CHARS),
            one_line(&why(item), TEXT_CHARS),
            one_line(item.topic.as_deref().unwrap_or_default(), TEXT_CHARS),
        ]);
    }
    table
}

/// Files of a repository are known by their path, not by a name or a topic; how much of one goes is told in chunks.
fn with_places(items: &[PlanItemAnswer]) -> Table {
    let mut table = Table::new([
        Column::fixed("WHAT"),
        Column::name("WHERE"),
        Column::fixed("LINES"),
        Column::fixed("CHUNKS").spare(),
        Column::fixed("AGE"),
        Column::text("WHY"),
    ]);
    let number = |count: Option<i64>| count.map(|count| count.to_string()).unwrap_or_default();
    for item in items {
        let place = item.file_path.as_ref().or(item.name.as_ref()).unwrap_or(&item.id);
        table.row([
            item.kind.as_str().to_owned(),
            one_line(place, PATH_CHARS),
            number(item.lines),
            number(item.chunk_count),
            item.created_at.map(age).unwrap_or_default(),
            one_line(&item.reason, TEXT_CHARS),
        ]);
    }
    table
}

/// Items of several workspaces, each with its own.
fn with_workspaces(items: &[PlanItemAnswer]) -> Table {
    let mut table = Table::new([
        Column::name("WORKSPACE"),
        Column::fixed("WHAT"),
        Column::name("NAME"),
        Column::fixed("AGE"),
        Column::text("WHY"),
    ]);
    for item in items {
        let name = item.file_path.as_ref().or(item.name.as_ref()).unwrap_or(&item.id);
        table.row([
            one_line(item.workspace_id.as_deref().unwrap_or_default(), NAME_CHARS),
            item.kind.as_str().to_owned(),
            one_line(name, PATH_CHARS),
            item.created_at.map(age).unwrap_or_default(),
            one_line(&item.reason, TEXT_CHARS),
        ]);
    }
    table
}

fn by_workspace(parts: &[PlanPart]) -> Table {
    let mut table = Table::new([
        Column::name("WORKSPACE"),
        Column::fixed("MATCHED"),
        Column::fixed("IN PLAN"),
        Column::fixed("KEPT, PINNED"),
    ]);
    for part in parts {
        table.row([
            one_line(&part.workspace_id, NAME_CHARS),
            part.matched.to_string(),
            part.in_plan.to_string(),
            part.kept_pinned.to_string(),
        ]);
    }
    table
}

fn blocked_in_words(blocked: &Blocked) -> String {
    let (taken, total) = (blocked.in_plan, blocked.total);
    let source = escaped(&blocked.source);
    match blocked.fraction_max {
        Some(max) => {
            let total = counted(total, "memory", "memories");
            format!("exceeds a limit: {taken} of {total} of source `{source}`, more than {:.0} %", max * 100.0)
        }
        None => {
            let total = counted(total, "memory", "memories");
            format!("exceeds a limit: nothing of source `{source}` would be left ({total})")
        }
    }
}

/// What the removal of one memory took.
pub fn deleted(answer: &DeletedMemory) -> String {
    taken(&answer.trashed, answer.run_id, answer.undo_until)
}

/// What an applied plan took.
pub fn applied(answer: &AppliedPlan) -> String {
    // Here chunks count: they are what was removed.
    let reclaimed = answer.reclaimed.as_ref().filter(|counts| !counts.is_nothing());
    let mut lines = String::new();
    if reclaimed.is_none() || !amounts(&answer.trashed).is_nothing() {
        lines.push_str(&taken(&answer.trashed, answer.run_id, answer.undo_until));
    }
    let mut line = |text: String| writeln!(lines, "{text}").expect("writing to a string cannot fail");
    if let Some(reclaimed) = reclaimed {
        line(format!("removed what nothing vouched for: {}", reclaimed.in_words()));
    }
    if answer.undone == Some(true) {
        line("this plan was already applied and then undone".to_owned());
    }
    if answer.unfinished == Some(true) {
        line("stopped at the time limit; apply the plan again to continue".to_owned());
    }
    if answer.skipped.count > 0 {
        line(format!("{} skipped:", counted(answer.skipped.count, "item", "items")));
        for item in &answer.skipped.first {
            line(format!("  {}: {}", escaped(&item.id), item.reason.as_str().replace('_', " ")));
        }
    }
    for part in answer.parts.iter().flatten() {
        let workspace = escaped(&part.workspace_id);
        match (&part.trashed, &part.problem) {
            (Some(trashed), _) => line(format!("  {workspace}: {}", amounts(trashed).in_words())),
            (None, problem) => {
                let problem = escaped(problem.as_deref().unwrap_or_default());
                line(warning(format!("  {workspace}: nothing was removed: {problem}")));
            }
        }
    }
    if let Some(receipt) = &answer.receipt {
        lines.push_str(&backups_after(receipt));
    }
    lines
}

/// What an erasure means for the backups: those that were rewritten, and those that may still hold it.
pub fn backups_after(receipt: &ReceiptAnswer) -> String {
    let mut lines = String::new();
    let mut line = |text: String| writeln!(lines, "{text}").expect("writing to a string cannot fail");
    for backup in receipt.rewritten.iter().flatten() {
        let id = escaped(&backup.backup_id);
        match backup.outcome.as_str() {
            "rewritten" => line(format!("backup {id} was rewritten without it, and verified")),
            "clean" => line(format!("backup {id} held nothing of it")),
            "removed" => line(format!("backup {id} was removed, because everything in it was erased")),
            "foreign" => line(format!("backup {id} belongs to another database and was not touched")),
            // Told among the warnings.
            _ => {}
        }
    }
    for backup in &receipt.backups {
        let id = escaped(&backup.backup_id);
        line(format!("backup {id} may still hold it; it expires {}", short(backup.expires_at)));
    }
    lines
}

fn taken(trashed: &Counts, run: RunId, undo_until: Option<Timestamp>) -> String {
    let taken = amounts(trashed).in_words();
    match undo_until {
        Some(until) => {
            format!("moved to the trash: {taken}\nundo until {}: rootset undo {run}\n", with_age(until))
        }
        None => format!("erased for good: {taken}\n"),
    }
}
