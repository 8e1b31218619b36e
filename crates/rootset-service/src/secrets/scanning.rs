//! Secrets in what is stored already, from before the rules knew them or the policy forbade them.

use rootset_api::StoredSecret;
use rootset_model::{EntityId, MemoryId, RunId};
use rootset_store::{StoredTexts, TextOwner, TextsAfter};
use rootset_text::secrets::{Finding, SecretScan};
use serde_json::Value;

use crate::error::ServiceError;

/// What is found in one row.
pub(crate) fn findings(row: &StoredTexts, scan: SecretScan) -> Vec<StoredSecret> {
    let mut findings = Vec::new();
    for (field, text) in &row.texts {
        for (kind, count) in counted(found_in(field, text, scan)) {
            findings.push(stored_secret(row, field, kind, count, scan));
        }
    }
    findings
}

/// Lists and objects are stored as JSON: their strings are looked at one by one, with their names.
fn found_in(field: &str, text: &str, scan: SecretScan) -> Vec<Finding> {
    let is_json = matches!(field, "metadata" | "tags" | "decisions" | "rationale" | "raw");
    let Some(value) = is_json.then(|| serde_json::from_str::<Value>(text).ok()).flatten() else {
        return scan.find_in_field(field, text);
    };
    let mut found = Vec::new();
    super::strings::visit(&value, &mut |path, text| {
        let name = super::fields::nearest_name(path).unwrap_or(field);
        found.extend(scan.find_in_field(name, text));
    });
    found
}

fn counted(found: Vec<Finding>) -> Vec<(&'static str, usize)> {
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    for finding in found {
        match counts.iter_mut().find(|(kind, _)| *kind == finding.kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((finding.kind, 1)),
        }
    }
    counts
}

fn stored_secret(row: &StoredTexts, field: &str, kind: &str, count: usize, scan: SecretScan) -> StoredSecret {
    // Ids that callers chose may be the secret.
    let shown = |id: &str| scan.redact(id).text.into_owned();
    let (what, id, session_id, revision, remedy) = match &row.owner {
        TextOwner::Memory { id, is_file: true, .. } => ("file", id.to_string(), None, None, "index the folder again"),
        TextOwner::Memory { id, revision, .. } if row.is_in_trash => {
            ("memory", id.to_string(), None, Some(*revision), "`gc_purge` the trash, or restore and redact it")
        }
        TextOwner::Memory { id, revision, .. } => {
            let remedy = match field {
                "source" | "supersede_reason" => "`forget` it with `purge: true`",
                _ => "`redact_secrets`",
            };
            ("memory", id.to_string(), None, Some(*revision), remedy)
        }
        TextOwner::Entity { id } => ("entity", id.to_string(), None, None, "`forget` it with `purge: true`"),
        TextOwner::Segment { session_id, segment_id } => {
            let remedy = "`forget` it with `purge: true`, or delete the session and purge";
            ("segment", shown(segment_id), Some(shown(session_id)), None, remedy)
        }
    };
    StoredSecret {
        kind: what.to_owned(),
        id,
        session_id,
        revision,
        field: field.to_owned(),
        secret: kind.to_owned(),
        count,
        in_trash: row.is_in_trash,
        remedy: remedy.to_owned(),
    }
}

/// A place in the scan as text, for callers who come back with it.
pub(crate) fn cursor_text(cursor: TextsAfter) -> String {
    match cursor {
        TextsAfter::Revision(memory, revision) => format!("memory {memory} {revision}"),
        TextsAfter::Untracked(object, run) => format!("entity {object} {run}"),
        TextsAfter::Segment(segment) => format!("segment {segment}"),
    }
}

pub(crate) fn parse_cursor(text: &str) -> Result<TextsAfter, ServiceError> {
    let parts: Vec<&str> = text.split(' ').collect();
    let cursor = match parts.as_slice() {
        ["memory", memory, revision] => memory
            .parse::<MemoryId>()
            .ok()
            .zip(revision.parse().ok())
            .map(|(id, number)| TextsAfter::Revision(id, number)),
        ["entity", object, run] => {
            let run = run.parse::<RunId>().ok();
            object.parse::<EntityId>().ok().zip(run).map(|(object, run)| TextsAfter::Untracked(object, run))
        }
        ["segment", segment] => segment.parse().ok().map(TextsAfter::Segment),
        _ => None,
    };
    cursor.ok_or_else(|| ServiceError::invalid("`cursor` must be the `next_cursor` of an earlier answer"))
}
